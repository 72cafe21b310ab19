"""A PyTorch model as a file that torch.load reads, with weights set to 0 or in int8 as the back end pytorch makes them when
it loads such a variant."""

from __future__ import annotations

import sys
from typing import Any

from infermeter.backend import Load, Refused, Status
from infermeter.factory import FACTORY_MODULE
from infermeter.making import Job
from infermeter.torch_models import product_of
from infermeter.torch_pruned import pruned
from infermeter.torch_quantized import int8_linear


def make(job: Job) -> None:
    import torch

    options = dict(job.options)
    folder, zoo_name, quantizes = options.pop("folder"), options.pop("zoo", ""), options.pop("quantize", "none")
    load = Load(job.model, zoo_name, "cpu", "float32", 0, 1, options=options)
    product = product_of(torch, folder, load)
    module = pruned(torch, getattr(product, "callable", product), load)
    if quantizes == "dynamic":
        module = int8_linear(torch, module)
    if not isinstance(module, torch.nn.Module):
        raise Refused(Status.UNSUPPORTED, f"{job.name} is a {type(module).__name__}, and only a torch.nn.Module can be saved")
    module.eval()
    if isinstance(module, torch.jit.ScriptModule):
        module.save(job.file)
        return
    _use_importable_names()
    _save(torch, module, job)


def _save(torch: Any, module: Any, job: Job) -> None:
    try:
        torch.save(module, job.file)
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        raise Refused(Status.MODEL_ERROR, f"{job.name} cannot be pickled: {type(error).__name__}: {said}") from error


def _use_importable_names() -> None:
    """What FILE.py defines is pickled as FILE's: whoever loads the pickle imports that, and not the name it has here."""
    for name, code in list(sys.modules.items()):
        if not name.startswith(FACTORY_MODULE):
            continue
        own_name = name.removeprefix(FACTORY_MODULE)
        sys.modules.setdefault(own_name, code)
        for value in vars(code).values():
            if getattr(value, "__module__", None) == name:
                value.__module__ = own_name
