"""ViT-B/16 in .tflite."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from infermeter.zoo.litert_graph import Graph, Tensor
from infermeter.zoo.litert_layers import (
    add,
    channels_last,
    concatenate,
    convolve,
    cut,
    gelu,
    layer_norm,
    linear,
    matmul,
    multiply,
    reshape,
    softmax,
    transpose,
)

Weights = Mapping[str, np.ndarray]
WIDTH, HEADS, LAYERS, PATCH = 768, 12, 12, 16
HEAD_WIDTH = WIDTH // HEADS
EPSILON = 1e-6


def vit_b_16(weights: Weights, batch: int) -> Graph:
    graph = Graph("vit_b_16")
    x = _embed(graph, weights, graph.input("input", (batch, 3, 224, 224)))
    for layer in range(LAYERS):
        x = _encoder_layer(graph, weights, x, f"encoder.layers.encoder_layer_{layer}")
    x = _norm(graph, weights, x, "encoder.ln")
    x = reshape(graph, cut(graph, x, (0, 0, 0), (batch, 1, WIDTH)), (batch, WIDTH))
    graph.finish("output", _linear(graph, weights, x, "heads.head"))
    return graph


def _embed(graph: Graph, weights: Weights, image: Tensor) -> Tensor:
    """One token per patch, the class token before them, and where each is."""
    weight, bias = weights["conv_proj.weight"], weights["conv_proj.bias"]
    x = convolve(graph, channels_last(graph, image), weight, bias, stride=PATCH)
    batch, rows, columns, width = x.shape
    token = graph.constant(np.broadcast_to(weights["class_token"], (batch, 1, width)))
    x = concatenate(graph, [token, reshape(graph, x, (batch, rows * columns, width))], axis=1)
    return add(graph, x, graph.constant(weights["encoder.pos_embedding"]))


def _encoder_layer(graph: Graph, weights: Weights, x: Tensor, name: str) -> Tensor:
    x = add(graph, x, _attention(graph, weights, _norm(graph, weights, x, f"{name}.ln_1"), f"{name}.self_attention"))
    inner = gelu(graph, _linear(graph, weights, _norm(graph, weights, x, f"{name}.ln_2"), f"{name}.mlp.0"))
    return add(graph, x, _linear(graph, weights, inner, f"{name}.mlp.3"))


def _attention(graph: Graph, weights: Weights, x: Tensor, name: str) -> Tensor:
    batch, tokens, _ = x.shape
    matrices = np.split(weights[f"{name}.in_proj_weight"], 3)
    biases = np.split(weights[f"{name}.in_proj_bias"], 3)
    query, key, value = (
        _to_heads(graph, linear(graph, x, matrix, bias)) for matrix, bias in zip(matrices, biases, strict=True)
    )
    scores = multiply(graph, matmul(graph, query, key, transpose_y=True), graph.constant(HEAD_WIDTH**-0.5))
    x = transpose(graph, matmul(graph, softmax(graph, scores), value), (0, 2, 1, 3))
    return _linear(graph, weights, reshape(graph, x, (batch, tokens, WIDTH)), f"{name}.out_proj")


def _to_heads(graph: Graph, x: Tensor) -> Tensor:
    batch, tokens, _ = x.shape
    return transpose(graph, reshape(graph, x, (batch, tokens, HEADS, HEAD_WIDTH)), (0, 2, 1, 3))


def _norm(graph: Graph, weights: Weights, x: Tensor, name: str) -> Tensor:
    return layer_norm(graph, x, weights[f"{name}.weight"], weights[f"{name}.bias"], EPSILON)


def _linear(graph: Graph, weights: Weights, x: Tensor, name: str) -> Tensor:
    return linear(graph, x, weights[f"{name}.weight"], weights[f"{name}.bias"])
