"""ResNet-50 in .tflite: batch normalisation folded into the convolutions, as converters do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from infermeter.zoo.litert_graph import Graph, Tensor
from infermeter.zoo.litert_layers import NO_ACTIVATION, RELU, add, channels_last, convolve, linear, max_pool, mean, pad

Weights = Mapping[str, np.ndarray]
EPSILON = 1e-5
BLOCKS = (3, 4, 6, 3)


def resnet50(weights: Weights, batch: int) -> Graph:
    graph = Graph("resnet50")
    x = channels_last(graph, graph.input("input", (batch, 3, 224, 224)))
    x = _convolve(graph, weights, x, "conv1", "bn1", stride=2, activation=RELU)
    x = max_pool(graph, pad(graph, x, 1), kernel=3, stride=2)  # after ReLU, nothing is less than the zeros around
    for layer, blocks in enumerate(BLOCKS, 1):
        for block in range(blocks):
            stride = 2 if layer > 1 and block == 0 else 1
            x = _bottleneck(graph, weights, x, f"layer{layer}.{block}", stride)
    x = mean(graph, x, (1, 2), keep=False)
    graph.finish("output", linear(graph, x, weights["fc.weight"], weights["fc.bias"]))
    return graph


def _bottleneck(graph: Graph, weights: Weights, x: Tensor, name: str, stride: int) -> Tensor:
    past = x
    if f"{name}.downsample.0.weight" in weights:
        past = _convolve(graph, weights, x, f"{name}.downsample.0", f"{name}.downsample.1", stride)
    x = _convolve(graph, weights, x, f"{name}.conv1", f"{name}.bn1", activation=RELU)
    x = _convolve(graph, weights, x, f"{name}.conv2", f"{name}.bn2", stride, RELU)
    x = _convolve(graph, weights, x, f"{name}.conv3", f"{name}.bn3")
    return add(graph, x, past, RELU)


def _convolve(
    graph: Graph, weights: Weights, x: Tensor, name: str, norm: str, stride: int = 1, activation: int = NO_ACTIVATION
) -> Tensor:
    weight, bias = folded(weights, name, norm)
    return convolve(graph, x, weight, bias, stride, padding=weight.shape[-1] // 2, activation=activation)


def folded(weights: Weights, convolution: str, norm: str) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias of the one convolution that does what these two layers do; computed in float64, rounded once."""
    gamma, beta, average, variance = (
        weights[f"{norm}.{part}"].astype(np.float64) for part in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gamma / np.sqrt(variance + EPSILON)
    weight = weights[f"{convolution}.weight"] * scale[:, None, None, None]
    return weight.astype(np.float32), (beta - average * scale).astype(np.float32)
