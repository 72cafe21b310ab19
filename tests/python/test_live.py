"""Objects of this process: measured by the same engine, and nothing that they or the measurement set is left changed."""

import gc
import io
import json
import os
import random
import re
import signal
import sys
import threading
import warnings

import numpy as np
import pytest

SETTINGS = {"warmup": 2, "iterations": 20, "processes": 2}


def weights():
    return np.random.default_rng(1).normal(size=(16, 16)).astype(np.float32)


@pytest.fixture
def x():
    return np.random.default_rng(2).normal(size=(3, 16)).astype(np.float32)


def test_live_functions_leave_a_record_that_says_that_they_were_not_isolated(im, x):
    w = weights()
    record = im.run_live({"plain": lambda a: a @ w, "shifted": lambda a: a @ w + 1}, x, **SETTINGS)
    assert [samples.end for samples in record.samples] == ["ok"] * 4
    assert {samples.label for samples in record.samples} == {"plain", "shifted"}
    assert all(len(samples) == 20 for samples in record.samples)
    assert all("not_isolated" in [d.id for d in samples.diagnostics] for samples in record.samples)
    assert record.plan.subjects[0].batch_size == 3
    # Outputs are compared as for any other subject.
    (outputs,) = record.outputs
    assert not outputs.comparison.agree
    assert outputs.comparison.outputs[0].max_absolute == pytest.approx(1, rel=1e-5)
    assert "not_isolated" in record.text()
    # Rounds of this process, and no interval over processes.
    assert "2 rounds each in one process" in record.text() and "worker processes" not in record.text()
    p50 = record.verdict.subjects[0].summary.metric("latency_p50")
    assert (p50.estimate.processes, p50.estimate.interval) == (1, None)
    assert "in both rounds" in record.text() and "in both processes" not in record.text()


def test_reports_advise_what_python_has(im, x):
    record = im.run_live({"a": lambda a: a * 2, "b": lambda a: a * 2}, x, iterations=6, warmup=1, outliers="sigma:0.01")
    assert 'outliers="none"' in record.text() and "Give factories to infermeter.run" in record.text()
    # What steers the command line has no place there; rules of tables are dashes, too.
    reported = record.json()
    parts = [reported["answers"], reported["diagnostics"], reported["subjects"], [trial["diagnostics"] for trial in reported["trials"]]]
    for text in (record.text(), record.render("markdown"), json.dumps(parts), *(d.remedy for d in record.verdict.diagnostics)):
        assert not re.search(r"(?<!-)--[a-z][a-z-]*", text), re.findall(r".*(?<!-)--[a-z].*", text)


def test_rounds_of_one_process_do_not_wait_for_an_interval(im, x):
    record = im.run_live(lambda a: a * 2, x, iterations=6, warmup=1, repeat_disturbed=0)
    assert len(record.samples) == 3  # not as many as an answer would need, nor until the budget is over
    assert "3 rounds each in one process" in record.text()


def test_a_single_object_needs_no_name(im, x):
    def double(a):
        return a * 2

    record = im.run_live(double, x, **SETTINGS)
    assert [subject.label for subject in record.plan.subjects] == ["double"]
    assert record.models[0].parameters is None  # nobody knows, which is not 0
    with pytest.raises(im.UsageError, match="run_live needs a model, or a dict of models by their names, and got an object of type int"):
        im.run_live(3, x)
    with pytest.raises(im.UsageError, match="there are no inputs for 'b'"):
        im.run_live({"a": double, "b": double}, {"a": x})


@pytest.mark.parametrize("name", ["phase-1", "v1.0", "FP16 (AMP)", "1", "modèle", "model.pt", "x.onnx", "a b", "a/b", "50%", "a:b@c,d=e"])
def test_names_are_any_texts(im, x, name):
    record = im.run_live({name: lambda a: a * 2, "b": lambda a: a * 2}, x, **SETTINGS)
    assert [samples.end for samples in record.samples] == ["ok"] * 4 and record.errors == {name: None, "b": None}
    assert record.plan.subjects[0].label == name and name in record.text()
    # A history goes by this, in every run.
    assert record.plan.subjects[0].model == record.models[0].name == f"live:{name}"


def test_a_functions_name_need_not_be_ascii(im, x):
    def größe(a):
        return a * 2

    assert [(samples.label, samples.end) for samples in im.run_live(größe, x, **SETTINGS).samples] == [("größe", "ok")] * 2


def test_objects_of_one_name_in_several_threads(im, x):
    records, both_are_there = {}, threading.Barrier(2, timeout=60)

    def measure(factor):
        is_first = True

        def model(a):
            nonlocal is_first
            if is_first:
                both_are_there.wait()
                is_first = False
            return a * factor

        records[factor] = im.run_live(model, x, output_dir=str(factor), **SETTINGS)

    threads = [threading.Thread(target=measure, args=(factor,)) for factor in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {factor: [samples.end for samples in record.samples] for factor, record in records.items()} == {2: ["ok"] * 2, 3: ["ok"] * 2}


def test_a_metric_may_measure(im, x):
    class Nested(im.ModelBenchmark):
        def measure_again(self, model, sample_input):
            return im.quick_benchmark(model, sample_input, num_iterations=5).iterations

    assert Nested(lambda a: a * 2, x).run_all(num_iterations=5)["again"] == 5


def test_objects_are_never_taken_from_a_module(im):
    from infermeter.backend import Refused
    from infermeter.factory import load_factory

    with pytest.raises(Refused, match="the live object 'run_live' is not there"):
        load_factory("infermeter.live:run_live")


@pytest.mark.parametrize("counters, sentence", [(lambda: 1 / 0, "ZeroDivisionError: division by zero"), (lambda: {"a": "x"}, "ValueError"),
                                                (lambda: 5, "counters gave an object of type int: give a dict of numbers")])
def test_counters_that_fail_are_a_diagnostic(im, x, counters, sentence):
    record = im.run_live({"it": lambda a: a}, x, counters={"it": counters}, **SETTINGS)
    assert [samples.end for samples in record.samples] == ["ok"] * 2 and record.errors["it"] is not None
    (found,) = [d for d in record.samples[0].diagnostics if d.id == "counters_failed"]
    assert re.search(f"^counters are missing: .*({sentence})", found.message) and "counters_failed" in record.text()


def test_the_batch_of_live_inputs(im):
    x, h, scale = np.ones((5, 3, 4), np.float32), np.ones((3, 4), np.float32), np.float32(2)

    def items(inputs, **settings):
        record = im.run_live({"it": lambda *a: a[0] * scale}, inputs, **SETTINGS | {"processes": 1}, **settings)
        (samples,) = record.samples
        assert samples.end == "ok", samples.message
        return samples.items_per_iteration, samples.executed["batch_axis"]

    assert items(x) == (5, "input=0")
    assert items([x, h]) == (5, "input_0=0, input_1=none")
    assert items([x, h], batch_axis={"input_0": 1, "input_1": 0}) == (3, "input_0=1, input_1=0")
    assert items(x, batch_axis="none") == (1, "none")
    with pytest.raises(im.UsageError, match="different numbers of items at their batch axes: .3, 5."):
        items([x, h], batch_axis={"input_0": 0, "input_1": 0})
    with pytest.raises(im.UsageError, match="batch_axis of 'input': 7 is not a dimension of an array of shape"):
        items(x, batch_axis={"input": 7})


def test_what_is_measured_is_given_the_callers_own_arrays(im, x):
    seen = []

    def look(a):
        seen.append((a.__array_interface__["data"][0], a.flags.writeable))
        return a

    im.run_live({"look": look}, x, **SETTINGS)
    assert {address for address, _ in seen} == {x.__array_interface__["data"][0]}
    assert not any(writeable for _, writeable in seen)


def test_arrays_that_do_not_lie_one_behind_the_other_are_the_same_values(im):
    base = np.arange(48, dtype=np.float32).reshape(4, 12)
    strided = base[:, ::2]
    taken = []
    im.run_live({"it": lambda a: taken.append(a.copy()) or a}, strided, **SETTINGS)
    assert np.array_equal(taken[0], strided)


@pytest.mark.parametrize("array, sentence", [
    (np.array([object()]), "object"),
    (np.array(["2020-01-01"], "datetime64[D]"), "datetime64"),
    (np.array([["a", "b"]]), "'str32' is not a type of elements that is known here"),
])
def test_arrays_that_are_no_tensors_are_refused(im, array, sentence):
    with pytest.raises(im.Error, match=sentence):
        im.run_live({"it": lambda a: a}, array, **SETTINGS)


def test_several_inputs_and_outputs(im, x):
    record = im.run_live({"both": lambda a, b: {"sum": a + b, "parts": (a, b)}}, [x, x * 2], **SETTINGS)
    assert [output.name for output in record.samples[0].outputs] == ["output.sum", "output.parts.0", "output.parts.1"]


def test_what_an_object_raises_is_kept_and_the_others_go_on(im, x):
    def fail(a):
        raise ValueError("not today")

    record = im.run_live({"good": lambda a: a, "bad": fail}, x, **SETTINGS)
    assert {samples.label: samples.end for samples in record.samples} == {"good": "ok", "bad": "run_failed"}
    assert isinstance(record.errors["bad"], ValueError) and record.errors["good"] is None
    assert "ValueError: not today" in next(s for s in record.samples if s.label == "bad").message
    assert record.verdict.exit_code == 3


def test_what_cannot_be_called_is_refused(im, x):
    with pytest.raises(im.UsageError, match="'it' is an object of type int, which cannot be called"):
        im.run_live({"it": 3}, x, **SETTINGS)


def test_random_numbers_are_as_before(im, x):
    np.random.seed(5), random.seed(5)
    before = np.random.get_state()[1].tolist(), random.getstate()
    im.run_live({"it": lambda a: a + np.random.rand() + random.random()}, x, **SETTINGS)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before


def test_the_environments_threads_are_as_before(im, x, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    im.run_live(lambda a: a, x, threads=1, **SETTINGS)
    assert os.environ["OMP_NUM_THREADS"] == "7" and "MKL_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("setting", [{"env": {"A": "1"}}, {"cpus": "0"}, {"data": "pictures"}, {"batch_sizes": [1, 2]}, {"labels": "l.npy"}])
def test_what_has_no_meaning_in_this_process_is_refused(im, x, setting):
    with pytest.raises(im.UsageError, match=f"{next(iter(setting))} has no meaning here"):
        im.run_live(lambda a: a, x, **setting, **SETTINGS)


def test_objects_are_not_kept(im, x):
    class Big:
        gone = False

        def __call__(self, a):
            return a

        def __del__(self):
            Big.gone = True

    record = im.run_live({"it": Big()}, x, **SETTINGS)
    gc.collect()
    assert Big.gone and record.id


def test_ctrl_c_ends_the_run_with_the_record_so_far(python):
    done = python("""
import os, signal, threading, infermeter, numpy
calls = []
def call(a):
    calls.append(a)
    if len(calls) == 40:
        os.kill(os.getpid(), signal.SIGINT)
    return a
try:
    infermeter.run_live({"it": call}, numpy.zeros((1, 4)), warmup=2, iterations=20, processes=50)
except KeyboardInterrupt as interrupt:
    record = interrupt.record
    print(len(record.samples), record.finished, record.samples[0].end, record.samples[-1].end)
    stored = infermeter.load("latest")
    print(stored.id == record.id, len(stored.samples) == len(record.samples))
try:
    infermeter.run(resume=True, allow_code=True)
except infermeter.UsageError as error:
    print(error)
""")
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first == "2 False ok interrupted"
    assert second == "True True"
    assert "cannot be resumed: it measured live objects of a program; start a new run" in third


def test_other_threads_go_on(im, x):
    import threading

    turns, stop = [], threading.Event()

    def other():
        while not stop.is_set():
            turns.append(1)

    thread = threading.Thread(target=other)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    thread.start()
    try:
        before = len(turns)
        # A function in C: between two of its calls no bytecode runs that would let others in.
        im.run_live({"it": np.tanh}, np.ones((64, 64)), warmup=2, iterations=500, processes=1)
        assert len(turns) > before
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


def test_signal_handlers_are_the_callers(im, x):
    before = signal.getsignal(signal.SIGINT)
    im.run_live({"it": lambda a: a}, x, **SETTINGS)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="pytorch is not installed: scripts/setup --with pytorch")


def network(torch):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(8)).train()


def state_of(torch, module):
    return ([part.training for part in module.modules()], torch.get_rng_state().tolist(), torch.get_num_threads(),
            torch.is_grad_enabled(), torch.is_inference_mode_enabled(),
            [tensor.clone() for tensor in module.state_dict().values()])


def assert_same(before, after):
    assert before[:-1] == after[:-1]
    assert all((one == other).all() for one, other in zip(before[-1], after[-1]))


@pytest.mark.parametrize("fails", [False, True])
def test_a_torch_module_is_as_before_also_after_an_exception(im, torch, fails):
    module = network(torch)
    calls = []

    def hook(*_):
        calls.append(module.training)
        if fails and len(calls) > 7:
            raise RuntimeError("on the eighth call")

    module.register_forward_hook(hook)
    torch.set_grad_enabled(True)
    torch.set_num_threads(1)
    given = torch.rand(4, 16)
    before = state_of(torch, module)
    record = im.run_live({"it": module}, given, **SETTINGS)
    assert_same(before, state_of(torch, module))
    assert not any(calls)  # measured in eval mode, as the record says of each round
    reported = [samples.executed["mode"] for samples in record.samples if samples.end == "ok"]
    assert reported == ([] if fails else ["eval; train before and afterwards"] * 2)
    assert record.samples[0].executed["threads"] == "1"
    assert isinstance(record.errors["it"], RuntimeError) == fails
    assert record.models[0].parameters == 16 * 8 + 8 + 8 + 8


def test_a_module_is_measured_in_the_precision_it_has(im, torch):
    module = network(torch).to(torch.bfloat16)
    record = im.run_live({"it": module}, torch.rand(4, 16).to(torch.bfloat16), **SETTINGS)
    assert record.samples[0].end == "ok", record.samples[0].message
    assert record.samples[0].executed["dtype"] == "bfloat16"
    assert record.samples[0].outputs[0].dtype == "bfloat16"
    assert next(module.parameters()).dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_what_has_no_weights_computes_in_the_type_of_its_inputs(im, torch, dtype):
    x = torch.rand(4, 16).to(getattr(torch, dtype))
    record = im.run_live({"function": lambda a: a * 2, "module": torch.nn.ReLU()}, x, **SETTINGS)
    assert [samples.executed["dtype"] for samples in record.samples] == [dtype] * 4, record.samples[0].message
    assert "precision_not_as_asked" not in record.text()
    record = im.run_live({"names": lambda a: a * 2}, torch.ones(4, 16, dtype=torch.int64), **SETTINGS)
    assert "dtype" not in record.samples[0].executed


def test_a_device_that_is_not_there_is_refused(im, torch):
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(im.UsageError, match="device 'cuda' is not there: this machine's pytorch has cpu; choose one with --device"):
        im.run_live({"it": network(torch)}, torch.rand(4, 16), device="cuda", **SETTINGS)


@pytest.fixture
def jax():
    return pytest.importorskip("jax", reason="jax is not installed: scripts/setup --with jax")


def test_workers_are_started_beside_the_threads_of_jax(python, jax):
    # JAX warns of os.fork, which deadlocks beside its threads; starting a worker is no fork of that kind.
    done = python("""
import warnings
warnings.simplefilter("error")
import jax, jax.numpy as jnp, infermeter
jax.jit(lambda a: a @ a)(jnp.ones((256, 256))).block_until_ready()
record = infermeter.run("mlp@fake,latency=constant:100us", warmup=1, iterations=10, processes=3)
print([samples.end for samples in record.samples])
print(float(jax.jit(lambda a: (a @ a).sum())(jnp.ones((4, 4)))))
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["['ok', 'ok', 'ok']", "64.0"]


def test_a_live_jax_function_is_waited_for(im, jax):
    function = jax.jit(lambda a: (a @ a) @ (a @ a))
    given = jax.numpy.ones((512, 512))
    record = im.run_live({"it": function}, given, **SETTINGS)
    assert record.samples[0].end == "ok", record.samples[0].message
    assert record.plan.subjects[0].backend == "jax"
    assert record.samples[0].executed["runtime"] == "JAX"
    assert [output.shape for output in record.samples[0].outputs] == [[512, 512]]
    assert record.samples[0].executed["dtype"] == "float32"
    record = im.run_live({"it": function}, given.astype("bfloat16"), **SETTINGS)
    assert record.samples[0].executed["dtype"] == "bfloat16"


def saved_bytes(torch, module):
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    return file.tell()


def linear_layers(torch):
    return torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))


def recurrent(torch):
    class Last(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(128, 100)

        def forward(self, x):
            return self.lstm(x)[0]

    return Last()


@pytest.mark.parametrize("make", [linear_layers, recurrent])
def test_quantised_weights_count(im, torch, make):
    plain = make(torch).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantised = torch.ao.quantization.quantize_dynamic(plain, {torch.nn.Linear, torch.nn.LSTM}, dtype=torch.qint8)
    record = im.run_live({"plain": plain, "int8": quantised}, torch.rand(4, 1, 128), **SETTINGS)  # an LSTM wants three dimensions
    assert record.models[0].parameters == record.models[1].parameters == sum(p.numel() for p in plain.parameters())
    for facts, module in zip(record.models, (plain, quantised), strict=True):
        assert 0 < saved_bytes(torch, module) - facts.size_bytes < 4000  # what the file has beside weights
    assert 3.7 < record.models[0].size_bytes / record.models[1].size_bytes < 4
    assert "precision_not_as_asked" not in record.text()  # the weights are its own, and no --dtype is int8


def packed_layers(torch):
    """Every kind of layer that PyTorch packs, and the same before."""
    quantization = torch.ao.quantization
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        convolution = torch.nn.Sequential(quantization.QuantStub(), torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU()).eval()
        convolution.qconfig = quantization.get_default_qconfig("fbgemm")
        prepared = quantization.prepare(convolution)
        prepared(torch.rand(1, 3, 8, 8))
        yield convolution, quantization.convert(prepared)
        embedding = torch.nn.Sequential(torch.nn.EmbeddingBag(1000, 40))
        embedding.qconfig = quantization.float_qparams_weight_only_qconfig_4bit
        yield embedding, quantization.convert(quantization.prepare(embedding))


def test_every_packed_layer_counts(im, torch):
    from infermeter.torch_weights import Weights

    for plain, packed in packed_layers(torch):
        before, after = Weights.of(torch, plain), Weights.of(torch, packed)
        assert after.count == before.count > 0
        assert 0 < saved_bytes(torch, packed) - after.size_bytes < 4000
        assert before.size_bytes / after.size_bytes > 2


def test_memory_counts_once_and_as_it_is_stored(im, torch):
    from infermeter.torch_weights import Weights

    a, b = torch.nn.Linear(100, 100, bias=False), torch.nn.Linear(100, 100, bias=False)
    b.weight = torch.nn.Parameter(a.weight.data)  # another parameter of the same memory
    norm = torch.nn.BatchNorm1d(10)  # 20 parameters, 20 statistics and a count
    found = Weights.of(torch, torch.nn.Sequential(a, b, norm))
    assert (found.count, found.size_bytes) == (10_020, 40_000 + 160 + 8)
    sparse = torch.nn.Module()
    for layout, size in (("coo", 16 + 4), ("csr", 8 + 4)):
        sparse.weight = torch.nn.Parameter(getattr(torch.eye(100), f"to_sparse_{layout}" if layout == "csr" else "to_sparse")())
        found = Weights.of(torch, sparse)
        assert (found.count, found.size_bytes) == (10_000, 100 * size + (8 * 101 if layout == "csr" else 0))


def test_a_lazy_module_has_its_weights_and_can_be_trained(im, torch):
    module = torch.nn.Sequential(torch.nn.LazyLinear(8))
    record = im.run_live({"it": module}, torch.rand(4, 16), **SETTINGS)
    assert (record.models[0].parameters, record.models[0].size_bytes) == (136, 544)
    module(torch.rand(4, 16)).sum().backward()


def pointers(module):
    return [(tensor.data_ptr(), tensor.dtype, tensor.device, tensor.stride()) for tensor in module.state_dict().values()]


@pytest.mark.parametrize("settings, said", [
    ({"dtype": "bfloat16"}, "dtype float32 -> bfloat16"),
    ({"options": {"channels_last": "true"}}, "layout -> channels_last"),
    ({"dtype": "bfloat16", "options": {"channels_last": "true"}}, "dtype float32 -> bfloat16, layout -> channels_last"),
])
def test_what_is_asked_for_is_measured_on_a_copy(im, torch, settings, said):
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)).train()
    before, values = pointers(module), [tensor.clone() for tensor in module.state_dict().values()]
    record = im.run_live({"it": module}, torch.rand(2, 3, 8, 8), **SETTINGS, **settings)
    assert all(samples.end == "ok" for samples in record.samples), record.samples[0].message
    executed = record.samples[0].executed
    assert executed["measured_copy"] == said
    assert executed["dtype"] == settings.get("dtype", "float32")
    assert pointers(module) == before
    assert all((one == other).all() for one, other in zip(values, module.state_dict().values()))
    assert all(part.training for part in module.modules())


def test_what_need_not_be_changed_is_measured_itself(im, torch):
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3)).to(torch.bfloat16).to(memory_format=torch.channels_last)
    record = im.run_live({"it": module}, torch.rand(2, 3, 8, 8).to(torch.bfloat16), options={"channels_last": "true"}, **SETTINGS)
    assert record.samples[0].end == "ok" and "measured_copy" not in record.samples[0].executed


def test_what_cannot_be_copied_is_refused(im, torch):
    class Stubborn(torch.nn.Linear):
        def __deepcopy__(self, memo):
            raise TypeError("there is one of me")

    said = "cannot be copied, and would have to be changed .dtype float32 -> bfloat16. .*there is one of me"
    with pytest.raises(im.UsageError, match=said):
        im.run_live({"it": Stubborn(16, 4)}, torch.rand(2, 16), dtype="bfloat16", **SETTINGS)


def test_the_callers_precision_is_that_of_the_measurement(im, torch):
    seen = []

    class Looks(torch.nn.Module):
        def forward(self, x):
            seen.append((torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32))
            return x * 2

    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    try:
        for precision, tf32 in (("high", True), ("highest", False), ("medium", False)):
            torch.set_float32_matmul_precision(precision)
            torch.backends.cudnn.allow_tf32 = tf32
            seen.clear()
            record = im.run_live(Looks(), torch.rand(2, 16), **SETTINGS)
            assert set(seen) == {(precision, tf32)}
            assert record.samples[0].executed["matmul_precision"] == precision
            assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32) == (precision, tf32)
        seen.clear()
        record = im.run_live(Looks(), torch.rand(2, 16), options={"matmul_precision": "highest"}, **SETTINGS)
        assert set(seen) == {("highest", False)} and record.samples[0].executed["matmul_precision"] == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]


def test_precisions_that_were_set_place_by_place(im, torch):
    """By the newer settings, beside which the older ones cannot even be read."""
    if not hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        pytest.skip("this PyTorch has the older settings only")
    from infermeter.torch_precision import Float32Precision

    before = Float32Precision(torch)
    places = torch.backends.cuda.matmul, torch.backends.cudnn.conv, torch.backends.mkldnn.matmul
    try:
        for place, precision in zip(places, ("tf32", "ieee", "bf16"), strict=True):
            place.fp32_precision = precision
        for options in ({}, {"matmul_precision": "high"}):
            record = im.run_live(lambda x: x * 2, torch.rand(2, 16), options=options, **SETTINGS)
            assert record.samples[0].end == "ok", record.samples[0].message
            reported = record.samples[0].executed["matmul_precision"]
            assert reported == options.get("matmul_precision", "cuda.matmul=tf32, mkldnn.matmul=bf16")
            assert [place.fp32_precision for place in places] == ["tf32", "ieee", "bf16"]
    finally:
        before.restore()


def test_a_module_of_several_precisions_stays_so(im, torch):
    class Mixed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(16, 8).to(torch.bfloat16), torch.nn.Linear(8, 4)

        def forward(self, x):
            return self.second(self.first(x.to(torch.bfloat16)).float())

    module = Mixed()
    record = im.run_live({"it": module}, torch.rand(4, 16), **SETTINGS)
    assert record.samples[0].end == "ok", record.samples[0].message
    assert "measured_copy" not in record.samples[0].executed
    assert (module.first.weight.dtype, module.second.weight.dtype) == (torch.bfloat16, torch.float32)


def test_gradients_where_they_are_asked_for(im, torch):
    seen = []

    class Looks(torch.nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            seen.append((torch.is_inference_mode_enabled(), y.requires_grad))
            return y

    module = Looks(16, 4)
    torch.set_grad_enabled(False)
    try:
        record = im.run_live(module, torch.rand(2, 16), options={"grad": "true"}, **SETTINGS)
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    assert set(seen) == {(False, True)} and record.samples[0].executed["grad"] == "true"
    seen.clear()
    im.run_live(module, torch.rand(2, 16), **SETTINGS)
    assert set(seen) == {(True, False)}


def test_a_smaller_model_is_recommended(im, torch):
    plain = torch.nn.Sequential(torch.nn.Linear(512, 512))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = torch.ao.quantization.quantize_dynamic(plain, {torch.nn.Linear}, dtype=torch.qint8)
    record = im.run_live({"plain": plain, "small": small}, torch.rand(4, 512), **SETTINGS)
    (found,) = [line for line in record.recommendations_text().splitlines() if "maller" in line]
    assert found.strip() == "✓ 4.0x smaller model"
    assert record.models[1].parameters == record.models[0].parameters == 512 * 513
    sizes = list(record.to_dataframe()["model_size_mb"])
    assert sizes == [pytest.approx(1.05, abs=0.01), pytest.approx(0.264, abs=0.01)]
