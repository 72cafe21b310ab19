"""operators.json (docs/abi.md) of a trace of XLA's: what each operation of a compiled program took, by iteration."""

from __future__ import annotations

import bisect
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ITERATION = "infermeter_iteration"  # the annotation around each of them
MOST_EVENTS = 200_000  # the host keeps no more


@dataclass(frozen=True)
class Event:
    """Nanoseconds of the trace's own clock."""

    name: str
    begin: int
    end: int


@dataclass
class Recorded:
    iterations: list[Event]  # in order
    threads: list[list[Event]]  # the operations that each thread executed


def read_trace(folder: Path) -> Recorded:
    from jax.profiler import ProfileData

    recorded = Recorded([], [])
    for file in folder.rglob("*.xplane.pb"):
        for plane in ProfileData.from_file(str(file)).planes:
            for line in plane.lines:
                operations = []
                for event in line.events:
                    if event.name == ITERATION:
                        recorded.iterations.append(_event(event, ITERATION))
                    elif name := dict(event.stats).get("hlo_op"):
                        operations.append(_event(event, str(name)))
                recorded.threads.append(operations)
    recorded.iterations.sort(key=lambda event: event.begin)
    return recorded


def _event(event: Any, name: str) -> Event:
    begin = round(event.start_ns)
    return Event(name, begin, begin + round(event.duration_ns))


def own_times(events: Iterable[Event]) -> Iterator[Event]:
    """Of one thread: without what lies within another (the body of a loop), which then comes in several pieces."""
    open_events: list[Event] = []
    now = 0

    def until(time: int) -> Iterator[Event]:
        nonlocal now
        while open_events and open_events[-1].end <= time:
            last = open_events.pop()
            if last.end > now:
                yield Event(last.name, now, last.end)
                now = last.end
        if open_events and time > now:
            yield Event(open_events[-1].name, now, time)

    for event in sorted(events, key=lambda event: (event.begin, -event.end)):
        yield from until(event.begin)
        now = event.begin
        open_events.append(event)
    yield from until(max((event.end for event in open_events), default=0))


@dataclass
class Operators:
    """The columns of operators.json."""

    operators: list[dict[str, Any]]
    events: dict[str, list[int]] = field(
        default_factory=lambda: {name: [] for name in ("iteration", "op", "thread", "begin_ns", "duration_ns")}
    )
    cut: bool = False

    def add(self, *row: int) -> None:
        for column, value in zip(self.events.values(), row, strict=True):
            column.append(value)


def operators_of(recorded: Recorded, described: dict[str, dict[str, Any]]) -> Operators:
    """In the order of their first events. `described`: by name, what the compiled program says of them."""
    begins = [iteration.begin for iteration in recorded.iterations]
    found: dict[int, dict[int, list[Event]]] = defaultdict(lambda: defaultdict(list))
    for thread, events in enumerate(recorded.threads):
        for event in events:
            iteration = bisect.bisect_right(begins, event.begin) - 1
            if iteration >= 0 and event.begin < recorded.iterations[iteration].end:
                found[iteration][thread].append(event)
    made = Operators([])
    numbers: dict[str, int] = {}
    for iteration in sorted(found):
        events = [event for events in found[iteration].values() for event in own_times(events)]
        made.cut = len(made.events["op"]) + len(events) > MOST_EVENTS
        if made.cut:
            break
        lanes: list[int] = []  # when each is free again
        for event in sorted(events, key=lambda event: (event.begin, -event.end)):
            number = numbers.setdefault(event.name, len(numbers))
            if number == len(made.operators):
                made.operators.append(_described(event.name, described))
            made.add(iteration, number, _lane(lanes, event), event.begin - begins[iteration], event.end - event.begin)
    return made


def _lane(lanes: list[int], event: Event) -> int:
    """The pool's threads take turns, so that none of them is the main one: what runs alone is in the first lane, and
    only what runs beside something else is in another."""
    free = next((lane for lane, end in enumerate(lanes) if end <= event.begin), len(lanes))
    lanes[free : free + 1] = [event.end]
    return free


def _described(name: str, described: dict[str, dict[str, Any]]) -> dict[str, Any]:
    reported = described.get(name, {})
    return {"name": name, "kind": re.sub(r"[.\d]+$", "", name) or name, **reported}


_INSTRUCTION = re.compile(
    r"^\s*(?:ROOT )?%?(?P<name>[\w.\-]+) = (?P<shape>\(.*?\)|\S+) (?P<kind>[\w\-]+)\((?P<operands>[^)]*)\)"
)
_ORIGIN = re.compile(r'op_name="([^"]*)"')
_ARRAY = re.compile(r"([a-z]\w*)\[([\d,]*)\](?:\{([\d,]*))?")
_PRECISIONS = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64", "pred": "bool"}


def describe(program: str) -> dict[str, dict[str, Any]]:
    """What a compiled program's text says of its instructions, by their names."""
    described: dict[str, dict[str, Any]] = {}
    shapes: dict[str, str] = {}
    for line in program.splitlines():
        match = _INSTRUCTION.match(line)
        if not match:
            continue
        name, array = match["name"], _ARRAY.match(match["shape"])
        inputs = re.findall(r"%([\w.\-]+)", match["operands"])
        shapes[name] = _shape(array) if array else ""
        described[name] = {
            "kernel": match["kind"] if match["kind"] not in name else "",
            "precision": _PRECISIONS.get(array[1], array[1]) if array else "",
            "layout": array[3] or "" if array else "",
            "shapes": f"{', '.join(shapes.get(operand, '') for operand in inputs)} -> {shapes[name]}",
            "provider": "xla",
            "origin_names": _ORIGIN.findall(line)[:1],
            "inputs": inputs,
            "outputs": [name],
        }
    return described


def _shape(array: re.Match[str]) -> str:
    sizes = [size for size in array[2].split(",") if size]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def write_operators(folder: Path, source: str, iterations: int, made: Operators, costs: str) -> None:
    whole = {
        "format": "infermeter-operators",
        "version": 1,
        "source": source,
        "clock": "iteration",
        "iterations": iterations,
        "cut": made.cut,
        "operators": made.operators,
        "events": made.events,
        "sources": [{"name": "costs", "available": bool(costs), "detail": costs or "XLA reports none of this program"}],
    }
    (folder / "operators.json").write_text(json.dumps(whole))
