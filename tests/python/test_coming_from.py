"""The examples of earlier tools' own documents, their text unchanged but for the import. What is expensive in them is made
small from outside: the zoo's smallest model, few iterations, the processor where they say "cuda"."""

import functools
import json
import math
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent / "earlier_tools"
IMPORTS = re.compile(r"^from (bench\.runner|utils\.\w+|cyto_dl\.utils\.\w+) import ", re.M)


def examples(name):
    parts = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").split("# ---\n")
    return [IMPORTS.sub("from infermeter import ", part) for part in parts]


def test_every_import_is_one_of_ours():
    for name in ("framework_runner", "benchmark_suite"):
        for line in re.findall(r"^from .*", "\n".join(examples(name)), re.M):
            assert line.startswith("from infermeter import "), line


# A benchmarker of live models, called as its interface was.

@pytest.fixture
def x():
    return np.random.default_rng(2).uniform(-1, 1, (2, 16)).astype(np.float32)


def double(a):
    return a * 2


def test_the_benchmarkers_results(im, x):
    benchmarker = im.PerformanceBenchmarker(1, 10)
    result = benchmarker.benchmark_model(double, x, "double", "function", False, {"commit": "abc"})
    assert benchmarker.results == {"double": result} and benchmarker.results["double"].num_iterations == 10
    assert (result.model_type, result.metadata, result.device) == ("function", {"commit": "abc"}, "cpu")
    assert re.fullmatch(r"double: \d+\.\d{3} ms ± \d+\.\d{3}, 10 iterations, \d+\.\d MB", str(result))
    assert benchmarker.export_results()["double"]["metadata"] == {"commit": "abc"}
    comparison = benchmarker.compare_models(double, double, x, "a", "b", 1.05)
    assert set(benchmarker.results) == {"double", "a", "b"} and not comparison.is_improvement
    assert re.fullmatch(r"\d+\.\d\dx as fast, no interval; .\d+\.\d MB; no improvement that is shown", str(comparison))
    benchmarker.clear_results()
    assert benchmarker.results == {}
    with pytest.raises(im.Error, match="has no option 'grad'"):
        benchmarker.benchmark_model(double, x, enable_grad=True)


def test_the_equivalence_tests_arguments_in_their_order(im, x):
    same, largest, details = im.PerformanceBenchmarker().validate_numerical_equivalence(double, lambda a: a * 2 + 1e-3, x, 1e-2, 3)
    assert same and details["num_samples"] == 3 and details["tolerance"] == 1e-2 and details["max_overall_diff"] == largest


def test_a_benchmarker_of_a_training_configuration(im):
    class Training:
        learning_rate = 0.1
        compilation_warmup_steps = 7
        enable_compilation_benchmarking = True

    benchmarker = im.create_benchmarker(Training())
    assert (benchmarker.warmup_iterations, benchmarker.enable_profiling) == (7, True)
    Training.benchmark_iteratons = 3
    with pytest.raises(im.UsageError, match="knows no 'benchmark_iteratons': did you mean 'benchmark_iterations'"):
        im.create_benchmarker(Training())
    with pytest.raises(im.UsageError, match="knows no 'iterations': it takes warmup_iterations, "):
        im.create_benchmarker({"iterations": 3})


def test_many_outliers_are_an_alarm(im):
    note = SimpleNamespace(id="outliers_removed", severity="warning", message="25 of 100 are removed")
    alarm = SimpleNamespace(id="many_outliers_removed", severity="error", message="25 of 100 are removed, so few that …")
    said = []
    benchmarker = im.PerformanceBenchmarker(logger_func=said.append)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert benchmarker._tell("it", [note]) == ("25 of 100 are removed",)
    with pytest.warns(UserWarning, match="it: 25 of 100 are removed, so few that"):
        assert benchmarker._tell("it", [note, alarm]) == ("25 of 100 are removed, so few that …",)
    assert said == ["it: 25 of 100 are removed", "it: 25 of 100 are removed, so few that …"]


def test_outliers_of_a_threshold_are_told(im, x):
    """All but the iterations nearest to the mean: whatever the times are, some lie apart."""
    benchmarker = im.PerformanceBenchmarker(0, 60, outlier_threshold=0.01)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = benchmarker.benchmark_model(double, x, "it")
    reported = [message for message in result.warnings if "the rule sigma:0.01" in message]
    assert reported and (len(caught) == 1) == (result.outliers_removed > 12)
    assert all(warning.filename == __file__ for warning in caught)


# A runner over frameworks.

@pytest.fixture
def small_runs(im, monkeypatch):
    """infermeter.run with the smallest model on back ends of C++; what was asked for is listed."""
    asked = []
    whole = im.run

    def run(**settings):
        asked.append(dict(settings))
        small = {"models": ["mlp"], "backends": ["onnxruntime", "fake"][:len(settings["backends"])], "batch_sizes": [1, 2],
                 "iterations": 10, "warmup": 1, "processes": 1, "device": "auto"}
        return whole(**settings | small)

    monkeypatch.setattr(im, "run", run)
    return asked


def test_the_runners_examples(im, small_runs, capsys):
    both, read, deep_dive, data, device, precision, _ = examples("framework_runner")
    place = {}
    exec(both, place)
    assert small_runs[0]["models"] == ["resnet50"] and small_runs[0]["batch_sizes"] == [1, 8, 32, 128]
    assert small_runs[1]["models"] == ["resnet50", "vit_b_16"] and small_runs[1]["backends"] == ["pytorch", "jax"]
    assert {"batch_size", "latency_p50_ms", "throughput_ips", "memory_mb"} <= place["results"][0].keys()

    exec(deep_dive, place)
    assert re.search(r"^Batch 2: \d+\.\d\dms, \d+\.\d img/s$", capsys.readouterr().out, re.M)
    assert small_runs[2]["iterations"] == 100 and small_runs[2]["warmup"] == 20

    (file, *_) = sorted(Path("results/raw").glob("*.csv"))
    file.rename("results/raw/benchmark_results_20250101_120000.csv")
    exec(read, place)
    assert list(place["df"]["framework"]) == ["onnxruntime"] * 2 and len(place["pytorch_resnet"]) == 0

    for example in (data, device, precision):
        exec(example, place)
    assert (place["config"].dtype, place["config"].data_source) == ("float16", "synthetic")


def test_data_that_are_not_there_are_found_before_anything_runs(im):
    place = {}
    exec(examples("framework_runner")[0].split("results =")[0] + examples("framework_runner")[3], place)
    with pytest.raises(im.UsageError, match="there is no 'data/imagenet100'"):
        im.run_inference_benchmark(place["config"])
    assert not list(Path("results/raw").glob("*.csv"))


def test_the_plot_of_the_runners_csv(im, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed: scripts/setup --with plot")
    monkeypatch.setattr(plt, "show", lambda: None)
    im.run_inference_benchmark(im.BenchmarkConfig("fake", "mlp", batch_sizes=[1], measurement_iterations=5, processes=1,
                                                  verbose=False))
    im.BenchmarkLogger().path.rename("results/raw/benchmark_results_20250101_120000.csv")
    exec(examples("framework_runner")[6], {})
    plt.close("all")


def test_memory_peaks_begin_anew(im):
    assert im.reset_memory_stats() is None


# Model benchmarking tools.

def test_a_metric_that_takes_the_model_and_its_device(im):
    (example,) = examples("model_benchmark")
    seen = []
    result = 4.5
    place = {"ModelBenchmark": im.ModelBenchmark, "result": result}
    exec(example, place)
    model = seen.append
    benchmark = place["CustomBenchmark"](lambda a: a, np.ones((2, 4), np.float32), name="mine")
    assert benchmark.run_all(num_iterations=5, warmup=0)["custom_metric"] == 4.5
    assert model  # the example's method does not look at it

    class Looks(im.ModelBenchmark):
        def measure_what_it_is_given(self, model, device, sample_input):
            seen.append((model, device, sample_input))
            return 1

    def double(a):
        return a * 2

    x = np.ones((2, 4), np.float32)
    Looks(double, x).run_all(num_iterations=5, warmup=0)
    assert seen == [(double, "cpu", x)] or (seen[0][0] is double and seen[0][1] == "cpu" and seen[0][2] is x)

    class Wants(im.ModelBenchmark):
        def measure_more(self, model, energy):
            return 1

    with pytest.raises(im.UsageError, match="measure_more needs 'energy'; a method that measures may take model, device, sample_input"):
        Wants(double, x).run_all(num_iterations=5, warmup=0)


# Benchmarks and validation of image models.

@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="pytorch is not installed: scripts/setup --with pytorch")


@pytest.fixture
def suite_place(im, torch, monkeypatch):
    """What the examples take for granted: models, inputs, a loader."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(3)
    plain = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(4, 1, 3, padding=1))
    x = torch.rand(1, 1, 16, 16)
    # What it compiles is not what is tested here.
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    if not torch.cuda.is_available():
        monkeypatch.setattr(torch.Tensor, "cuda", lambda self: self)
        monkeypatch.setattr(torch.cuda, "manual_seed", lambda seed: None)
    monkeypatch.setattr(torch, "randn", lambda *shape: torch.rand(1, 1, 16, 16))
    loader = [torch.rand(2, 1, 16, 16) for _ in range(3)]
    names = "model model1 model2 model_a model_b model_fp32 model_quantized model_baseline model_optimized model_phase1 model_trt"
    yield dict.fromkeys(names.split(), plain) | {
        "torch": torch, "sample_input": x, "input1": x, "input2": x, "input_tensor": x, "val_loader": loader,
        "load_model": lambda path: plain}
    torch.set_num_threads(threads)


def test_the_suites_examples(im, torch, suite_place, capsys):
    deterministic = torch.backends.cudnn.deterministic
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no GPU
            for example in examples("benchmark_suite"):
                if not torch.cuda.is_available():
                    example = example.replace('device="cuda"', 'device="cpu"')
                exec(example, suite_place)
    finally:
        torch.backends.cudnn.deterministic = deterministic
    printed = capsys.readouterr().out
    assert "✓ Safe to deploy!" in printed and "✓ Accuracy maintained!" in printed
    assert re.search(r"^Latency: \d+\.\d\d ms$", printed, re.M) and re.search(r"^Throughput: \d+\.\d FPS$", printed, re.M)
    assert "BENCHMARK COMPARISON" in printed and re.search(r"^phase2_trt +\d", printed, re.M)
    assert "MAE: 0.0" in printed and "PSNR: inf dB" in printed
    assert list(json.loads(Path("results.json").read_text())) == ["model"]
    for page in ("comparison.html", "report.html", "optimization_report.html"):
        assert Path(page).read_text().startswith("<!doctype html>")


def test_a_saved_suite_holds_its_models_and_nothing_else(im):
    suite = im.BenchmarkSuite()
    x = np.ones((2, 4), np.float32)
    for name in ("metadata", "other"):
        suite.add_model(name, lambda a: a * 2, x)
    suite.run_comparison(num_iterations=10)
    suite.save_results("results.json")
    saved = json.loads(Path("results.json").read_text())
    assert list(saved) == ["metadata", "other"]
    for name, result in saved.items():
        assert result["name"] == name and result["latency_ms"] > 0 and result["iterations"] == 10
        assert result["metadata"]["machine"] and result["metadata"]["run"]
        assert result["model_size_mb"] is None and result["parameters"] is None  # of a function nobody knows them


def test_a_validator_without_models_takes_those_of_the_last_one(im):
    loader = [np.ones((2, 4), np.float32)]
    double, nearly = (lambda a: a * 2), (lambda a: a * 2.03)
    strict = im.AccuracyValidator(double, nearly, loader, tolerance=0.01)
    assert not strict.validate()["passed"]
    assert im.AccuracyValidator(tolerance=0.02).validate()["passed"]
    del strict
    with pytest.raises(im.UsageError, match="AccuracyValidator needs baseline_model"):
        im.AccuracyValidator(tolerance=0.02).validate()


# Batches that are no pairs.

class Batch:
    def __init__(self, image, label):
        self.image, self.label = image, label


LABELS = np.array([0, 1, 1, 0])
IMAGES = np.eye(4, 2, dtype=np.float32) + np.array([[0, 0], [0, 0], [0, 1], [1, 0]], np.float32)


@pytest.mark.parametrize("batch, key", [
    ({"raw": IMAGES, "target": LABELS, "name": "a"}, ("raw", "target")),
    (Batch(IMAGES, LABELS), ("image", "label")),
    (("a", IMAGES, LABELS), (1, 2)),
    ({"raw": IMAGES, "target": LABELS}, lambda batch: (batch["raw"], batch["target"])),
])
def test_loaders_of_any_batches(im, batch, key):
    same = lambda a: a * 2
    validator = im.AccuracyValidator(same, same, [batch], key=key)
    found = validator.validate()
    assert found["passed"] and found["metrics"].baseline_accuracy == 1
    only_input = (lambda batch: key(batch)[0]) if callable(key) else key[0]
    assert im.validate_optimization(same, same, [batch], key=only_input)
    suite = im.BenchmarkSuite()
    suite.add_model("it", same, IMAGES)
    assert suite.run_comparison(num_iterations=5, validation_loader=[batch], key=key)["it"].accuracy == 1


@pytest.mark.parametrize("batch, key, said", [
    ({"raw": IMAGES, "target": LABELS}, None, "a mapping with 'raw', 'target': say with key= which is the input"),
    (Batch(IMAGES, LABELS), None, "an object of type Batch: say with key= which attribute is the input"),
    ((1, 2, 3), None, "gave 3 things at once"),
    ({"raw": IMAGES}, "image", "a batch without 'image': it has 'raw'"),
    (Batch(IMAGES, LABELS), "picture", "a batch without 'picture': it is a Batch"),
    ((IMAGES,), (0, 5), "a batch without 5"),
])
def test_batches_that_cannot_be_taken_apart(im, batch, key, said):
    with pytest.raises(im.UsageError, match=said):
        im.AccuracyValidator(double, double, [batch], key=key).validate()


# Figures that are not known.

def test_figures_that_are_not_known_print_as_the_others_do(im, x):
    result = im.quick_benchmark(double, x, num_iterations=5)
    unknown = [name for name in ("latency_p99_ms", "model_size_mb", "parameters", "accuracy") if f"{result[name]:.2f}" == "nan"]
    assert len(unknown) == 4 and set(unknown) <= result.notes.keys() and all(result.notes.values())
    assert "iterations" in result.notes["latency_p99_ms"] and "latency_p99_ms nan" in f"latency_p99_ms {result['latency_p99_ms']:.1f}"
    assert not {name for name, value in result.items() if value is None}
    few = im.PerformanceBenchmarker(1, 5).benchmark_model(double, x)
    assert math.isnan(few.median_time_ms) and "iterations" in few.notes["median_time_ms"] and "min_time_ms" not in few.notes
    comparison = im.PerformanceBenchmarker(1, 10).compare_models(double, double, x)
    assert f"{comparison.speedup_low:.2f} {comparison.speedup_high:.2f}" == "nan nan"
    metrics = im.AccuracyValidator(double, double, [x[:1, :1]]).validate()["metrics"]
    names = "mae mse rmse psnr ssim max_difference max_absolute_diff relative_error cosine_similarity baseline_accuracy".split()
    assert all(f"{getattr(metrics, name):.4f}" for name in names) and f"{metrics.ssim:.4f} {metrics.baseline_accuracy:.2%}" == "nan nan%"


def test_json_has_null_for_what_is_not_known(im, x, tmp_path):
    class Unknown(im.ModelBenchmark):
        def measure_share(self):
            return float("nan")

    suite = im.BenchmarkSuite()
    suite.add(Unknown(double, x, name="it"))
    suite.run_comparison(num_iterations=5)
    suite.save_results(tmp_path / "results.json")
    refuse = lambda text: pytest.fail(f"{text} is no JSON")
    held = json.loads((tmp_path / "results.json").read_text(), parse_constant=refuse)["it"]
    assert held["metrics"] == {"share": None} and held["parameters"] is None
    benchmarker = im.PerformanceBenchmarker(1, 5)
    benchmarker.benchmark_model(double, x, "it", metadata={"loss": [float("inf")]})
    assert benchmarker.export_results()["it"]["metadata"] == {"loss": [None]}


def test_figures_of_a_runner_that_are_not_known_have_a_reason(im, tmp_path):
    config = im.BenchmarkConfig(framework="fake", model_name="mlp", batch_sizes=[1], measurement_iterations=5, processes=1, verbose=False,
                                csv_output_dir=str(tmp_path))
    (result,) = im.run_inference_benchmark(config)
    unknown = {name for name, value in result.items() if isinstance(value, float) and math.isnan(value)}
    assert "memory_device_mb" in unknown and unknown == result["notes"].keys() and all(result["notes"].values())
    with pytest.raises(im.UsageError, match="run_benchmark_suite knows no 'framework'; it takes models, frameworks, device_prefer, batch_sizes"):
        im.run_benchmark_suite(["mlp"], ["fake"], [1], framework="x", model_name="y")


# Metrics of one's own.

def test_a_metric_called_as_a_figure_is_refused_but_for_the_accuracy(im, x):
    class Timed(im.ModelBenchmark):
        def measure_latency_ms(self):
            return 1.0

    with pytest.raises(im.UsageError, match="measure_latency_ms: every result has a latency_ms of its own"):
        Timed(double, x).run_all(num_iterations=5)

    class Accurate(im.ModelBenchmark):
        def measure_accuracy(self):
            return 0.5

    result = Accurate(lambda a: a, x).run_all(num_iterations=5, validation_loader=[(IMAGES, LABELS)])
    assert result.accuracy == result["accuracy"] != 0.5 and result.metrics["accuracy"] == 0.5
    assert len(result) == len(list(result)) == len(set(result))


# Settings of PyTorch.

def test_gpu_settings_need_a_gpu(im, torch):
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark
    with pytest.warns(UserWarning, match="set nothing: PyTorch finds no CUDA GPU here"):
        assert im.setup_gpu_optimizations() == {"gpu": "CPU"}
    assert before == (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark)


def test_gpu_settings(im, torch, monkeypatch):
    """With PyTorch told that there is a GPU: what is set can be set without one."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: "a GPU")
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark
    matmul = torch.backends.cuda.matmul.allow_tf32
    try:
        torch.backends.cudnn.allow_tf32 = False
        applied = im.setup_gpu_optimizations()
        assert applied == {"gpu": "a GPU", "matmul_precision": "high", "tf32_enabled": True, "cudnn_benchmark": True,
                           "channels_last_recommended": True}
        assert torch.get_float32_matmul_precision() == "high"
        assert torch.backends.cudnn.allow_tf32 and torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.benchmark
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cuda.matmul.allow_tf32 = matmul
        torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark = before[1:]
