"""What PyTorch can load: the zoo by torchvision's definitions, factories, pickled modules, TorchScript, programs that
were exported, and checkpoints with a factory that makes their model."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

from infermeter.backend import Info, Load, Port, Refused, Status
from infermeter.checks import need, refuse_outside_zoo
from infermeter.factory import Model, load_factory, look_in, model_of, refuse_input_shape
from infermeter.ports import sized
from infermeter.torch_arrays import name_of
from infermeter.torch_checkpoints import with_weights

FACTORY = "factory"


def read_model(torch: Any, folder: str, info: Info, load: Load) -> Model:
    if load.zoo_name:
        from infermeter.zoo import pytorch as zoo
        from infermeter.zoo.ports import asked_input

        refuse_outside_zoo(info, load, zoo.names())
        return Model(product_of(torch, folder, load), asked_input(load), ("output",))
    if load.model.endswith(".pt2"):
        look_in(folder)
        return _exported(torch, load)
    return model_of(product_of(torch, folder, load), load)


def product_of(torch: Any, folder: str, load: Load) -> Any:
    """What can be called, or an infermeter.Model around it."""
    if load.zoo_name:
        return _from_zoo(load)
    look_in(folder)  # a pickle names the modules that its classes are in
    if load.model.endswith(".pt2"):
        return _program(torch, load).module()
    if load.model.endswith((".pt", ".pth", ".ckpt")):
        if FACTORY in load.options:
            return with_weights(torch, load_factory(load.options[FACTORY], folder), load)
        return _pickled_or_script(torch, load.model)
    if FACTORY in load.options:
        raise Refused(Status.INVALID_ARGUMENT, f"{FACTORY}= is for files of weights, and {load.model} is none: leave it out")
    return load_factory(load.model, folder)


def _from_zoo(load: Load) -> Any:
    from infermeter.zoo import pytorch as zoo
    from infermeter.zoo.weights import read_weights

    for package in ("onnx", *(["torchvision"] if load.zoo_name in zoo.TORCHVISION else [])):
        need(package, f"the zoo's {load.zoo_name}", setup="pytorch")
    return zoo.build(load.zoo_name, read_weights(load.model))


def _pickled_or_script(torch: Any, file: str) -> object:
    try:
        if _is_script(file):
            return torch.jit.load(file, map_location="cpu")
        model = torch.load(file, weights_only=False, map_location="cpu")
    except Exception as error:  # unpickling runs code: anything may come
        raise _unreadable(file, error) from error
    if isinstance(model, Mapping):
        raise Refused(
            Status.MODEL_ERROR,
            f"{file} holds weights without a model: give --option {FACTORY}=FILE.py:FACTORY, a function that makes the "
            "model that they are of",
        )
    return model


def _is_script(file: str) -> bool:
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def _program(torch: Any, load: Load) -> Any:
    try:
        return torch.export.load(load.model)
    except Exception as error:
        raise _unreadable(load.model, error) from error


def _exported(torch: Any, load: Load) -> Model:
    program = _program(torch, load)
    module = program.module()
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    refuse_input_shape(load)
    inputs = [_port_of(torch, name, values[name]) for name in program.graph_signature.user_inputs]
    return Model(module, sized(inputs, load), tuple(str(name) for name in program.graph_signature.user_outputs))


def _port_of(torch: Any, name: str, value: Any) -> Port:
    if not isinstance(value, torch.Tensor):
        raise Refused(Status.UNSUPPORTED, f"input '{name}' is a {type(value).__name__}; only tensors can be given")
    shape = tuple(size if isinstance(size, int) else None for size in value.shape)
    return Port(name, name_of(value.dtype), shape)


def _unreadable(file: str, error: Exception) -> Refused:
    message = " ".join(str(error).split())[:400]
    return Refused(
        Status.MODEL_ERROR, f"{file} cannot be read as a model of PyTorch: {type(error).__name__}: {message}"
    )
