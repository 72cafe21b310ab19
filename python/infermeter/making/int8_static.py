"""int8 weights and activations with ranges from data, by ONNX Runtime: QDQ, U8 activations, S8 weights per channel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from infermeter.making import Job, calibration_items, need_packages, onnx_files


def make(job: Job) -> None:
    need_packages("quantising to int8", "onnx", "onnxruntime")
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.names = onnx_files.input_names(onnx_files.load(job))
            self.items: Iterator[list[np.ndarray]] = calibration_items(job)

        def get_next(self) -> dict[str, np.ndarray] | None:
            item = next(self.items, None)
            return None if item is None else dict(zip(self.names, item, strict=True))

    quantize_static(
        prepared(job),
        job.file,
        Reader(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        reduce_range=job.options.get("reduce_range") == "true",
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )


def prepared(job: Job) -> str:
    """The model with constants folded, operators fused and shapes inferred, as the quantiser needs it."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    file = str(Path("prepared.onnx").absolute())
    onnx_files.load(job)  # refuses what is no ONNX
    quant_pre_process(job.model, file, skip_symbolic_shape=True)
    return file
