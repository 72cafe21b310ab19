"""infermeter history: what the stored runs say over time."""

import json
import shlex
import sqlite3
from pathlib import Path

import pytest
from copied_runs import CopiedRuns

SOURCE = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def store(run):
    assert run("run", "mlp@fake", "--processes", 2, "--warmup", 0, "--iterations", 30, "--quiet").returncode == 0
    return CopiedRuns(run.folder / "results/infermeter.db")


def as_json(run, *arguments):
    done = run("history", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_runs_become_a_history(run):
    for _ in range(2):
        assert run("run", "old=mlp@fake,latency=constant:1ms,work=sleep", "new=mlp@fake,latency=constant:20ms,work=sleep",
                   "--processes", 2, "--warmup", 0, "--iterations", 8, "--quiet").returncode == 0
    listed = as_json(run)
    assert [(s["series"], s["runs"], s["values"]) for s in listed["series"]] == [
        ("mlp@fake,latency=constant:1ms,work=sleep", 2, None), ("mlp@fake,latency=constant:20ms,work=sleep", 2, None)]
    found = as_json(run, "new")["series"][0]  # by its label
    assert found["too_few"] and found["last_value"] >= 20e-3  # which the other one is not
    assert found["values"][0]["processes"] == 2 and found["values"][0]["runtime_version"] == "1"
    text = run("history", "new").stdout
    assert "2 runs are too few to look for changes: 6 are needed" in text
    assert "too few runs" in run("history").stdout
    memory = as_json(run, "--metric", "peak_memory")
    assert memory["unit"] == "bytes" and memory["series"][0]["last_value"] > 1e5


def test_a_metric_that_no_run_has_is_told(run, store):
    def words(*arguments):
        done = run("history", *arguments)
        assert done.returncode == 0, done.stderr
        return " ".join(done.stdout.split())

    assert words("--metric", "response_p99") == (
        "No finished run has a response p99 here. A load that is not valid, or has too few requests for it, has none.")
    store.database.execute("DELETE FROM figures WHERE metric = 'load_time'")
    assert words("--metric", "load_time") == "No finished run has a load time here."


def test_a_step_is_found_with_what_else_changed_there(run, store):
    store.step(12, 5, 1.1, {"runtime_version": "1.20.1"}, {"runtime_version": "1.21.0", "git_commit": "abc"})
    series = as_json(run, "mlp")["series"][0]
    [change] = series["changes"]
    assert change["run"] == "run-013" and change["at"].startswith("2026-11-14") and change["worse"]
    assert change["change"] == pytest.approx(0.1, abs=0.005)
    assert change["by_scan"] and change["by_e_divisive"]
    assert change["context"] == [{"what": "runtime_version", "before": "1.20.1", "after": "1.21.0", "runs_off": 0}]
    assert [level["runs"] for level in series["levels"]] == [12, 5]
    assert series["alarm"]["run"] == "run-013"
    done = run("history", "mlp")
    assert done.returncode == 0  # an alarm is no failure
    assert "% slower than before" in done.stdout and "1.20.1 → 1.21.0" in done.stdout and "ALARM" in done.stdout
    chart, marks = done.stdout.splitlines()[5:7]
    assert set(chart[2:14]) <= set("▁▂") and set(chart[14:]) <= set("▇█")
    assert marks.index("^") == 2 + 12
    assert "✗ +" in run("history").stdout


def test_an_alarm_names_the_command_that_confirms_it(run, store):
    for name in ("older one.so", "newer.so"):
        (run.folder / name).write_text("")
    old, new = run.folder / "older one.so", run.folder / "newer.so"
    store.step(8, 4, 1.1, {"library": old, "runtime_version": "1"}, {"library": new, "runtime_version": "2"})
    command = as_json(run, "mlp")["series"][0]["alarm"]["confirm"]
    words = shlex.split(command)
    assert words == ["infermeter", "compare", "mlp@fake", "--a-backend-library", str(old), "--b-backend-library", str(new)]
    assert command in run("history", "mlp").stdout
    assert run(*words[1:], "--help").returncode == 0
    old.unlink()
    alarm = as_json(run, "mlp")["series"][0]["alarm"]
    assert alarm["confirm"] is None and "version 1, is no longer at" in alarm["why_not"]


def test_an_alarm_without_two_builds_says_so(run, store):
    store.step(8, 4, 1.1)
    assert "model and runtime are the same" in as_json(run, "mlp")["series"][0]["alarm"]["why_not"]


def test_what_was_mended_or_improved_is_no_alarm(run, store):
    store.step(8, 4, 0.9)
    series = as_json(run, "mlp")["series"][0]
    assert len(series["changes"]) == 1 and not series["changes"][0]["worse"] and series["alarm"] is None
    assert "faster" in run("history", "mlp").stdout


def test_a_quiet_series_has_no_changes(run, store):
    store.step(20, 0, 1)
    series = as_json(run, "mlp")["series"][0]
    assert series["changes"] == [] and len(series["levels"]) == 1
    assert "none of 1 % or more is seen in 20 runs" in run("history", "mlp").stdout


def test_since_leaves_out_what_is_before(run, store):
    store.step(12, 8, 1.1)
    assert len(as_json(run, "mlp")["series"][0]["changes"]) == 1
    later = as_json(run, "mlp", "--since", "2026-11-14")["series"][0]
    assert later["runs"] == 8 and later["changes"] == [] and later["values"][0]["run"] == "run-013"
    assert as_json(run, "mlp", "--since", "2026-11-14T00:00:01Z")["series"][0]["runs"] == 7


def test_machines_are_not_mixed(run, store):
    store.step(7, 0, 1)
    store.step(0, 6, 3, then={"machine": "a" * 16})
    store.add(1e-3, machine="ab" * 8, series="other@fake", label="other")
    here = as_json(run, "mlp")
    assert here["series"][0]["runs"] == 7 and here["series"][0]["machine"] == here["this_machine"]
    assert here["hidden_runs"] == 6
    assert "6 runs of other machines are not shown (--machine all lists them)" in run("history", "mlp").stdout
    assert as_json(run)["hidden_runs"] == 7
    everywhere = as_json(run, "mlp", "--machine", "all")
    assert {s["machine"]: s["runs"] for s in everywhere["series"]} == {here["this_machine"]: 7, "a" * 16: 6}
    assert everywhere["hidden_runs"] == 0 and len(everywhere["machines"]) == 2
    there = as_json(run, "mlp", "--machine", "aaaa")
    assert there["series"][0]["machine"] == "a" * 16
    elsewhere = run("history", "other")
    assert elsewhere.returncode == 2 and "of others (--machine all)" in elsewhere.stderr
    for machine, said in (("a", "is the beginning of 2 fingerprints"), ("nosuch", "no figures of a machine 'nosuch'")):
        done = run("history", "--machine", machine)
        assert done.returncode == 2 and said in done.stderr


def test_a_part_must_fit_one_series(run, store):
    for series in ("mlp@fake", "mlp@fake,batch=2", "mlp@fake,batch=4", "vit@fake"):
        store.add(1e-3, series=series, label=f"label of {series}")
    done = run("history", "batch")
    assert done.returncode == 2 and done.stdout == ""
    assert "2 series: mlp@fake,batch=2 mlp@fake,batch=4" in done.stderr
    assert as_json(run, "mlp@fake")["series"][0]["series"] == "mlp@fake"  # itself, although it is in others
    assert as_json(run, "batch=4")["series"][0]["series"] == "mlp@fake,batch=4"
    assert as_json(run, "label of v")["series"][0]["series"] == "vit@fake"
    done = run("history", "vit@fale")
    assert done.returncode == 2 and "did you mean 'vit@fake'?" in done.stderr


def test_damaged_figures_do_no_harm(run, store):
    store.step(8, 4, 1.1)
    for value in (0.0, -1.0, 9e999, -9e999, 5e-324, 1.7e308):
        store.add(value)
    series = as_json(run, "mlp")["series"][0]
    assert series["left_out"] == 4 and series["runs"] == 14
    assert run("history", "mlp").returncode == 0 and run("history").returncode == 0


@pytest.mark.parametrize("arguments, said", [
    (["--metric", "troughput"], "did you mean 'throughput'?"),
    (["--metric", "latency_max"], "latency_max"),
    (["--since", "yesterday"], "expected a date such as 2026-11-21"),
    (["--since", "2026-02-30"], "expected a date"),
    (["--since", "2026-11-21T25:00"], "expected a date"),
    (["--format", "csv"], "table and json"),
    (["nosuch"], "no series with 'nosuch'"),
])
def test_bad_input_is_one_sentence(run, store, arguments, said):
    done = run("history", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_where_there_is_no_store_none_is_made(run):
    done = run("history", "--output-dir", "elsewhere")
    assert done.returncode == 2 and "there is no store" in done.stderr
    assert not (run.folder / "elsewhere").exists()


def test_a_store_of_version_1_gets_its_figures(run):
    (run.folder / "results").mkdir()
    file = run.folder / "results/infermeter.db"
    with sqlite3.connect(file) as database:
        database.executescript((SOURCE / "infermeter/store/fixtures/version_1.sql").read_text())
    series = as_json(run, "--machine", "all")["series"]
    assert [s["series"] for s in series] == ["mlp@fake,latency=constant:1ms,work=sleep",
                                             "mlp@fake,latency=constant:2ms,work=sleep"]
    with sqlite3.connect(file) as database:
        assert database.execute("SELECT count(*) FROM figures").fetchone()[0] > 10
        assert database.execute("PRAGMA user_version").fetchone()[0] == 10
    assert run("report", "latest").returncode == 0


def test_a_damaged_run_is_named_and_left_out(run, store):
    store.add(1e-3)
    store.add(1e-3)
    store.database.execute("UPDATE runs SET plan = '[', has_figures = 0 WHERE id = 'run-001'")
    store.database.execute("DELETE FROM figures WHERE run = 'run-001'")
    done = run("history")
    assert done.returncode == 0 and "run run-001 is damaged and left out" in done.stderr
    assert "mlp@fake" in done.stdout
