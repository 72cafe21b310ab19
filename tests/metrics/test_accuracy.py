"""accuracy() and segmentation() against scikit-learn."""

import math

import numpy
import pytest

CASES = 200


@pytest.fixture
def sklearn_metrics():
    """Imported here: it takes half a second, and all processes of pytest-xdist read this file."""
    from sklearn import metrics

    return metrics


def scores_of(rng, shape, dtype="float64"):
    """No two are equal: scikit-learn takes the last of equal ones, we the first."""
    return rng.permutation(numpy.arange(math.prod(shape))).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_accuracy_is_scikit_learns(metrics, sklearn_metrics, dtype):
    rng = numpy.random.default_rng(1)
    for _ in range(CASES):
        rows, classes = int(rng.integers(1, 60)), int(rng.integers(3, 20))
        scores, labels = scores_of(rng, (rows, classes), dtype), rng.integers(0, classes, rows)
        found = metrics.accuracy(scores, labels)
        assert found.rows == rows
        known = numpy.arange(classes)
        assert found.top1 == pytest.approx(sklearn_metrics.top_k_accuracy_score(labels, scores, k=1, labels=known))
        assert found.top1 == pytest.approx(sklearn_metrics.accuracy_score(labels, scores.argmax(1)))
        if classes > 5:
            assert found.top5 == pytest.approx(sklearn_metrics.top_k_accuracy_score(labels, scores, k=5, labels=known))
        else:
            assert found.top5 is None
        present = numpy.unique(labels)
        assert [one.label for one in found.classes] == present.tolist()
        recall = sklearn_metrics.recall_score(labels, scores.argmax(1), labels=present, average=None, zero_division=0)
        assert [one.share for one in found.classes] == pytest.approx(recall.tolist())


@pytest.mark.parametrize("of", ["scores", "classes"])
def test_overlaps_are_scikit_learns(metrics, sklearn_metrics, of):
    rng = numpy.random.default_rng(2)
    for _ in range(CASES):
        sides = tuple(int(side) for side in rng.integers(1, 9, int(rng.integers(1, 4))))
        rows, classes = int(rng.integers(1, 4)), int(rng.integers(2, 6))
        scores = scores_of(rng, (rows, classes, *sides))
        mask = rng.integers(0, classes, (rows, *sides))
        predicted = scores.argmax(1)
        found = metrics.segmentation(scores if of == "scores" else predicted, mask)
        present = numpy.union1d(mask, predicted)
        flat = (mask.ravel(), predicted.ravel())
        options = {"labels": present, "average": None, "zero_division": 0}
        iou, dice = sklearn_metrics.jaccard_score(*flat, **options), sklearn_metrics.f1_score(*flat, **options)
        assert [one.label for one in found.classes] == present.tolist()
        assert [one.iou for one in found.classes] == pytest.approx(iou.tolist())
        assert [one.dice for one in found.classes] == pytest.approx(dice.tolist())
        assert found.mean_iou == pytest.approx(iou.mean()) and found.mean_dice == pytest.approx(dice.mean())
        assert found.right == (mask == predicted).sum() and found.pixels == mask.size


def test_the_first_of_equal_scores_and_nan_as_numpy(metrics):
    rng = numpy.random.default_rng(3)
    scores = rng.integers(0, 3, (500, 7)).astype("float32")
    scores[rng.random(scores.shape) < 0.05] = math.nan
    labels = rng.integers(0, 7, 500)
    assert metrics.accuracy(scores, labels).top1 == (scores.argmax(1) == labels).mean()


def test_unknown_labels_are_left_out(metrics):
    scores = numpy.eye(3)
    found = metrics.accuracy(scores, [0, -1, 0])
    assert (found.rows, found.top1) == (2, 0.5)
    assert metrics.accuracy(scores, [-1, -1, -1]).top1 is None
    overlap = metrics.segmentation(numpy.eye(3)[None], numpy.array([[0, -1, 0]]))
    assert (overlap.pixels, overlap.right) == (2, 1)


def test_a_data_set_adds_up(metrics):
    tally = metrics.AccuracyTally()
    assert tally.labels is None and tally.masks is None
    tally.add(numpy.eye(3), [0, 1, 1])
    tally.add([numpy.zeros(2), numpy.eye(3)[:2]], [0, 0])  # a model's outputs, the second of which are scores
    assert (tally.labels.rows, tally.labels.top1, tally.right) == (5, 0.6, [True, True, False, True, False])


@pytest.mark.parametrize(("scores", "labels", "message"), [
    (numpy.eye(3), [0, 1], "there are 2 labels for 3 rows of scores"),
    (numpy.eye(3), [0, 1, 3], "label 3 is not a class"),
    (numpy.eye(3), [0, 1, 0.5], "labels: 0.5 is not a class"),
    (numpy.eye(3), [[0, 1, 2]], "labels: expected one per row"),
    (numpy.ones(3), [0], r"\[rows, classes\]"),
    ([numpy.ones(3)], [0], "no output has a row of scores for each of 1 labels"),
    ([], [0], "there is no output"),
])
def test_labels_that_do_not_fit(metrics, scores, labels, message):
    with pytest.raises(Exception, match=message) as caught:
        metrics.accuracy(scores, labels)
    assert type(caught.value).__name__ == "UsageError"


@pytest.mark.parametrize(("output", "mask", "message"), [
    (numpy.zeros((1, 2, 3)), numpy.zeros((1, 3)), "a class per pixel as an integer"),
    (numpy.zeros((1, 2, 3)), numpy.zeros((1, 4), int), r"the mask has shape \[1, 4\]"),
    (numpy.zeros((1, 2, 3)), numpy.full((1, 3), 2), "label 2 is not a class"),
    (numpy.full((1, 3), -1), numpy.zeros((1, 3), int), "the output has -1, which is not a class"),
    (numpy.zeros((1, 1, 3)), numpy.zeros((1, 3), int), "two classes or more"),
])
def test_masks_that_do_not_fit(metrics, output, mask, message):
    with pytest.raises(Exception, match=message) as caught:
        metrics.segmentation(output, mask)
    assert type(caught.value).__name__ == "UsageError"
