"""Objects of this process as subjects: measured here, by the loop that workers use, and reported by the same reports.
What a process of its own gives is missing, and every record says so."""

from __future__ import annotations

import itertools
import os
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from infermeter import factory
from infermeter.backend import Port, Runtime, Session
from infermeter.batches import Key, taken_apart
from infermeter.errors import ModelError, UsageError
from infermeter.factory import Counters
from infermeter.outputs import named_parts
from infermeter.settings import TrialSettings

if TYPE_CHECKING:
    from infermeter._core import AccuracyTally
    from infermeter.record import Record


@dataclass
class LiveSubject:
    """One object, as the compiled part takes it."""

    place: str  # what the runtime loads: "infermeter.live:NAME"
    opener: Callable[[str, str], Runtime]
    inputs: list[Any] | None  # arrays; None: as the plan says
    error: BaseException | None = None  # what it raised
    accuracy: AccuracyTally | None = None  # what was found of it beforehand


def backend_of(model: object, inputs: Sequence[object]) -> str:
    """The framework that an object belongs to, told without importing any."""
    torch = sys.modules.get("torch")
    if torch is not None and (isinstance(model, torch.nn.Module) or any(map(torch.is_tensor, inputs))):
        return "pytorch"
    jax = sys.modules.get("jax")
    nnx = sys.modules.get("flax.nnx")
    if nnx is not None and isinstance(model, nnx.Module):
        return "jax"
    if jax is not None and any(isinstance(value, jax.Array) for value in inputs):
        return "jax"
    return "python"


def run_live(
    models: Mapping[str, object] | Callable[..., object],
    inputs: object,
    *,
    counters: Mapping[str, Counters] | None = None,
    accuracy: Mapping[str, AccuracyTally] | None = None,
    **settings: Unpack[TrialSettings],
) -> Record:
    """Measures objects beside each other, the first as the baseline: a dict by their names, or a single one. `inputs`: an
    array or tensor, or a list of them; or a dict of such, by the models' names. The first dimension of each is the batch,
    if it has others; `batch_axis` says otherwise: {"input": 1} (of several {"input_0": …}), or "none". `accuracy`: what was found of them beforehand (accuracy_of). `settings`: as for
    `infermeter.run` (warmup, iterations, …; processes: here the rounds). What the measurement changes in the process (train
    or eval mode, threads, gradients, random numbers) is put back, whatever happens. dtype, device and channels_last other
    than the model's own are measured on a copy of it; PyTorch's matmul precision and TF32 are the caller's, unless
    options={"matmul_precision": …} asks for others. `samples.executed` shows all of it."""
    import infermeter

    for key in _NOT_LIVE:
        if settings.get(key) is not None:
            raise UsageError(f"run_live measures objects of this process on the inputs that it is given: {key} has no meaning here")
    models = _by_name(models)
    if isinstance(inputs, Mapping) and (missing := [name for name in models if name not in inputs]):
        raise UsageError(f"there are no inputs for '{missing[0]}': give an array, or a dict with one for each model")
    subjects: list[dict[str, Any]] = []
    live: dict[str, LiveSubject] = {}
    with _as_before(models.values()), _registered() as register:
        for name, model in models.items():
            given = _listed(inputs[name] if isinstance(inputs, Mapping) else inputs)
            arrays = [as_array(value) for value in given]
            backend = backend_of(model, given)
            axes = _batch_axes(arrays, settings.get("batch_axis"))
            place = register(name, model, arrays, axes)
            _give_shapes(model, given)
            key = _key(name)
            live[key] = LiveSubject(
                place=place,
                opener=_opener(backend, (counters or {}).get(name)),
                inputs=arrays,
                accuracy=(accuracy or {}).get(name),
            )
            subjects.append(
                {"label": name, "model": key, "backend": backend, "group": 0}
                | {"batch_size": _items(arrays, axes)}
                | _as_it_is(model, backend)
                | _subject_settings(settings)
            )
        plan_settings: dict[str, Any] = {key: value for key, value in settings.items() if key not in _OF_SUBJECTS}
        record = infermeter.run(*subjects, live=live, **plan_settings)
    for name in models:
        record.errors[name] = live[_key(name)].error
    return record


def raise_error_of(record: Record) -> None:
    """What the first model that failed raised. The record forgets it: it would hold the frames that hold the record."""
    error = next((error for error in record.errors.values() if error is not None), None)
    record.errors.clear()
    if error is not None:
        raise error
    failed = next((samples for samples in record.samples if samples.end != "ok"), None)
    if failed is not None:
        raise ModelError(f"'{failed.label}': {failed.message}")


# What is of a process of its own, or is the caller's objects here.
_NOT_LIVE = ("env", "cpus", "data", "data_limit", "data_seed", "labels", "batch_sizes")
_OF_SUBJECTS = ("device", "dtype", "threads", "options", "batch_axis")


def _by_name(models: object) -> Mapping[str, object]:
    if isinstance(models, Mapping):
        return models
    if not callable(models):
        kind = type(models).__name__
        raise UsageError(f"run_live needs a model, or a dict of models by their names, and got an object of type {kind}")
    name = getattr(models, "__name__", None) or type(models).__name__
    return {name if name.isidentifier() else "model": models}


def _key(name: str) -> str:
    """What a record calls the model: the same in every run, so that runs can be compared."""
    return f"live:{name}"


def _batch_axes(arrays: Sequence[Any], asked: object) -> list[int | None]:
    """The dimension of each that is the batch: what is asked for, else the first one, if it is as large as that of the first
    array that has others behind it."""
    if asked is None:
        items = next((array.shape[0] for array in arrays if len(array.shape) > 1), None)
        return [0 if array.shape and array.shape[0] == items else None for array in arrays]
    by_name = asked if isinstance(asked, Mapping) else {}
    if not isinstance(asked, Mapping) and asked != "none":
        raise UsageError(f"batch_axis={asked!r}: give a dict of inputs, such as {{'input': 1}}, or 'none'")
    axes: list[int | None] = []
    for index, array in enumerate(arrays):
        name = _input_name(index, len(arrays))
        axis = by_name.get(name, "none")
        if axis != "none" and not (isinstance(axis, int) and 0 <= axis < len(array.shape)):
            raise UsageError(f"batch_axis of '{name}': {axis!r} is not a dimension of an array of shape {array.shape}")
        axes.append(None if axis == "none" else axis)
    return axes


def _items(arrays: Sequence[Any], axes: Sequence[int | None]) -> int:
    sizes = {int(array.shape[axis]) for array, axis in zip(arrays, axes, strict=True) if axis is not None}
    if len(sizes) > 1:
        raise UsageError(f"the inputs have different numbers of items at their batch axes: {sorted(sizes)}")
    return max(next(iter(sizes), 1), 1)


def _input_name(index: int, count: int) -> str:
    return "input" if count == 1 else f"input_{index}"


def _subject_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: settings[key] for key in _OF_SUBJECTS if settings.get(key) is not None}


def _as_it_is(model: object, backend: str) -> dict[str, Any]:
    """Device, precision and threads that the object has now: it is the user's, and is measured as it is."""
    found: dict[str, Any] = {}
    torch = sys.modules.get("torch")
    if backend != "pytorch" or torch is None:
        return found
    found["threads"] = torch.get_num_threads()
    parameters = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    if parameters:
        found["device"] = parameters[0].device.type
    # Of one whose weights are in several precisions, none is asked for.
    dtypes = {str(each.dtype).removeprefix("torch.") for each in parameters if each.is_floating_point()}
    if dtypes in ({"float16"}, {"bfloat16"}):
        found["dtype"] = dtypes.pop()
    return found


def _listed(inputs: object) -> list[object]:
    return list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]


def as_array(value: Any) -> Any:
    """What NumPy sees: of a tensor its bytes, copied only from another device."""
    import numpy as np

    torch = sys.modules.get("torch")
    if torch is not None and torch.is_tensor(value):
        value = value.detach().cpu()
        if value.dtype == torch.bfloat16:
            import ml_dtypes

            return value.contiguous().view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
        return value.numpy()
    return np.asarray(value)


def _give_shapes(model: Any, inputs: Sequence[object]) -> None:
    """A lazy module has no weights before its first call."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        return
    from infermeter.torch_weights import is_lazy

    if is_lazy(torch, model):
        model.eval()
        # Not in inference mode: what is made there can never be trained. What fails will fail again, and be reported.
        with torch.no_grad(), suppress(Exception):
            model(*_where(model, [torch.as_tensor(value) for value in inputs]))


def _opener(backend: str, counters: Counters | None) -> Callable[[str, str], Runtime]:
    from infermeter import _core, _host

    open_runtime = _host.opener_of(_core.plugin_path(backend))

    def opener(library: str, folder: str) -> Runtime:
        runtime: Runtime = open_runtime(library, folder)
        if counters is None:
            return runtime
        return _Counting(runtime, counters)

    return opener


class _Counting:
    """A runtime whose sessions also tell the user's own metrics."""

    def __init__(self, runtime: Runtime, counters: Counters) -> None:
        self.info = runtime.info
        self._runtime = runtime
        self._counters = counters

    def load(self, load: Any) -> Session:
        session = self._runtime.load(load)
        session.counters = factory.with_units(self._counters)  # type: ignore[attr-defined]
        return session


def like(given: Any, array: Any) -> Any:
    """`array` as what `given` is: a tensor on the same device, or an array."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.is_tensor(given):
        from infermeter.torch_arrays import tensor_of

        return tensor_of(torch, array).to(given.device)
    return array


def evaluated(model: Any, inputs: object) -> dict[str, Any]:
    """The outputs of one call, by name, in inference mode and where the model is; nothing that was set in the process or
    the model is left changed."""
    torch = sys.modules.get("torch")
    with _as_before([model]):
        if torch is None or not isinstance(model, torch.nn.Module):
            return _arrays_of(model(*_copies(inputs)))
        model.eval()
        with torch.inference_mode():
            return _arrays_of(model(*_listed(_where(model, _copies(inputs)))))


def accuracy_of(models: Mapping[str, Any], loader: Iterable[Any], key: Key | None = None) -> dict[str, AccuracyTally]:
    """Calls every model on every batch (inputs, truth) of `loader`, which is gone through once, and holds what they give
    against the truth: a class per row, or a mask per row. `key`: where the two are in a batch that is not a pair."""
    from infermeter import _core

    tallies = {name: _core.AccuracyTally() for name in models}
    batches = 0
    for batch in loader:
        inputs, labels = taken_apart(batch, key)
        if labels is None:
            raise UsageError("a batch for the accuracy is a pair: (inputs, labels); or say with key= where the two are")
        truth = as_array(labels)
        for name, model in models.items():
            outputs = list(evaluated(model, inputs).values())
            if len(truth.shape) == 1:
                tallies[name].add(outputs, truth.tolist())
            else:
                tallies[name].add_mask(outputs, truth)
        batches += 1
    if batches == 0:
        raise UsageError("the loader gave no batch to tell the accuracy from")
    return tallies


def device_of(model: Any) -> str:
    """The device that a model's weights are on: "cpu", "cuda:0"."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        return "cpu"
    tensor = next((tensor for tensors in (model.parameters(), model.buffers()) for tensor in tensors), None)
    return "cpu" if tensor is None else str(tensor.device)


def _where(model: Any, inputs: Any) -> Any:
    """Tensors on the device that the model is on."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        return inputs
    device = device_of(model)
    values: list[Any] = _listed(inputs)
    moved = [value.to(device) if torch.is_tensor(value) else value for value in values]
    return moved if isinstance(inputs, (list, tuple)) else moved[0]


def _arrays_of(result: object) -> dict[str, Any]:
    """Copies: a model may give what it was given, or write its next result to the same place."""
    import numpy as np

    return {name: np.array(as_array(part)) for name, part in named_parts(result)}


def _copies(inputs: object) -> list[Any]:
    """Models may write to their inputs, which are the caller's."""
    import numpy as np

    torch = sys.modules.get("torch")

    def copy(value: Any) -> Any:
        if torch is not None and torch.is_tensor(value):
            return value.clone()
        return value.copy() if isinstance(value, np.ndarray) else value

    return [copy(value) for value in _listed(inputs)]


_numbers = itertools.count()


@contextmanager
def _registered() -> Iterator[Callable[[str, object, Sequence[Any], Sequence[int | None]], str]]:
    """Gives what registers objects, for as long as they are measured, and tells what the runtime is to load. Their names there are
    their own: others may be measured meanwhile, by another thread or by a metric, and be called the same."""
    names = []

    def register(name: str, model: object, arrays: Sequence[Any], axes: Sequence[int | None]) -> str:
        if not callable(model):
            kind = type(model).__name__
            raise UsageError(f"'{name}' is an object of type {kind}, which cannot be called: give a function")
        ports = [_port(_input_name(i, len(arrays)), arrays[i], axis) for i, axis in enumerate(axes)]
        own_name = re.sub("^[0-9]|[^A-Za-z0-9_]", "_", name) + f"_{next(_numbers)}"
        factory.live_objects[own_name] = factory.Model(model, ports)
        names.append(own_name)
        return f"{factory.LIVE}:{own_name}"

    try:
        yield register
    finally:
        for name in names:
            del factory.live_objects[name]


def _port(name: str, array: Any, batch_axis: int | None) -> Port:
    shape = tuple("batch" if axis == batch_axis else int(size) for axis, size in enumerate(array.shape))
    return Port(name, array.dtype.name, shape)


@contextmanager
def _as_before(models: Any) -> Iterator[None]:
    """Puts back what measuring and models change in this process: random numbers, how many threads the environment asks for, and
    what PyTorch keeps globally or in modules."""
    import numpy as np

    python_state, numpy_state = random.getstate(), np.random.get_state()
    threads = {name: os.environ.get(name) for name in factory.THREAD_VARIABLES}
    restore_torch = _torch_state(models)
    try:
        yield
    finally:
        for name, value in threads.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        restore_torch()


def _torch_state(models: Any) -> Callable[[], None]:
    torch = sys.modules.get("torch")
    if torch is None:
        return lambda: None
    modules = [part for model in models if isinstance(model, torch.nn.Module) for part in model.modules()]
    training = [(module, module.training) for module in modules]
    random_state = torch.get_rng_state()
    cuda_states = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    threads, gradients = torch.get_num_threads(), torch.is_grad_enabled()

    def restore() -> None:
        for module, was_training in training:
            module.training = was_training
        torch.set_rng_state(random_state)
        if cuda_states is not None:
            torch.cuda.set_rng_state_all(cuda_states)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(gradients)

    return restore
