"""Models of PyTorch with weights set to 0, and a student beside its teacher, by `infermeter variants`."""

import json

import pytest

NETS = """import torch


def make(width=32):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(3, width, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(width * 36, 4))


def student():
    return make(4)


def zeros(how):
    from infermeter.torch_pruned import pruned
    load = type("Load", (), {"options": {"prune": "0.5", "prune_how": how}})
    return pruned(torch, make(), load)


make.input_shape = student.input_shape = (3, 8, 8)
"""


@pytest.fixture
def nets(run):
    pytest.importorskip("torch", reason="PyTorch is not installed: scripts/setup --with pytorch")
    (run.folder / "nets.py").write_text(NETS)
    return ("variants", "nets.py:make@pytorch", "--option", "input_shape=1x3x8x8", "--iterations", 3, "--warmup", 1,
            "--processes", 1, "--quiet", "--format", "json")


def test_pruned_and_taught_models_are_measured(run, nets):
    done = run(*nets, "--prune", 0.5, "--prune-how", "unstructured,structured", "--student", "nets.py:student", timeout=300)
    assert done.returncode == 0, done.stderr
    variants = {variant["label"]: variant for variant in json.loads(done.stdout)["variants"]}
    assert list(variants) == ["eager", "pruned-50%", "pruned-50%-structured", "distilled"]
    stored = json.loads(run("report", "--format", "json").stdout)
    assert all(trial["end"] == "ok" for trial in stored["trials"]), [trial["message"] for trial in stored["trials"]]


@pytest.mark.parametrize("how", ["unstructured", "structured"])
def test_half_of_the_weights_are_zero(run, nets, how, monkeypatch):
    import importlib.util
    import sys

    import torch

    spec = importlib.util.spec_from_file_location("nets_of_test", run.folder / "nets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.zeros(how)
    weights = [layer.weight for layer in model if hasattr(layer, "weight")]
    count = sum(weight.numel() for weight in weights)
    assert sum(int((weight == 0).sum()) for weight in weights) == pytest.approx(count / 2, rel=0.01)
    if how == "structured":
        assert all(int((weight.flatten(1).abs().sum(1) == 0).sum()) == weight.shape[0] // 2 for weight in weights)
    assert not any("_orig" in name for name, _ in model.named_parameters()) and "torch" in sys.modules and torch


def test_what_cannot_be_pruned_is_a_sentence(run, nets):
    done = run("variants", "mlp@onnxruntime", "--prune", 0.5, "--prune-how", "sideways", "--dry-run")
    assert done.returncode == 2 and "--prune-how: there is no 'sideways'" in done.stderr
