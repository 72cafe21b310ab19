"""What a module of PyTorch holds: its weights, wherever they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from infermeter.torch_arrays import name_of


@dataclass(frozen=True)
class Weights:
    """Those in packed parameters of quantised layers included. What is shared counts once."""

    count: int  # parameters, by their logical shapes
    int8: int
    size_bytes: int  # parameters and buffers as they are stored, quantisation's scales and zero points included
    most_are: str  # the type that most floating-point parameters have; empty: there are none

    @staticmethod
    def of(torch: Any, module: Any) -> Weights:
        counts: dict[str, int] = {}
        parameters = list(module.parameters())
        for parameter in parameters:
            if parameter.is_floating_point() and not _is_lazy(torch, parameter):
                name = name_of(parameter.dtype)
                counts[name] = counts.get(name, 0) + parameter.numel()
        packed = [tensor for part in module.modules() for tensor in _packed(torch, part)]
        weights = [*parameters, *(tensor for tensor in packed if tensor.is_floating_point() or tensor.is_quantized)]
        return Weights(
            count=sum(tensor.numel() for tensor in _distinct(torch, weights)),
            int8=sum(tensor.numel() for tensor in packed if tensor.dtype == torch.qint8),
            size_bytes=sum(_bytes_of(torch, each) for each in _distinct(torch, [*weights, *packed, *module.buffers()])),
            most_are=max(counts, key=lambda name: counts[name], default=""),
        )


def is_lazy(torch: Any, module: Any) -> bool:
    """Whether some parameters have no shape before the first call."""
    return any(_is_lazy(torch, tensor) for tensor in (*module.parameters(), *module.buffers()))


def _is_lazy(torch: Any, tensor: Any) -> bool:
    return bool(torch.nn.parameter.is_lazy(tensor))


def _packed(torch: Any, module: Any) -> Iterator[Any]:
    """Weights and biases that lie in an object of the compiled part, which is neither a parameter nor a buffer."""
    held = [value for value in vars(module).values() if isinstance(value, torch.ScriptObject)]
    if isinstance(module, torch.jit.ScriptModule):
        scripted = getattr(module, "_packed_params", None)
        held += [scripted] if isinstance(scripted, torch.ScriptObject) else []
    for each in held:
        yield from _tensors_in(torch, each)


def _tensors_in(torch: Any, value: Any) -> Iterator[Any]:
    if torch.is_tensor(value):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors_in(torch, each)
    elif isinstance(value, torch.ScriptObject):
        try:
            state = value.__getstate__()
        except RuntimeError:  # of a class that is not saved
            return
        yield from _tensors_in(torch, state)


def _distinct(torch: Any, tensors: list[Any]) -> Iterator[Any]:
    """Those that have a shape, without those that are another name for the same memory."""
    seen = set()
    for tensor in tensors:
        if _is_lazy(torch, tensor):
            continue
        has_address = tensor.layout == torch.strided and not hasattr(tensor, "__tensor_flatten__") and not tensor.is_meta
        key = (tensor.data_ptr() if has_address else id(tensor), tensor.numel(), tensor.dtype)
        if key not in seen or tensor.numel() == 0:
            seen.add(key)
            yield tensor


_SPARSE_PARTS = {
    "torch.sparse_coo": ("_indices", "_values"),
    "torch.sparse_csr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_bsr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_csc": ("ccol_indices", "row_indices", "values"),
    "torch.sparse_bsc": ("ccol_indices", "row_indices", "values"),
}


def _bytes_of(torch: Any, tensor: Any) -> int:
    """Of what is stored: a sparse tensor's values and indices, the parts that a subclass is made of."""
    if hasattr(tensor, "__tensor_flatten__"):
        names, _ = tensor.__tensor_flatten__()
        return sum(_bytes_of(torch, getattr(tensor, name)) for name in names)
    if parts := _SPARSE_PARTS.get(str(tensor.layout)):
        return sum(_bytes_of(torch, getattr(tensor.detach(), part)()) for part in parts)
    size = int(tensor.numel() * tensor.element_size())
    if not tensor.is_quantized:
        return size
    if tensor.dtype in (torch.quint4x2, torch.quint2x4):
        size = int(tensor.untyped_storage().nbytes())
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return size + 16  # a double and a 64-bit integer
    return size + _bytes_of(torch, tensor.q_per_channel_scales()) + _bytes_of(torch, tensor.q_per_channel_zero_points())
