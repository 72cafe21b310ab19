"""A JSON report as a baseline: of a gate as it is, and in the store under a name."""

import json

import pytest

SHORT = ("--processes", 3, "--iterations", 30, "--warmup", 1, "--quiet")
GATE = 'run = "latest"\nexpect = ["regression <= 50%"]\n'


@pytest.fixture
def report(run):
    """report.json of a run in another store; then a run like it in the usual one."""
    for store in ("elsewhere", "results"):
        assert run("run", "a=mlp@fake,latency=constant:1ms", *SHORT, "--output-dir", store).returncode == 0
    done = run("report", "--format", "json", "--output", "report.json", "--output-dir", "elsewhere")
    assert done.returncode == 0, done.stderr
    (run.folder / "gate.toml").write_text(GATE)
    return run.folder / "report.json"


def outcome(done):
    (verdict,) = json.loads(done.stdout)["verdicts"] if "verdicts" in json.loads(done.stdout) else json.loads(done.stdout)["expectations"]
    return verdict


def test_a_gate_reads_it(run, report):
    done = run("gate", "gate.toml", "--baseline", "report.json", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcome(done)["outcome"] == "pass", done.stdout


def test_another_machine_is_told(run, report):
    other = json.loads(report.read_text())
    other["environment"]["processor"] = "a processor of somewhere else"
    report.write_text(json.dumps(other))
    done = run("gate", "gate.toml", "--baseline", "report.json", "--format", "json")
    assert outcome(done)["outcome"] == "inconclusive" and "was measured on another machine" in done.stdout


def test_it_gets_a_name(run, report):
    done = run("baseline", "set", "release", "report.json")
    assert done.returncode == 0, done.stderr
    one = json.loads(report.read_text())
    assert done.stdout == f"baseline release is run {one['id']}\n"
    assert run("baseline", "set", "release", "report.json").returncode == 0  # it is in the store now
    assert outcome(run("gate", "gate.toml", "--run", one["id"], "--baseline", "release", "--format", "json"))["outcome"] == "inconclusive"
    again = json.loads(run("report", one["id"], "--format", "json").stdout)
    assert again["created_at"] == one["created_at"]
    assert again["subjects"][0]["metrics"]["latency_p50"] == one["subjects"][0]["metrics"]["latency_p50"]


@pytest.mark.parametrize("text, sentence", [
    ("[]", "report.json is no baseline: it is no JSON report of a run"), ("{", "it is no JSON report of a run"),
    ('{"schema": "infermeter.run/1"}', "report.json is no baseline: it is damaged"),
])
def test_what_is_no_report_is_refused(run, text, sentence):
    (run.folder / "report.json").write_text(text)
    done = run("baseline", "set", "release", "report.json")
    assert (done.returncode, done.stdout) == (2, "") and sentence in done.stderr and done.stderr.count("\n") == 1


def test_a_report_without_iterations_is_refused(run, report):
    run("report", "--format", "json", "--no-samples", "--output", "short.json", "--output-dir", "elsewhere")
    done = run("baseline", "set", "release", "short.json")
    assert done.returncode == 2 and "it has no iterations: write it without --no-samples" in done.stderr
