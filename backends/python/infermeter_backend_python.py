"""Any Python callable: MODULE:FACTORY or FILE.py:FACTORY returns what is called with NumPy arrays and gives arrays back."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable

import numpy as np
from infermeter.backend import Environment, Info, Load, Option, Port, Refused, Status
from infermeter.factory import INPUT_SHAPE, THREAD_VARIABLES, counted, load_factory, model_of
from infermeter.outputs import named_parts


def _wait_for_jax(result: object) -> None:
    for _, leaf in named_parts(result):
        leaf.block_until_ready()


def _how_to_wait(result: object) -> Callable[[object], None] | None:
    """What finishes the work behind a result that may still be computed when the callable returns."""
    leaves = [leaf for _, leaf in named_parts(result)]
    if leaves and all(hasattr(leaf, "block_until_ready") for leaf in leaves):
        return _wait_for_jax
    if any(getattr(leaf, "is_cuda", False) is True for leaf in leaves):
        synchronize = sys.modules["torch"].cuda.synchronize
        return lambda _: synchronize()
    return None


class PythonSession:
    def __init__(self, load: Load, folder: str) -> None:
        for variable in THREAD_VARIABLES:
            os.environ[variable] = str(load.threads)
        model = model_of(load_factory(load.model, folder), load)
        self._call = model.callable
        self._names = model.outputs
        self.inputs = model.inputs
        self.outputs = [Port(name, "", None) for name in model.outputs or ("output",)]
        self._dtype = load.dtype
        counted(self, model)

    def bind(self, arrays: list[np.ndarray]) -> Callable[[], object]:
        call = self._call
        wait: Callable[[object], None] | None

        def look(result: object) -> None:  # at the first result
            nonlocal wait
            wait = _how_to_wait(result)
            if wait is not None:
                wait(result)

        wait = look
        if len(arrays) == 1:  # the usual case, without unpacking
            (array,) = arrays

            def step() -> object:
                result = call(array)
                if wait is not None:
                    wait(result)
                return result

            return step

        def step_of_several() -> object:
            result = call(*arrays)
            if wait is not None:
                wait(result)
            return result

        return step_of_several

    def values(self, result: object) -> list[np.ndarray]:
        leaves = list(named_parts(result))
        if self._names and len(self._names) != len(leaves):
            raise Refused(
                Status.MODEL_ERROR,
                f"the model names {len(self._names)} outputs ({', '.join(self._names)}) and returned {len(leaves)}",
            )
        names = self._names or [name for name, _ in leaves]
        arrays = [self._array(name, leaf) for name, (_, leaf) in zip(names, leaves, strict=True)]
        self.outputs = [Port(n, a.dtype.name, a.shape) for n, a in zip(names, arrays, strict=True)]
        return arrays

    def _array(self, name: str, leaf: object) -> np.ndarray:
        if leaf is None:
            raise Refused(Status.MODEL_ERROR, f"'{name}' is None: the callable must return its outputs")
        if getattr(leaf, "is_cuda", False) is True:
            leaf = leaf.cpu()  # type: ignore[attr-defined]
        if getattr(leaf, "requires_grad", False) is True:
            leaf = leaf.detach()  # type: ignore[attr-defined]
        return np.asarray(leaf)

    def executed(self) -> dict[str, str]:
        # What a callable does inside is its own: neither its threads nor its precision can be read back.
        return {"provider": "python", "device": "cpu"}


class PythonRuntime:
    def __init__(self, environment: Environment) -> None:
        self._folder = environment.folder
        self.info = Info(
            name="python",
            runtime_name=platform.python_implementation(),
            runtime_version=platform.python_version(),
            library=sys.executable,
            model_formats=("python",),
            devices=("cpu",),
            dtypes=("float32",),
            options=(
                Option(
                    INPUT_SHAPE,
                    "1x3x224x224",
                    "what the callable takes, where it is not an infermeter.Model: batch first; ';' between inputs, ':int64' "
                    "behind one for its type",
                ),
            ),
        )

    def load(self, load: Load) -> PythonSession:
        return PythonSession(load, self._folder)


def open_runtime(environment: Environment) -> PythonRuntime:
    return PythonRuntime(environment)
