"""Models of the zoo as .tflite: infermeter asks for this once for each model and batch size, and keeps the file."""

from __future__ import annotations

from infermeter.backend import Refused, Status
from infermeter.checks import need
from infermeter.making import Job


def make(job: Job) -> None:
    for package in ("ai_edge_litert", "flatbuffers", "onnx"):
        need(package, f"writing the zoo's {job.name} as .tflite", setup="litert")
    from infermeter.zoo import litert as zoo
    from infermeter.zoo.weights import read_weights

    if job.name not in zoo.names():
        raise Refused(
            Status.UNSUPPORTED, f"LiteRT has no definition of the zoo's {job.name}; it has {', '.join(zoo.names())}"
        )
    zoo.write(job.name, read_weights(job.model), int(job.options["batch"]), job.file)
