"""infermeter store copy, store push: runs of one store in another."""

import json

import pytest

QUICK = ("--processes", 2, "--warmup", 0, "--iterations", 5, "--quiet")


def report(run, place, identity, kind="json"):
    done = run("report", identity, "--store", place, "--format", kind)
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(run, place):
    return [entry["id"] for entry in json.loads(run("runs", "--store", place, "--format", "json").stdout)]


def test_reports_are_the_same_to_the_byte_there_and_back(run, place):
    for subject in ("mlp@fake", "mlp@fake,latency=constant:1ms,work=sleep"):
        assert run("run", subject, *QUICK).returncode == 0
    assert run("run", "mlp@fake", "--profile", *QUICK).returncode == 0
    assert run("baseline", "set", "main", "latest").returncode == 0
    done = run("store", "copy", "results", place)
    assert done.returncode == 0 and done.stdout.endswith(": 3 copied, 0 extended, 0 there already\n"), done
    assert run("store", "copy", place, "back.db").returncode == 0
    ids = listed(run, "results/infermeter.db")
    assert listed(run, place) == ids == listed(run, "back.db")
    for identity in ids:
        for kind in ("json", "csv", "table"):
            assert report(run, "results/infermeter.db", identity, kind) == report(run, place, identity, kind) == report(run, "back.db", identity, kind)
    histories = [run("history", "--store", one, "--format", "json").stdout for one in ("results/infermeter.db", place, "back.db")]
    assert histories[0] == histories[1] == histories[2]
    assert json.loads(run("baseline", "--store", "back.db", "--format", "json").stdout)[0]["name"] == "main"
    again = run("store", "push", "--store", place)
    assert again.returncode == 0 and "0 copied, 0 extended, 3 there already" in again.stdout


def test_files_are_merged_and_one_run_alone_is_copied(run, place):
    for folder in ("one", "two"):
        assert run("run", "mlp@fake", *QUICK, "--output-dir", folder).returncode == 0
    assert run("store", "copy", "one", place).returncode == 0
    assert run("store", "copy", "two/infermeter.db", place, "latest").returncode == 0
    assert listed(run, place) == listed(run, "one/infermeter.db") + listed(run, "two/infermeter.db")


@pytest.mark.parametrize("words, said", [
    (("copy", "nosuch.db", "to.db"), "there is no store nosuch.db"),
    (("copy", "results", "to.db", "nosuch"), "there is no run 'nosuch'"),
    (("copy", "results", "postgresql://ann:secret@db/team"), "~/.pgpass"),
    (("copy", "results", "mysql://db/team"), "is not a store"),
    (("copy", "results"), "TO"),
    (("push",), "--store"),
    ((), "subcommand"),
])
def test_what_cannot_be_copied_is_said(run, words, said):
    assert run("run", "mlp@fake", *QUICK).returncode == 0
    done = run("store", *words)
    assert done.returncode == 2 and said in done.stderr and "secret" not in done.stderr, done.stderr
    assert not (run.folder / "to.db").exists()


def test_a_lost_database_loses_nothing(run_slowly, run, postgres):
    """The trial that could not be kept there is kept here, delivered, and not measured again."""
    place = postgres.url(postgres.new())
    subjects = ("mlp@fake,latency=constant:1ms,work=sleep", "b=mlp@fake,latency=constant:2ms,work=sleep", "--processes", 3, "--warmup", 0)
    with run_slowly("run", *subjects, "--iterations", 300, "--store", place) as running:
        running.wait_for("[2/6]")
        postgres.crash()
        try:
            code, _, errors = running.end()
        finally:
            postgres.again()
    assert code == 2 and "was lost" in errors and "is kept in results/infermeter.db: `infermeter store push" in errors, errors
    state = json.loads(run("runs", "--store", place, "--format", "json").stdout)[0]
    here = json.loads(run("runs", "--format", "json").stdout)[0]
    assert here["id"] == state["id"] and here["trials_done"] == state["trials_done"] + 1
    done = run("store", "push", "--store", place)
    assert done.returncode == 0 and "0 copied, 1 extended" in done.stdout, done
    assert json.loads(run("runs", "--store", place, "--format", "json").stdout)[0]["trials_done"] == here["trials_done"]
    done = run("run", "--resume", "--store", place, "--format", "json")
    assert done.returncode in (0, 1) and len(json.loads(done.stdout)["trials"]) == 6, done.stderr
    assert f"[{here['trials_done']}/6]" not in done.stderr
