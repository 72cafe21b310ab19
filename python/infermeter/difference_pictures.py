"""Pictures of differences: a reference, a candidate and what lies between them, side by side, with the histogram of
the errors.

    infermeter.difference_pictures.draw(reference, candidate, "difference.png", title="unet2d, float16")

    python -m infermeter.difference_pictures orders.json done
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from infermeter.errors import UsageError
from infermeter.figure import REFUSED, check_ending, new_figure, set_text
from infermeter.plot_rows import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "draw_histogram", "is_image"]

_MOST_CHANNELS = 4  # of an image with several, so many are drawn
_LEAST_SIZE = 4  # pixels; below it there is nothing to see
# Blue, white, orange: distinguished by those who see few colours too; 0 is white, and both ends are equally dark.
_DIVERGING = ((0.0, "#053061"), (0.25, "#4393c3"), (0.5, "#ffffff"), (0.75, "#e08214"), (1.0, "#7f3b08"))
# As infermeter/fidelity/kept_differences.hpp has them.
_LOWEST_DECADE, _HIGHEST_DECADE, _STEPS = -12, 6, 10


def is_image(shape: Sequence[int]) -> bool:
    """Is an output of this shape drawn? [N, C, H, W] or [N, C, D, H, W], and [N, H, W] and [H, W], of at least 4 x 4."""
    return 2 <= len(shape) <= 5 and min(shape[-2:]) >= _LEAST_SIZE and min(shape) > 0


def draw(
    reference: np.ndarray,
    candidate: np.ndarray,
    path: str | os.PathLike[str],
    title: str = "",
    slices: int = 1,
    names: tuple[str, str] = ("reference", "output"),
) -> None:
    """Draws reference, output and their difference, whose scale is symmetric about 0. Of a batch the item that differs
    most; of a volume so many slices along each axis, evenly spaced: 1 is the middle one."""
    reference, candidate = np.asarray(reference), np.asarray(candidate)
    _check(reference, candidate, path, slices)
    if reference.ndim > 2 and len(reference) > 1:
        worst = int(np.argmax([_greatest(_difference(*pair)) for pair in zip(reference, candidate, strict=True)]))
        title = ", ".join(filter(None, (title, f"{worst} of the batch")))
        reference, candidate = reference[worst : worst + 1], candidate[worst : worst + 1]
    planes = list(_planes(reference, candidate, slices))
    heights = [min(1.5, max(0.4, len(plane.reference) / plane.reference.shape[1])) for plane in planes]
    height = 0.5 + sum(3.0 * height + 0.3 for height in heights)
    with new_figure(path, "a picture", 10.5, height, dpi=110) as figure:
        everything = _difference(reference, candidate)
        scale = _greatest(everything)
        rows = figure.subplots(len(planes), 3, squeeze=False, height_ratios=heights)
        for (left, middle, right), plane in zip(rows, planes, strict=True):
            _draw_row(figure, (left, middle, right), plane, scale, names)
        set_text(figure.suptitle(""), _title(title, everything))


def draw_histogram(
    reference: np.ndarray, candidate: np.ndarray, path: str | os.PathLike[str], title: str = ""
) -> None:
    """Draws how often each size of difference occurs, both axes logarithmic."""
    reference, candidate = np.asarray(reference), np.asarray(candidate)
    if reference.shape != candidate.shape:
        raise UsageError(f"the output has shape {list(candidate.shape)} and the reference {list(reference.shape)}")
    errors = np.abs(_difference(reference, candidate)).ravel()
    errors = errors[np.isfinite(reference.ravel()) & np.isfinite(candidate.ravel())]
    different = errors[errors > 0]
    steps = np.floor((np.log10(different) - _LOWEST_DECADE) * _STEPS).astype(int)
    most = (_HIGHEST_DECADE - _LOWEST_DECADE) * _STEPS
    counts = np.bincount(np.clip(steps, 0, most - 1), minlength=most)
    _draw_counts(
        _Counts(counts.tolist(), errors.size - different.size, reference.size - errors.size, _LOWEST_DECADE, _STEPS),
        path,
        title,
    )


@dataclass(frozen=True)
class _Counts:
    """Differences by their size, in steps of a part of a decade; see infermeter/fidelity/kept_differences.hpp."""

    counts: Sequence[int]
    equal: int
    non_finite: int
    lowest_decade: int
    steps: int


def _draw_counts(counts: _Counts, path: str | os.PathLike[str], title: str) -> None:
    filled = [number for number, count in enumerate(counts.counts) if count]
    # A decade on either side of what there is.
    first = max(0, (filled[0] if filled else 0) - counts.steps)
    last = min(len(counts.counts), (filled[-1] + 1 if filled else 1) + counts.steps)
    edges = [10 ** (counts.lowest_decade + number / counts.steps) for number in range(first, last + 1)]
    with new_figure(path, "a picture", 7, 3.8, dpi=110) as figure:
        axes = figure.add_subplot()
        axes.stairs(counts.counts[first:last], edges, fill=True, color="#0072b2")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.5)
        axes.set_xlabel("|output − reference|, log scale")
        axes.set_ylabel("Values, log scale")
        axes.spines[["top", "right"]].set_visible(False)
        parts = [clean(title, 120)] if title else []
        parts.append(f"{sum(counts.counts)} values differ, {counts.equal} are equal")
        if counts.non_finite:
            parts.append(f"{counts.non_finite} NaN or infinite")
        set_text(axes.set_title("", fontsize=10), ", ".join(parts))


# --- what is drawn ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plane:
    name: str  # "channel 2, axis 0 at 16"; empty: the only one
    reference: np.ndarray
    candidate: np.ndarray


def _planes(reference: np.ndarray, candidate: np.ndarray, slices: int) -> Iterator[_Plane]:
    channels = reference.shape[1] if reference.ndim >= 4 else 1
    for channel in range(min(channels, _MOST_CHANNELS)):
        which = f"channel {channel} of {channels}" if channels > 1 else ""
        pair = tuple(_first_item(array, channel) for array in (reference, candidate))
        if reference.ndim < 5:
            yield _Plane(which, *pair)
            continue
        for axis in range(3):
            for index in _evenly(pair[0].shape[axis], slices):
                where = f"axis {axis} at {index}"
                yield _Plane(", ".join(filter(None, (which, where))), *(np.take(volume, index, axis) for volume in pair))


def _first_item(array: np.ndarray, channel: int) -> np.ndarray:
    if array.ndim == 2:
        return array
    item: np.ndarray = array[0] if array.ndim == 3 else array[0, channel]
    return item


def _evenly(size: int, count: int) -> list[int]:
    """The middle one; of several, those in the middles of as many equal parts."""
    return sorted({min(size - 1, int((part + 0.5) * size / count)) for part in range(count)})


def _draw_row(
    figure: Figure, axes: tuple[Axes, Axes, Axes], plane: _Plane, scale: float, names: tuple[str, str]
) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    both = np.concatenate([plane.reference.ravel(), plane.candidate.ravel()]).astype(np.float64)
    finite = both[np.isfinite(both)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    for place, picture, name in zip(axes, (plane.reference, plane.candidate), names, strict=False):
        shown = place.imshow(picture.astype(np.float64), cmap="gray", vmin=low, vmax=high, interpolation="nearest")
        set_text(place.set_title("", fontsize=9), clean(name, 40))
    figure.colorbar(shown, ax=axes[:2], fraction=0.04, pad=0.02)
    diverging = LinearSegmentedColormap.from_list("infermeter", _DIVERGING).with_extremes(bad="#d62ad6")
    difference = _difference(plane.reference, plane.candidate)
    # Where there is no difference at all there is no scale either: any does.
    drawn = axes[2].imshow(difference, cmap=diverging, vmin=-(scale or 1.0), vmax=scale or 1.0, interpolation="nearest")
    figure.colorbar(drawn, ax=axes[2], fraction=0.046, pad=0.02)
    set_text(axes[2].set_title("", fontsize=9), f"difference, at most {_greatest(difference):.3g}")
    for place in axes:
        place.set_xticks([])
        place.set_yticks([])
    if plane.name:
        set_text(axes[0].set_ylabel("", fontsize=8), plane.name)


def _difference(reference: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return candidate.astype(np.float64) - reference.astype(np.float64)


def _greatest(values: np.ndarray) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


def _title(title: str, errors: np.ndarray) -> str:
    strange = int(errors.size - np.isfinite(errors).sum())
    parts = [clean(title, 120)] if title else []
    parts.append(f"largest difference {_greatest(errors):.3g}")
    if strange:
        parts.append(f"{strange} NaN or infinite")
    return ", ".join(parts)


# --- how it is drawn --------------------------------------------------------------------------------------------------


def _check(reference: np.ndarray, candidate: np.ndarray, path: str | os.PathLike[str], slices: int) -> None:
    if reference.shape != candidate.shape:
        raise UsageError(f"the output has shape {list(candidate.shape)} and the reference {list(reference.shape)}")
    if not is_image(reference.shape):
        raise UsageError(
            f"an output of shape {list(reference.shape)} is not a picture: [N, C, H, W] and [N, C, D, H, W] are, of at "
            f"least {_LEAST_SIZE} x {_LEAST_SIZE}"
        )
    for array in (reference, candidate):
        if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool or array.dtype.name == "bfloat16"):
            raise UsageError(f"an output of {array.dtype} is not a picture")
        if np.iscomplexobj(array):
            raise UsageError("an output of complex numbers is not a picture")
    if slices < 1:
        raise UsageError(f"slices: expected at least 1, got {slices}")
    check_ending(path, "a picture")


# --- as a program -----------------------------------------------------------------------------------------------------


def _draw_all(orders: dict[str, Any]) -> None:
    """`orders`: as infermeter/validate/difference_pictures.cpp writes them."""
    for order in orders["pictures"]:
        if order["kind"] == "histogram":
            counts = _Counts(
                order["counts"], order["equal"], order["non_finite"], order["lowest_decade"], order["steps"]
            )
            _draw_counts(counts, order["file"], order["title"])
        else:
            reference, candidate = (np.load(order[side]) for side in ("reference", "candidate"))
            draw(reference, candidate, order["file"], order["title"], orders["slices"])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m infermeter.difference_pictures")
    parser.add_argument("orders", type=Path, help="which arrays lie where, and what is to be drawn of them")
    parser.add_argument("done", type=Path, help="written when all is drawn")
    given = parser.parse_args(arguments)
    try:
        _draw_all(json.loads(given.orders.read_text(encoding="utf-8")))
        given.done.write_text("done\n", encoding="utf-8")
    except (UsageError, OSError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
