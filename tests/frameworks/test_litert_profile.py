"""Profiles of LiteRT's operators: what is called without headers, compared with what the interpreter reports a
model."""

import importlib.metadata
import json
import subprocess
import time
from collections import Counter

import numpy as np
import pytest

FRAMEWORK = "litert"


@pytest.fixture
def graph():
    from infermeter.zoo.litert_graph import Graph

    return Graph("test")


@pytest.fixture
def file_of(tmp_path, weights_of):
    """file_of("resnet50") -> its .tflite of two items."""

    def write(name):
        from infermeter.zoo import litert as zoo

        zoo.write(name, weights_of(name), 2, tmp_path / f"{name}.tflite")
        return tmp_path / f"{name}.tflite"

    return write


@pytest.fixture
def profiled(runtime, load_of, tmp_path):
    """profiled(file, arrays, …) -> the session, operators.json of three steps after one that nobody records, and when
    each of the three began and ended."""

    def call(file, arrays, steps=3, **fields):
        folder = tmp_path / "made"
        folder.mkdir()
        session = runtime.load(load_of(file, profile_folder=folder, **fields))
        session.compile()
        session.bind(arrays)()
        session.profile_begin(str(folder))
        step, walls = session.bind(arrays), []
        for _ in range(steps):
            begin = time.monotonic_ns()
            step()
            walls.append((begin, time.monotonic_ns()))
        session.profile_end(str(folder))
        assert [file.name for file in folder.iterdir()] == ["operators.json"]
        return session, json.loads((folder / "operators.json").read_text()), walls

    return call


@pytest.fixture
def without_cumsum(graph, tmp_path):
    """A model of four operators, the second of which XNNPACK lacks."""
    from ai_edge_litert import schema_py_generated as schema
    from infermeter.zoo import litert_layers as layers

    ones = np.ones((4, 4), np.float32)
    x = layers.linear(graph, graph.input("input", (2, 4)), ones, ones[0])
    options = schema.CumsumOptionsT()
    x = graph.operator(schema.BuiltinOperator.CUMSUM, [x, graph.constant(1, np.int32)], (2, 4), options)
    graph.finish("output", layers.linear(graph, layers.add(graph, x, x), ones, ones[0]))
    graph.write(tmp_path / "cumsum.tflite")
    return tmp_path / "cumsum.tflite"


def rows_of(reported, iteration):
    """(operator, begin, end) in the order of an iteration's events."""
    columns = (reported["events"][name] for name in ("iteration", "op", "begin_ns", "duration_ns"))
    return [(op, begin, begin + took) for index, op, begin, took in zip(*columns, strict=True) if index == iteration]


@pytest.mark.parametrize("xnnpack", ["true", "false"])
def test_operators_of_resnet50_lie_within_their_inference(xnnpack, profiled, file_of, input_of):
    session, reported, walls = profiled(file_of("resnet50"), [input_of("resnet50")], threads=2, xnnpack=xnnpack)
    head = ("format", "version", "clock", "iterations", "cut")
    assert tuple(reported[key] for key in head) == ("infermeter-operators", 1, "monotonic", 3, False)
    operators = range(len(reported["operators"]))
    for iteration, (begin, end) in enumerate(walls):
        rows = rows_of(reported, iteration)
        assert sorted(op for op, _, _ in rows) == list(operators)
        assert all(one[2] <= next_one[1] for one, next_one in zip(rows, rows[1:], strict=False)), "one after the other"
        # LiteRT's whole microseconds are cut off: an operator may seem to begin in the one before.
        assert rows[0][1] > begin - 1000 and rows[-1][2] <= end
        assert 0 < sum(to - since for _, since, to in rows) <= end - begin
    assert {operator["provider"] for operator in reported["operators"]} == {session.executed()["provider"]}
    session.close()


def test_operators_of_litert_are_the_models_own(profiled, file_of, input_of):
    session, reported, _ = profiled(file_of("resnet50"), [input_of("resnet50")], steps=1, xnnpack="false")
    assert len(reported["operators"]) == int(session.executed()["operators"])
    kinds = Counter(operator["kind"] for operator in reported["operators"])
    assert (kinds["CONV_2D"], kinds["ADD"], kinds["MEAN"], kinds["FULLY_CONNECTED"]) == (53, 16, 1, 1)
    first, last = reported["operators"][0], reported["operators"][-1]
    assert (first["inputs"], first["shapes"]) == (["input"], "(2, 3, 224, 224) -> (2, 224, 224, 3)")
    assert (last["outputs"], last["precision"]) == (["output"], "float32")
    chained = {tensor for operator in reported["operators"] for tensor in (*operator["inputs"], *operator["outputs"])}
    assert not any(tensor.startswith("constant") for tensor in chained)
    session.close()


def test_operators_of_xnnpack_are_told_one_by_one(profiled, file_of, input_of):
    session, reported, _ = profiled(file_of("resnet50"), [input_of("resnet50")], steps=1)
    kinds = Counter(operator["kind"] for operator in reported["operators"])
    # It makes matrix products of convolutions of 1x1.
    assert kinds["Convolution"] + kinds["Fully Connected"] == 53 + 1 and kinds["Fully Connected"] > 1
    assert abs(len(reported["operators"]) - int(session.executed()["operators"])) < 5  # some are fused with another
    convolution = next(operator for operator in reported["operators"] if operator["kind"] == "Convolution")
    assert (convolution["precision"], convolution["layout"], convolution["kernel"]) == ("float32", "NHWC", "IGEMM")
    assert len({operator["name"] for operator in reported["operators"]}) == len(reported["operators"])
    session.close()


def test_operators_of_both_stand_in_the_order_in_which_they_ran(profiled, without_cumsum):
    array = np.ones((2, 4), np.float32)
    session, reported, _ = profiled(without_cumsum, [array])
    names = [(operator["name"], operator["provider"]) for operator in reported["operators"]]
    assert names == [("Fully Connected.0", "xnnpack"), ("CUMSUM.1", "builtin"), ("Add.2", "xnnpack"),
                     ("Fully Connected.3", "xnnpack")]
    assert Counter(reported["events"]["op"]) == {0: 3, 1: 3, 2: 3, 3: 3}
    assert session.values(None)[0].tolist() == [[101] * 4] * 2
    session.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_profiled_answers_as_what_is_timed(threads, profiled, runtime, load_of, file_of, run_once, input_of):
    timed = run_once(runtime.load(load_of(file_of("mlp"), threads=threads)), input_of("mlp"))
    session, reported, _ = profiled(file_of("mlp"), [input_of("mlp")], threads=threads)
    assert np.array_equal(session.values(None)[0], timed[0])
    assert len(reported["operators"]) == 3 and len(reported["events"]["op"]) == 9  # even what took less than a microsecond
    session.close()


def test_a_dynamic_batch_is_resized(graph, tmp_path, profiled):
    from infermeter.zoo import litert_layers as layers

    x = graph.input("x", (1, 4))
    graph.finish("y", layers.linear(graph, x, np.eye(4, dtype=np.float32), np.zeros(4, np.float32)))
    for tensor in (graph._subgraph.tensors[0], graph._subgraph.tensors[-1]):
        tensor.shapeSignature = [-1, 4]
    graph.write(tmp_path / "m.tflite")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    session, reported, _ = profiled(tmp_path / "m.tflite", [array], batch=3)
    assert np.array_equal(session.values(None)[0], array) and len(reported["operators"]) == 1
    session.close()


def test_inputs_are_in_the_interpreters_order_whatever_a_signature_calls_them(graph, tmp_path, profiled):
    from ai_edge_litert import schema_py_generated as schema

    x, y = graph.input("x", (2, 4)), graph.input("y", (2, 4))
    graph.finish("output", graph.operator(schema.BuiltinOperator.SUB, [x, y], (2, 4), schema.SubOptionsT()))
    model = graph._model()
    names = [schema.TensorMapT("b", x.index), schema.TensorMapT("a", y.index)]
    outputs = [schema.TensorMapT("c", graph._subgraph.outputs[0])]
    model.signatureDefs = [schema.SignatureDefT(list(reversed(names)), outputs, "serve", 0)]
    graph._model = lambda: model
    graph.write(tmp_path / "m.tflite")
    five, two = np.full((2, 4), 5, np.float32), np.full((2, 4), 2, np.float32)
    session, _, _ = profiled(tmp_path / "m.tflite", [five, two])
    assert session.values(None)[0].tolist() == [[3] * 4] * 2
    session.close()


def test_another_release_is_measured_and_not_profiled(
    monkeypatch, plugin, load_of, file_of, tmp_path, run_once, input_of
):
    from infermeter.backend import Environment, Refused

    monkeypatch.setattr(importlib.metadata, "version", lambda _: "2.4.0")
    runtime = plugin("infermeter_backend_litert").open_runtime(Environment())
    session = runtime.load(load_of(file_of("mlp"), profile_folder=tmp_path))
    assert run_once(session, input_of("mlp"))[0].shape == (2, 10)
    with pytest.raises(Refused, match=r"LiteRT 2\.4\.0 .* infermeter knows that of 2\.3\.0 \(pip install .*==2\.3\.0"):
        session.profile_begin(str(tmp_path))
    session.close()


def test_the_release_that_is_known_is_the_one_that_setup_installs(source_dir):
    from infermeter.litert_native import CHECKED

    assert f"ai-edge-litert=={CHECKED} " in (source_dir / "requirements-litert.txt").read_text()


def test_a_library_that_is_not_there_is_said(tmp_path):
    from infermeter.backend import Refused
    from infermeter.litert_native import CHECKED, Library

    with pytest.raises(Refused, match="LiteRT's profiler cannot be loaded: .*libLiteRt.so"):
        Library(tmp_path, CHECKED)


def test_a_file_that_the_compiled_model_cannot_read_is_said(tmp_path, runtime):
    from pathlib import Path

    from infermeter.backend import Refused
    from infermeter.litert_native import CHECKED, Library, ProfiledModel

    (tmp_path / "garbage.tflite").write_bytes(b"no model at all")
    with pytest.raises(Refused, match="LiteRtCreateModelFromFile ended with status"):
        ProfiledModel(Library(Path(runtime.info.library), CHECKED), str(tmp_path / "garbage.tflite"), 1, True, [], [])


def test_the_command_line_shows_them(infermeter, tmp_path):
    few = ["--processes", "1", "--iterations", "3", "--warmup", "1", "--profile-processes", "1", "--profile-iterations", "3"]
    done = subprocess.run(
        [infermeter, "profile", "mlp@litert,threads=1,xnnpack=false", *few, "--format", "json", "--output-dir", tmp_path],
        check=True, capture_output=True, text=True)  # in a worker, behind the sandbox
    (subject,) = json.loads(done.stdout)["profile"]["subjects"]
    table = subject["table"]
    assert [operator["kind"] for operator in table["operators"]] == ["FULLY_CONNECTED"] * 3
    assert sum(operator["mean_s"] for operator in table["operators"]) <= table["wall_s"]


def events_of(*rows):
    """Of (tag, type, start_us, elapsed_us, node, graph)."""
    from infermeter.litert_operators import RUN, Event

    return [Event(RUN, 1, 1, 1, 0, 0), *(Event(*row) for row in rows)]


def test_the_body_of_a_loop_is_not_counted_twice():
    from infermeter.litert_operators import operators_of

    body = [("Invoke", 1, 20, 20, 0, 1), ("Add (ND)", 8, 0, 5, 0, 1), ("LESS", 2, 26, 4, 1, 1)]
    again = [("Invoke", 1, 40, 20, 0, 1), ("Add (ND)", 8, 0, 5, 0, 1), ("LESS", 2, 46, 4, 1, 1)]
    inference = events_of(("Invoke", 1, 5, 90, 0, 0), ("Add (ND)", 8, 0, 5, 0, 0), ("WHILE", 2, 10, 60, 7, 0),
                          *body, *again, ("Add (ND)", 8, 0, 9, 0, 0))
    made = operators_of([inference], {}, {})
    # LiteRT numbers XNNPACK's operators anew in each part, which a loop's body is not distinguished from.
    names = [operator["name"] for operator in made.operators]
    assert names == ["Add.0", "WHILE.1", "Add.2", "LESS.3", "Add.4", "Add.5"]
    spans = sorted(zip(made.events["op"], made.events["begin_ns"], made.events["duration_ns"], strict=True),
                   key=lambda span: span[1])
    assert spans == [(0, 5000, 5000), (1, 10000, 10000), (2, 20000, 5000), (1, 25000, 1000), (3, 26000, 4000),
                     (1, 30000, 10000), (4, 40000, 5000), (1, 45000, 1000), (3, 46000, 4000), (1, 50000, 20000),
                     (5, 70000, 9000)]


def test_later_iterations_are_left_out_where_there_are_too_many_events(monkeypatch):
    from infermeter import litert_operators

    monkeypatch.setattr(litert_operators, "MOST_EVENTS", 5)
    inference = events_of(("ADD", 2, 5, 1, 0, 0), ("MUL", 2, 6, 1, 1, 0))
    made = litert_operators.operators_of([inference] * 3, {}, {})
    assert made.cut and made.events["iteration"] == [0, 0, 1, 1]


def test_a_compiled_model_with_other_operators_is_refused():
    from infermeter.backend import Refused
    from infermeter.litert_operators import refuse_other_graph

    inference = events_of(("Invoke", 1, 5, 90, 0, 0), ("ADD", 2, 10, 1, 3, 0), ("MUL", 2, 12, 1, 0, 1))
    refuse_other_graph(inference, {3: "ADD"})
    with pytest.raises(Refused, match="other operators than its interpreter, .*: ADD.3, SUB.3"):
        refuse_other_graph(inference, {3: "SUB"})
    with pytest.raises(Refused, match="other operators .*: MUL.4"):
        refuse_other_graph(inference, {3: "ADD", 4: "MUL"})


@pytest.mark.parametrize(
    ("tag", "reported"),
    [
        ("Convolution (NHWC, F32) IGEMM", ("Convolution", "NHWC", "float32", "IGEMM")),
        ("Fully Connected (NC, QD8, F32, QC8W) GEMM", ("Fully Connected", "NC", "QD8, F32, QC8W", "GEMM")),
        ("Max Pooling (NHWC, F32)", ("Max Pooling", "NHWC", "float32", "")),
        ("Transpose (ND, X32) Transpose", ("Transpose", "", "", "Transpose")),
        ("Add (ND)", ("Add", "", "", "")),
        ("Convolution (NHWC, QS8) DWConv", ("Convolution", "NHWC", "int8", "DWConv")),
        ("something else", ("something else", "", "", "")),
        ("", ("", "", "", "")),
    ],
)
def test_names_of_xnnpack_are_taken_apart(tag, reported):
    from infermeter.litert_operators import of_xnnpack

    found = of_xnnpack(tag)
    assert (found["kind"], found["layout"], found["precision"], found["kernel"]) == reported
