"""The zoo as .tflite files, written with the schema that the runtime brings along: no TensorFlow, no converter. The
batch is fixed when a file is written; images are [batch, channel, height, width], as every framework gets them here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from infermeter.zoo.litert_graph import Graph
from infermeter.zoo.litert_layers import NO_ACTIVATION, RELU, linear
from infermeter.zoo.litert_resnet50 import resnet50
from infermeter.zoo.litert_vit_b_16 import vit_b_16

Weights = Mapping[str, np.ndarray]


def write(name: str, weights: Weights, batch: int, path: str | Path) -> None:
    """The same bytes for the same weights, on every machine."""
    _ARCHITECTURES[name](weights, batch).write(path)


def names() -> tuple[str, ...]:
    return tuple(_ARCHITECTURES)


def mlp(weights: Weights, batch: int) -> Graph:
    graph = Graph("mlp")
    x = graph.input("input", (batch, 16))
    for layer, activation in (("fc1", RELU), ("fc2", RELU), ("fc3", NO_ACTIVATION)):
        x = linear(graph, x, weights[f"{layer}.weight"], weights[f"{layer}.bias"], activation)
    graph.finish("output", x)
    return graph


_ARCHITECTURES: dict[str, Callable[[Weights, int], Graph]] = {"mlp": mlp, "resnet50": resnet50, "vit_b_16": vit_b_16}
