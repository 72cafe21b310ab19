"""scancel at many moments, and two resumes at once: no acknowledged trial is lost, none is there twice. FAULTS=long: at fifty moments."""

import os
import sqlite3
from collections import Counter

import pytest
from waiting import wait_until

BLOCKS = 4
PLAN = ("a=mlp@fake,latency=constant:2ms,work=sleep", "b=mlp@fake,latency=constant:2ms,work=sleep",
        "--processes", str(BLOCKS), "--iterations", "20", "--warmup", "1", "--seed", "3")
HOW = ((), ("--signal=KILL", "--full"), ("--signal=TERM", "--full"))
# (trials that are there when it comes, how)
MOMENTS = [(n % (2 * BLOCKS), HOW[n % 3]) for n in range(50)] if os.environ.get("FAULTS") == "long" else [(0, HOW[0]), (3, HOW[1])]


def acknowledged(folder):
    """What the tasks have on disk: {(block, subject): when it began}."""
    found = {}
    for store in folder.glob("results/jobs/*/*/infermeter.db"):
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as base:
            for process, subject, began in base.execute("""SELECT process, subject, started_at FROM trials WHERE "end" = 'ok'"""):
                found[process, subject] = began
    return found


@pytest.mark.parametrize("trials, how", MOMENTS)
def test_what_is_acknowledged_stays(on_cluster, run_slowly, cluster, report, trials, how):
    def queue():
        return cluster.ask("squeue", "--noheader", "--format=%i").split()

    assert on_cluster("run", *PLAN, "--on", "slurm", "--nodes", "2").returncode == 0
    (job,) = {task.split("_")[0] for task in queue()}
    wait_until(lambda: len(acknowledged(on_cluster.folder)) >= trials or not queue())
    cluster.ask("scancel", *how, job)
    wait_until(lambda: not queue())
    early = acknowledged(on_cluster.folder)
    resume = ("run", "--resume", "--on", "slurm", "--wait")
    with run_slowly(*resume) as first, run_slowly(*resume) as second:
        ends = [first.end(), second.end()]
    assert 0 in [code for code, _, _ in ends], ends
    for code, _, err in ends:
        assert code == 0 or "is being measured" in err or "is finished" in err or "no unfinished run" in err, err
    whole = report()
    assert whole["finished"]
    count = Counter((trial["process"], trial["subject"]) for trial in whole["trials"])
    assert count == {(block, subject): 1 for block in range(BLOCKS) for subject in range(2)}
    assert {trial["end"] for trial in whole["trials"]} == {"ok"}
    late = acknowledged(on_cluster.folder)
    for block in range(BLOCKS):
        if all((block, subject) in early for subject in range(2)):  # half of one is measured again if its task moves to another node
            assert all(late[block, subject] == early[block, subject] for subject in range(2))
