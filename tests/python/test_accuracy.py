"""Accuracy and recommendations in Python: a loader's labels, what a record reports, the table of an earlier tool."""

import re

import numpy as np
import pytest

ROWS, CLASSES = 300, 8


@pytest.fixture
def data():
    random = np.random.default_rng(11)
    labels = random.integers(0, CLASSES, ROWS)
    x = random.normal(0, 1, (ROWS, CLASSES)).astype(np.float32)
    x[np.arange(ROWS), labels] += 2
    return x, labels


def batches(x, labels, size=64):
    for begin in range(0, len(x), size):
        yield x[begin:begin + size], labels[begin:begin + size]


def exact(a):
    return a * 1


def worse(a):
    return a + np.arange(CLASSES, dtype=np.float32) * 0.3


@pytest.fixture
def suite(im, data):
    x, labels = data
    suite = im.BenchmarkSuite()
    suite.add_model("baseline", exact, x[:4])
    suite.add_model("skewed", worse, x[:4])
    suite.results = suite.run_comparison(num_iterations=40, validation_loader=batches(x, labels))
    return suite


def test_a_loader_gives_the_accuracy(suite, data):
    x, labels = data
    first, second = ((model(x).argmax(1) == labels) for model in (exact, worse))
    assert suite.results["baseline"].accuracy == first.mean() and suite.results["skewed"]["accuracy"] == second.mean()
    record = suite.record
    a, b = record.accuracy
    assert a.reference is None and a.paired is None and b.reference == 0
    assert b.paired.reference_only == (first & ~second).sum() and b.paired.candidate_only == (~first & second).sum()
    assert b.labels.rows == ROWS and b.labels.top1 == second.mean() and b.masks is None
    verdict = record.verdict.subjects[1].accuracy
    assert verdict.share == second.mean() and verdict.measured.labels.rows == ROWS
    assert verdict.change.difference == pytest.approx(second.mean() - first.mean(), abs=1e-15)
    assert verdict.change.interval.high < 0 and verdict.change.p_value < 0.05
    assert record.verdict.subjects[0].accuracy.change is None
    assert record.json()["subjects"][1]["accuracy"]["value"] == second.mean()


def test_recommendations(suite):
    found = {one.kind: one for one in suite.record.recommendations()}
    lost = found["accuracy_lost"]
    assert lost.text == f"⚠ Accuracy loss: {lost.value:+.4f}" and lost.interval.high < 0 and lost.subject == 1
    assert found["outputs_differ"].value == pytest.approx(2.1, abs=1e-5)
    lenient = {one.kind for one in suite.record.recommendations(accuracy_allowance=0.9)}
    assert "accuracy_maintained" in lenient and "accuracy_lost" not in lenient


def test_the_comparison_is_printed_as_by_an_earlier_tool(suite, capsys, data):
    x, labels = data
    suite.print_comparison()
    printed = capsys.readouterr().out
    accuracy = (worse(x).argmax(1) == labels).mean()
    assert re.search(rf"^skewed +\d+\.\d\d \(\d+\.\d\dx\) +\d.* {accuracy:.4f}$", printed, re.M)
    assert re.search(r"^baseline +\d+\.\d\d \(baseline\) ", printed, re.M)
    assert re.search(r"RECOMMENDATIONS:\n-{80}\n\nskewed:\n", printed)
    assert "\n  ⚠ Accuracy loss: -0." in printed


def test_a_single_model(im, data):
    x, labels = data
    result = im.ModelBenchmark(exact, x[:4]).run_all(num_iterations=20, validation_loader=[(x, labels)])
    assert result.accuracy == (x.argmax(1) == labels).mean()


def test_masks(im):
    random = np.random.default_rng(12)
    x = random.normal(0, 1, (4, 3, 5, 6)).astype(np.float32)
    mask = random.integers(0, 3, (4, 5, 6))
    suite = im.BenchmarkSuite()
    suite.add_model("a", exact, x)
    result = suite.run_comparison(num_iterations=20, validation_loader=[(x, mask)])["a"]
    assert result.accuracy == (x.argmax(1) == mask).mean()
    assert suite.record.accuracy[0].masks.pixels == mask.size


@pytest.mark.parametrize("loader, message", [
    ([], "the loader gave no batch"),
    ([np.zeros((2, CLASSES))], "a batch for the accuracy is a pair"),
    ([(np.zeros((2, CLASSES), np.float32), np.array([0, CLASSES]))], f"label {CLASSES} is not a class"),
    ([(np.zeros((2, CLASSES), np.float32), np.array([0, 1, 2]))], "no output has a row of scores for each of 3 labels"),
])
def test_loaders_that_do_not_fit(im, data, loader, message):
    suite = im.BenchmarkSuite()
    suite.add_model("a", exact, data[0][:4])
    with pytest.raises(im.UsageError, match=message):
        suite.run_comparison(num_iterations=10, validation_loader=loader)


def test_without_a_loader_a_metric_of_ones_own_counts(im, data):
    class Mine(im.ModelBenchmark):
        def measure_accuracy(self):
            return 0.75

    assert Mine(exact, data[0][:4]).run_all(num_iterations=10).accuracy == 0.75
