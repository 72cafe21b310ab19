"""Every one of ONNX's node tests that ONNX Runtime's own Python API runs and matches must match here, too."""

import concurrent.futures
import json
import subprocess
import sys
from pathlib import Path

import pytest

NODE_TESTS = Path("/usr/share/libonnx-testdata/data/node")


@pytest.fixture(scope="module")
def cases():
    """Asked at run time: the package's contents and the runtime's abilities change with their versions."""
    if not NODE_TESTS.is_dir():
        pytest.fail("ONNX's node tests are missing: scripts/setup --tests installs libonnx-testdata")
    folders = sorted(str(folder) for folder in NODE_TESTS.iterdir() if (folder / "model.onnx").exists())
    asked = subprocess.run([sys.executable, Path(__file__).with_name("ask_onnxruntime.py"), *folders],
                           capture_output=True, text=True, timeout=600)
    assert asked.returncode == 0, asked.stderr[-2000:]
    return json.loads(asked.stdout.splitlines()[-1])


def test_every_case_that_onnxruntime_matches(cases, infermeter, environment, tmp_path):
    def validate(folder):
        done = subprocess.run([infermeter, "validate", f"{folder}/model.onnx", "--backend", "onnxruntime", "--data",
                               folder, "--threads", "1"],
                              capture_output=True, text=True, timeout=120, env=environment, cwd=tmp_path)
        return None if done.returncode == 0 else f"{Path(folder).name}: exit {done.returncode}: {done.stderr or done.stdout}"

    with concurrent.futures.ThreadPoolExecutor(max_workers=3) as pool:
        failures = [failure for failure in pool.map(validate, cases) if failure]
    print(f"{len(cases)} cases, {len(failures)} failures")
    assert len(cases) > 800
    assert not failures, f"{len(failures)} of {len(cases)} failed:\n" + "\n".join(failures[:20])
