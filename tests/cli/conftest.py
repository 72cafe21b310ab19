"""What tests of the command line share."""

import importlib.util
import json

import pytest


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
