"""operators.json (docs/abi.md) of torch.profiler's traces: the operators of each inference, the modules that they are
of, and which reads what another made."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

OWN_TRACE = "own_trace.json.gz"  # docs/abi.md
ITERATION = "infermeter_iteration"  # the annotation around each of them
MODULE = "infermeter_module "  # and around each module, followed by its name
MOST_EVENTS = 200_000  # the host keeps no more


@dataclass
class Call:
    """Nanoseconds since the iteration's begin."""

    name: str
    begin: int
    end: int
    arguments: dict[str, Any] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)  # that it makes in turn

    def own(self) -> int:
        return self.end - self.begin - sum(call.end - call.begin for call in self.calls)

    def longest(self) -> Call:
        """Of it and all that it calls, what takes most by itself."""
        return max([self, *(call.longest() for call in self.calls)], key=Call.own)


Trace = list[dict[str, Any]]


def keep_trace(file: Path) -> None:
    """Beside it, packed: as PyTorch wrote it, for TensorBoard."""
    with gzip.open(file.with_name(OWN_TRACE), "wb") as packed:
        packed.write(file.read_bytes())


def read_trace(file: Path) -> Trace:
    events: Trace = json.loads(file.read_text())["traceEvents"]
    return [event for event in events if event.get("ph") == "X"]


def iterations_in(trace: Trace) -> list[list[Call]]:
    """The operators of each iteration, in order."""
    return [list(_operators(_nested(_within(trace, begin, "cpu_op")))) for begin in _iterations(trace)]


def _iterations(trace: Trace) -> list[dict[str, Any]]:
    found = [event for event in trace if event.get("cat") == "user_annotation" and event["name"] == ITERATION]
    return sorted(found, key=lambda event: event["ts"])


def _within(trace: Trace, iteration: dict[str, Any], kind: str) -> list[Call]:
    begin, end = iteration["ts"], iteration["ts"] + iteration["dur"]
    calls = []
    for event in trace:
        if event.get("cat") == kind and event["tid"] == iteration["tid"] and begin <= event["ts"] < end:
            since = round((event["ts"] - begin) * 1000)
            calls.append(Call(event["name"], since, since + round(event["dur"] * 1000), event.get("args", {})))
    return sorted(calls, key=lambda call: (call.begin, -call.end))


def _nested(calls: list[Call]) -> list[Call]:
    outermost: list[Call] = []
    open_calls: list[Call] = []
    for call in calls:
        while open_calls and open_calls[-1].end <= call.begin:
            open_calls.pop()
        (open_calls[-1].calls if open_calls else outermost).append(call)
        open_calls.append(call)
    return outermost


def _operators(calls: list[Call]) -> Iterator[Call]:
    """What no other operator calls. "Torch-Compiled Region" and its like are around operators and none themselves."""
    for call in calls:
        if call.calls and "::" not in call.name:
            yield from _operators(call.calls)
        else:
            yield call


@dataclass(frozen=True)
class Named:
    """An operator of an inference, and the module that calls it: "" where that calls other modules too, or runs more
    than once, so that its name does not show which operator this is. Tensors have the names of the operators that
    made them: weights and inputs of the model have none."""

    operator: str
    module: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


def named_operators(torch: Any, model: Any, step: Callable[[], object], folder: Path) -> list[Named]:
    """Of one inference more, with annotations around the modules."""
    handles = []
    open_annotations: list[Any] = []

    def around(name: str) -> tuple[Callable[..., None], Callable[..., None]]:
        def before(*_: object) -> None:
            open_annotations.append(torch.profiler.record_function(MODULE + name))
            open_annotations[-1].__enter__()

        def after(*_: object) -> None:
            open_annotations.pop().__exit__(None, None, None)

        return before, after

    for name, module in model.named_modules():
        before, after = around(name)
        handles += [module.register_forward_pre_hook(before), module.register_forward_hook(after)]
    with TemporaryDirectory(dir=folder) as files:  # the host does not look into it
        trace_file, tensors_file = Path(files) / "trace.json", Path(files) / "tensors.json"
        observer = torch.profiler.ExecutionTraceObserver().register_callback(str(tensors_file))
        activities = [torch.profiler.ProfilerActivity.CPU]
        try:
            with torch.profiler.profile(activities=activities, execution_trace_observer=observer) as profile:
                step()
        finally:
            observer.unregister_callback()
            for handle in handles:
                handle.remove()
        profile.export_chrome_trace(str(trace_file))
        return _named(read_trace(trace_file), read_tensors(tensors_file))


# A tensor as the execution trace names it, which gives the same number to another one when this is gone; with storage,
# offset and number of elements two that follow one another are rarely taken for one.
TensorId = tuple[int, ...]
NO_STORAGE = 0  # of a tensor that is not defined: an optional one that is left out
# By the number of the call: what it reads and what it writes.
Tensors = dict[int, tuple[list[TensorId], list[TensorId]]]


def read_tensors(file: Path) -> Tensors:
    """Of a file of torch.profiler.ExecutionTraceObserver."""
    found: Tensors = {}
    for node in json.loads(file.read_text())["nodes"]:
        number = next((attribute["value"] for attribute in node["attrs"] if attribute["name"] == "rf_id"), None)
        if number is not None:
            found[number] = (_tensors_in(node["inputs"]), _tensors_in(node["outputs"]))
    return found


def _tensors_in(ports: dict[str, Any]) -> list[TensorId]:
    found: list[TensorId] = []
    for value, kind in zip(ports["values"], ports["types"], strict=False):
        if kind.startswith("Tensor("):
            found.append(tuple(value[:4]))
        elif "[Tensor(" in kind:  # a list of them
            found += [tuple(tensor[:4]) for tensor in value if isinstance(tensor, list)]
    return [tensor for tensor in found if tensor[1] != NO_STORAGE]


def _named(trace: Trace, tensors: Tensors) -> list[Named]:
    (iteration,) = _iterations(trace)
    modules = [call for call in _within(trace, iteration, "user_annotation") if call.name.startswith(MODULE)]
    _nested(modules)
    times = Counter(call.name for call in modules)
    named: list[Named] = []
    seen: Counter[str] = Counter()
    made: dict[TensorId, str] = {}  # by whoever wrote it last
    for operator in _operators(_nested(_within(trace, iteration, "cpu_op"))):
        around = [call for call in modules if call.begin <= operator.begin and operator.end <= call.end]
        innermost = max(around, key=lambda call: call.begin) if around else None
        tells = innermost is not None and not innermost.calls and times[innermost.name] == 1
        reads, writes = tensors.get(operator.arguments.get("Record function id", -1), ([], []))
        inputs = tuple(dict.fromkeys(made[tensor] for tensor in reads if tensor in made))
        outputs = tuple(f"{operator.name}.{seen[operator.name]}:{index}" for index in range(len(writes)))
        seen[operator.name] += 1
        made.update(zip(writes, outputs, strict=True))
        module = innermost.name.removeprefix(MODULE) if innermost and tells else ""
        named.append(Named(operator.name, module, inputs, outputs))
    return named


def write_operators(folder: Path, version: str, iterations: list[list[Call]], named: list[Named]) -> None:
    operators: list[dict[str, Any]] = []
    events: dict[str, list[int]] = {name: [] for name in ("iteration", "op", "thread", "begin_ns", "duration_ns")}
    numbers: dict[tuple[str, int], int] = {}
    cut = False
    for index, calls in enumerate(iterations):
        cut = len(events["op"]) + len(calls) > MOST_EVENTS
        if cut:
            break
        seen: Counter[str] = Counter()
        is_as_named = [call.name for call in calls] == [name.operator for name in named]
        for place, call in enumerate(calls):
            # The n-th call of a name is the same operator in every iteration.
            number = numbers.setdefault((call.name, seen[call.name]), len(numbers))
            if number == len(operators):
                known = named[place] if is_as_named else Named(call.name, "")
                operators.append(_described(call, seen[call.name], known))
            seen[call.name] += 1
            row = (index, number, 0, call.begin, call.end - call.begin)
            for column, value in zip(events.values(), row, strict=True):
                column.append(value)
    has_modules = any(operator["origin_names"] for operator in operators)
    modules = "PyTorch's modules" if has_modules else "what is executed does not report which module it is"
    whole = {
        "format": "infermeter-operators",
        "version": 1,
        "source": f"torch.profiler's trace, PyTorch {version}; what an operator calls in turn is within its time",
        "clock": "iteration",
        "iterations": len(iterations),
        "cut": cut,
        "operators": operators,
        "events": events,
        "sources": [{"name": "modules", "available": has_modules, "detail": modules}],
    }
    (folder / "operators.json").write_text(json.dumps(whole))


_PRECISIONS = {"float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16"}


def _described(call: Call, place: int, known: Named) -> dict[str, Any]:
    kinds = call.arguments.get("Input type", [])
    shapes = call.arguments.get("Input Dims", [])
    tensors = [i for i, shape in enumerate(shapes) if shape and i < len(kinds) and re.fullmatch(r"[\w:]+", kinds[i])]
    return {
        "name": f"{call.name}.{place}",
        "kind": call.name,
        "kernel": call.longest().name,
        "precision": _PRECISIONS.get(kinds[tensors[0]], kinds[tensors[0]]) if tensors else "",
        "layout": _layout(shapes[tensors[0]], call.arguments.get("Input Strides", []), tensors[0]) if tensors else "",
        "shapes": ", ".join(_shape(shapes[i]) for i in tensors),
        "provider": "",
        "origin_names": [known.module] if known.module else [],
        "inputs": known.inputs,
        "outputs": known.outputs,
    }


def _shape(sizes: list[int]) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


def _layout(sizes: list[int], strides: list[list[int]], index: int) -> str:
    if len(sizes) < 4 or index >= len(strides) or len(strides[index]) != len(sizes) or sizes[1] == 1:
        return ""
    return "channels_last" if strides[index][1] == 1 else "contiguous"
