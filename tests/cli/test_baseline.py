"""infermeter baseline: names for runs."""

import json
import sqlite3

import pytest

QUICK = ("--processes", 2, "--warmup", 0, "--iterations", 5, "--quiet")


@pytest.fixture
def two_runs(run):
    for _ in range(2):
        assert run("run", "mlp@fake", *QUICK).returncode == 0
    return [entry["id"] for entry in json.loads(run("runs", "--format", "json").stdout)]


def names(run):
    return {entry["name"]: entry["run"] for entry in json.loads(run("baseline", "list", "--format", "json").stdout)}


def test_a_baseline_is_set_listed_and_removed(run, two_runs):
    first, second = two_runs
    done = run("baseline", "set", "release 1", first)
    assert done.returncode == 0 and done.stdout == f"baseline release 1 is run {first}\n"
    assert run("baseline", "set", "main", "latest").returncode == 0
    assert names(run) == {"release 1": first, "main": second}
    assert run("baseline", "set", "main", first).returncode == 0
    assert names(run)["main"] == first
    table = run("baseline")
    assert table.returncode == 0 and "release 1" in table.stdout and first in table.stdout
    assert run("baseline", "remove", "main").returncode == 0
    assert names(run) == {"release 1": first}
    assert len(json.loads(run("runs", "--format", "json").stdout)) == 2


def test_a_run_is_reported_and_noted_by_the_name_of_its_baseline(run, two_runs):
    first, _ = two_runs
    assert run("baseline", "set", "release 1", first).returncode == 0
    assert run("report", "release 1").stdout == run("report", first).stdout
    assert run("runs", "note", "release 1", "as shipped").returncode == 0
    assert [entry["note"] for entry in json.loads(run("runs", "--format", "json").stdout)] == ["as shipped", ""]
    assert "no run 'release'" in run("report", "release").stderr


def test_a_damaged_baseline_is_said_and_the_others_are_listed(run, two_runs):
    for name in ("main", "release"):
        run("baseline", "set", name, "latest")
    with sqlite3.connect(run.folder / "results/infermeter.db") as store:
        store.execute("UPDATE baselines SET set_at = 0 WHERE name = 'main'")
    done = run("baseline", "list", "--format", "json")
    assert done.returncode == 0 and [entry["name"] for entry in json.loads(done.stdout)] == ["release"]
    assert "baseline main in the store" in done.stderr and "it is left out" in done.stderr
    assert run("baseline", "set", "main", "latest").returncode == 0
    assert run("baseline", "list").stderr == ""


def test_an_unknown_name_is_an_error_with_the_nearest(run, two_runs):
    run("baseline", "set", "main", "latest")
    done = run("baseline", "remove", "mian")
    assert done.returncode == 2 and done.stdout == ""
    assert "did you mean 'main'?" in done.stderr and "infermeter baseline set NAME RUN" in done.stderr


@pytest.mark.parametrize("name", ["", "x" * 101, "a\nb", "\x1b[31m", "\udcff"])
def test_names_are_short_text(run, two_runs, name):
    done = run("baseline", "set", name, "latest")
    assert done.returncode == 2 and "a baseline's name" in done.stderr and "\x1b" not in done.stderr
    assert names(run) == {}


@pytest.mark.parametrize("name", ["latest", "previous", "report.json"])
def test_names_that_mean_a_run_already_are_refused(run, two_runs, name):
    done = run("baseline", "set", name, two_runs[0])
    assert done.returncode == 2 and f"'{name}' means something else where a run is named" in done.stderr, done.stderr
    assert names(run) == {}


@pytest.mark.parametrize("length", [1, 8, None])
def test_ids_of_runs_and_their_beginnings_are_no_names(run, two_runs, length):
    name = two_runs[0][:length]
    done = run("baseline", "set", name, two_runs[1])
    assert done.returncode == 2 and f"a run's id begins with '{name}'" in done.stderr, done.stderr
    assert names(run) == {}


def test_a_name_that_an_older_store_has_does_not_hide_a_run(run, two_runs):
    run("baseline", "set", "main", two_runs[0])
    with sqlite3.connect(run.folder / "results/infermeter.db") as store:
        store.execute("UPDATE baselines SET name = 'latest', checksum = NULL")
    done = run("compare", "previous", "latest")
    assert two_runs[1] in done.stdout, done.stderr


def test_a_run_that_is_not_there_or_not_finished_is_no_baseline(run, two_runs):
    assert "no run 'nosuch'" in run("baseline", "set", "main", "nosuch").stderr
    with sqlite3.connect(run.folder / "results/infermeter.db") as store:
        store.execute("UPDATE runs SET finished = 0, checksum = NULL WHERE id = ?", (two_runs[1],))
    done = run("baseline", "set", "main", "latest")
    assert done.returncode == 2 and "is not finished" in done.stderr


def test_where_there_is_no_store_none_is_made(run):
    for words in (["list"], ["set", "main", "latest"], ["remove", "main"]):
        done = run("baseline", *words, "--output-dir", "elsewhere")
        assert done.returncode == 2 and "there is no store" in done.stderr
    assert not (run.folder / "elsewhere").exists()
