"""What a plot is made of: a report, a record or a table of the CSV's columns as one row per subject."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infermeter.errors import UsageError


@dataclass(frozen=True)
class Unit:
    size: float
    name: str


@dataclass(frozen=True)
class Metric:
    title: str
    keys: tuple[str, ...]  # of a report's metrics, the first that has a value counts
    columns: tuple[str, str, str]  # of the CSV: value, low, high; "" where there is none
    column_size: float  # of the columns' unit, in base units
    units: tuple[Unit, ...]


METRICS = {
    "p50": Metric(
        "Median latency",
        ("latency_p50",),
        ("latency_p50_ms", "latency_p50_low_ms", "latency_p50_high_ms"),
        1e-3,
        (Unit(1e-9, "ns"), Unit(1e-6, "µs"), Unit(1e-3, "ms"), Unit(1, "s")),
    ),
    "throughput": Metric(
        "Throughput",
        ("throughput",),
        ("throughput_ips", "", ""),
        1,
        (Unit(1, "items/s"), Unit(1e3, "thousand items/s"), Unit(1e6, "million items/s")),
    ),
    "memory": Metric(
        "Peak memory",
        ("device_memory_peak", "memory_peak"),
        ("memory_mb", "", ""),
        1e6,
        (Unit(1e6, "MB"), Unit(1e9, "GB")),
    ),
}


@dataclass(frozen=True)
class Row:
    """One subject. Values in base units; None: not known."""

    model: str
    series: str
    batch_size: int
    value: float | None
    low: float | None
    high: float | None
    end: str  # how its first failed trial ended


def rows_of(report: Any, metric: Metric) -> tuple[list[Row], str]:
    if hasattr(report, "render"):
        report = json.loads(report.render("json", samples=False))
    if isinstance(report, Mapping) and "subjects" in report:
        return _rows_of_report(report, metric), _caption_of_report(report)
    if hasattr(report, "to_dict"):
        records = report.to_dict("records")
        return _rows_of_csv(records, metric), _caption_of_csv(records)
    raise UsageError("a plot needs a record, a JSON report of infermeter, or a frame with the columns of its CSV")


def _rows_of_report(report: Mapping[str, Any], metric: Metric) -> list[Row]:
    ends: dict[int, str] = {}
    for trial in report["trials"]:
        if trial["end"] != "ok":
            ends.setdefault(trial["subject"], trial["end"])
    rows = []
    for subject in report["subjects"]:
        key, figure = _first_with_value(subject["metrics"], metric.keys)
        interval = figure.get("interval") or {}
        rows.append(
            Row(
                subject["model"],
                _series(subject["label"], subject["backend"], subject["batch_size"], "device" in key),
                subject["batch_size"],
                figure.get("value"),
                interval.get("low"),
                interval.get("high"),
                ends.get(subject["index"], ""),
            )
        )
    return rows


def _first_with_value(metrics: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, Mapping[str, Any]]:
    for key in keys:
        figure = metrics.get(key)
        if figure is not None and figure["value"] is not None:
            return key, figure
    return "", {}


def _rows_of_csv(records: Sequence[Mapping[str, Any]], metric: Metric) -> list[Row]:
    for column in ("model", "framework", "batch_size", metric.columns[0]):
        if records and column not in records[0]:
            raise UsageError(f"the frame has no column '{column}', which the CSV of a run has")
    several_runs = len(_runs_of(records)) > 1
    rows = []
    for record in records:
        value, low, high = (_number(record.get(column), metric.column_size) for column in metric.columns)
        batch_size = int(record["batch_size"])
        on_device = metric.columns[0] == "memory_mb" and record.get("memory_kind") == "device"
        back_end = str(record["framework"])
        series = _series(_text(record.get("label")) or back_end, back_end, batch_size, on_device)
        if several_runs:
            series += f" in {clean(_text(record.get('run')))}"
        rows.append(Row(str(record["model"]), series, batch_size, value, low, high, _text(record.get("end"))))
    return rows


def _runs_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(_text(record.get("run")) for record in records))


def _text(value: object) -> str:
    """Of a cell; an empty one is NaN in a frame."""
    return value if isinstance(value, str) else ""


def _number(value: object, size: float) -> float | None:
    if value is None or value == "":
        return None
    number = float(value) * size  # type: ignore[arg-type]
    return number if math.isfinite(number) else None


def _series(label: str, back_end: str, batch_size: int, on_device: bool) -> str:
    """The label without what the panel and the axis say: "mlp@openvino,batch=4,threads=1" is "openvino,threads=1"."""
    at = label.rfind(f"@{back_end}")
    name = label if at < 0 else label[at + 1 :]
    parts = [part for part in name.split(",") if part != f"batch={batch_size}"]
    return clean(",".join(parts)) + (" (device)" if on_device else "")


def _caption_of_report(report: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (f"run {report['id']}", report["environment"]["processor"])))


def _caption_of_csv(records: Sequence[Mapping[str, Any]]) -> str:
    runs = _runs_of(records)
    return f"run {runs[0]}" if len(runs) == 1 else f"{len(runs)} runs" if runs else ""


def clean(text: str, limit: int = 60) -> str:
    """Names come from outside: what has no shape of its own is written out."""
    shown = "".join(character if _is_shown(character) else f"\\u{{{ord(character):x}}}" for character in text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _is_shown(character: str) -> bool:
    return character == " " or unicodedata.category(character)[0] not in "CZ"
