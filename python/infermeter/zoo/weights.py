"""The weights of a zoo model, read from the ONNX file that infermeter wrote."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx

BUFFERS = ("running_mean", "running_var")  # what batch normalisation carries with it and nobody trained


def read_weights(onnx_file: str | Path) -> dict[str, np.ndarray]:
    """Torchvision's names to arrays with torchvision's shapes."""
    from onnx import TensorProto, numpy_helper

    graph = _read_graph(Path(onnx_file))
    # MatMul takes a linear layer's matrix as [in, out]; torch keeps it as [out, in].
    transposed = {name for node in graph.node if node.op_type == "MatMul" for name in node.input}
    weights = {}
    for tensor in graph.initializer:
        if tensor.data_type != TensorProto.FLOAT:
            continue  # shapes and indices of ONNX's own operators
        array = numpy_helper.to_array(tensor)
        weights[tensor.name] = np.array(array.T if tensor.name in transposed else array, order="C")
    return weights


def parameter_count(weights: dict[str, np.ndarray]) -> int:
    """How many numbers the model has learnt: what the zoo's table says of it."""
    return sum(array.size for name, array in weights.items() if not name.endswith(BUFFERS))


def _read_graph(file: Path) -> onnx.GraphProto:
    import onnx

    model = onnx.ModelProto()
    # Mapped and not read: the file need not be in memory twice.
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        with memoryview(mapped) as view:
            model.ParseFromString(view)
    return model.graph
