"""What a run shows while it continues: a line that changes, a line for each trial, or the bar of another package."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Protocol, TextIO

from infermeter import _core

__all__ = ["Bar", "Tell", "shown"]

Tell = Callable[[_core.Progress], object]


class Bar(Protocol):
    """As tqdm has it: `tqdm(unit="trial")`."""

    total: float | None

    def update(self, n: float | None = 1) -> object: ...


@contextlib.contextmanager
def shown(progress: Tell | Bar | bool | None) -> Iterator[Tell | None]:
    """What the engine calls. None: a line that changes where somebody looks, in a terminal or a notebook, and nothing elsewhere."""
    if progress is None and _is_watched():
        line = _Line(sys.stderr)
        try:
            yield line
        finally:
            line.clear()
    elif progress is True:
        yield _report_trial
    elif progress is None or progress is False:
        yield None
    elif callable(getattr(progress, "update", None)) and hasattr(progress, "total"):
        yield _filled(progress)  # type: ignore[arg-type]
    else:
        yield progress  # type: ignore[misc]


def _is_watched() -> bool:
    if sys.stderr is None:
        return False
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return sys.stderr.isatty() or getattr(shell, "kernel", None) is not None


class _Line:
    """The state of the run in one line of the terminal, overwritten."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = 0

    def __call__(self, now: _core.Progress) -> None:
        if not now.label:
            return
        width = shutil.get_terminal_size().columns - 1
        if text := now.load_text(width):
            self._write(text, width)
            return
        label = "".join(letter if letter.isprintable() else "?" for letter in now.label)
        text = f"[{now.trial + 1}/{now.trials}] {label}: {now.phase.replace('_', ' ')}"
        if now.iterations_done:
            text += f", {now.iterations_done} iterations"
        if now.seconds_left is not None:
            text += f", about {_duration(now.seconds_left)} left"
        self._write(text, width)

    def clear(self) -> None:
        self._write("", 0)
        self._stream.write("\r")
        self._stream.flush()

    def _write(self, text: str, width: int) -> None:
        text = text[:width]
        self._stream.write(f"\r{text.ljust(self._shown)}")
        self._stream.flush()
        self._shown = len(text)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _filled(bar: Bar) -> Tell:
    def tell(now: _core.Progress) -> None:
        bar.total = now.trials
        if now.finished is not None:
            bar.update(1)

    return tell


def _report_trial(progress: _core.Progress) -> None:
    """A line on stderr for a trial that has ended."""
    samples = progress.finished
    if samples is None:
        return
    metric = samples.summary().metric("latency_p50")
    p50 = None if metric is None else metric.value
    timed = f"{len(samples)} iterations" if p50 is None else f"p50 {p50 * 1e3:.3f} ms"
    print(f"[{progress.trial + 1}/{progress.trials}] {progress.label}: {samples.message or timed}", file=sys.stderr)
