"""`infermeter validate A B --diff-images FOLDER`: pictures of the worst differences."""

import stat
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="onnx is not installed: scripts/setup")


@pytest.fixture
def drawn():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: scripts/setup --with plot")


def model(file, factor, output="y", shape=("batch", 1, 16, 16)):
    """y = factor x"""
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "f"], [output])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [helper.make_tensor("f", TensorProto.FLOAT, [], [factor])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)


def pair(folder, **how):
    model(folder / "a.onnx", 1.0, **how)
    model(folder / "b.onnx", 1.001, **how)
    return "a.onnx@onnxruntime", "b.onnx@onnxruntime", "--rtol", 0.01, "--quiet"


def sizes_of(folder):
    from matplotlib.image import imread

    return {path.name: imread(path).shape[:2] for path in sorted(folder.iterdir())}


def test_the_worst_samples_and_a_histogram(run, drawn):
    values = np.ones((6, 1, 16, 16), np.float32) * np.array([3, 1, 9, 2, 8, 7], np.float32).reshape(6, 1, 1, 1)
    np.save(run.folder / "inputs.npy", values)
    arguments = (*pair(run.folder), "--data", "inputs.npy", "--diff-images", "pictures")
    done = run("validate", *arguments)
    assert (done.returncode, done.stderr) == (0, "5 pictures in pictures\n") and done.stdout
    names = [f"0_y_worst_{rank}.png" for rank in (1, 2, 3, 4)]
    assert list(sizes_of(run.folder / "pictures")) == ["0_y_histogram.png", *names]
    first = (run.folder / "pictures/0_y_worst_1.png").read_bytes()
    refused = run("validate", *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "pictures holds pictures already: --force writes over them" in refused.stderr
    assert run("validate", *arguments, "--force").returncode == 0
    assert (run.folder / "pictures/0_y_worst_1.png").read_bytes() == first  # the same bytes each time


def test_volumes_are_cut_along_each_axis(run, drawn):
    arguments = (*pair(run.folder, shape=(1, 1, 8, 16, 16)), "--perturb", 1)
    assert run("validate", *arguments, "--diff-images", "one").returncode == 0
    assert run("validate", *arguments, "--diff-images", "three", "--diff-slices", 3).returncode == 0
    one, three = (sizes_of(run.folder / name)["0_y_worst_1.png"] for name in ("one", "three"))
    assert one[1] == three[1] and 2 < three[0] / one[0] < 3.1


def test_names_of_files_are_safe_whatever_an_output_is_called(run, drawn):
    done = run("validate", *pair(run.folder, output="../../$x^{$ y\n\x1b"), "--diff-images", "pictures")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (run.folder / "pictures").iterdir())[0] == "0________x____y___histogram.png"
    assert sorted(path.name for path in run.folder.iterdir()) == ["a.onnx", "b.onnx", "pictures"]


def test_an_output_that_is_no_image_is_not_drawn(run):
    done = run("validate", "mlp@onnxruntime", "mlp@onnxruntime", "--quiet", "--diff-images", "pictures")
    assert (done.returncode, done.stderr) == (0, "no output is an image or a volume: nothing was drawn\n")


@pytest.mark.parametrize("arguments, sentence", [
    (["--diff-slices", "2"], "give --diff-images FOLDER as well"),
    (["--diff-images", "a", "--diff-slices", "0"], "--diff-slices: expected 1 to 16, got 0"),
    (["--diff-images", "file"], "--diff-images: file cannot hold the results"),
    (["--diff-images", "a", "--layers"], "leave out --diff-images"),
])
def test_what_is_asked_for_wrongly(run, arguments, sentence):
    (run.folder / "file").write_text("")
    done = run("validate", "mlp@onnxruntime", "mlp@onnxruntime", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and done.stderr.count("\n") == 1


def test_without_matplotlib_it_is_said_before_anything_runs(run, tmp_path):
    (tmp_path / "hidden/matplotlib").mkdir(parents=True)
    (tmp_path / "hidden/matplotlib/__init__.py").write_text("raise ModuleNotFoundError('gone', name='matplotlib')\n")
    python = run.folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/hidden:$PYTHONPATH" exec {sys.executable} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    done = run("validate", *pair(run.folder), "--diff-images", "pictures", env={"INFERMETER_PYTHON": str(python)})
    assert done.returncode == 2 and "--diff-images needs matplotlib, which is not installed in" in done.stderr
    assert done.stdout == ""
