"""What the C++ that hosts Python back ends asks of Python: files as modules, bytes as arrays, exceptions as sentences."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from infermeter.backend import Environment, Refused, Status

if TYPE_CHECKING:
    import numpy as np

# numpy's (and ml_dtypes') names beside those of infermeter_backend.h, where they differ.
_ABI_NAMES = {
    "float8_e4m3fn": "float8e4m3fn",
    "float8_e4m3fnuz": "float8e4m3fnuz",
    "float8_e5m2": "float8e5m2",
    "float8_e5m2fnuz": "float8e5m2fnuz",
}
_NUMPY_NAMES = {abi: numpy for numpy, abi in _ABI_NAMES.items()}


def load_file(path: str) -> ModuleType:
    """A Python file as a module, wherever it lies."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Refused(Status.INVALID_ARGUMENT, f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def opener_of(plugin: str) -> Callable[[str, str], Any]:
    """The function that opens the runtime of the back end in the file `plugin`."""
    module = load_file(plugin)
    if not callable(getattr(module, "open_runtime", None)):
        raise Refused(Status.INVALID_ARGUMENT, f"back end {plugin} cannot be used: it has no function open_runtime")
    return lambda library, folder: module.open_runtime(Environment(library=library, folder=folder))


def make_model(maker: str, name: str, model: str, options: dict[str, str], data: str, file: str) -> None:
    """What the maker in the file `maker` makes of a model."""
    from infermeter.making import Job

    module = load_file(maker)
    if not callable(getattr(module, "make", None)):
        raise Refused(Status.INVALID_ARGUMENT, f"maker {maker} cannot be used: it has no function make")
    module.make(Job(name=name, model=model, options=options, data=data, file=file))


def _dtype(abi_name: str) -> np.dtype[Any]:
    import numpy as np

    name = _NUMPY_NAMES.get(abi_name, abi_name)
    if name in np.sctypeDict:
        return np.dtype(name)
    import ml_dtypes

    added: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return added


def array_of(memory: memoryview, abi_dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """A read-only array over the host's bytes, without a copy."""
    import numpy as np

    dtype = _dtype(abi_dtype)
    if memory.nbytes == 0:
        return np.empty(shape, dtype)
    return np.frombuffer(memory, dtype).reshape(shape)


def bytes_of(value: object) -> tuple[str, tuple[int, ...], np.ndarray]:
    """An output as its type, its shape and its bytes; copied only where they do not lie one behind the other."""
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind in "OUSMm" or array.dtype.fields is not None:
        raise Refused(
            Status.RUN_ERROR,
            f"an output is an array of {array.dtype.name}, which is not a tensor: return numbers, not objects",
        )
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    name = array.dtype.name
    return _ABI_NAMES.get(name, name), array.shape, array.reshape(-1).view(np.uint8)


def _place(error: BaseException) -> str:
    """Where it was raised: the innermost place that is not ours or a library's."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    own = [frame for frame in frames if "site-packages" not in frame.filename and "/infermeter/" not in frame.filename]
    if not own:
        return ""
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})"


def explain(error: BaseException) -> tuple[int, str]:
    """An exception as a status and one sentence. The traceback of one that nobody made for the user goes to standard
    error, which the record keeps."""
    if isinstance(error, Refused):
        return int(error.status), str(error)
    traceback.print_exception(error, file=sys.stderr)
    sys.stderr.flush()
    kind = type(error).__name__
    if isinstance(error, MemoryError) or "OutOfMemory" in kind or "can't allocate memory" in str(error):
        return int(Status.OUT_OF_MEMORY), f"out of memory: {_first_line(error)}"
    return 0, f"{kind}: {_first_line(error)}{_place(error)}"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:600] if lines else "no message"
