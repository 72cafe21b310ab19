"""The back end of PyTorch, called as a worker calls it."""

import contextlib
import functools
import gzip
import importlib.util
import json
import shutil
import sys
import textwrap
import warnings

import numpy as np
import pytest

FRAMEWORK = "pytorch"


def state():
    import torch

    return (
        torch.get_num_threads(),
        torch.get_float32_matmul_precision(),
        torch.backends.cudnn.allow_tf32,
        torch.is_inference_mode_enabled(),
        torch.is_grad_enabled(),
    )


@contextlib.contextmanager
def unusual_state():
    import torch

    before = torch.get_num_threads(), torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_num_threads(3)
    torch.set_float32_matmul_precision("medium")
    torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.set_float32_matmul_precision(before[1])
        torch.backends.cudnn.allow_tf32 = before[2]


def test_state_of_the_process_is_put_back(runtime, load_of, onnx_file, input_of):
    import torch

    with unusual_state():
        before = state()
        session = runtime.load(load_of(onnx_file("mlp"), "mlp", threads=1))
        for _ in range(2):
            session.bind([input_of("mlp")])()
        assert state() == (1, "highest", False, True, False)
        assert session.executed()["threads"] == "1" == str(torch.get_num_threads())
        session.close()
        assert state() == before
        runtime.load(load_of(onnx_file("mlp"), "mlp", threads=2)).close()  # never bound
        assert state() == before


def test_a_model_may_write_to_its_input_and_the_hosts_bytes_stay(runtime, load_of, factory):
    model = factory("def make():\n    return torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Identity())\n")
    session = runtime.load(load_of(model, input_shape="1x4"))
    array = np.frombuffer((-np.ones((2, 4), np.float32)).tobytes(), np.float32).reshape(2, 4)
    assert not array.flags.writeable and session.inputs[0].shape == (2, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step = session.bind([array])
    assert (session.values(step())[0] == 0).all() and (array == -1).all()
    session.close()


def test_values_stay_when_the_next_step_writes_over_them(runtime, load_of, factory):
    model = factory(
        "def make():\n    kept = torch.zeros(2)\n    def count(x):\n        return kept.add_(1)\n    return count\n"
    )
    session = runtime.load(load_of(model, input_shape="1"))
    step = session.bind([np.zeros(2, np.float32)])
    first = session.values(step())[0]
    assert session.values(step())[0].tolist() == [2, 2] and first.tolist() == [1, 1]
    session.close()


@pytest.mark.parametrize(
    ("name", "dtype", "options", "nearest", "farthest"),
    [
        ("mlp", "float16", {}, 1e-4, 1e-2),  # many a processor has no float16, and takes seconds for a ResNet
        ("resnet50", "bfloat16", {}, 1e-3, 5e-2),
        ("resnet50", "bfloat16", {"autocast": "true"}, 1e-3, 5e-2),
        ("resnet50", "float32", {"channels_last": "true"}, 0, 1e-5),
    ],
)
def test_precisions_are_executed(
    name, dtype, options, nearest, farthest, runtime, load_of, onnx_file, run_once, input_of, expected, distance
):
    session = runtime.load(load_of(onnx_file(name), name, dtype=dtype, batch=1, **options))
    (values,) = run_once(session, input_of(name, 1))
    reported = session.executed()
    session.close()
    assert values.dtype.name == dtype == reported["dtype"]
    assert nearest <= distance(values, expected(name, 1)) <= farthest
    assert reported["channels_last"] == options.get("channels_last", "false")
    assert reported["autocast"] == options.get("autocast", "false")
    assert reported["provider"] == "eager"
    assert [(port.name, port.dtype, port.shape) for port in session.outputs] == [("output", dtype, values.shape)]


LOOK_AT_ITSELF = """
class Look(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(2, 4, 3)
    def forward(self, x):
        weight = self.convolution.weight
        last = torch.channels_last
        return torch.tensor([
            x.dtype == torch.bfloat16, weight.dtype == torch.bfloat16, torch.is_autocast_enabled("cpu"),
            x.is_contiguous(memory_format=last), weight.is_contiguous(memory_format=last),
            torch.is_inference_mode_enabled(), self.training, torch.get_num_threads() == 1])
def make():
    return Look()
"""


@pytest.mark.parametrize(
    ("dtype", "options", "converted", "autocast", "channels_last"),
    [
        ("float32", {}, False, False, False),
        ("float32", {"channels_last": "true"}, False, False, True),
        ("bfloat16", {}, True, False, False),
        ("bfloat16", {"autocast": "true"}, False, True, False),
    ],
)
def test_what_a_model_sees(dtype, options, converted, autocast, channels_last, runtime, load_of, factory, run_once):
    load = load_of(factory(LOOK_AT_ITSELF), dtype=dtype, threads=1, input_shape="1x2x6x5", **options)
    session = runtime.load(load)
    (seen,) = run_once(session, np.ones((2, 2, 6, 5), np.float32))
    session.close()
    expected = [converted, converted, autocast, channels_last, channels_last, True, False, True]
    assert seen.tolist() == expected


def test_torch_compile(runtime, load_of, onnx_file, run_once, input_of, expected, distance):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: torch.compile needs it")
    eager = runtime.load(load_of(onnx_file("mlp"), "mlp"))
    assert not hasattr(eager, "compile")  # nothing to time
    eager.close()
    session = runtime.load(load_of(onnx_file("mlp"), "mlp", compile="true"))
    (values,) = run_once(session, input_of("mlp"))
    reported = session.executed()
    session.close()
    assert reported["provider"] == "inductor" and reported["graph_breaks"] == "0"
    assert distance(values, expected("mlp")) <= 1e-5


def test_torch_compile_that_fails_is_explained(runtime, load_of, factory):
    from infermeter.backend import Refused

    model = factory(
        "class Fails(torch.nn.Module):\n    def forward(self, x):\n        return x @ x\n"
        "def make():\n    return Fails()\n"
    )
    session = runtime.load(load_of(model, compile="true", input_shape="1x3"))
    with pytest.raises(Refused, match="torch.compile failed: .*compile=false"):
        session.compile()
    session.close()


def small_module():
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5)).eval()


@pytest.mark.parametrize("kind", ["m.pt", "m.pth", "script.pt", "m.pt2"])
def test_files(kind, tmp_path, runtime, load_of, run_once):
    import torch

    module, file = small_module(), tmp_path / kind
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    options = {"input_shape": "1x3"}
    if kind == "m.pt2":
        batch = torch.export.Dim("batch", max=64)
        torch.export.save(torch.export.export(module, (torch.ones(2, 3),), dynamic_shapes=({0: batch},)), file)
        options = {}
    elif kind == "script.pt":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TorchScript is told to be on its way out
            torch.jit.save(torch.jit.script(module), file)
    else:
        torch.save(module.train(), file)  # as training left it
        module.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = runtime.load(load_of(file, **options))
    (values,) = run_once(session, x)
    assert [port.shape for port in session.inputs] == [(2, 3)]
    session.close()
    np.testing.assert_allclose(values, module(torch.from_numpy(x)).detach().numpy(), rtol=1e-6)
    reported = session.executed()
    assert reported["parameters"] == "16" and reported["provider"] == ("torchscript" if kind == "script.pt" else "eager")


def test_torchscript_is_not_compiled_again(tmp_path, refused):
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(small_module()), tmp_path / "m.pt")
        sentence = refused(tmp_path / "m.pt", compile="true", input_shape="1x3")
    assert "torch.compile leaves TorchScript as it is: give compile=false" in sentence


def test_files_that_hold_no_model(tmp_path, refused):
    import torch

    torch.save(small_module().state_dict(), tmp_path / "weights.pt")
    assert "weights without a model: give --option factory=FILE.py:FACTORY" in refused(tmp_path / "weights.pt")
    (tmp_path / "garbage.pt").write_bytes(b"no pickle at all")
    assert "garbage.pt cannot be read as a model of PyTorch" in refused(tmp_path / "garbage.pt")
    (tmp_path / "garbage.pt2").write_bytes(b"no archive at all")
    assert "garbage.pt2 cannot be read as a model of PyTorch" in refused(tmp_path / "garbage.pt2")
    torch.save({"a list": 1}["a list"], tmp_path / "number.pt")
    assert "gives an object of type int, which cannot be called" in refused(tmp_path / "number.pt", input_shape="1x3")


SMALL = (
    "def small():\n"
    "    torch.manual_seed(1)\n"  # other weights than the file's
    "    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5))\n"
)


class Settings:
    """What a trainer keeps beside the weights: no tensor, so that the file is a pickle of code."""


@pytest.mark.parametrize("kind", ["lightning", "whole", "compiled", "weights"])
def test_checkpoints_with_a_factory(kind, tmp_path, runtime, load_of, run_once, factory):
    import torch

    module = small_module()
    state = module.state_dict()
    prefix = {"lightning": "model.", "compiled": "net._orig_mod."}.get(kind, "")
    held = {prefix + name: value for name, value in state.items()}
    if kind == "lightning":
        held["loss.weight"] = torch.ones(2)  # of the trainer's own
    content = held if kind == "weights" else {"state_dict": held, "epoch": 3, "pytorch-lightning_version": "2.5.0"}
    if kind == "lightning":
        content["hyper_parameters"] = {"settings": Settings()}
    file = tmp_path / ("best.pt" if kind == "weights" else "best.ckpt")
    torch.save(content, file)
    made = factory(SMALL + "make = small\n")
    session = runtime.load(load_of(file, factory=made, input_shape="1x3"))
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    (values,) = run_once(session, x)
    np.testing.assert_allclose(values, module(torch.from_numpy(x)).detach().numpy(), rtol=1e-6)
    assert session.executed()["parameters"] == "16"
    session.close()


def test_a_factory_may_tell_its_inputs_with_a_checkpoint(tmp_path, runtime, load_of, run_once, factory):
    import torch

    torch.save({"state_dict": small_module().state_dict()}, tmp_path / "best.ckpt")
    made = factory(SMALL + "def make():\n"
                   "    from infermeter.factory import Model\n"
                   "    return Model(small(), [Port('image', 'float32', ('batch', 3))])\n")
    session = runtime.load(load_of(tmp_path / "best.ckpt", factory=made))
    assert [port.name for port in session.inputs] == ["image"]
    session.close()


def test_checkpoints_that_do_not_fit(tmp_path, refused, factory):
    import torch

    made = factory(SMALL + "make = small\n" + "def other():\n    return torch.nn.Linear(7, 4)\n"
                   + "def number():\n    return 3\n")
    state = small_module().state_dict()
    file = tmp_path / "best.ckpt"
    torch.save({"state_dict": state}, file)
    assert "weights without a model: give --option factory=FILE.py:FACTORY" in refused(file, input_shape="1x3")
    other = made.replace(":make", ":other")
    sentence = refused(file, factory=other, input_shape="1x3")
    assert "weights of" in sentence and "do not fit what the factory makes" in sentence or "lacks 2 of the 2 weights" in sentence
    assert "the factory returns a int" in refused(file, factory=made.replace(":make", ":number"), input_shape="1x3")
    torch.save({"state_dict": {"a.0.weight": state["0.weight"]}}, file)
    assert "lacks 1 of the 2 weights that the factory's model has, such as a.0.bias; it contains a.0.weight" in refused(
        file, factory=made, input_shape="1x3")
    torch.save({"state_dict": {f"{part}.{name}": value for part in "ab" for name, value in state.items()}}, file)
    assert "weights of several such models, at a., b." in refused(file, factory=made, input_shape="1x3")
    for prefix in ("", "model."):  # what was trained has another layer
        more = {prefix + name: value for name, value in {**state, "2.weight": torch.ones(4, 4), "2.num_batches_tracked": torch.tensor(1)}.items()}
        torch.save({"state_dict": more}, file)
        assert f"holds 1 weights that the factory's model lacks, such as {prefix}2.weight" in refused(file, factory=made, input_shape="1x3")
    torch.save({"state_dict": {}}, file)
    assert "contains no state_dict" in refused(file, factory=made, input_shape="1x3")
    file.write_bytes(b"no pickle at all")
    assert "cannot be read as a checkpoint of PyTorch" in refused(file, factory=made, input_shape="1x3")
    assert "factory= is for files of weights" in refused(made, factory=made, input_shape="1x3")


def test_a_pickle_finds_its_classes_in_the_users_folder(tmp_path, runtime, load_of, run_once, monkeypatch):
    import torch

    monkeypatch.setattr(sys, "path", list(sys.path))
    source = "import torch\nclass Twice(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x\n"
    (tmp_path / "module_of_a_pickle.py").write_text(source)
    sys.path.insert(0, str(tmp_path))
    import module_of_a_pickle

    torch.save(module_of_a_pickle.Twice(), tmp_path / "twice.pt")
    sys.path.remove(str(tmp_path))
    del sys.modules["module_of_a_pickle"]
    session = runtime.load(load_of(tmp_path / "twice.pt", input_shape="1x2"))
    assert run_once(session, np.ones((2, 2), np.float32))[0].tolist() == [[2, 2], [2, 2]]
    session.close()


def test_several_inputs_and_outputs(runtime, load_of, factory, run_once):
    model = factory(
        "from infermeter.factory import Model\n"
        "def make():\n"
        "    x, ids = Port('x', 'float32', ('batch', 'width')), Port('ids', 'int64', (None, 2))\n"
        "    model = lambda x, ids, b: {'sum': x.sum(1), 'rest': (ids * 2, None, b)}\n"
        "    return Model(model, [x, ids, Port('b', 'bfloat16', (1,))])\n"
    )
    import ml_dtypes

    session = runtime.load(load_of(model, batch=3, dimensions={"width": "5"}))
    assert [port.shape for port in session.inputs] == [(3, 5), (3, 2), (1,)]
    half = np.array([0.5], ml_dtypes.bfloat16)
    sums, ids, b = run_once(session, np.ones((3, 5), np.float32), np.full((3, 2), 2**40), half)
    session.close()
    assert sums.tolist() == [5, 5, 5] and ids.dtype == np.int64 and ids.max() == 2**41
    assert b.dtype == ml_dtypes.bfloat16 and b.tolist() == [0.5]
    assert [port.name for port in session.outputs] == ["output.sum", "output.rest.0", "output.rest.2"]


def test_outputs_that_do_not_fit(runtime, load_of, factory, run_once):
    from infermeter.backend import Refused

    model = factory(
        "from infermeter.factory import Model\n"
        "def make():\n"
        "    return Model(lambda x: (x, x), [Port('x', 'float32', (1,))], outputs=('only',))\n"
        "def text():\n"
        "    return lambda x: 'a text'\n"
    )
    session = runtime.load(load_of(model))
    with pytest.raises(Refused, match=r"names 1 outputs \(only\) and returned 2"):
        run_once(session, np.ones(1, np.float32))
    session.close()
    session = runtime.load(load_of(model.replace(":make", ":text"), input_shape="1"))
    with pytest.raises(Refused, match="returns a str; only tensors can be compared"):
        run_once(session, np.ones(2, np.float32))
    session.close()


def test_a_model_keeps_its_own_precision(runtime, load_of, factory, run_once):
    model = factory(
        "from infermeter.factory import Model\n"
        "def make():\n"
        "    return Model(torch.nn.Linear(2, 3).to(torch.float16), [Port('x', 'float16', (1, 2))])\n"
    )
    session = runtime.load(load_of(model))
    assert run_once(session, np.ones((1, 2), np.float16))[0].dtype == np.float16
    reported = session.executed()
    assert (reported["dtype"], reported["dtype_from"]) == ("float16", "model")
    session.close()


def test_what_cannot_be_done_is_refused(refused, factory, onnx_file):
    import torch

    mlp = onnx_file("mlp")
    assert "has no device 'tpu' here; it has cpu" in refused(mlp, "mlp", device="tpu")
    for device, there in (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available())):
        if not there:
            assert f"has no device '{device}' here" in refused(mlp, "mlp", device=device)
    assert "does not execute float64 here, but float32" in refused(mlp, "mlp", dtype="float64")
    assert "pytorch has no option speed; it has compile" in refused(mlp, "mlp", speed="high")
    assert "cannot use compile=maybe; give compile=true|false" in refused(mlp, "mlp", compile="maybe")
    assert "autocast=true lets operators compute" in refused(mlp, "mlp", autocast="true")
    assert "no definition of the zoo's alexnet; it has resnet50" in refused(mlp, "alexnet")
    function = factory("def make():\n    return lambda x: x\n")
    assert "convert a function to float16" in refused(function, dtype="float16", input_shape="1x2")
    assert "let the factory return infermeter.Model" in refused(function)
    assert "input_shape=2y3 cannot be read at '2y3'" in refused(function, input_shape="2y3")


def test_a_missing_framework_is_said_with_the_way_to_get_it(plugin, monkeypatch, tmp_path):
    from infermeter.backend import Environment, Refused, Status

    back_end = plugin("infermeter_backend_pytorch")
    with pytest.raises(Refused, match=f"there is no package torch in {tmp_path}") as raised:
        back_end.open_runtime(Environment(library=str(tmp_path)))
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(Refused, match="PyTorch is not installed in .*: scripts/setup --with pytorch, or pip") as raised:
        back_end.open_runtime(Environment())
    assert raised.value.status == Status.LIBRARY_MISSING


@pytest.mark.parametrize(
    ("missing", "name", "dtype"),
    [("torchvision", "resnet50", "float32"), ("onnx", "mlp", "float32"), ("ml_dtypes", "mlp", "bfloat16")],
)
def test_what_only_some_loads_need_is_said_when_it_is_not_there(missing, name, dtype, refused, onnx_file, monkeypatch):
    file = onnx_file(name)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None if package == missing else find(package))
    assert f"needs the package {missing}, which is not installed" in refused(file, name, dtype=dtype)


def profiled(session, folder, steps, shape=(2, 3)):
    """torch.json's events and operators.json of that many steps, after two that nobody records."""
    folder.mkdir()
    if hasattr(session, "compile"):
        session.compile()
    step = session.bind([np.ones(shape, np.float32)])
    for _ in range(2):
        step()
    session.profile_begin(str(folder))
    for _ in range(steps):
        step()
    session.profile_end(str(folder))
    assert sorted(file.name for file in folder.iterdir()) == ["operators.json", "own_trace.json.gz", "torch.json"]
    session.close()
    with gzip.open(folder / "own_trace.json.gz", "rb") as kept:
        assert kept.read() == (folder / "torch.json").read_bytes()
    trace = json.loads((folder / "torch.json").read_text())["traceEvents"]
    return trace, json.loads((folder / "operators.json").read_text())


@pytest.mark.parametrize("compiles", ["false", "true"])
def test_a_profile_has_the_operators_of_each_recorded_iteration(runtime, factory, load_of, tmp_path, compiles):
    model = factory("def make():\n    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())\n")
    folder = tmp_path / "made"
    session = runtime.load(load_of(model, input_shape="2x3", profile_folder=folder, compile=compiles))
    trace, reported = profiled(session, folder, steps=3)
    names = [event["name"] for event in trace if event.get("cat") == "user_annotation"]
    assert names.count("infermeter_iteration") == 3
    assert [name for name in names if name.startswith("ProfilerStep#")] == ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"]
    assert reported["iterations"] == 3 and reported["events"]["iteration"] == sorted(reported["events"]["iteration"])
    kinds = [operator["kind"] for operator in reported["operators"]]
    assert any("relu" in kind for kind in kinds), "of what Inductor compiled, too"
    of_each = [sum(iteration == index for iteration in reported["events"]["iteration"]) for index in range(3)]
    assert of_each == [len(kinds)] * 3
    assert reported["sources"][0]["available"] == (compiles == "false")


def test_an_operator_of_a_profile_tells_its_kernel_shapes_and_module(runtime, factory, load_of, tmp_path):
    body = """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.act, self.last = torch.nn.Linear(300, 400), torch.nn.ReLU(), torch.nn.Linear(400, 400)

            def forward(self, x):
                y = self.act(self.last(self.act(self.first(x))))
                return y + y

        def make():
            return Net()
        """
    session = runtime.load(
        load_of(factory(textwrap.dedent(body)), input_shape="2x300", profile_folder=tmp_path / "made"))
    _, reported = profiled(session, tmp_path / "made", steps=2, shape=(2, 300))
    found = [(operator["name"], operator["kernel"], operator["shapes"], operator["origin_names"])
             for operator in reported["operators"]]
    # A kernel is the one that takes most of the time, hence the width.
    # What runs more than once, or is no module's, has no name that shows which operator of the model it is.
    assert found == [
        ("aten::linear.0", "aten::addmm", "(2, 300), (400, 300), (400,)", ["first"]),
        ("aten::relu.0", found[1][1], "(2, 400)", []),
        ("aten::linear.1", "aten::addmm", "(2, 400), (400, 400), (400,)", ["last"]),
        ("aten::relu.1", found[3][1], "(2, 400)", []),
        ("aten::add.0", "aten::add", "(2, 400), (2, 400)", [])]


def test_a_module_that_calls_none_of_those_within_it_has_its_operators(runtime, factory, load_of, tmp_path):
    body = """
        class Fused(torch.nn.Module):  # as attention, which takes its layers' weights
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(3, 4)

            def forward(self, x):
                return x @ self.layer.weight.T

        def make():
            return torch.nn.Sequential(Fused())
        """
    session = runtime.load(
        load_of(factory(textwrap.dedent(body)), input_shape="2x3", profile_folder=tmp_path / "made"))
    _, reported = profiled(session, tmp_path / "made", steps=1)
    assert [operator["origin_names"] for operator in reported["operators"] if operator["kind"] == "aten::matmul"] == [["0"]]


def test_a_profile_tells_which_operator_reads_what_another_made(runtime, factory, load_of, tmp_path):
    body = """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.left, self.right, self.norm = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), torch.nn.LayerNorm(4)

            def forward(self, x):
                left, right = self.left(x), self.right(x)
                left.relu_()  # in place
                halves = torch.cat([left, right], 1).split(4, 1)
                return self.norm(halves[1] - left) + halves[0]

        def make():
            return Net()
        """
    session = runtime.load(
        load_of(factory(textwrap.dedent(body)), input_shape="2x3", profile_folder=tmp_path / "made"))
    _, reported = profiled(session, tmp_path / "made", steps=2)
    made_by = {tensor: operator["name"] for operator in reported["operators"] for tensor in operator["outputs"]}
    assert {operator["name"].removeprefix("aten::"): [made_by[tensor].removeprefix("aten::") for tensor in operator["inputs"]]
            for operator in reported["operators"]} == {
        "linear.0": [], "linear.1": [], "relu_.0": ["linear.0"], "cat.0": ["relu_.0", "linear.1"], "split.0": ["cat.0"],
        "sub.0": ["split.0", "relu_.0"], "layer_norm.0": ["sub.0"], "add.0": ["layer_norm.0", "split.0"]}


def test_what_is_around_operators_is_none_and_the_longest_of_an_operator_is_its_kernel():
    from infermeter.torch_operators import iterations_in

    def event(name, begin, end, kind="cpu_op", thread=1):
        return {"ph": "X", "cat": kind, "name": name, "ts": begin, "dur": end - begin, "tid": thread}

    trace = [
        event("infermeter_iteration", 10.0, 20.0, "user_annotation"),
        event("aten::add", 1.0, 2.0),  # before it
        event("aten::add", 12.0, 13.0, thread=2),
        event("Torch-Compiled Region: 0/0", 11.0, 19.0),
        event("aten::conv2d", 12.0, 15.0),
        event("aten::fast", 12.5, 13.0),
        event("aten::slow", 13.0, 14.5),  # conv2d itself: 1.0
        event("cpp_fused_relu_0", 15.0, 16.0),
    ]
    (calls,) = iterations_in(trace)
    assert [(call.name, call.begin, call.end, call.longest().name) for call in calls] == [
        ("aten::conv2d", 2000, 5000, "aten::slow"), ("cpp_fused_relu_0", 5000, 6000, "cpp_fused_relu_0")]


def test_without_a_folder_nothing_is_between_the_caller_and_the_model(runtime, factory, load_of):
    session = runtime.load(load_of(factory("def make():\n    return torch.nn.Linear(3, 4)\n"), input_shape="2x3"))
    step = session.bind([np.ones((2, 3), np.float32)])
    assert isinstance(step, functools.partial) and isinstance(step.func, type(session._module))
    session.close()


def test_a_model_that_tells_its_inputs_takes_no_input_shape(tmp_path, refused, factory):
    import torch

    made = factory("from infermeter.factory import Model\n"
                   "def make():\n    return Model(torch.nn.Linear(3, 4), [Port('x', 'float32', ('batch', 3))])\n")
    assert "declares its inputs itself: leave input_shape=1x5 out" in refused(made, input_shape="1x5")
    torch.export.save(torch.export.export(small_module(), (torch.ones(2, 3),)), tmp_path / "m.pt2")
    assert "declares its inputs itself: leave input_shape=1x5 out" in refused(tmp_path / "m.pt2", input_shape="1x5")


def test_matmul_precision(runtime, load_of, onnx_file, input_of, refused):
    import torch

    with unusual_state():
        before = state()
        for asked, tf32 in (("highest", False), ("high", True), ("medium", True)):
            session = runtime.load(load_of(onnx_file("mlp"), "mlp", matmul_precision=asked))
            session.bind([input_of("mlp")])()
            assert (session.executed()["matmul_precision"], torch.backends.cudnn.allow_tf32) == (asked, tf32)
            session.close()
            assert state() == before
    assert "give matmul_precision=highest, high or medium" in refused(onnx_file("mlp"), "mlp", matmul_precision="low")
