"""What a runtime can do wrong, done by the fake back end: every case leaves a record, and the others go on."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

GOOD = "good=mlp@fake,latency=constant:1ms"


def measured(run, *subjects, limits=(), processes=1, iterations=20):
    done = run("run", *subjects, "--processes", processes, "--iterations", iterations, "--warmup", 2, "--quiet",
               "--format", "json", *limits)
    record = json.loads(done.stdout)
    return done, record, {label(record, trial): trial for trial in record["trials"]}


def label(record, trial):
    return record["plan"]["subjects"][trial["subject"]]["label"]


def latencies(trial):
    return trial["samples"]["latency_s"]


def test_worker_killed_in_a_measured_loop(run):
    done, _, trials = measured(run, GOOD, "bad=mlp@fake,latency=constant:1ms,kill=run:15")
    assert done.returncode == 4
    assert (trials["bad"]["end"], trials["bad"]["signal"], trials["bad"]["phase"]) == ("crashed", 9, "timed")
    assert 0 < len(latencies(trials["bad"])) < 20
    assert "samples_partial" in [diagnostic["id"] for diagnostic in trials["bad"]["diagnostics"]]
    assert trials["good"]["end"] == "ok" and len(latencies(trials["good"])) == 20


@pytest.mark.parametrize("how, signals", [("crash", [signal.SIGSEGV]), ("abort", [signal.SIGABRT])])
def test_crash_at_load(run, how, signals):
    done, _, trials = measured(run, GOOD, f"bad=mlp@fake,{how}=load,stderr=100000")
    assert done.returncode == 4
    assert trials["bad"]["end"] == "crashed" and trials["bad"]["signal"] in signals
    assert trials["bad"]["phase"] == "load"
    assert 0 < len(trials["bad"]["stderr_tail"].encode()) <= 20_000
    assert trials["good"]["end"] == "ok"
    assert not list(run.folder.rglob("core*"))


def test_failure_that_the_runtime_reports(run):
    done, _, trials = measured(run, GOOD, "bad=mlp@fake,fail=load", "worse=mlp@fake,fail=run:9")
    assert done.returncode == 3
    assert trials["bad"]["end"] == "load_failed" and trials["bad"]["message"]
    assert trials["worse"]["end"] == "run_failed" and trials["worse"]["message"]


@pytest.mark.parametrize("where, phase, limits", [
    ("load", "load", ("--load-timeout", "500ms")),
    ("compile", "compile", ("--load-timeout", "500ms")),
    ("run:8", "timed", ("--run-timeout", "500ms"))])
def test_endless_work_is_ended_at_its_limit(run, where, phase, limits):
    done, _, trials = measured(run, GOOD, f"bad=mlp@fake,hang={where}", limits=limits)
    assert done.returncode == 4
    assert (trials["bad"]["end"], trials["bad"]["phase"]) == ("timeout", phase)
    assert 0.4 < trials["bad"]["wall_s"] < 1.5
    assert trials["good"]["end"] == "ok"


@pytest.mark.parametrize("bad", ["memory=4GB", "memory_per_run=20MB", "out_of_memory=load", "out_of_memory=run:5"])
def test_memory_limit(run, bad):
    done, _, trials = measured(run, f"bad=mlp@fake,latency=constant:1ms,{bad}", GOOD, iterations=200,
                               limits=("--memory-limit", "500MB"))
    assert done.returncode == 4
    assert trials["bad"]["end"] == "out_of_memory"
    assert trials["good"]["end"] == "ok"


def test_endless_stderr_neither_blocks_nor_fills_the_record(run):
    done, _, trials = measured(run, "bad=mlp@fake,stderr=endless", limits=("--load-timeout", "1s"))
    assert trials["bad"]["end"] == "timeout"
    assert len(trials["bad"]["stderr_tail"].encode()) <= 20_000


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (value := condition()):
            return value
        time.sleep(0.01)
    raise AssertionError("it did not come so far")


def start(infermeter, environment, folder, *arguments):
    return subprocess.Popen([str(infermeter), "run", *map(str, arguments)], env=environment, cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def trial_worker(driver):
    """The worker of a trial, well into its work: the driver's first child that lives for a second (a probe does not)."""
    seen = {}

    def found():
        now = time.monotonic()
        alive = children_of(driver.pid)
        for child in alive:
            seen.setdefault(child, now)
        return [child for child in alive if now - seen[child] > 1.0]

    return wait_until(found)[0]


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def trials_stored(folder):
    import sqlite3
    file = folder / "results/infermeter.db"
    if not file.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            return database.execute("select count(*) from trials").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_killed_driver_leaves_no_orphan_and_resumes(run, infermeter, environment):
    arguments = ("a=mlp@fake,latency=constant:2ms", "b=mlp@fake,latency=constant:3ms", "--processes", 4,
                 "--iterations", 100, "--seed", 7)
    driver = start(infermeter, environment, run.folder, *arguments)
    wait_until(lambda: trials_stored(run.folder) >= 2)
    workers = wait_until(lambda: children_of(driver.pid))
    driver.kill()
    driver.wait()
    for worker in workers:
        wait_until(lambda worker=worker: gone(worker), seconds=1.0)
    resumed = run("run", *arguments, "--resume", "latest", "--format", "json", "--quiet")
    assert resumed.returncode == 0, resumed.stderr
    record = json.loads(resumed.stdout)
    assert sorted((trial["subject"], trial["process"]) for trial in record["trials"]) == \
        [(subject, process) for subject in range(2) for process in range(4)]
    assert all(trial["end"] == "ok" and len(latencies(trial)) == 100 for trial in record["trials"])


def test_resume_refuses_another_plan_and_a_finished_run(run, infermeter, environment):
    arguments = ["mlp@fake,latency=constant:5ms", "--processes", 3, "--iterations", 100]
    driver = start(infermeter, environment, run.folder, *arguments)
    wait_until(lambda: trials_stored(run.folder) >= 1)
    driver.kill()
    driver.wait()
    other = run("run", "mlp@fake,latency=constant:4ms", "--processes", 3, "--iterations", 100, "--resume", "latest")
    assert other.returncode == 2 and "plan" in other.stderr
    assert run("run", *arguments, "--resume", "latest").returncode == 0
    again = run("run", *arguments, "--resume", "latest")
    assert again.returncode == 2 and "finished" in again.stderr


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_signal_finishes_the_iteration_and_reports_what_there_is(run, infermeter, environment, number, code):
    driver = start(infermeter, environment, run.folder, "mlp@fake,latency=constant:5ms", "--processes", 2,
                   "--warmup", 0, "--iterations", 100000, "--format", "json")
    worker = trial_worker(driver)
    driver.send_signal(number)
    output, errors = driver.communicate(timeout=20)
    assert driver.returncode == code, errors
    record = json.loads(output)
    assert record["finished"] is False
    trial = record["trials"][0]
    assert trial["end"] == "interrupted" and len(latencies(trial)) > 10
    wait_until(lambda: gone(worker), seconds=1.0)


def test_two_signals_end_at_once(run, infermeter, environment):
    driver = start(infermeter, environment, run.folder, "mlp@fake,hang=run:20", "--processes", 2)
    worker = trial_worker(driver)
    driver.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert driver.poll() is None
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=5)
    assert driver.returncode == 130
    wait_until(lambda: gone(worker), seconds=1.0)
