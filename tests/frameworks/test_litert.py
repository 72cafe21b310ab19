"""The back end of LiteRT, called as a worker calls it."""

import gc
import os
import sys

import numpy as np
import pytest

FRAMEWORK = "litert"


@pytest.fixture
def graph():
    from infermeter.zoo.litert_graph import Graph

    return Graph("test")


@pytest.fixture
def mlp(tmp_path, weights_of):
    from infermeter.zoo import litert as zoo

    zoo.write("mlp", weights_of("mlp"), 2, tmp_path / "mlp.tflite")
    return tmp_path / "mlp.tflite"


def custom_operator(graph, name, file):
    """A file with one operator that no runtime has."""
    from ai_edge_litert import schema_py_generated as schema

    x = graph.input("input", (1, 4))
    graph.finish("output", graph.operator(schema.BuiltinOperator.CUSTOM, [x], (1, 4)))
    model = graph._model()
    model.operatorCodes[0].customCode = name
    graph._model = lambda: model
    graph.write(file)


def test_steps_repeat_and_values_are_copies(runtime, load_of, mlp, run_once, input_of, expected, distance):
    session = runtime.load(load_of(mlp, "mlp"))
    (first,) = run_once(session, input_of("mlp"))
    kept = first.copy()
    step = session.bind([input_of("mlp")])
    for _ in range(3):  # what is bound once is still there after an inference
        assert np.array_equal(session.values(step())[0], kept)
    other = session.values(session.bind([np.zeros((2, 16), np.float32)])())[0]
    assert not np.array_equal(other, kept) and np.array_equal(first, kept)
    assert distance(kept, expected("mlp")) <= 1e-6
    assert [(p.name, p.dtype, p.shape) for p in session.outputs] == [("output", "float32", (2, 10))]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_are_as_many_as_asked_for(threads, runtime, load_of, mlp, run_once, input_of):
    gc.collect()
    before = len(os.listdir("/proc/self/task"))
    session = runtime.load(load_of(mlp, "mlp", threads=threads))
    run_once(session, input_of("mlp"))
    assert len(os.listdir("/proc/self/task")) - before == threads - 1  # the caller is one of them
    assert session.executed()["threads"] == str(threads)


def test_who_computes_is_told(runtime, load_of, mlp, run_once, input_of):
    reported = []
    for xnnpack in ("true", "false"):
        session = runtime.load(load_of(mlp, "mlp", xnnpack=xnnpack))
        run_once(session, input_of("mlp"))
        reported.append(session.executed())
    keys = ("provider", "operators", "delegated_operators")
    assert [tuple(each[key] for key in keys) for each in reported] == [("xnnpack", "3", "3"), ("builtin", "3", "0")]


def test_operators_that_the_delegate_lacks_are_not_counted(runtime, load_of, graph, tmp_path, run_once):
    from ai_edge_litert import schema_py_generated as schema
    from infermeter.zoo import litert_layers as layers

    ones = np.ones((4, 4), np.float32)
    x = layers.linear(graph, graph.input("input", (1, 4)), ones, ones[0])
    options = schema.CumsumOptionsT()
    x = graph.operator(schema.BuiltinOperator.CUMSUM, [x, graph.constant(1, np.int32)], (1, 4), options)
    graph.finish("output", layers.linear(graph, layers.add(graph, x, x), ones, ones[0]))
    graph.write(tmp_path / "m.tflite")
    session = runtime.load(load_of(tmp_path / "m.tflite"))
    assert run_once(session, ones[:1])[0].tolist() == [[101] * 4]  # sums of 5: 5, 10, 15, 20; twice; and 1
    reported = session.executed()
    assert (reported["operators"], reported["delegated_operators"], reported["delegated_parts"]) == ("4", "3", "2")


def test_a_dynamic_batch_is_resized(runtime, load_of, graph, tmp_path, run_once):
    from infermeter.zoo import litert_layers as layers

    x = graph.input("x", (1, 4))
    graph.finish("y", layers.linear(graph, x, np.eye(4, dtype=np.float32), np.zeros(4, np.float32)))
    for tensor in (graph._subgraph.tensors[0], graph._subgraph.tensors[-1]):
        tensor.shapeSignature = [-1, 4]
    graph.write(tmp_path / "m.tflite")
    session = runtime.load(load_of(tmp_path / "m.tflite", batch=3))
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(run_once(session, array)[0], array)
    assert session.inputs[0].shape == (3, 4) == session.outputs[0].shape


def test_a_file_keeps_its_own_types(runtime, load_of, graph, tmp_path, run_once):
    from ai_edge_litert import schema_py_generated as schema
    from infermeter.zoo import litert_layers as layers

    graph.finish("y", layers.reshape(graph, graph.input("x", (2, 3)), (3, 2)))
    for tensor in (graph._subgraph.tensors[0], graph._subgraph.tensors[-1]):
        tensor.type = schema.TensorType.INT8
    graph.write(tmp_path / "m.tflite")
    session = runtime.load(load_of(tmp_path / "m.tflite"))
    assert session.inputs[0].dtype == "int8"
    (values,) = run_once(session, np.arange(6, dtype=np.int8).reshape(2, 3))
    assert values.dtype == np.int8 and values.tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(TypeError):  # and none is converted in passing
        session.bind([np.ones((2, 3), np.float32)])


def test_what_cannot_be_done_is_refused(refused, graph, mlp, tmp_path):
    assert "does not execute float16 here, but float32" in refused(mlp, "mlp", dtype="float16")
    assert "has no device 'cuda' here; it has cpu" in refused(mlp, "mlp", device="cuda")
    assert "cannot use xnnpack=2; give xnnpack=true|false" in refused(mlp, "mlp", xnnpack="2")
    assert "no dynamic dimension 'width'; it has" in refused(mlp, "mlp", dimensions={"width": "2"})
    (tmp_path / "garbage.tflite").write_bytes(b"no model at all")
    assert "garbage.tflite cannot be read as a model of LiteRT" in refused(tmp_path / "garbage.tflite")
    assert "cannot be read as a model of LiteRT" in refused(tmp_path / "absent.tflite")
    custom_operator(graph, "Unheard", tmp_path / "custom.tflite")
    assert "Unheard" in refused(tmp_path / "custom.tflite")


def test_operators_of_tensorflow_are_refused(refused, graph, tmp_path):
    custom_operator(graph, "FlexErf", tmp_path / "flex.tflite")
    sentence = refused(tmp_path / "flex.tflite")
    assert "Select TensorFlow op" in sentence and "convert the model without them" in sentence


def test_the_maker_refuses_what_it_cannot_write(plugin, onnx_file, tmp_path):
    from infermeter.backend import Refused
    from infermeter.making import Job

    maker = plugin("infermeter_make_litert")
    with pytest.raises(Refused, match="no definition of the zoo's unet2d; it has mlp, resnet50, vit_b_16"):
        maker.make(Job("unet2d", str(onnx_file("unet2d")), {"batch": "1"}, "", str(tmp_path / "out")))


def test_a_missing_framework_is_said_with_the_way_to_get_it(plugin, monkeypatch):
    from infermeter.backend import Environment, Refused

    for module in [name for name in sys.modules if name.startswith("ai_edge_litert")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if "site-packages" not in folder])
    with pytest.raises(Refused, match="LiteRT is not installed in .*--with litert, or pip install ai-edge-litert"):
        plugin("infermeter_backend_litert").open_runtime(Environment())
