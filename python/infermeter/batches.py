"""What loaders give, taken apart: inputs, and labels where there are some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from infermeter.errors import UsageError

# Which part of a batch is the input: a key of a mapping, the name of an attribute or a place in a tuple; two of them:
# the input and the labels; or a function that gives inputs, or inputs and labels, of a batch.
Key = str | int | tuple[str | int, str | int] | Callable[[Any], Any]


def taken_apart(batch: Any, key: Key | None, loader: str = "validation_loader") -> tuple[Any, Any]:
    """Inputs, and labels or None. What `inputs` are: an array or tensor, or a list of them. `loader`: what the caller calls
    it, in sentences."""
    if callable(key):
        given = key(batch)
        return given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if isinstance(key, tuple):
        if len(key) != 2:
            raise UsageError(f"key={key!r}: give the input's key, or two: those of the input and of the labels")
        return _part(batch, key[0], loader), _part(batch, key[1], loader)
    if key is not None:
        return _part(batch, key, loader), None
    return _pair(batch, loader)


def _pair(batch: Any, loader: str) -> tuple[Any, Any]:
    if isinstance(batch, Mapping):
        names = ", ".join(map(repr, batch))
        raise UsageError(
            f"{loader} gave a mapping with {names}: say with key= which is the input (key='image'), which two are the input "
            "and the labels (key=('image', 'label')), or give a function of a batch"
        )
    if isinstance(batch, (tuple, list)):
        if len(batch) == 1:
            return batch[0], None
        if len(batch) != 2:
            raise UsageError(
                f"{loader} gave {len(batch)} things at once: give inputs, or pairs of inputs and labels; or say with key= "
                "which are the input and the labels (key=(0, 2))"
            )
        return batch[0], batch[1]
    if not hasattr(batch, "__array__") and not isinstance(batch, (int, float)):
        raise UsageError(
            f"{loader} gave an object of type {type(batch).__name__}: say with key= which attribute is the input, or give a "
            "function of a batch"
        )
    return batch, None


def _part(batch: Any, key: str | int, loader: str) -> Any:
    try:
        if isinstance(key, str) and not isinstance(batch, Mapping):
            return getattr(batch, key)
        return batch[key]
    except (AttributeError, IndexError, KeyError, TypeError):
        has = f"has {', '.join(map(repr, batch))}" if isinstance(batch, Mapping) else f"is a {type(batch).__name__}"
        raise UsageError(f"{loader} gave a batch without {key!r}: it {has} (key=)") from None
