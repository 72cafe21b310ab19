"""`infermeter import` of times that hyperfine, Google Benchmark, criterion, pytest-benchmark, perf_analyzer, AIPerf and trtexec wrote.

What AIPerf wrote is of AIPerf 0.13.0 against tests/serving/known_times_server.py (--ttft 0.02 --gap 0.004; 8 tokens), with --use-server-token-count:
`one` with --concurrency 1, `many` with --concurrency 3. Of its statistics (`.json`) only metrics were kept."""

import json
import math
import shutil
import statistics
import subprocess
from pathlib import Path

import numpy
import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "infermeter/importing/fixtures"


def hyperfine(folder, name, **commands):
    results = [{"command": command.replace("_", " "), "times": times, "exit_codes": [0] * len(times)} for command, times in commands.items()]
    (folder / name).write_text(json.dumps({"results": results}))


def google(folder, name, **benchmarks):
    entries = [{"run_name": key, "run_type": "iteration", "real_time": time, "time_unit": "us"} for key, times in benchmarks.items() for time in times]
    (folder / name).write_text(json.dumps({"context": {}, "benchmarks": entries}))


def imported(run, *arguments):
    done = run("import", *arguments, "--format", "json", "--quiet")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_commands_of_hyperfine_are_compared_as_processes_apart(run):
    """By SciPy's Welch test on logarithms. The runs of both go up and down together: pairs would find a narrow interval."""
    base = [1 + 0.4 * math.sin(i) for i in range(12)]
    hyperfine(run.folder, "a.json", slow=base, fast=[0.8 * time for time in base])
    report = imported(run, "a.json")
    assert [subject["label"] for subject in report["subjects"]] == ["slow", "fast"]
    assert report["subjects"][0]["metrics"]["latency_p50"]["processes"] == 12
    ratio = report["subjects"][1]["ratios"]["latency_p50"]
    logs = [[math.log(time) for time in base], [math.log(0.8 * time) for time in base]]
    from scipy import stats  # here: it takes half a second, and all processes of pytest-xdist read this file

    known = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert ratio["value"] == pytest.approx(1.25)
    assert (ratio["interval"]["low"], ratio["interval"]["high"]) == pytest.approx((math.exp(known.low), math.exp(known.high)), rel=1e-6)
    assert ratio["interval"]["low"] < 1 < ratio["interval"]["high"]
    text = run("report").stdout
    assert "undecided whether fast or slow is faster on a:" in text and "times_imported" in text
    assert "float32" not in text and "batch size" not in text and "--processes" not in text


def test_a_clear_difference_is_told(run):
    hyperfine(run.folder, "a.json", slow=[1.0 + 0.001 * i for i in range(10)], fast=[0.5 + 0.001 * i for i in range(10)])
    done = run("import", "a.json", "--html", "a.html")
    text = " ".join(done.stdout.split())
    assert done.returncode == 0 and "fast is 1.99x faster than slow on a (95 % interval" in text and "neither the machine nor the outputs are known" in text
    assert "2 subjects from 20 processes that other tools measured" in text
    assert (run.folder / "a.html").stat().st_size > 100_000
    (run.folder / "gate.toml").write_text("run = 'latest'\nexpect = ['speedup >= 1.5', 'latency_p50_ms <= 2000']\n")
    judged = run("gate", "gate.toml")
    assert judged.returncode == 0 and "3 passed" in judged.stdout, judged.stdout + judged.stderr


def test_files_are_processes_and_names_are_compared_across_them(run):
    for number, factor in enumerate((1, 1.01, 1.02, 1.03)):
        google(run.folder, f"a{number}.json", copy=[10 * factor] * 6, sort=[20 * factor] * 6)
        google(run.folder, f"b{number}.json", copy=[5 * factor] * 6, sort=[20 * factor] * 6)
    report = imported(run, "base=" + ",".join(f"a{i}.json" for i in range(4)), "head=" + ",".join(f"b{i}.json" for i in range(4)))
    labels = [subject["label"] for subject in report["subjects"]]
    assert labels == ["base: copy", "base: sort", "head: copy", "head: sort"]
    assert [subject["baseline"] for subject in report["subjects"]] == [None, None, 0, 1]
    ratios = [subject["ratios"]["latency_p50"] for subject in report["subjects"][2:]]
    assert [ratio["value"] for ratio in ratios] == pytest.approx([2, 1])
    assert ratios[0]["interval"]["low"] > 1.9
    assert [subject["metrics"]["latency_p50"]["processes"] for subject in report["subjects"]] == [4] * 4


def test_benchmarks_of_one_file_stand_alone_and_one_process_has_no_interval(run):
    google(run.folder, "a.json", copy=[10, 11, 12, 13, 14, 15], sort=[20, 21, 22, 23, 24, 25])
    report = imported(run, "a.json")
    assert [(subject["label"], subject["baseline"]) for subject in report["subjects"]] == [("copy", None), ("sort", None)]
    assert report["subjects"][0]["metrics"]["latency_p50"]["interval"] is None
    assert not any(notice["id"] == "times_imported" for notice in report["diagnostics"])
    google(run.folder, "b.json", copy=[10, 11, 12, 13, 14, 15])
    google(run.folder, "c.json", copy=[20, 21, 22, 23, 24, 25])
    text = " ".join(run("import", "b.json", "c.json").stdout.split())
    assert "undecided whether c or b is faster on" in text and "takes at least two processes of each (LABEL=FILE,FILE)" in text


@pytest.mark.parametrize("name", ["google_benchmark", "criterion_sample", "pytest_benchmark", "perf_analyzer", "trtexec", "hyperfine"])
def test_every_format_becomes_a_run(run, name):
    report = imported(run, str(FIXTURES / f"{name}.json"))
    assert all(trial["executed"]["runtime"] and trial["iterations"] for trial in report["trials"])
    again = run("report", "--format", "json")
    assert json.loads(again.stdout) == report
    listed = run("runs").stdout.splitlines()[-1].split()
    assert listed[3:5] == [str(len(report["trials"])), "finished"], "nothing was planned"


def test_criterion_s_samples_are_called_by_their_folder(run):
    folder = run.folder / "target/criterion/sum/new"
    folder.mkdir(parents=True)
    shutil.copy(FIXTURES / "criterion_sample.json", folder / "sample.json")
    report = imported(run, "target/criterion/sum/new/sample.json")
    assert report["subjects"][0]["label"] == "sum"
    sample = json.loads((folder / "sample.json").read_text())
    assert report["subjects"][0]["metrics"]["latency_p50"]["value"] == pytest.approx(
        statistics.median(time / count * 1e-9 for time, count in zip(sample["times"], sample["iters"])), rel=1e-9)


def aiperf(name):
    records = [json.loads(line) for line in (FIXTURES / f"aiperf-0.13.0/{name}.jsonl").read_text().splitlines()]
    kept = [record["metrics"] for record in records if record["metadata"]["benchmark_phase"] == "profiling"]
    return json.loads((FIXTURES / f"aiperf-0.13.0/{name}.json").read_text()), kept


def of_records(kept, metric):
    """By the inverse of the distribution function, as counters are; within the width of their bins."""
    values = numpy.concatenate([numpy.atleast_1d(each[metric]["value"]) for each in kept])
    return pytest.approx(numpy.quantile(values, 0.5, method="inverted_cdf") / 1e3, rel=6e-4, abs=1e-9)


def test_requests_of_aiperf_one_at_a_time(run):
    """Its own statistics: mean of latencies, TTFT and inter-token latency, which is our TPOT."""
    folder = run.folder / "batch-1"
    folder.mkdir()
    shutil.copy(FIXTURES / "aiperf-0.13.0/one.jsonl", folder / "profile_export.jsonl")
    report = imported(run, "batch-1/profile_export.jsonl")
    statistics_of, kept = aiperf("one")
    subject, trial = report["subjects"][0], report["trials"][0]
    assert subject["label"] == "batch-1" and trial.get("load") is None
    assert trial["iterations"] == statistics_of["request_count"]["avg"] == len(kept)
    latencies = trial["samples"]["latency_s"]
    assert 1e3 * statistics.mean(latencies) == pytest.approx(statistics_of["request_latency"]["avg"], rel=1e-6)
    assert 1e3 * max(latencies) == pytest.approx(statistics_of["request_latency"]["max"], rel=1e-6)
    counters = {each["name"]: each["value"] for each in trial["counters"]}
    assert counters["output_tokens_mean"] == 8
    assert counters["ttft_p50"] == of_records(kept, "time_to_first_token")
    assert counters["tpot_p50"] == of_records(kept, "inter_token_latency")
    assert counters["itl_p50"] == of_records(kept, "inter_chunk_latency")
    assert trial["generation"]["output_tokens"] == statistics_of["total_output_tokens"]["avg"]
    assert counters["prompt_tokens_mean"] == pytest.approx(statistics_of["input_sequence_length"]["avg"])
    assert "times_imported" not in [each["id"] for each in report["diagnostics"]]


def test_requests_of_aiperf_at_once_are_a_load(run):
    report = imported(run, f"three={FIXTURES / 'aiperf-0.13.0/many.jsonl'}")
    statistics_of, kept = aiperf("many")
    trial = report["trials"][0]
    counters = {each["name"]: each["value"] for each in trial["counters"]}
    assert report["subjects"][0]["load"]["asked"] == {"concurrency": "3"}
    assert counters["response_mean"] * 1e3 == pytest.approx(statistics_of["request_latency"]["avg"], rel=6e-4)
    # Their duration ends with the last answer's end marker, ours with its last piece.
    assert counters["achieved_rate"] == pytest.approx(statistics_of["request_throughput"]["avg"], rel=0.05)
    assert counters["output_tokens_rate"] == pytest.approx(statistics_of["output_token_throughput"]["avg"], rel=0.05)
    assert counters["service_p50"] == of_records(kept, "request_latency")
    assert counters["ttft_p50"] == of_records(kept, "time_to_first_token")
    assert counters["tpot_p50"] == of_records(kept, "inter_token_latency")
    assert counters["itl_p50"] == of_records(kept, "inter_chunk_latency")
    assert [each["id"] for each in report["diagnostics"]].count("times_imported") == 1
    text = " ".join(run("report").stdout.split())
    assert "closed, 3 at once" in text and "when each was due is not reported" in text and "too few requests" in text


def test_hyperfine_itself(run):
    if shutil.which("hyperfine") is None:
        pytest.skip("hyperfine is not installed: apt-get install hyperfine")
    subprocess.run(["hyperfine", "-N", "--runs", "5", "true", "sleep 0.02", "--export-json", "h.json"], cwd=run.folder, check=True, capture_output=True)
    report = imported(run, "h.json")
    assert [subject["label"] for subject in report["subjects"]] == ["true", "sleep 0.02"]
    assert report["subjects"][1]["metrics"]["latency_min"]["value"] >= 0.02


@pytest.mark.parametrize("arguments, sentence", [
    (["a.json", "--model", "mlp"], "--model: times have no operators"),
    (["a.json", "profile.json"], "'profile.json': it has no times that are read, which the first file has"),
    ([str(FIXTURES.parents[1] / "profile/fixtures/onnxruntime_mlp.json"), "a.json"], "'a.json': "),
    (["failed.json"], "'failed.json': hyperfine's JSON: every run of it failed"),
    (["cut.json"], "'cut.json': hyperfine's JSON: it ends early, or is not JSON"),
    (["none.json"], "none.json"),
    ([str(FIXTURES / "aiperf-0.13.0/one.json")], "AIPerf's statistics: it has statistics, but not the times: import profile_export.jsonl"),
])
def test_what_cannot_be_imported_is_told_and_nothing_is_kept(run, arguments, sentence):
    hyperfine(run.folder, "a.json", one=[1, 2, 3])
    (run.folder / "cut.json").write_text((run.folder / "a.json").read_text()[:60])
    (run.folder / "failed.json").write_text('{"results": [{"command": "a", "times": [1], "exit_codes": [2]}]}')
    (run.folder / "profile.json").write_text('[{"cat": "Session", "name": "model_run", "ph": "X", "ts": 1, "dur": 5, "args": {}}]')
    done = run("import", *arguments)
    assert done.returncode == 2 and sentence in done.stderr and done.stdout == ""
    assert not (run.folder / "results/infermeter.db").exists()


def test_runs_that_failed_are_told(run):
    (run.folder / "a.json").write_text('{"results": [{"command": "a", "times": [1, 1.1, 1.2], "exit_codes": [0, 0, 3]}]}')
    report = imported(run, "a.json")
    assert [one["message"] for one in report["diagnostics"] if one["id"] == "import_cut"] == ["'a.json': 1 run that failed was left out"]
    assert len(report["trials"]) == 2


def test_hostile_names_are_text(run):
    hyperfine(run.folder, "a.json", **{"\x1b[2J</script><svg onload=alert(1)>": [1, 1.1], "a@b,c=d": [1, 1.1]})
    done = run("import", "a.json")
    assert done.returncode == 0 and "\x1b" not in done.stdout
