"""A cluster of Slurm's on this machine, and what tests of runs on it share."""

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from waiting import wait_until

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")


def find(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def free_ports(count):
    """Ports that nobody has just now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """munged, slurmctld and two slurmd, as this user, without systemd."""

    def __init__(self, folder: Path):
        self.folder, self.processes = folder, []
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}

    def start(self):
        controller, *nodes = free_ports(3)
        host, user, at = socket.gethostname().split(".")[0], getpass.getuser(), self.folder
        key = at / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        lines = f"""
ClusterName=infermeter
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/%n.pid
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/%n
SlurmctldLogFile={at}/slurmctld.log
SlurmdLogFile={at}/%n.log
AuthType=auth/munge
AuthInfo=socket={at}/munge.socket,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=10
SchedulerParameters=sched_interval=1,batch_sched_delay=0
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""
        for name, port in zip(("n1", "n2"), nodes):
            lines += f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={os.cpu_count()} Feature={name}\n"
        (at / "slurm.conf").write_text(lines)
        (at / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")  # found by its own means, it wants one that is mounted
        (at / "state").mkdir()
        self.daemon("munged", "--foreground", "--force", f"--socket={at}/munge.socket", f"--key-file={key}", f"--pid-file={at}/munge.pid",
                    f"--log-file={at}/munge.log", f"--seed-file={at}/munge.seed")
        wait_until(lambda: (at / "munge.socket").exists())
        self.daemon("slurmctld", "-D", "-f", at / "slurm.conf")
        for name in ("n1", "n2"):
            self.daemon("slurmd", "-D", "-N", name, "-f", at / "slurm.conf")
        wait_until(lambda: self.ask("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle", "idle"])

    def daemon(self, name, *arguments):
        log = open(self.folder / f"{name}.out", "ab")
        self.processes.append(subprocess.Popen([find(name), *map(str, arguments)], env=os.environ | self.environment, stdin=subprocess.DEVNULL,
                                               stdout=log, stderr=log))

    def ask(self, *command):
        return subprocess.run(command, env=os.environ | self.environment, capture_output=True, text=True, check=False).stdout

    def stop(self):
        self.ask("scancel", f"--user={getpass.getuser()}")
        wait_until(lambda: not self.ask("squeue", "--noheader"))
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            process.wait(timeout=60)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    missing = [name for name in DAEMONS if find(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed: scripts/setup --tests")
    one = Cluster(tmp_path_factory.mktemp("slurm"))
    try:
        one.start()
        yield one
    finally:
        one.stop()


@pytest.fixture
def on_cluster(run, environment, cluster):
    """`run`, and `run_slowly` after it, with Slurm's settings."""
    environment.update(cluster.environment)
    return run


@pytest.fixture
def report(run):
    """report() -> the JSON report of the latest run."""

    def make(*arguments):
        done = run("report", "latest", "--format", "json", *arguments)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    return make


@pytest.fixture
def job_folder(run):
    """job_folder() -> where the only job is."""
    return lambda: next((run.folder / "results/jobs").iterdir())


@pytest.fixture
def two_parts(run):
    """study.toml, in the folder of `run`."""
    (run.folder / "study.toml").write_text("""
title = "Two parts"
[plan]
warmup = 1
iterations = 5
processes = 2
seed = 3
[[part]]
name = "apart"
expect = ["latency_p50 < 1s"]
[part.plan]
subjects = ["a=mlp@fake,latency=constant:1ms,work=sleep"]
[[part]]
name = "pairs"
[part.plan]
subjects = ["a=mlp@fake,latency=constant:1ms,work=sleep", "b=mlp@fake,latency=constant:1ms,work=sleep"]
[[file]]
part = "apart"
json = "apart.json"
""")
