"""What PyTorch can do to a model before it is measured: channels-last, autocast, compile, int8 weights; alone and all."""

import numpy as np

FRAMEWORK = "pytorch"
ALL = {"channels_last": "true", "autocast": "true", "quantize": "dynamic", "compile": "true"}


def test_weights_of_linear_layers_become_int8(runtime, load_of, onnx_file, run_once, input_of, expected, distance):
    # One item: the range is that of the batch, and a faint item beside a loud one would be rounded by the loud one's.
    session = runtime.load(load_of(onnx_file("mlp"), "mlp", quantize="dynamic", batch=1))
    (values,) = run_once(session, input_of("mlp", 1))
    reported = session.executed()
    # Of one rounding of 2^-8: float32 weights would be at 1e-7, 4-bit ones beyond 0.1.
    assert 1e-3 < distance(values, expected("mlp", 1)) < 0.1
    assert reported["dtype"] == "int8"
    assert reported["quantize"] == "dynamic: 3392 of 3498 weights in int8"  # 32 x 64 + 64 x 16 + 16 x 20 without biases
    assert (reported["parameters"], reported["model_bytes"]) == ("3498", str(3392 + 4 * 106 + 3 * 16))  # a scale and a zero point of each layer
    session.close()


def test_int8_is_said_only_where_most_weights_are(runtime, load_of, factory):
    few = "torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3), torch.nn.Flatten(), torch.nn.Linear(64, 4))"
    many = "torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(4, 64))"
    body = f"def make():\n    return {few}\ndef many():\n    return {many}\n"
    model = factory(body)
    for name, dtype in (("make", "float32"), ("many", "int8")):
        session = runtime.load(load_of(model.replace("make", name), input_shape="1x3x3x3", quantize="dynamic"))
        assert session.executed()["dtype"] == dtype
        session.close()


def test_the_model_that_was_given_stays_as_it_is(runtime, load_of):
    """Of a program that measures the same object in several ways."""
    import sys
    import types

    import torch

    module = torch.nn.Sequential(torch.nn.Linear(4, 4))
    sys.modules["of_a_program"] = types.ModuleType("of_a_program")
    sys.modules["of_a_program"].make = lambda: module
    load = load_of("of_a_program:make", input_shape="1x4", quantize="dynamic")
    runtime.load(load).close()
    assert type(module[0]) is torch.nn.Linear and module[0].weight.dtype == torch.float32


def test_all_at_once(runtime, load_of, factory, run_once, distance):
    """On a network of what MobileNetV3 is made of: to compile all of that would take four times as long."""
    model = factory(
        "def make():\n"
        "    torch.manual_seed(1)\n"
        "    nn = torch.nn\n"
        "    return nn.Sequential(\n"
        "        nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.Hardswish(),\n"
        "        nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False), nn.BatchNorm2d(16), nn.ReLU(),\n"
        "        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 256), nn.Hardswish(), nn.Linear(256, 100))\n"
    )
    array = np.random.default_rng(7).standard_normal((1, 3, 32, 32), dtype=np.float32)
    answers = []
    for options in ({}, {"dtype": "bfloat16", **ALL}):
        session = runtime.load(load_of(model, input_shape="1x3x32x32", batch=1, **options))
        answers.append(run_once(session, array)[0])
        reported = session.executed()
        session.close()
    assert 1e-3 < distance(answers[1], answers[0]) < 0.1
    assert (reported["provider"], reported["channels_last"], reported["autocast"], reported["dtype"]) == (
        "inductor", "true", "true", "int8")
    assert reported["quantize"] == "dynamic: 29696 of 30692 weights in int8"  # 16 x 256 + 256 x 100, without biases


def test_volumes_are_kept_channels_last(runtime, load_of, factory, run_once):
    import torch

    model = factory(
        "class Seen(torch.nn.Conv3d):\n"
        "    def forward(self, x):\n"
        "        last = torch.channels_last_3d\n"
        "        seen = x.is_contiguous(memory_format=last), self.weight.is_contiguous(memory_format=last)\n"
        "        return super().forward(x) * 0 + sum(seen)\n"
        "def make():\n    return Seen(2, 3, 3)\n"
    )
    assert torch.zeros(1, 2, 4, 4, 4).is_contiguous(memory_format=torch.channels_last_3d) is False
    for wanted, count in (("true", 2), ("false", 0)):
        session = runtime.load(load_of(model, input_shape="1x2x4x4x4", channels_last=wanted, batch=1))
        assert (run_once(session, np.ones((1, 2, 4, 4, 4), np.float32))[0] == count).all()
        session.close()


def test_what_cannot_be_quantised_is_refused(refused, factory, onnx_file):
    mlp, unet = onnx_file("mlp"), onnx_file("unet3d")
    assert "cannot use quantize=static; give quantize=none or dynamic" in refused(mlp, "mlp", quantize="static")
    assert "the model has no Linear layer: leave it out, or quantise the model's ONNX file" in refused(
        unet, "unet3d", quantize="dynamic")
    function = factory("def make():\n    return lambda x: x\n")
    assert "a function has no layers that could be exchanged" in refused(
        function, input_shape="1x2", quantize="dynamic")
    assert "takes float32 weights, and bfloat16 would convert them first" in refused(
        mlp, "mlp", dtype="bfloat16", quantize="dynamic")


def test_tensorrt_is_named_and_refused(refused, onnx_file):
    assert "there is no TensorRT here" in refused(onnx_file("mlp"), "mlp", tensorrt="true")
    assert "has no device 'tensorrt' here; it has cpu" in refused(onnx_file("mlp"), "mlp", device="tensorrt")
