"""`infermeter report --plot`: a picture of a stored run, drawn by Python; what stands in the way is one sentence."""

import os
import stat
import sys

import pytest

SHORT = ("--processes", 2, "--iterations", 20, "--warmup", 1, "--quiet")


@pytest.fixture
def stored(run):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: scripts/setup --with plot")
    done = run("run", "a=mlp@fake,latency=constant:100us", "b=mlp@fake,latency=constant:200us", "--batch-sizes", 1, 2, *SHORT)
    assert done.returncode == 0, done.stderr


def refused(done, sentence, code=2):
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr and done.stderr.startswith("infermeter: ") and done.stderr.count("\n") == 1


def test_it_draws_instead_of_printing(run, stored):
    done = run("report", "--plot", "latency.png")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (run.folder / "latency.png").read_bytes().startswith(b"\x89PNG")
    assert run("report", "latest", "--plot", "memory.svg", "--metric", "memory").returncode == 0
    assert "<svg " in (run.folder / "memory.svg").read_text()
    assert sorted(path.name for path in run.folder.iterdir()) == ["latency.png", "memory.svg", "results"]


def test_a_file_that_is_there_is_kept_without_force(run, stored):
    (run.folder / "here.png").write_text("mine")
    refused(run("report", "--plot", "here.png"), "here.png exists already: --force writes over it")
    assert (run.folder / "here.png").read_text() == "mine"
    assert run("report", "--plot", "here.png", "--force").returncode == 0
    assert (run.folder / "here.png").read_bytes().startswith(b"\x89PNG")


def test_names_are_text(run):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: scripts/setup --with plot")
    (run.folder / "$x^{$.onnx").write_bytes(b"")
    assert run("run", "mlp@fake,output=a$b", *SHORT).returncode in (0, 2)
    assert run("run", "_under-score=mlp@fake", *SHORT).returncode == 0
    assert run("report", "--plot", "a b$.png").returncode == 0


@pytest.mark.parametrize("arguments, sentence", [
    (["--plot", "a.gif"], "--plot: 'a.gif' is not a picture's name; it can end with .png, .svg, .pdf"),
    (["--plot", "png"], "'png' is not a picture's name"),
    (["--plot", "a.png", "--metric", "throughputs"],
     "--metric: 'throughputs' cannot be drawn (did you mean 'throughput'?); p50, throughput, memory can"),
    (["--metric", "p50"], "--metric says what --plot draws: give --plot FILE.png as well"),
    (["--plot", "a.png", "--format", "json"], "--plot draws instead of printing"),
    (["--plot", "a.png", "--output", "b"], "--plot draws instead of printing"),
    (["--plot", "nowhere/a.png"], "nowhere/a.png cannot be written"),
    (["--plot"], "--plot"),
])
def test_what_is_asked_for_wrongly(run, stored, arguments, sentence):
    refused(run("report", *arguments), sentence)
    assert not list(run.folder.glob("a.*"))


def test_a_run_without_a_value_cannot_be_drawn(run, stored):
    assert run("run", "mlp@fake,fail=load", *SHORT).returncode == 3
    refused(run("report", "--plot", "a.png"), "there is nothing to draw: no subject has a median latency")


def program(run, name, text):
    file = run.folder / name
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return {"INFERMETER_PYTHON": str(file)}


def test_a_python_without_matplotlib_says_how_to_get_it(run, stored, tmp_path):
    # An interpreter that finds an empty module of that name first.
    (tmp_path / "hidden/matplotlib").mkdir(parents=True)
    (tmp_path / "hidden/matplotlib/__init__.py").write_text("raise ModuleNotFoundError('gone', name='matplotlib')\n")
    without = program(run, "python", f'#!/bin/sh\nPYTHONPATH="{tmp_path}/hidden:$PYTHONPATH" exec {sys.executable} "$@"\n')
    refused(run("report", "--plot", "a.png", env=without), "a plot needs matplotlib, which is not installed in ")
    refused(run("report", "--plot", "a.png", env=without), "scripts/setup --with plot, or pip install matplotlib")


def test_a_python_that_fails_is_told_in_one_sentence(run, stored):
    assert not os.access("/nowhere/python", os.X_OK)
    refused(run("report", "--plot", "a.png", env={"INFERMETER_PYTHON": "/nowhere/python"}), "look at INFERMETER_PYTHON")
    broken = program(run, "python", "#!/bin/sh\necho out of cheese >&2\nexit 1\n")
    refused(run("report", "--plot", "a.png", env=broken), "it ended with status 1; last line on stderr: out of cheese", 4)
