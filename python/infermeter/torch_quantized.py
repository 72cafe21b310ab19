"""Linear layers of a torch.nn.Module with int8 weights, and what a module's weights are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from infermeter.backend import Refused, Status
from infermeter.torch_arrays import name_of


def quantized(torch: Any, module: Any) -> Any:
    """A copy of `module` whose Linear layers have int8 weights. Their inputs, of any precision, are quantised by their own
    range at each call, and they give float32."""
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.jit.ScriptModule):
        raise _nothing_to_quantize(f"a {type(module).__name__} has no layers that could be exchanged")
    linear = [layer for layer in module.modules() if type(layer) is torch.nn.Linear]
    if not linear:
        raise _nothing_to_quantize("the model has no Linear layer")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says that it moves to another package, which has no kernels for CPUs of its own
        try:
            copy = torch.ao.quantization.quantize_dynamic(module, {torch.nn.Linear}, dtype=torch.qint8)
        except Exception as error:
            raise Refused(
                Status.MODEL_ERROR, f"PyTorch cannot quantise the model: {type(error).__name__}: {_line(error)}"
            ) from error
    for layer in _quantized_layers(copy):
        layer.register_forward_pre_hook(_to_float32)
    return copy


def _to_float32(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    # What comes out of torch.autocast is bfloat16, which the kernel refuses.
    return tuple(tensor.float() for tensor in inputs)


def _nothing_to_quantize(why: str) -> Refused:
    return Refused(
        Status.UNSUPPORTED,
        f"quantize=dynamic exchanges Linear layers, and {why}: leave it out, or quantise the model's ONNX file",
    )


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


def _quantized_layers(module: Any) -> Iterator[Any]:
    # By its name: the class lies in a package that is on its way out, and importing that warns.
    return (layer for layer in module.modules() if type(layer).__name__ == "Linear" and hasattr(layer, "_packed_params"))


@dataclass(frozen=True)
class Weights:
    count: int  # parameters, those in int8 included
    int8: int
    size_bytes: int  # parameters and buffers
    most_are: str  # the type that most floating-point parameters have; empty: there are none

    @staticmethod
    def of(torch: Any, module: Any) -> Weights:
        counts: dict[str, int] = {}
        parameters = list(module.parameters())
        for parameter in parameters:
            if parameter.is_floating_point():
                name = name_of(parameter.dtype)
                counts[name] = counts.get(name, 0) + parameter.numel()
        packed = [(layer.weight(), layer.bias()) for layer in _quantized_layers(module)]
        int8 = sum(weight.numel() for weight, _ in packed)
        more = [bias for _, bias in packed if bias is not None]
        tensors = [*parameters, *module.buffers(), *more]
        return Weights(
            count=sum(parameter.numel() for parameter in [*parameters, *more]) + int8,
            int8=int8,
            size_bytes=sum(tensor.numel() * tensor.element_size() for tensor in tensors) + int8,
            most_are=max(counts, key=lambda name: counts[name], default=""),
        )
