"""The examples of docs/python.md, run from the first to the last in one process, as a reader would."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/python.md"


def examples():
    found = re.findall(r"(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)```", PAGE.read_text(), re.S)
    return [code for package, code in found if not package or importlib.util.find_spec(package)]


def test_the_examples_run(run, environment, build_dir):
    if not list(build_dir.glob("python/infermeter/_core.*.so")):
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")
    assert len(examples()) >= 5
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", "\n".join(examples())], cwd=run.folder, text=True,
                          capture_output=True, timeout=300, env=environment | {"PYTHONPATH": str(build_dir / "python")})
    assert done.returncode == 0, done.stderr[-3000:]
    for said in ("µs, 95 % interval", "Batch 8:", "sparsity", "outputs agree"):
        assert said in done.stdout, said
    assert (run.folder / "comparison.html").exists() and (run.folder / "results.json").exists()
    assert list((run.folder / "results/raw").glob("benchmark_results_*.csv"))
