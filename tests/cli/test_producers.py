"""Models as their producers write them, run at first try."""

import json
from pathlib import Path

import numpy
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from recorded_sets import write_set  # noqa: E402

PADDLE = Path(__file__).with_name("models") / "paddle2onnx.onnx"  # a detector's head, by Paddle2ONNX 2.1.0 of PaddlePaddle 3.3.1
CLASSES = {"int64s": [7, -2, 30], "strings": ["no", "yes", "perhaps, \x1b[31mnot"]}


def classifier(file, kind, columns=3):
    """What scikit-learn's converter writes of a classifier: the class, and of each item a map from classes to probabilities."""
    weights = numpy.random.default_rng(1).normal(size=(4, columns)).astype(numpy.float32)
    classes = CLASSES[kind][:columns]
    label_type = TensorProto.INT64 if kind == "int64s" else TensorProto.STRING
    nodes = [
        helper.make_node("LinearClassifier", ["X"], ["label", "scores"], domain="ai.onnx.ml", coefficients=weights.T.ravel().tolist(),
                         intercepts=[0.1] * columns, multi_class=1, post_transform="SOFTMAX",
                         **{"classlabels_ints" if kind == "int64s" else "classlabels_strings": classes}),
        helper.make_node("ZipMap", ["scores"], ["probability"], domain="ai.onnx.ml", **{f"classlabels_{kind}": classes}),
    ]
    of_map = onnx.TypeProto()
    of_map.sequence_type.elem_type.map_type.key_type = label_type
    of_map.sequence_type.elem_type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "classifier", [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 4])],
        [helper.make_tensor_value_info("label", label_type, [None]), helper.make_value_info("probability", of_map)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8), file)


@pytest.mark.parametrize("kind", CLASSES)
def test_maps_of_classes_are_a_table(run, tmp_path, kind):
    onnxruntime = pytest.importorskip("onnxruntime")
    classifier(tmp_path / "classifier.onnx", kind)
    session = onnxruntime.InferenceSession(tmp_path / "classifier.onnx", providers=["CPUExecutionProvider"])
    x = numpy.random.default_rng(2).normal(size=(5, 4)).astype(numpy.float32)
    labels, maps = session.run(None, {"X": x})
    order = sorted(CLASSES[kind])
    table = numpy.array([[each[name] for name in order] for each in maps], numpy.float32)
    recorded = tmp_path / "recorded"

    def record(output):
        write_set(recorded, [x], [labels, output])

    record(table)
    done = run("validate", tmp_path / "classifier.onnx@onnxruntime", "--data", recorded, "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    [validation] = json.loads(done.stdout)["sets"]
    assert [each["name"] for each in validation["outputs"]] == ["label", "probability"]
    record(table[:, ::-1].copy())  # the classes in another order
    assert run("validate", tmp_path / "classifier.onnx@onnxruntime", "--data", recorded, "--quiet").returncode == 1


def test_a_classifier_is_measured_in_batches(run, tmp_path):
    classifier(tmp_path / "classifier.onnx", "strings")
    done = run("run", tmp_path / "classifier.onnx@onnxruntime", "--batch-sizes", 1, 8, "--processes", 1, "--iterations", 20, "--format", "json", "--quiet")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [trial["end"] for trial in report["trials"]] == ["ok", "ok"]


def test_what_was_wrong_is_not_cut_off(run, tmp_path):
    """An index that no synthetic integer keeps to: ONNX Runtime's message has its own source files before the cause."""
    pytest.importorskip("onnxruntime")
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2]), helper.make_tensor_value_info("at", TensorProto.INT64, [None, 2])]
    graph = helper.make_graph([helper.make_node("GatherElements", ["x", "at"], ["y"], axis=1)], "gather", inputs,
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 2])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "gather.onnx")
    done = run("run", tmp_path / "gather.onnx@onnxruntime", "--batch-sizes", 8, "--processes", 1, "--iterations", 5, "--quiet")
    assert done.returncode == 3
    answer = " ".join(done.stdout.split("ANSWERS")[1].split("gather.onnx, batch")[0].split())
    assert "the first inference failed: ONNX Runtime could not run the model" in answer and "Out of range value in index tensor" in answer
    assert "last line on stderr" not in answer


@pytest.mark.parametrize("backend", ["onnxruntime", "openvino"])
def test_an_export_of_paddlepaddle_answers_as_paddlepaddle_did(run, tmp_path, backend):
    """Its batch is called DynamicDimension.1, of both inputs."""
    pytest.importorskip(backend)
    answers = numpy.load(PADDLE.with_suffix(".npz"))
    write_set(tmp_path, [answers["image"], answers["scale_factor"]], [answers["boxes"]])
    done = run("validate", f"{PADDLE}@{backend}", "--data", tmp_path, "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("run", f"{PADDLE}@{backend}", "--batch-sizes", 1, 8, "--processes", 1, "--iterations", 5, "--quiet", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [trial["executed"]["batch_axis"] for trial in json.loads(done.stdout)["trials"]] == ["image=0, scale_factor=0"] * 2
