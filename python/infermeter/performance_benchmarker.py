"""A benchmarker of models that are objects of this process: the names of an earlier tool, on the one engine.

    benchmarker = PerformanceBenchmarker(benchmark_iterations=100)
    result = benchmarker.benchmark_model(model, x, "eager")
    print(result.mean_time_ms)
"""

from __future__ import annotations

import dataclasses
import logging
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from infermeter.errors import UsageError

if TYPE_CHECKING:
    from infermeter._core import OutputDifference, Record, Samples, Summary

__all__ = ["BenchmarkResult", "ComparisonResult", "PerformanceBenchmarker", "create_benchmarker"]

MB = 1e-6
MS = 1e3
ROUNDS = 5  # of a comparison: each model in each, in random order, so that drift falls on both
PROFILED = 3  # inferences
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
    outliers_removed: int = 0
    warnings: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)  # what was really executed
    profile: tuple[dict[str, Any], ...] = ()  # operators or functions by their own time, where profiling is enabled

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
    speedup_low: float | None  # 95 % interval over the rounds; None: one cannot be told
    speedup_high: float | None
    memory_change_mb: float
    is_improvement: bool  # the whole interval lies above 1
    outputs_agree: bool | None  # None: they could not be compared
    report: str  # the whole comparison as text


class PerformanceBenchmarker:
    """Measures live models. Train or eval mode, threads, gradients and random numbers are as before afterwards, also
    after an exception. For answers with a known rate of false alarms use `infermeter.compare` on factories: here all
    happens in one process, and every report says so."""

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
        functions of Python where the model is no torch.nn.Module."""
        self.warmup_iterations = warmup_iterations
        self.benchmark_iterations = benchmark_iterations
        self.outlier_threshold = outlier_threshold
        self.enable_profiling = enable_profiling
        self._log = logger_func or logging.getLogger("infermeter").info
        self._results: dict[str, BenchmarkResult] = {}

    def benchmark_model(self, model: Any, input_tensor: Any, name: str = "model") -> BenchmarkResult:
        """Times a model. What it raises is raised again."""
        record = self._measured({name: model}, input_tensor, self.benchmark_iterations, rounds=1)
        return self._keep(self._result(record, 0, model, input_tensor))

    def compare_models(
        self,
        baseline_model: Any,
        optimized_model: Any,
        input_tensor: Any,
        baseline_name: str = "baseline",
        optimized_name: str = "optimized",
    ) -> ComparisonResult:
        """Times both by turns, and compares their outputs first."""
        if baseline_name == optimized_name:
            raise UsageError(f"two models cannot both be called '{baseline_name}': give baseline_name and optimized_name")
        models = {baseline_name: baseline_model, optimized_name: optimized_model}
        iterations = math.ceil(self.benchmark_iterations / ROUNDS)
        record = self._measured(models, input_tensor, iterations, ROUNDS)
        baseline = self._keep(self._result(record, 0, baseline_model, input_tensor))
        optimized = self._keep(self._result(record, 1, optimized_model, input_tensor))
        subject = record.verdict.subjects[1]
        ratio = next(ratio.estimate for ratio in subject.ratios if ratio.metric == "latency_p50")
        low, high = (ratio.interval.low, ratio.interval.high) if ratio.interval else (None, None)
        outputs = subject.outputs
        return ComparisonResult(
            baseline=baseline,
            optimized=optimized,
            speedup=ratio.value if ratio.value is not None else optimized.speedup_vs(baseline),
            speedup_low=low,
            speedup_high=high,
            memory_change_mb=optimized.memory_change_vs(baseline),
            is_improvement=low is not None and low > 1,
            outputs_agree=None if outputs is None else outputs.comparison.agree,
            report=record.text(),
        )

    def validate_numerical_equivalence(
        self,
        baseline_model: Any,
        optimized_model: Any,
        input_tensor: Any,
        num_samples: int = 10,
        tolerance: float = 1e-5,
        valid_range: tuple[float, float] | None = None,
        seed: int = 0,
    ) -> tuple[bool, float, dict[str, Any]]:
        """Whether the outputs stay within `tolerance` (absolute) of each other, on the input and on `num_samples` - 1
        noisy ones; the largest difference; details. Noise stays inside `valid_range`, or inside what each channel (the
        second dimension) of the input spans: a model is asked nothing that it was not made for."""
        import infermeter
        from infermeter.live import evaluated

        inputs = _noisy_inputs(input_tensor, num_samples, valid_range, seed)
        largest, failed, details = 0.0, 0, []
        for number, value in enumerate(inputs):
            outputs = [evaluated(model, value) for model in (baseline_model, optimized_model)]
            comparison = infermeter.compare_outputs(outputs[0], outputs[1], rtol=0.0, atol=tolerance)
            worst = max(map(_largest_difference, comparison.outputs), default=math.inf)
            largest, failed = max(largest, worst), failed + (not comparison.agree)
            details.append({"sample": number, "max_difference": worst, "agree": comparison.agree})
        summary = {"num_samples": len(inputs), "num_failed": failed, "tolerance": tolerance, "samples": details}
        return failed == 0, largest, summary

    def get_result(self, name: str) -> BenchmarkResult | None:
        return self._results.get(name)

    def get_all_results(self) -> dict[str, BenchmarkResult]:
        return dict(self._results)

    def clear_results(self) -> None:
        self._results.clear()

    def export_results(self) -> dict[str, dict[str, Any]]:
        """By name; what JSON can hold."""
        return {name: dataclasses.asdict(result) for name, result in self._results.items()}

    def _measured(self, models: Mapping[str, Any], inputs: Any, iterations: int, rounds: int) -> Record:
        from infermeter.live import raise_error_of, run_live

        with tempfile.TemporaryDirectory(prefix="infermeter-") as folder:
            record = run_live(
                models,
                inputs,
                warmup=self.warmup_iterations,
                iterations=iterations,
                processes=rounds,
                outliers="none" if self.outlier_threshold is None else f"sigma:{self.outlier_threshold:g}",
                output_dir=folder,
            )
        raise_error_of(record)
        return record

    def _result(self, record: Record, subject: int, model: Any, inputs: Any) -> BenchmarkResult:
        verdict = record.verdict.subjects[subject]
        trials = [samples for samples in record.samples if samples.subject == subject]
        name = record.plan.subjects[subject].label
        warnings = tuple(d.message for d in verdict.summary.diagnostics if d.severity == "warning")
        for warning in warnings:
            self._log(f"{name}: {warning}")
        result = BenchmarkResult(
            name=name,
            mean_time_ms=_ms(verdict.summary, "latency_mean"),
            std_time_ms=_ms(verdict.summary, "latency_std"),
            min_time_ms=_ms(verdict.summary, "latency_min"),
            max_time_ms=_ms(verdict.summary, "latency_max"),
            median_time_ms=_ms(verdict.summary, "latency_p50"),
            memory_peak_mb=_memory(trials, "device_peak", "rss_peak_inference"),
            memory_allocated_mb=_memory(trials, "device_now", "rss_after_load"),
            num_iterations=sum(len(samples) for samples in trials),
            outliers_removed=verdict.summary.outliers.removed,
            warnings=warnings,
            metadata=dict(trials[0].executed),
            profile=_profile(model, inputs) if self.enable_profiling else (),
        )
        self._log(f"{name}: {result.mean_time_ms:.3f} ms ± {result.std_time_ms:.3f}, {result.num_iterations} iterations")
        return result

    def _keep(self, result: BenchmarkResult) -> BenchmarkResult:
        self._results[result.name] = result
        return result


def create_benchmarker(
    config_training: Any = None, logger_func: Callable[[str], None] | None = None
) -> PerformanceBenchmarker:
    """From a configuration: an object or a mapping that may have warmup_iterations (or compilation_warmup_steps),
    benchmark_iterations, outlier_threshold and enable_profiling. What it does not say has its usual value."""
    names = {
        "warmup_iterations": ("warmup_iterations", "compilation_warmup_steps"),
        "benchmark_iterations": ("benchmark_iterations",),
        "outlier_threshold": ("outlier_threshold",),
        "enable_profiling": ("enable_profiling",),
    }
    chosen: dict[str, Any] = {}
    for parameter, places in names.items():
        for place in places:
            value = _of(config_training, place)
            if value is not None and parameter not in chosen:
                chosen[parameter] = value
    return PerformanceBenchmarker(logger_func=logger_func, **chosen)


def _largest_difference(output: OutputDifference) -> float:
    """Infinite where shapes differ, or only one of the two is no finite number."""
    not_finite = (output.nan_reference, output.inf_reference) != (output.nan_candidate, output.inf_candidate)
    return math.inf if not_finite or not output.comparable else float(output.max_absolute)


def _of(config: Any, name: str) -> Any:
    return config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)


def _ms(summary: Summary, name: str) -> float:
    metric = summary.metric(name)
    value = None if metric is None else metric.estimate.value
    return math.nan if value is None else value * MS


def _memory(trials: Sequence[Samples], of_device: str, of_process: str) -> float:
    """Megabytes, the most of any trial."""
    for name in (of_device, of_process):
        values = [value for samples in trials if (value := getattr(samples.memory, name)) is not None]
        if values:
            return float(max(values)) * MB
    return math.nan


def _noisy_inputs(given: Any, count: int, valid_range: tuple[float, float] | None, seed: int) -> list[Any]:
    """The input, and it with noise; itself alone where its numbers are names (of tokens, of classes)."""
    from infermeter import _core
    from infermeter.live import as_array, like

    if count < 1:
        raise UsageError(f"num_samples={count}: give at least 1")
    base = as_array(given)
    if valid_range is not None and not valid_range[0] <= base.min() <= base.max() <= valid_range[1]:
        raise UsageError(f"the input leaves valid_range {valid_range}: it spans {base.min():g} to {base.max():g}")
    noisy = _core.perturbed(base, count - 1, noise=NOISE, seed=seed, valid_range=valid_range)
    return [given, *(like(given, array) for array in noisy)]


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
