"""The tasks of a run on a cluster, as its script calls them; what starts them is this test, so that no cluster is needed."""

import json
import re
import sqlite3
import subprocess
from collections import Counter

import pytest

SUBJECTS = ("a=mlp@fake,latency=constant:1ms,work=sleep", "b=mlp@fake,latency=constant:1ms,work=sleep")
PLAN = (*SUBJECTS, "--processes", "5", "--iterations", "5", "--warmup", "1", "--seed", "3")


@pytest.fixture
def begun(run):
    """begun(…) -> the script of a run that is begun, and not submitted."""

    def begin(*arguments):
        done = run("run", *PLAN, "--on", "slurm", "--nodes", "2", "--write-job", "job.sh", *arguments)
        assert done.returncode == 0 and done.stdout == "", done.stderr
        return run.folder / "job.sh"

    return begin


@pytest.fixture
def task(run, environment):
    """task(script, 2, node="n1") -> what the second task of the script said."""

    def start(script, number, node="n1"):
        variables = {"SLURM_ARRAY_TASK_ID": str(number), "SLURMD_NODENAME": node}
        return subprocess.run(["sh", script], env=environment | variables, cwd=run.folder, capture_output=True, text=True, timeout=120)

    return start


def places(report):
    """Where each trial ran: {(block, subject): node}."""
    return {(trial["process"], trial["subject"]): trial["executed"]["node"] for trial in report["trials"]}


def test_the_script_says_what_it_does(run, begun):
    assert run("models", "build", "mlp", "m.onnx").returncode == 0
    text = begun("c=m.onnx@fake", "--partition", "long queue", "--constraint", "a|b", "--time", "90s", "--sbatch=--account=lab").read_text()
    for line in ("#SBATCH --array=1-2", "#SBATCH --exclusive", '#SBATCH --partition="long queue"', '#SBATCH --constraint="a|b"',
                 "#SBATCH --time=2", "#SBATCH --account=lab", "#SBATCH --requeue", "#SBATCH --open-mode=append"):
        assert f"\n{line}\n" in text
    assert re.search(r"\n#   [0-9a-f]{64}  \S*/m.onnx\n", text)
    assert subprocess.run(["sh", "-n", run.folder / "job.sh"]).returncode == 0


def test_blocks_come_together_in_one_run(run, begun, task, report):
    script = begun()
    first = task(script, 1, "n1")
    assert first.returncode == 0 and "[ 1/10]" in first.stderr and "measured its blocks on n1" in first.stderr, first.stderr
    again = task(script, 1, "n2")
    assert again.returncode == 0 and "[" not in again.stderr  # it does nothing again
    early = run("run", "--resume")
    assert early.returncode == 4 and "3 of the 5 blocks" in early.stderr and "task 2 has said nothing" in early.stderr
    assert len(report()["trials"]) == 6
    assert task(script, 2, "n2").returncode == 0
    done = run("run", "--resume", "--format", "json")
    assert done.returncode == 0, done.stderr
    whole = report()
    assert places(whole) == {(block, subject): "n1" if block < 3 else "n2" for block in range(5) for subject in range(2)}
    assert [trial["position"] for trial in whole["trials"]] == list(range(10))
    assert "is finished" in run("run", "--resume", whole["id"]).stderr


def test_half_a_block_of_another_node_is_measured_again(run, begun, environment, task, report):
    """The node dies while the second block is measured."""
    script = begun()
    line = script.read_text().splitlines()[-1].removeprefix("exec ")
    started = subprocess.Popen(["sh", "-c", "exec " + line], env=environment | {"SLURM_ARRAY_TASK_ID": "1", "SLURMD_NODENAME": "n1"},
                               cwd=run.folder, stderr=subprocess.PIPE, text=True)
    said = ""
    while "[ 3/10]" not in said:
        said += started.stderr.readline()
    started.kill()  # a node that dies
    started.communicate()
    assert task(script, 1, "n2").returncode == 0 and task(script, 2, "n2").returncode == 0
    assert run("run", "--resume").returncode == 0
    where = places(report())
    assert where[0, 0] == where[0, 1] == "n1"
    assert all(where[block, 0] == where[block, 1] for block in range(5))
    assert Counter(where.values())["n1"] in (2, 4, 6)  # the second block may have been whole by then


def test_a_node_with_another_model_measures_nothing(run, begun, task):
    assert run("models", "build", "mlp", "m.onnx").returncode == 0
    script = begun("c=m.onnx@fake")
    (run.folder / "m.onnx").rename(run.folder / "kept.onnx")
    gone = task(script, 1)
    assert gone.returncode == 2 and "m.onnx" in gone.stderr
    (run.folder / "m.onnx").write_bytes((run.folder / "kept.onnx").read_bytes() + b"\x42\x00")  # an empty doc of the graph's
    other = task(script, 1)
    assert other.returncode == 2 and "has changed since (SHA-256" in other.stderr
    assert "0 of the 5 blocks" in run("run", "--resume").stderr


@pytest.mark.parametrize("arguments, says", [
    (("--on", "slrm"), "did you mean 'slurm'?"),
    (("--nodes", "2"), "--nodes is for runs on a cluster"),
    (("--wait",), "--wait waits for a run on a cluster"),
    (("--on", "slurm", "--nodes", "0"), "--nodes"),
    (("--on", "slurm", "--write-job", "j", "--wait"), "leave one out"),
    (("--on", "slurm", "--write-job", "j", "--partition", "a\nb"), "characters that a job cannot hold"),
    (("--on", "slurm", "--write-job", "j", "--sbatch=x"), "not an option of sbatch"),
    (("--on", "slurm", "--write-job", "j", "--repeat-disturbed", "2"), "leave it out with --on"),
    (("--on", "slurm", "--write-job", "j", "--env", "LD_PRELOAD=x"), "variables by which code can come"),
    (("--on", "slurm", "--write-job", "no/such/j"), "no/such"),
    (("--on", "kubernetes"), "--write-job FILE"),
    (("--on", "kubernetes", "--write-job", "j"), "--image"),
    (("--on", "kubernetes", "--write-job", "j", "--image", "i"), "--volume"),
    (("--shard", "1/2"), "--shard is for a task"),
    (("--resume", "latest", "--shard", "3/2"), "no K/N"),
])
def test_what_cannot_be_is_said_and_nothing_is_begun(run, arguments, says):
    plan = () if "--resume" in arguments else PLAN
    done = run("run", *plan, *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert says.replace("no K/N", "is not K/N") in done.stderr
    assert not list((run.folder / "results").glob("jobs/*"))
    if (store := run.folder / "results/infermeter.db").exists():
        with sqlite3.connect(store) as base:
            assert base.execute("SELECT count(*) FROM runs").fetchone() == (0,)


def test_there_is_no_slurm_here(run):
    done = run("run", *PLAN, "--on", "slurm", env={"PATH": "/nonexistent"})
    assert done.returncode == 2 and "--write-job FILE writes the job" in done.stderr


def test_a_run_of_this_machine_is_not_one_of_a_cluster(run):
    run("run", *PLAN, "--processes", "1")
    (record,) = json.loads(run("runs", "--format", "json").stdout)
    done = run("run", "--resume", record["id"], "--on", "slurm")
    assert done.returncode == 2 and "was not begun on a cluster" in done.stderr
