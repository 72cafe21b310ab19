"""examples/workload_plugin, copied elsewhere, built by its own Makefile and run; and the Python workload of docs/workloads.md."""

import json
import re
import shutil
import subprocess

import pytest


@pytest.fixture(scope="module")
def plugin(source_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("workload") / "plugin"
    shutil.copytree(source_dir / "examples/workload_plugin", folder, ignore=shutil.ignore_patterns("*.so"))
    done = subprocess.run(["make", "CFLAGS=-O2 -Werror -Wpedantic -Wconversion", f"INFERMETER_INCLUDE={source_dir}/backends"],
                          cwd=folder, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_its_study_runs(plugin, run):
    done = run("study", plugin / "study.toml", "--backend-path", plugin, "--format", "json", "--quiet")
    assert done.returncode in (0, 1), done.stderr  # how much merge sort pays here is the machine's affair
    (part,) = json.loads(done.stdout)["parts"]
    verdicts = {(one["expectation"], one["subject"]): one for one in part["gate"]["verdicts"]}
    for subject in ("merge", "heap"):
        assert verdicts["outputs agree", subject]["outcome"] == "pass"
    counts = {one["subject"]: one["count"] for one in part["predictions"]} | {"insertion": part["predictions"][0]["first_count"]}
    # Of n = 4096 random numbers: n / 2 log2 n to n log2 n - n + 1 for merging, up to twice n log2 n for the heap, about
    # n² / 4 for insertion.
    assert 6 * 4096 <= counts["merge"] <= 12 * 4096 - 4096 + 1 < counts["heap"] < 2 * 12 * 4096
    assert 0.2 * 4096**2 < counts["insertion"] < 0.3 * 4096**2
    assert (run.folder / "reports/sorting.txt").exists()


def test_it_sorts_and_refuses_what_it_does_not_know(plugin, run):
    subject = "sorting@sorting,count=100,algorithm={}"
    done = run("run", subject.format("insertion"), subject.format("heap"), subject.format("merge"), "--backend-path", plugin,
               "--iterations", 3, "--warmup", 0, "--processes", 2, "--quiet", "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [one["outputs"]["agree"] for one in report["subjects"][1:]] == [True, True]
    done = run("run", subject.format("bubble"), "--backend-path", plugin, "--iterations", 3, "--warmup", 0, "--processes", 1)
    assert done.returncode == 2 and "option algorithm needs insertion, merge or heap" in done.stdout + done.stderr
    done = run("run", "sorting@sorting,count=0", "--backend-path", plugin, "--iterations", 3, "--warmup", 0, "--processes", 1)
    assert done.returncode == 2 and "from 1 to 16777216" in done.stdout + done.stderr


def test_the_python_workload_of_the_page(source_dir, build_dir, run):
    if not list(build_dir.glob("python/infermeter/_core.*.so")):
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")
    (code,) = re.findall(r"```python\n(.*?)```", (source_dir / "docs/workloads.md").read_text(), re.S)
    (run.folder / "sorting.py").write_text(code)
    done = run("run", "sorting.py:binary_search@python", "--iterations", 5, "--warmup", 0, "--processes", 2, "--quiet", "--format", "json")
    assert done.returncode == 0, done.stderr
    (subject,) = json.loads(done.stdout)["subjects"]
    counters = {one["name"]: (one["value"], one["unit"]) for one in subject["counters"]}
    assert counters == {"steps": (10, "1"), "share": (0.5, "x")}
