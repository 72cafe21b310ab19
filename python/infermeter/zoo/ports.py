"""What the models of the zoo take and give: the ports that their ONNX files declare."""

from __future__ import annotations

import dataclasses

from infermeter.backend import Load, Port, Refused, Status
from infermeter.factory import INPUT_SHAPE
from infermeter.ports import parse_input_shape, sized

_IMAGE = (3, 224, 224)
_CLASSES = (1000,)
_SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "resnet50": (_IMAGE, _CLASSES),
    "vit_b_16": (_IMAGE, _CLASSES),
    "mobilenet_v3_small": (_IMAGE, _CLASSES),
    "unet2d": ((1, 256, 256), (1, 256, 256)),
    "unet3d": ((1, 32, 64, 64), (1, 32, 64, 64)),
    "mlp": ((16,), (10,)),
}
_ANY_SIZE = ("resnet50", "mobilenet_v3_small", "unet2d", "unet3d")  # convolutions, and a mean over what is left


def zoo_input(name: str) -> Port:
    return Port("input", "float32", ("batch", *_SHAPES[name][0]))


def zoo_output(name: str) -> Port:
    return Port("output", "float32", ("batch", *_SHAPES[name][1]))


def asked_input(load: Load) -> list[Port]:
    """The zoo's input, in the size that input_shape asks for; refused where the network has one size only."""
    usual = zoo_input(load.zoo_name)
    text = load.options.get(INPUT_SHAPE)
    if text is None:
        return sized([usual], load)
    (asked, *further) = parse_input_shape(text)
    item = _SHAPES[load.zoo_name][0]
    has_size = asked.shape is not None and len(asked.shape) == len(item) + 1
    if further or not has_size or asked.dtype != usual.dtype:
        raise _other_size(load, text, f"it takes 1x{_text(item)}, the batch first (--batch-sizes), float32")
    assert asked.shape is not None
    batch, *_ = asked.shape
    if batch not in (1, load.batch):
        advice = f"give --batch-sizes {batch}, or 1 there"
        raise _other_size(load, text, f"its batch is {batch}, and the batch size is {load.batch}: {advice}")
    sizes = asked.shape[1:]
    if sizes != item and (load.zoo_name not in _ANY_SIZE or sizes[0] != item[0]):
        can = f"1x{item[0]} and other sizes behind" if load.zoo_name in _ANY_SIZE else f"1x{_text(item)} only"
        raise _other_size(load, text, f"it takes {can}")
    return sized([dataclasses.replace(usual, shape=("batch", *sizes))], load)


def _other_size(load: Load, text: str, why: str) -> Refused:
    return Refused(Status.INVALID_ARGUMENT, f"the zoo's {load.zoo_name} cannot take input_shape={text}: {why}")


def _text(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))
