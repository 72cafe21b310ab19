"""Whatever ends a run, or fails under it: nothing acknowledged is lost, and what is resumed says what the unbroken run
says. In `make test` a few of each kind; `make test-faults` (FAULTS=long) tries them all over."""

import random
import signal
import subprocess

import breakage
import pytest
from breakage import VERBS, Bench, is_long, spread

LONG_KILLS = 1000  # of `run` alone, at random moments


@pytest.fixture(scope="module")
def bench(tmp_path_factory, infermeter, environment_in, fault_shim):
    """bench(verb) -> where it is broken off; made once, and reported at the end."""
    benches = {}

    def make(name):
        if name not in benches:
            folder = tmp_path_factory.mktemp(name)
            benches[name] = Bench(folder, infermeter, environment_in(folder), fault_shim, VERBS[name])
        return benches[name]

    yield make
    for one in benches.values():
        print(f"\n{one.verb.name}: {one.tried} broken off, {one.tried} equal to the unbroken run; faults that ended it: "
              + (", ".join(f"{what} {count}" for what, count in one.reached.items()) or "none"))


def few(short, long):
    return long if is_long() else short


def test_killed_at_a_sync(bench):
    run = bench("run")
    for at in spread(run.syncs, few(3, run.syncs)):
        run.break_off("kill at a sync", call="sync", at=at, what="kill")


def test_killed_at_a_write(bench):
    run = bench("run")
    for at in spread(run.writes, few(1, run.writes)):
        run.break_off("kill at a write", call="write", at=at, what="kill")


@pytest.mark.skipif(not is_long(), reason="make test-faults")
def test_killed_at_any_moment(bench):
    run = bench("run")
    moments = random.Random(1)
    for _ in range(LONG_KILLS):
        run.kill_after(moments.uniform(0, 1.2))


@pytest.mark.parametrize("verb", ["automatic", "profile", "compare", "variants", "gate", "study"])
def test_every_verb_that_measures_is_resumed_to_the_same_answer(bench, verb):
    one = bench(verb)
    for at in few([2 * one.syncs // 3], spread(one.syncs, 40)):
        one.break_off("kill at a sync", call="sync", at=at, what="kill")


def test_a_sync_that_fails(bench):
    run = bench("run")
    for at in spread(run.syncs, few(1, run.syncs)):
        run.break_off("EIO of a sync", call="sync", at=at, what="eio")


@pytest.mark.parametrize("what", ["eio", "enospc", "short"])
def test_a_write_that_fails(bench, what):
    run = bench("run")
    for at in spread(run.writes, few(1, 120)):
        run.break_off(f"{what} of a write", call="write", at=at, what=what)


def test_a_disk_that_is_full_after_so_many_bytes(bench):
    run = bench("run")
    for left in spread(run.bytes, few(1, 120)):
        run.break_off("full disk", bytes=left)


def test_memory_that_runs_out(bench):
    run = bench("run")
    for at in spread(run.mallocs, few(2, 400)):
        run.break_off("malloc fails", call="malloc", at=at, what="null")


def test_a_limit_of_file_sizes_is_told(bench, infermeter):
    one = bench("run")
    limited = subprocess.run(["/bin/bash", "-c", 'ulimit -f 20; exec "$0" "$@"', str(infermeter), *one.verb.start],
                             cwd=one.place(), env=one.environment, capture_output=True, text=True)
    assert limited.returncode == 2, limited.stderr
    assert limited.stderr.startswith("infermeter: ") and "File too large" in limited.stderr


def test_a_run_that_is_being_measured_is_not_resumed(bench):
    """Stopped in its middle, so that it stays unfinished: neither `--resume` nor two at once take it over."""
    one = bench("run")
    place = one.place()
    stopped = one.start(place, one.verb.start, {"FAULT_CALL": "sync", "FAULT_AT": str(one.syncs - 6), "FAULT_WHAT": "stop"})
    wait_until_stopped(stopped)
    other = one.call(place, ["run", "--resume", "latest"])
    assert other.returncode == 2 and "another infermeter is measuring" in other.stderr, other.stderr
    run_id = one.listed(place)[0]["id"]
    named = one.call(place, ["run", "--resume", run_id])
    assert named.returncode == 2 and "is being measured by another infermeter" in named.stderr, named.stderr
    stopped.send_signal(signal.SIGCONT)
    output, errors = stopped.communicate(timeout=breakage.LIMIT_S)
    one.check(place, subprocess.CompletedProcess([], stopped.returncode, output, errors))


def test_two_that_resume_at_once(bench):
    one = bench("run")
    for at in spread(one.syncs - 2, few(1, 20)):
        place = one.place()
        one.call(place, one.verb.start, {"FAULT_CALL": "sync", "FAULT_AT": str(at), "FAULT_WHAT": "kill"})
        if not one.listed(place):
            continue
        both = [one.start(place, one.verb.resume) for _ in range(2)]
        done = [subprocess.CompletedProcess([], process.returncode, output, errors)
                for process in both for output, errors in [process.communicate(timeout=breakage.LIMIT_S)]]
        # One finishes it; the other found it taken, or finished already.
        assert sorted(each.returncode for each in done) == [one.exit_code, 2], [each.stderr for each in done]
        one.check(place, next(each for each in done if each.returncode == one.exit_code))


def wait_until_stopped(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        while True:
            stat.seek(0)
            state = stat.read().rsplit(")", 1)[1].split()[0]
            if state == "T":
                return
            assert state != "Z", process.communicate()[1]
