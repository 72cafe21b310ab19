"""What the models of the zoo take and give: the ports that their ONNX files declare."""

from __future__ import annotations

from infermeter.backend import Port

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


def zoo_input(name: str) -> Port:
    return Port("input", "float32", ("batch", *_SHAPES[name][0]))


def zoo_output(name: str) -> Port:
    return Port("output", "float32", ("batch", *_SHAPES[name][1]))
