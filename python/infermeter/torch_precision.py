"""How PyTorch computes in float32, which it keeps for all of a process: read, set, put back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Where newer versions keep how float32 is computed, one by one: cuda.matmul, cudnn.conv, … Where they were set so, reading
# the older, coarser settings raises.
_PLACES = tuple((kind, operators) for kind in ("cuda", "cudnn", "mkldnn") for operators in ("matmul", "conv", "rnn"))


class Float32Precision:
    """How float32 is computed in this process, as it was when this was made."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._matmul = matmul_precision(torch)
        self._cudnn = cudnn_tf32(torch)
        self._places = [(place, place.fp32_precision) for _, place in _places(torch)]

    def set(self, matmul: str) -> None:
        """ "highest": float32 means float32, on CUDA and in oneDNN."""
        self._torch.set_float32_matmul_precision(matmul)
        self._torch.backends.cudnn.allow_tf32 = matmul != "highest"

    def restore(self) -> None:
        if self._matmul in ("highest", "high", "medium"):
            self._torch.set_float32_matmul_precision(self._matmul)
        if self._cudnn in ("true", "false"):
            self._torch.backends.cudnn.allow_tf32 = self._cudnn == "true"
        for place, precision in self._places:
            place.fp32_precision = precision


def matmul_precision(torch: Any) -> str:
    """ "highest", "high", "medium"; where it was set by place, each of them: "cuda.matmul=tf32, mkldnn.matmul=none"."""
    try:
        return str(torch.get_float32_matmul_precision())
    except RuntimeError:
        return _by_place(torch, "matmul")


def cudnn_tf32(torch: Any) -> str:
    """ "true", "false"; where it was set by place, each of them."""
    try:
        return "true" if torch.backends.cudnn.allow_tf32 else "false"
    except RuntimeError:
        return _by_place(torch, "cudnn")


def _by_place(torch: Any, part: str) -> str:
    return ", ".join(f"{name}={place.fp32_precision}" for name, place in _places(torch) if part in name)


def _places(torch: Any) -> Iterator[tuple[str, Any]]:
    for kind, operators in _PLACES:
        place = getattr(getattr(torch.backends, kind, None), operators, None)
        if hasattr(place, "fp32_precision"):
            yield f"{kind}.{operators}", place
