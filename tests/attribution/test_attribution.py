"""What real runtimes execute, attributed to the nodes of the zoo's models."""

import json

HEAVY = ("Conv", "MatMul", "Gemm", "FusedMatMul", "FusedGemm", "FusedConv", "Convolution", "FullyConnected")


def check_side(answer, flops):
    side = answer["sides"][0]
    assert side["unowned"] == [] and side["owned"] == side["nodes"]
    assert side["doubtful"] == []
    assert sum(operator["flops"] or 0 for operator in side["operators"]) == sum(flops.values())
    # A node is owned once; other operators that name it do a part of its work, and claim none of it.
    owned = [node for operator in side["operators"] if operator["flops"] is not None for node in operator["nodes"]]
    assert len(owned) == len(set(owned)) == side["owned"]
    for operator in side["operators"]:
        products = [node for node in operator["nodes"] if flops[node] > 0]
        if operator["kind"] in HEAVY:
            assert len(products) == 1, operator
        if operator["flops"]:
            assert operator["rule"] in ("exact", "tensor", "suffix"), operator
            assert operator["moved_bytes"] > 0


def flops_of(answer):
    return {node["name"]: node["flops"] for node in answer["nodes"]}


def test_onnxruntime(zoo_model, attribute, onnxruntime_operators):
    answer = attribute(zoo_model, 1, onnxruntime_operators)
    check_side(answer, flops_of(answer))


def test_openvino(zoo_model, attribute, openvino_operators):
    answer = attribute(zoo_model, 1, openvino_operators)
    check_side(answer, flops_of(answer))


def test_common_groups(zoo_model, attribute, onnxruntime_operators, openvino_operators):
    answer = attribute(zoo_model, 1, onnxruntime_operators, openvino_operators)
    groups = [group for group in answer["groups"] if not group["is_helper"]]
    nodes = [node for group in groups for node in group["nodes"]]
    assert len(nodes) == len(set(nodes))
    in_both = [group for group in groups if group["in_a"] and group["in_b"]]
    # ResNet: a convolution with its normalisation, sum and activation. ViT: what OpenVINO makes one operator of,
    # attention in a block and the function after a product.
    fewest, largest = {"resnet50": (55, 4), "vit_b_16": (180, 7)}[zoo_model.stem]
    assert len(in_both) >= fewest
    assert max(len(group["nodes"]) for group in groups) <= largest
    for side, key in ((onnxruntime_operators, "in_a"), (openvino_operators, "in_b")):
        operators = sorted(operator for group in answer["groups"] for operator in group[key])
        assert operators == list(range(len(json.loads(side.read_text()))))
