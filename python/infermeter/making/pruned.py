"""Magnitude pruning, global and unstructured: the smallest weights of convolutions and matrix products become 0. The
file stays as large, and runtimes that multiply by 0 like by any other number stay as slow."""

from __future__ import annotations

import numpy as np

from infermeter.backend import Refused, Status
from infermeter.making import Job, need_packages, onnx_files

# The operators, and which of their inputs can be weights.
WEIGHTS_OF = {"Conv": (1,), "ConvTranspose": (1,), "Gemm": (0, 1), "MatMul": (0, 1)}


def make(job: Job) -> None:
    need_packages("pruning a model", "onnx")
    from onnx import numpy_helper

    model = onnx_files.load(job)
    used = {
        node.input[place]
        for node in model.graph.node
        for place in WEIGHTS_OF.get(node.op_type, ())
        if place < len(node.input)
    }
    tensors = [tensor for tensor in model.graph.initializer if tensor.name in used]
    arrays = [numpy_helper.to_array(tensor) for tensor in tensors]
    if not arrays:
        raise Refused(Status.MODEL_ERROR, f"{job.name} has no weights of {', '.join(WEIGHTS_OF)} that could be pruned")
    for tensor, array in zip(tensors, pruned(arrays, float(job.options["share"])), strict=True):
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    onnx_files.save(model, job.file)


def pruned(arrays: list[np.ndarray], share: float) -> list[np.ndarray]:
    """The arrays with the smallest `share` of all their elements set to 0."""
    magnitudes = np.concatenate([np.abs(array).ravel() for array in arrays])
    count = int(len(magnitudes) * share)
    keep = np.ones(len(magnitudes), dtype=bool)
    keep[np.argpartition(magnitudes, count)[:count]] = False
    result = []
    for array in arrays:
        mine, keep = keep[: array.size], keep[array.size :]
        result.append(np.where(mine.reshape(array.shape), array, array.dtype.type(0)))
    return result
