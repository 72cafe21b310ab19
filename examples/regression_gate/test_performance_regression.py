"""Performance regression tests: speed, memory, size and outputs of our models, judged on intervals.

    pytest -m performance                 # all
    pytest -m "performance and not slow"
    pytest -m performance --record-baseline
"""

import pytest
from conftest import judge

import infermeter

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


def test_quantization_size_reduction(subject, settings):
    """int8 by ONNX Runtime's quantiser. Its ranges come from synthetic inputs, which is enough for a file's size: give
    `calibration=` your own data before you trust what such a model answers."""
    model = subject("baseline_2d").partition("=")[2].partition("@")[0]
    few = settings | {"processes": 1, "iterations": 1, "warmup": 0}
    made = infermeter.variants(
        model, precisions=["float32", "int8"], quantise=["static"], backends=["onnxruntime"], calibration_items=2, **few
    )
    assert len(made.record.models) == 2, f"there is no int8 file:\n{made}"
    given, small = (facts.size_bytes for facts in made.record.models)
    assert given / small >= LEAST_REDUCTION, f"int8 makes the file {given / small:.2f} x smaller, not {LEAST_REDUCTION} x"


@pytest.mark.slow
def test_memory_leak_detection(subject, settings):
    record = infermeter.run(subject("baseline_2d"), **settings, leak_iterations=LEAK_ITERATIONS)
    judge(record, ["no leak"])


def test_accuracy_after_optimization(subject, settings):
    """The same inputs through both: outputs within tolerance of the precision, and close as a whole."""
    few = settings | {"processes": 1, "iterations": 1, "warmup": 0}
    record = infermeter.run(subject("baseline_2d"), subject("phase1_2d"), **few)
    judge(record, ["outputs agree", f"relative_l2 <= {LARGEST_ERROR}"])
