"""Models of the zoo, what real runtimes make of them, and the program that attributes one to the other."""

import json
import subprocess

import numpy as np
import pytest

MODELS = ("resnet50", "vit_b_16")


@pytest.fixture(scope="session")
def attribute(build_dir):
    """attribute(MODEL, BATCH, OPERATORS.json…) -> what tests/attribution/attribute_main.cpp says."""
    program = build_dir / "tests/attribution/attribute_operators"
    if not program.exists():
        pytest.fail(f"{program} is not built: run `make test`")

    def call(model, batch, *operators):
        done = subprocess.run([program, model, str(batch), *operators], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return call


@pytest.fixture(scope="session", params=MODELS)
def zoo_model(request, infermeter, tmp_path_factory):
    file = tmp_path_factory.mktemp(request.param) / f"{request.param}.onnx"
    subprocess.run([infermeter, "models", "build", request.param, file], check=True, capture_output=True)
    return file


def _onnxruntime_operators(model):
    """In order of execution, with the tensors of the optimised graph."""
    onnx, ort = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.optimized_model_filepath = str(model.with_suffix(".optimised.onnx"))
    options.enable_profiling = True
    options.profile_file_prefix = str(model.with_suffix(""))
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    session.run(None, {session.get_inputs()[0].name: np.zeros((1, 3, 224, 224), np.float32)})
    with open(session.end_profiling()) as file:
        events = [event["name"] for event in json.load(file) if event.get("cat") == "Node"]
    optimised = {node.name: node for node in onnx.load(options.optimized_model_filepath).graph.node}
    names = [name.removesuffix("_kernel_time") for name in events if name.endswith("_kernel_time")]
    return [
        {"name": name, "kind": optimised[name].op_type, "precision": "float32",
         "inputs": list(optimised[name].input), "outputs": list(optimised[name].output)}
        for name in names
    ]


def _openvino_operators(model, precision):
    """In order of execution, with the origins that the runtime model shows."""
    ov = pytest.importorskip("openvino")
    core = ov.Core()
    read = core.read_model(model)
    read.reshape([1, 3, 224, 224])
    compiled = core.compile_model(read, "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": precision})

    def tensor(output):
        name = output.get_node().get_friendly_name()
        return name if output.get_index() == 0 else f"{name}:{output.get_index()}"

    operators = []
    for node in compiled.get_runtime_model().get_ordered_ops():
        facts = {key: str(getattr(value, "value", value)) for key, value in node.get_rt_info().items()}
        if facts["layerType"] in ("Const", "Input", "Output"):
            continue
        operators.append({
            "name": node.get_friendly_name(), "kind": facts["layerType"],
            "precision": {"f32": "float32", "bf16": "bfloat16"}.get(facts["runtimePrecision"], ""),
            "origin_names": [name for name in facts["originalLayersNames"].split(",") if name],
            "inputs": [tensor(value) for value in node.input_values()],
            "outputs": [tensor(value) for value in node.outputs()],
        })
    return operators


def _write(operators, file):
    file.write_text(json.dumps(operators))
    return file


@pytest.fixture(scope="session")
def onnxruntime_operators(zoo_model):
    return _write(_onnxruntime_operators(zoo_model), zoo_model.with_suffix(".onnxruntime.json"))


@pytest.fixture(scope="session")
def openvino_operators(zoo_model):
    return _write(_openvino_operators(zoo_model, "f32"), zoo_model.with_suffix(".openvino.json"))
