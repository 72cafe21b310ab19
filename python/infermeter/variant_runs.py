"""Variants of a model, made and measured."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from infermeter import _core
from infermeter.settings import TrialSettings

__all__ = ["variants"]


def variants(
    model: str | os.PathLike[str] | None = None,
    *,
    models: Mapping[str, str | os.PathLike[str]] | None = None,
    precisions: Sequence[str] | None = None,
    quantise: Sequence[str] | None = None,
    prune: Sequence[float] | None = None,
    prune_how: Sequence[str] | None = None,
    student: str | os.PathLike[str] | None = None,
    graph_opt: Sequence[str] | None = None,
    phases: Sequence[str] | None = None,
    backends: Sequence[str] | None = None,
    calibration: str | os.PathLike[str] | None = None,
    calibration_items: int | None = None,
    making_timeout: float | None = None,
    note: Callable[[str], object] | None = None,
    **settings: Unpack[TrialSettings],
) -> _core.Variants:
    """Makes variants of a model and measures each beside the model as it was given, as `infermeter variants` does
    (docs/variants.md): `print(infermeter.variants("resnet50"))`.

    `models`: instead of `model`, files that are there already, by name; the first is the baseline. `settings`: as for
    `run`: batch_sizes, threads, data, labels, iterations, processes, output_dir, … . `note` is called with a sentence
    when a file is made. A variant that cannot be made or run does not stop the others: it is in the report with the
    reason.
    """
    request: dict[str, object] = {
        "model": None if model is None else os.fspath(model),
        "models": None if models is None else [f"{name}:{os.fspath(file)}" for name, file in models.items()],
        "precisions": _list(precisions),
        "quantise": _list(quantise),
        "prune": _list(prune),
        "prune_how": _list(prune_how),
        "student": None if student is None else os.fspath(student),
        "graph_opt": _list(graph_opt),
        "phases": _list(phases),
        "backends": _list(backends),
        "calibration": None if calibration is None else os.fspath(calibration),
        "calibration_items": calibration_items,
        "making_timeout": making_timeout,
    }
    return _core.variants(request, {**settings}, note, shlex.join(sys.orig_argv))


def _list(values: Sequence[Any] | None) -> list[Any] | None:
    if isinstance(values, (str, float)):
        return [values]
    return None if values is None else list(values)
