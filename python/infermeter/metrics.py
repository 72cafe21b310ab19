"""Fidelity metrics of arrays: NumPy's, PyTorch's, and whatever numpy.asarray takes.

    from infermeter import metrics

    print(metrics.difference(reference, output).psnr_db)
    print(metrics.structural_similarity(reference, output, dimensions=3))
    print(metrics.accuracy(scores, labels).top1)
    print(metrics.segmentation(scores, mask).mean_iou)

The formulas are in docs/methodology.md, "Fidelity metrics". A `Difference` and an `AccuracyTally` add up over the items
of a data set that does not fit into memory.
"""

from __future__ import annotations

from infermeter._core import AccuracyTally as AccuracyTally
from infermeter._core import ClassAccuracy as ClassAccuracy
from infermeter._core import ClassOverlap as ClassOverlap
from infermeter._core import Difference as Difference
from infermeter._core import LabelAccuracy as LabelAccuracy
from infermeter._core import MaskAccuracy as MaskAccuracy
from infermeter._core import difference as difference
from infermeter._core import structural_similarity as structural_similarity


def accuracy(scores: object, labels: object) -> LabelAccuracy:
    """Top-1, top-5 and each class's share of scores [rows, classes] with a label per row; -1 leaves a row out."""
    tally = AccuracyTally()
    tally.add(scores, labels)
    assert tally.labels is not None
    return tally.labels


def segmentation(scores_or_classes: object, mask: object) -> MaskAccuracy:
    """IoU and Dice of each class, of scores [rows, classes, ...] or classes [rows, ...] with a mask [rows, ...]."""
    tally = AccuracyTally()
    tally.add_mask(scores_or_classes, mask)
    assert tally.masks is not None
    return tally.masks
