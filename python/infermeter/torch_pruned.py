"""Weights of a torch.nn.Module set to 0 by torch.nn.utils.prune."""

from __future__ import annotations

import copy
import math
from typing import Any

from infermeter.backend import Load, Refused, Status

PRUNE, PRUNE_HOW = "prune", "prune_how"
_HOW = ("unstructured", "structured")


def pruned(torch: Any, module: Any, load: Load) -> Any:
    """A copy of `module` as the options `prune` and `prune_how` ask for it: the share of the smallest weights of all convolutions and
    Linear layers, or in each of them the share of output channels whose weights are smallest together (L2). Neither makes a
    tensor smaller."""
    text = load.options.get(PRUNE, "0")
    share, how = _share(text), load.options.get(PRUNE_HOW, _HOW[0])
    if how not in _HOW:
        raise Refused(Status.INVALID_ARGUMENT, f"pytorch cannot use prune_how={how}; give unstructured or structured")
    if share == 0:
        return module
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.jit.ScriptModule):
        raise _nothing(f"a {type(module).__name__} has no layers that could be changed")
    module = copy.deepcopy(module)  # the caller's stays as it is
    kinds = (torch.nn.Linear, torch.nn.modules.conv._ConvNd)
    layers = [layer for layer in module.modules() if isinstance(layer, kinds)]
    if not layers:
        raise _nothing("the model has no convolution and no Linear layer")
    from torch.nn.utils import prune

    if how == "structured":
        for layer in layers:
            # Of transposed convolutions the second dimension is the output's.
            prune.ln_structured(layer, "weight", amount=share, n=2, dim=1 if getattr(layer, "transposed", False) else 0)
    else:
        prune.global_unstructured([(layer, "weight") for layer in layers], prune.L1Unstructured, amount=share)
    for layer in layers:
        prune.remove(layer, "weight")
    return module


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if 0 <= share < 1:
        return share
    raise Refused(Status.INVALID_ARGUMENT, f"pytorch cannot use prune={text}; give a share of the weights, 0.5")


def _nothing(why: str) -> Refused:
    return Refused(Status.UNSUPPORTED, f"prune sets weights of layers to 0, and {why}: leave it out")
