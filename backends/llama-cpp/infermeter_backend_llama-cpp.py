"""Language models on llama.cpp, from a GGUF file or a folder with one. The binding is cyllama: its wheels hold llama.cpp itself,
and it has the plain functions of llama.h, so that what is timed here is llama_decode and nothing of a server or a chat."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from infermeter.backend import Environment, Info, Load, Option, Refused, Status
from infermeter.checks import flag, framework, refuse_what_is_not_offered, thread_count
from infermeter.generation import FORMAT, OPTIONS, GenerationSession, LanguageModel, ScoringSession, Settings, choice
from infermeter.gguf_metadata import TOKENS, Value, gguf_files, read_metadata, size_of, weights_of

_KV_CACHE = {"f32": 0, "f16": 1, "bf16": 30, "q8_0": 8, "q4_0": 2}  # enum ggml_type
_QUANTIZED = ("q8_0", "q4_0")
_DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_CONTROL = (2, 3, 5)  # enum llama_token_type: unknown, control, unused
_ERROR = 4  # enum ggml_log_level
_OWN_OPTIONS = (
    Option("kv_cache", "|".join(_KV_CACHE), "type of the keys and values that are kept; default f32"),
    Option("flash_attention", "true|false", "attention without a matrix of scores, less exact than float32; default false"),
    Option("n_batch", "N", "most tokens of a prompt in one call; default 2048"),
    Option("n_ubatch", "N", "most tokens that are computed at once; default 512"),
    Option("mmap", "true|false", "weights are mapped from the file, not read; default true"),
    Option("repack", "true|false", "weights are put into another order for this processor, if llama.cpp has one; default true"),
)


def open_runtime(environment: Environment) -> Runtime:
    os.environ["GGML_NO_BACKTRACE"] = "1"  # where it gives up, it would start a debugger
    llama = framework(environment, "cyllama.llama.llama_cpp", "llama.cpp", setup="generation", pip="cyllama")
    return Runtime(llama)


class Errors:
    """What llama.cpp says of errors: of one load at a time."""

    def __init__(self, llama: Any) -> None:
        self._lines: deque[str] = deque(maxlen=8)
        # cyllama keeps the function, and models are freed after it was called: it holds nothing of a model.
        lines = self._lines

        def log(level: int, text: str) -> None:
            if level == _ERROR and (line := " ".join(text.split())):
                lines.append(line)

        llama.set_log_callback(log)

    def forget(self) -> None:
        self._lines.clear()

    def reason(self, error: Exception) -> str:
        """The first line: the cause of what came behind it."""
        line = self._lines[0] if self._lines else " ".join(str(error).split())
        return line.removeprefix("llama_model_load: error loading model: ")[:300]


class Runtime:
    def __init__(self, llama: Any) -> None:
        self._llama, self._errors = llama, Errors(llama)
        package = Path(llama.__file__).parent.parent
        self.info = Info(
            name="llama-cpp",
            runtime_name="llama.cpp",
            runtime_version=_version(package, llama),
            library=str(package),
            model_formats=("gguf", FORMAT),
            devices=("cpu",),
            dtypes=("float32",),
            options=(*OPTIONS, *_OWN_OPTIONS),
        )

    def load(self, load: Load) -> GenerationSession | ScoringSession:
        refuse_what_is_not_offered(self.info, load)
        if load.profile_folder:
            raise Refused(Status.UNSUPPORTED, "llama.cpp shows nothing of single operators: profile the model on another back end")
        settings = Settings.read(self.info, load)
        file = _gguf_of(Path(load.model))
        values = read_metadata(file)
        model = _model_of(file, load.zoo_name or file.name, values)
        settings.check(model)
        self._errors.forget()
        engine = LlamaEngine(self._llama, self._errors, self.info, load, model, weights_of(values), settings)
        return ScoringSession(engine, model, settings) if settings.scores else GenerationSession(engine, model, settings)


def _version(package: Path, llama: Any) -> str:
    """That of llama.cpp, as the wheel says it; without it, ggml's."""
    try:
        return str(json.loads((package / "build_config.json").read_text())["versions"]["llama_cpp_version"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"ggml {llama.ggml_version()}"


# --- the file --------------------------------------------------------------------------------------------------------


def _gguf_of(model: Path) -> Path:
    """The file itself, or the one in a folder in Hugging Face's form, which `model`, its config.json, stands for."""
    if model.name != "config.json":
        return model
    files = gguf_files(model.parent)
    if not files:
        raise Refused(
            Status.MODEL_ERROR,
            f"{model.parent.name} has no GGUF file: llama.cpp reads models that were converted for it (convert_hf_to_gguf.py), and the zoo's",
        )
    if len(files) > 1:
        raise Refused(
            Status.MODEL_ERROR,
            f"{model.parent.name} has {len(files)} GGUF files: name one of them, such as {model.parent.name}/{files[0].name}",
        )
    return files[0]


def _model_of(file: Path, name: str, values: Mapping[str, Value]) -> LanguageModel:
    parts = values.get("split.count")
    if isinstance(parts, int) and parts > 1:
        raise Refused(
            Status.MODEL_ERROR,
            f"{file.name} is one of {parts} parts of a model: make them one file (llama-gguf-split --merge)",
        )
    kind = values.get("general.architecture")
    if not isinstance(kind, str) or not kind:
        raise Refused(Status.MODEL_ERROR, f"the GGUF file {file.name} does not say what it is (general.architecture)")
    vocabulary = size_of(values, TOKENS, file.name)
    for key in ("block_count", "embedding_length", "attention.head_count"):
        if not isinstance(values.get(f"{kind}.{key}"), np.ndarray):  # one for each layer, which llama.cpp checks
            size_of(values, f"{kind}.{key}", file.name)
    said = {name: values.get(f"tokenizer.ggml.{name}_token_id") for name in ("bos", "eos", "eot", "eom", "padding")}
    tokens = {name: token for name, token in said.items() if isinstance(token, int) and 0 <= token < vocabulary}
    special = set(tokens.values())
    types = values.get("tokenizer.ggml.token_type")
    if isinstance(types, np.ndarray):
        special |= set(np.flatnonzero(np.isin(types[:vocabulary], _CONTROL)).tolist())
    ends = tuple(token for name, token in tokens.items() if name in ("eos", "eot", "eom"))
    context = size_of(values, f"{kind}.context_length", file.name)
    return LanguageModel(file, name, vocabulary, context, ends, frozenset(special), _kept_values(values, kind))


def _kept_values(values: Mapping[str, Value], kind: str) -> int | None:
    """As GgufSummary::kv_bytes_per_token computes it (infermeter/models/gguf): nothing where layers differ, or keys and values are
    compressed, forgotten beyond a window, or a state."""

    def said(key: str) -> int:
        value = values.get(f"{kind}.{key}", 0)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else -1

    layers, heads, width = (said(key) for key in ("block_count", "attention.head_count", "embedding_length"))
    keeping, key, value = (said(f"attention.{each}") for each in ("head_count_kv", "key_length", "value_length"))
    others = (said(key) for key in ("attention.kv_lora_rank", "attention.sliding_window", "ssm.state_size"))
    if min(layers, heads, width) <= 0 or min(keeping, key, value) < 0 or any(others):
        return None
    return layers * (keeping or heads) * sum(length or width // heads for length in (key, value))


# --- the runtime -----------------------------------------------------------------------------------------------------


class LlamaEngine:
    def __init__(self, llama: Any, errors: Errors, info: Info, load: Load, model: LanguageModel, weights: str, settings: Settings) -> None:
        self._errors, self._weights = errors, weights
        self._kv_cache = choice(info, load, "kv_cache", tuple(_KV_CACHE))
        self._flash_attention = flag(info, load, "flash_attention", False)
        if self._kv_cache in _QUANTIZED and not self._flash_attention:
            raise Refused(Status.INVALID_ARGUMENT, f"kv_cache={self._kv_cache} needs flash_attention=true")
        self._mmap, self._repack = flag(info, load, "mmap", True), flag(info, load, "repack", True)
        self._model = self._loaded(llama, model)
        vocabulary = self._model.get_vocab()
        if vocabulary.n_vocab != model.vocabulary:
            raise Refused(
                Status.MODEL_ERROR,
                f"llama.cpp knows {vocabulary.n_vocab} tokens of {model.name}, and its metadata {model.vocabulary}",
            )
        self._context = self._made_context(llama, info, load, model, settings)
        self.room = int(self._context.n_ctx)
        self._size = int(self._context.n_batch)
        self._batch = llama.LlamaBatch(n_tokens=self._size, embd=0, n_seq_max=1)
        # More than what the metadata call an end: llama.cpp knows names of tokens that end a turn of a chat.
        ends = [token for token in range(model.vocabulary) if vocabulary.is_eog(token)]
        self._ends = frozenset(() if settings.force_length else ends)
        self._sampler = llama.LlamaSampler(llama.LlamaSamplerChainParams())
        if settings.force_length and ends:
            self._sampler.add_logit_bias(model.vocabulary, [(token, float("-inf")) for token in ends])
        self._sampler.add_greedy()
        self._most = settings.output_tokens

    def _loaded(self, llama: Any, model: LanguageModel) -> Any:
        params = llama.LlamaModelParams()
        params.n_gpu_layers = 0
        params.use_mmap = self._mmap
        params.use_extra_bufts = self._repack
        try:
            return _model_class(llama)(str(model.folder), params, verbose=False)
        except MemoryError:
            raise
        except Exception as error:
            raise Refused(Status.MODEL_ERROR, f"llama.cpp cannot load {model.name}: {self._errors.reason(error)}") from error

    def _made_context(self, llama: Any, info: Info, load: Load, model: LanguageModel, settings: Settings) -> Any:
        params = llama.LlamaContextParams()
        params.n_ctx = settings.most_tokens(model)
        params.n_batch = _count(info, load, "n_batch", 2048)
        params.n_ubatch = min(_count(info, load, "n_ubatch", 512), params.n_batch)
        params.n_threads = params.n_threads_batch = thread_count(load)
        params.type_k = params.type_v = _KV_CACHE[self._kv_cache]
        params.flash_attn_type = int(self._flash_attention)
        try:
            return llama.LlamaContext(self._model, params, verbose=False)
        except MemoryError:
            raise
        except Exception as error:
            raise Refused(
                Status.MODEL_ERROR,
                f"llama.cpp cannot make a context of {params.n_ctx} tokens for {model.name} with kv_cache={self._kv_cache}, "
                f"flash_attention={_text(self._flash_attention)}: {self._errors.reason(error)}",
            ) from error

    def limit(self, output_tokens: int) -> None:
        self._most = output_tokens

    def generate(self, prompt: np.ndarray, stamp: Callable[[Sequence[int]], None]) -> None:
        context, batch, sample, ends = self._context, self._batch, self._sampler.sample, self._ends
        context.kv_cache_clear(False)
        place = self._read(prompt[0].tolist())
        for left in range(self._most - 1, -1, -1):
            token = sample(context, -1)
            stamp((token,))
            if not left or token in ends:
                return
            batch.set_batch((token,), place, False)
            context.decode(batch)
            place += 1

    def _read(self, tokens: list[int]) -> int:
        """The prompt, whose last token's scores are wanted; returns its length."""
        for begin in range(0, len(tokens), self._size):
            self._batch.set_batch(tokens[begin : begin + self._size], begin, False)
            self._context.decode(self._batch)
        return len(tokens)

    def logits(self, text: np.ndarray) -> np.ndarray:
        """Of `text` (int64, 1 x N): float32, N x the model's vocabulary: the scores of the token behind each."""
        self._context.kv_cache_clear(False)
        tokens, rows = text[0].tolist(), []
        for begin in range(0, len(tokens), self._size):
            part = tokens[begin : begin + self._size]
            self._batch.set_batch(part, begin, True)
            self._context.decode(self._batch)
            rows += [np.array(self._context.get_logits_ith(row), np.float32) for row in range(len(part))]
        return np.stack(rows)

    def executed(self) -> dict[str, str]:
        context = self._context
        return {
            "dtype": _DTYPES.get(self._weights, self._weights.lower()),
            "dtype_from": "model",
            "device": "cpu",
            "provider": "CPU",
            "threads": str(context.n_threads()),
            "weights": self._weights,
            "kv_cache": self._kv_cache,
            "flash_attention": _text(self._flash_attention),
            "n_ctx": str(context.n_ctx),
            "n_batch": str(context.n_batch),
            "n_ubatch": str(context.n_ubatch),
            "mmap": _text(self._mmap),
            "repack": _text(self._repack),
            "prefix_caching": "false",
        }


def _model_class(llama: Any) -> type:
    class Model(llama.LlamaModel):  # type: ignore[misc]
        @property
        def n_vocab(self) -> int:
            """LlamaContext's functions for logits ask for it, and cyllama 0.2.18 lacks it."""
            count: int = self.get_vocab().n_vocab
            return count

    return Model


def _text(value: bool) -> str:
    return "true" if value else "false"


def _count(info: Info, load: Load, key: str, default: int) -> int:
    text = load.options.get(key, str(default))
    if text.isascii() and text.isdecimal() and len(text) < 8 and int(text) > 0:
        return int(text)
    raise Refused(Status.INVALID_ARGUMENT, f"{info.name} cannot use {key}={text}; give a number from 1 to 9999999")
