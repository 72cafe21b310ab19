"""PyTorch, eager or through torch.compile. What can be loaded: infermeter/torch_models.py."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from infermeter.backend import Environment, Info, Load, Option, Port, Refused, Status
from infermeter.checks import flag, framework, need, refuse_what_is_not_offered, thread_count
from infermeter.factory import INPUT_SHAPE, Model, counted, is_live
from infermeter.generation import FORMAT, GenerationSession, ScoringSession, is_language_model
from infermeter.generation import OPTIONS as GENERATION_OPTIONS
from infermeter.ports import fixed_shape, floating_type
from infermeter.torch_arrays import array_of, tensor_of, tensors_in, zeros
from infermeter.torch_copies import changed_copy, channels_last, place_of
from infermeter.torch_generation import load_language_model, refuse_options_of_language_models
from infermeter.torch_models import FACTORY, read_model
from infermeter.torch_precision import Float32Precision, cudnn_tf32, matmul_precision
from infermeter.torch_pruned import PRUNE, PRUNE_HOW, pruned
from infermeter.torch_quantized import quantized
from infermeter.torch_weights import Weights

if TYPE_CHECKING:
    import torch

OPTIONS = (
    Option("compile", "true|false", "compile with torch.compile and its Inductor; default false"),
    Option(
        "channels_last",
        "true|false",
        "keep images, volumes and the weights of convolutions channels-last; default false",
    ),
    Option("autocast", "true|false", "weights stay float32, torch.autocast chooses by operator; default false"),
    Option("quantize", "none|dynamic", "dynamic: int8 weights in Linear layers, whose inputs are quantised as they come"),
    Option(PRUNE, "0…1", "this share of the smallest weights of convolutions and Linear layers is set to 0; default 0"),
    Option(PRUNE_HOW, "unstructured|structured", "single weights, or whole output channels; default unstructured"),
    Option("tensorrt", "true|false", "refused where it is asked for: this back end does not use TensorRT"),
    Option(
        "matmul_precision",
        "highest|high|medium",
        "how float32 matrices are multiplied; high and medium allow TF32 on CUDA; default highest, of live objects as it is",
    ),
    Option("grad", "true|false", "run with gradients, as in training; default false: inference mode"),
    Option(FACTORY, "FILE.py:make", "makes the model whose weights a .ckpt, .pt or .pth file contains"),
    Option(INPUT_SHAPE, "1x3x224x224", "sizes of the inputs, where the model does not declare them; of the zoo's convolutional networks, other ones"),
    *GENERATION_OPTIONS,
)


def open_runtime(environment: Environment) -> Runtime:
    is_ours = "torch" not in sys.modules
    torch = framework(environment, "torch", "PyTorch", setup="pytorch", pip="torch")
    if is_ours:
        _one_thread_between_operators(torch)
    return Runtime(torch, environment.folder)


def _one_thread_between_operators(torch: Any) -> None:
    # Can be said once in a process, and not taken back: in a program of somebody else's it stays as it is.
    try:
        torch.set_num_interop_threads(1)
    except RuntimeError:
        pass  # `executed` shows how many there are


class Runtime:
    def __init__(self, torch: Any, folder: str) -> None:
        self._torch = torch
        self._folder = folder
        devices = ["cpu"]
        if torch.cuda.is_available():
            devices.append("cuda")
        if torch.backends.mps.is_available():
            devices.append("mps")
        self.info = Info(
            name="pytorch",
            runtime_name="PyTorch",
            runtime_version=torch.__version__,
            library=str(Path(torch.__file__).parent),
            model_formats=("zoo", "python", "pt", "pth", "pt2", "ckpt", FORMAT),
            devices=tuple(devices),
            dtypes=("float32", "float16", "bfloat16"),
            options=OPTIONS,
        )

    def load(self, load: Load) -> Session | GenerationSession | ScoringSession:
        refuse_what_is_not_offered(self.info, load)
        if is_language_model(load):
            return load_language_model(self._torch, self.info, load)
        refuse_options_of_language_models(load)
        settings = _settings(self.info, load)
        torch = self._torch
        model = read_model(torch, self._folder, self.info, load)
        if settings.compiles and isinstance(model.callable, torch.jit.ScriptModule):
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"torch.compile leaves TorchScript as it is: give compile=false, or a factory that makes {load.model}",
            )
        modes = Modes(torch, model.callable if is_live(load.model) else None)
        prepared, changes = _prepared(torch, pruned(torch, model.callable, load), load, settings)
        model = Model(prepared, model.inputs, model.outputs, model.counters)
        kind = CompiledSession if settings.compiles else Session
        return counted(kind(torch, load, model, settings, changes, modes), model)


@dataclass(frozen=True)
class Settings:
    compiles: bool
    channels_last: bool
    autocast: bool
    quantizes: bool
    matmul_precision: str  # empty: as it is
    grad: bool


def _settings(info: Info, load: Load) -> Settings:
    settings = Settings(
        compiles=flag(info, load, "compile", False),
        channels_last=flag(info, load, "channels_last", False),
        autocast=flag(info, load, "autocast", False),
        quantizes=_quantizes(load),
        matmul_precision=_matmul_precision(load),
        grad=flag(info, load, "grad", False),
    )
    if flag(info, load, "tensorrt", False):
        raise Refused(
            Status.UNSUPPORTED,
            "there is no TensorRT here: it takes an NVIDIA GPU and a runtime that this back end does not use; leave out "
            "tensorrt=true",
        )
    if settings.autocast and load.dtype == "float32":
        raise Refused(
            Status.INVALID_ARGUMENT,
            "autocast=true lets operators compute in another type than float32: give --dtype float16 or bfloat16",
        )
    if load.dtype == "bfloat16":
        need("ml_dtypes", "dtype bfloat16, which NumPy lacks,", setup="pytorch")
    return settings


def _matmul_precision(load: Load) -> str:
    value = load.options.get("matmul_precision", "" if is_live(load.model) else "highest")
    if value not in ("", "highest", "high", "medium"):
        raise Refused(
            Status.INVALID_ARGUMENT,
            f"pytorch cannot use matmul_precision={value}; give matmul_precision=highest, high or medium",
        )
    return value


def _quantizes(load: Load) -> bool:
    value = load.options.get("quantize", "none")
    if value not in ("none", "dynamic"):
        raise Refused(Status.INVALID_ARGUMENT, f"pytorch cannot use quantize={value}; give quantize=none or dynamic")
    if value == "none":
        return False
    if load.device != "cpu":
        raise Refused(
            Status.UNSUPPORTED, f"quantize=dynamic computes on the CPU only, and not on {load.device}: give device=cpu"
        )
    if load.dtype != "float32" and load.options.get("autocast") not in ("true", "1"):
        raise Refused(
            Status.UNSUPPORTED,
            f"quantize=dynamic takes float32 weights, and {load.dtype} would convert them first: leave out --dtype, or "
            "give autocast=true",
        )
    return True


def _prepared(torch: Any, call: Callable[..., Any], load: Load, settings: Settings) -> tuple[Any, list[str]]:
    """The model in inference mode, on its device and in its precision; and what of a live object was changed for it, in
    a copy."""
    converts = load.dtype != "float32" and not settings.autocast
    if not isinstance(call, torch.nn.Module):
        if converts:
            raise Refused(
                Status.UNSUPPORTED,
                f"PyTorch cannot convert a {type(call).__name__} to {load.dtype}, only a torch.nn.Module: return one, "
                "or give autocast=true",
            )
        return (quantized(torch, call) if settings.quantizes else call), []
    dtype = load.dtype if converts else ""
    changes: list[str] = []
    is_users = is_live(load.model)
    if is_users:
        call, changes = changed_copy(torch, call, load.device, dtype, settings.channels_last)
    try:
        call.eval()
    except NotImplementedError:
        pass  # what was exported is as it was then, and cannot be switched
    if changes or not is_users:
        call = call.to(load.device)
    if converts:
        call = call.to(getattr(torch, dtype))
    if settings.channels_last:
        for tensor in (*call.parameters(), *call.buffers()):
            tensor.data = channels_last(torch, tensor.data)
    return (quantized(torch, call) if settings.quantizes else call), changes


class ProcessState:
    """What is set for all of the process or the thread. `restore` puts back what was there."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._threads = torch.get_num_threads()
        self._precision: Float32Precision | None = None  # where it is set
        self._mode: Any = None

    def set(self, threads: int, matmul_precision: str) -> None:
        self._torch.set_num_threads(threads)
        if matmul_precision:
            self._precision = Float32Precision(self._torch)
            self._precision.set(matmul_precision)

    def enter_mode(self, grad: bool) -> None:
        """Entering it once and not at each call saves a microsecond of each."""
        if self._mode is None:
            self._mode = self._torch.enable_grad() if grad else self._torch.inference_mode()
            self._mode.__enter__()

    def restore(self) -> None:
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
            self._mode = None
        self._torch.set_num_threads(self._threads)
        if self._precision is not None:
            self._precision.restore()


class Modes:
    """Train or eval mode of a live module's parts, as it was when this was made. `restore` puts it back."""

    def __init__(self, torch: Any, call: Callable[..., Any] | None) -> None:
        self._parts = [(part, part.training) for part in call.modules()] if isinstance(call, torch.nn.Module) else []
        self.trains = any(trains for _, trains in self._parts)

    def restore(self) -> None:
        for part, trains in self._parts:
            part.training = trains


class Session:
    def __init__(
        self, torch: Any, load: Load, model: Model, settings: Settings, changes: list[str], modes: Modes
    ) -> None:
        self._torch = torch
        self._load = load
        self._module = model.callable
        self._call = model.callable
        self._settings = settings
        self._changes = changes
        self._modes = modes
        self._place = place_of(torch, model.callable, load.device)
        self._names = model.outputs
        self.inputs = model.inputs
        self.outputs = [Port(name, "", None) for name in model.outputs or ("output",)]
        self._profile: Any = None
        self._step: Callable[[], object] | None = None  # of a session that is profiled
        self._steps = itertools.count()
        self._named: list[Any] = []
        self._state = ProcessState(torch)
        self._state.set(thread_count(load), settings.matmul_precision)
        if load.device == "cuda":
            torch.cuda.reset_peak_memory_stats(self._place)

    def bind(self, arrays: list[np.ndarray]) -> Callable[[], object]:
        self._state.enter_mode(self._settings.grad)
        tensors = [self._tensor(array) for array in arrays]
        # Nothing in Python between the caller and the model.
        call = functools.partial(self._call, *tensors)
        if self._settings.autocast:
            call = self._autocasting(call)
        call = self._synchronised(call)
        if not self._load.profile_folder:
            return call
        self._step = self._annotated(call)
        return self._step

    def values(self, result: object) -> list[np.ndarray]:
        tensors = list(tensors_in(self._torch, result, "output"))
        if self._names and len(self._names) != len(tensors):
            raise Refused(
                Status.MODEL_ERROR,
                f"the model names {len(self._names)} outputs ({', '.join(self._names)}) and returned {len(tensors)}",
            )
        names = self._names or [name for name, _ in tensors]
        arrays = [array_of(self._torch, tensor) for _, tensor in tensors]
        self.outputs = [Port(name, array.dtype.name, array.shape) for name, array in zip(names, arrays, strict=True)]
        return arrays

    def executed(self) -> dict[str, str]:
        torch = self._torch
        reported = {"dtype": dtype} if (dtype := self._dtype()) else {}
        reported |= {
            "threads": str(torch.get_num_threads()),
            "inter_op_threads": str(torch.get_num_interop_threads()),
            "device": self._load.device,
            "provider": self._provider(),
            "matmul_precision": matmul_precision(torch),
            "channels_last": _text(self._settings.channels_last),
            "autocast": _text(self._settings.autocast),
        }
        if self._load.dtype == "float32" and not self._settings.autocast:
            reported["dtype_from"] = "model"  # nothing was converted
        if self._settings.grad:
            reported["grad"] = "true"
        if self._modes.trains:
            reported["mode"] = "eval; train before and afterwards"
        if self._changes:
            reported["measured_copy"] = ", ".join(self._changes)
        if isinstance(self._module, torch.nn.Module):
            weights = Weights.of(torch, self._module)
            reported["parameters"] = str(weights.count)
            reported["model_bytes"] = str(weights.size_bytes)
            if self._settings.quantizes:
                reported["quantize"] = f"dynamic: {weights.int8} of {weights.count} weights in int8"
                reported["quantized_engine"] = torch.backends.quantized.engine
        if self._load.device == "cpu":
            reported["instructions"] = torch.backends.cpu.get_cpu_capability()
        if self._load.device == "cuda":
            reported["device_name"] = torch.cuda.get_device_name(self._place)
            reported["cudnn_tf32"] = cudnn_tf32(torch)
            reported["cudnn_benchmark"] = _text(torch.backends.cudnn.benchmark)
        return reported

    def device_memory(self) -> tuple[int, int] | None:
        if self._load.device != "cuda":
            return None
        cuda = self._torch.cuda
        return cuda.memory_allocated(self._place), cuda.max_memory_allocated(self._place)

    def profile_begin(self, folder: str) -> None:
        self._named = self._named_operators(Path(folder)) if self._step else []
        profiler = self._torch.profiler
        activities = [profiler.ProfilerActivity.CPU]
        if self._load.device == "cuda":
            activities.append(profiler.ProfilerActivity.CUDA)
        self._profile = profiler.profile(activities=activities, record_shapes=True)
        self._steps = itertools.count()
        self._profile.start()

    def profile_end(self, folder: str) -> None:
        from infermeter.torch_operators import iterations_in, keep_trace, read_trace, write_operators

        self._profile.stop()
        file = Path(folder) / "torch.json"
        self._profile.export_chrome_trace(str(file))
        keep_trace(file)
        if self._load.device == "cpu":  # what a call takes that leaves the work to a device is not the work's time
            write_operators(Path(folder), self._torch.__version__, iterations_in(read_trace(file)), self._named)

    def _named_operators(self, folder: Path) -> list[Any]:
        torch = self._torch
        from infermeter.torch_operators import named_operators

        # Of what was compiled, modules are not called, and a hook would have it compiled again.
        is_eager = isinstance(self._call, torch.nn.Module) and self._provider() == "eager"
        return named_operators(torch, self._call, self._step, folder) if is_eager else []

    def close(self) -> None:
        self._state.restore()
        self._modes.restore()

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        torch = self._torch
        tensor = tensor_of(torch, array)
        if tensor.dtype == torch.float32 and not self._settings.autocast and self._load.dtype != "float32":
            tensor = tensor.to(getattr(torch, self._load.dtype))
        tensor = tensor.to(self._place)
        return channels_last(torch, tensor) if self._settings.channels_last and tensor.is_floating_point() else tensor

    def _autocasting(self, call: Callable[[], object]) -> Callable[[], object]:
        autocast, device, dtype = self._torch.autocast, self._load.device, getattr(self._torch, self._load.dtype)

        def step() -> object:
            # Entered at each call: outside of it, the converted weights would be kept from one call to the next.
            with autocast(device, dtype):
                return call()

        return step

    def _synchronised(self, call: Callable[[], object]) -> Callable[[], object]:
        if self._load.device == "cpu":
            return call
        of_device = getattr(self._torch, self._load.device).synchronize
        synchronize = functools.partial(of_device, self._place) if self._place.type == "cuda" else of_device

        def step() -> object:
            result = call()
            synchronize()
            return result

        return step

    def _annotated(self, call: Callable[[], object]) -> Callable[[], object]:
        record_function = self._torch.profiler.record_function

        def step() -> object:
            # The outer one is what readers of PyTorch's traces know a step by.
            with record_function(f"ProfilerStep#{next(self._steps)}"), record_function("infermeter_iteration"):
                return call()

        return step

    def _provider(self) -> str:
        return "torchscript" if isinstance(self._module, self._torch.jit.ScriptModule) else "eager"

    def _dtype(self) -> str:
        """Of most of the weights: a model may come in another precision than float32. Of the inputs where there are none; empty:
        it is not known."""
        torch = self._torch
        weights = Weights.of(torch, self._module) if isinstance(self._module, torch.nn.Module) else None
        if weights is not None and weights.int8 > weights.count / 2:
            return "int8"
        if self._settings.autocast:
            return self._load.dtype
        if weights is not None and weights.most_are:
            return weights.most_are
        of_inputs = floating_type(self.inputs)
        return self._load.dtype if of_inputs == "float32" else of_inputs  # which are converted


class CompiledSession(Session):
    def compile(self) -> None:
        shapes = [fixed_shape(port) for port in self.inputs]
        self._call = self._torch.compile(self._module)
        breaks = self._graph_breaks()
        # torch.compile compiles when it is first called, for the shapes and types that it is called with.
        try:
            with self._naming_kernels():
                self.bind([zeros(shape, port.dtype) for shape, port in zip(shapes, self.inputs, strict=True)])()
        except Exception as error:
            raise Refused(
                Status.MODEL_ERROR,
                f"torch.compile failed: {type(error).__name__}: {' '.join(str(error).split())[:400]} (it needs a C++ "
                "compiler and a temporary folder that it may write to; compile=false runs the model without it)",
            ) from error
        self._breaks = self._graph_breaks() - breaks

    def _naming_kernels(self) -> AbstractContextManager[Any]:
        """What Inductor compiled shows the profiler of its kernels only if it was compiled so."""
        if not self._load.profile_folder:
            return nullcontext()
        import torch._inductor.config as inductor

        patch: AbstractContextManager[Any] = inductor.patch({"cpp.enable_kernel_profile": True})
        return patch

    def executed(self) -> dict[str, str]:
        return super().executed() | {"graph_breaks": str(self._breaks)}

    def _provider(self) -> str:
        return "inductor"

    def _graph_breaks(self) -> int:
        return sum(self._torch._dynamo.utils.counters["graph_break"].values())


def _text(value: bool) -> str:
    return "true" if value else "false"
