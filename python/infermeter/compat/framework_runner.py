"""A runner over frameworks, models and batch sizes, into CSV: the names of an earlier tool, on the one engine.

    config = BenchmarkConfig(framework="pytorch", model_name="resnet50", batch_sizes=[1, 8])
    for result in run_inference_benchmark(config):
        print(result["batch_size"], result["latency_p50_ms"])
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infermeter.errors import UsageError
from infermeter.record import TEXT_COLUMNS, read_csv

if TYPE_CHECKING:
    import numpy as np
    import pandas

    from infermeter._core import Record

__all__ = ["BenchmarkConfig", "BenchmarkLogger", "create_dataloader", "run_benchmark_suite", "run_inference_benchmark"]

BATCH_SIZES = (1, 8, 32, 128)
OUTPUT_DIR = "results/raw"


@dataclass
class BenchmarkConfig:
    """One framework and one model at several batch sizes."""

    framework: str = "pytorch"
    model_name: str = "resnet50"
    device_prefer: str | None = None  # None: what the framework puts first
    batch_sizes: Sequence[int] = field(default_factory=lambda: list(BATCH_SIZES))
    warmup_iterations: int = 10
    measurement_iterations: int = 50  # per process
    input_shape: Sequence[int] | None = None  # of one item; None: the model's own
    dtype: str = "float32"
    data_source: str = "synthetic"  # or a path (docs/guide.md)
    csv_output_dir: str = OUTPUT_DIR
    verbose: bool = True
    processes: int = 3  # fresh worker processes per configuration: the independent repetitions


def run_inference_benchmark(config: BenchmarkConfig) -> list[dict[str, Any]]:
    """A dict per batch size, with the names of the CSV's columns. A number that is not known is NaN, as in a DataFrame of the
    CSV; "notes" has the reason by the column's name. Rows are on disk, in `csv_output_dir`, before this returns. A batch size
    that fails has its reason in "message", and does not stop the others."""
    return _measured(config, [config.framework], [config.model_name])


def run_benchmark_suite(
    models: Sequence[str] = ("resnet50", "vit_b_16"),
    frameworks: Sequence[str] = ("pytorch", "jax"),
    batch_sizes: Sequence[int] = BATCH_SIZES,
    **config: Any,
) -> list[dict[str, Any]]:
    """Every model on every framework at every batch size, side by side in one run; `config`: fields of
    BenchmarkConfig."""
    known = ["models", "frameworks", *(name for name in BenchmarkConfig.__dataclass_fields__ if name not in ("framework", "model_name"))]
    unknown = config.keys() - set(known)
    if unknown:
        raise UsageError(f"run_benchmark_suite knows no '{min(unknown)}'; it takes {', '.join(known)}")
    return _measured(BenchmarkConfig(batch_sizes=batch_sizes, **config), frameworks, models)


def _measured(config: BenchmarkConfig, frameworks: Sequence[str], models: Sequence[str]) -> list[dict[str, Any]]:
    import infermeter

    settings: dict[str, Any] = {
        "models": list(models),
        "backends": list(frameworks),
        "batch_sizes": list(config.batch_sizes),
        "dtype": config.dtype,
        "device": config.device_prefer or "auto",
        "warmup": config.warmup_iterations,
        "iterations": config.measurement_iterations,
        "processes": config.processes,
        "data": config.data_source,
        "output_dir": str(config.csv_output_dir),
    }
    if config.input_shape is not None:
        settings["options"] = {"input_shape": "x".join(map(str, (1, *config.input_shape)))}
    record = infermeter.run(progress=config.verbose, **settings)
    file = _csv_file(Path(config.csv_output_dir), record.created_at)
    record.to_csv(file)
    if config.verbose:
        print(record.text())
        print(f"Results saved to: {file}")
    return _rows(record)


def _csv_file(folder: Path, created_at: float) -> Path:
    """Named by the second in which the run began; never one that is there."""
    name = "benchmark_results_" + time.strftime("%Y%m%d_%H%M%S", time.gmtime(created_at))
    file, number = folder / f"{name}.csv", 2
    while file.exists():
        file, number = folder / f"{name}_{number}.csv", number + 1
    return file


# Of metrics that are not called as their columns are.
_COLUMNS = {
    "throughput": "throughput_ips",
    "memory_peak": "memory_resident_mb",
    "device_memory_peak": "memory_device_mb",
    "compile_time": "compilation_time_ms",
    "first_inference_time": "first_inference_ms",
}


def _rows(record: Record) -> list[dict[str, Any]]:
    rows = [_typed(row) for row in csv.DictReader(record.render("csv").splitlines())]
    for row, subject in zip(rows, record.verdict.subjects, strict=True):
        reasons = {_COLUMNS.get(metric.name, f"{metric.name}_ms"): metric.estimate.note for metric in subject.summary.metrics}
        row["notes"] = {name: reasons.get(name) or "it was not measured" for name, value in row.items() if value != value}
    return rows


def _typed(row: Mapping[str, str]) -> dict[str, Any]:
    return {name: text if name in TEXT_COLUMNS else _number(text) for name, text in row.items()}


def _number(text: str) -> float | int | str:
    if text == "":
        return math.nan
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class BenchmarkLogger:
    """CSV files of results, read again."""

    def __init__(self, output_dir: str = OUTPUT_DIR, filename: str | None = None) -> None:
        """`filename`: one of them; None: the newest."""
        self._folder = Path(output_dir)
        self._filename = filename

    @property
    def path(self) -> Path:
        """The file that is read."""
        if self._filename is not None:
            return self._folder / self._filename
        files = sorted(self._folder.glob("benchmark_results_*.csv"))
        if not files:
            raise UsageError(f"there are no results (benchmark_results_*.csv) in {self._folder}: measure first")
        return files[-1]

    def read_results(self) -> pandas.DataFrame:
        """The file's rows, one per model, framework and batch size."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise UsageError("read_results needs pandas, which is not installed: pip install pandas") from None
        if not self.path.is_file():
            raise UsageError(f"there is no file {self.path}: look at output_dir and filename")
        return read_csv(self.path)


def create_dataloader(
    data_source: str = "synthetic",
    batch_size: int = 1,
    input_shape: Sequence[int] = (3, 224, 224),
    limit: int = 1,
    seed: int = 1,
) -> Iterator[np.ndarray]:
    """The batches that subjects are run on: float32 arrays of (batch_size, *input_shape) from `data_source`
    ("synthetic", a folder of images, a .npy or .npz file), at most `limit` of them (0: all)."""
    from infermeter import _core

    shape = (batch_size, *input_shape)
    for (array,) in _core.make_data(data_source, [("input", "float32", shape)], limit=limit, seed=seed):
        yield array
