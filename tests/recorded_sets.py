"""ONNX test data sets: inputs, and the outputs that were recorded with them."""

import numpy
import pytest

pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper


def write_set(folder, inputs, outputs):
    """input_0.pb, …, output_0.pb, … of arrays, over what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for index, array in enumerate(arrays):
            (folder / f"{kind}_{index}.pb").write_bytes(numpy_helper.from_array(numpy.asarray(array)).SerializeToString())
    return folder


def write_case(folder, outputs, sets=1):
    """A model y = x + 1 with dynamic batch, and test data sets whose outputs are `outputs(x)`."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "one"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 3])],
        [numpy_helper.from_array(numpy.ones(1, "float32"), "one")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for number in range(sets):
        x = numpy.arange(6, dtype="float32").reshape(2, 3) + number
        write_set(folder / f"test_data_set_{number}", [x], [outputs(x)])
    return folder
