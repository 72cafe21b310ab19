"""What a runtime can do wrong, done by the fake back end: every case leaves a record, and the others continue."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from waiting import HANG_S, wait_until

GOOD = "good=mlp@fake,latency=constant:1ms,work=sleep"


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
    done, _, trials = measured(run, GOOD, "bad=mlp@fake,latency=constant:1ms,work=sleep,kill=run:15")
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
    assert trials["bad"]["wall_s"] > 0.4
    assert trials["good"]["end"] == "ok"


@pytest.mark.parametrize("bad", ["memory=4GB", "memory_per_run=20MB", "out_of_memory=load", "out_of_memory=run:5"])
def test_memory_limit(run, bad):
    done, _, trials = measured(run, f"bad=mlp@fake,latency=constant:1ms,work=sleep,{bad}", GOOD, iterations=200,
                               limits=("--memory-limit", "500MB"))
    assert done.returncode == 4
    assert trials["bad"]["end"] == "out_of_memory"
    assert trials["good"]["end"] == "ok"


def test_endless_stderr_neither_blocks_nor_fills_the_record(run):
    done, _, trials = measured(run, "bad=mlp@fake,stderr=endless", limits=("--load-timeout", "1s"))
    assert trials["bad"]["end"] == "timeout"
    assert len(trials["bad"]["stderr_tail"].encode()) <= 20_000


def started_by(pid):
    """Its children, and theirs."""
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return children + [other for child in children for other in started_by(child)]


def start(infermeter, environment, folder, *arguments):
    return subprocess.Popen([str(infermeter), "run", *map(str, arguments)], env=environment, cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def field_of(pid, name):
    """Of /proc/PID/status; "": it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return next((line.split(":")[1].strip() for line in lines if line.startswith(name)), "")


def trial_worker(driver, sleeps):
    """The worker of a trial, well into its work: it has slept so often, as only inferences do."""
    return wait_until(lambda: [child for child in started_by(driver.pid)
                               if int(field_of(child, "voluntary_ctxt_switches") or 0) >= sleeps])[0]


def hangs(pid):
    """It sleeps, and has not been awake, at ten looks 30 ms apart."""
    def look():
        return field_of(pid, "State"), field_of(pid, "voluntary_ctxt_switches")
    first = look()
    for _ in range(10):
        time.sleep(0.03)
        if look() != first or not str(first[0]).startswith("S"):
            return False
    return True


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
    arguments = ("a=mlp@fake,latency=constant:2ms,work=sleep", "b=mlp@fake,latency=constant:3ms,work=sleep", "--processes", 4,
                 "--iterations", 100, "--seed", 7)
    driver = start(infermeter, environment, run.folder, *arguments)
    wait_until(lambda: trials_stored(run.folder) >= 2)
    workers = wait_until(lambda: started_by(driver.pid))
    driver.kill()
    driver.wait()
    for worker in workers:
        wait_until(lambda worker=worker: gone(worker))
    resumed = run("run", *arguments, "--resume", "latest", "--format", "json", "--quiet")
    assert resumed.returncode == 0, resumed.stderr
    record = json.loads(resumed.stdout)
    assert sorted((trial["subject"], trial["process"]) for trial in record["trials"]) == \
        [(subject, process) for subject in range(2) for process in range(4)]
    assert all(trial["end"] == "ok" and len(latencies(trial)) == 100 for trial in record["trials"])


def test_a_stopped_worker_is_ended_at_its_limit(run, infermeter, environment):
    driver = start(infermeter, environment, run.folder, "mlp@fake,latency=constant:1ms,work=sleep", "--processes", 1,
                   "--warmup", 0, "--iterations", 1000000, "--run-timeout", "3s", "--format", "json")
    worker = trial_worker(driver, sleeps=100)
    os.kill(worker, signal.SIGSTOP)
    output, errors = driver.communicate(timeout=HANG_S)
    assert driver.returncode == 4, errors
    trial = json.loads(output)["trials"][0]
    assert (trial["end"], trial["phase"]) == ("timeout", "timed") and len(latencies(trial)) > 10
    wait_until(lambda: gone(worker))


def test_resume_refuses_another_plan_and_a_finished_run(run, infermeter, environment):
    arguments = ["mlp@fake,latency=constant:5ms,work=sleep", "--processes", 3, "--iterations", 100]
    driver = start(infermeter, environment, run.folder, *arguments)
    wait_until(lambda: trials_stored(run.folder) >= 1)
    driver.kill()
    driver.wait()

    def other_plan():
        return run("run", "mlp@fake,latency=constant:4ms,work=sleep", "--processes", 3, "--iterations", 100, "--resume", "latest")

    # A worker that was just being started may hold the run a moment longer.
    wait_until(lambda: "another infermeter" not in other_plan().stderr)
    other = other_plan()
    assert other.returncode == 2 and "plan" in other.stderr
    assert run("run", *arguments, "--resume", "latest").returncode == 0
    again = run("run", *arguments, "--resume", "latest")
    assert again.returncode == 2 and "finished" in again.stderr


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_signal_finishes_the_iteration_and_reports_what_there_is(run, infermeter, environment, number, code):
    driver = start(infermeter, environment, run.folder, "mlp@fake,latency=constant:5ms,work=sleep",
                   "--processes", 2, "--warmup", 0, "--iterations", 100000, "--format", "json")
    worker = trial_worker(driver, sleeps=200)
    driver.send_signal(number)
    output, errors = driver.communicate(timeout=HANG_S)
    assert driver.returncode == code, errors
    record = json.loads(output)
    assert record["finished"] is False
    trial = record["trials"][0]
    assert trial["end"] == "interrupted" and len(latencies(trial)) > 10
    wait_until(lambda: gone(worker))


@pytest.mark.parametrize("where, phase", [("load", "load"), ("compile", "compile"), ("run:1", "first_inference")])
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_signal_ends_a_worker_that_does_not_look_for_one(run, infermeter, environment, where, phase, number, code):
    driver = start(infermeter, environment, run.folder, f"mlp@fake,hang={where}", "--processes", 2, "--warmup", 0,
                   "--iterations", 5, "--load-timeout", "1h", "--run-timeout", "1h", "--format", "json")
    worker = wait_until(lambda: [child for child in started_by(driver.pid) if hangs(child) and not_supervisor(child)])[0]
    driver.send_signal(number)
    output, errors = driver.communicate(timeout=HANG_S)
    assert driver.returncode == code, errors
    trial = json.loads(output)["trials"][0]
    assert (trial["end"], trial["phase"]) == ("interrupted", phase), trial
    wait_until(lambda: gone(worker))


def not_supervisor(pid):
    try:
        return b"--supervise" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return False


def test_one_signal_ends_an_iteration_that_does_not_end(run, infermeter, environment):
    driver = start(infermeter, environment, run.folder, "mlp@fake,latency=constant:5ms,work=sleep,hang=run:200",
                   "--processes", 2, "--warmup", 0, "--iterations", 1000, "--run-timeout", "1h", "--format", "json")
    worker = trial_worker(driver, sleeps=190)
    wait_until(lambda: hangs(worker))
    driver.send_signal(signal.SIGINT)
    output, errors = driver.communicate(timeout=HANG_S)
    assert driver.returncode == 130, errors
    trial = json.loads(output)["trials"][0]
    assert trial["end"] == "interrupted" and len(latencies(trial)) > 100, "what it has done is kept"
    wait_until(lambda: gone(worker))


def test_two_signals_end_at_once(run, infermeter, environment):
    driver = start(infermeter, environment, run.folder, "mlp@fake,latency=constant:5ms,work=sleep,hang=run:200",
                   "--processes", 2, "--warmup", 0, "--iterations", 1000)
    worker = trial_worker(driver, sleeps=190)
    wait_until(lambda: hangs(worker))
    driver.send_signal(signal.SIGINT)
    wait_until(lambda: driver.poll() is not None or int(field_of(driver.pid, "ShdPnd") or "0", 16) == 0)
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=HANG_S)
    assert driver.returncode == 130
    wait_until(lambda: gone(worker))


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_what_does_not_look_for_one(run, infermeter, environment, number, code):
    """While the bytes of a model are read: a sparse file, so large that nobody waits for its end."""
    model = run.folder / "large.pt"
    with open(model, "wb") as file:
        file.truncate(1 << 42)
    driver = start(infermeter, environment, run.folder, f"{model}@fake", "--allow-code")
    wait_until(lambda: driver.poll() is not None or is_read_by(model, driver.pid))
    assert driver.poll() is None, driver.communicate()
    driver.send_signal(number)
    _, errors = driver.communicate(timeout=HANG_S)
    assert driver.returncode == code and "interrupted" in errors


def is_read_by(file, process):
    return any(os.path.realpath(entry) == str(file) for entry in Path(f"/proc/{process}/fd").iterdir())
