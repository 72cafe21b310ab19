"""Tags, notes, and runs that go. What a store does with them is tested in infermeter/store."""

import json
import sqlite3

import pytest


@pytest.fixture
def ids(run):
    """Of three stored runs, the oldest first."""
    for _ in range(3):
        assert run("run", "mlp@fake", "--iterations", 5, "--processes", 2, "--quiet").returncode == 0
    return [one["id"] for one in listed(run)]


def listed(run, *flags):
    return json.loads(run("runs", *flags, "--format", "json").stdout)


def test_tags_and_notes_are_listed(run, ids):
    titles = run("runs").stdout.splitlines()[0].split()
    assert titles == ["run", "begun", "(UTC)", "trials", "state", "subjects"]
    assert run("runs", "tag", "latest", "nightly", "paper").stdout == f"run {ids[2]} has nightly paper\n"
    assert run("runs", "note", ids[0], "first line\nsecond \x1b[31mline").returncode == 0
    assert [one["tags"] for one in listed(run)] == [[], [], ["nightly", "paper"]]
    assert listed(run)[0]["note"] == "first line\nsecond \x1b[31mline"
    table = run("runs").stdout
    assert "first line" in table and "\x1b" not in table and "second" not in table
    assert [one["id"] for one in listed(run, "--tag", "paper")] == [ids[2]]
    assert [one["id"] for one in json.loads(run("runs", "list", "--tag", "paper", "--format", "json").stdout)] == [ids[2]]
    assert [one["id"] for one in listed(run, "--last", "2")] == ids[1:] and len(listed(run, "--last", "9")) == 3
    assert run("runs", "untag", "latest", "paper").stdout == f"run {ids[2]} no longer has paper\n"
    assert listed(run, "--tag", "paper") == []
    assert run("runs", "note", ids[0], "").stdout == f"run {ids[0]} has no note\n"


def test_old_runs_are_pruned_and_said_before(run, ids):
    assert run("baseline", "set", "main", ids[0]).returncode == 0
    before = run("runs", "prune", "--keep", 1, "--dry-run").stdout
    assert ids[1] in before and ids[0] not in before and before.endswith("1 run would be deleted\n")
    assert len(listed(run)) == 3
    assert run("runs", "prune", "--keep", 0, "--before", "2020-01-01").stdout == "0 runs deleted\n"
    assert run("runs", "prune", "--keep", 1).stdout == "1 run deleted\n"
    assert [one["id"] for one in listed(run)] == [ids[0], ids[2]]
    assert run("report", ids[2], "--format", "json").returncode == 0


@pytest.mark.parametrize("damage", ["UPDATE runs SET created_at = created_at - 1 WHERE id = ?", "UPDATE run_tags SET tag = 'bar' WHERE run = ?"])
def test_a_damaged_run_is_said_and_stops_nothing(run, ids, damage):
    assert run("runs", "tag", ids[0], "foo").returncode == run("baseline", "set", "main", ids[2]).returncode == 0
    with sqlite3.connect(run.folder / "results/infermeter.db") as database:
        database.execute(damage, (ids[0],))
    said = f"run {ids[0]} in the store results/infermeter.db is damaged: "
    done = run("runs", "--format", "json")
    assert done.returncode == 0 and [one["id"] for one in json.loads(done.stdout)] == ids[1:]
    assert done.stderr.count(said) == 1 and "it is left out" in done.stderr
    (run.folder / "gate.toml").write_text("expect = 'reproducible over 3 runs within 100000%'\n")
    done = run("gate", "gate.toml", "--format", "json")
    assert done.returncode == 0 and done.stderr.count(said) == 1, done.stderr
    (run.folder / "gate.toml").write_text("expect = 'latency_p50_ms <= 100000'\n")
    assert run("gate", "gate.toml").stderr == ""
    assert f"run {ids[0]} is damaged and has no page" in run("publish", "site").stderr
    done = run("store", "copy", "results", "all.db")
    assert done.returncode == 2 and "all.db: 2 copied" in done.stdout and ids[0] in done.stderr, done
    assert run("baseline", "--store", "all.db").stdout.count("main") == 1
    assert run("runs", "prune", "--keep", 0).stdout == "1 run deleted\n"
    assert run("runs", "delete", ids[0]).stdout == "1 run deleted\n"


@pytest.mark.parametrize("words, said", [
    (["delete", "latest", "nosuch"], "there is no run 'nosuch'"),
    (["delete", "previous"], "is the baseline 'main': `infermeter baseline remove NAME` first"),
    (["--tag", "a", "prune", "--keep", "0"], "--tag, --last and --format are for the list of runs"),
    (["--last", "3", "delete", "latest"], "--tag, --last and --format are for the list of runs"),
    (["prune"], "which runs? --keep N"),
    (["prune", "--keep", "-1"], "--keep"),
    (["--last", "0"], "--last"),
    (["prune", "--before", "yesterday"], "yesterday"),
    (["tag", "latest", "two words"], "a tag is a word"),
    (["untag", "latest", "never"], "has no tag 'never'"),
    (["note", "latest", "x" * 10_001], "a note is at most 10000 bytes"),
])
def test_a_slip_is_one_sentence_and_changes_nothing(run, ids, words, said):
    assert run("baseline", "set", "main", "previous").returncode == 0
    before = listed(run)
    done = run("runs", *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""
    assert listed(run) == before
