"""What tests of the command line share."""

import importlib.util
import json
import subprocess
from contextlib import contextmanager

import pytest


class Running:
    """A process whose standard error is read as it comes."""

    def __init__(self, process):
        self.process, self.err = process, ""

    def wait_for(self, part):
        while part not in self.err:
            line = self.process.stderr.readline()
            assert line, self.err
            self.err += line

    def end(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, self.err + err


@pytest.fixture
def run_slowly(run, infermeter, environment):
    """run_slowly("run", …) -> a context with the process while it runs."""

    @contextmanager
    def start(*arguments):
        process = subprocess.Popen([str(infermeter), *map(str, arguments)], env=environment, cwd=run.folder, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            yield Running(process)
        finally:
            process.kill()
            process.wait()

    return start


@pytest.fixture
def needs():
    """needs("torch", …) -> skips where one of these modules is not installed."""

    def check(*modules):
        for module in modules:
            if importlib.util.find_spec(module) is None:
                pytest.skip(f"{module} is not installed: scripts/setup --with pytorch,jax")

    return check


@pytest.fixture
def onnxruntime(run):
    """The name of a back end that reads ONNX files."""
    if not json.loads(run("backends", "onnxruntime", "--format", "json").stdout)["usable"]:
        pytest.skip("ONNX Runtime is not installed")
    return "onnxruntime"
