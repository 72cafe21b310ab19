"""The examples of docs/python.md and docs/coming-from.md, run from the first to the last in one process, as a reader would."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def examples(page):
    found = re.findall(r"(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)```", (DOCS / page).read_text(), re.S)
    return [code for package, code in found if not package or importlib.util.find_spec(package)]


@pytest.fixture
def run_examples(run, environment, build_dir):
    """run_examples("python.md") -> what they print."""
    if not list(build_dir.glob("python/infermeter/_core.*.so")):
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")

    def call(page):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", "\n".join(examples(page))], cwd=run.folder, text=True,
                              capture_output=True, timeout=300, env=environment | {"PYTHONPATH": str(build_dir / "python")})
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return call


def test_the_examples_run(run, run_examples):
    assert len(examples("python.md")) >= 5
    printed = run_examples("python.md")
    for said in ("µs, 95 % interval", "Batch 8:", "sparsity", "outputs agree"):
        assert said in printed, said
    assert (run.folder / "comparison.html").exists() and (run.folder / "results.json").exists()
    assert list((run.folder / "results/raw").glob("benchmark_results_*.csv"))


def test_the_tests_of_the_page_about_pytest_pass(run, environment, build_dir):
    """In a process of their own, as they are written there."""
    if not list(build_dir.glob("python/infermeter/_core.*.so")):
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")
    (code,) = examples("pytest.md")
    (run.folder / "test_speed.py").write_text(code)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "infermeter.pytest_plugin", "-p", "no:cacheprovider"], cwd=run.folder,
                          env=environment | {"PYTHONPATH": str(build_dir / "python"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
                          text=True, capture_output=True, timeout=300)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr
    assert "mlp@openvino against mlp@onnxruntime: pass" in done.stdout


def test_coming_from_another_tool(run, run_examples):
    assert len(examples("coming-from.md")) >= 2
    printed = run_examples("coming-from.md")
    assert re.search(r"^Batch 8: \d+\.\d\dms, \d+\.\d img/s$", printed, re.M)
    assert list((run.folder / "results/raw").glob("benchmark_results_*.csv"))
    if importlib.util.find_spec("torch"):
        assert "cpu linear abc" in printed and "BENCHMARK COMPARISON" in printed and "phase1" in printed
        assert (run.folder / "optimization_report.html").exists()
