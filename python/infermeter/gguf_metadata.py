"""What a GGUF file says of itself, read without llama.cpp and without belief in it: every count and length is compared with the
file's size. The format is that of ggml's docs/gguf.md, versions 2 and 3."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from infermeter.backend import Refused, Status

Value = int | float | bool | str | np.ndarray  # of an array of texts: how many there are, as an int

_SCALARS = {0: "B", 1: "b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "?", 10: "<Q", 11: "<q", 12: "<d"}
_NUMBERS = {0: "u1", 1: "i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8"}
_TEXT, _ARRAY = 8, 9
TOKENS = "tokenizer.ggml.tokens"
_LONGEST_KEY = 65535
_MOST_TEXTS = 20_000_000

# llama.cpp's enum llama_ftype; where a model has several types, the name is of the mixture.
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE", 39: "NVFP4", 40: "Q1_0",
}  # fmt: skip


def gguf_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if is_gguf(file))


def is_gguf(file: Path) -> bool:
    return file.suffix.lower() == ".gguf"


class _Reader:
    def __init__(self, data: mmap.mmap, name: str) -> None:
        self._data, self._name, self._place = data, name, 0

    def refuse(self, why: str) -> Refused:
        return Refused(Status.MODEL_ERROR, f"the GGUF file {self._name} is broken: {why}")

    def _take(self, size: int) -> int:
        begin = self._place
        if size > len(self._data) - begin:
            raise self.refuse(f"its metadata need {size} bytes at byte {begin}, and it has {len(self._data)}")
        self._place += size
        return begin

    def number(self, code: str) -> int:
        value: int = struct.unpack_from(code, self._data, self._take(struct.calcsize(code)))[0]
        return value

    def text(self) -> str:
        size = self.number("<Q")
        begin = self._take(size)
        return self._data[begin : begin + size].decode("utf-8", "replace")

    def value(self, kind: int, key: str) -> Value:
        if kind in _SCALARS:
            return self.number(_SCALARS[kind])
        if kind == _TEXT:
            return self.text()
        if kind != _ARRAY:
            raise self.refuse(f"its metadata have a value of type {kind}, which GGUF does not know")
        kind, count = self.number("<I"), self.number("<Q")
        if kind in _NUMBERS:
            dtype = np.dtype(_NUMBERS[kind])
            return np.frombuffer(self._data, dtype, count, self._take(count * dtype.itemsize)).copy()
        if kind != _TEXT or count > _MOST_TEXTS:
            raise self.refuse(f"its metadata have an array of {count} values of type {kind}")
        texts = set()
        for _ in range(count):
            size = self.number("<Q")
            begin = self._take(size)
            if key == TOKENS:
                texts.add(self._data[begin : begin + size])
        if key == TOKENS and len(texts) != count:  # llama.cpp ends the process
            raise self.refuse("its vocabulary has a token twice")
        return count


def read_metadata(file: Path) -> dict[str, Value]:
    """Keys and values; arrays of texts as their length."""
    try:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(data, file.name)
    except (OSError, ValueError) as error:
        raise Refused(Status.MODEL_ERROR, f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from error


def _read(data: mmap.mmap, name: str) -> dict[str, Value]:
    if data[:4] != b"GGUF":
        raise Refused(Status.MODEL_ERROR, f"{name} is not a GGUF file: it does not begin with GGUF")
    reader = _Reader(data, name)
    reader.number("<I")
    version = reader.number("<I")
    if version not in (2, 3):
        raise reader.refuse(f"its version is {version}, and 2 and 3 are known")
    reader.number("<Q")  # tensors
    values: dict[str, Value] = {}
    for _ in range(reader.number("<Q")):
        key = reader.text()
        if len(key) > _LONGEST_KEY or key in values:
            raise reader.refuse(f"its metadata have the key {key!r:.60} {'twice' if key in values else 'that is too long'}")
        values[key] = reader.value(reader.number("<I"), key)
    return values


def size_of(values: Mapping[str, Value], key: str, name: str) -> int:
    """A number above 0 that must be there."""
    value = values.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31:
        return value
    said = "does not say" if value is None else f"has {value!r:.40} as"
    raise Refused(Status.MODEL_ERROR, f"the GGUF file {name} is broken: it {said} {key}, which must be a number above 0")


def weights_of(values: Mapping[str, Value]) -> str:
    """The type of the weights, as llama.cpp's files are named after it."""
    kind = values.get("general.file_type")
    return _FILE_TYPES.get(kind, f"type {kind}") if isinstance(kind, int) else "unknown"
