"""Models of the zoo as .tflite: infermeter asks for this once for each model and batch size, and keeps the file."""

from __future__ import annotations

import sys

from infermeter.backend import Refused, Status

FORMAT = "tflite"


def convert(zoo_name: str, onnx_file: str, batch: int, out_file: str) -> None:
    try:
        from infermeter.zoo import litert as zoo
    except ModuleNotFoundError as error:
        raise Refused(
            Status.LIBRARY_MISSING,
            f"a .tflite file is written with the package {error.name}, which is not installed in {sys.executable}: "
            "scripts/setup --with litert, or pip install ai-edge-litert",
        ) from error
    from infermeter.zoo.weights import read_weights

    if zoo_name not in zoo.names():
        raise Refused(
            Status.UNSUPPORTED, f"LiteRT has no definition of the zoo's {zoo_name}; it has {', '.join(zoo.names())}"
        )
    zoo.write(zoo_name, read_weights(onnx_file), batch, out_file)
