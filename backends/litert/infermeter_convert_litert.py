"""Models of the zoo as .tflite: infermeter asks for this once for each model and batch size, and keeps the file."""

from __future__ import annotations

from infermeter.backend import Refused, Status
from infermeter.checks import need

FORMAT = "tflite"


def convert(zoo_name: str, onnx_file: str, batch: int, out_file: str) -> None:
    for package in ("ai_edge_litert", "flatbuffers", "onnx"):
        need(package, f"writing the zoo's {zoo_name} as .tflite", setup="litert")
    from infermeter.zoo import litert as zoo
    from infermeter.zoo.weights import read_weights

    if zoo_name not in zoo.names():
        raise Refused(
            Status.UNSUPPORTED, f"LiteRT has no definition of the zoo's {zoo_name}; it has {', '.join(zoo.names())}"
        )
    zoo.write(zoo_name, read_weights(onnx_file), batch, out_file)
