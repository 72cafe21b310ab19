"""LiteRT, formerly TensorFlow Lite: .tflite files; the zoo's are written by infermeter_make_litert.py."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from infermeter.backend import Environment, Info, Load, Option, Port, Refused, Status
from infermeter.checks import flag, framework, refuse_what_is_not_offered, thread_count
from infermeter.litert_native import MOST_EVENTS, Library, ProfiledModel
from infermeter.litert_operators import inferences_in, operators_of, refuse_other_graph, write_operators
from infermeter.ports import fixed_shape, sized

DELEGATE = "DELEGATE"  # the name of the node that stands for what a delegate took over
OPTIONS = (Option("xnnpack", "true|false", "operators by XNNPACK where it has them; default true"),)


def open_runtime(environment: Environment) -> Runtime:
    interpreter = "ai_edge_litert.interpreter"
    return Runtime(framework(environment, interpreter, "LiteRT", setup="litert", pip="ai-edge-litert"))


class Runtime:
    def __init__(self, module: Any) -> None:
        self._module = module
        self.info = Info(
            name="litert",
            runtime_name="LiteRT",
            runtime_version=importlib.metadata.version("ai-edge-litert"),
            library=str(Path(module.__file__).parent),
            model_formats=("tflite", "zoo"),
            devices=("cpu",),
            dtypes=("float32",),
            options=OPTIONS,
        )

    def load(self, load: Load) -> Session:
        refuse_what_is_not_offered(self.info, load)
        uses_xnnpack = flag(self.info, load, "xnnpack", True)
        resolvers = self._module.OpResolverType
        resolver = resolvers.AUTO if uses_xnnpack else resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        try:
            interpreter = self._module.Interpreter(
                load.model, num_threads=thread_count(load), experimental_op_resolver_type=resolver
            )
        except (ValueError, RuntimeError) as error:
            raise _refused(f"{load.model} cannot be read as a model of LiteRT", error) from error
        if not load.profile_folder:
            return Session(interpreter, load)
        return ProfiledSession(interpreter, load, self.info, uses_xnnpack)


class Session:
    def __init__(self, interpreter: Any, load: Load) -> None:
        self._interpreter = interpreter
        self._load = load
        self.inputs = sized([_declared(tensor, load) for tensor in interpreter.get_input_details()], load)
        self._resize()
        self.outputs = [_port(tensor) for tensor in interpreter.get_output_details()]

    def compile(self) -> None:
        """Plans the memory, and lets the delegate make its own of the operators and weights."""
        try:
            self._interpreter.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            raise _refused(f"{self._load.model} cannot be prepared", error, _hint(str(error))) from error
        self.outputs = [_port(tensor, is_planned=True) for tensor in self._interpreter.get_output_details()]

    def bind(self, arrays: list[np.ndarray]) -> Callable[[], object]:
        for details, array in zip(self._interpreter.get_input_details(), arrays, strict=True):
            # Written where the runtime reads it; no view may be left when it runs.
            np.copyto(self._interpreter.tensor(details["index"])(), array, casting="no")
        return self._interpreter.invoke

    def values(self, result: object) -> list[np.ndarray]:
        return [self._interpreter.get_tensor(details["index"]) for details in self._interpreter.get_output_details()]

    def executed(self) -> dict[str, str]:
        # Not public, and the only place that shows what the delegate took.
        nodes = self._interpreter._get_ops_details()
        parts = [node for node in nodes if node["op_name"] == DELEGATE]
        return {
            "dtype": self._load.dtype,
            "threads": str(thread_count(self._load)),
            "device": "cpu",
            "provider": "xnnpack" if parts else "builtin",
            "operators": str(len(nodes) - len(parts)),
            "delegated_operators": str(len(_delegated(nodes))),
            "delegated_parts": str(len(parts)),
        }

    def _resize(self) -> None:
        for details, port in zip(self._interpreter.get_input_details(), self.inputs, strict=True):
            shape = fixed_shape(port)
            if shape != tuple(details["shape"]):
                self._interpreter.resize_tensor_input(details["index"], shape, strict=True)


class ProfiledSession(Session):
    """The interpreter cannot be profiled from Python: what is compiled by LiteRT's C API runs in its place, with the
    same delegate and threads. Where that cannot be, the interpreter runs and there is no profile."""

    def __init__(self, interpreter: Any, load: Load, info: Info, uses_xnnpack: bool) -> None:
        super().__init__(interpreter, load)
        self._info = info
        self._uses_xnnpack = uses_xnnpack
        self._model: ProfiledModel | None = None
        self._why_not: Refused | None = None
        self._steps = 0

    def compile(self) -> None:
        super().compile()
        try:
            library = Library(Path(self._info.library), self._info.runtime_version)
            threads = thread_count(self._load)
            self._model = ProfiledModel(
                library, self._load.model, threads, self._uses_xnnpack, self.inputs, self.outputs
            )
        except Refused as refused:
            self._why_not = refused

    def bind(self, arrays: list[np.ndarray]) -> Callable[[], object]:
        if self._model is None:
            return super().bind(arrays)
        for place, array in zip(self._model.inputs, arrays, strict=True):
            np.copyto(place, array, casting="no")
        step = self._model.step()

        def counted() -> None:
            self._steps += 1
            step()

        return counted

    def values(self, result: object) -> list[np.ndarray]:
        return super().values(result) if self._model is None else [array.copy() for array in self._model.outputs]

    def profile_begin(self, folder: str) -> None:
        if self._model is None:
            raise self._why_not or Refused(Status.INVALID_ARGUMENT, "the model has not been compiled")
        self._steps = 0
        self._model.start()

    def profile_end(self, folder: str) -> None:
        assert self._model is not None
        steps, events = self._steps, self._model.stop()
        inferences = inferences_in(events)
        if not inferences:
            raise Refused(Status.RUN_ERROR, "LiteRT's profiler reported no inference")
        nodes = {node["index"]: node for node in self._interpreter._get_ops_details()}
        taken = _delegated(list(nodes.values()))
        left = {index: node for index, node in nodes.items() if index not in taken and node["op_name"] != DELEGATE}
        refuse_other_graph(inferences[0], {index: node["op_name"] for index, node in left.items()})
        is_full = len(events) >= MOST_EVENTS
        made = operators_of(inferences[:-1] if is_full else inferences, left, self._activations(nodes))
        made.cut = made.cut or is_full
        write_operators(Path(folder), self._info.runtime_version, steps, made)

    def _activations(self, nodes: dict[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
        """The tensors that are no constants."""
        inputs = {details["index"] for details in self._interpreter.get_input_details()}
        known = inputs | {int(output) for node in nodes.values() for output in node["outputs"]}
        tensors = {details["index"]: details for details in self._interpreter.get_tensor_details()}
        return {index: details for index, details in tensors.items() if index in known}

    def close(self) -> None:
        if self._model is not None:
            self._model.close()


def _port(details: dict[str, Any], is_planned: bool = False) -> Port:
    signature = details["shape"] if is_planned else details["shape_signature"]
    if not len(signature):  # an older file has no signature, and a scalar none either
        signature = details["shape"]
    name = np.dtype(details["dtype"]).name
    if name in ("bytes", "object", "str"):
        raise Refused(Status.UNSUPPORTED, f"'{details['name']}' holds texts; only numbers can be given to LiteRT here")
    return Port(details["name"], name, tuple(int(size) if size >= 0 else None for size in signature))


def _declared(details: dict[str, Any], load: Load) -> Port:
    """An input of a model of the zoo has its batch in front: the file was made for that size."""
    port = _port(details)
    return dataclasses.replace(port, shape=("batch", *port.shape[1:])) if load.zoo_name and port.shape else port


def _delegated(nodes: list[dict[str, Any]]) -> set[int]:
    """The nodes that a delegate computes instead: those between what it takes and what it gives."""
    maker = {int(output): node for node in nodes if node["op_name"] != DELEGATE for output in node["outputs"]}
    found: set[int] = set()
    for part in (node for node in nodes if node["op_name"] == DELEGATE):
        taken = {int(tensor) for tensor in part["inputs"]}
        tensors = [int(tensor) for tensor in part["outputs"]]
        while tensors:
            tensor = tensors.pop()
            node = maker.get(tensor)
            if tensor in taken or node is None or node["index"] in found:
                continue
            found.add(node["index"])
            tensors += (int(source) for source in node["inputs"])
    return found


def _hint(message: str) -> str:
    if "Select TensorFlow op" in message or "custom op" in message:
        return " (operators of TensorFlow's own and custom ones are not in LiteRT: convert the model without them)"
    return ""


def _refused(what: str, error: Exception, hint: str = "") -> Refused:
    return Refused(Status.MODEL_ERROR, f"{what}: {' '.join(str(error).split())[:400]}{hint}")
