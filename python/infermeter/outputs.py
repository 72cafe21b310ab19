"""What a model returned, taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def named_parts(result: object, name: str = "output") -> Iterator[tuple[str, Any]]:
    """Every part of a result of mappings, lists and tuples, depth first, with a name that shows where it was."""
    if isinstance(result, Mapping):
        for key, value in result.items():
            yield from named_parts(value, f"{name}.{key}")
    elif isinstance(result, (tuple, list)):
        for index, value in enumerate(result):
            yield from named_parts(value, f"{name}.{index}")
    else:
        yield name, result
