"""One model, or several beside each other, with metrics of one's own: the names of an earlier tool, on the one engine.

    benchmark = ModelBenchmark(model, sample_input)
    result = benchmark.run_all(batch_size=4)
    benchmark.print_report()
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infermeter.errors import UsageError

if TYPE_CHECKING:
    from infermeter._core import Record
    from infermeter.batches import Key

__all__ = ["BenchmarkSuite", "ModelBenchmark", "ModelResult", "quick_benchmark"]

GB = 1e-9
MB = 1e-6
MS = 1e3
WARMUP = 10
ITERATIONS = 100
ROUNDS = 5
NARROW, WIDE = 80, 110
_MEASURE = "measure_"


@dataclass(frozen=True)
class ModelResult(Mapping[str, Any]):
    """Also a mapping: result["latency_ms"]. A number that is not known is NaN, so that it can be printed as the others are, and
    `notes` has the reason by its name; in JSON it is null. Memory is the process's peak, or the device's own."""

    name: str
    latency_ms: float  # median
    latency_p99_ms: float
    throughput_fps: float  # items per second
    memory_allocated_gb: float
    model_size_mb: float  # parameters and buffers, quantised ones included
    parameters: float
    accuracy: float  # against a loader's labels; else of a measure_accuracy, where there is one
    device: str
    dtype: str
    batch_size: int
    iterations: int
    metrics: dict[str, float] = field(default_factory=dict)  # of the methods measure_*
    metadata: dict[str, str] = field(default_factory=dict)  # the machine's processor, the run's id, the command
    notes: dict[str, str] = field(default_factory=dict)  # why a number is NaN

    def __getitem__(self, key: str) -> Any:
        if key in self.__dataclass_fields__:
            return getattr(self, key)
        return self.metrics[key]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.__dataclass_fields__, *self.metrics]))

    def __len__(self) -> int:
        return len(self.__dataclass_fields__.keys() | self.metrics.keys())


class ModelBenchmark:
    """Measures one live model. A subclass's methods called measure_… are metrics of its own, in every report: each is
    called once per measurement, behind the timed loop, and returns a number, or a number and its unit. It may take `model`,
    `device` and `sample_input`, by these names."""

    def __init__(self, model: Any, sample_input: Any, device: str | None = None, name: str = "model") -> None:
        """`sample_input`: an array or tensor, the batch first. `device`: where the model must be; None: where it is."""
        self.model = model
        self.sample_input = sample_input
        self.device = device
        self.name = name
        self._record: Record | None = None
        self.results: ModelResult | None = None  # of run_all

    def run_all(
        self,
        batch_size: int | None = None,
        num_iterations: int = ITERATIONS,
        validation_loader: Iterable[Any] | None = None,
        *,
        warmup: int = WARMUP,
        key: Key | None = None,
    ) -> ModelResult:
        """Measures it. `batch_size`: the sample's items are repeated, or the first ones taken; None: the sample as it is.
        `validation_loader`: batches (inputs, labels) that the accuracy is computed from; `key`: where the two are in a batch that
        is not a pair, as AccuracyValidator has it."""
        suite = BenchmarkSuite(self.device)
        suite.add(self)
        results = suite.run_comparison(batch_size, num_iterations, validation_loader, warmup=warmup, key=key)
        self.results = results[self.name]
        self._record = suite.record
        return results[self.name]

    def counters(self) -> dict[str, tuple[float, str]]:
        """What the methods measure_… give."""
        found = {}
        for attribute in dir(self):
            method = getattr(self, attribute) if attribute.startswith(_MEASURE) else None
            if callable(method):
                value = method(**self._arguments_of(method))
                number, unit = value if isinstance(value, tuple) else (value, "")
                found[attribute.removeprefix(_MEASURE)] = (float(number), str(unit))
        return found

    def _arguments_of(self, method: Any) -> dict[str, Any]:
        """What a method that measures asks for, by its parameters' names."""
        known = {"model": self.model, "device": self._device_of_model, "sample_input": self.sample_input}
        given = {}
        for name, parameter in inspect.signature(method).parameters.items():
            if name in known:
                given[name] = known[name]() if name == "device" else known[name]
            elif parameter.default is parameter.empty and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise UsageError(f"{method.__name__} needs '{name}'; a method that measures may take {', '.join(known)}")
        return given

    def _device_of_model(self) -> str:
        from infermeter.live import device_of

        return self.device or device_of(self.model)

    @property
    def record(self) -> Record:
        """Everything that was measured (infermeter.Record)."""
        if self._record is None:
            raise UsageError(f"'{self.name}' was not measured yet: call run_all first")
        return self._record

    def print_report(self) -> None:
        """Prints everything that was found about the model."""
        print(self.record.text())

    def save_results(self, path: str | Path) -> None:
        """Writes the result as JSON: an object with the model's name as its only key."""
        if self.results is None:
            raise UsageError(f"'{self.name}' was not measured yet: call run_all first")
        _write_json(path, {self.results.name: self.results})


class BenchmarkSuite:
    """Measures live models by turns, the first as the baseline, and compares their outputs."""

    def __init__(self, device: str | None = None) -> None:
        self.device = device
        self._benchmarks: dict[str, ModelBenchmark] = {}
        self._record: Record | None = None
        self.results: dict[str, ModelResult] = {}  # of run_comparison, by name

    def add_model(self, name: str, model: Any, sample_input: Any) -> None:
        """A model to be measured, under a name of its own; the first one is the baseline."""
        self.add(ModelBenchmark(model, sample_input, self.device, name))

    def add(self, benchmark: ModelBenchmark) -> None:
        """A model with metrics of its own."""
        if benchmark.name in self._benchmarks:
            raise UsageError(f"there is a model '{benchmark.name}' already: give each its own name")
        for field_name in ModelResult.__dataclass_fields__:
            if field_name != "accuracy" and callable(getattr(benchmark, _MEASURE + field_name, None)):
                raise UsageError(f"{_MEASURE}{field_name}: every result has a {field_name} of its own: give the metric another name")
        self._benchmarks[benchmark.name] = benchmark

    def run_comparison(
        self,
        batch_size: int | None = None,
        num_iterations: int = ITERATIONS,
        validation_loader: Iterable[Any] | None = None,
        *,
        warmup: int = WARMUP,
        key: Key | None = None,
    ) -> dict[str, ModelResult]:
        """Results by name. What a model raises is raised again. `validation_loader`: batches (inputs, labels), or (inputs,
        masks), that the accuracy of each is computed from, and its change against the first one's on the same rows; `key`: where
        the two are in a batch that is not a pair, as AccuracyValidator has it."""
        from infermeter.live import accuracy_of, raise_error_of, run_live

        if not self._benchmarks:
            raise UsageError("there is no model to measure: call add_model first")
        benchmarks = list(self._benchmarks.values())
        models = {benchmark.name: benchmark.model for benchmark in benchmarks}
        accuracy = None if validation_loader is None else accuracy_of(models, validation_loader, key)
        rounds = 1 if len(benchmarks) == 1 else ROUNDS
        with tempfile.TemporaryDirectory(prefix="infermeter-") as folder:
            record = run_live(
                models,
                {benchmark.name: _batched(benchmark.sample_input, batch_size) for benchmark in benchmarks},
                counters={benchmark.name: benchmark.counters for benchmark in benchmarks},
                accuracy=accuracy,
                device=self.device,
                warmup=warmup,
                iterations=math.ceil(num_iterations / rounds),
                processes=rounds,
                output_dir=folder,
            )
        raise_error_of(record)
        self._record = record
        self.results = {name: _result_of(record, index) for index, name in enumerate(self._benchmarks)}
        return dict(self.results)

    @property
    def record(self) -> Record:
        """Everything that was measured (infermeter.Record)."""
        if self._record is None:
            raise UsageError("nothing was measured yet: call run_comparison first")
        return self._record

    def print_comparison(self) -> None:
        """A line per model, against the first one, and what can be recommended. `record.text()` says more."""
        record = self.record
        print(_comparison_table(self.results))
        recommendations = record.recommendations_text()
        if recommendations:
            print(f"\nRECOMMENDATIONS:\n{'-' * NARROW}\n\n{recommendations}", end="")

    def generate_report(self, path: str | Path) -> None:
        """By the ending of `path`: .html, .json, .csv, .md or .txt."""
        writers = {
            ".html": lambda: self.record.render("html"),
            ".json": lambda: self.record.render("json"),
            ".csv": lambda: self.record.render("csv"),
            ".md": lambda: self.record.render("markdown"),
            ".txt": lambda: self.record.text(),
        }
        ending = Path(path).suffix
        if ending not in writers:
            raise UsageError(f"a report cannot be written as '{path}': its name must end in {', '.join(writers)}")
        Path(path).write_text(writers[ending](), encoding="utf-8")

    def save_results(self, path: str | Path) -> None:
        """Writes the results as JSON: an object of results by the models' names, and nothing else."""
        if not self.results:
            raise UsageError("nothing was measured yet: call run_comparison first")
        _write_json(path, self.results)


def quick_benchmark(model: Any, sample_input: Any, batch_size: int | None = None, num_iterations: int = 50) -> ModelResult:
    """One model in few iterations: result["latency_ms"], result["throughput_fps"]."""
    return ModelBenchmark(model, sample_input).run_all(batch_size, num_iterations)


def _batched(sample: Any, batch_size: int | None) -> Any:
    """`batch_size` items: the sample's, repeated as often as it takes."""
    if batch_size is None:
        return sample
    if batch_size < 1:
        raise UsageError(f"batch_size={batch_size}: give at least 1")
    if isinstance(sample, (list, tuple)):
        return [_batched(part, batch_size) for part in sample]
    import numpy as np

    array = sample if hasattr(sample, "shape") else np.asarray(sample)
    if len(array.shape) == 0 or array.shape[0] == 0:
        raise UsageError(f"a sample of shape {tuple(array.shape)} has no items: its first dimension must be the batch")
    return array[np.arange(batch_size) % int(array.shape[0])]  # a list is no index to JAX


def _result_of(record: Record, subject: int) -> ModelResult:
    summary = record.verdict.subjects[subject].summary
    trials = [samples for samples in record.samples if samples.subject == subject]
    planned, facts = record.plan.subjects[subject], record.models[subject]

    notes: dict[str, str] = {}

    def known(name: str, value: float | None, why: str) -> float:
        if value is None:
            notes[name] = why
        return math.nan if value is None else value

    def figure(name: str, metric_name: str, scale: float) -> float:
        metric = summary.metric(metric_name)
        found, why = (None, "") if metric is None else (metric.estimate.value, metric.estimate.note)
        return known(name, None if found is None else found * scale, why or "it was not measured")

    def largest(*names: str) -> float | None:
        found = [[getattr(samples.memory, name) for samples in trials] for name in names]
        given = [[value for value in values if value is not None] for values in found]
        return next((max(values) * GB for values in given if values), None)

    metrics: dict[str, list[float]] = {}
    for samples in trials:
        for counter in samples.counters:
            metrics.setdefault(counter.name, []).append(counter.value)
    means = {name: sum(values) / len(values) for name, values in metrics.items()}
    accuracy = record.verdict.subjects[subject].accuracy
    return ModelResult(
        name=planned.label,
        latency_ms=figure("latency_ms", "latency_p50", MS),
        latency_p99_ms=figure("latency_p99_ms", "latency_p99", MS),
        throughput_fps=figure("throughput_fps", "throughput", 1),
        memory_allocated_gb=known("memory_allocated_gb", largest("device_peak", "rss_peak_inference"), "it was not measured"),
        model_size_mb=known("model_size_mb", facts.size_bytes * MB or None, "what it contains is not known"),
        parameters=known("parameters", facts.parameters, "what it contains is not known"),
        accuracy=known("accuracy", means.get("accuracy") if accuracy is None else accuracy.share, "there are no labels"),
        device=trials[0].executed.get("device", planned.device),
        dtype=trials[0].executed.get("dtype", planned.dtype),
        batch_size=planned.batch_size,
        iterations=sum(len(samples) for samples in trials),
        metrics=means,
        metadata={
            "machine": record.environment.processor,
            "run": record.id,
            "command": record.environment.command,
        },
        notes=notes,
    )


def _comparison_table(results: Mapping[str, ModelResult]) -> str:
    """Columns as an earlier tool had them; what was not measured is a dash."""
    baseline = next(iter(results.values()))
    width = max(20, *(len(name) for name in results))
    lines = ["=" * NARROW, "BENCHMARK COMPARISON", "=" * NARROW]
    titles = ("Latency (ms)", "Throughput (FPS)", "Memory (GB)", "Size (MB)")
    lines.append(_cells(width, "Model", *titles, "Accuracy"))
    lines.append("-" * WIDE)
    for name, result in results.items():
        ratio = baseline.latency_ms / result.latency_ms if result.latency_ms > 0 else math.nan
        beside = "(baseline)" if result is baseline else f"({ratio:.2f}x)"
        size, accuracy = _number(result.model_size_mb, 2), _number(result.accuracy, 4)
        fps, memory = _number(result.throughput_fps, 1), _number(result.memory_allocated_gb, 2)
        lines.append(_cells(width, name, f"{_number(result.latency_ms, 2)} {beside}", fps, memory, size, accuracy))
    return "\n".join([*lines, "=" * NARROW])


def _cells(width: int, name: str, *cells: str) -> str:
    widths = (20, 19, 15, 15, 8)
    return f"{name:<{width}} " + " ".join(f"{cell:<{size}}" for cell, size in zip(cells, widths, strict=True)).rstrip()


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"


def _write_json(path: str | Path, results: Mapping[str, ModelResult]) -> None:
    content = {name: plain(dataclasses.asdict(result)) for name, result in results.items()}
    Path(path).write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def plain(value: Any) -> Any:
    """JSON knows no NaN."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
