"""ResNet-50 with some extra work: the same outputs, bit for bit, later.

usage: bench/heavier_model.py MODEL SHARE HEAVIER   (SHARE of the model's multiplications: 0.01)

A 1x1 convolution of a tensor of the third stage that is 1024 channels wide; what it yields is averaged, multiplied by a
matrix of zeros and added to the output. No optimiser may take that away: 0 · x is 0 only for finite x, which nobody can
know of a convolution. That it is done, and that the outputs are equal, is checked with ONNX Runtime nevertheless.
"""
import pathlib
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

TENSOR, CHANNELS, AREA = "layer3.2.relu", 1024, 14 * 14
MULTIPLICATIONS = 4_089_184_256  # of ResNet-50 for one image of 224 x 224: convolutions and the last layer
BLOCK = 16                       # channels that a kernel does at once


def extra_channels(share):
    return max(1, round(share * MULTIPLICATIONS / (CHANNELS * AREA) / BLOCK)) * BLOCK


def heavier(model, share):
    channels = extra_channels(share)
    weights = numpy.random.default_rng(1).normal(0, 0.03, (channels, CHANNELS, 1, 1)).astype(numpy.float32)
    graph = model.graph
    last = next(node for node in graph.node if "output" in node.output)
    last.output[0] = "output_before"
    graph.initializer.extend([numpy_helper.from_array(weights, "extra.weight"),
                              numpy_helper.from_array(numpy.zeros((channels, 1), numpy.float32), "extra.zeros")])
    graph.node.extend([helper.make_node("Conv", [TENSOR, "extra.weight"], ["extra.conv"], "extra.conv"),
                       helper.make_node("GlobalAveragePool", ["extra.conv"], ["extra.mean"], "extra.mean"),
                       helper.make_node("Flatten", ["extra.mean"], ["extra.flat"], "extra.flat"),
                       helper.make_node("MatMul", ["extra.flat", "extra.zeros"], ["extra.zero"], "extra.zero"),
                       helper.make_node("Add", ["output_before", "extra.zero"], ["output"], "extra.add")])
    onnx.checker.check_model(model)


def optimised(file, folder):
    """The graph that ONNX Runtime executes, and what it answers."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # that the optimised graph fits this machine only is no news here
    options.optimized_model_filepath = str(pathlib.Path(folder) / "optimised.onnx")
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    image = numpy.random.default_rng(2).normal(0, 1, (1, 3, 224, 224)).astype(numpy.float32)
    return onnx.load(options.optimized_model_filepath).graph, session.run(["output"], {"input": image})[0]


def convolutions(graph):
    return sum(node.op_type.endswith("Conv") for node in graph.node)


def write(file, share, target):
    model = onnx.load(file)
    heavier(model, share)
    onnx.save(model, target)
    with tempfile.TemporaryDirectory() as folder:
        (base, answer), (more, same_answer) = optimised(file, folder), optimised(target, folder)
    if convolutions(more) != convolutions(base) + 1:
        raise SystemExit(f"{target}: the extra convolution was optimised away")
    if not numpy.array_equal(answer, same_answer):
        raise SystemExit(f"{target}: the outputs differ")


if __name__ == "__main__":
    write(sys.argv[1], float(sys.argv[2]), sys.argv[3])
