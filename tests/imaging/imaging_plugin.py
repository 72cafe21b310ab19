"""The imaging plug-in, called through the back-end ABI as a host would."""

from __future__ import annotations

import ctypes as c
import os
from pathlib import Path
from typing import Any

import numpy as np

FLOAT32, TENSOR, OK = 1, 1, 0


class Message(c.Structure):
    _fields_ = [("text", c.c_char_p), ("capacity", c.c_size_t)]


class Pair(c.Structure):
    _fields_ = [("key", c.c_char_p), ("value", c.c_char_p)]


class Environment(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("library", c.c_char_p),
        ("python_folder_count", c.c_size_t),
        ("python_folders", c.c_void_p),
        ("folder", c.c_char_p),
    ]


class Load(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("model_path", c.c_char_p),
        ("device", c.c_char_p),
        ("dtype", c.c_char_p),
        ("threads", c.c_int),
        ("batch", c.c_int64),
        ("dimension_count", c.c_size_t),
        ("dimensions", c.c_void_p),
        ("option_count", c.c_size_t),
        ("options", c.POINTER(Pair)),
        ("model_base_folder", c.c_char_p),
        ("zoo_name", c.c_char_p),
        ("profile_folder", c.c_char_p),
        ("cache_folder", c.c_char_p),
        ("preparing", c.c_int),
    ]


class Value(c.Structure):
    _fields_ = [
        ("kind", c.c_int),
        ("dtype", c.c_int),
        ("rank", c.c_size_t),
        ("shape", c.POINTER(c.c_int64)),
        ("data", c.c_void_p),
        ("size_bytes", c.c_size_t),
        ("string_sizes", c.c_void_p),
        ("element_count", c.c_size_t),
        ("elements", c.c_void_p),
    ]


SINK = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_char_p, c.c_double)
PAIR_SINK = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_char_p)

# The table's slots in their order, with what they take after the object they are called on.
_SLOTS = {
    "open_runtime": [c.POINTER(Environment), c.POINTER(c.c_void_p), Message],
    "runtime_info": [c.c_void_p],
    "close_runtime": [c.c_void_p],
    "load": [c.c_void_p, c.POINTER(Load), c.POINTER(c.c_void_p), Message],
    "compile": [c.c_void_p, Message],
    "close": [c.c_void_p],
    "input_count": [c.c_void_p],
    "output_count": [c.c_void_p],
    "input": [c.c_void_p, c.c_size_t],
    "output": [c.c_void_p, c.c_size_t],
    "create_request": [c.c_void_p, c.POINTER(c.c_void_p), Message],
    "destroy_request": [c.c_void_p],
    "bind_input": [c.c_void_p, c.c_size_t, c.POINTER(Value), Message],
    "run": [c.c_void_p, Message],
    "output_value": [c.c_void_p, c.c_size_t, c.POINTER(Value), Message],
    "submit": [],
    "wait": [],
    "synchronize": [],
    "executed": [c.c_void_p, PAIR_SINK, c.c_void_p, Message],
    "device_memory": [],
    "counters": [c.c_void_p, SINK, c.c_void_p, Message],
    "profile_begin": [c.c_void_p, Message],
    "profile_end": [c.c_void_p, Message],
}


class Table(c.Structure):
    _fields_ = [("abi_version", c.c_uint32), ("struct_size", c.c_size_t)] + [
        (name, c.CFUNCTYPE(c.c_int, *arguments)) for name, arguments in _SLOTS.items()
    ]


class Refused(Exception):
    pass


def _table() -> Table:
    build = Path(os.environ.get("INFERMETER_BUILD", "build/release")).absolute()
    library = c.CDLL(str(build / "lib/infermeter/backends/infermeter_backend_imaging.so"))
    library.infermeter_backend.restype = c.POINTER(Table)
    return library.infermeter_backend().contents


class Session:
    """A loaded workload. `run()` gives its outputs; `counters` is of the last run."""

    def __init__(
        self,
        cache_folder: str = "",
        preparing: bool = False,
        batch: int = 1,
        profile_folder: str = "",
        dtype: str = "float32",
        **options: Any,
    ) -> None:
        self._table, self._buffer = _table(), c.create_string_buffer(2048)
        environment = Environment(c.sizeof(Environment))
        self._runtime = self._made(self._table.open_runtime, c.byref(environment))
        pairs = (Pair * len(options))(*[Pair(k.encode(), str(v).encode()) for k, v in options.items()])
        load = Load(c.sizeof(Load), b"imaging", b"cpu", dtype.encode(), 1, batch, option_count=len(options), options=pairs)
        load.cache_folder, load.preparing = cache_folder.encode() or None, preparing
        load.profile_folder = profile_folder.encode() or None
        self._session = self._made(self._table.load, self._runtime, c.byref(load))
        self._request = None if preparing else self._made(self._table.create_request, self._session)

    def _message(self) -> Message:
        return Message(c.cast(self._buffer, c.c_char_p), len(self._buffer))

    def _check(self, status: int) -> None:
        if status != OK:
            raise Refused(self._buffer.value.decode())

    def _made(self, call: Any, *arguments: Any) -> c.c_void_p:
        made = c.c_void_p()
        self._check(call(*arguments, c.byref(made), self._message()))
        return made

    def bind(self, objects: np.ndarray) -> None:
        self._objects = np.ascontiguousarray(objects)
        shape = (c.c_int64 * objects.ndim)(*objects.shape)
        dtype = {"float32": 1, "uint8": 2}[str(objects.dtype)]
        value = Value(TENSOR, dtype, objects.ndim, shape, self._objects.ctypes.data, objects.nbytes)
        self._check(self._table.bind_input(self._request, 0, c.byref(value), self._message()))

    def run(self) -> list[np.ndarray]:
        self._check(self._table.run(self._request, self._message()))
        outputs = []
        for index in range(self._table.output_count(self._session)):
            value = Value()
            self._check(self._table.output_value(self._request, index, c.byref(value), self._message()))
            shape = value.shape[: value.rank]
            numbers = np.frombuffer((c.c_char * value.size_bytes).from_address(value.data), np.float32)
            outputs.append(numbers.reshape(shape).copy())
        return outputs

    def profiled_run(self) -> None:
        """Leaves operators.json of one run in the profile folder."""
        self._check(self._table.profile_begin(self._session, self._message()))
        self._check(self._table.run(self._request, self._message()))
        self._check(self._table.profile_end(self._session, self._message()))

    @property
    def counters(self) -> dict[str, float]:
        found: dict[str, float] = {}
        sink = SINK(lambda _, name, unit, value: found.__setitem__(name.decode(), value))
        self._check(self._table.counters(self._session, sink, None, self._message()))
        return found

    @property
    def executed(self) -> dict[str, str]:
        found: dict[str, str] = {}
        sink = PAIR_SINK(lambda _, name, value: found.__setitem__(name.decode(), value.decode()))
        self._check(self._table.executed(self._session, sink, None, self._message()))
        return found

    def close(self) -> None:
        if self._request is not None:
            self._table.destroy_request(self._request)
        self._table.close(self._session)
        self._table.close_runtime(self._runtime)
