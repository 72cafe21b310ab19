"""Surroundings that lack something: it works, with a named diagnostic, or says in one sentence why it cannot."""

import json
import os
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

SUBJECT = "mlp@fake,latency=constant:100us"
SHORT = ("--processes", 1, "--iterations", 20, "--quiet")


FAILING_FSYNC = """
#include <errno.h>
int fsync(int file) { (void)file; errno = EIO; return -1; }
int fdatasync(int file) { (void)file; errno = EIO; return -1; }
"""


@pytest.fixture
def no_fsync(tmp_path):
    """Environment in which the disk refuses to say that anything is on it."""
    (tmp_path / "fsync.c").write_text(FAILING_FSYNC)
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "fsync.c", "-o", tmp_path / "fsync.so"], check=True)
    return {"LD_PRELOAD": str(tmp_path / "fsync.so")}


def test_results_that_are_not_on_the_disk_are_not_reported_as_kept(run, no_fsync):
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
