"""Runs on a real Slurm: two nodes on this machine, which the tests start."""

import json
import signal
from collections import Counter

import numpy
from waiting import wait_until

SUBJECTS = ("a=mlp@fake,latency=constant:1ms,work=sleep", "b=mlp@fake,latency=constant:1.2ms,work=sleep")
QUICK = ("--iterations", "5", "--warmup", "1", "--seed", "3")
# A trial takes long enough that it can be interrupted.
SLOW = ("a=mlp@fake,latency=constant:10ms,work=sleep", "b=mlp@fake,latency=constant:10ms,work=sleep", "--iterations", "60", "--warmup", "1", "--seed", "3")


def nodes_of_blocks(report):
    """{block: {nodes}}; fails where a trial is there twice, or missing."""
    count = Counter((trial["process"], trial["subject"]) for trial in report["trials"])
    assert set(count.values()) <= {1}
    blocks = {}
    for trial in report["trials"]:
        assert trial["end"] == "ok"
        blocks.setdefault(trial["process"], set()).add(trial["executed"]["node"])
    assert len(count) == 2 * len(blocks)
    return blocks


def test_blocks_are_dealt_over_nodes(on_cluster, report):
    done = on_cluster("run", *SUBJECTS, *QUICK, "--processes", "6", "--on", "slurm", "--nodes", "3", "--wait", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "task 1: [ 1/12]" in done.stderr and "task 3 of 3 has measured its blocks" in done.stderr
    assert json.loads(done.stdout) == report()
    blocks = nodes_of_blocks(report())
    assert len(blocks) == 6 and all(len(nodes) == 1 for nodes in blocks.values())
    assert set.union(*blocks.values()) == {"n1", "n2"}


def test_pilots_leak_trials_and_accuracy_of_tasks_come_in(on_cluster, report, run):
    numpy.save(run.folder / "x.npy", numpy.random.default_rng(1).random((8, 3, 8, 8), numpy.float32))
    numpy.savetxt(run.folder / "labels.txt", numpy.arange(8), "%d")
    done = on_cluster("run", *SUBJECTS, "--leak-iterations", "100", "--seed", "3", "--data", "x.npy", "--labels", "labels.txt",
                      "--processes", "4", "--on", "slurm", "--nodes", "2", "--wait")
    assert done.returncode == 0, done.stderr
    whole = report()
    nodes_of_blocks(whole)
    aside = Counter((trial["purpose"], trial["subject"]) for trial in whole["side_trials"])
    assert aside["leak", 0] == aside["leak", 1] == 1
    assert all(2 <= aside["pilot", subject] <= 6 for subject in (0, 1)), (aside, "of each task, a second where the first is unclear")
    positions = [trial["position"] for trial in whole["side_trials"]]
    assert len(positions) == len(set(positions))
    assert all(trial["end"] == "ok" for trial in whole["side_trials"])
    assert all(subject["leak"]["verdict"] for subject in whole["subjects"])
    assert all(subject["accuracy"]["labels"]["rows"] == 8 for subject in whole["subjects"]), whole["subjects"][0]["accuracy"]


def test_a_comparison_decides_as_on_one_machine(on_cluster, report):
    slower = "b=mlp@fake,latency=constant:15ms,work=sleep"  # by more than sleep is late on a busy machine
    done = on_cluster("compare", SUBJECTS[0], slower, *QUICK, "--max-pairs", "8", "--on", "slurm", "--nodes", "2", "--wait", "--fail-slower")
    assert done.returncode == 1, done.stderr
    assert len(nodes_of_blocks(report())) == 8
    (compared,) = report()["comparison"]["primary"]
    assert compared["direction"] == "slower"


def test_without_waiting_a_resume_takes_it_in(on_cluster, cluster, report):
    done = on_cluster("run", *SUBJECTS, *QUICK, "--on", "slurm", "--nodes", "2", "--partition", "main", "--constraint", "n2", "--time", "5m")
    assert done.returncode == 0 and done.stdout == "" and "is begun" in done.stderr, done.stderr
    wait_until(lambda: not cluster.ask("squeue", "--noheader"))
    done = on_cluster("run", "--resume")
    assert done.returncode == 0, done.stderr
    assert set.union(*nodes_of_blocks(report()).values()) == {"n2"}


def test_interrupted_and_resumed(on_cluster, run_slowly, cluster, report):
    with run_slowly("run", *SLOW, "--processes", "6", "--on", "slurm", "--nodes", "2", "--wait") as running:
        running.wait_for("task 1: [ 3/12]")
        running.process.send_signal(signal.SIGINT)
        code, _, err = running.end()
    assert code == 130 and "was interrupted" in err
    assert not cluster.ask("squeue", "--noheader")
    early = nodes_of_blocks(report())
    assert 1 <= len(early) < 6
    (script,) = (on_cluster.folder / "results/jobs").glob("*/job.sh")
    own = script.read_text()
    script.write_text(own.replace("exec ", "touch owned; exec "))
    refused = on_cluster("run", "--resume", "--on", "slurm")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused.stderr
    assert "is not the script that infermeter wrote for you" in refused.stderr and "--allow-code" in refused.stderr, refused.stderr
    script.write_text(own)
    again = on_cluster("run", "--resume", "--on", "slurm")
    assert again.returncode == 0 and "blocks are there" in again.stderr, again.stderr
    again = on_cluster("run", "--resume", "--wait")
    assert again.returncode == 0, again.stderr
    whole = report()
    assert len(nodes_of_blocks(whole)) == 6 and whole["finished"]


def test_a_task_that_is_requeued_goes_on_and_one_that_dies_is_told_and_done_again(on_cluster, run_slowly, cluster, report):
    with run_slowly("run", *SLOW, "--processes", "4", "--on", "slurm", "--nodes", "2", "--wait") as running:
        running.wait_for("task 1: [2/8]")
        (job,) = {line.split("_")[0] for line in cluster.ask("squeue", "--noheader", "--format=%i").split()}
        cluster.ask("scancel", "--signal=KILL", "--full", f"{job}_2")
        cluster.ask("scontrol", "requeue", f"{job}_1")
        code, _, err = running.end()
    assert code == 4 and ": task 2 ended before all was measured" in err and "--on slurm" in err, err
    assert {0, 1} <= set(nodes_of_blocks(report()))  # all that the first one had to do
    assert on_cluster("run", "--resume", "--on", "slurm", "--wait").returncode == 0
    assert len(nodes_of_blocks(report())) == 4


def test_what_slurm_refuses_leaves_nothing(on_cluster):
    for flags, says in ((("--partition", "nowhere"), "invalid partition"), (("--constraint", "nothing"), "Invalid feature"),
                        (("--sbatch=--nonsense",), "nonsense")):
        done = on_cluster("run", *SUBJECTS, *QUICK, "--on", "slurm", *flags)
        assert done.returncode == 2 and "Slurm refuses the job: " in done.stderr and says in done.stderr, done.stderr
    assert not (on_cluster.folder / "results/jobs").exists()
    assert "mlp" not in on_cluster("runs").stdout


def test_nodes_that_do_not_see_the_model(on_cluster):
    """The tasks begin when the model is gone: the job is held until then."""
    assert on_cluster("models", "build", "mlp", "m.onnx").returncode == 0
    done = on_cluster("run", "m.onnx@fake", *QUICK, "--on", "slurm", "--nodes", "1", "--write-job", "job.sh")
    assert done.returncode == 0, done.stderr
    (on_cluster.folder / "m.onnx").unlink()
    done = on_cluster("run", "--resume", "--on", "slurm", "--wait")
    assert done.returncode == 4 and "0 of the 3 blocks" in done.stderr and "m.onnx" in done.stderr
