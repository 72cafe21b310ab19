"""Is an optimised model still right? Models that are objects of this process: the names of an earlier tool, on the one
engine.

    validator = AccuracyValidator(baseline_model=a, optimized_model=b, validation_loader=loader, tolerance=0.01)
    if validator.validate()["passed"]:
        validator.print_report()
"""

from __future__ import annotations

import dataclasses
import math
import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from infermeter.batches import Key, taken_apart
from infermeter.errors import UsageError

if TYPE_CHECKING:
    from infermeter._core import AccuracyDrop, AccuracyTally, ComparedOutputs, OutputComparison, OutputDifference

__all__ = ["AccuracyMetrics", "AccuracyValidator", "Comparison", "OutputComparator", "validate_optimization"]


@dataclass(frozen=True)
class AccuracyMetrics:
    """Of the output in which each is worst, over all samples. NaN: the formula has no value (docs/methodology.md; SSIM is of
    images only), a value is NaN or infinite in one of the two only, or, of accuracies, the loader gives no labels."""

    mae: float
    mse: float
    psnr: float  # decibels; infinite where all values are equal
    ssim: float
    max_difference: float
    relative_error: float  # ||b - a|| / ||a||
    cosine: float
    pearson: float
    baseline_accuracy: float = math.nan  # share of right answers
    optimized_accuracy: float = math.nan

    @property
    def cosine_similarity(self) -> float:
        """The same as `cosine`."""
        return self.cosine

    @property
    def rmse(self) -> float:
        """The square root of `mse`."""
        return math.sqrt(self.mse)

    @property
    def max_absolute_diff(self) -> float:
        """The same as `max_difference`."""
        return self.max_difference


class AccuracyValidator:
    """Runs both models on the same inputs and compares what they answer. Nothing is left changed in the models."""

    _latest: weakref.ref[AccuracyValidator] | None = None  # that validated, in this process

    def __init__(
        self,
        baseline_model: Any = None,
        optimized_model: Any = None,
        validation_loader: Iterable[Any] | None = None,
        tolerance: float = 0.01,
        *,
        key: Key | None = None,
    ) -> None:
        """`validation_loader` gives inputs, or pairs of inputs and labels: class indices [rows], or masks. `key`: which part
        of a batch is the input, where batches are mappings, objects or longer tuples: a key, an attribute's name or a place;
        two of them for the input and the labels; or a function of a batch. `tolerance`: how far outputs may lie apart, as a
        share of the baseline's largest value; and how much the share of right answers may drop. What is left out of models,
        loader and key is that of the validator that validated last, as long as it is there: AccuracyValidator(tolerance=0.02)
        asks the same with another tolerance."""
        if not (math.isfinite(tolerance) and tolerance >= 0):
            raise UsageError(f"tolerance={tolerance}: expected a number of at least 0")
        self._asks_again = baseline_model is None and optimized_model is None and validation_loader is None
        latest = _latest_validator()
        if latest is not None:
            baseline_model = latest.baseline_model if baseline_model is None else baseline_model
            optimized_model = latest.optimized_model if optimized_model is None else optimized_model
            if validation_loader is None:
                validation_loader, key = latest.validation_loader, latest.key if key is None else key
        self.baseline_model: Any = baseline_model
        self.optimized_model: Any = optimized_model
        self.validation_loader: Iterable[Any] | None = validation_loader
        self.tolerance = tolerance
        self.key: Key | None = key
        self._result: dict[str, Any] | None = None

    def validate(self) -> dict[str, Any]:
        """"passed": the outputs are alike, or labels show that the drop is allowed; "metrics": AccuracyMetrics; "outputs" and
        "samples": each output over all inputs, and input by input; "accuracy": an AccuracyDrop or None; "tolerance";
        "num_samples": how many inputs there were. Batches of tensors are moved to where each model is."""
        result = self._validated()
        # One that asks again is often temporary, and what the next one asks again is the same.
        if not self._asks_again or _latest_validator() is None:
            AccuracyValidator._latest = weakref.ref(self)
        return result

    def _validated(self) -> dict[str, Any]:
        if self.baseline_model is None or self.optimized_model is None or self.validation_loader is None:
            raise UsageError("AccuracyValidator needs baseline_model, optimized_model and validation_loader")
        run = _Run(self.baseline_model, self.optimized_model, self.tolerance)
        for batch in self.validation_loader:
            run.add(*_inputs_and_labels(batch, self.key))
        compared, accuracy = run.result(self.tolerance)
        whole = compared.whole
        self._result = {
            "passed": whole.agree or (accuracy is not None and accuracy.outcome == "pass"),
            "metrics": _metrics(whole, accuracy),
            "outputs": whole.outputs,
            "samples": compared.samples,
            "accuracy": accuracy,
            "tolerance": self.tolerance,
            "num_samples": whole.items,
        }
        return self._result

    def print_report(self) -> None:
        """What `validate` found; validates first where that has not been done."""
        print(_report(self._result or self.validate()))


def _latest_validator() -> AccuracyValidator | None:
    return None if AccuracyValidator._latest is None else AccuracyValidator._latest()


def validate_optimization(
    baseline_model: Any,
    optimized_model: Any,
    validation_loader: Iterable[Any],
    tolerance: float = 0.01,
    *,
    key: Key | None = None,
) -> bool:
    """Whether the optimised model is still right; prints the report. `key`: as AccuracyValidator has it."""
    validator = AccuracyValidator(baseline_model, optimized_model, validation_loader, tolerance, key=key)
    passed = bool(validator._validated()["passed"])
    validator.print_report()
    return passed


@dataclass(frozen=True)
class Comparison:
    """Both models' outputs for one input, by name, and how far they are apart."""

    reference: dict[str, Any] = field(repr=False)
    candidate: dict[str, Any] = field(repr=False)
    difference: OutputComparison

    @property
    def outputs(self) -> list[OutputDifference]:
        return self.difference.outputs

    def __bool__(self) -> bool:
        return self.difference.agree


class OutputComparator:
    """Where two models differ, on one input."""

    def __init__(self, model_a: Any, model_b: Any) -> None:
        self.model_a = model_a
        self.model_b = model_b

    def compare(self, inputs: Any, tolerance: float | None = None) -> Comparison:
        """`tolerance`: as AccuracyValidator's; None: what float32 may cost."""
        import infermeter
        from infermeter.live import evaluated

        reference, candidate = evaluated(self.model_a, inputs), evaluated(self.model_b, inputs)
        atol = None if tolerance is None else 0.0
        difference = infermeter.compare_outputs(
            list(reference.values()), list(candidate.values()), rtol=tolerance, atol=atol
        )
        return Comparison(reference, candidate, difference)

    def visualize_diff(self, comparison: Comparison, path: str | os.PathLike[str] | None = None) -> list[str]:
        """Prints how far each output is apart, and draws reference, output and difference of those that are images or volumes
        into `path` (default: difference.png), with a number where there are several; needs matplotlib for that. The files
        written: none where no output is an image, which is refused if a `path` is given."""
        from infermeter.difference_pictures import draw, is_image

        print(_differences(comparison))
        stem, ending = os.path.splitext(os.fspath(path) if path is not None else "difference.png")
        pairs = list(zip(comparison.reference, comparison.reference.values(), comparison.candidate.values(), strict=False))
        drawn = [(name, a, b) for name, a, b in pairs if is_image(a.shape) and a.shape == b.shape]
        if not drawn and path is not None:
            raise UsageError("no output is an image: a picture needs two dimensions of at least 4, the same in both")
        files = []
        for number, (name, a, b) in enumerate(drawn):
            files.append(stem + (f"_{number}" if len(drawn) > 1 else "") + ending)
            draw(a, b, files[-1], title=name)
        return files


def _differences(comparison: Comparison) -> str:
    lines = ["outputs agree" if comparison else "outputs DIFFER beyond tolerance"]
    for output in comparison.outputs:
        if not output.comparable:
            lines.append(f"  {output.name}: cannot be compared: it {output.reason}")
            continue
        figures = [("max", output.max_absolute), ("mean", output.mae), ("relative L2", output.relative_l2)]
        reported = ", ".join(f"{name} {value:.6g}" for name, value in figures if value is not None)
        lines.append(f"  {output.name}: {reported}")
    return "\n".join(lines)


class _Run:
    """Both models on one input after the other; what they answer is not kept."""

    def __init__(self, baseline: Any, optimized: Any, tolerance: float) -> None:
        self._models = (baseline, optimized)
        self._tolerance = tolerance
        self._comparer: Any = None
        self._tallies: tuple[AccuracyTally, AccuracyTally] | None = None
        self._shares: tuple[list[float], list[float]] = ([], [])  # of right pixels, of each mask

    def add(self, inputs: Any, labels: Any) -> None:
        from infermeter import _core
        from infermeter.live import evaluated

        first, second = (evaluated(model, inputs) for model in self._models)
        if self._comparer is None:
            self._comparer = _core.OutputComparer(list(first), rtol=self._tolerance, atol=0.0)
        self._comparer.add(list(first.values()), list(second.values()))
        if labels is None:
            return
        if self._tallies is None:
            self._tallies = (_core.AccuracyTally(), _core.AccuracyTally())
        for tally, shares, outputs in zip(self._tallies, self._shares, (first, second), strict=True):
            shares += _add_labels(tally, outputs, labels)

    def result(self, max_drop: float) -> tuple[ComparedOutputs, AccuracyDrop | None]:
        from infermeter import _core

        if self._comparer is None:
            raise UsageError("validation_loader gave nothing: there is no input to compare the models on")
        drop = None
        if self._tallies is not None:
            has_masks = self._tallies[0].masks is not None
            drop = _core.accuracy_drop(*self._tallies, max_drop=min(max_drop, 1.0), of_items=self._shares if has_masks else None)
        return self._comparer.result(), drop


def _inputs_and_labels(batch: Any, key: Key | None) -> tuple[Any, Any]:
    from infermeter.live import as_array

    inputs, given = taken_apart(batch, key)
    if given is None:
        return inputs, None
    labels = as_array(given)
    # Targets of a regression are no labels: nothing is right or wrong of them.
    return inputs, labels if labels.dtype.kind in "iub" else None


def _add_labels(tally: AccuracyTally, outputs: Mapping[str, Any], labels: Any) -> list[float]:
    """Of masks the share of right pixels of each."""
    is_mask = labels.ndim > 1
    for scores in outputs.values():
        fits = scores.shape[:1] == labels.shape[:1] and scores.dtype.kind not in "iub"
        if is_mask and fits and scores.shape[2:] == labels.shape[1:] and scores.ndim == labels.ndim + 1:
            return [share for row in range(len(labels)) if (share := _add_mask(tally, scores[row : row + 1], labels[row : row + 1])) is not None]
        if not is_mask and fits and scores.ndim == 2 and scores.shape[1] > 1:
            tally.add(scores, labels)
            return []
    raise UsageError(f"no output has scores for labels of shape {list(labels.shape)}: [rows, classes], or [rows, classes, …]")


def _add_mask(tally: AccuracyTally, scores: Any, mask: Any) -> float | None:
    """The share of its pixels that are right; None: all are left out."""
    before = (0, 0) if tally.masks is None else (tally.masks.pixels, tally.masks.right)
    tally.add_mask(scores, mask)
    assert tally.masks is not None
    pixels, right = tally.masks.pixels - before[0], tally.masks.right - before[1]
    return right / pixels if pixels else None


def _worst(outputs: Sequence[OutputDifference], name: str, choose: Callable[[list[float]], float]) -> float:
    if any(output.non_finite_apart for output in outputs):
        return math.nan
    values = [value for output in outputs if (value := getattr(output, name)) is not None]
    return choose(values) if values else math.nan


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _metrics(whole: OutputComparison, accuracy: AccuracyDrop | None) -> AccuracyMetrics:
    outputs = whole.outputs
    return AccuracyMetrics(
        mae=_worst(outputs, "mae", max),
        mse=_worst(outputs, "mse", max),
        psnr=_worst(outputs, "psnr_db", min),
        ssim=_worst(outputs, "ssim", min),
        max_difference=_worst(outputs, "max_absolute", max),
        relative_error=_worst(outputs, "relative_l2", max),
        cosine=_worst(outputs, "cosine", min),
        pearson=_worst(outputs, "pearson", min),
        baseline_accuracy=_known(None if accuracy is None else accuracy.baseline),
        optimized_accuracy=_known(None if accuracy is None else accuracy.candidate),
    )


def _report(result: Mapping[str, Any]) -> str:
    sign = "✓ accuracy maintained" if result["passed"] else "✗ NOT within tolerance"
    lines = [f"{sign}: {result['num_samples']} inputs, tolerance {result['tolerance']:g}"]
    for name, value in dataclasses.asdict(result["metrics"]).items():
        if not math.isnan(value):
            lines.append(f"  {name.replace('_', ' '):20} {value:.6g}")
    accuracy = result["accuracy"]
    if accuracy is not None and accuracy.change is not None:
        low, high = accuracy.change_interval
        by = "over masks" if accuracy.p_value is None else f"McNemar p = {accuracy.p_value:.3g}"
        lines.append(f"  change of accuracy   {accuracy.change:+.4f} [{low:+.4f}, {high:+.4f}], {by}")
    for output in result["outputs"]:
        if not output.comparable:
            lines.append(f"  output '{output.name}' cannot be compared: it {output.reason}")
        elif not output.within_tolerance:
            lines.append(f"  output '{output.name}': {output.mismatched} of {output.element_count} values are beyond it")
    return "\n".join(lines)
