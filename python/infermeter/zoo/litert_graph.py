"""Graph: a .tflite file in the making. Tensors are of float32 and every shape is fixed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

SCHEMA_VERSION = 3
FILE_IDENTIFIER = b"TFL3"
# What the runtime maps into memory begins where vector instructions like it.
BUFFER_ALIGNMENT_BYTES = 16
PLACEHOLDER_FOR_GREATER_CODES = 127

Operator = schema.BuiltinOperator
Options = schema.BuiltinOptions
_TYPES = {np.dtype(np.float32): schema.TensorType.FLOAT32, np.dtype(np.int32): schema.TensorType.INT32}


@dataclass(frozen=True)
class Tensor:
    index: int
    shape: tuple[int, ...]


@dataclass
class _Buffer:
    """In place of schema.BufferT, which does not align what it packs."""

    array: np.ndarray

    def Pack(self, builder: flatbuffers.Builder) -> int:
        size_bytes = self.array.nbytes
        data = 0
        if size_bytes > 0:
            builder.StartVector(1, size_bytes, BUFFER_ALIGNMENT_BYTES)
            builder.head -= size_bytes
            builder.Bytes[builder.head : builder.head + size_bytes] = self.array.reshape(-1).view(np.uint8).data
            data = builder.EndVector()
        schema.BufferStart(builder)
        if data:
            schema.BufferAddData(builder, data)
        end: int = schema.BufferEnd(builder)
        return end


class Graph:
    def __init__(self, name: str) -> None:
        self._subgraph = schema.SubGraphT(tensors=[], inputs=[], outputs=[], operators=[], name=name)
        self._codes: dict[tuple[int, int], int] = {}
        self._buffers = [_Buffer(np.zeros(0, np.uint8))]  # the first stands for "none"

    def input(self, name: str, shape: Sequence[int]) -> Tensor:
        tensor = self._tensor(name, tuple(shape), np.dtype(np.float32), buffer=0)
        self._subgraph.inputs.append(tensor.index)
        return tensor

    def constant(self, values: Any, dtype: type = np.float32) -> Tensor:
        array: np.ndarray = np.ascontiguousarray(values, dtype)
        self._buffers.append(_Buffer(array))
        return self._tensor(f"constant.{len(self._buffers) - 1}", np.shape(values), array.dtype, len(self._buffers) - 1)

    def integers(self, values: Iterable[int]) -> Tensor:
        return self.constant(list(values), np.int32)

    def operator(
        self, code: int, inputs: Sequence[Tensor], shape: Sequence[int], options: Any = None, version: int = 1
    ) -> Tensor:
        """`options`: the schema's object for this operator."""
        output = self._tensor(f"tensor.{len(self._subgraph.tensors)}", tuple(shape), np.dtype(np.float32), buffer=0)
        opcode = self._codes.setdefault((code, version), len(self._codes))
        kind = getattr(Options, type(options).__name__.removesuffix("T")) if options is not None else Options.NONE
        indices = [tensor.index for tensor in inputs]
        self._subgraph.operators.append(schema.OperatorT(opcode, indices, [output.index], kind, options))
        return output

    def finish(self, name: str, output: Tensor) -> None:
        self._subgraph.tensors[output.index].name = name
        self._subgraph.outputs.append(output.index)

    def write(self, file: str | Path) -> None:
        builder = flatbuffers.Builder(sum(buffer.array.nbytes for buffer in self._buffers) + (1 << 20))
        builder.Finish(self._model().Pack(builder), file_identifier=FILE_IDENTIFIER)
        # The finished part of the builder's own memory: Output() would copy it.
        Path(file).write_bytes(memoryview(builder.Bytes)[builder.Head() :])

    def _model(self) -> schema.ModelT:
        codes = [
            schema.OperatorCodeT(min(code, PLACEHOLDER_FOR_GREATER_CODES), None, version, code)
            for code, version in self._codes
        ]
        return schema.ModelT(SCHEMA_VERSION, codes, [self._subgraph], "written by infermeter", self._buffers)

    def _tensor(self, name: str, shape: tuple[int, ...], dtype: np.dtype, buffer: int) -> Tensor:
        tensors = self._subgraph.tensors
        tensors.append(schema.TensorT(shape=list(shape), type=_TYPES[dtype], buffer=buffer, name=name))
        return Tensor(len(tensors) - 1, shape)
