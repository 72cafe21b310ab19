"""A benchmarker of models that are objects of this process: the names of an earlier tool, on the one engine.

    benchmarker = PerformanceBenchmarker(benchmark_iterations=100)
    result = benchmarker.benchmark_model(model, x, "eager")
    print(result.mean_time_ms)
"""

from __future__ import annotations

import dataclasses
import difflib
import logging
import math
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from infermeter.errors import UsageError

if TYPE_CHECKING:
    from infermeter._core import Diagnostic, OutputDifference, Record, Samples, Summary

__all__ = ["BenchmarkResult", "ComparisonResult", "PerformanceBenchmarker", "create_benchmarker"]

MB = 1e-6
MS = 1e3
ROUNDS = 5  # of a comparison: each model in each, in random order, so that drift falls on both
PROFILED = 3  # inferences
_NOTE, _ALARM = "outliers_removed", "many_outliers_removed"  # diagnostics
_UNKNOWN = "it was not measured"
_NEARLY = 0.85  # how alike two names are, of 1
_CALLER = 4  # frames from a warning to who called benchmark_model or compare_models
NOISE = 0.01  # of the range of valid inputs, standard deviation (infermeter/data/perturb.hpp)


@dataclass(frozen=True)
class BenchmarkResult:
    """Milliseconds and megabytes. Memory is the process's (resident), or the device's own where the model is on one."""

    name: str
    mean_time_ms: float
    std_time_ms: float
    min_time_ms: float
    max_time_ms: float
    median_time_ms: float
    memory_peak_mb: float
    memory_allocated_mb: float
    num_iterations: int
    device: str = ""
    model_type: str = "unknown"  # the caller's word
    metadata: dict[str, Any] = field(default_factory=dict)  # the caller's
    outliers_removed: int = 0
    warnings: tuple[str, ...] = ()
    executed: dict[str, str] = field(default_factory=dict)  # what was really executed
    profile: tuple[dict[str, Any], ...] = ()  # operators or functions by their own time, where profiling is enabled
    notes: dict[str, str] = field(default_factory=dict)  # why a number is NaN

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.mean_time_ms:.3f} ms ± {self.std_time_ms:.3f}, {self.num_iterations} iterations, "
            f"{self.memory_peak_mb:.1f} MB"
        )

    def speedup_vs(self, baseline: BenchmarkResult) -> float:
        """How many times as fast as `baseline`, by the mean."""
        return baseline.mean_time_ms / self.mean_time_ms if self.mean_time_ms > 0 else math.inf

    def memory_change_vs(self, baseline: BenchmarkResult) -> float:
        """Megabytes more than `baseline`."""
        return self.memory_peak_mb - baseline.memory_peak_mb


@dataclass(frozen=True)
class ComparisonResult:
    baseline: BenchmarkResult
    optimized: BenchmarkResult
    speedup: float
    speedup_low: float  # 95 % interval over processes; NaN: one process has none
    speedup_high: float
    memory_change_mb: float
    is_improvement: bool  # the whole interval lies above the threshold; never without one
    outputs_agree: bool | None  # None: they could not be compared, or nothing can be concluded from them
    report: str  # the whole comparison as text

    def __str__(self) -> str:
        known = "no interval" if math.isnan(self.speedup_low) else f"[{self.speedup_low:.2f}, {self.speedup_high:.2f}]"
        word = "an improvement" if self.is_improvement else "no improvement that is shown"
        return f"{self.speedup:.2f}x as fast, {known}; {self.memory_change_mb:+.1f} MB; {word}"


class PerformanceBenchmarker:
    """Measures live models. Train or eval mode, threads, gradients and random numbers are as before afterwards, also
    after an exception. `results`: what was measured, by name. All happens in one process, and every report says so: what another process would give is not known,
    so that speed-ups have no interval. For answers with a known rate of false alarms use `infermeter.compare` on factories."""

    def __init__(
        self,
        warmup_iterations: int = 10,
        benchmark_iterations: int = 100,
        outlier_threshold: float | None = None,
        enable_profiling: bool = False,
        logger_func: Callable[[str], None] | None = None,
    ) -> None:
        """`outlier_threshold`: latencies farther than so many standard deviations from the mean are left out, and
        counted; None: all are kept. `enable_profiling`: operators are timed in inferences of their own, or the
        functions of Python where the model is not a torch.nn.Module."""
        self.warmup_iterations = warmup_iterations
        self.benchmark_iterations = benchmark_iterations
        self.outlier_threshold = outlier_threshold
        self.enable_profiling = enable_profiling
        self._log = logger_func or logging.getLogger("infermeter").info
        self.results: dict[str, BenchmarkResult] = {}

    def benchmark_model(
        self,
        model: Any,
        input_tensor: Any,
        name: str = "model",
        model_type: str = "unknown",
        enable_grad: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> BenchmarkResult:
        """Times a model. What it raises is raised again. `model_type` and `metadata` are kept in the result as they are.
        `enable_grad`: with gradients, as in training; only of PyTorch's models."""
        options = {"grad": "true"} if enable_grad else {}
        record = self._measured({name: model}, input_tensor, self.benchmark_iterations, 1, options)
        result = self._result(record, 0, model, input_tensor)
        return self._keep(dataclasses.replace(result, model_type=model_type, metadata=dict(metadata or {})))

    def compare_models(
        self,
        baseline_model: Any,
        optimized_model: Any,
        input_tensor: Any,
        baseline_name: str = "baseline",
        optimized_name: str = "optimized",
        speedup_threshold: float = 1.0,
    ) -> ComparisonResult:
        """Times both by turns, and compares their outputs first. It is an improvement if the whole interval of the speed-up
        lies above `speedup_threshold`."""
        if baseline_name == optimized_name:
            raise UsageError(f"two models cannot both be called '{baseline_name}': give baseline_name and optimized_name")
        models = {baseline_name: baseline_model, optimized_name: optimized_model}
        iterations = math.ceil(self.benchmark_iterations / ROUNDS)
        record = self._measured(models, input_tensor, iterations, ROUNDS)
        baseline = self._keep(self._result(record, 0, baseline_model, input_tensor))
        optimized = self._keep(self._result(record, 1, optimized_model, input_tensor))
        subject = record.verdict.subjects[1]
        ratio = next(ratio.estimate for ratio in subject.ratios if ratio.metric == "latency_p50")
        low, high = (ratio.interval.low, ratio.interval.high) if ratio.interval else (math.nan, math.nan)
        outputs = subject.outputs
        return ComparisonResult(
            baseline=baseline,
            optimized=optimized,
            speedup=ratio.value if ratio.value is not None else optimized.speedup_vs(baseline),
            speedup_low=low,
            speedup_high=high,
            memory_change_mb=optimized.memory_change_vs(baseline),
            is_improvement=low > speedup_threshold,  # never of NaN
            outputs_agree=None if outputs is None or outputs.comparison.undecided else outputs.comparison.agree,
            report=record.text(),
        )

    def validate_numerical_equivalence(
        self,
        baseline_model: Any,
        optimized_model: Any,
        input_tensor: Any,
        tolerance: float = 1e-5,
        num_samples: int = 10,
        valid_range: tuple[float, float] | None = None,
        seed: int = 0,
    ) -> tuple[bool, float, dict[str, Any]]:
        """Whether the outputs stay within `tolerance` of each other, absolute and as a share of the baseline's largest
        value, whichever is less, on the input and on `num_samples` - 1 noisy ones; the largest difference; details. Noise
        stays inside `valid_range`, or inside what each channel (the second dimension) of the input spans: a model is asked
        nothing that it was not made for."""
        import infermeter
        from infermeter.live import evaluated

        inputs = _noisy_inputs(input_tensor, num_samples, valid_range, seed)
        largest, failed, details = 0.0, 0, []
        for number, value in enumerate(inputs):
            outputs = [evaluated(model, value) for model in (baseline_model, optimized_model)]
            comparison = infermeter.compare_outputs(outputs[0], outputs[1], rtol=0.0, atol=tolerance)
            worst = max(map(_largest_difference, comparison.outputs), default=math.inf)
            agree = comparison.agree and all((output.relative_max or 0.0) <= tolerance for output in comparison.outputs)
            largest, failed = max(largest, worst), failed + (not agree)
            details.append({"sample": number, "max_difference": worst, "agree": agree})
        summary: dict[str, Any] = {"max_overall_diff": largest, "tolerance": tolerance, "num_samples": len(inputs)}
        summary |= {"num_failed": failed, "samples": details}
        return failed == 0, largest, summary

    def get_result(self, name: str) -> BenchmarkResult | None:
        """The result of this name; None: there is none."""
        return self.results.get(name)

    def get_all_results(self) -> dict[str, BenchmarkResult]:
        """All results by name, in a dict of their own."""
        return dict(self.results)

    def clear_results(self) -> None:
        """Forgets all results."""
        self.results.clear()

    def export_results(self) -> dict[str, dict[str, Any]]:
        """All results by name, as what JSON can hold: a number that is not known is None."""
        from infermeter.compat.model_benchmark import plain

        return {name: plain(dataclasses.asdict(result)) for name, result in self.results.items()}

    def _measured(
        self, models: Mapping[str, Any], inputs: Any, iterations: int, rounds: int, options: Mapping[str, str] | None = None
    ) -> Record:
        from infermeter.live import raise_error_of, run_live

        with tempfile.TemporaryDirectory(prefix="infermeter-") as folder:
            record = run_live(
                models,
                inputs,
                warmup=self.warmup_iterations,
                iterations=iterations,
                processes=rounds,
                outliers="none" if self.outlier_threshold is None else f"sigma:{self.outlier_threshold:g}",
                options=dict(options or {}),
                output_dir=folder,
            )
        raise_error_of(record)
        return record

    def _result(self, record: Record, subject: int, model: Any, inputs: Any) -> BenchmarkResult:
        verdict = record.verdict.subjects[subject]
        trials = [samples for samples in record.samples if samples.subject == subject]
        name = record.plan.subjects[subject].label
        reported = self._tell(name, verdict.summary.diagnostics)
        figures = {field: _ms(verdict.summary, metric) for field, metric in _TIMES.items()}
        figures["memory_peak_mb"] = _memory(trials, "device_peak", "rss_peak_inference")
        figures["memory_allocated_mb"] = _memory(trials, "device_now", "rss_after_load")
        values: dict[str, Any] = {field: value for field, (value, _) in figures.items()}
        result = BenchmarkResult(
            name=name,
            **values,
            num_iterations=sum(len(samples) for samples in trials),
            device=trials[0].executed.get("device", record.plan.subjects[subject].device),
            outliers_removed=verdict.summary.outliers.removed,
            warnings=reported,
            executed=dict(trials[0].executed),
            profile=_profile(model, inputs) if self.enable_profiling else (),
            notes={field: why for field, (value, why) in figures.items() if math.isnan(value)},
        )
        self._log(str(result))
        return result

    def _tell(self, name: str, diagnostics: Iterable[Diagnostic]) -> tuple[str, ...]:
        """What was noticed, logged; that a measurement is unstable is warned of as well."""
        found = [d for d in diagnostics if d.severity in ("warning", "error")]
        # The alarm says what the plain note says, and more.
        alarm = next((d.message for d in found if d.id == _ALARM), None)
        reported = tuple(d.message for d in found if alarm is None or d.id != _NOTE)
        for message in reported:
            self._log(f"{name}: {message}")
        if alarm is not None:
            warnings.warn(f"{name}: {alarm}", UserWarning, stacklevel=_CALLER)
        return reported

    def _keep(self, result: BenchmarkResult) -> BenchmarkResult:
        self.results[result.name] = result
        return result


_SETTINGS = {
    "warmup_iterations": ("warmup_iterations", "compilation_warmup_steps"),
    "benchmark_iterations": ("benchmark_iterations",),
    "outlier_threshold": ("outlier_threshold",),
    "enable_profiling": ("enable_profiling", "enable_compilation_benchmarking"),
}


def create_benchmarker(
    config_training: Any = None, logger_func: Callable[[str], None] | None = None
) -> PerformanceBenchmarker:
    """From a configuration: an object or a mapping that may have warmup_iterations (or compilation_warmup_steps),
    benchmark_iterations, outlier_threshold and enable_profiling (or enable_compilation_benchmarking). What it does not say
    has its usual value. A mapping holds nothing else; an object may, as a configuration of a training does, but no name
    that is nearly one of these."""
    _refuse_misspelt(config_training)
    chosen: dict[str, Any] = {}
    for parameter, places in _SETTINGS.items():
        for place in places:
            value = _of(config_training, place)
            if value is not None and parameter not in chosen:
                chosen[parameter] = value
    return PerformanceBenchmarker(logger_func=logger_func, **chosen)


def _refuse_misspelt(config: Any) -> None:
    known = [place for places in _SETTINGS.values() for place in places]
    is_mapping = isinstance(config, Mapping)
    for name in config if is_mapping else [name for name in dir(config) if not name.startswith("_")]:
        near = difflib.get_close_matches(str(name), known, n=1, cutoff=_NEARLY)
        if name not in known and (is_mapping or near):
            meant = f"did you mean '{near[0]}'? It takes" if near else "it takes"
            raise UsageError(f"create_benchmarker knows no '{name}': {meant} {', '.join(known)}")


def _largest_difference(output: OutputDifference) -> float:
    """Infinite where shapes differ, or only one of the two is not a finite number."""
    if output.non_finite_apart or not output.comparable:
        return math.inf
    return output.max_absolute or 0.0


def _of(config: Any, name: str) -> Any:
    return config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)


_TIMES = {
    "mean_time_ms": "latency_mean",
    "std_time_ms": "latency_std",
    "min_time_ms": "latency_min",
    "max_time_ms": "latency_max",
    "median_time_ms": "latency_p50",
}


def _ms(summary: Summary, name: str) -> tuple[float, str]:
    """A time, and why it is NaN."""
    metric = summary.metric(name)
    value, note = (None, "") if metric is None else (metric.estimate.value, metric.estimate.note)
    return (math.nan, note or _UNKNOWN) if value is None else (value * MS, "")


def _memory(trials: Sequence[Samples], of_device: str, of_process: str) -> tuple[float, str]:
    """Megabytes, the most of any trial; and why they are NaN."""
    for name in (of_device, of_process):
        values = [value for samples in trials if (value := getattr(samples.memory, name)) is not None]
        if values:
            return float(max(values)) * MB, ""
    return math.nan, _UNKNOWN


def _noisy_inputs(given: Any, count: int, valid_range: tuple[float, float] | None, seed: int) -> list[Any]:
    """The input, and it with noise; itself alone where its numbers are names (of tokens, of classes)."""
    if count < 1:
        raise UsageError(f"num_samples={count}: give at least 1")
    if not isinstance(given, (list, tuple)):
        return [given, *_noisy(given, count - 1, valid_range, seed)]
    # Of several inputs, those whose numbers are names stay as they are.
    columns = [_noisy(part, count - 1, valid_range, seed + place) for place, part in enumerate(given)]
    samples = range(max(map(len, columns), default=0))
    return [given, *([column[i] if column else part for column, part in zip(columns, given, strict=True)] for i in samples)]


def _noisy(given: Any, count: int, valid_range: tuple[float, float] | None, seed: int) -> list[Any]:
    from infermeter import _core
    from infermeter.live import as_array, like

    base = as_array(given)
    noisy = _core.perturbed(base, max(count, 1), noise=NOISE, seed=seed, valid_range=valid_range)
    if noisy and valid_range is not None and not valid_range[0] <= base.min() <= base.max() <= valid_range[1]:
        raise UsageError(f"the input leaves valid_range {valid_range}: it spans {base.min():g} to {base.max():g}")
    return [like(given, array) for array in noisy[:count]]


def _profile(model: Any, inputs: Any) -> tuple[dict[str, Any], ...]:
    """From inferences that are not timed: PyTorch's own operators of its modules, else the functions that Python calls."""
    import sys

    torch = sys.modules.get("torch")
    is_module = torch is not None and isinstance(model, torch.nn.Module)
    rows = _operators(torch, model, inputs) if is_module else _functions(model, inputs)
    return tuple({"operator": name, "calls": calls, "self_cpu_ms": own_ms} for name, calls, own_ms in rows[:20])


def _operators(torch: Any, model: Any, inputs: Any) -> list[tuple[str, int, float]]:
    from infermeter.live import evaluated

    with torch.profiler.profile() as profiler:
        for _ in range(PROFILED):
            evaluated(model, inputs)
    rows = sorted(profiler.key_averages(), key=lambda row: -row.self_cpu_time_total)
    return [(row.key, row.count, row.self_cpu_time_total / 1e3) for row in rows]


def _functions(model: Any, inputs: Any) -> list[tuple[str, int, float]]:
    """By cProfile, under which Python that calls much is about three times as slow."""
    import cProfile

    from infermeter.live import evaluated
    from infermeter.python_profilers import own_times

    with cProfile.Profile() as profiler:
        for _ in range(PROFILED):
            evaluated(model, inputs)
    return [(name, calls, own_s * MS) for name, calls, own_s in own_times(profiler.getstats())]
