"""What is set for all of a process that runs PyTorch: the names of earlier tools.

    setup_gpu_optimizations()
    model = torch.compile(model.to(memory_format=torch.channels_last))
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["reset_memory_stats", "setup_gpu_optimizations"]


def setup_gpu_optimizations(
    enable_cudnn_benchmark: bool = True,
    enable_tf32: bool = True,
    matmul_precision: str = "high",
    channels_last: bool = True,
) -> dict[str, Any]:
    """Lets PyTorch choose cuDNN's algorithms by trying them, compute float32 in TF32, and multiply matrices in
    `matmul_precision` ("highest", "high", "medium"), in this process and until it is set otherwise; returns what was set.
    Live objects are then measured with these settings, and the record reports them (`samples.executed`). Without a CUDA
    GPU nothing is set, and a warning says so. `channels_last` only recommends the layout, which each model has by
    itself."""
    import torch

    if not torch.cuda.is_available():
        warnings.warn("setup_gpu_optimizations set nothing: PyTorch finds no CUDA GPU here", stacklevel=2)
        return {"gpu": "CPU"}
    applied: dict[str, Any] = {"gpu": torch.cuda.get_device_name(0)}
    if enable_tf32:
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True
        applied["tf32_enabled"] = True
    # The precision last: TF32 of matrix products is a part of it ("high", "medium"), and allow_tf32 sets it to "high".
    torch.set_float32_matmul_precision(matmul_precision)
    applied["matmul_precision"] = matmul_precision
    if enable_cudnn_benchmark:
        torch.backends.cudnn.benchmark = True
        applied["cudnn_benchmark"] = True
    if channels_last:
        applied["channels_last_recommended"] = True
    return applied


def reset_memory_stats() -> None:
    """Peaks of memory begin again: those that PyTorch keeps of CUDA devices, and this process's own. A measurement needs
    none of it: each counts its own peak."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        for device in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(device)
    with suppress(OSError):  # a system that forbids it, or is not Linux
        Path("/proc/self/clear_refs").write_text("5")
