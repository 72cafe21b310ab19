"""int8 weights, activations quantised as they come, by ONNX Runtime."""

from __future__ import annotations

from infermeter.making import Job, need_packages
from infermeter.making.int8_static import prepared


def make(job: Job) -> None:
    need_packages("quantising to int8", "onnx", "onnxruntime")
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        prepared(job),
        job.file,
        per_channel=True,
        reduce_range=job.options.get("reduce_range") == "true",
        weight_type=QuantType.QInt8,
    )
