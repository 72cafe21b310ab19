"""Surroundings that lack something: it works, with a named diagnostic, or says in one sentence why it cannot."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from waiting import HANG_S, wait_until

SUBJECT = "mlp@fake,latency=constant:100us"
SHORT = ("--processes", 1, "--iterations", 20, "--quiet")


@pytest.fixture
def no_fsync(fault_shim):
    """Environment in which the disk refuses once to say that anything is on it."""
    return {"LD_PRELOAD": str(fault_shim), "FAULT_CALL": "sync", "FAULT_AT": "1", "FAULT_WHAT": "eio"}


def test_results_that_are_not_on_the_disk_are_not_reported_as_kept(run, no_fsync):
    # The model's file is there: the first sync is the store's.
    assert run("run", SUBJECT, *SHORT, "--output-dir", "first").returncode == 0
    done = run("run", SUBJECT, "--processes", 1, "--iterations", 20, env=no_fsync)
    assert done.returncode == 2
    assert "infermeter.db" in done.stderr and "is stored" not in done.stderr


def test_report_that_is_not_on_the_disk_is_not_reported_as_written(run, no_fsync):
    assert run("run", SUBJECT, *SHORT).returncode == 0
    done = run("report", "latest", "--format", "json", "--output", "report.json", env=no_fsync)
    one_sentence(done, 2)
    assert "report.json" in done.stderr
    assert not list(run.folder.glob("report.json*"))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 400 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def one_sentence(done, code):
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("infermeter: ") and done.stderr.count("\n") == 1, done.stderr


def test_full_disk_names_the_file_and_keeps_what_was_there(run, small_disk):
    first = run("run", SUBJECT, *SHORT, "--output-dir", small_disk)
    assert first.returncode == 0, first.stderr
    stored = run("report", "latest", "--format", "json", "--output-dir", small_disk).stdout
    (small_disk / "filler").write_bytes(b"x" * (os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize))
    full = run("run", SUBJECT, *SHORT, "--iterations", 20000, "--output-dir", small_disk)
    assert full.returncode == 2
    assert str(small_disk) in full.stderr
    (small_disk / "filler").unlink()
    run_id = json.loads(stored)["id"]
    again = run("report", run_id, "--format", "json", "--output-dir", small_disk)
    assert again.stdout == stored
    assert not [file for file in small_disk.rglob("*") if file.is_file() and file.stat().st_size == 0 and
                file.suffix in (".csv", ".json")]


def test_full_disk_leaves_an_earlier_report_intact(run, small_disk):
    assert run("run", SUBJECT, *SHORT).returncode == 0
    report = small_disk / "report.json"
    report.write_text("earlier")
    (small_disk / "filler").write_bytes(b"x" * (os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize))
    full = run("report", "latest", "--format", "json", "--output", report, "--force")
    one_sentence(full, 2)
    assert str(report) in full.stderr
    assert report.read_text() == "earlier"
    assert sorted(file.name for file in small_disk.iterdir()) == ["filler", "report.json"]


def test_store_that_is_none(run):
    database = run.folder / "results/infermeter.db"
    database.parent.mkdir()
    database.write_bytes(b"this is not a database at all, and long enough to be looked at" * 50)
    one_sentence(run("run", SUBJECT, *SHORT), 2)
    assert database.read_bytes().startswith(b"this is not")


def test_store_that_is_damaged_names_the_rescue(run):
    assert run("run", SUBJECT, *SHORT).returncode == 0
    database = run.folder / "results/infermeter.db"
    content = bytearray(database.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    database.write_bytes(content)
    for file in database.parent.glob("infermeter.db-*"):
        file.unlink()
    done = run("report", "latest")
    one_sentence(done, 2)
    assert ".recover" in done.stderr


def test_store_of_a_newer_schema_is_not_written(run):
    assert run("run", SUBJECT, *SHORT).returncode == 0
    database = run.folder / "results/infermeter.db"
    with sqlite3.connect(database) as connection:
        connection.execute("pragma user_version = 9999")
    done = run("run", SUBJECT, *SHORT)
    one_sentence(done, 2)
    assert "newer" in done.stderr


def test_sixteen_processes_write_one_store(run):
    with ThreadPoolExecutor(max_workers=16) as pool:
        done = list(pool.map(lambda _: run("run", SUBJECT, *SHORT), range(16)))
    assert [one.returncode for one in done] == [0] * 16, [one.stderr for one in done if one.returncode]
    listed = json.loads(run("runs", "--format", "json").stdout)
    assert len(listed) == 16


def test_output_folder_that_cannot_be_written(run):
    (run.folder / "results").write_text("a file where the folder should be")
    done = run("run", SUBJECT, *SHORT)
    one_sentence(done, 2)
    assert "results" in done.stderr


@pytest.mark.parametrize("iterations, latency", [(1, "constant:1ms"), (2, "constant:1ms"), (50, "none")])
def test_few_or_constant_samples_give_no_nan(run, iterations, latency):
    done = run("run", f"mlp@fake,latency={latency}", f"other=mlp@fake,latency={latency}", "--processes", 1,
               "--iterations", iterations, "--warmup", 0, "--quiet", "--format", "json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    metrics = record["subjects"][0]["metrics"]
    assert metrics["latency_p99"]["value"] is None and "needs" in metrics["latency_p99"]["note"]


@pytest.mark.parametrize("surroundings", [
    {"LC_ALL": "C", "LANG": "C"}, {"TERM": ""}])
def test_poor_environments(run, surroundings):
    done = run("run", SUBJECT, *SHORT, env=surroundings)
    assert done.returncode == 0, done.stderr


def test_home_that_cannot_be_written(run):
    done = run("run", SUBJECT, *SHORT, "--format", "json", env={"HOME": "/proc/nowhere", "XDG_CACHE_HOME": ""})
    assert done.returncode == 0, done.stderr
    assert "home_read_only" in [diagnostic["id"] for diagnostic in json.loads(done.stdout)["diagnostics"]]


def test_one_processor(run, infermeter):
    done = run("-c", "0", infermeter, "run", SUBJECT, *SHORT, "--format", "json", program="/usr/bin/taskset")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["environment"]["processors_usable"] == 1


def test_doctor_names_what_is_missing(run):
    done = run("doctor", "--format", "json")
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert findings and all(finding["id"] and finding["message"] and finding["remedy"] for finding in findings)


def test_strict_sandbox_holds(run):
    outside = run.folder / "escaped"
    done = run("run", f"mlp@fake,write_file={outside},connect=true,execute=true", *SHORT, "--sandbox", "strict",
               "--format", "json")
    if "sandbox" in done.stderr:
        pytest.skip("the kernel cannot do it")
    assert done.returncode == 0, done.stderr
    counters = {counter["name"]: counter["value"] for counter in json.loads(done.stdout)["trials"][0]["counters"]}
    assert counters["write_error"] != 0 and counters["connect_error"] != 0 and counters["execute_error"] != 0
    assert not outside.exists()


@pytest.mark.parametrize("verb", [("baseline", "set", "a", "latest"), ("run", SUBJECT, *SHORT)])
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_wait_for_a_locked_store_ends_at_a_signal(run, infermeter, environment, verb, number, code):
    assert run("run", SUBJECT, *SHORT).returncode == 0
    database = run.folder / "results/infermeter.db"
    with sqlite3.connect(database, isolation_level=None) as holder:
        holder.execute("begin exclusive")
        waiting = subprocess.Popen([str(infermeter), *map(str, verb)], env=environment, cwd=run.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: str(database) in open_files(waiting.pid))
        waiting.send_signal(number)
        _, errors = waiting.communicate(timeout=HANG_S)
    assert waiting.returncode == code, errors
    # A run looks at the store before it has anything to keep there.
    said = ("infermeter: stopped while it waited for the store", "infermeter: interrupted before anything was measured")
    assert errors.startswith(said) and errors.count("\n") == 1


def open_files(pid):
    names = set()
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            names.add(os.readlink(entry.path))
        except FileNotFoundError:
            pass
    return names


@pytest.mark.parametrize("verb", [
    ("run", SUBJECT, *SHORT), ("run", "--resume"), ("report",), ("runs",), ("history",), ("baseline",),
    ("baseline", "set", "a", "latest"), ("gate", "gate.toml"), ("run", SUBJECT, "--dry-run"), ("doctor", "--aa", 8, "--aa-subject", SUBJECT)])
@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_a_store_that_is_no_file_is_refused_at_once(run, verb, kind):
    (run.folder / "gate.toml").write_text('expect = "outputs agree"\n')
    database = run.folder / "results/infermeter.db"
    database.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(database)
    elif kind == "folder":
        database.mkdir()
    else:
        database.symlink_to("/dev/zero")
    done = run(*verb)
    if "--dry-run" in verb:  # what earlier runs took is all that it would say
        assert done.returncode == 0, done.stderr
    else:
        one_sentence(done, 2)
        assert f"infermeter.db: it is a {'FIFO' if kind == 'fifo' else kind}" in done.stderr


@pytest.mark.parametrize("damage", ["remove the folder", "remove the store", "swap the store"])
def test_a_store_that_is_gone_is_not_reported_as_kept(run, infermeter, environment, damage):
    driver = subprocess.Popen([str(infermeter), "run", "mlp@fake,latency=constant:1ms,work=sleep", "--processes", "500", "--iterations",
                               "20", "--warmup", "0"], env=environment, cwd=run.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    database = run.folder / "results/infermeter.db"
    wait_until(database.exists)
    if damage == "remove the folder":
        shutil.rmtree(database.parent)
    elif damage == "remove the store":
        database.unlink()
    else:
        shutil.copy(database, run.folder / "other.db")
        os.rename(run.folder / "other.db", database)
    output, errors = driver.communicate(timeout=HANG_S)
    assert driver.returncode == 2, errors
    assert "is stored" not in errors and "infermeter.db" in errors.rstrip("\n").rsplit("\n", 1)[-1]


def test_a_run_is_resumed_from_another_folder_and_with_another_cache(run, environment, tmp_path):
    """What it needs is found where it was, or made again where the cache is now; its CSV is beside its store."""
    arguments = ("mlp@fake,latency=constant:5ms,work=sleep", "--processes", 3, "--iterations", 50, "--quiet")
    shim = {"XDG_CACHE_HOME": str(tmp_path / "first cache")}
    full = run("run", *arguments, env=shim)
    assert full.returncode == 0, full.stderr
    with sqlite3.connect(run.folder / "results/infermeter.db") as store:  # as if it had been killed before its last trial
        store.execute("update runs set finished = 0, checksum = null, listing_checksum = null, records = null")
        store.execute("delete from trials where position = 2")
    csv = next((run.folder / "results/raw").glob("*.csv"))
    csv.unlink()
    shutil.rmtree(tmp_path / "first cache")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    resumed = run("run", "--resume", "--output-dir", "../work/results", "--format", "json", "--quiet", cwd=elsewhere,
                  env={"XDG_CACHE_HOME": str(tmp_path / "second cache")})
    assert resumed.returncode == 0, resumed.stderr
    assert [trial["end"] for trial in json.loads(resumed.stdout)["trials"]] == ["ok"] * 3
    assert csv.exists() and not list(elsewhere.iterdir())


def test_runs_of_one_second_have_a_csv_each(run):
    with ThreadPoolExecutor(max_workers=8) as pool:
        done = list(pool.map(lambda _: run("run", "mlp@fake", "--processes", 1, "--iterations", 1, "--warmup", 0, "--quiet"),
                             range(16)))
    assert [one.returncode for one in done] == [0] * 16, [one.stderr for one in done if one.returncode]
    ids = {listed["id"] for listed in json.loads(run("runs", "--format", "json").stdout)}
    written = [file.read_text() for file in (run.folder / "results/raw").iterdir()]
    assert len(written) == 16 and {run_id for run_id in ids if any(run_id in text for text in written)} == ids
