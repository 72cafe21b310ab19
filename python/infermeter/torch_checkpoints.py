"""Weights of a checkpoint (PyTorch Lightning's .ckpt, or a state_dict) in the model that a factory makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infermeter.backend import Load, Refused, Status
from infermeter.factory import Model

_STATES = ("state_dict", "model_state_dict", "model")  # where trainers put it in a checkpoint
_COMPILED = "_orig_mod."  # torch.compile's wrapper, in names
_COUNTS = "num_batches_tracked"  # of a BatchNorm that may lack it; inference does not use it


def with_weights(torch: Any, product: object, load: Load) -> object:
    """`product`, what the factory returned, with the weights of the file `load.model`."""
    module = product.callable if isinstance(product, Model) else product
    if not isinstance(module, torch.nn.Module):
        raise Refused(
            Status.MODEL_ERROR,
            f"{load.model} holds weights of a torch.nn.Module, and the factory returns a {type(module).__name__}",
        )
    held = _state_of(torch, load.model)
    wanted = list(module.state_dict())
    state = _of_module(held, wanted, load.model)
    try:
        module.load_state_dict({name: state[name] for name in wanted})
    except (RuntimeError, TypeError) as error:
        raise Refused(
            Status.MODEL_ERROR,
            f"the weights of {load.model} do not fit what the factory makes: {' '.join(str(error).split())[:400]}",
        ) from error
    return product


def _state_of(torch: Any, file: str) -> dict[str, Any]:
    try:
        try:
            content = torch.load(file, weights_only=True, map_location="cpu")  # runs no code of the file's
        except Exception:
            content = torch.load(file, weights_only=False, map_location="cpu")  # objects beside the weights
    except Exception as error:
        raise Refused(
            Status.MODEL_ERROR,
            f"{file} cannot be read as a checkpoint of PyTorch: {type(error).__name__}: {' '.join(str(error).split())[:400]}",
        ) from error
    if isinstance(content, torch.nn.Module):
        content = content.state_dict()
    if isinstance(content, Mapping):
        content = next((content[key] for key in _STATES if isinstance(content.get(key), Mapping)), content)
    if not isinstance(content, Mapping) or not any(torch.is_tensor(value) for value in content.values()):
        raise Refused(Status.MODEL_ERROR, f"{file} contains no state_dict: save one, or let the factory load the file itself")
    return {str(name).replace(_COMPILED, ""): value for name, value in content.items()}


def _of_module(held: Mapping[str, Any], wanted: list[str], file: str) -> dict[str, Any]:
    """The part of `held` that is the module's: all names as they are, or behind one prefix ("model."), as the module of a
    trainer has them that contains the network."""
    if not wanted:
        return {}
    first = wanted[0]
    prefixes = sorted({name.removesuffix(first) for name in held if name.endswith(first)})
    prefixes = [prefix for prefix in prefixes if not prefix or prefix.endswith(".")]
    complete = [prefix for prefix in prefixes if all(prefix + name in held for name in wanted)]
    if len(complete) == 1 or "" in complete:
        _refuse_surplus(held, complete[0], wanted, file)
        return {name: held[complete[0] + name] for name in wanted}
    if complete:
        raise Refused(
            Status.MODEL_ERROR,
            f"{file} holds the weights of several such models, at {', '.join(complete)}: let the factory load one itself",
        )
    best = max(prefixes, key=lambda prefix: sum(prefix + name in held for name in wanted), default="")
    missing = [best + name for name in wanted if best + name not in held]
    raise Refused(
        Status.MODEL_ERROR,
        f"{file} lacks {len(missing)} of the {len(wanted)} weights that the factory's model has, such as {missing[0]}; "
        f"it contains {', '.join(list(held)[:3])}, …",
    )


def _refuse_surplus(held: Mapping[str, Any], prefix: str, wanted: list[str], file: str) -> None:
    """A model with fewer layers than were trained is another one. What stands beside a prefix is the trainer's."""
    known = {prefix + name for name in wanted}
    surplus = [
        name
        for name, value in held.items()
        if name.startswith(prefix) and name not in known and not name.endswith(_COUNTS) and hasattr(value, "shape")
    ]
    if surplus:
        raise Refused(
            Status.MODEL_ERROR,
            f"{file} holds {len(surplus)} weights that the factory's model lacks, such as {surplus[0]}: let the factory make the "
            "whole model, or load what it needs of the file itself",
        )
