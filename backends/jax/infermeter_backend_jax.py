"""JAX: Flax NNX definitions of the zoo, and factories that give a function of arrays or an NNX module; always compiled
by XLA."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from infermeter.backend import Environment, Info, Load, Option, Port, Refused, Status
from infermeter.checks import framework, need, refuse_outside_zoo, refuse_what_is_not_offered, thread_count
from infermeter.factory import INPUT_SHAPE, Model, counted, load_factory, model_of
from infermeter.ports import fixed_shape, floating_type

if TYPE_CHECKING:
    from collections.abc import Iterator

THREADS_VARIABLE = "PJRT_NPROC"  # how many threads XLA's client for CPUs starts, read when the client is made
THREAD_NAME = "tf_XLAEigen"  # what each of them is called
OPTIONS = (Option(INPUT_SHAPE, "1x3x224x224", "sizes of the inputs, where the model does not declare them; of the zoo's convolutional networks, other ones"),)


def open_runtime(environment: Environment) -> Runtime:
    return Runtime(framework(environment, "jax", "JAX", setup="jax", pip="jax"), environment.folder)


class Runtime:
    def __init__(self, jax: Any, folder: str) -> None:
        self._jax = jax
        self._folder = folder
        self.info = Info(
            name="jax",
            runtime_name="JAX",
            runtime_version=jax.__version__,
            library=str(Path(jax.__file__).parent),
            model_formats=("zoo", "python"),
            devices=_devices(),
            dtypes=("float32", "float16", "bfloat16"),
            options=OPTIONS,
        )

    def load(self, load: Load) -> Session:
        refuse_what_is_not_offered(self.info, load)
        device = _device(self._jax, load)
        with self._jax.default_device(device):
            model = self._read(load)
            return counted(Session(self._jax, device, load, model, _pure(self._jax, model.callable, load)), model)

    def _read(self, load: Load) -> Model:
        if not load.zoo_name:
            return model_of(load_factory(load.model, self._folder), load)
        for package in ("flax", "onnx"):
            need(package, f"the zoo's {load.zoo_name}", setup="jax")
        from infermeter.zoo import jax as zoo
        from infermeter.zoo.ports import asked_input
        from infermeter.zoo.weights import read_weights

        refuse_outside_zoo(self.info, load, zoo.names())
        module = zoo.build(load.zoo_name, read_weights(load.model))
        return Model(module, asked_input(load), ("output",))


def _devices() -> tuple[str, ...]:
    # Not asked of JAX: its answer would start the client for CPUs, before anybody said with how many threads.
    devices = ["cpu"]
    has_driver = any(Path(place).exists() for place in ("/dev/nvidiactl", "/dev/dxg"))
    if has_driver and any(importlib.util.find_spec(f"jax_cuda{major}_plugin") for major in (12, 13)):
        devices.append("cuda")
    if importlib.util.find_spec("libtpu") and any(Path("/dev").glob("accel*")):
        devices.append("tpu")
    return tuple(devices)


def _device(jax: Any, load: Load) -> Any:
    """The device, with the client for CPUs at the number of threads asked for."""
    wanted = thread_count(load)
    before = len(_thread_names())
    with _variable(THREADS_VARIABLE, str(wanted)):
        try:
            device = jax.devices(load.device)[0]
        except RuntimeError as error:
            raise Refused(
                Status.UNSUPPORTED, f"JAX cannot use device {load.device}: {' '.join(str(error).split())[:300]}"
            ) from error
    if len(_thread_names()) >= before + wanted:
        client.threads = wanted  # it has just been started, with what the variable says
    if client.count() != wanted:
        raise Refused(
            Status.UNSUPPORTED,
            f"JAX was started with threads={client.count() or 'unknown'} in this process, which cannot be changed, and "
            f"threads={wanted} was asked for: give another --threads, or start the program with "
            f"{THREADS_VARIABLE}={wanted}",
        )
    return device


class Client:
    """XLA's client for CPUs: one in a process. Neither it nor JAX shows how many threads it has."""

    threads = 0  # as we started it

    def count(self) -> int:
        # In a sandbox a thread may not be given a name by another one, which is how XLA does it.
        return _thread_names().count(THREAD_NAME) or self.threads


client = Client()


def _thread_names() -> list[str]:
    names = []
    for name in Path("/proc/self/task").glob("*/comm"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since it was listed
            names.append(name.read_text().strip())
    return names


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class PureFunction:
    """A function of weights and inputs; XLA compiles nothing else. `weights` is a flat list: a nested one would be
    taken apart at every call."""

    def __init__(self, call: Callable[..., Any], weights: list[Any], parameters: int | None) -> None:
        self.call = call
        self.weights = weights
        self.parameters = parameters


def _pure(jax: Any, model: Callable[..., Any], load: Load) -> PureFunction:
    if not _is_module(model):
        if load.dtype != "float32":
            raise Refused(
                Status.UNSUPPORTED,
                f"JAX cannot convert the arrays within a {type(model).__name__} to {load.dtype}, only those of a "
                "flax.nnx.Module: return one, or a function that computes so by itself and --dtype float32",
            )
        return PureFunction(lambda _, *inputs: model(*inputs), [], None)
    from flax import nnx

    model.eval()
    graph, state = nnx.split(model)
    leaves, structure = jax.tree.flatten(state)

    def call(weights: list[Any], *inputs: Any) -> Any:
        return nnx.merge(graph, jax.tree.unflatten(structure, weights))(*inputs)

    parameters = sum(leaf.size for leaf in jax.tree.leaves(nnx.state(model, nnx.Param)))
    return PureFunction(call, [_converted(jax, leaf, load.dtype) for leaf in leaves], parameters)


def _is_module(model: object) -> bool:
    # Who made an NNX module has imported Flax; nobody else needs it.
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(model, nnx.Module)


def _converted(jax: Any, array: Any, dtype: str) -> Any:
    """float32 parts in the precision asked for; others stay what they are."""
    return array.astype(dtype) if dtype != "float32" and array.dtype == jax.numpy.float32 else array


class Session:
    def __init__(self, jax: Any, device: Any, load: Load, model: Model, function: PureFunction) -> None:
        self._jax = jax
        self._device = device
        self._load = load
        self._names = model.outputs
        self._places: list[int] = []  # of the outputs among the leaves of a result
        self._function = function
        self._weights = jax.device_put(function.weights, device)
        self._compiled: Any = None
        self._returns_one_array = False
        self._trace: TemporaryDirectory[str]
        self.inputs = model.inputs
        self.outputs = [Port(name, load.dtype, None) for name in model.outputs or ("output",)]
        for port in self.inputs:
            self._refuse_other_type(port)

    def compile(self) -> None:
        jax = self._jax
        specs = [jax.ShapeDtypeStruct(fixed_shape(port), self._input_type(port.dtype)) for port in self.inputs]
        with jax.default_device(self._device), self._precision():
            try:
                self._compiled = jax.jit(self._function.call).lower(self._weights, *specs).compile()
            except Exception as error:
                raise Refused(
                    Status.MODEL_ERROR,
                    f"JAX cannot compile {self._load.zoo_name or self._load.model}: {type(error).__name__}: "
                    f"{' '.join(str(error).split())[:400]}",
                ) from error
        self.outputs = self._declared_outputs(self._compiled.out_info)

    def bind(self, arrays: list[np.ndarray]) -> Callable[[], object]:
        jax = self._jax
        inputs = [
            jax.device_put(np.asarray(array, self._input_type(array.dtype.name)), self._device) for array in arrays
        ]
        jax.block_until_ready(inputs)
        step = self._step(inputs)
        return self._annotated(step) if self._load.profile_folder else step

    def values(self, result: object) -> list[np.ndarray]:
        leaves = self._jax.tree.leaves(result)
        return [np.array(leaves[place]) for place in self._places]

    def executed(self) -> dict[str, str]:
        reported = {"dtype": dtype} if (dtype := self._dtype()) else {}
        reported |= {
            "threads": str(client.count()),
            "device": self._load.device,
            "device_name": self._device.device_kind,
            "provider": "xla",
            "matmul_precision": "highest" if self._asks_for_highest() else "default",
            "x64": "true" if self._jax.config.jax_enable_x64 else "false",
        }
        if self._load.dtype == "float32":
            reported["dtype_from"] = "model"  # nothing was converted
        if self._function.parameters is not None:
            reported["parameters"] = str(self._function.parameters)
            reported["model_bytes"] = str(sum(leaf.nbytes for leaf in self._function.weights))
        return reported

    def device_memory(self) -> tuple[int, int] | None:
        stats = self._device.memory_stats() if self._load.device != "cpu" else None
        return (stats["bytes_in_use"], stats["peak_bytes_in_use"]) if stats else None

    def profile_begin(self, folder: str) -> None:
        options = self._jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        # Beside the folder's files, in a folder that the host does not look into.
        self._trace = TemporaryDirectory(dir=folder)
        self._jax.profiler.start_trace(self._trace.name, profiler_options=options)

    def profile_end(self, folder: str) -> None:
        from infermeter.xla_operators import describe, operators_of, read_trace, write_operators

        self._jax.profiler.stop_trace()
        with self._trace as trace:
            recorded = read_trace(Path(trace))
        made = operators_of(recorded, describe(self._compiled.as_text() or ""))
        if not made.operators:
            raise Refused(Status.RUN_ERROR, f"XLA's trace names no operation on {self._load.device}")
        source = f"XLA's trace, JAX {self._jax.__version__}"
        write_operators(Path(folder), source, len(recorded.iterations), made, self._costs())

    def _costs(self) -> str:
        try:
            costs = self._compiled.cost_analysis() or {}
        except (NotImplementedError, RuntimeError):
            return ""
        if "flops" not in costs:
            return ""
        return f"XLA counts {costs['flops']:.0f} FLOPs and {costs.get('bytes accessed', 0):.0f} bytes accessed"

    def _step(self, inputs: list[Any]) -> Callable[[], object]:
        compiled, weights, wait = self._compiled, self._weights, self._jax.block_until_ready
        if not self._returns_one_array:
            return lambda: wait(compiled(weights, *inputs))
        if len(inputs) == 1:  # without unpacking
            (only,) = inputs
            return lambda: compiled(weights, only).block_until_ready()
        return lambda: compiled(weights, *inputs).block_until_ready()

    def _annotated(self, step: Callable[[], object]) -> Callable[[], object]:
        from infermeter.xla_operators import ITERATION

        annotation = self._jax.profiler.TraceAnnotation

        def annotated() -> object:
            with annotation(ITERATION):
                return step()

        return annotated

    def _declared_outputs(self, result: Any) -> list[Port]:
        jax = self._jax
        leaves = jax.tree_util.tree_flatten_with_path(result)[0]
        self._returns_one_array = jax.tree.structure(result) == jax.tree.structure(0)
        if self._names and len(self._names) != len(leaves):
            raise Refused(
                Status.MODEL_ERROR,
                f"the model names {len(self._names)} outputs ({', '.join(self._names)}) and returns {len(leaves)}",
            )
        # JAX sorts the keys of a dict: where they are the names, each name is of its own key.
        self._places = list(range(len(leaves)))
        keys = [_key(path[0]) for path, _ in leaves if len(path) == 1]
        if isinstance(result, dict) and len(keys) == len(leaves) and sorted(keys) == sorted(self._names or ()):
            self._places = [keys.index(name) for name in self._names]
        paths = ["output" + "".join(f".{_key(part)}" for part in path) for path, _ in leaves]
        names = self._names or paths
        sorted_leaves = [leaves[place][1] for place in self._places]
        return [Port(name, leaf.dtype.name, leaf.shape) for name, leaf in zip(names, sorted_leaves, strict=True)]

    def _asks_for_highest(self) -> bool:
        # On CPUs float32 is computed as float32; on accelerators XLA's default would be a shorter type.
        return self._load.device != "cpu" and self._load.dtype == "float32"

    def _precision(self) -> AbstractContextManager[Any]:
        return self._jax.default_matmul_precision("highest") if self._asks_for_highest() else nullcontext()

    def _input_type(self, dtype: str) -> Any:
        return self._jax.numpy.dtype(self._load.dtype if dtype == "float32" else dtype)

    def _refuse_other_type(self, port: Port) -> None:
        wide = port.dtype in ("int64", "uint64", "float64", "complex128")
        if wide and not self._jax.config.jax_enable_x64:
            raise Refused(
                Status.UNSUPPORTED,
                f"JAX would turn input '{port.name}' from {port.dtype} into the type of half its size: declare it so, "
                "or set JAX_ENABLE_X64=1",
            )

    def _dtype(self) -> str:
        """Of most of the weights: a model may come in another precision than float32. Of the inputs where there are none; empty:
        it is not known."""
        jax = self._jax
        counts: dict[str, int] = {}
        for leaf in self._weights:
            if jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating):
                counts[leaf.dtype.name] = counts.get(leaf.dtype.name, 0) + leaf.size
        of_inputs = floating_type(self.inputs)
        return max(counts, key=lambda name: counts[name], default=self._load.dtype if of_inputs == "float32" else of_inputs)


def _key(part: Any) -> object:
    """Of a step on a path into a tree: an index, a key or an attribute's name."""
    return next(getattr(part, kind) for kind in ("idx", "key", "name") if hasattr(part, kind))
