"""What a back end written in Python is made of: a file `infermeter_backend_<name>.py` with a function
`open_runtime(environment) -> Runtime`. docs/abi.md says how it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Environment", "Info", "Load", "Option", "Parts", "Port", "Refused", "Runtime", "Session", "Status"]


class Status(IntEnum):
    """Why something is refused: imb_status of infermeter_backend.h."""

    INVALID_ARGUMENT = 1  # an option, a shape, an input that does not fit: the user can mend it
    UNSUPPORTED = 2  # a device, dtype or kind of model that this runtime cannot do
    LIBRARY_MISSING = 3
    LIBRARY_TOO_OLD = 4
    MODEL_ERROR = 5
    RUN_ERROR = 6
    OUT_OF_MEMORY = 7


class Refused(Exception):
    """Raised with one sentence: what, where, why, and the option that helps."""

    def __init__(self, status: Status, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class Environment:
    library: str = ""  # --backend-library; "" where none was named
    folder: str = ""  # the current folder of whoever started infermeter: MODULE:FACTORY is looked for there


@dataclass(frozen=True)
class Port:
    """An input or output as the model declares it."""

    name: str
    dtype: str  # NumPy's name or type, or "bfloat16"; of an output "", where only a run can tell
    shape: tuple[int | str | None, ...] | None  # None within: dynamic; a text: dynamic, with a name; None: not known yet

    def __post_init__(self) -> None:
        if isinstance(self.dtype, str):
            return
        import numpy as np

        try:
            name = np.dtype(self.dtype).name
        except TypeError:  # of another framework: refused, by its name
            name = str(self.dtype)
        object.__setattr__(self, "dtype", name)


def first_dimensions(ports: list[Port]) -> list[int | None]:
    """Where no host says it: the first dimension is the batch."""
    return [0 if port.shape else None for port in ports]


@dataclass(frozen=True)
class Option:
    key: str
    values: str  # "true|false", "N"
    help: str  # one line


@dataclass(frozen=True)
class Info:
    """What the runtime is and can do here."""

    name: str  # "pytorch"
    runtime_name: str  # "PyTorch"
    runtime_version: str
    library: str  # the path of its Python package
    # Endings, the preferred first; "zoo": models of the zoo by name; "python": MODULE:FACTORY or FILE.py:FACTORY.
    model_formats: tuple[str, ...]
    devices: tuple[str, ...]
    dtypes: tuple[str, ...]
    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Load:
    """What is to be loaded. What cannot be done as asked is refused, never replaced."""

    model: str  # a path, or MODULE:FACTORY
    zoo_name: str  # "resnet50" where the model is of the zoo: `model` is then its ONNX file, or what was made of it
    device: str
    dtype: str
    threads: int
    batch: int
    dimensions: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    profile_folder: str = ""  # operators are to be profiled, into this folder; "": they are not
    # Which dimension of each input, as the model declares it, is the batch, whose size is `batch`; None: the input has none.
    # The host decides it, for all back ends alike; to be called while loading (infermeter.ports.sized does).
    batch_axes: Callable[[list[Port]], list[int | None]] = first_dimensions
    # The shapes of the data, as the option input_shape says them, for a model that declares no inputs; "": not known.
    data_shape: str = ""


@dataclass(frozen=True)
class Parts:
    """When the parts of an answer came that is given part by part: imb_parts of infermeter_backend.h."""

    moments_ns: Sequence[int]  # time.monotonic_ns() of each, ascending, as soon as it was there
    output_tokens: int  # as the runtime counts them; -1: it does not say
    prompt_tokens: int


class Session(Protocol):
    """A loaded model. May also have `compile()`, `device_memory() -> tuple[int, int] | None` (bytes now and at peak),
    `counters() -> dict[str, tuple[float, str]]` (value, unit) and `close()`; `between()`, called after a step and before the
    next, outside of the timed region; `parts(result) -> Parts`, where an answer comes part by part, called before that;
    `lengths(prompt_tokens, output_tokens)`, of the next prompt and answer, called after that; and, where its operators can be profiled,
    `profile_begin(folder: str)` and `profile_end(folder: str)`, around the steps that are to be recorded."""

    inputs: list[Port]
    outputs: list[Port]

    def bind(self, arrays: list[np.ndarray]) -> Callable[[], object]:
        """Outside of the timed loop. `arrays` are read-only views that stay where they are until the next bind. Returns
        the step that is timed: one inference, with the device's work finished when it returns."""
        ...

    def values(self, result: object) -> list[np.ndarray]:
        """What a step returned, an array per output."""
        ...

    def executed(self) -> dict[str, str]:
        """What is really executed, read back: dtype, threads, device, provider, and what else explains a difference."""
        ...


class Runtime(Protocol):
    info: Info

    def load(self, load: Load) -> Session: ...
