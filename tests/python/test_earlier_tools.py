"""The names of earlier tools, used as their own documents use them; only the import line differs."""

import gc
import json
import math
import re
import time

import numpy as np
import pytest

COLUMNS = ("framework model device device_type batch_size input_shape dtype latency_p50_ms latency_p95_ms latency_p99_ms "
           "latency_mean_ms latency_std_ms latency_min_ms latency_max_ms throughput_ips memory_mb compilation_time_ms "
           "timestamp git_commit").split()


@pytest.fixture
def x():
    return np.random.default_rng(2).uniform(-1, 1, (2, 16)).astype(np.float32)


def double(a):
    return a * 2


# A runner over frameworks, into CSV.

def test_one_configuration(im, capsys):
    config = im.BenchmarkConfig(framework="onnxruntime", model_name="mlp", batch_sizes=[1, 4], warmup_iterations=2,
                                measurement_iterations=60, processes=2, verbose=True)
    results = im.run_inference_benchmark(config)
    assert [result["batch_size"] for result in results] == [1, 4]
    assert set(COLUMNS) <= results[0].keys() and list(results[0])[:len(COLUMNS)] == COLUMNS
    for result in results:
        assert 0 < result["latency_min_ms"] <= result["latency_p50_ms"] <= result["latency_p95_ms"]
        assert result["memory_mb"] > 1 and result["device_type"] == "cpu" and result["framework"] == "onnxruntime"
        assert f"{result['compilation_time_ms']:.2f} {result['latency_p99_ms']:.2f}" == "nan nan"  # 120 of 299 iterations
        assert "299" in result["notes"]["latency_p99_ms"] and "latency_p50_ms" not in result["notes"]
    printed = capsys.readouterr().out
    file = re.search(r"Results saved to: (results/raw/benchmark_results_\d{8}_\d{6}\.csv)", printed).group(1)

    frame = im.BenchmarkLogger(output_dir="results/raw", filename=file.rsplit("/", 1)[1]).read_results()
    chosen = frame[(frame["framework"] == "onnxruntime") & (frame["model"] == "mlp")]
    assert chosen[["batch_size", "latency_p50_ms", "throughput_ips", "memory_mb"]].shape == (2, 4)
    assert im.BenchmarkLogger().read_results().equals(frame)  # the newest


def test_a_suite_is_one_run_and_a_subject_that_fails_stops_no_other(im):
    results = im.run_benchmark_suite(models=["mlp"], frameworks=["onnxruntime", "fake"], batch_sizes=[1, 2],
                                     measurement_iterations=20, warmup_iterations=1, processes=1, verbose=False,
                                     csv_output_dir="elsewhere")
    assert [(row["framework"], row["batch_size"]) for row in results] == [
        ("onnxruntime", 1), ("fake", 1), ("onnxruntime", 2), ("fake", 2)]
    assert len({row["run"] for row in results}) == 1
    with pytest.raises(im.UsageError, match="knows no 'iteratons'"):
        im.run_benchmark_suite(iteratons=3)


def test_results_that_are_not_there_are_one_sentence(im):
    with pytest.raises(im.UsageError, match="there are no results .* in results/raw: measure first"):
        im.BenchmarkLogger().read_results()
    with pytest.raises(im.UsageError, match="there is no file results/raw/other.csv"):
        im.BenchmarkLogger(filename="other.csv").read_results()


def test_two_files_of_one_second_are_two_files(im, tmp_path):
    from infermeter.compat.framework_runner import _csv_file

    first = _csv_file(tmp_path, 0.0)
    assert first.name == "benchmark_results_19700101_000000.csv"
    first.touch()
    assert _csv_file(tmp_path, 0.0).name == "benchmark_results_19700101_000000_2.csv"


def test_batches(im):
    (batch,) = im.create_dataloader(batch_size=4, input_shape=(3, 8, 8))
    assert batch.shape == (4, 3, 8, 8) and batch.dtype == np.float32 and -1 <= batch.min() < batch.max() <= 1
    np.save("data.npy", np.arange(24, dtype=np.float32).reshape(6, 4))
    batches = list(im.create_dataloader("data.npy", batch_size=2, input_shape=(4,), limit=0))
    assert [batch[0, 0] for batch in batches] == [0, 8, 16]
    with pytest.raises(im.Error, match="nothing.npy"):
        list(im.create_dataloader("nothing.npy", input_shape=(4,)))


# A benchmarker of live models.

def test_benchmark_model(im, x):
    said = []
    benchmarker = im.PerformanceBenchmarker(warmup_iterations=2, benchmark_iterations=50, logger_func=said.append)
    result = benchmarker.benchmark_model(double, x, "double")
    assert 0 < result.min_time_ms <= result.median_time_ms <= result.max_time_ms
    assert result.min_time_ms <= result.mean_time_ms <= result.max_time_ms and result.std_time_ms >= 0
    assert result.num_iterations == 50 and result.outliers_removed == 0
    assert result.memory_peak_mb > 1 and result.memory_allocated_mb > 1  # never 0 on a processor
    assert result.speedup_vs(result) == 1 and result.memory_change_vs(result) == 0
    assert any("double" in line and "50 iterations" in line for line in said)
    assert benchmarker.get_result("double") == result and benchmarker.get_result("other") is None
    assert benchmarker.get_all_results() == {"double": result}
    exported = benchmarker.export_results()
    assert json.loads(json.dumps(exported, allow_nan=False))["double"]["num_iterations"] == 50
    benchmarker.clear_results()
    assert benchmarker.get_all_results() == {} and "double" in exported


def test_what_a_model_raises_is_raised(im, x):
    def fail(a):
        raise ZeroDivisionError("inside")

    with pytest.raises(ZeroDivisionError, match="inside"):
        im.PerformanceBenchmarker(benchmark_iterations=10).benchmark_model(fail, x, "fail")


def test_outliers_are_removed_only_where_that_is_asked_for(im, x):
    import time

    def slow_once():
        calls = []

        def call(a):
            calls.append(a)
            if len(calls) == 30:
                end = time.perf_counter() + 0.2
                while time.perf_counter() < end:
                    pass
            return a

        return call

    kept = im.PerformanceBenchmarker(2, 50).benchmark_model(slow_once(), x, "kept")
    removed = im.PerformanceBenchmarker(2, 50, outlier_threshold=3.0).benchmark_model(slow_once(), x, "removed")
    assert kept.outliers_removed == 0 and kept.max_time_ms > 199
    assert removed.outliers_removed >= 1 and removed.max_time_ms < 199


def test_compare_models_measures_by_turns_and_compares_outputs(im, x):
    order = []
    result = im.PerformanceBenchmarker(1, 50).compare_models(
        lambda a: order.append("a") or a, lambda a: order.append("b") or a, x)
    assert (result.baseline.name, result.optimized.name) == ("baseline", "optimized")
    turns = re.sub(r"(.)\1*", r"\1", "".join(order))
    assert len(turns) >= 5  # rounds, not one behind the other
    assert result.outputs_agree and "speed" in result.report.lower()
    assert result.is_improvement == (result.speedup_low is not None and result.speedup_low > 1)
    assert result.memory_change_mb == result.optimized.memory_peak_mb - result.baseline.memory_peak_mb
    slower = im.PerformanceBenchmarker(1, 50).compare_models(
        lambda a: a, lambda a: sum(a[0, 0] for _ in range(20_000)) * a + 1, x)
    assert slower.speedup < 0.5 and not slower.is_improvement and slower.outputs_agree is False
    with pytest.raises(im.UsageError, match="cannot both be called 'one'"):
        im.PerformanceBenchmarker().compare_models(double, double, x, "one", "one")


def test_models_that_write_to_their_input_are_compared_all_the_same(im, x):
    before, buffer = x.copy(), np.empty_like(x)

    def adds(a):
        a += 1
        return a

    def triples(a):
        a *= 3
        return a

    benchmarker = im.PerformanceBenchmarker()
    assert not benchmarker.validate_numerical_equivalence(adds, triples, x)[0]
    assert benchmarker.validate_numerical_equivalence(adds, adds, x)[0], "the second one does not get what the first one left"
    assert not benchmarker.validate_numerical_equivalence(lambda a: np.add(a, 1, out=buffer), lambda a: np.multiply(a, 3, out=buffer), x)[0]
    assert (x == before).all()


def test_numerical_equivalence(im, x):
    benchmarker = im.PerformanceBenchmarker()
    good, largest, details = benchmarker.validate_numerical_equivalence(double, lambda a: a * 2 + 5e-6, x)
    assert good and largest == pytest.approx(5e-6, rel=0.1) and details["num_samples"] == 10
    good, largest, details = benchmarker.validate_numerical_equivalence(double, lambda a: a * 2 + 1e-3, x, num_samples=4)
    assert not good and largest == pytest.approx(1e-3, rel=0.01) and details["num_failed"] == 4
    # Only a noisy input shows the difference.
    exact = x.copy()
    trap = lambda a: a * 2 if np.array_equal(a, exact) else a * 3
    assert benchmarker.validate_numerical_equivalence(double, trap, x, num_samples=1)[0]
    assert not benchmarker.validate_numerical_equivalence(double, trap, x, num_samples=2)[0]
    assert benchmarker.validate_numerical_equivalence(double, lambda a: a[:1] * 2, x)[1] == math.inf
    assert benchmarker.validate_numerical_equivalence(double, lambda a: a * np.nan, x)[:2] == (False, math.inf)


def test_numerical_equivalence_of_several_inputs(im, x):
    benchmarker, seen = im.PerformanceBenchmarker(), []
    tokens = np.array([[3, 10, 2]])

    def look(a, b):
        seen.append((a.copy(), b.copy()))
        return a + b.sum()

    good, _, details = benchmarker.validate_numerical_equivalence(look, look, [x, tokens], num_samples=4, valid_range=(-9, 9))
    assert good and details["num_samples"] == 4 and len(seen) == 8
    assert all(a.shape == x.shape and np.array_equal(b, tokens) for a, b in seen) and not np.array_equal(seen[0][0], seen[-1][0])
    shapes = []
    benchmarker.validate_numerical_equivalence(lambda a: shapes.append(a.shape) or a, double, [x], num_samples=2)
    assert set(shapes) == {x.shape}


def test_noise_stays_inside_the_valid_range(im):
    # Three channels of their own ranges; the second is a mask of zeros and ones.
    given = np.stack([np.linspace(0, 255, 64), np.arange(64) % 2, np.full(64, -3.0)]).astype(np.float32)[None]
    seen = []

    def look(a):
        seen.append(a.copy())
        return a

    benchmarker = im.PerformanceBenchmarker()
    benchmarker.validate_numerical_equivalence(look, look, given, num_samples=20)
    stack = np.concatenate(seen)
    low, high = given.min(axis=(0, 2)), given.max(axis=(0, 2))
    assert (stack.min(axis=(0, 2)) >= low).all() and (stack.max(axis=(0, 2)) <= high).all()
    assert np.std(stack[2] - given[0]) > 0  # and noise it is
    seen.clear()
    benchmarker.validate_numerical_equivalence(look, look, given, num_samples=5, valid_range=(-10, 300))
    assert min(a.min() for a in seen) < -3
    with pytest.raises(im.UsageError, match="leaves valid_range"):
        benchmarker.validate_numerical_equivalence(look, look, given, valid_range=(0, 1))
    tokens = np.array([[3, 1, 2]])
    seen.clear()
    benchmarker.validate_numerical_equivalence(look, look, tokens, num_samples=5)
    assert all(np.array_equal(a, tokens) for a in seen)


def test_a_configuration_is_honoured(im):
    class Training:
        compilation_warmup_steps = 7
        benchmark_iterations = 42
        outlier_threshold = 2.5
        enable_profiling = True

    benchmarker = im.create_benchmarker(Training())
    assert (benchmarker.warmup_iterations, benchmarker.benchmark_iterations) == (7, 42)
    assert (benchmarker.outlier_threshold, benchmarker.enable_profiling) == (2.5, True)
    benchmarker = im.create_benchmarker({"warmup_iterations": 3, "benchmark_iterations": 9})
    assert (benchmarker.warmup_iterations, benchmarker.benchmark_iterations, benchmarker.outlier_threshold) == (3, 9, None)


def test_profiling_names_operators(im):
    torch = pytest.importorskip("torch", reason="pytorch is not installed: scripts/setup --with pytorch")
    benchmarker = im.PerformanceBenchmarker(1, 10, enable_profiling=True)
    result = benchmarker.benchmark_model(torch.nn.Linear(16, 4), torch.rand(2, 16), "linear")
    assert any("addmm" in row["operator"] or "linear" in row["operator"] for row in result.profile)


def test_profiling_names_the_functions_of_what_is_no_module(im):
    def slow(x):
        end = time.perf_counter() + 0.005
        while time.perf_counter() < end:
            pass
        return x

    def model(x):
        return slow(x) * 2

    result = im.PerformanceBenchmarker(1, 5, enable_profiling=True).benchmark_model(model, np.ones((2, 2)), "model")
    (row,) = [row for row in result.profile if ".slow (" in row["operator"] and "test_earlier_tools.py:" in row["operator"]]
    assert row["calls"] == 3
    assert row["self_cpu_ms"] > 3 * 5 * 0.1  # less the calls of perf_counter, which are a row of their own
    assert not any("infermeter/" in row["operator"] for row in result.profile)
    assert im.PerformanceBenchmarker(1, 5).benchmark_model(model, np.ones((2, 2)), "model").profile == ()


# One model, or several, with metrics of one's own.

def test_a_model_and_its_own_metrics(im, x, capsys):
    class Sparse(im.ModelBenchmark):
        def measure_sparsity(self):
            return 0.25

        def measure_accuracy(self):
            return 0.91, "1"

        def measure_energy(self):
            return 12.5, "mJ"

    benchmark = Sparse(double, x, name="twice")
    result = benchmark.run_all(batch_size=4, num_iterations=40, warmup=2)
    assert (result.name, result.batch_size, result.iterations) == ("twice", 4, 40)
    assert result["latency_ms"] == result.latency_ms > 0
    assert result.throughput_fps > 0 and result.memory_allocated_gb > 0
    assert (result.accuracy, result["sparsity"], result.metrics["energy"]) == (0.91, 0.25, 12.5)
    assert dict(result)["sparsity"] == 0.25
    benchmark.print_report()
    printed = capsys.readouterr().out
    assert "sparsity" in printed and "0.25" in printed and "twice" in printed
    for format in ("json", "csv", "markdown"):
        assert "sparsity" in benchmark.record.render(format), format
    benchmark.save_results("results.json")
    saved = json.load(open("results.json"))
    assert saved["twice"]["latency_ms"] == result.latency_ms and saved["twice"]["metrics"]["energy"] == 12.5
    assert saved["twice"]["metadata"]["machine"]


def test_a_metric_that_fails_is_raised(im, x):
    class Mine(im.ModelBenchmark):
        def measure_accuracy(self):
            raise OSError("the labels are not there")

    with pytest.raises(OSError, match="the labels are not there"):
        Mine(double, x).run_all(num_iterations=5, warmup=0)


def test_a_benchmark_is_not_kept(im, x):
    class Mine(im.ModelBenchmark):
        gone = False

        def measure_one(self):
            return 1

        def __del__(self):
            Mine.gone = True

    Mine(double, x).run_all(num_iterations=5, warmup=0)
    gc.collect()
    assert Mine.gone


def test_batches_of_a_sample_are_repeated_items(im):
    seen = []
    sample = np.arange(6, dtype=np.float32).reshape(2, 3)
    im.ModelBenchmark(lambda a: seen.append(a.copy()) or a, sample).run_all(batch_size=5, num_iterations=3, warmup=0)
    assert np.array_equal(seen[0], sample[[0, 1, 0, 1, 0]])
    with pytest.raises(im.UsageError, match="batch_size=0"):
        im.ModelBenchmark(double, sample).run_all(batch_size=0)
    with pytest.raises(im.UsageError, match="has no items"):
        im.ModelBenchmark(double, np.float32(3)).run_all(batch_size=2)


def test_a_suite_of_models(im, x, capsys):
    suite = im.BenchmarkSuite()
    suite.add_model("baseline", double, x)
    suite.add_model("other", lambda a: a * 2 + 1, x)
    results = suite.run_comparison(batch_size=2, num_iterations=20)
    assert list(results) == ["baseline", "other"] and results["other"].latency_ms > 0
    suite.print_comparison()
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[:3] == ["=" * 80, "BENCHMARK COMPARISON", "=" * 80]
    assert lines[3].split() == "Model Latency (ms) Throughput (FPS) Memory (GB) Size (MB) Accuracy".split()
    assert re.match(r"baseline +\d+\.\d\d \(baseline\) +\d+\.\d", lines[5])
    assert re.match(r"other +\d+\.\d\d \(\d+\.\d\dx\) +\d+\.\d", lines[6])
    assert "RECOMMENDATIONS:\n" + "-" * 80 in printed and "⚠ Outputs differ beyond tolerance" in printed
    for ending, start in ((".html", "<!doctype html>"), (".json", "{"), (".csv", "framework,"), (".md", "## "),
                          (".txt", "=")):
        suite.generate_report(f"report{ending}")
        assert open(f"report{ending}").read().startswith(start)
    assert "http-equiv=\"Content-Security-Policy\"" in open("report.html").read()
    with pytest.raises(im.UsageError, match="its name must end in .html, .json"):
        suite.generate_report("report.pdf")
    with pytest.raises(im.UsageError, match="there is a model 'other' already"):
        suite.add_model("other", double, x)


def test_what_was_not_measured_cannot_be_reported(im, x):
    with pytest.raises(im.UsageError, match="call run_all first"):
        im.ModelBenchmark(double, x).print_report()
    with pytest.raises(im.UsageError, match="call run_comparison first"):
        im.BenchmarkSuite().print_comparison()
    with pytest.raises(im.UsageError, match="call add_model first"):
        im.BenchmarkSuite().run_comparison()


def test_quick(im, x):
    results = im.quick_benchmark(double, x, batch_size=4, num_iterations=20)
    assert f"{results['latency_ms']:.2f} ms" and f"{results['throughput_fps']:.1f} FPS"
    assert results["batch_size"] == 4


def test_small_outputs_are_compared_by_their_own_size(im, x):
    benchmarker = im.PerformanceBenchmarker()
    assert not benchmarker.validate_numerical_equivalence(lambda a: a * 1e-9, lambda a: a * -1e-9, x)[0]
    assert benchmarker.validate_numerical_equivalence(lambda a: a * 1e-9, lambda a: a * 1.000001e-9, x)[0]
