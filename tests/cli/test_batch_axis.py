"""Which dimension of an input is the batch: real models on real runtimes, measured right or refused with the option that
helps. The rule itself is tested in infermeter/data/batch_axis_test.cpp."""

import json

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

SHORT = ("--processes", 1, "--warmup", 2, "--iterations", 10, "--format", "json", "--quiet", "--seed", 1)
FLOAT = TensorProto.FLOAT


@pytest.fixture(params=["onnxruntime", "openvino"])
def backend(request, run):
    if not json.loads(run("backends", request.param, "--format", "json").stdout)["usable"]:
        pytest.skip(f"{request.param} is not installed here")
    return request.param


def write(file, nodes, inputs, outputs, weights=()):
    initialisers = [numpy_helper.from_array(array, name) for name, array in weights]
    described = [[helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in ports] for ports in (inputs, outputs)]
    graph = helper.make_graph(nodes, "made", *described, initialisers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, file)
    return file.name


def lstm(file, shape):
    """[time, batch, 40] -> [time, batch, 16]"""
    draw = np.random.default_rng(1)
    weights = [("W", draw.normal(0, 0.1, (1, 64, 40)).astype(np.float32)), ("R", draw.normal(0, 0.1, (1, 64, 16)).astype(np.float32)),
               ("directions", np.array([1], np.int64))]
    nodes = [helper.make_node("LSTM", ["x", "W", "R"], ["all"], hidden_size=16),
             helper.make_node("Squeeze", ["all", "directions"], ["y"])]
    return write(file, nodes, [("x", shape)], [("y", [None, None, 16])], weights)


def matrix(file, shape):
    """Of rows of 64 numbers."""
    weights = [("W", np.random.default_rng(1).normal(0, 0.1, (64, 8)).astype(np.float32))]
    return write(file, [helper.make_node("MatMul", ["x", "W"], ["y"])], [("x", shape)], [("y", [*shape[:-1], 8])], weights)


def measured(run, *arguments):
    done = run("run", *arguments, *SHORT)
    assert done.returncode == 0, done.stderr + done.stdout
    report = json.loads(done.stdout)
    (trial,) = report["trials"]
    return report, trial


def throughput(report):
    metrics = report["subjects"][0]["metrics"]
    return metrics["throughput"]["value"] * metrics["latency_mean"]["value"]  # items per inference, whatever the times are


def refused(run, *arguments):
    done = run("run", *arguments, *SHORT)
    assert done.returncode == 2, done.stdout
    return done.stderr + done.stdout


def reported(trial):
    return trial["executed"]["batch_axis"], trial["items_per_iteration"], trial["executed"]["input_shape"]


def test_time_major_with_a_batch_by_its_name(run, backend):
    model = lstm(run.folder / "lstm.onnx", ["seq", "batch", 40])
    np.save(run.folder / "x.npy", np.random.default_rng(2).normal(size=(50, 8, 40)).astype(np.float32))
    report, trial = measured(run, f"{model}@{backend},batch=8", "--data", "x.npy")
    assert reported(trial) == ("x=1", 8, "(50, 8, 40)")
    assert throughput(report) == pytest.approx(8, rel=0.05)
    assert trial["outputs"][0]["shape"] == [50, 8, 16] and trial["outputs"][0]["batch_axis"] == 1
    # One sequence at a time: eight items, each with all of its times.
    _, one = measured(run, f"{model}@{backend}", "--data", "x.npy")
    assert reported(one) == ("x=1", 1, "(50, 1, 40)")
    message = refused(run, f"{model}@{backend}")
    assert "dimension 0 'seq' has no size; give it with --dim seq=VALUE" in message


def test_time_major_without_names_is_one_item(run, backend):
    model = lstm(run.folder / "lstm.onnx", [None, None, 40])
    np.save(run.folder / "x.npy", np.ones((50, 8, 40), np.float32))
    report, trial = measured(run, f"{model}@{backend}", "--data", "x.npy")
    assert reported(trial) == ("none", 1, "(50, 8, 40)")
    assert throughput(report) == pytest.approx(1, rel=0.05)
    _, said = measured(run, f"{model}@{backend}", "--data", "x.npy", "--batch-axis", "x=1", "--batch-sizes", 8)
    assert reported(said) == ("x=1", 8, "(50, 8, 40)")
    assert "--batch-axis x=0 if it is the batch" in refused(run, f"{model}@{backend}")


def test_a_fixed_model_without_a_batch_runs_as_it_is(run, backend):
    model = matrix(run.folder / "matrix.onnx", [48, 64])
    report, trial = measured(run, f"{model}@{backend}")
    assert reported(trial) == ("none", 1, "(48, 64)")
    assert throughput(report) == pytest.approx(1, rel=0.05)
    assert [d["message"] for d in trial["diagnostics"] if d["id"] == "no_batch_axis"] == [
        "an inference is one item: no input has a batch axis (input 'x' is float32 [48, 64])"]
    message = refused(run, f"{model}@{backend}", "--batch-sizes", 48)
    assert "no input has a batch axis" in message and "--batch-axis x=0" in message
    _, rows = measured(run, f"{model}@{backend}", "--batch-sizes", 48, "--batch-axis", "x=0")
    assert reported(rows) == ("x=0", 48, "(48, 64)")
    np.save(run.folder / "long.npy", np.ones((480, 64), np.float32))
    assert "needs float32 [48, 64]" in refused(run, f"{model}@{backend}", "--data", "long.npy")
    np.save(run.folder / "several.npy", np.ones((3, 48, 64), np.float32))
    assert reported(measured(run, f"{model}@{backend}", "--data", "several.npy")[1]) == ("none", 1, "(48, 64)")


def test_a_fixed_batch_that_the_user_declares(run, backend):
    weights = [("W", np.ones((4, 3, 3, 3), np.float32))]
    model = write(run.folder / "conv.onnx", [helper.make_node("Conv", ["x", "W"], ["y"])], [("x", [8, 3, 32, 32])],
                  [("y", [8, 4, 30, 30])], weights)
    report, trial = measured(run, f"{model}@{backend}", "--batch-axis", "x=0", "--batch-sizes", 8)
    assert reported(trial) == ("x=0", 8, "(8, 3, 32, 32)")
    assert throughput(report) == pytest.approx(8, rel=0.05)
    assert report["plan"]["subjects"][0]["batch_axes"] == {"x": "0"}
    message = refused(run, f"{model}@{backend}", "--batch-axis", "x=0")
    assert "an inference has 8 items" in message and "--batch-sizes 8" in message


def test_two_inputs_with_different_batch_axes(run, backend):
    nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("Add", ["t", "z"], ["y"])]
    model = write(run.folder / "two.onnx", nodes, [("x", [5, "batch"]), ("z", ["batch", 5])], [("y", ["batch", 5])])
    _, trial = measured(run, f"{model}@{backend}", "--batch-sizes", 4)
    assert reported(trial) == ("x=1, z=0", 4, "(5, 4) (4, 5)")
    x, z = np.arange(40, dtype=np.float32).reshape(5, 8), np.zeros((8, 5), np.float32)
    np.savez(run.folder / "data.npz", x=x, z=z)
    labels = run.folder / "labels.txt"  # the largest of five: each row of y is a column of x, which grows
    labels.write_text("4\n" * 8)
    report, _ = measured(run, f"{model}@{backend}", "--batch-sizes", 4, "--data", "data.npz", "--labels", labels)
    assert report["subjects"][0]["accuracy"]["labels"]["top1"] == 8


def test_scalar_states_have_no_batch(run, backend):
    nodes = [helper.make_node("Mul", ["x", "scale"], ["y"]), helper.make_node("Add", ["scale", "one"], ["next"])]
    model = write(run.folder / "state.onnx", nodes, [("x", ["N", 3]), ("scale", [])], [("y", ["N", 3]), ("next", [])],
                  [("one", np.array(1, np.float32))])
    report, trial = measured(run, f"{model}@{backend}", "--batch-sizes", 4)
    assert reported(trial) == ("x=0, scale=none", 4, "(4, 3) ()")
    assert throughput(report) == pytest.approx(4, rel=0.05)
    assert {output["name"]: output["batch_axis"] for output in trial["outputs"]} == {"y": 0, "next": None}


def test_an_input_with_a_batch_and_one_without(run, backend):
    nodes = [helper.make_node("MatMul", ["x", "table"], ["y"]), helper.make_node("ReduceSum", ["table"], ["sum"], keepdims=0)]
    model = write(run.folder / "mixed.onnx", nodes, [("x", ["batch", 6]), ("table", [6, 7])], [("y", ["batch", 7]), ("sum", [])])
    np.savez(run.folder / "data.npz", x=np.ones((12, 6), np.float32), table=np.ones((6, 7), np.float32))
    _, trial = measured(run, f"{model}@{backend}", "--batch-sizes", 4, "--data", "data.npz")
    assert reported(trial) == ("x=0, table=none", 4, "(4, 6) (6, 7)")
    done = run("validate", f"{model}@{backend},batch=4", f"{model}@{backend},batch=4", "--data", "data.npz")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all 3 items" in done.stdout or "3 items" in done.stdout


def test_names_that_leave_it_open_are_refused(run, backend):
    model = write(run.folder / "open.onnx", [helper.make_node("Concat", ["a", "b"], ["y"], axis=0)],
                  [("a", ["batch_a", 4]), ("b", ["batch_b", 4])], [("y", [None, 4])])
    message = refused(run, f"{model}@{backend}")
    assert "say which is the batch with --batch-axis a=0" in message
    _, trial = measured(run, f"{model}@{backend}", "--batch-axis", "b=none", "--dim", "batch_b=3", "--batch-sizes", 2)
    assert reported(trial) == ("a=0, b=none", 2, "(2, 4) (3, 4)")
    assert trial["outputs"][0]["batch_axis"] is None  # five rows: it is one whole


def test_a_wrong_axis_is_refused_before_or_while_loading(run, backend):
    model = matrix(run.folder / "matrix.onnx", ["N", 64])
    assert "the model's inputs are 'x'" in refused(run, f"{model}@{backend}", "--batch-axis", "image=0")
    assert "has no dimension 7" in refused(run, f"{model}@{backend}", "--batch-axis", "x=7")
    for wrong in ("x=first", "1"):
        assert "--batch-axis" in run("run", f"{model}@{backend}", "--batch-axis", wrong, "--dry-run").stderr


def test_plans_and_series_hold_it(run, backend):
    model = matrix(run.folder / "matrix.onnx", [48, 64])
    (run.folder / "plan.toml").write_text(
        f"[[subject]]\nmodel = '{model}'\nbackend = '{backend}'\nbatch_size = 48\nbatch_axis = {{ x = 0 }}\n"
        f"[[subject]]\nlabel = 'whole'\nmodel = '{model}'\nbackend = '{backend}'\nbatch_axis = 'none'\n")
    done = run("run", "--plan", "plan.toml", *SHORT)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [subject["batch_axes"] for subject in report["plan"]["subjects"]] == [{"x": "0"}, {"": "none"}]
    assert sorted(trial["items_per_iteration"] for trial in report["trials"]) == [1, 48]
    assert any("batch axis none, but 0 for" in note["message"] for note in report["diagnostics"] if note["id"] == "batch_differs")
    assert report["subjects"][0]["label"] == f"{model}@{backend},batch=48,batch_axis.x=0"
