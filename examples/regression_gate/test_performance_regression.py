"""Performance regression tests: speed, memory, size and outputs of our models, judged on intervals.

    pytest -m performance                 # all
    pytest -m "performance and not slow"
    pytest -m performance --record-baseline
"""

import importlib.util
from pathlib import Path

import pytest

import infermeter
from conftest import judge

pytestmark = pytest.mark.performance

# The alarm: certainly more than 10 % worse than what was stored (docs/gate.md: judged on the whole interval).
ALARM = ("regression <= 10%", "regression(peak_memory) <= 10%")
LEAST_REDUCTION = 3.5  # by which int8 weights must make a model's file smaller; 4 would be without scales and biases
LARGEST_ERROR = 0.01  # relative L2 error of an optimised model's outputs
LEAK_ITERATIONS = 1000


@pytest.mark.slow
def test_baseline_performance_2d(run_alarms, subject):
    run_alarms("baseline_2d", subject("baseline_2d"), ALARM)


@pytest.mark.slow
def test_baseline_performance_3d(run_alarms, subject):
    run_alarms("baseline_3d", subject("baseline_3d"), ALARM)


@pytest.mark.slow
def test_phase1_speedup(subject, settings):
    """Side by side, in pairs of fresh processes. It passes only if the whole interval of the speed-up is at least 1."""
    pairs = {key: value for key, value in settings.items() if key != "processes"}
    record = infermeter.compare(subject("baseline_2d"), subject("phase1_2d"), max_pairs=16, **pairs)
    print(record.text())
    judge(record, ["speedup >= 1", "outputs agree"])


def test_quantization_size_reduction(subject, tmp_path):
    if importlib.util.find_spec("onnxruntime") is None or importlib.util.find_spec("onnx") is None:
        pytest.skip("quantising needs the packages onnxruntime and onnx")
    model = model_file(subject("baseline_2d"))
    small = quantised(model, tmp_path)
    reduction = size_of(model) / size_of(small)
    assert reduction >= LEAST_REDUCTION, f"int8 makes the file {reduction:.2f} x smaller, not {LEAST_REDUCTION} x"


@pytest.mark.slow
def test_memory_leak_detection(subject, settings):
    record = infermeter.run(subject("baseline_2d"), **settings, leak_iterations=LEAK_ITERATIONS)
    judge(record, ["no leak"])


def test_accuracy_after_optimization(subject, settings):
    """The same inputs through both: outputs within tolerance of the precision, and close as a whole."""
    few = settings | {"processes": 1, "iterations": 1, "warmup": 0}
    record = infermeter.run(subject("baseline_2d"), subject("phase1_2d"), **few)
    judge(record, ["outputs agree", f"relative_l2 <= {LARGEST_ERROR}"])


# --- the model's file, and its int8 form ------------------------------------------------------------------------------


def model_file(line):
    """Of "label=MODEL@BACKEND,…": the file, which is built where MODEL is a name from the zoo."""
    model = line.partition("=")[2].partition("@")[0]
    return Path(model) if Path(model).exists() else Path(infermeter.zoo_model_path(model))


def size_of(file):
    return file.stat().st_size


def quantised(model, folder):
    """int8 weights and activations by ONNX Runtime's quantiser, calibrated on a few random inputs: enough for the size.
    Give it your own data before you trust what such a model answers."""
    import numpy as np
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Inputs(CalibrationDataReader):
        def __init__(self):
            ports = onnx.load(model, load_external_data=False).graph.input
            self.shapes = {p.name: [d.dim_value or 1 for d in p.type.tensor_type.shape.dim] for p in ports}
            self.left = 2

        def get_next(self):
            if self.left == 0:
                return None
            self.left -= 1
            random = np.random.default_rng(self.left)
            return {name: random.random(shape, np.float32) for name, shape in self.shapes.items()}

    prepared, small = folder / "prepared.onnx", folder / "int8.onnx"
    quant_pre_process(model, prepared, skip_symbolic_shape=True)
    types = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
    quantize_static(prepared, small, Inputs(), per_channel=True, **types)
    return small
