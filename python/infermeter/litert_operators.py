"""operators.json (docs/abi.md) of the events of LiteRT's profiler: LiteRT's own operators, and within what XNNPACK took
over the operators of XNNPACK."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from infermeter.backend import Refused, Status
from infermeter.litert_native import Event
from infermeter.xla_operators import MOST_EVENTS, Operators, own_times
from infermeter.xla_operators import Event as Span

# LiteRtProfilerEventType
DEFAULT = 1
OPERATOR = 2
DELEGATE_OPERATOR = 8  # DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT

RUN = "LiteRT::Run[buffer registration]"  # the first event of each inference
INVOKE = "Invoke"  # and that of each graph: the model's main one, the body of a loop
MAIN_GRAPH = 0

Key = tuple[int, int, str, int, int]  # graph, type, tag, node, and which of those that are alike in an inference
Nodes = Mapping[int, Mapping[str, Any]]  # of the main graph, by number, as the interpreter reports them
Tensors = Mapping[int, Mapping[str, Any]]  # by index, those that are no constants


def inferences_in(events: Sequence[Event]) -> list[list[Event]]:
    begins = [index for index, event in enumerate(events) if event.tag == RUN]
    return [list(events[begin:end]) for begin, end in zip(begins, [*begins[1:], len(events)], strict=True)]


def spans_of(inference: Iterable[Event]) -> list[tuple[Key, int, int]]:
    """The operators of an inference, each with its begin and end in nanoseconds of CLOCK_MONOTONIC. XNNPACK reports only
    how long each of its operators took, from the end of the one before it, so that they lie end to end from where their
    part began."""
    now: dict[int, int] = defaultdict(int)  # by graph: where its next operator of XNNPACK begins
    seen: Counter[tuple[int, int, str, int]] = Counter()
    spans = []
    for event in inference:
        begin, took = event.start_us * 1000, event.elapsed_us * 1000
        if event.type == DEFAULT and event.tag == INVOKE:
            now[event.subgraph] = begin
        if event.type not in (OPERATOR, DELEGATE_OPERATOR):
            continue
        if event.type == DELEGATE_OPERATOR:
            begin = now[event.subgraph]
        now[event.subgraph] = begin + took
        alike = (event.subgraph, event.type, event.tag, event.node)
        # A node of LiteRT's in the body of a loop runs more than once and stays one operator. Of XNNPACK's, which are
        # counted anew in each part, that cannot be determined.
        place = seen[alike] if event.type == DELEGATE_OPERATOR else 0
        seen[alike] += 1
        spans.append(((*alike, place), begin, begin + took))
    return spans


def operators_of(inferences: Iterable[Sequence[Event]], nodes: Nodes, tensors: Tensors) -> Operators:
    """In the order of their first events."""
    made = Operators([])
    numbers: dict[Key, int] = {}
    for iteration, inference in enumerate(inferences):
        found = spans_of(inference)
        made.cut = len(made.events["op"]) + len(found) > MOST_EVENTS
        if made.cut:
            break
        spans = []
        for key, begin, end in found:
            number = numbers.setdefault(key, len(numbers))
            if number == len(made.operators):
                made.operators.append(_described(key, number, nodes, tensors))
            spans.append(Span(str(number), begin, end))
        for span in _own_spans(spans):
            made.add(iteration, int(span.name), 0, span.begin, span.end - span.begin)
    return made


def _own_spans(spans: list[Span]) -> list[Span]:
    """Without what lies within another: the body of a loop. What took less than LiteRT can tell is kept."""
    own = [*own_times(span for span in spans if span.end > span.begin), *(s for s in spans if s.end == s.begin)]
    return sorted(own, key=lambda span: span.begin)


def refuse_other_graph(inference: Iterable[Event], kinds: Mapping[int, str]) -> None:
    """`kinds`: by its number, what the interpreter, which is what trials time, has not given to XNNPACK."""
    reported = {event.node: event.tag for event in inference if event.type == OPERATOR and event.subgraph == MAIN_GRAPH}
    if reported != kinds:
        differing = sorted({*reported.items()} ^ {*kinds.items()})[:5]
        raise Refused(
            Status.UNSUPPORTED,
            "LiteRT's compiled model, which is what can be profiled, executes other operators than its interpreter, "
            f"which is what is timed: {', '.join(f'{kind}.{number}' for number, kind in differing)}",
        )


def write_operators(folder: Path, version: str, iterations: int, made: Operators) -> None:
    count = sum(operator["provider"] == "xnnpack" for operator in made.operators)
    graph = (
        f"of {len(made.operators)} operators {count} are XNNPACK's, which does not report which nodes: "
        "xnnpack=false runs LiteRT's own, which have a graph"
    )
    source = f"LiteRT's profiler, LiteRT {version}, whole microseconds; a compiled model in the interpreter's place"
    whole = {
        "format": "infermeter-operators",
        "version": 1,
        "source": source,
        "clock": "monotonic",
        "iterations": iterations,
        "cut": made.cut,
        "operators": made.operators,
        "events": made.events,
        "sources": [{"name": "graph", "available": count == 0, "detail": graph if count else "the model's own"}],
    }
    (folder / "operators.json").write_text(json.dumps(whole))


def _described(key: Key, number: int, nodes: Nodes, tensors: Tensors) -> dict[str, Any]:
    graph, kind_of_event, tag, node, _ = key
    if kind_of_event == DELEGATE_OPERATOR:
        reported = of_xnnpack(tag)
    else:
        reported = _of_node(tag, nodes.get(node, {}) if graph == MAIN_GRAPH else {}, tensors)
    return {"name": f"{reported['kind']}.{number}", "origin_names": [], **reported}


_XNNPACK = re.compile(r"(?P<kind>[^()]+?) \((?P<words>[^()]*)\)(?: (?P<kernel>.+))?")
_PRECISIONS = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "QS8": "int8", "QU8": "uint8"}
_OF_ANY_TYPE = re.compile(r"X\d+")
_OF_ANY_RANK = "ND"


def of_xnnpack(tag: str) -> dict[str, Any]:
    """ "Fully Connected (NC, QD8, F32, QC8W) GEMM": its kind, its layout, what it computes in, its kernel."""
    match = _XNNPACK.fullmatch(tag)
    layout, *types = match["words"].split(", ") if match else ("",)
    types = [word for word in types if not _OF_ANY_TYPE.fullmatch(word)]
    return {
        "kind": match["kind"] if match else tag,
        "kernel": (match and match["kernel"]) or "",
        "precision": _PRECISIONS.get(types[0], types[0]) if len(types) == 1 else ", ".join(types),
        "layout": layout if layout != _OF_ANY_RANK else "",
        "provider": "xnnpack",
    }


def _of_node(tag: str, node: Mapping[str, Any], tensors: Tensors) -> dict[str, Any]:
    inputs, outputs = (_known(node.get(side, ()), tensors) for side in ("inputs", "outputs"))
    return {
        "kind": tag,
        "precision": outputs[0]["dtype"].__name__ if outputs else "",
        "shapes": f"{_shapes(inputs)} -> {_shapes(outputs)}" if outputs else "",
        "provider": "builtin",
        "inputs": [tensor["name"] for tensor in inputs],
        "outputs": [tensor["name"] for tensor in outputs],
    }


def _known(indices: Iterable[int], tensors: Tensors) -> list[Mapping[str, Any]]:
    return [tensors[index] for index in map(int, indices) if index in tensors]


def _shapes(tensors: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(str(tuple(map(int, tensor["shape"]))) for tensor in tensors)
