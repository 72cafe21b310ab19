"""A JSON report as a baseline: of a gate as it is, and in the store under a name."""

import copy
import json
import re

import pytest

SLEEPS = "a=mlp@fake,latency=constant:20ms,work=sleep"  # far longer than a sleep is late on a busy machine
SHORT = ("--processes", 3, "--iterations", 10, "--warmup", 1, "--quiet")
GATE = 'run = "latest"\nexpect = ["regression <= 900%"]\n'  # so that only what is read decides, on a busy machine too


@pytest.fixture
def report(run):
    """report.json of a run in another store; then a run like it in the usual one."""
    for store in ("elsewhere", "results"):
        assert run("run", SLEEPS, *SHORT, "--output-dir", store).returncode == 0
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
    ("[]", "report.json is not a baseline: it is not a JSON report of a run"), ("{", "it is not a JSON report of a run"),
    ('{"schema": "infermeter.run/1"}', "report.json is not a baseline: it is damaged"),
])
def test_what_is_no_report_is_refused(run, text, sentence):
    (run.folder / "report.json").write_text(text)
    done = run("baseline", "set", "release", "report.json")
    assert (done.returncode, done.stdout) == (2, "") and sentence in done.stderr and done.stderr.count("\n") == 1


WRONG = [  # of trial 1
    (["samples", "latency_s", 3], -0.002, "latency_s[3] is -0.002, and a time is a number of at least 0"),
    (["samples", "latency_s", 3], None, "latency_s[3] is null, and a time"),
    (["samples", "latency_s", 3], "fast", 'latency_s[3] is "fast", and a time'),
    (["samples", "latency_s", 3], True, "latency_s[3] is true, and a time"),
    (["samples", "latency_s"], 0.002, "latency_s is not a list of numbers"),
    (["samples", "begin_s", 0], 1e9, "begin_s goes backwards"),
    (["warmup_samples", "latency_s", 0], -1, "latency_s[0] is -1"),
    (["load_s"], -1, "load_s is -1, and cannot be below 0"),
    (["items_per_iteration"], 0, "items_per_iteration is 0"),
    (["counters"], [{"name": "a", "unit": "", "value": "many"}], "'counters[0].value' should be a number"),
]


def refused(done, sentence):
    assert (done.returncode, done.stdout) == (2, "") and sentence in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_figures_that_none_can_be_are_refused(run, report):
    whole = json.loads(report.read_text())
    for place, value, sentence in WRONG:
        part = whole["trials"][1]
        for key in place[:-1]:
            part = part[key]
        kept, part[place[-1]] = part[place[-1]], value
        report.write_text(json.dumps(whole))
        part[place[-1]] = kept
        refused(run("baseline", "set", "release", "report.json"), "report.json is not a baseline: it is damaged: trial 1: ")
        refused(run("gate", "gate.toml", "--baseline", "report.json"), sentence)
    for change, sentence in [
            (lambda r: r["models"][0].update(size_bytes=-5), "'[0].size_bytes' should be a whole number from 0 to"),
            (lambda r: r.update(id="../../x"), "its id '../../x' is none of a run"),
            (lambda r: r.update(created_at="yesterday"), "its created_at is not a time"),
            (lambda r: r.update(created_at="2026-11-21T11:42:1e300Z"), "its created_at is not a time"),
            (lambda r: r.update(created_at="2026-11-21T11:42:nanZ"), "its created_at is not a time"),
            (lambda r: r["plan"].update(processes=-1), "its plan: -1 worker processes per subject cannot be"),
            (lambda r: r["plan"]["subjects"][0].update(batch_size=-4), "it is damaged: its plan: "),
            (lambda r: r["trials"][1].update(position=0), "two trials, or none, can be at position 0"),
            (lambda r: r["trials"][1].update(process=-3), "a trial is of process -3"),
            (lambda r: r.update(trials=[]), "it has no trials")]:
        changed = copy.deepcopy(whole)
        change(changed)
        report.write_text(json.dumps(changed))
        refused(run("baseline", "set", "release", "report.json"), sentence)


def test_numbers_that_are_none_are_refused(run, report):
    text = report.read_text()
    for number in ("NaN", "1e999"):
        changed = re.sub(r'("latency_s": ?\[)', rf'\g<1>{number}, ', text)
        assert changed != text
        report.write_text(changed)
        refused(run("baseline", "set", "release", "report.json"), "it is not a JSON report of a run")


def test_a_report_without_iterations_is_refused(run, report):
    run("report", "--format", "json", "--no-samples", "--output", "short.json", "--output-dir", "elsewhere")
    done = run("baseline", "set", "release", "short.json")
    assert done.returncode == 2 and "it has no iterations: write it without --no-samples" in done.stderr
