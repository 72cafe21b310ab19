"""The layers that the zoo's models are made of, in the operators of .tflite; images are channels-last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from infermeter.zoo.litert_graph import Graph, Operator, Tensor

NO_ACTIVATION = schema.ActivationFunctionType.NONE
RELU = schema.ActivationFunctionType.RELU
# The version of FULLY_CONNECTED from which on it keeps the dimensions before the last.
KEEPS_DIMENSIONS = 5


def channels_last(graph: Graph, x: Tensor) -> Tensor:
    """[batch, channel, height, width], as every framework gets its images here, as .tflite has them."""
    return transpose(graph, x, (0, 2, 3, 1))


def transpose(graph: Graph, x: Tensor, order: Sequence[int]) -> Tensor:
    shape = [x.shape[axis] for axis in order]
    return graph.operator(Operator.TRANSPOSE, [x, graph.integers(order)], shape, schema.TransposeOptionsT())


def reshape(graph: Graph, x: Tensor, shape: Sequence[int]) -> Tensor:
    options = schema.ReshapeOptionsT(newShape=list(shape))
    return graph.operator(Operator.RESHAPE, [x, graph.integers(shape)], shape, options)


def pad(graph: Graph, x: Tensor, width: int) -> Tensor:
    """Zeros around height and width, the same on all four sides."""
    if width == 0:
        return x
    batch, height, columns, channels = x.shape
    sides = graph.constant([[0, 0], [width, width], [width, width], [0, 0]], np.int32)
    shape = (batch, height + 2 * width, columns + 2 * width, channels)
    return graph.operator(Operator.PAD, [x, sides], shape, schema.PadOptionsT())


def convolve(
    graph: Graph,
    x: Tensor,
    weight: np.ndarray,
    bias: np.ndarray,
    stride: int = 1,
    padding: int = 0,
    activation: int = NO_ACTIVATION,
) -> Tensor:
    """`weight`: [out, in, height, width], as torch has it."""
    x = pad(graph, x, padding)
    out, _, kernel, _ = weight.shape
    height, width = ((size - kernel) // stride + 1 for size in x.shape[1:3])
    options = schema.Conv2DOptionsT(
        padding=schema.Padding.VALID, strideW=stride, strideH=stride, fusedActivationFunction=activation
    )
    inputs = [x, graph.constant(weight.transpose(0, 2, 3, 1)), graph.constant(bias)]
    return graph.operator(Operator.CONV_2D, inputs, (x.shape[0], height, width, out), options)


def max_pool(graph: Graph, x: Tensor, kernel: int, stride: int) -> Tensor:
    batch, *sizes, channels = x.shape
    height, width = ((size - kernel) // stride + 1 for size in sizes)
    options = schema.Pool2DOptionsT(
        padding=schema.Padding.VALID, strideW=stride, strideH=stride, filterWidth=kernel, filterHeight=kernel
    )
    return graph.operator(Operator.MAX_POOL_2D, [x], (batch, height, width, channels), options)


def linear(graph: Graph, x: Tensor, weight: np.ndarray, bias: np.ndarray, activation: int = NO_ACTIVATION) -> Tensor:
    """`weight`: [out, in], as both torch and .tflite have it."""
    options = schema.FullyConnectedOptionsT(fusedActivationFunction=activation, keepNumDims=True)
    inputs = [x, graph.constant(weight), graph.constant(bias)]
    shape = (*x.shape[:-1], len(weight))
    return graph.operator(Operator.FULLY_CONNECTED, inputs, shape, options, version=KEEPS_DIMENSIONS)


def add(graph: Graph, x: Tensor, y: Tensor, activation: int = NO_ACTIVATION) -> Tensor:
    return graph.operator(Operator.ADD, [x, y], x.shape, schema.AddOptionsT(fusedActivationFunction=activation))


def multiply(graph: Graph, x: Tensor, y: Tensor) -> Tensor:
    return graph.operator(Operator.MUL, [x, y], x.shape, schema.MulOptionsT())


def mean(graph: Graph, x: Tensor, axes: Sequence[int], keep: bool) -> Tensor:
    """`keep`: the axes stay, with a size of 1."""
    kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    left = [size for axis, size in enumerate(x.shape) if axis not in axes]
    options = schema.ReducerOptionsT(keepDims=keep)
    return graph.operator(Operator.MEAN, [x, graph.integers(axes)], kept if keep else left, options)


def layer_norm(graph: Graph, x: Tensor, weight: np.ndarray, bias: np.ndarray, epsilon: float) -> Tensor:
    last = [len(x.shape) - 1]
    middle = mean(graph, x, last, keep=True)
    squares = graph.operator(Operator.SQUARED_DIFFERENCE, [x, middle], x.shape, schema.SquaredDifferenceOptionsT())
    variance = mean(graph, squares, last, keep=True)
    scale = graph.operator(Operator.RSQRT, [add(graph, variance, graph.constant(epsilon))], variance.shape)
    centred = graph.operator(Operator.SUB, [x, middle], x.shape, schema.SubOptionsT())
    x = multiply(graph, multiply(graph, centred, scale), graph.constant(weight))
    return add(graph, x, graph.constant(bias))


def gelu(graph: Graph, x: Tensor) -> Tensor:
    return graph.operator(Operator.GELU, [x], x.shape, schema.GeluOptionsT(approximate=False))


def softmax(graph: Graph, x: Tensor) -> Tensor:
    return graph.operator(Operator.SOFTMAX, [x], x.shape, schema.SoftmaxOptionsT(beta=1.0))


def matmul(graph: Graph, x: Tensor, y: Tensor, transpose_y: bool = False) -> Tensor:
    columns = y.shape[-2] if transpose_y else y.shape[-1]
    options = schema.BatchMatMulOptionsT(adjY=transpose_y)
    return graph.operator(Operator.BATCH_MATMUL, [x, y], (*x.shape[:-1], columns), options)


def concatenate(graph: Graph, parts: Sequence[Tensor], axis: int) -> Tensor:
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    return graph.operator(Operator.CONCATENATION, parts, shape, schema.ConcatenationOptionsT(axis=axis))


def cut(graph: Graph, x: Tensor, begin: Sequence[int], size: Sequence[int]) -> Tensor:
    inputs = [x, graph.integers(begin), graph.integers(size)]
    return graph.operator(Operator.SLICE, inputs, size, schema.SliceOptionsT())
