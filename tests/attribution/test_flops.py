"""Floating-point operations of the zoo's models, counted a second time: from attributes and from onnx's own Python."""

import math

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

# 2 x the multiply-accumulates that the literature gives (4.1 and 17.6 G), from layer tables by hand.
BY_HAND = {"resnet50": 8_178_368_512, "vit_b_16": 35_127_656_448}


def shapes_of(file, batch):
    model = onnx.load(file)
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_value = batch
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in inferred.initializer}
    for value in (*inferred.input, *inferred.value_info):
        shapes[value.name] = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    return inferred.node, shapes


def convolution(node, shapes):
    """Multiplications of one output position, times the positions that fit."""
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    (items, channels, *space), (filters, _, *kernel) = shapes[node.input[0]], shapes[node.input[1]]
    ones = [1] * len(space)
    pads, strides = attributes.get("pads", [0, 0] * len(space)), attributes.get("strides", ones)
    positions = 1
    for axis, size in enumerate(space):
        reach = (kernel[axis] - 1) * attributes.get("dilations", ones)[axis] + 1
        positions *= (size + pads[axis] + pads[axis + len(space)] - reach) // strides[axis] + 1
    return items * positions * filters * channels // attributes.get("group", 1) * math.prod(kernel)


def product(node, shapes):
    """Every dimension of einsum('…ik,…kj->…ij') once."""
    a, b = shapes[node.input[0]], shapes[node.input[1]]
    return math.prod(np.broadcast_shapes(a[:-2], b[:-2])) * a[-2] * a[-1] * b[-1]


def gemm(node, shapes):
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    a, b = shapes[node.input[0]], shapes[node.input[1]]
    return math.prod(a) * b[0 if attributes.get("transB") else 1]


COUNTED = {"Conv": convolution, "MatMul": product, "Gemm": gemm}


@pytest.mark.parametrize("batch", [1, 4])
def test_flops_of_every_node(zoo_model, attribute, batch):
    nodes, shapes = shapes_of(zoo_model, batch)
    expected = [2 * COUNTED[node.op_type](node, shapes) if node.op_type in COUNTED else 0 for node in nodes]
    assert [node["flops"] for node in attribute(zoo_model, batch)["nodes"]] == expected
    assert sum(expected) == batch * BY_HAND[zoo_model.stem]
