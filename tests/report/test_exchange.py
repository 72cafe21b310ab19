"""Reports in the forms of other tools, read by those tools or by their libraries."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
COMPARE = Path("/usr/share/benchmark/compare.py")  # of Debian's libbenchmark-tools
PLAN = """
processes = 4
iterations = 8
warmup = 1
subjects = ["fast=mlp@fake,latency=normal:200us:5us,counters=hit_rate:0.9", "slow=mlp@fake,latency=normal:400us:5us"]
"""


@pytest.fixture(scope="module")
def reports(infermeter, environment_in, tmp_path_factory):
    """reports("bencher") -> that report of one run."""
    folder = tmp_path_factory.mktemp("exchange")
    (folder / "plan.toml").write_text(PLAN)
    environment = environment_in(folder)

    def call(*arguments, code=0):
        done = subprocess.run([infermeter, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stderr
        return done

    call("run", "--plan", "plan.toml", "--quiet")
    texts = {form: call("report", "--format", form).stdout for form in ("json", "google-benchmark", "bencher", "openmetrics", "latex")}

    def get(form):
        return texts[form]

    get.call, get.folder, get.run = call, folder, json.loads(texts["json"])
    return get


def metric(reports, label, name):
    subject = next(one for one in reports.run["subjects"] if one["label"] == label)
    return subject["metrics"][name]


def test_google_benchmark_has_each_process_and_aggregates(reports):
    report = json.loads(reports("google-benchmark"))
    for number, label in enumerate(("fast", "slow")):
        entries = [one for one in report["benchmarks"] if one["run_name"] == label]
        trials = sorted((one for one in reports.run["trials"] if one["subject"] == number), key=lambda one: one["process"])
        means = [statistics.fmean(trial["samples"]["latency_s"]) * 1e9 for trial in trials]
        assert [one["real_time"] for one in entries[:4]] == pytest.approx(means, rel=1e-9)
        assert [one["cpu_time"] for one in entries[:4]] == pytest.approx(
            [mean * trial["noise"]["own_cpu"] for mean, trial in zip(means, trials)], rel=1e-9)
        assert [one["repetition_index"] for one in entries[:4]] == [0, 1, 2, 3]
        aggregates = {one["aggregate_name"]: one["real_time"] for one in entries[4:]}
        assert aggregates == pytest.approx({"mean": statistics.fmean(means), "median": statistics.median(means),
                                            "stddev": statistics.stdev(means), "cv": statistics.stdev(means) / statistics.fmean(means)}, rel=1e-9)


def test_google_benchmark_s_own_tool_compares_them(reports):
    if not COMPARE.exists():
        pytest.skip("compare.py of Google Benchmark is not installed: apt-get install libbenchmark-tools")
    file = reports.folder / "run.json"
    file.write_text(reports("google-benchmark"))
    done = subprocess.run([sys.executable, COMPARE, "--no-color", "filters", file, "fast", "slow"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("[fast vs. slow]_mean")]
    assert lines, done.stdout


def test_bencher_has_the_figures_of_the_json(reports):
    report = json.loads(reports("bencher"))
    assert list(report) == ["fast", "slow"]
    for label, measures in report.items():
        latency = metric(reports, label, "latency_p50")
        assert measures["latency"] == pytest.approx({"value": latency["value"] * 1e9, "lower_value": latency["interval"]["low"] * 1e9,
                                                     "upper_value": latency["interval"]["high"] * 1e9})
        assert measures["throughput"]["value"] == metric(reports, label, "throughput")["value"]
        assert measures["memory_peak"]["value"] == metric(reports, label, "memory_peak")["value"]
        assert "latency_p99" not in measures, "8 iterations in 4 processes have none"
    assert report["fast"]["hit_rate"]["value"] == pytest.approx(0.9)


@pytest.mark.parametrize("parser", ["prometheus_client.openmetrics.parser", "prometheus_client.parser"])
def test_openmetrics_is_read_by_prometheus_client(reports, parser):
    import importlib

    read = importlib.import_module(parser).text_string_to_metric_families
    samples = {(sample.name, sample.labels.get("subject"), sample.labels.get("counter")): sample
               for family in read(reports("openmetrics")) for sample in family.samples}
    for label in ("fast", "slow"):
        latency = metric(reports, label, "latency_p50")
        for ending, value in (("", latency["value"]), ("_low", latency["interval"]["low"]), ("_high", latency["interval"]["high"])):
            assert samples[f"infermeter_latency_p50{ending}_seconds", label, None].value == value
    sample = samples["infermeter_latency_p50_improvement_ratio", "slow", None]
    [slow] = [one for one in reports.run["subjects"] if one["label"] == "slow"]
    assert sample.labels["baseline"] == "fast" and sample.value == slow["ratios"]["latency_p50"]["value"] < 1
    assert samples["infermeter_counter", "fast", "hit_rate"].value == pytest.approx(0.9)
    assert samples["infermeter_run_info", None, None].labels["run"] == reports.run["id"]


def test_openmetrics_has_hostile_names_as_labels():
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as read

    families = list(read((GOLDEN / "exchange/hostile.prom").read_bytes().decode()))
    subjects = {sample.labels["subject"] for family in families for sample in family.samples if "subject" in sample.labels}
    assert {"two\nlines\r\n", "\ttab, \"quoted\" | piped", "模型 e\u0301 🚀"} <= subjects


@pytest.mark.parametrize("name", ["example", "hostile"])
def test_latex_is_typeset(tmp_path, name):
    engine = shutil.which("pdflatex")
    if engine is None:
        pytest.skip("pdflatex is not installed: apt-get install texlive-latex-base texlive-latex-recommended")
    # pdfTeX has no letters beyond its fonts.
    table = re.sub("[^\0-\x7f±]", "", (GOLDEN / f"exchange/{name}.tex").read_text())
    (tmp_path / "table.tex").write_text(table)
    (tmp_path / "paper.tex").write_text("\\documentclass{article}\\usepackage{booktabs}\\begin{document}\\input{table}\\end{document}\n")
    done = subprocess.run([engine, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"], cwd=tmp_path, capture_output=True, timeout=120,
                          env=os.environ | {"TEXMFVAR": str(tmp_path)})
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_a_gate_for_github(reports):
    # Memory, as nothing fails by its times on a disturbed machine.
    lines = ["expect = [", "  'latency_p50_ms <= 60000',", "  'peak_memory_mb <= 0.5',", "  'latency_p99_ms <= 100',", "]"]
    (reports.folder / "gate: 1.toml").write_text("\n".join(lines))
    done = reports.call("gate", "gate: 1.toml", "--run", "latest", "--annotations", "--sarif", "gate.sarif", code=1)
    annotations = [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert annotations[0].startswith("::error file=gate%3A 1.toml,line=3,title=peak_memory_mb <= 0.5::peak_memory_mb <= 0.5, fast: ")
    assert [line.split()[0] for line in annotations] == ["::error", "::error", "::warning", "::warning", "::notice"]
    assert annotations[-1] == "::notice title=infermeter gate::gate: 1.toml: 2 passed, 2 FAILED, 2 inconclusive"
    [run] = json.loads((reports.folder / "gate.sarif").read_text())["runs"]
    results = [(one["kind"], one["level"], one["locations"][0]["physicalLocation"]["region"]["startLine"]) for one in run["results"]]
    assert results == [("pass", "none", 2), ("pass", "none", 2), ("fail", "error", 3), ("fail", "error", 3), ("fail", "warning", 4), ("fail", "warning", 4)]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "gate%3A%201.toml"
    rules = run["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["shortDescription"]["text"] for one in run["results"]][2] == "peak_memory_mb <= 0.5"
    prints = [one["partialFingerprints"]["expectationAndSubject/v1"] for one in run["results"]]
    assert len(set(prints)) == 6


def test_sarif_has_what_the_standard_asks_for():
    """Section 3 of SARIF 2.1.0: what must be there, and levels only of failures. The schema itself was compared with it by hand."""
    log = json.loads((GOLDEN / "gate/gate.sarif").read_text())
    assert log["version"] == "2.1.0"
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert run["tool"]["driver"]["name"]
        for result in run["results"]:
            assert result["message"]["text"] and rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["kind"] == "fail" or result["level"] == "none"


@pytest.mark.parametrize("verb", [["gate", "gate.toml"], ["validate", "mlp@fake", "mlp@fake"]])
def test_other_reports_have_none_of_them(reports, verb):
    (reports.folder / "gate.toml").write_text("run = 'latest'\nexpect = ['latency_p50_ms <= 100']\n")
    done = reports.call(*verb, "--format", "latex", code=2)
    assert "has no latex report: --format takes table, json or markdown here" in done.stderr
