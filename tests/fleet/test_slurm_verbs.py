"""Verbs other than run, compare and load on a real Slurm: tune, variants, study."""

import json

from waiting import wait_until

QUICK = ("--iterations", "5", "--warmup", "1", "--seed", "3")
OVER = ("--over", "latency=constant:6ms,constant:1ms", "work=sleep")


def test_a_race_runs_on_one_node_as_a_whole_and_goes_on_when_it_dies(on_cluster, run_slowly, cluster, report):
    with run_slowly("tune", "mlp@fake", *OVER, *QUICK, "--on", "slurm", "--constraint", "n2", "--wait", "--write-plan", "best.toml") as running:
        running.wait_for("race, block 2")
        (job,) = {line.split("_")[0] for line in cluster.ask("squeue", "--noheader", "--format=%i").split()}
        cluster.ask("scancel", "--signal=KILL", "--full", f"{job}_1")
        code, _, err = running.end()
    assert code == 4 and "has not ended: task 1 ended before all was measured" in err, err
    early = {(trial["position"], trial["started_at"]) for trial in report()["trials"]}
    done = on_cluster("run", "--resume", "--on", "slurm", "--wait", "--format", "json")
    assert done.returncode == 0, done.stderr
    whole = report()
    assert json.loads(done.stdout) == whole and whole["finished"]
    assert whole["tuning"]["stage"] == "ended" and whole["tuning"]["best"] == 1
    assert {trial["executed"]["node"] for trial in whole["trials"]} == {"n2"}
    assert early and early <= {(trial["position"], trial["started_at"]) for trial in whole["trials"]}
    positions = [trial["position"] for trial in whole["trials"]]
    assert len(positions) == len(set(positions))


def test_what_a_race_cannot(run):
    for flags, says in ((("--nodes", "2"), "leave --nodes out"), (("--write-plan", "best.toml"), "give --wait as well"),
                        (("--wait",), "give --on slurm")):
        on = () if flags == ("--wait",) else ("--on", "slurm", "--write-job", "job.sh")
        done = run("tune", "mlp@fake", *OVER, *QUICK, *on, *flags)
        assert done.returncode == 2 and says in done.stderr, done.stderr
    assert not (run.folder / "results/jobs").exists()


def test_variants_are_made_here_and_measured_there(on_cluster, cluster):
    """One of them cannot be run, which is a result of its own."""
    variants = ("variants", "--models", "original:mlp,copy:mlp", "--backends", "fake", *QUICK, "--processes", "4")
    done = on_cluster(*variants, "--on", "slurm", "--nodes", "2", "--wait", "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [one["label"] for one in told["variants"]] == ["original", "copy"] and "task 2 of 2 has measured its blocks" in done.stderr
    begun = on_cluster(*variants, "--on", "slurm", "--nodes", "2")
    assert begun.returncode == 0 and begun.stdout == "" and "is begun" in begun.stderr, begun.stderr
    wait_until(lambda: not cluster.ask("squeue", "--noheader"))
    run_id = begun.stderr.split("run ")[1].split()[0].rstrip(":")
    other = on_cluster(*variants, "--processes", "3", "--resume", run_id)
    assert other.returncode == 2 and "its plan is not the one asked for" in other.stderr
    taken = on_cluster(*variants, "--resume", run_id, "--format", "json")
    assert taken.returncode == 0, taken.stderr
    assert [one["label"] for one in json.loads(taken.stdout)["variants"]] == ["original", "copy"]
