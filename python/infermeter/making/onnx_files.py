"""ONNX files read and written."""

from __future__ import annotations

from typing import Any

from infermeter.backend import Refused, Status
from infermeter.making import Job

LARGEST_FILE_BYTES = 2**31 - 1  # of protobuf


def load(job: Job) -> Any:
    import onnx

    if not job.model.endswith(".onnx"):
        raise Refused(Status.UNSUPPORTED, f"this variant is made of ONNX files only, and {job.name} is none")
    return onnx.load(job.model)


def save(model: Any, file: str) -> None:
    import onnx

    large = model.ByteSize() > LARGEST_FILE_BYTES
    onnx.save(model, file, save_as_external_data=large, location="weights.data" if large else None)


def input_names(model: Any) -> list[str]:
    """What has to be given; up to IR version 3 initialisers were listed among the inputs as well."""
    given = {tensor.name for tensor in model.graph.initializer}
    return [port.name for port in model.graph.input if port.name not in given]
