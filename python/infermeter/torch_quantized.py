"""Linear layers of a torch.nn.Module with int8 weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from infermeter.backend import Refused, Status


def quantized(torch: Any, module: Any) -> Any:
    """A copy of `module` whose Linear layers have int8 weights. Their inputs, of any precision, are quantised by their own
    range at each call, and they give float32."""
    copy = int8_linear(torch, module)
    for layer in _quantized_layers(copy):
        layer.register_forward_pre_hook(_to_float32)
    return copy


def int8_linear(torch: Any, module: Any) -> Any:
    """The same for float32 inputs, of nothing but PyTorch's own classes."""
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
