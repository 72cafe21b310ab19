"""Measures inference: speed, size and accuracy of a model on a runtime, and whether one is better than another.

    import infermeter

    record = infermeter.run("resnet50@onnxruntime", "resnet50@openvino", iterations=100)
    print(record.text())

Nothing is imported before it is used; figures are in base units (seconds, bytes, items per second).
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infermeter import metrics as metrics
    from infermeter import plot as plot
    from infermeter._core import Gate as Gate
    from infermeter._core import History as History
    from infermeter._core import OutputComparison as OutputComparison
    from infermeter._core import Plan as Plan
    from infermeter._core import Progress as Progress
    from infermeter._core import Record as Record
    from infermeter._core import Results as Results
    from infermeter._core import Samples as Samples
    from infermeter._core import Validation as Validation
    from infermeter._core import Verdict as Verdict
    from infermeter._core import backends as backends
    from infermeter._core import compare_outputs as compare_outputs
    from infermeter._core import environment as environment
    from infermeter._core import histories as histories
    from infermeter._core import judge_gate as judge_gate
    from infermeter._core import list_runs as list_runs
    from infermeter._core import load_baseline as load_baseline
    from infermeter._core import measure as measure
    from infermeter._core import models as models
    from infermeter._core import publish as publish
    from infermeter._core import set_baseline as set_baseline
    from infermeter._core import zoo_model_path as zoo_model_path
    from infermeter.backend import Port as Port
    from infermeter.compat.accuracy_validation import AccuracyValidator as AccuracyValidator
    from infermeter.compat.accuracy_validation import OutputComparator as OutputComparator
    from infermeter.compat.accuracy_validation import validate_optimization as validate_optimization
    from infermeter.compat.framework_runner import BenchmarkConfig as BenchmarkConfig
    from infermeter.compat.framework_runner import BenchmarkLogger as BenchmarkLogger
    from infermeter.compat.framework_runner import create_dataloader as create_dataloader
    from infermeter.compat.framework_runner import run_benchmark_suite as run_benchmark_suite
    from infermeter.compat.framework_runner import run_inference_benchmark as run_inference_benchmark
    from infermeter.compat.model_benchmark import BenchmarkSuite as BenchmarkSuite
    from infermeter.compat.model_benchmark import ModelBenchmark as ModelBenchmark
    from infermeter.compat.model_benchmark import ModelResult as ModelResult
    from infermeter.compat.model_benchmark import quick_benchmark as quick_benchmark
    from infermeter.compat.performance_benchmarker import BenchmarkResult as BenchmarkResult
    from infermeter.compat.performance_benchmarker import ComparisonResult as ComparisonResult
    from infermeter.compat.performance_benchmarker import PerformanceBenchmarker as PerformanceBenchmarker
    from infermeter.compat.performance_benchmarker import create_benchmarker as create_benchmarker
    from infermeter.compat.torch_settings import reset_memory_stats as reset_memory_stats
    from infermeter.compat.torch_settings import setup_gpu_optimizations as setup_gpu_optimizations
    from infermeter.errors import Error as Error
    from infermeter.errors import InternalError as InternalError
    from infermeter.errors import ModelError as ModelError
    from infermeter.errors import UsageError as UsageError
    from infermeter.errors import WorkerError as WorkerError
    from infermeter.factory import Model as Model
    from infermeter.live import run_live as run_live
    from infermeter.mlflow_runs import to_mlflow as to_mlflow
    from infermeter.runs import compare as compare
    from infermeter.runs import load as load
    from infermeter.runs import run as run
    from infermeter.runs import tune as tune
    from infermeter.runs import validate as validate
    from infermeter.runs import validate_recorded as validate_recorded
    from infermeter.runs import write_html as write_html
    from infermeter.variant_runs import variants as variants

    __version__: str

# Where each name is; looked for when it is first asked for.
_PLACES = {
    "infermeter._core": (
        "Gate History OutputComparison Plan Progress Record RecordedValidation Results Samples Validation Verdict "
        "backends compare_outputs environment histories judge_gate list_runs load_baseline measure models publish "
        "set_baseline zoo_model_path"
    ),
    "infermeter.compat.accuracy_validation": "AccuracyValidator OutputComparator validate_optimization",
    "infermeter.factory": "Model",
    "infermeter.compat.framework_runner": (
        "BenchmarkConfig BenchmarkLogger create_dataloader run_benchmark_suite run_inference_benchmark"
    ),
    "infermeter.live": "run_live",
    "infermeter.mlflow_runs": "to_mlflow",
    "infermeter.compat.model_benchmark": "BenchmarkSuite ModelBenchmark ModelResult quick_benchmark",
    "infermeter.compat.performance_benchmarker": (
        "BenchmarkResult ComparisonResult PerformanceBenchmarker create_benchmarker"
    ),
    "infermeter.compat.torch_settings": "reset_memory_stats setup_gpu_optimizations",
    "infermeter.backend": "Port",
    "infermeter.errors": "Error InternalError ModelError UsageError WorkerError",
    "infermeter.runs": "compare load run tune validate validate_recorded write_html",
    "infermeter.variant_runs": "variants",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("infermeter._core").version
    elif name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    elif not name.startswith("_") and find_spec(f"infermeter.{name}") is not None:
        value = import_module(f"infermeter.{name}")
    else:
        raise AttributeError(f"module 'infermeter' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
