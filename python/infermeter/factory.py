"""MODULE:FACTORY and FILE.py:FACTORY: a function of the user's, without arguments, that makes what is measured."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from infermeter.backend import Load, Port, Refused, Status
from infermeter.ports import ports_of_input_shape, sized

INPUT_SHAPE = "input_shape"
LIVE = "infermeter.live"
FACTORY_MODULE = "_factory_"  # in front of the name of a FILE.py: a file may be called torch.py

# Who computes with several threads asks one of these when it is first imported, which the factory does.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

# Objects of this process (infermeter/live.py): "infermeter.live:NAME" is one of them while it is measured, and nothing is made.
live_objects: dict[str, object] = {}


def is_live(model: str) -> bool:
    return model.startswith(f"{LIVE}:") and model.partition(":")[2] in live_objects


Counters = Callable[[], Mapping[str, float | tuple[float, str]]]


@dataclass(frozen=True)
class Model:
    """Something callable and what it takes: a factory may return one, so that nobody needs to say the shapes again."""

    callable: Callable[..., Any]  # a function, a torch.nn.Module, a flax.nnx.Module
    inputs: list[Port]
    outputs: tuple[str, ...] = ()  # names; may be left out where there is one output
    # What the callable counted itself, asked once after the timed loop: {"hit_rate": 0.9, "wait": (0.2, "s")}.
    counters: Counters | None = None


def load_factory(spec: str, folder: str = "") -> object:
    """What the factory returns. `folder`: where the user is; modules and files are looked for there first."""
    place, _, name = spec.rpartition(":")
    if place == LIVE:  # never a module's function: what is measured would be something else
        if name not in live_objects:
            raise Refused(Status.INVALID_ARGUMENT, f"the live object '{name}' is not there: run_live measures what it is given only")
        return live_objects[name]
    if not place or not name:
        raise Refused(
            Status.INVALID_ARGUMENT,
            f"'{spec}' names no factory: give MODULE:FACTORY or FILE.py:FACTORY, where FACTORY is a function without "
            "arguments that returns the model",
        )
    look_in(folder)
    module = _file(place, folder) if place.endswith(".py") else _module(place, folder)
    factory = getattr(module, name, None)
    if not callable(factory):
        raise Refused(Status.INVALID_ARGUMENT, f"{place} has no function '{name}'; it has {_functions(module)}")
    with _Explained(f"factory {name}", module):
        return factory()


def model_of(product: object, load: Load) -> Model:
    """`product`, what a factory returned, with its inputs as this load has them."""
    if isinstance(product, Model):
        if not callable(product.callable):
            raise _uncallable(product.callable, load)
        refuse_input_shape(load)
        return Model(product.callable, sized(product.inputs, load), tuple(product.outputs), product.counters)
    shape = load.options.get(INPUT_SHAPE, load.data_shape)
    if not shape:
        raise Refused(
            Status.INVALID_ARGUMENT,
            f"what {load.model} takes is not known: let the factory return infermeter.Model(callable, inputs=[…]), or "
            f"give --option {INPUT_SHAPE}=1x3x224x224 (several inputs with ';' between them, another type behind a colon: "
            "2x8:int64), or data that have a shape: --data pictures/ or --data inputs.npy",
        )
    if not callable(product):
        raise _uncallable(product, load)
    return Model(product, ports_of_input_shape(shape, load))


def refuse_input_shape(load: Load) -> None:
    """For models that tell themselves what they take."""
    if INPUT_SHAPE in load.options:
        raise Refused(
            Status.INVALID_ARGUMENT,
            f"{load.model} declares its inputs itself: leave {INPUT_SHAPE}={load.options[INPUT_SHAPE]} out; --dim "
            "NAME=SIZE gives a dynamic dimension its size",
        )


def counted(session: Any, model: Model) -> Any:
    """The session, which also shows what the model's own function counts: a value and a unit each, "1" where none was
    said."""
    if model.counters is not None:
        session.counters = with_units(model.counters)
    return session


def with_units(counters: Counters) -> Callable[[], dict[str, tuple[float, str]]]:
    def told() -> dict[str, tuple[float, str]]:
        found = counters()
        if not isinstance(found, Mapping):
            kind = type(found).__name__
            raise Refused(Status.RUN_ERROR, f"counters gave an object of type {kind}: give a dict of numbers, or of numbers and units")
        return {str(name): _with_unit(value) for name, value in found.items()}

    return told


def _with_unit(value: float | tuple[float, str]) -> tuple[float, str]:
    return (float(value[0]), str(value[1])) if isinstance(value, tuple) else (float(value), "1")


def _uncallable(product: object, load: Load) -> Refused:
    return Refused(
        Status.MODEL_ERROR,
        f"{load.model} gives an object of type {type(product).__name__}, which cannot be called: return a model",
    )


def look_in(folder: str) -> None:
    """Modules are looked for in this folder before all others."""
    if folder and folder not in sys.path:
        sys.path.insert(0, folder)


class _Explained:
    """What is raised inside becomes one sentence; its traceback goes to standard error."""

    def __init__(self, what: str, module: ModuleType | None = None, file: str = "") -> None:
        self._what = what
        self._file = file or getattr(module, "__file__", None) or ""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, (Refused, KeyboardInterrupt, GeneratorExit)):
            return
        traceback.print_exception(error, file=sys.stderr)
        sys.stderr.flush()
        message = " ".join(str(error).split())
        said = f"{type(error).__name__}: {message}" if message else type(error).__name__
        raise Refused(Status.MODEL_ERROR, f"{self._what} raised {said}{_place(error, self._file)}") from error


def _place(error: BaseException, file: str) -> str:
    """The innermost line of the user's own file, or of anything where there is none of it."""
    if isinstance(error, SyntaxError) and error.filename:
        return f", at {Path(error.filename).name} line {error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    own = [frame for frame in frames if file and Path(frame.filename) == Path(file)] or frames
    return f", at {Path(own[-1].filename).name} line {own[-1].lineno}" if own else ""


def _file(place: str, folder: str) -> ModuleType:
    path = Path(folder, place).absolute()
    if not path.is_file():
        raise Refused(Status.INVALID_ARGUMENT, f"there is no file {path}")
    look_in(str(path.parent))  # as `python FILE.py` does, so that it finds its neighbours
    name = f"{FACTORY_MODULE}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Refused(Status.INVALID_ARGUMENT, f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes defined there are found by their module's name
    with _Explained(f"importing {path.name}", file=str(path)):
        spec.loader.exec_module(module)
    return module


def _module(name: str, folder: str) -> ModuleType:
    with _Explained(f"importing {name}"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # Not found is the module itself or a package around it, and not something that it imports.
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"there is no module '{error.name}', neither in {folder or 'the current folder'} nor where "
                f"{sys.executable} looks for modules; a file is named FILE.py:FACTORY",
            ) from error


def _functions(module: ModuleType) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == module.__name__
    ]
    return ", ".join(sorted(own)) or "none"
