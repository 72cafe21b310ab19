"""A model compiled with LiteRT's profiler on, by the C API of the wheel's libLiteRt.so: its Python classes have neither
the switch nor the events. The wheel has no headers; what is declared here is litert/c/*.h of the release in CHECKED."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from infermeter.backend import Port, Refused, Status
from infermeter.ports import fixed_shape

CHECKED = "2.3.0"
LIBRARY = "libLiteRt.so"
MOST_EVENTS = 512 * 1024  # of the profiler's buffer; what comes later it drops

_CPU = 1  # kLiteRtHwAcceleratorCpu
_MOST_DIMENSIONS = 8
_RUNTIME_OPTIONS = b"runtime_options_string"
_CPU_OPTIONS = b"xnnpack"


class _Layout(ctypes.Structure):
    _fields_ = (
        ("rank", ctypes.c_uint, 7),
        ("has_strides", ctypes.c_uint, 1),
        ("dimensions", ctypes.c_int32 * _MOST_DIMENSIONS),
        ("strides", ctypes.c_uint32 * _MOST_DIMENSIONS),
    )


class _TensorType(ctypes.Structure):
    _fields_ = (("element_type", ctypes.c_int), ("layout", _Layout))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.layout.dimensions[: min(self.layout.rank, _MOST_DIMENSIONS)])


class _MemoryUsage(ctypes.Structure):
    _fields_ = (("total", ctypes.c_size_t), ("in_use", ctypes.c_size_t), ("private", ctypes.c_size_t))


class _EventData(ctypes.Structure):
    _fields_ = (
        ("tag", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("start_us", ctypes.c_uint64),
        ("elapsed_us", ctypes.c_uint64),
        ("memory_at_begin", _MemoryUsage),
        ("memory_at_end", _MemoryUsage),
        ("metadata", ctypes.c_uint64),
        ("more_metadata", ctypes.c_uint64),
        ("source", ctypes.c_int),
    )


@dataclass(frozen=True)
class Event:
    """What the profiler reports, in the order in which things began."""

    tag: str
    type: int
    start_us: int  # of CLOCK_MONOTONIC; 0 where the runtime does not report
    elapsed_us: int
    node: int
    subgraph: int


# The destructor of options' payloads, which are Python's.
_keep = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)


class Library:
    def __init__(self, folder: Path, version: str) -> None:
        if version != CHECKED:
            raise Refused(
                Status.UNSUPPORTED,
                f"LiteRT {version} reports its operators through its C API only, for which its wheel has no headers: "
                f"infermeter knows that of {CHECKED} (pip install ai-edge-litert=={CHECKED})",
            )
        try:
            self._library = ctypes.CDLL(str(folder / LIBRARY))
        except OSError as error:
            raise Refused(Status.LIBRARY_MISSING, f"LiteRT's profiler cannot be loaded: {error}") from error

    def call(self, name: str, *arguments: object) -> None:
        status = self.function(name)(*arguments)
        if status:
            raise Refused(Status.RUN_ERROR, f"LiteRT's profile cannot be made: {name} ended with status {status}")

    def made(self, name: str, *arguments: object) -> ctypes.c_void_p:
        """The handle that the function writes to its last argument."""
        handle = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(handle))
        return handle

    def count(self, name: str, *arguments: object) -> int:
        number = ctypes.c_size_t()
        self.call(name, *arguments, ctypes.byref(number))
        return number.value

    def function(self, name: str) -> Callable[..., int]:
        found = getattr(self._library, name, None)
        if found is None:
            raise Refused(Status.LIBRARY_TOO_OLD, f"LiteRT's {LIBRARY} has no function {name}")
        found.restype = ctypes.c_int
        return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Tensor:
    buffer: ctypes.c_void_p
    array: np.ndarray  # over the buffer's own memory


class ProfiledModel:
    """`inputs` and `outputs` are as the interpreter has them, every size fixed: it is asked for the same."""

    def __init__(
        self, library: Library, file: str, threads: int, uses_xnnpack: bool, inputs: list[Port], outputs: list[Port]
    ) -> None:
        self._library = library
        self._payloads = (
            ctypes.create_string_buffer(b"enable_profiling = true\n"),
            ctypes.create_string_buffer(
                b'kernel_mode = "%s"\nnum_threads = %d\n' % (b"delegate" if uses_xnnpack else b"builtin", threads)
            ),
        )
        with ExitStack() as owned:
            self._owned = owned
            self._environment = self._own("Environment", ctypes.c_int(0), None)
            self._model = self._own_made("LiteRtCreateModelFromFile", "Model", self._environment, file.encode())
            self._compiled = self._own("CompiledModel", self._environment, self._model, self._options())
            self._profiler = library.made("LiteRtCompiledModelGetProfiler", self._compiled)
            self._signature, self._graph = self._main_signature()
            self._resize(inputs)
            self._inputs = self._tensors("Input", inputs)
            self._outputs = self._tensors("Output", outputs)
            self._owned = owned.pop_all()
        self.inputs = [tensor.array for tensor in self._inputs]
        self.outputs = [tensor.array for tensor in self._outputs]

    def close(self) -> None:
        self._owned.close()

    def step(self) -> Callable[[], None]:
        """One inference, on what stands in `inputs`."""
        run = self._library.function("LiteRtRunCompiledModel")
        arguments = (
            self._compiled,
            ctypes.c_size_t(self._signature),
            *_handles(self._inputs),
            *_handles(self._outputs),
        )

        def step() -> None:
            if status := run(*arguments):
                raise RuntimeError(f"LiteRT's compiled model ended an inference with status {status}")

        return step

    def start(self) -> None:
        self._library.call("LiteRtStartProfiler", self._profiler)

    def stop(self) -> list[Event]:
        """What happened since `start`."""
        self._library.call("LiteRtStopProfiler", self._profiler)
        count = ctypes.c_int()
        self._library.call("LiteRtGetNumProfilerEvents", self._profiler, ctypes.byref(count))
        if count.value == 0:
            return []
        events = (_EventData * count.value)()
        self._library.call("LiteRtGetProfilerEvents", self._profiler, count, events)
        return [_event(event) for event in events]

    def _own(self, kind: str, *arguments: object) -> ctypes.c_void_p:
        return self._own_made(f"LiteRtCreate{kind}", kind, *arguments)

    def _own_made(self, maker: str, kind: str, *arguments: object) -> ctypes.c_void_p:
        handle = self._library.made(maker, *arguments)
        self._owned.callback(self._library.function(f"LiteRtDestroy{kind}"), handle)
        return handle

    def _options(self) -> ctypes.c_void_p:
        options = self._own("Options")
        self._library.call("LiteRtSetOptionsHardwareAccelerators", options, ctypes.c_int(_CPU))
        for name, payload in zip((_RUNTIME_OPTIONS, _CPU_OPTIONS), self._payloads, strict=True):
            part = self._library.made("LiteRtCreateOpaqueOptions", name, payload, _keep)
            self._library.call("LiteRtAddOpaqueOptions", options, part)  # which owns it from now on
        return options

    def _main_signature(self) -> tuple[int, ctypes.c_void_p]:
        """The signature whose graph is the one that an interpreter runs, and that graph."""
        library, model = self._library, self._model
        main = library.count("LiteRtGetMainModelSubgraphIndex", model)
        graph = library.made("LiteRtGetModelSubgraph", model, ctypes.c_size_t(main))
        for index in range(library.count("LiteRtGetNumModelSignatures", model)):
            signature = library.made("LiteRtGetModelSignature", model, ctypes.c_size_t(index))
            if library.made("LiteRtGetSignatureSubgraph", signature).value == graph.value:
                return index, graph
        raise Refused(Status.UNSUPPORTED, "LiteRT's compiled model runs signatures, and none is of the main graph")

    def _resize(self, inputs: list[Port]) -> None:
        is_resized = False
        for index, port in enumerate(inputs):
            shape = fixed_shape(port)
            if shape != self._type("Input", index, port).shape:
                sizes = (ctypes.c_int * len(shape))(*shape)
                self._library.call(
                    "LiteRtCompiledModelResizeInputTensor",
                    self._compiled,
                    ctypes.c_size_t(self._signature),
                    ctypes.c_size_t(index),
                    sizes,
                    ctypes.c_size_t(len(shape)),
                )
                is_resized = True
        if is_resized:
            self._let_outputs_follow()

    def _let_outputs_follow(self) -> None:
        count = self._library.count("LiteRtGetNumSubgraphOutputs", self._graph)
        layouts = (_Layout * count)()
        arguments = (ctypes.c_size_t(self._signature), ctypes.c_size_t(count), layouts, ctypes.c_bool(True))
        self._library.call("LiteRtGetCompiledModelOutputTensorLayouts", self._compiled, *arguments)

    def _type(self, kind: str, index: int, port: Port) -> _TensorType:
        tensor = self._library.made(f"LiteRtGetSubgraph{kind}", self._graph, ctypes.c_size_t(index))
        declared = _TensorType()
        self._library.call("LiteRtGetRankedTensorType", tensor, ctypes.byref(declared))
        if len(declared.shape) != len(fixed_shape(port)):
            raise Refused(
                Status.UNSUPPORTED,
                f"LiteRT's compiled model has '{port.name}' as {declared.shape}, its interpreter as {port.shape}",
            )
        return declared

    def _tensors(self, kind: str, ports: Sequence[Port]) -> list[_Tensor]:
        count = self._library.count(f"LiteRtGetNumSubgraph{kind}s", self._graph)
        if count != len(ports):
            raise Refused(
                Status.UNSUPPORTED, f"LiteRT's compiled model has {count} {kind.lower()}s, its interpreter {len(ports)}"
            )
        return [self._tensor(kind, index, port) for index, port in enumerate(ports)]

    def _tensor(self, kind: str, index: int, port: Port) -> _Tensor:
        library, shape = self._library, fixed_shape(port)
        declared = self._type(kind, index, port)
        declared.layout.dimensions[: len(shape)] = shape
        numbers = ctypes.c_size_t(self._signature), ctypes.c_size_t(index)
        needs = library.made(f"LiteRtGetCompiledModel{kind}BufferRequirements", self._compiled, *numbers)
        made = "LiteRtCreateManagedTensorBufferFromRequirements"
        buffer = self._own_made(made, "TensorBuffer", self._environment, ctypes.byref(declared), needs)
        address = library.made("LiteRtGetTensorBufferHostMemory", buffer).value
        size_bytes = math.prod(shape) * np.dtype(port.dtype).itemsize
        if address is None or library.count("LiteRtGetTensorBufferSize", buffer) < size_bytes:
            raise Refused(
                Status.UNSUPPORTED, f"LiteRT's compiled model has no room of {size_bytes} B for '{port.name}'"
            )
        memory = memoryview((ctypes.c_uint8 * size_bytes).from_address(address))
        return _Tensor(buffer, np.frombuffer(memory, port.dtype).reshape(shape))


def _handles(tensors: list[_Tensor]) -> tuple[ctypes.c_size_t, ctypes.Array[ctypes.c_void_p]]:
    return ctypes.c_size_t(len(tensors)), (ctypes.c_void_p * len(tensors))(*(tensor.buffer for tensor in tensors))


def _event(data: _EventData) -> Event:
    tag = (data.tag or b"").decode(errors="replace")
    return Event(tag, data.type, data.start_us, data.elapsed_us, data.metadata, data.more_metadata)
