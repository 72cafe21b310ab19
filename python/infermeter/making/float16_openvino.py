"""OpenVINO IR whose weights are stored as float16."""

from __future__ import annotations

from infermeter.making import Job, need_packages, silence_openvino


def make(job: Job) -> None:
    need_packages("making an OpenVINO IR of float16 weights", "openvino")
    silence_openvino()
    import openvino

    openvino.save_model(openvino.Core().read_model(job.model), job.file, compress_to_fp16=True)
