"""The manifest for Kubernetes, compared with the schema of its API."""

import json
import subprocess

import pytest

yaml = pytest.importorskip("yaml")
kubernetes_validate = pytest.importorskip("kubernetes_validate")

PLAN = ("a=mlp@fake,latency=constant:1ms,work=sleep", "--processes", "5", "--iterations", "5", "--warmup", "1")
WHERE = ("--on", "kubernetes", "--nodes", "3", "--image", "registry/infermeter:1", "--volume", "results:/shared", "--write-job", "job.yaml")


def manifest(run, *arguments):
    done = run("run", *PLAN, *WHERE, *arguments)
    assert done.returncode == 0 and done.stdout == "" and "submit job.yaml" in done.stderr, done.stderr
    job = yaml.safe_load((run.folder / "job.yaml").read_text())
    for version in ("1.27", "1.33"):
        kubernetes_validate.validate(job, version, strict=True)
    return job


def test_it_is_an_indexed_job_of_exclusive_nodes(run):
    job = manifest(run, "--constraint", "gpu=a b", "--time", "10m", "--task-processors", "6", "--task-memory", "2GiB")
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert (job["kind"], spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Job", "Indexed", 3, 3)
    assert pod["activeDeadlineSeconds"] == 600 and "activeDeadlineSeconds" not in spec, "a job's own counts while tasks wait for nodes"
    (term,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    labels = spec["template"]["metadata"]["labels"]
    assert term["topologyKey"] == "kubernetes.io/hostname" and term["labelSelector"]["matchLabels"].items() <= labels.items()
    (container,) = pod["containers"]
    assert container["resources"]["requests"] == container["resources"]["limits"] == {"cpu": "6", "memory": str(2 << 30)}
    assert pod["nodeSelector"] == {"gpu": "a b"}
    assert container["workingDir"] == str(run.folder)


@pytest.fixture
def pods(run, environment):
    """pods(manifest) -> all of its pods have run, as a kubelet would call them, but for the container."""

    def start(job):
        (container,) = job["spec"]["template"]["spec"]["containers"]
        for index in range(job["spec"]["completions"]):
            started = subprocess.run(container["command"] + container["args"], cwd=container["workingDir"], capture_output=True, text=True,
                                     env=environment | {"JOB_COMPLETION_INDEX": str(index), "NODE_NAME": f"node-{index}"}, timeout=120)
            assert started.returncode == 0 and started.stderr == "", started.stderr

    return start


def test_its_pods_measure_their_blocks(run, pods):
    pods(manifest(run))
    done = run("run", "--resume")
    assert done.returncode == 0, done.stderr
    assert "measured its blocks on node-2" in next(run.folder.glob("results/jobs/*/3.log")).read_text()


QUICK = ("--iterations", "5", "--warmup", "1", "--processes", "2")


@pytest.mark.parametrize("verb, resume, jobs", [
    (("study", "study.toml"), ("study", "study.toml", "--resume", "--force"), 2),
    (("variants", "--models", "original:mlp,copy:mlp", "--backends", "fake", *QUICK), ("run", "--resume"), 1),
    (("tune", "mlp@fake", "--over", "latency=constant:6ms,constant:1ms", *QUICK[:4]), ("run", "--resume"), 1),
])
def test_so_do_those_of_other_verbs(run, pods, two_parts, verb, resume, jobs):
    """Begun as a manifest, measured by its pods, taken in by the plain --resume: there is no Slurm to wait for."""
    where = [word for word in WHERE if verb[0] != "tune" or word not in ("--nodes", "3")]
    done = run(*verb, *where)
    assert done.returncode == 0 and done.stdout == "" and "job.yaml" in done.stderr, done.stderr
    manifests = list(yaml.safe_load_all((run.folder / "job.yaml").read_text()))
    assert len({job["metadata"]["name"] for job in manifests}) == jobs
    early = run(*resume)
    assert early.returncode == 4 and "not measured all" in early.stderr and "kubectl replace" in early.stderr, early.stderr
    elsewhere = run(*resume, "--on", "slurm")
    assert elsewhere.returncode == 2 and elsewhere.stdout == "", elsewhere.stderr
    assert "was begun for Kubernetes: leave --on slurm out" in elsewhere.stderr, elsewhere.stderr
    for job in manifests:
        kubernetes_validate.validate(job, "1.33", strict=True)
        pods(job)
    done = run(*resume)
    assert done.returncode == 0, done.stderr
    assert all(json.loads(run("report", record["id"], "--format", "json").stdout)["finished"] for record in json.loads(run("runs", "--format", "json").stdout))


def test_the_api_would_refuse_another_kind(run):
    """That the check is one."""
    job = manifest(run)
    job["spec"]["completionMode"] = ["Indexed"]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, "1.33", strict=True)
