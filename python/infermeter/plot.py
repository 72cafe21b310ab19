"""Figures of runs: latency, throughput or memory against batch size, a line per framework and a panel per model.

    infermeter.plot.latency_by_batch(record, "latency.png")

    python -m infermeter.plot run.json latency.svg --metric throughput
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infermeter.errors import UsageError
from infermeter.figure import ENDINGS, REFUSED, check_ending, new_figure, set_text
from infermeter.plot_rows import METRICS, Metric, Row, Unit, clean, rows_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure

    from infermeter._core import Record

__all__ = ["METRICS", "latency_by_batch"]

# Distinguished by those who see few colours too (Okabe & Ito, "Color universal design", 2008), and by their markers.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
_MARKERS = "osD^vPX*"
_LINES = ("-", "--", "-.", ":")
_MOST_COLUMNS = 3
_LOG_FROM = 20.0  # greatest value over least: beyond it a linear axis shows only the greatest


def latency_by_batch(
    report: Mapping[str, Any] | pandas.DataFrame | Record, path: str | os.PathLike[str], metric: str = "p50"
) -> None:
    """Draws a run to a .png, .svg or .pdf file. `report`: a record, a parsed JSON report, or a frame with the CSV's
    columns. `metric`: p50, throughput or memory. With a single batch size there are bars instead of lines."""
    if metric not in METRICS:
        raise UsageError(f"there is no metric '{clean(metric)}' to draw: p50, throughput and memory can be")
    check_ending(path, "a plot")
    rows, caption = rows_of(report, METRICS[metric])
    if not any(row.value is not None for row in rows):
        raise UsageError(f"there is nothing to draw: no subject has a {METRICS[metric].title.lower()}")
    _draw(rows, METRICS[metric], caption, Path(path))


# --- from rows to a figure --------------------------------------------------------------------------------------------


def _draw(rows: Sequence[Row], metric: Metric, caption: str, path: Path) -> None:
    models = list(dict.fromkeys(row.model for row in rows))
    with_value = {row.series for row in rows if row.value is not None}
    names = [name for name in dict.fromkeys(row.series for row in rows) if name in with_value]
    columns = min(len(models), _MOST_COLUMNS)
    width = max(6.4, 4.0 * columns)
    foot = _foot(names, _caption(rows, caption), width)
    height = 0.5 + 3.2 * math.ceil(len(models) / columns) + foot.height
    with new_figure(path, "a plot", width, height, dpi=150) as figure:
        above = (0, foot.height / height, 1, 1 - foot.height / height)
        figure.set_layout_engine("constrained", rect=above)
        _add_foot(figure, foot, _add_panels(figure, rows, models, names, columns, metric))


def _add_panels(
    figure: Figure, rows: Sequence[Row], models: Sequence[str], names: Sequence[str], columns: int, metric: Metric
) -> list[Any]:
    """What the names of the legend stand for."""
    is_one_batch_size = len({row.batch_size for row in rows}) == 1
    handles: dict[str, Any] = {}
    for number, model in enumerate(models):
        axes = figure.add_subplot(math.ceil(len(models) / columns), columns, number + 1)
        of_model = [row for row in rows if row.model == model]
        unit = _unit_of(of_model, metric)
        set_text(axes.set_title(""), clean(Path(model).name or model))
        draw = _draw_bars if is_one_batch_size else _draw_lines
        handles |= draw(axes, of_model, names, unit)
        axes.set_ylabel(f"{metric.title} ({unit.name})" + (", log scale" if axes.get_yscale() == "log" else ""))
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    what = f", batch size {rows[0].batch_size}" if is_one_batch_size else " by batch size"
    figure.suptitle(metric.title + what, fontsize=12)
    return [handles[name] for name in names]


def _unit_of(rows: Sequence[Row], metric: Metric) -> Unit:
    """The largest in which the greatest value is at least 1."""
    greatest = max((row.value for row in rows if row.value is not None), default=0.0)
    fitting = [unit for unit in metric.units if unit.size * 0.9995 <= greatest]
    return fitting[-1] if fitting else metric.units[0]


def _draw_lines(axes: Axes, rows: Sequence[Row], names: Sequence[str], unit: Unit) -> dict[str, ErrorbarContainer]:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    drawn: dict[str, ErrorbarContainer] = {}
    for number, name in enumerate(names):
        points = sorted((row for row in rows if row.series == name and row.value is not None), key=_batch_size)
        if not points:
            continue
        drawn[name] = axes.errorbar(
            [row.batch_size for row in points],
            [_in(unit, row.value) for row in points],
            yerr=_error_bars(points, unit),
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle=_LINES[number // len(_COLOURS) % len(_LINES)],
            markersize=5,
            capsize=3,
        )
    sizes = sorted({row.batch_size for row in rows})
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([float(size) for size in sizes]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:g}"))
    axes.set_xlabel("Batch size (items per inference)")
    _scale(axes, [_in(unit, row.value) for row in rows if row.value is not None])
    return drawn


def _scale(axes: Axes, values: Sequence[float]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if not values:
        axes.text(0.5, 0.5, "no value", transform=axes.transAxes, ha="center")
    elif min(values) > 0 and max(values) / min(values) >= _LOG_FROM:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)


def _draw_bars(axes: Axes, rows: Sequence[Row], names: Sequence[str], unit: Unit) -> dict[str, Any]:
    drawn: dict[str, Any] = {}
    values: dict[int, str] = {}
    for number, name in enumerate(names):
        points = [row for row in rows if row.series == name and row.value is not None]
        if not points:
            continue
        drawn[name] = axes.bar(
            [number] * len(points),
            [_in(unit, row.value) for row in points],
            yerr=_error_bars(points, unit),
            capsize=4,
            width=0.7,
            color=_COLOURS[number % len(_COLOURS)],
        )
        values[number] = f"{_three_digits(_in(unit, points[0].value))} {unit.name}"
    axes.set_xticks(list(values), values.values())
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.7, len(names) - 0.3)
    return drawn


def _batch_size(row: Row) -> int:
    return row.batch_size


def _in(unit: Unit, value: float | None) -> float:
    return (value or 0.0) / unit.size


def _error_bars(rows: Sequence[Row], unit: Unit) -> list[list[float]]:
    """How far each interval reaches down and up; 0 where there is none."""
    down = [_in(unit, (row.value or 0.0) - row.low) if row.low is not None else 0.0 for row in rows]
    up = [_in(unit, row.high - (row.value or 0.0)) if row.high is not None else 0.0 for row in rows]
    return [[max(length, 0.0) for length in down], [max(length, 0.0) for length in up]]


def _three_digits(value: float) -> str:
    """Digit for digit as reports have it (tests/golden/figures.json)."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.2e}")
    return f"{value:.{max(2 - math.floor(math.log10(abs(rounded)) + 1e-12), 0)}f}"


@dataclass(frozen=True)
class _Foot:
    """What stands below the panels: names, then a caption. In inches."""

    names: Sequence[str]
    caption: Sequence[str]
    columns: int

    @property
    def caption_height(self) -> float:
        return 0.12 + 0.13 * len(self.caption)

    @property
    def height(self) -> float:
        return self.caption_height + 0.1 + 0.21 * math.ceil(len(self.names) / self.columns)


def _foot(names: Sequence[str], caption: str, width: float) -> _Foot:
    longest = max(len(name) for name in names) + 8
    columns = min(len(names), max(1, int(width * 12 / longest)))
    return _Foot(names, textwrap.wrap(caption, int(width * 17)), columns)


def _add_foot(figure: Figure, foot: _Foot, handles: Sequence[Any]) -> None:
    height = figure.get_size_inches()[1]
    caption = figure.text(0.5, 0.06 / height, "", ha="center", va="bottom", fontsize=7, color="#555555")
    set_text(caption, "\n".join(foot.caption))
    legend = figure.legend(
        handles,
        # Given afterwards, as a name that begins with "_" would be left out.
        [str(number) for number in range(len(foot.names))],
        loc="lower center",
        bbox_to_anchor=(0.5, foot.caption_height / height),
        ncols=foot.columns,
        frameon=False,
    )
    for text, name in zip(legend.get_texts(), foot.names, strict=True):
        set_text(text, name)


def _caption(rows: Sequence[Row], caption: str) -> str:
    parts = [clean(caption, 120)] if caption else []
    if any(row.low is not None and row.high is not None for row in rows):
        parts.append("error bars: 95 % interval over worker processes")
    missing = [
        f"{row.series} at {row.batch_size} ({clean(row.end) or 'not measured'})" for row in rows if row.value is None
    ]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        parts.append(f"without a value: {', '.join(missing[:3])}{more}")
    return "; ".join(parts)


# --- as a program -----------------------------------------------------------------------------------------------------


def _read(file: Path) -> Any:
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as stream:
            return _Table(list(csv.DictReader(stream)))
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        raise UsageError(f"{clean(str(file), 300)} is not a JSON report") from None


@dataclass(frozen=True)
class _Table:
    """Of a frame what is asked of one here, for CSV files where there is no pandas."""

    rows: list[dict[str, Any]]

    def to_dict(self, _: str) -> list[dict[str, Any]]:
        return self.rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m infermeter.plot", description="Draws a run against batch size.")
    parser.add_argument("report", type=Path, help="a JSON report or the CSV of a run")
    parser.add_argument("file", type=Path, help=f"what is drawn: {', '.join(ENDINGS)}")
    parser.add_argument("--metric", default="p50", choices=METRICS)
    given = parser.parse_args(arguments)
    try:
        latency_by_batch(_read(given.report), given.file, given.metric)
    except (UsageError, OSError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
