"""Sizes of inputs: which a dynamic dimension gets, and shapes written as text."""

from __future__ import annotations

import dataclasses
import re

from infermeter.backend import Load, Port, Refused, Status

GREATEST_SIZE = 2**31 - 1
TYPES = (
    *("float32", "float16", "bfloat16", "float64", "bool", "complex64", "complex128"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
_INPUT = re.compile(r"(?P<shape>[0-9]+(x[0-9]+)*)(:(?P<dtype>[a-z][a-z0-9_]*))?")


def sized(ports: list[Port], load: Load) -> list[Port]:
    """Dynamic dimensions with the sizes that `load` gives: by their place ("input.2"), by their name ("height"), or,
    the batch axis of an input, the batch; in that order. Refuses sizes for dimensions that are not there."""
    sizes = {key: _size(key, value) for key, value in load.dimensions.items()}
    known: set[str] = set()
    result = []
    for port, batch_axis in zip(ports, load.batch_axes(ports), strict=True):
        shape: list[int | str | None] = []
        for axis, dimension in enumerate(port.shape or ()):
            if isinstance(dimension, int):
                shape.append(dimension)
                continue
            place, name = f"{port.name}.{axis}", dimension or ""
            known |= {place, name} - {""}
            batch: int | str | None = load.batch if axis == batch_axis and load.batch > 0 else dimension
            shape.append(next((sizes[key] for key in (place, name) if key in sizes), batch))
        result.append(dataclasses.replace(port, shape=tuple(shape) if port.shape is not None else None))
    _refuse_unknown(sizes, known)
    return result


def ports_of_input_shape(text: str, load: Load) -> list[Port]:
    """What an option input_shape says of the inputs. The first dimension of each is the batch, unless the user says
    otherwise; there it says 1, or what the batch size says."""
    written = parse_input_shape(text)
    _refuse_unknown({key: _size(key, value) for key, value in load.dimensions.items()}, set())
    declared = [dataclasses.replace(port, shape=("batch", *port.shape[1:])) for port in written if port.shape]
    ports = []
    for port, axis in zip(written, load.batch_axes(declared), strict=True):
        assert port.shape is not None
        shape = list(port.shape)
        if axis is not None and load.batch > 0:
            if shape[axis] not in (1, load.batch):
                raise Refused(
                    Status.INVALID_ARGUMENT,
                    f"input_shape={text} gives input '{port.name}' {shape[axis]} items (its dimension {axis} is the "
                    f"batch), and the batch size is {load.batch}: give --batch-sizes {shape[axis]}, or 1 there, or "
                    f"--batch-axis {port.name}=none if it is not the batch",
                )
            shape[axis] = load.batch
        ports.append(dataclasses.replace(port, shape=tuple(shape)))
    return ports


def parse_input_shape(text: str) -> list[Port]:
    """ "1x3x224x224" or "1x3x224x224;2x8:int64"."""
    parts = text.split(";")
    ports = []
    for index, part in enumerate(parts):
        match = _INPUT.fullmatch(part.strip())
        shape = [int(size) for size in match["shape"].split("x")] if match else []
        dtype = (match and match["dtype"]) or "float32"
        if not match or dtype not in TYPES or not all(0 < size <= GREATEST_SIZE for size in shape):
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"input_shape={text} cannot be read at '{part}': give sizes with x between them, such as 1x3x224x224, "
                "with ';' between inputs and a type other than float32 behind a colon: 2x8:int64",
            )
        name = "input" if len(parts) == 1 else f"input_{index}"
        ports.append(Port(name, dtype, tuple(shape)))
    return ports


def fixed_shape(port: Port) -> tuple[int, ...]:
    """For who must know every size before anything is computed."""
    sizes = tuple(size for size in port.shape or () if isinstance(size, int))
    if port.shape is None or len(sizes) < len(port.shape):
        shape = "any rank" if port.shape is None else "[" + ", ".join(str(size or "?") for size in port.shape) + "]"
        raise Refused(
            Status.INVALID_ARGUMENT,
            f"input '{port.name}' of {shape} has no fixed size: give --batch-sizes for the first dimension and --dim "
            "NAME=SIZE for others",
        )
    return sizes


def floating_type(ports: list[Port]) -> str:
    """What a model without weights computes in: the floating-point type of its inputs; empty: none, or several."""
    types = {port.dtype for port in ports if port.dtype.startswith(("float", "bfloat", "complex"))}
    return types.pop() if len(types) == 1 else ""


def _size(key: str, value: str) -> int:
    if re.fullmatch("[0-9]{1,10}", value) and 0 < int(value) <= GREATEST_SIZE:
        return int(value)
    raise Refused(
        Status.INVALID_ARGUMENT, f"dimension {key}={value} is not a size; give a whole number of at least 1"
    )


def _refuse_unknown(sizes: dict[str, int], known: set[str]) -> None:
    for key in sizes:
        if key not in known:
            has = ", ".join(sorted(name for name in known if "." not in name) or sorted(known)) or "none"
            raise Refused(Status.INVALID_ARGUMENT, f"the model has no dynamic dimension '{key}'; it has {has}")
