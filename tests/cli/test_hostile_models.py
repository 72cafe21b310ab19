"""Model files with hostile names and dimensions: names are text wherever they are shown, dimensions are measured or refused with advice that works."""

import json
import re

import onnx
import pytest
from onnx import TensorProto, helper

SHORT = ["--backend", "onnxruntime", "--processes", 1, "--iterations", 3, "--quiet"]
EVIL = "a\u009b31m\u202egnp.exe\x1b[2J"
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def identity(folder, file, *, name="x", first=1):
    value = [helper.make_tensor_value_info(name + end, TensorProto.FLOAT, [first, 3]) for end in ("", "y")]
    node = helper.make_node("Identity", [name], [name + "y"], name=name)
    graph = helper.make_graph([node], name, value[:1], value[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name=name)
    model.ir_version = 8
    onnx.save(model, str(folder / file))


def test_names_steer_no_terminal_and_stay_whole_in_json(run):
    identity(run.folder, "evil.onnx", name=EVIL)
    shown = run("models", "show", "evil.onnx", "--format", "json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["inputs"][0]["name"] == EVIL
    measured = run("run", "evil.onnx", *SHORT, "--format", "json")
    assert measured.returncode == 0, measured.stderr
    outputs = [shown, measured, run("models", "show", "evil.onnx"), run("runs", "--format", "json"),
               run("report", "latest"), run("report", "latest", "--format", "csv"), run("report", "latest", "--format", "html")]
    for done in outputs:
        assert done.returncode == 0, done.stderr
        found = STEERS.search(done.stdout + done.stderr)
        assert found is None, (done.args, (done.stdout + done.stderr)[max(0, found.start() - 60):found.end() + 20])


def test_a_dimension_of_zero_is_measured_as_it_is(run):
    identity(run.folder, "zero.onnx", first=0)
    done = run("run", "zero.onnx", *SHORT)
    assert done.returncode == 0, done.stderr
    assert "--batch-sizes 0" not in done.stdout + done.stderr


@pytest.mark.parametrize("first", [2**31, 2**40])
def test_a_dimension_beyond_all_memory_is_refused_without_advice_that_is_refused(run, first):
    identity(run.folder, "big.onnx", first=first)
    done = run("run", "big.onnx", *SHORT)
    assert done.returncode == 2
    assert "big.onnx: input 'x' of float32" in done.stderr and "would make the data larger than" in done.stderr, done.stderr
    assert "4 GiB; the model declares this size, and cannot be measured\n" in done.stderr
    assert "--batch-sizes" not in done.stderr


def test_inputs_that_take_more_than_a_third_of_the_memory_limit_are_refused(run):
    identity(run.folder, "big.onnx", first=2**24)
    done = run("run", "big.onnx", *SHORT, "--memory-limit", "100MB")
    assert done.returncode == 2
    assert "larger than 33 MB, a third of the memory limit" in done.stderr and "a larger --memory-limit" in done.stderr, done.stderr
