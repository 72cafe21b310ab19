"""Objects of this process: measured by the same engine, and nothing that they or the measurement set is left changed."""

import gc
import random
import signal
import sys

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
""")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "2 False ok interrupted"
    assert second == "True True"


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
    assert not any(calls)  # measured in eval mode
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


def test_a_device_that_is_not_there_is_refused(im, torch):
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(im.UsageError, match="back end pytorch has no device 'cuda'; here it has cpu"):
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
