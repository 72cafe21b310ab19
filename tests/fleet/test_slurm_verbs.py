"""Verbs other than run, compare and load on a real Slurm: tune, variants, study."""

import json
import pathlib
import signal

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
    variants = ("variants", "--models", "original:mlp,copy:mlp", "--backends", "fake", *QUICK, "--processes", "2")
    done = on_cluster(*variants, "--on", "slurm", "--nodes", "2", "--wait", "--format", "json")
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert [one["label"] for one in reported["variants"]] == ["original", "copy"] and "task 2 of 2 has measured its blocks" in done.stderr
    begun = on_cluster(*variants, "--on", "slurm", "--nodes", "2")
    assert begun.returncode == 0 and begun.stdout == "" and "is begun" in begun.stderr, begun.stderr
    wait_until(lambda: not cluster.ask("squeue", "--noheader"))
    run_id = begun.stderr.split("run ")[1].split()[0].rstrip(":")
    other = on_cluster(*variants, "--processes", "3", "--resume", run_id)
    assert other.returncode == 2 and "its plan is not the one asked for" in other.stderr
    taken = on_cluster(*variants, "--resume", run_id, "--format", "json")
    assert taken.returncode == 0, taken.stderr
    assert [one["label"] for one in json.loads(taken.stdout)["variants"]] == ["original", "copy"]


def test_a_study_begins_all_its_parts(on_cluster, two_parts):
    done = on_cluster("study", "study.toml", "--on", "slurm", "--nodes", "2")
    assert done.returncode == 0 and done.stdout == "" and "2 runs are begun: `infermeter study study.toml" in done.stderr, done.stderr
    done = on_cluster("study", "study.toml", "--resume", "--wait", "--force", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "part 2 of 2" in done.stderr
    reported = json.loads(done.stdout)
    assert [part["name"] for part in reported["parts"]] == ["apart", "pairs"]
    of_part = json.loads((on_cluster.folder / "reports/apart.json").read_text())["run"]
    assert of_part["finished"] and {trial["executed"]["node"] for trial in of_part["trials"]} == {"n1", "n2"}
    assert len(json.loads(on_cluster("runs", "--format", "json").stdout)) == 2


def test_an_interrupted_study_leaves_nothing_in_the_queue(on_cluster, run_slowly, cluster, two_parts):
    with run_slowly("study", "study.toml", "--processes", "40", "--on", "slurm", "--nodes", "2", "--wait") as running:
        running.wait_for("[ 1/40]")
        running.process.send_signal(signal.SIGINT)
        code, _, err = running.end()
    assert code == 130, err
    wait_until(lambda: not cluster.ask("squeue", "--noheader"))


def test_the_jobs_of_a_study_are_written_as_what_submits_them(run, two_parts):
    done = run("study", "study.toml", "--on", "slurm", "--write-job", "jobs.sh")
    assert done.returncode == 0 and "submit jobs.sh" in done.stderr, done.stderr
    lines = [line for line in (run.folder / "jobs.sh").read_text().splitlines() if line.startswith("sbatch ")]
    assert len(lines) == 2
    assert all(pathlib.Path(line.split()[1]).read_text().startswith("#!/bin/sh") for line in lines)


def test_verbs_of_this_machine_say_so(run):
    done = run("profile", "mlp@fake", "--on", "slurm")
    assert done.returncode == 2 and "profile works on this machine alone; run, compare, load, study, variants and tune have --on" in done.stderr


def test_machines_are_compared(on_cluster):
    done = on_cluster("run", "a=mlp@fake,latency=constant:1ms,work=sleep", *QUICK, "--processes", "6", "--on", "slurm", "--nodes", "2", "--wait")
    assert done.returncode == 0, done.stderr
    reported = on_cluster("compare", "--compare", "machines", "--format", "json")
    assert reported.returncode == 0, reported.stderr
    record = json.loads(reported.stdout)
    assert [one["host"] for one in record["joined"]] == ["n1", "n2"]
    assert [one["label"] for one in record["plan"]["subjects"]] == ["a on n1", "a on n2"]
    (compared,) = record["comparison"]["primary"]
    assert (compared["baseline_processes"], compared["candidate_processes"]) == (3, 3) and not compared.get("withheld")
    text = " ".join(on_cluster("compare", "latest", "--compare", "machines").stdout.split())
    assert "Machine n2 against n1, process by process" in text and "machines are compared, n1 (" in text
    nodes = json.loads(on_cluster("report", "--format", "json").stdout)["environment"]
    assert [node["hostname"] for node in nodes["nodes"]] == ["n1", "n2"] and nodes["nodes_differ_in"] == []


def test_what_machines_cannot_be_compared(run):
    assert run("run", "mlp@fake", *QUICK, "--processes", "2").returncode == 0
    for arguments, says in ((("latest", "--compare", "machines"), "there is one machine"), (("latest", "latest", "--compare", "machines"), "are both of the machine"),
                            (("latest", "--compare", "nodes"), "there are subjects, machines"),
                            (("latest", "--compare", "machines", "--on", "slurm"), "leave --on out")):
        done = run("compare", *arguments)
        assert done.returncode == 2 and says in done.stderr, done.stderr
