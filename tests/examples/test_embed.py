"""examples/embed, built against the installed package as someone else would."""

import csv
import json
import os
import shutil
import subprocess

import pytest


def call(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def embed(installed, source_dir, tmp_path_factory, ccache):
    folder = tmp_path_factory.mktemp("embed")
    shutil.copytree(source_dir / "examples/embed", folder / "source")
    call("cmake", "-S", folder / "source", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={installed}", env=os.environ | ccache)
    call("cmake", "--build", folder / "build", env=os.environ | ccache)
    return folder / "build/embed"


def test_it_measures_itself_and_a_plan(embed, environment, tmp_path):
    output = call(embed, "out", cwd=tmp_path, env=environment)
    assert "by rows is" in output and "trial 6 of 6" in output
    own = json.loads((tmp_path / "out/own.json").read_text())
    assert [trial["end"] for trial in own["trials"]] == ["ok"] * 6
    assert {len(trial["samples"]["latency_s"]) for trial in own["trials"]} == {50}
    plan = json.loads((tmp_path / "out/plan.json").read_text())
    assert [subject["label"] for subject in plan["plan"]["subjects"]] == ["steady", "slower"]
    speedup = plan["subjects"][1]["ratios"]["latency_p50"]["value"]
    assert speedup < 0.9  # constant 1 ms against constant 2 ms; the other way round it is above 1
    with open(tmp_path / "out/plan.csv", newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == ["steady", "slower"]
    assert (tmp_path / "out/plan.md").read_text().count("|") > 10
    assert os.path.exists(tmp_path / "out/results/infermeter.db")
