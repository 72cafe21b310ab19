"""Outputs whose shape depends on the values: times of different work are put together, and the report says so."""

import json

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

SHORT = ("--processes", 1, "--warmup", 0, "--iterations", 6, "--format", "json", "--quiet", "--batch-axis", "none")


@pytest.fixture
def model(run):
    """x [4] -> the places of what is not zero, [1, how many]"""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    places = helper.make_tensor_value_info("places", TensorProto.INT64, [1, None])
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["places"])], "found", [x], [places])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    onnx.save(made, run.folder / "found.onnx")
    return "found.onnx@onnxruntime"


def shapes_said(run, model, rows):
    np.savez(run.folder / "rows.npz", x=np.array(rows, np.float32))
    done = run("run", model, "--data", "rows.npz", *SHORT)
    assert done.returncode == 0, done.stderr
    (trial,) = json.loads(done.stdout)["trials"]
    return [note["message"] for note in trial["diagnostics"] if note["id"] == "output_shapes_change"]


def test_another_shape_in_another_inference_is_said(run, model):
    (message,) = shapes_said(run, model, [[1, 0, 0, 1], [1, 1, 1, 0]])
    assert message == ("output 'places' has shape [1, 2] in one inference and [1, 3] in another: times of different work are put "
                       "together")


def test_equal_shapes_of_different_values_are_not(run, model):
    assert shapes_said(run, model, [[1, 0, 0, 1], [0, 1, 1, 0]]) == []
