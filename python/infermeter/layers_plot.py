"""Figures of where two models part: the error of each tensor along the graph.

    python -m infermeter.layers_plot layers.json growth.png

`layers.json` is what `infermeter validate A B --layers --format json` prints.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infermeter.errors import UsageError
from infermeter.figure import REFUSED, check_ending, new_figure, set_text
from infermeter.plot_rows import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["error_along_graph"]

ENDINGS = (".png", ".svg")

_SMALLEST = 1e-10  # relative; nothing smaller shows anything
_MOST_NAMES = 40  # along the axis
_ERROR, _FLOOR, _JUMP = "#0072b2", "#8c8c8c", "#d55e00"


def error_along_graph(report: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Draws the relative L2 error of each tensor, in the order of the graph, to a .png or .svg file. `report`: the parsed
    JSON of `infermeter validate A B --layers`."""
    check_ending(path, "a plot", ENDINGS)
    tensors = report.get("tensors")
    if not isinstance(tensors, list):
        raise UsageError("this is not a report of layers: it has no tensors")
    if not any(tensor["error"] is not None for tensor in tensors):
        raise UsageError("there is nothing to draw: no tensor of floating-point numbers could be compared")
    with new_figure(path, "a plot", 10, 5.5, dpi=150) as figure:
        _draw(figure.add_subplot(), report)


def _draw(axes: Axes, report: Mapping[str, Any]) -> None:
    tensors = report["tensors"]
    drawn = [number for number, tensor in enumerate(tensors) if tensor["error"] is not None]
    errors = [max(tensors[number]["error"], _SMALLEST) for number in drawn]
    axes.plot(drawn, errors, color=_ERROR, marker="o", markersize=3, linewidth=1, label="relative L2 error")
    floors = [max(tensor["rounding_floor"], _SMALLEST) for tensor in tensors]
    axes.plot(range(len(tensors)), floors, color=_FLOOR, linestyle="--", linewidth=1, label="what rounding explains")
    axes.set_yscale("log")
    if any(tensor["error"] == 0 for tensor in tensors):
        axes.axhline(_SMALLEST, color=_FLOOR, linewidth=0.5)
        axes.text(0, _SMALLEST, "the same", va="bottom", fontsize=7, color="#555555")
    _mark_jump(axes, report)
    step = max(1, math.ceil(len(tensors) / _MOST_NAMES))
    shown = range(0, len(tensors), step)
    names = [clean(tensors[number]["name"], 28) for number in shown]
    axes.set_xticks(list(shown), names, rotation=90, fontsize=6)
    for label in axes.get_xticklabels():
        label.set_parse_math(False)  # a "$" is a "$"
    axes.set_ylabel("Relative L2 error, log scale")
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    reference, candidate = (clean(report[side]["label"], 60) for side in ("reference", "candidate"))
    set_text(axes.set_title(""), f"{candidate} against {reference}, along the graph")


def _mark_jump(axes: Axes, report: Mapping[str, Any]) -> None:
    jump = report["jump"]
    if jump is None:
        return
    tensors = report["tensors"]
    tensor = tensors[jump]
    axes.axvline(jump, color=_JUMP, linewidth=1)
    if tensor["error"] is not None:
        axes.plot([jump], [max(tensor["error"], _SMALLEST)], color=_JUMP, marker="D", markersize=7, linestyle="none")
    is_right = jump > len(tensors) / 2
    text = axes.text(
        jump,
        0.02,
        "",
        transform=axes.get_xaxis_transform(),
        ha="right" if is_right else "left",
        va="bottom",
        color=_JUMP,
    )
    set_text(text, f" they diverge at {clean(tensor['name'], 60)} ({clean(tensor['operator'], 30)}) ")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m infermeter.layers_plot", description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="the JSON of infermeter validate A B --layers")
    parser.add_argument("file", type=Path, help=f"what is drawn: {', '.join(ENDINGS)}")
    given = parser.parse_args(arguments)
    try:
        try:
            report = json.loads(given.report.read_text(encoding="utf-8"))
        except ValueError:
            raise UsageError(f"{clean(str(given.report), 300)} is not a JSON report") from None
        error_along_graph(report, given.file)
    except (UsageError, OSError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
