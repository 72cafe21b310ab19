"""The models of the zoo are the same in every framework: ONNX Runtime on infermeter's own files is the reference."""

import json
import subprocess

import numpy as np
import pytest

MODELS = ("mlp", "resnet50", "vit_b_16")
# Rounding leaves about 2e-6 between two runtimes; each of the mistakes below leaves more than 1e-5.
LIMIT = 1e-5


@pytest.fixture(scope="module")
def table(infermeter):
    text = subprocess.run([infermeter, "models", "--format", "json"], check=True, capture_output=True, text=True).stdout
    return {model["name"]: model for model in json.loads(text)}


def evaluate(module, array):
    import torch

    with torch.inference_mode():
        return module(torch.from_numpy(np.array(array))).numpy()


@pytest.mark.parametrize("name", ["mlp", "resnet50", "vit_b_16", "mobilenet_v3_small", "unet2d", "unet3d"])
def test_weights_and_ports_are_those_of_the_zoo(name, table, onnx_file, weights_of, need):
    need("onnxruntime")
    import onnx
    from infermeter.zoo.ports import zoo_input, zoo_output
    from infermeter.zoo.weights import parameter_count

    assert parameter_count(weights_of(name)) == table[name]["parameters"]
    graph = onnx.load(onnx_file(name)).graph
    for declared, port in ((graph.input[0], zoo_input(name)), (graph.output[0], zoo_output(name))):
        shape = declared.type.tensor_type.shape.dim
        assert (declared.name, tuple(d.dim_param or d.dim_value for d in shape)) == (port.name, port.shape)


@pytest.mark.parametrize("name", ["mlp", "resnet50", "vit_b_16", "mobilenet_v3_small", "unet2d", "unet3d"])
def test_pytorch_agrees(name, need, table, weights_of, input_of, expected, distance):
    need("pytorch", "onnxruntime")
    import torch
    from infermeter.zoo import pytorch as zoo

    before = torch.random.get_rng_state()
    module = zoo.build(name, weights_of(name))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not any(part.training for part in module.modules())
    assert sum(parameter.numel() for parameter in module.parameters()) == table[name]["parameters"]
    assert distance(evaluate(module, input_of(name)), expected(name)) <= LIMIT


@pytest.mark.parametrize("name", MODELS)
def test_jax_agrees(name, need, table, open_runtime, load_of, onnx_file, run_once, input_of, expected, distance):
    need("jax", "onnxruntime")
    session = open_runtime("jax").load(load_of(onnx_file(name), name))
    (values,) = run_once(session, input_of(name))
    assert session.executed()["parameters"] == str(table[name]["parameters"])
    assert distance(values, expected(name)) <= LIMIT


@pytest.mark.parametrize("framework_name", ["pytorch", "jax"])
def test_input_shape_is_honoured_or_refused(framework_name, need, open_runtime, load_of, onnx_file, run_once):
    from infermeter.backend import Refused

    need(framework_name)
    runtime = open_runtime(framework_name)

    def load(name, **options):
        return runtime.load(load_of(onnx_file(name), name, **options))

    convolutional = {"pytorch": "mobilenet_v3_small", "jax": "resnet50"}[framework_name]
    session = load(convolutional, input_shape="1x3x160x96")
    assert [port.shape for port in session.inputs] == [(2, 3, 160, 96)]
    if framework_name == "pytorch":  # JAX would compile for seconds
        assert run_once(session, np.zeros((2, 3, 160, 96), np.float32))[0].shape == (2, 1000)
        session.close()
    assert [port.shape for port in load("mlp", input_shape="2x16").inputs] == [(2, 16)]
    for name, shape, why in (
        ("mlp", "1x32", "it takes 1x16 only"),
        (convolutional, "1x1x224x224", "it takes 1x3 and other sizes behind"),
        (convolutional, "3x160x160", "it takes 1x3x224x224, the batch first"),
        (convolutional, "7x3x160x96", "its batch is 7, and the batch size is 2: give --batch-sizes 7, or 1 there"),
        (convolutional, "1x3x224x224:float16", "float32"),
        (convolutional, "1x3x224x224;1x3x224x224", "it takes 1x3x224x224"),
    ):
        with pytest.raises(Refused, match=f"the zoo's {name} cannot take input_shape=") as raised:
            load(name, input_shape=shape)
        assert why in str(raised.value)


@pytest.mark.parametrize("name", MODELS)
def test_litert_agrees(
    name, need, plugin, tmp_path, open_runtime, load_of, onnx_file, run_once, input_of, expected, distance
):
    need("litert", "onnxruntime")
    from infermeter.making import Job

    file = tmp_path / "model.tflite"
    plugin("infermeter_make_litert").make(Job(name, str(onnx_file(name)), {"batch": "2"}, "", str(file)))
    session = open_runtime("litert").load(load_of(file, name))
    (values,) = run_once(session, input_of(name))
    reported = session.executed()
    assert reported["provider"] == "xnnpack" and reported["delegated_operators"] == reported["operators"]
    assert distance(values, expected(name)) <= LIMIT


def tanh_gelu(module):
    from torch import nn

    for layer in module.encoder.layers:
        layer.mlp[1] = nn.GELU(approximate="tanh")


def other_epsilon(module):
    from torch import nn

    for part in module.modules():
        if isinstance(part, nn.LayerNorm):
            part.eps = 1e-5
        elif isinstance(part, nn.BatchNorm2d):
            part.eps = 1e-6


def zero_head(module):
    module.heads.head.weight.data.zero_()


def transposed_square_matrix(module):
    weight = module.encoder.layers[3].self_attention.out_proj.weight
    weight.data = weight.data.T.contiguous()


def padding_on_one_side(module):
    from torch import nn

    first = module.layer2[0]
    first.conv2.padding = (0, 0)
    first.conv2 = nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), first.conv2)


def stride_in_the_first_convolution(module):
    first = module.layer2[0]
    first.conv1.stride, first.conv2.stride = (2, 2), (1, 1)


def training_mode(module):
    module.train()


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("vit_b_16", tanh_gelu),
        ("vit_b_16", other_epsilon),
        ("vit_b_16", zero_head),
        ("vit_b_16", transposed_square_matrix),
        ("resnet50", other_epsilon),
        ("resnet50", padding_on_one_side),
        ("resnet50", stride_in_the_first_convolution),
        ("resnet50", training_mode),
    ],
)
def test_the_limit_notices(name, mistake, need, weights_of, input_of, expected, distance):
    """What one gets wrong when one writes these models down again."""
    need("pytorch", "onnxruntime")
    from infermeter.zoo import pytorch as zoo

    module = zoo.build(name, {key: np.array(array) for key, array in weights_of(name).items()})
    mistake(module)
    assert distance(evaluate(module, input_of(name)), expected(name)) > LIMIT


@pytest.mark.parametrize("framework", ["pytorch", "jax"])
def test_weights_that_do_not_fit_are_refused(framework, need, weights_of):
    need(framework)
    import importlib

    zoo = importlib.import_module(f"infermeter.zoo.{framework}")
    weights = dict(weights_of("mlp"))
    with pytest.raises((RuntimeError, ValueError), match="fc4.weight"):
        zoo.build("mlp", weights | {"fc4.weight": weights["fc3.weight"]})
    del weights["fc3.bias"]
    with pytest.raises((RuntimeError, KeyError), match="fc3.bias"):
        zoo.build("mlp", weights)


@pytest.mark.parametrize("batch", [1, 3])
def test_tflite_bytes_depend_on_weights_and_batch_only(batch, need, tmp_path, weights_of):
    need("litert")
    from infermeter.zoo import litert as zoo

    for name in ("one", "two"):
        zoo.write("resnet50", weights_of("resnet50"), batch, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_tflite_buffers_are_aligned(need, tmp_path, weights_of):
    need("litert")
    from ai_edge_litert import schema_py_generated as schema
    from infermeter.zoo import litert as zoo

    zoo.write("mlp", weights_of("mlp"), 1, tmp_path / "mlp.tflite")
    content = (tmp_path / "mlp.tflite").read_bytes()
    model = schema.Model.GetRootAs(content)
    starts = []
    for index in range(1, model.BuffersLength()):
        table = model.Buffers(index)._tab
        starts.append(table.Vector(table.Offset(4)))
    assert len(starts) == 6 and all(start % 16 == 0 for start in starts)
    assert schema.Model.ModelBufferHasIdentifier(content, 0)


@pytest.mark.parametrize("xnnpack", ["true", "false"])
def test_gelu_of_litert_is_exact(xnnpack, need, tmp_path, open_runtime, load_of, run_once):
    """The approximation by tanh is off by up to 5e-4."""
    need("litert")
    scipy_special = pytest.importorskip("scipy.special")
    from infermeter.zoo import litert_layers as layers
    from infermeter.zoo.litert_graph import Graph

    x = np.linspace(-6, 6, 4096, dtype=np.float32).reshape(1, -1)
    graph = Graph("gelu")
    graph.finish("output", layers.gelu(graph, graph.input("input", x.shape)))
    graph.write(tmp_path / "gelu.tflite")
    session = open_runtime("litert").load(load_of(tmp_path / "gelu.tflite", xnnpack=xnnpack))
    exact = x * (1 + scipy_special.erf(x.astype(np.float64) / np.sqrt(2))) / 2
    assert np.abs(run_once(session, x)[0] - exact).max() < 2e-6
