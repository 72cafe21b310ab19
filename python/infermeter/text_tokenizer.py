"""What makes tokens of texts: the tokenizer that a language model came with."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from infermeter.checks import need
from infermeter.gguf_metadata import is_gguf


def tokenizer_of(model: Path) -> Path | None:
    """The file to read texts with, of a model's folder or of one of its files: tokenizer.json, else a GGUF file, which has one in it."""
    own = (model if model.is_dir() else model.parent) / "tokenizer.json"
    if own.exists():
        return own
    return model if is_gguf(model) and model.is_file() else None


def tokens_of(texts: Iterable[tuple[str, bool]], tokenizer: Path, what: str) -> list[list[int]]:
    """Of each text, whole; `True` beside it: with the tokens that the model wants before and behind a text. What is written as a
    special token is one. Refused without the package that `what` needs; ValueError with a sentence."""
    need("cyllama" if is_gguf(tokenizer) else "tokenizers", what, setup="generation")
    try:
        encode = _vocabulary_of(tokenizer) if is_gguf(tokenizer) else _encoder_of(tokenizer)
        return [list(encode(text, special)) for text, special in texts]
    except Exception as error:  # a plain Exception is all that they raise
        raise ValueError(f"{tokenizer.name} cannot be used: {' '.join(str(error).split())[:300]}") from error


def _encoder_of(file: Path) -> Any:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would stay
    import tokenizers

    loaded: Any = tokenizers.Tokenizer.from_file(str(file))
    loaded.no_truncation()
    loaded.no_padding()
    return lambda text, special: loaded.encode(text, add_special_tokens=special).ids


def _vocabulary_of(file: Path) -> Any:
    """llama.cpp's, of a GGUF file, whose weights are mapped and not read."""
    os.environ["GGML_NO_BACKTRACE"] = "1"  # where it gives up, it would start a debugger
    import cyllama.llama.llama_cpp as llama

    llama.set_log_callback(lambda level, text: None)
    params = llama.LlamaModelParams()
    params.n_gpu_layers = 0
    params.use_mmap, params.use_extra_bufts = True, False
    model = llama.LlamaModel(str(file), params, verbose=False)
    vocabulary = model.get_vocab()  # lives as long as its model
    return lambda text, special, model=model: vocabulary.tokenize(text, special, True)
