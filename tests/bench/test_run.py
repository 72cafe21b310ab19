"""bench/run's table. Nothing is measured here."""

import json
import runpy
import subprocess

import pytest


@pytest.fixture
def bench(source_dir):
    return runpy.run_path(str(source_dir / "bench/run"), run_name="bench")


def test_the_ratio_is_that_of_the_medians(bench):
    bench["row"]("loop", "ns", [4e-9, 6e-9, 5e-9], [2e-9, 1e-9, 10e-9], "at most 3x")
    assert bench["table"]().splitlines()[-1] == "| loop | 5 ns (4 … 6) | 2 ns (1 … 10) | 2.5 | at most 3x |"


def test_a_framework_that_is_not_installed_has_a_row_that_says_so(bench, monkeypatch):
    monkeypatch.setitem(bench["FRAMEWORKS"], "pytorch", "no_such_package")
    for backend in ("jax", "litert"):
        monkeypatch.delitem(bench["FRAMEWORKS"], backend)
    monkeypatch.setitem(bench["fidelity_of_time"].__globals__, "RUNTIMES", {})
    monkeypatch.setitem(bench["fidelity_of_time"].__globals__, "resnet50", lambda: "resnet50.onnx")
    bench["fidelity_of_time"]()
    assert bench["table"]().splitlines()[2:] == [
        "| p50 of ResNet-50 on pytorch; peer: a bare loop | not installed | not installed | – | 0.97 … 1.03x |"]


# The copies are made of a store's own rows: a new column that is checked must not make them damaged.
def test_the_store_of_many_runs_is_a_history(bench, infermeter, tmp_path):
    bench["store_of_many_runs"](tmp_path, 24)
    done = subprocess.run([infermeter, "history", "mlp", "--format", "json", "--output-dir", tmp_path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["series"][0]["runs"] == 24
