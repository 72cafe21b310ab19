"""float16 weights and operators, by ONNX Runtime's converter; inputs and outputs stay as they were."""

from __future__ import annotations

from infermeter.making import Job, need_packages, onnx_files


def make(job: Job) -> None:
    need_packages("making a float16 model", "onnx", "onnxruntime")
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx_files.save(convert_float_to_float16(onnx_files.load(job), keep_io_types=True), job.file)
