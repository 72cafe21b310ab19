"""Tensors of PyTorch and arrays of NumPy. Types that NumPy itself does not have cross as bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from infermeter.backend import Refused, Status
from infermeter.outputs import named_parts

if TYPE_CHECKING:
    import torch


def zeros(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype == "bfloat16":
        import ml_dtypes

        return np.zeros(shape, ml_dtypes.bfloat16)
    return np.zeros(shape, dtype)


def tensors_in(torch: Any, result: object, name: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Depth first, as the model returned them, with a name that shows where each was; None is not an output."""
    for place, part in named_parts(result, name):
        if isinstance(part, torch.Tensor):
            yield place, part
        elif part is not None:
            kind = type(part).__name__
            raise Refused(Status.MODEL_ERROR, f"the model returns a {kind}; only tensors can be compared")


def name_of(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def tensor_of(torch: Any, array: np.ndarray) -> torch.Tensor:
    """A copy: models may write to their inputs (ReLU(inplace=True) in front), and the host's bytes are not theirs."""
    array = np.array(array, order="C")
    if array.dtype.kind != "V" and array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    raw = torch.from_numpy(array.view(np.uint8) if array.ndim else array.reshape(1).view(np.uint8))
    return raw.view(getattr(torch, array.dtype.name)).reshape(array.shape)


def array_of(torch: Any, tensor: torch.Tensor) -> np.ndarray:
    tensor = tensor.detach().to("cpu").contiguous()
    name = name_of(tensor.dtype)
    if hasattr(np, name):
        return np.array(tensor.numpy())
    import ml_dtypes

    raw = np.array(tensor.reshape(-1).view(torch.uint8).numpy())
    array: np.ndarray = raw.view(getattr(ml_dtypes, name)).reshape(tuple(tensor.shape))
    return array
