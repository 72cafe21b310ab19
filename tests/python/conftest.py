"""The Python module of the build, imported into the tests' own process. INFERMETER_BUILD names the build folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAKE = "mlp@fake,latency=constant:100us"
QUICK = {"warmup": 1, "iterations": 20, "processes": 1}


@pytest.fixture(scope="session")
def package_dir(build_dir) -> Path:
    """The folder that contains the package `infermeter` of the build."""
    folder = build_dir / "python"
    if not list((folder / "infermeter").glob("_core.*.so")):
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")
    return folder


@pytest.fixture(autouse=True)
def surroundings(run, environment, monkeypatch):
    """As for the command line: a private HOME, nothing of the caller's settings, and the folder that `run` is in."""
    for name in [name for name in os.environ if name.startswith(("INFERMETER_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(run.folder)


@pytest.fixture(scope="session")
def im(package_dir):
    """The package `infermeter`."""
    sys.path.insert(0, str(package_dir))
    import infermeter

    return infermeter


@pytest.fixture
def python(package_dir, environment, run):
    """python("code", …) -> CompletedProcess of a fresh interpreter that can import the package."""

    def call(code, *arguments, **options):
        options.setdefault("timeout", 120)
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)], cwd=run.folder, capture_output=True, text=True,
            env=environment | {"PYTHONPATH": str(package_dir)}, **options)

    return call


@pytest.fixture
def quick_run(im):
    """A finished run of two subjects, three processes of the faster one and of the slower one."""
    return im.run("one=mlp@fake,latency=constant:100us", "two=mlp@fake,latency=constant:200us",
                  warmup=2, iterations=30, processes=2)
