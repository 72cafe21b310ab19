"""What makes tokens of texts, and texts of tokens: the tokenizer that a language model came with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from infermeter.checks import need
from infermeter.gguf_metadata import is_gguf

_Made = TypeVar("_Made")


def tokenizer_of(model: Path) -> Path | None:
    """The file to read texts with, of a model's folder or of one of its files: tokenizer.json, else a GGUF file, which has one in it."""
    own = (model if model.is_dir() else model.parent) / "tokenizer.json"
    if own.exists():
        return own
    return model if is_gguf(model) and model.is_file() else None


def tokens_of(texts: Iterable[tuple[str, bool]], tokenizer: Path, what: str) -> list[list[int]]:
    """Of each text, whole; `True` beside it: with the tokens that the model wants before and behind a text. What is written as a
    special token is one. Refused without the package that `what` needs; ValueError with a sentence."""
    return _by(tokenizer, what, lambda loaded: [list(loaded.encode(text, special)) for text, special in texts])


def texts_of(rows: Iterable[list[int]], tokenizer: Path, what: str) -> list[str]:
    """Of each row of tokens; special ones as they are written, and U+FFFD for bytes that are not UTF-8. Refused as by tokens_of."""
    return _by(tokenizer, what, lambda loaded: [loaded.decode(row) for row in rows])


def _by(tokenizer: Path, what: str, use: Callable[[_File | _Vocabulary], _Made]) -> _Made:
    need("cyllama" if is_gguf(tokenizer) else "tokenizers", what, setup="generation")
    try:
        return use(_Vocabulary(tokenizer) if is_gguf(tokenizer) else _File(tokenizer))
    except Exception as error:  # a plain Exception is all that they raise
        raise ValueError(f"{tokenizer.name} cannot be used: {' '.join(str(error).split())[:300]}") from error


class _File:
    """A tokenizer.json."""

    def __init__(self, file: Path) -> None:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would stay
        import tokenizers

        self._loaded: Any = tokenizers.Tokenizer.from_file(str(file))
        self._loaded.no_truncation()
        self._loaded.no_padding()

    def encode(self, text: str, special: bool) -> Iterable[int]:
        ids: list[int] = self._loaded.encode(text, add_special_tokens=special).ids
        return ids

    def decode(self, tokens: list[int]) -> str:
        return str(self._loaded.decode(tokens, skip_special_tokens=False))


class _Vocabulary:
    """llama.cpp's, of a GGUF file, whose weights are mapped and not read."""

    def __init__(self, file: Path) -> None:
        os.environ["GGML_NO_BACKTRACE"] = "1"  # where it gives up, it would start a debugger
        import cyllama.llama.llama_cpp as llama

        llama.set_log_callback(lambda level, text: None)
        params = llama.LlamaModelParams()
        params.n_gpu_layers = 0
        params.use_mmap, params.use_extra_bufts = True, False
        self._model = llama.LlamaModel(str(file), params, verbose=False)  # the vocabulary lives as long as it
        self._vocabulary: Any = self._model.get_vocab()

    def encode(self, text: str, special: bool) -> Iterable[int]:
        tokens: list[int] = self._vocabulary.tokenize(text, special, True)
        return tokens

    def decode(self, tokens: list[int]) -> str:
        if wrong := [token for token in tokens if not 0 <= token < self._vocabulary.n_vocab]:  # llama.cpp ends the process
            raise ValueError(f"it has no token {wrong[0]}")
        return str(self._vocabulary.detokenize(tokens, 1 << 16, False, True))
