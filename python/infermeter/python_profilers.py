"""Python code under a profiler while it is timed: cProfile or pyinstrument, and what they saw as collapsed stacks.

A line is "outermost;…;innermost seconds", the seconds being the innermost frame's own. Called by the C++ that hosts Python
back ends, right before the timed iterations and right after them, in the thread that runs them.
"""

from __future__ import annotations

import cProfile
import heapq
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

from infermeter.backend import Refused, Status

if TYPE_CHECKING:
    from pyinstrument import Profiler
    from pyinstrument.frame import Frame

__all__ = ["begin", "call_trees", "collapsed", "end", "own_times"]

Stack = tuple[str, ...]

INTERVAL_S = 0.001  # of pyinstrument's samples
LEAST_SHARE = 1e-4  # of the whole time: what is shorter is not divided among what it calls
DEEPEST = 200  # calls within each other; a line stays well below what a reader takes
LONGEST_NAME = 300
MOST_STACKS = 100_000  # different ones; the shortest are left out

_running: cProfile.Profile | Profiler | None = None
_depth = 0  # frames that were there when the profile began


def begin(profiler: str) -> None:
    """Starts "cprofile" or "pyinstrument" in the calling thread."""
    global _running, _depth
    if profiler == "pyinstrument":
        _depth = len(traceback.extract_stack()) - 1
        _running = _pyinstrument()
        _running.start()
    else:
        _running = cProfile.Profile()
        _running.enable()


def end() -> str:
    """Stops it; what it saw."""
    global _running
    profiler, _running = _running, None
    if isinstance(profiler, cProfile.Profile):
        profiler.disable()
        return collapsed(call_trees(profiler.getstats()))
    if profiler is None:
        return ""
    root = profiler.stop().root_frame(trim_stem=False)
    return collapsed([] if root is None else ((stack[_depth:], own_s) for stack, own_s in _frames(root)))


def _pyinstrument() -> Profiler:
    try:
        from pyinstrument import Profiler
    except ImportError as error:
        raise Refused(
            Status.UNSUPPORTED,
            f"pyinstrument cannot be imported ({error}): install pyinstrument into the environment of {sys.executable}",
        ) from None
    return Profiler(interval=INTERVAL_S, async_mode="disabled")


def collapsed(stacks: Iterable[tuple[Stack, float]]) -> str:
    """Equal stacks are one line; the time of our own frames, and what lies outside of any function, is in none."""
    seconds: dict[Stack, float] = {}
    for stack, own_s in stacks:
        if stack and own_s > 0:
            seconds[stack] = seconds.get(stack, 0.0) + own_s
    kept = heapq.nlargest(MOST_STACKS, seconds.items(), key=lambda one: one[1])
    return "".join(f"{';'.join(stack)} {own_s:.9f}\n" for stack, own_s in kept)


def own_times(entries: Sequence[Any]) -> list[tuple[str, int, float]]:
    """Of cProfile's entries: function, calls and its own seconds, the slowest first; without this package's own."""
    package = os.path.dirname(__file__) + os.sep
    rows = [
        (_of_code(entry.code), entry.callcount, entry.inlinetime)
        for entry in entries
        if not _is_ours(entry.code) and not getattr(entry.code, "co_filename", "").startswith(package)
    ]
    return sorted(rows, key=lambda row: -row[2])


def call_trees(entries: Sequence[Any]) -> Iterator[tuple[Stack, float]]:
    """Stacks of cProfile's entries. It knows who called whom and for how long, but not on whose behalf: where a function
    has several callers, what it did is divided among them in proportion to the time of their calls, as gprof does."""
    by_code = {entry.code: entry for entry in entries}
    least_s = LEAST_SHARE * sum(entry.inlinetime for entry in entries)

    def visit(stack: Stack, codes: frozenset[Any], entry: Any, time_s: float) -> Iterator[tuple[Stack, float]]:
        stack = (*stack, _of_code(entry.code))
        share = min(time_s / entry.totaltime, 1.0) if entry.totaltime > 0 else 0.0
        codes = codes | {entry.code}
        calls = [call for call in entry.calls or () if call.code not in codes]
        if time_s < least_s or len(stack) >= DEEPEST or not calls:
            yield stack, time_s if calls else share * entry.inlinetime
            return
        yield stack, share * entry.inlinetime
        for call in calls:
            yield from visit(stack, codes, by_code[call.code], share * call.totaltime)

    for entry in entries:
        alone_s = 0.0 if _is_ours(entry.code) else _without_caller(entry, entries)
        if alone_s > 0:
            yield from visit((), frozenset(), entry, alone_s)


def _without_caller(entry: Any, entries: Sequence[Any]) -> float:
    """Seconds of a function's calls by nobody that was seen: from C, or from what ran when the profiler came."""
    calls = [call for one in entries for call in one.calls or () if call.code is entry.code]
    alone = entry.callcount - sum(call.callcount for call in calls)
    if alone <= 0:
        return 0.0
    if entry.reccallcount == 0:
        own: float = entry.totaltime - sum(call.totaltime for call in calls)
        return own
    # A call within another of the same function is in the time of both; those that are in no other share the whole.
    inclusive: float = entry.totaltime * alone / (entry.callcount - entry.reccallcount)
    return inclusive


def _is_ours(code: CodeType | str) -> bool:
    """The end of the profile itself."""
    return code.co_filename == __file__ if isinstance(code, CodeType) else "_lsprof.Profiler" in code


def _frames(root: Frame) -> Iterator[tuple[Stack, float]]:
    """Stacks of pyinstrument's tree, each with its innermost frame's own time."""
    pending: list[tuple[Frame, Stack]] = [(root, ())]
    while pending:
        frame, above = pending.pop()
        stack = above
        if not frame.is_synthetic and frame.file_path != "<thread>" and len(above) < DEEPEST:
            stack = (*above, _name(_method(frame), frame.file_path or "", frame.line_no or 0))
        yield stack, frame.total_self_time
        pending.extend((child, stack) for child in frame.children if not _is_extra(child))


def _is_extra(frame: Frame) -> bool:
    """What stands for its parent's own time, and our own beginning and end."""
    return frame.is_synthetic or frame.file_path == __file__


def _method(frame: Frame) -> str:
    return f"{frame.class_name}.{frame.function}" if frame.class_name else frame.function


def _of_code(code: CodeType | str) -> str:
    if isinstance(code, str):  # C code: "<built-in method time.sleep>"
        return _clean(code)
    return _name(getattr(code, "co_qualname", code.co_name), code.co_filename, code.co_firstlineno)


def _name(function: str, file: str, line: int) -> str:
    return _clean(f"{function} ({_short(file)}:{line})" if line else function)


def _clean(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else " " for c in text).replace(";", ":")[:LONGEST_NAME]


@cache
def _short(file: str) -> str:
    """As py-spy writes it: from the folder on in which Python found it."""
    inside = [folder for folder in sys.path if folder and file.startswith(folder.rstrip(os.sep) + os.sep)]
    return os.path.relpath(file, max(inside, key=len)) if inside else os.path.basename(file)
