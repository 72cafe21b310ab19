"""`infermeter validate A B --layers`: the first tensor where two models part, on real runtimes."""

import json
import subprocess

import numpy as np
import pytest

NET = "mobilenet_v3_small"


@pytest.fixture(autouse=True)
def packages():
    for name in ("onnx", "onnxruntime"):
        pytest.importorskip(name, reason=f"{name} is not installed: scripts/setup")


@pytest.fixture(scope="module")
def net(infermeter, tmp_path_factory):
    file = tmp_path_factory.mktemp("net") / "net.onnx"
    subprocess.run([infermeter, "models", "build", NET, file], check=True, capture_output=True)
    return file


@pytest.fixture
def layers(run):
    """layers(A, B, …) -> exit code and parsed report."""

    def call(*arguments, **options):
        done = run("validate", *arguments, "--layers", "--format", "json", **options)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, json.loads(done.stdout)

    return call


NODE = "features.6.block.1.0"  # a convolution in the middle, whose error grows further on


def changed_copy(file, target):
    """One weight of one node is another one."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(file)
    node = next(node for node in model.graph.node if node.name == NODE)
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == node.input[1])
    values = numpy_helper.to_array(weight).copy()
    values.ravel()[0] += 0.5 * np.abs(values).max()
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    onnx.save(model, target)


def test_a_changed_weight_is_found_and_not_the_largest_error(layers, net, tmp_path):
    changed_copy(net, tmp_path / "other.onnx")
    code, report = layers(f"{net}@onnxruntime", f"{tmp_path / 'other.onnx'}@onnxruntime")
    jump = report["tensors"][report["jump"]]
    assert (code, jump["node"], jump["operator"]) == (1, NODE, "Conv")
    assert report["first_difference"] == report["jump"] and report["before_jump"] == 0
    assert all(tensor["error"] == 0 for tensor in report["tensors"][: report["jump"]])
    # What the tempting rule would name.
    errors = [tensor["error"] or 0 for tensor in report["tensors"]]
    assert report["worst"] == int(np.argmax(errors)) != report["jump"]


def test_the_graph_is_that_of_the_file(layers, net):
    """Against ONNX's own reader."""
    import onnx

    _, report = layers(f"{net}@onnxruntime", f"{net}@onnxruntime")
    graph = report["graph"]
    nodes = [node for node in onnx.load(net, load_external_data=False).graph.node if node.op_type != "Constant"]
    maker = {tensor: place for place, node in enumerate(nodes) for tensor in node.output}
    expected = {(maker[tensor], place) for place, node in enumerate(nodes) for tensor in node.input if tensor in maker}
    assert [(node["name"], node["operator"]) for node in graph["nodes"]] == [(node.name, node.op_type) for node in nodes]
    assert set(zip(graph["from"], graph["to"])) == expected and len(graph["from"]) == len(expected)
    made = [[report["tensors"][index]["name"] for index in node["tensors"]] for node in graph["nodes"]]
    assert made == [list(node.output) for node in nodes], "all tensors have a partner here"


def test_it_is_found_through_the_rounding_of_another_runtime(layers, net, tmp_path):
    pytest.importorskip("openvino", reason="openvino is not installed: scripts/setup")
    changed_copy(net, tmp_path / "other.onnx")
    code, report = layers(f"{net}@onnxruntime", f"{tmp_path / 'other.onnx'}@openvino")
    assert (code, report["tensors"][report["jump"]]["node"]) == (1, NODE)
    assert report["first_difference"] < report["jump"] and 0 < report["before_jump"] < 1e-5


def test_figures_are_those_of_numpy(layers, net, tmp_path):
    """Against ONNX Runtime's own Python API on the same inputs, outputs exposed by the package onnx."""
    import onnx
    import onnxruntime

    changed_copy(net, tmp_path / "other.onnx")
    inputs = np.random.default_rng(1).uniform(-1, 1, (1, 3, 224, 224)).astype(np.float32)
    np.save(tmp_path / "inputs.npy", inputs)
    values = []
    for file in (net, tmp_path / "other.onnx"):
        model = onnx.load(file)
        names = [name for node in model.graph.node if node.op_type != "Constant" for name in node.output]
        declared = {output.name for output in model.graph.output}
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in declared)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        values.append(dict(zip(names, session.run(names, {"input": inputs}), strict=True)))
    _, report = layers(f"{net}@onnxruntime", f"{tmp_path / 'other.onnx'}@onnxruntime", "--data", tmp_path / "inputs.npy")
    assert [tensor["name"] for tensor in report["tensors"]] == list(values[0])
    for tensor in report["tensors"]:
        expected, got = (side[tensor["name"]].astype(np.float64) for side in values)
        assert tensor["shape"] == list(expected.shape)
        assert tensor["max_absolute"] == pytest.approx(np.abs(got - expected).max(), rel=1e-6)
        if np.linalg.norm(expected) > 0:
            error = np.linalg.norm(got - expected) / np.linalg.norm(expected)
            assert tensor["relative_l2"] == pytest.approx(error, rel=1e-6)


def test_two_runtimes_part_nowhere(layers, net):
    pytest.importorskip("openvino", reason="openvino is not installed: scripts/setup")
    code, report = layers(f"{net}@onnxruntime", f"{net}@openvino")
    assert (code, report["jump"]) == (0, None)
    assert report["reference_only"] == report["candidate_only"] == []
    worst = report["tensors"][report["worst"]]
    assert 0 < worst["error"] < worst["rounding_floor"] < 1e-4


def test_a_reduced_precision_is_no_jump(layers, net, run):
    pytest.importorskip("openvino", reason="openvino is not installed: scripts/setup")
    done = run("validate", f"{net}@openvino", f"{net}@openvino,dtype=bfloat16", "--layers", "--format", "json")
    if done.returncode == 3 or "cannot execute bfloat16 here" in done.stderr:
        pytest.skip("OpenVINO executes no bfloat16 here: " + done.stderr)
    report = json.loads(done.stdout)
    assert (done.returncode, report["jump"]) == (0, None), done.stderr
    assert report["candidate"]["executed"]["dtype"] == "bfloat16"
    worst = report["tensors"][report["worst"]]
    assert 1e-3 < worst["error"] < worst["rounding_floor"] * 4


def test_a_float16_file(layers, net, tmp_path):
    import onnx

    float16 = pytest.importorskip("onnxruntime.transformers.float16")
    model = float16.convert_float_to_float16(onnx.load(net), keep_io_types=True)
    onnx.save(model, tmp_path / "half.onnx")
    code, report = layers(f"{net}@onnxruntime", f"{tmp_path / 'half.onnx'}@onnxruntime")
    halves = [tensor for tensor in report["tensors"] if tensor["candidate_dtype"] == "float16"]
    assert (code, report["jump"]) == (0, None)
    assert len(halves) > 100 and {tensor["dtype"] for tensor in halves} == {"float32"}
    assert {tensor["rounding_floor"] for tensor in halves} == {2**-8}


def test_a_quantised_file(layers, net, tmp_path):
    quantization = pytest.importorskip("onnxruntime.quantization")

    class Inputs(quantization.CalibrationDataReader):
        left = 1

        def get_next(self):
            self.left -= 1
            random = np.random.default_rng(1)
            return {"input": random.uniform(-1, 1, (1, 3, 224, 224)).astype(np.float32)} if self.left >= 0 else None

    quantization.quantize_static(net, tmp_path / "int8.onnx", Inputs(), per_channel=True)
    code, report = layers(f"{net}@onnxruntime", f"{tmp_path / 'int8.onnx'}@onnxruntime")
    assert len(report["tensors"]) > 100  # by name, though the file has twice as many nodes
    assert any(name.endswith("_QuantizeLinear_Output") for name in report["candidate_only"])
    # What is read further on, and not what the quantiser left of a Relu.
    read = [tensor for tensor in report["tensors"] if tensor["candidate_name"].endswith("_DequantizeLinear_Output")]
    assert len(read) > len(report["tensors"]) / 2
    assert all(tensor["candidate_name"].startswith(tensor["name"]) for tensor in read)
    assert report["tensors"][-1]["rounding_floor"] == 0.125
    if report["jump"] is not None:  # it may well: then it is a real one
        assert report["tensors"][report["jump"]]["error"] > 0.125


def test_names_of_another_export_are_matched_by_order(layers, net, tmp_path):
    import onnx

    model = onnx.load(net)
    fixed = {port.name for port in (*model.graph.input, *model.graph.output, *model.graph.initializer)}
    for node in model.graph.node:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                if name and name not in fixed:
                    names[place] = "renamed/" + name
    onnx.save(model, tmp_path / "renamed.onnx")
    code, report = layers(f"{net}@onnxruntime", f"{tmp_path / 'renamed.onnx'}@onnxruntime")
    assert (code, report["first_difference"], report["reference_only"]) == (0, None, [])
    by_order = [tensor for tensor in report["tensors"] if tensor["matched_by"] == "order"]
    assert len(by_order) > 100
    assert all(tensor["candidate_name"] == "renamed/" + tensor["name"] for tensor in by_order)


def test_weights_in_files_of_their_own_are_found(layers, net, tmp_path):
    import onnx

    (tmp_path / "model").mkdir()
    onnx.save(onnx.load(net), tmp_path / "model/m.onnx", save_as_external_data=True, location="weights.bin")
    code, report = layers(f"{net}@onnxruntime", f"{tmp_path / 'model/m.onnx'}@onnxruntime")
    assert (code, report["first_difference"]) == (0, None)
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["m.onnx", "weights.bin"]


def test_subgraphs_are_left_alone(layers, tmp_path):
    import onnx
    from onnx import TensorProto, helper

    def branch(name, op):
        node = helper.make_node(op, ["x"], [f"inside_{name}"], name=f"node_{name}")
        out = helper.make_node("Identity", [f"inside_{name}"], [f"out_{name}"])
        value = helper.make_tensor_value_info(f"out_{name}", TensorProto.FLOAT, [4])
        return helper.make_graph([node, out], name, [], [value])

    for number, op in enumerate(("Relu", "Neg")):
        nodes = [
            helper.make_node("ReduceMax", ["x"], ["top"], name="top", keepdims=0),
            helper.make_node("Greater", ["top", "zero"], ["is_positive"], name="greater"),
            helper.make_node("If", ["is_positive"], ["chosen"], name="if", then_branch=branch("then", op),
                             else_branch=branch("else", "Abs")),
            helper.make_node("Exp", ["chosen"], ["y"], name="exp"),
        ]
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
            [helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, tmp_path / f"m{number}.onnx")
    code, report = layers(f"{tmp_path / 'm0.onnx'}@onnxruntime", f"{tmp_path / 'm1.onnx'}@onnxruntime")
    assert [tensor["name"] for tensor in report["tensors"]] == ["top", "is_positive", "chosen", "y"]
    assert (code, report["tensors"][report["jump"]]["node"]) == (1, "if")


def test_the_text_and_the_picture(run, net, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: scripts/setup --with plot")
    changed_copy(net, tmp_path / "$x^{$.onnx")
    done = run("validate", f"{net}@onnxruntime", f"{tmp_path / '$x^{$.onnx'}@onnxruntime", "--layers",
               "--layers-plot", "growth.svg")
    assert done.returncode == 1 and done.stderr == ""
    assert f"they diverge at {NODE} (Conv, node " in done.stdout.replace("\n  ", " ")
    assert "all numbers are the same" in done.stdout.replace("\n  ", " ") and "^ they diverge here" in done.stdout
    assert "keeps runtimes from fusing operators" in done.stdout.replace("\n  ", " ")
    picture = (run.folder / "growth.svg").read_text()
    assert "<svg " in picture
    again = run("validate", "mlp@onnxruntime", "mlp@onnxruntime", "--layers", "--layers-plot", "growth.svg")
    assert again.returncode == 2 and "growth.svg exists already: --force writes over it" in again.stderr


@pytest.mark.parametrize("arguments, sentence", [
    (["mlp@onnxruntime", "mlp@onnxruntime", "--layers-plot", "a.png"], "give --layers as well"),
    (["mlp@onnxruntime", "mlp@onnxruntime", "--layers", "--layers-plot", "a.gif"], "it can end with .png or .svg"),
    (["mlp@onnxruntime", "mobilenet_v3_small@onnxruntime", "--layers"], "do not take the same inputs"),
    (["mlp@onnxruntime", "model.xml@openvino", "--layers"], "'model.xml' is not an ONNX file"),
])
def test_what_is_asked_for_wrongly(run, arguments, sentence):
    (run.folder / "model.xml").write_text("<net/>")
    (run.folder / "model.bin").write_bytes(b"1")
    done = run("validate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and done.stderr.count("\n") == 1


def test_too_little_memory_is_a_sentence(run, net):
    done = run("validate", f"{net}@onnxruntime", f"{net}@onnxruntime", "--layers", "--memory-limit", "60MB")
    assert done.returncode == 4 and "a smaller batch or input takes less" in done.stderr
