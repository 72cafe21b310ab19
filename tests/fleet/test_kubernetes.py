"""The manifest for Kubernetes, held against the schema of its API."""

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
    assert spec["activeDeadlineSeconds"] == 600
    (term,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    labels = spec["template"]["metadata"]["labels"]
    assert term["topologyKey"] == "kubernetes.io/hostname" and term["labelSelector"]["matchLabels"].items() <= labels.items()
    (container,) = pod["containers"]
    assert container["resources"]["requests"] == container["resources"]["limits"] == {"cpu": "6", "memory": str(2 << 30)}
    assert pod["nodeSelector"] == {"gpu": "a b"}
    assert container["workingDir"] == str(run.folder)


def test_its_pods_measure_their_blocks(run, environment):
    """As a kubelet would call them, but for the container."""
    (container,) = manifest(run)["spec"]["template"]["spec"]["containers"]
    for index in range(3):
        started = subprocess.run(container["command"] + container["args"], cwd=container["workingDir"], capture_output=True, text=True,
                                 env=environment | {"JOB_COMPLETION_INDEX": str(index), "NODE_NAME": f"node-{index}"}, timeout=120)
        assert started.returncode == 0 and started.stderr == "", started.stderr
    done = run("run", "--resume")
    assert done.returncode == 0, done.stderr
    assert "measured its blocks on node-2" in next(run.folder.glob("results/jobs/*/3.log")).read_text()


def test_the_api_would_refuse_another_kind(run):
    """That the check is one."""
    job = manifest(run)
    job["spec"]["completionMode"] = ["Indexed"]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, "1.33", strict=True)
