"""A live module is its user's: what a measurement needs changed is changed in a copy."""

from __future__ import annotations

import copy
from typing import Any

from infermeter.backend import Refused, Status
from infermeter.torch_arrays import name_of


def place_of(torch: Any, model: Any, device: str) -> Any:
    """The device that a model's weights are on; of one that has none the device called `device`."""
    tensors = (*model.parameters(), *model.buffers()) if isinstance(model, torch.nn.Module) else ()
    return next((tensor.device for tensor in tensors), torch.device(device))


def channels_last(torch: Any, tensor: Any) -> Any:
    """Of images and volumes, and of the weights of their convolutions; anything else as it is."""
    layout = _layout_of(torch, tensor)
    return tensor if layout is None else tensor.contiguous(memory_format=layout)


def _is_channels_last(torch: Any, tensor: Any) -> bool:
    layout = _layout_of(torch, tensor)
    return layout is None or bool(tensor.is_contiguous(memory_format=layout))


def _layout_of(torch: Any, tensor: Any) -> Any:
    return {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.ndim)


def changed_copy(torch: Any, module: Any, device: str, dtype: str, to_channels_last: bool) -> tuple[Any, list[str]]:
    """The module itself where it is as it is wanted, else a copy; and what has to be changed. `dtype`: of its
    floating-point weights; empty: as they are."""
    tensors = [*module.parameters(), *module.buffers()]
    changes = []
    if elsewhere := sorted({tensor.device.type for tensor in tensors} - {device}):
        changes.append(f"device {'+'.join(elsewhere)} -> {device}")
    floating = {name_of(tensor.dtype) for tensor in tensors if tensor.is_floating_point()}
    if others := sorted(floating - {dtype} if dtype else ()):
        changes.append(f"dtype {'+'.join(others)} -> {dtype}")
    if to_channels_last and not all(_is_channels_last(torch, tensor) for tensor in tensors):
        changes.append("layout -> channels_last")
    return (_copied(module, changes) if changes else module), changes


def _copied(module: Any, changes: list[str]) -> Any:
    try:
        return copy.deepcopy(module)
    except Exception as error:  # a module may hold what cannot be copied
        raise Refused(
            Status.UNSUPPORTED,
            f"the model cannot be copied, and would have to be changed ({', '.join(changes)}) to be measured as asked: "
            f"{type(error).__name__}: {' '.join(str(error).split())[:200]}; change it yourself, or leave that out",
        ) from error
