"""What back ends of language models in this process have in common: the model's folder, prompts, and when each token came.
A back end says how its runtime generates (`Engine`), and how it scores a text (`Scorer`); the session around it is the same
for all."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from infermeter.backend import Info, Load, Option, Parts, Port, Refused, Status
from infermeter.checks import flag
from infermeter.ports import fixed_shape, ports_of_input_shape
from infermeter.prompts import (
    ANSWER_STREAM,
    LENGTH_FORMS,
    MOST_TOKENS,
    PROMPT_STREAM,
    SPLIT_MIX_STEP,
    Lengths,
    PromptFile,
    mixed,
    order_of,
)
from infermeter.text_tokenizer import tokenizer_of, tokens_of

FORMAT = "hf"  # of ModelFacts: a folder with a config.json
_CONFIG = "config.json"
_LARGEST_JSON = 256 << 20

# As the back end openai has them.
OPTIONS = (
    Option(
        "output",
        "tokens|logits",
        "answers to prompts, or of texts the scores of the next token behind each of their tokens; default tokens",
    ),
    Option("prompts", "synthetic|FILE", "tokens at random, or what a file asks (.txt, .jsonl, .json); default synthetic"),
    Option("prompt_tokens", LENGTH_FORMS, "tokens of a synthetic prompt, or of a text; default 128"),
    Option("shared_prefix", "N", "the first tokens of a synthetic prompt that all prompts share; default 0"),
    Option("output_tokens", LENGTH_FORMS, "most tokens of an answer; default 64"),
    Option("force_length", "true|false", "no fewer tokens either: the end token does not end an answer; default true"),
    Option("seed", "N", "of synthetic prompts; default: another one in each process"),
)


def is_language_model(load: Load) -> bool:
    return Path(load.model).name == _CONFIG


# --- the folder ------------------------------------------------------------------------------------------------------


def read_json(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _LARGEST_JSON:
            raise Refused(Status.MODEL_ERROR, f"{file.name} of the model {file.parent.name} is larger than 256 MiB")
        value = json.loads(file.read_bytes())
    except OSError as error:
        raise Refused(Status.MODEL_ERROR, f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Refused(Status.MODEL_ERROR, f"{file.name} of the model {file.parent.name} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Refused(Status.MODEL_ERROR, f"{file.name} of the model {file.parent.name} contains no object")
    return value


def _token(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _tokens(value: object) -> tuple[int, ...]:
    """One token, several, or none."""
    several = value if isinstance(value, list) else [value]
    return tuple(token for token in map(_token, several) if token is not None)


@dataclass(frozen=True)
class LanguageModel:
    """What its folder says of it."""

    folder: Path
    name: str  # of the zoo, or the folder's
    vocabulary: int  # so many tokens the network knows
    context: int  # most tokens, prompt and answer together
    ends: tuple[int, ...]  # tokens that end an answer
    special: frozenset[int]  # tokens that stand for no text
    kept_values: int | None = None  # numbers that the keys and values of one token are, in all layers; None: not known

    @classmethod
    def read(cls, config_file: str, zoo_name: str = "") -> LanguageModel:
        folder = Path(config_file).parent
        config = read_json(folder / _CONFIG)
        inner = config.get("text_config")  # of models that take pictures, too
        words = inner if isinstance(inner, dict) else config

        def size(key: str) -> int:
            number = _token(words.get(key))
            if not number:
                raise Refused(Status.MODEL_ERROR, f"{_CONFIG} of the model {folder.name} does not say {key}")
            return number

        vocabulary = size("vocab_size")
        generation = folder / "generation_config.json"
        said = read_json(generation) if generation.exists() else {}
        ends = _tokens(said.get("eos_token_id")) or _tokens(words.get("eos_token_id"))
        special = {*ends, *_tokens(words.get("bos_token_id")), *_tokens(words.get("pad_token_id"))}
        special |= _special_tokens(folder, vocabulary)
        context = size("max_position_embeddings")
        return cls(folder, zoo_name or folder.name, vocabulary, context, ends, frozenset(special), _kept_values(words, context))


# Whose layers all keep the keys and values of each token.
_KEEP_ALL = ("gemma", "granite", "llama", "mistral", "mixtral", "olmo2", "phi3", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3")


def _kept_values(config: Mapping[str, Any], context: int) -> int | None:
    """Of an architecture that is known to keep them all, and forgets none beyond a window."""
    window = config.get("sliding_window") if config.get("use_sliding_window") is not False else None
    if config.get("model_type") not in _KEEP_ALL or (window is not None and not (_token(window) or 0) >= context):
        return None
    layers, heads, width = (_token(config.get(key)) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size"))
    if not layers or not heads or not width:
        return None
    keeping = _token(config.get("num_key_value_heads")) or heads
    return layers * keeping * 2 * (_token(config.get("head_dim")) or width // heads)


def _special_tokens(folder: Path, vocabulary: int) -> set[int]:
    """Of tokenizer.json, which must be of this model: those that it calls so, and those that it does not have. Empty where there
    is none."""
    file = folder / "tokenizer.json"
    if not file.exists():
        return set()
    tokenizer = read_json(file)
    inner = tokenizer.get("model")
    words = inner.get("vocab") if isinstance(inner, dict) else None
    numbers: dict[int, str] = {}
    if isinstance(words, dict):
        numbers = {number: str(word) for word, number in words.items() if _token(number) is not None}
    elif isinstance(words, list):
        numbers = {number: str(word[0]) if isinstance(word, list) and word else "" for number, word in enumerate(words)}
    added = tokenizer.get("added_tokens")
    special = set()
    for entry in added if isinstance(added, list) else []:
        number = _token(entry.get("id")) if isinstance(entry, dict) else None
        if number is None:
            continue
        numbers[number] = str(entry.get("content"))
        if entry.get("special") is True:
            special.add(number)
    last = max(numbers, default=0)
    if last >= vocabulary:
        raise Refused(
            Status.MODEL_ERROR,
            f"the tokenizer of {folder.name} does not fit the model: it has the token {last} ({numbers[last]!r:.40}), and "
            f"the model knows {vocabulary} tokens (vocab_size of {_CONFIG}); take the tokenizer that came with the model",
        )
    return special | (set(range(vocabulary)) - numbers.keys() if numbers else set())


# --- settings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    scores: bool  # texts, and answers nothing
    inputs: tuple[Port, ...]  # prompts or texts that are data; none: they are made here
    prompt_lengths: Lengths
    shared_prefix: int
    answer_lengths: Lengths
    force_length: bool
    seed: int | None
    file: TokenFile | None  # that the prompts are of

    @classmethod
    def read(cls, info: Info, load: Load) -> Settings:
        if load.batch > 1:
            raise Refused(
                Status.UNSUPPORTED,
                f"{info.name} has one request in flight at a time, and batch size {load.batch} was asked for: give batch=1",
            )
        inputs = _inputs_of_data(info, load)
        lengths = _lengths(info, load, "prompt_tokens", 128)
        return cls(
            scores=choice(info, load, "output", ("tokens", "logits")) == "logits",
            inputs=inputs,
            prompt_lengths=Lengths("constant", fixed_shape(inputs[0])[1]) if inputs else lengths,
            shared_prefix=_number(info, load, "shared_prefix", 0, 0, MOST_TOKENS),
            answer_lengths=_lengths(info, load, "output_tokens", 64),
            force_length=flag(info, load, "force_length", True),
            seed=_number(info, load, "seed", 0, 0, 2**64 - 1) if "seed" in load.options else None,
            file=_file_of_prompts(load),
        )

    @property
    def prompt_tokens(self) -> int:
        """Of the first prompt, which is the one that is shown; not where prompts are of a file."""
        return self.prompt_lengths.mean

    @property
    def output_tokens(self) -> int:
        """Of the first answer. For those that follow, `Engine.limit` is called where they have other lengths."""
        return self.answer_lengths.mean

    def most_tokens(self, model: LanguageModel) -> int:
        """Of a prompt and its answer together, or of a text."""
        prompt = self.file.most if self.file else self.prompt_lengths.most
        return min(prompt + (0 if self.scores else self.answer_lengths.most), model.context)

    def check(self, model: LanguageModel) -> None:
        if self.scores or self.inputs:
            self._check_that_lengths_are_one()
        if self.file:
            self.file.read(model, self.output_tokens)
        if self.shared_prefix > self.prompt_tokens:
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"a prompt of prompt_tokens={self.prompt_lengths} cannot share shared_prefix={self.shared_prefix}",
            )
        if self.scores:
            if self.prompt_tokens > model.context:
                raise Refused(
                    Status.INVALID_ARGUMENT,
                    f"a text of {self.prompt_tokens} tokens does not fit into the context of {model.name}, which is "
                    f"{model.context}: give shorter texts",
                )
            return
        wanted = self.prompt_tokens + self.output_tokens
        if wanted > model.context and not self.file:
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"prompt_tokens={self.prompt_lengths} and output_tokens={self.answer_lengths} are {wanted} tokens, and "
                f"{model.name} has a context of {model.context}: ask for fewer",
            )
        if not self.force_length and not model.ends:
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"{model.name} has no end token (eos_token_id), so that its answers never end by themselves: give "
                "force_length=true",
            )

    def _check_that_lengths_are_one(self) -> None:
        if self.scores and self.file:
            raise Refused(Status.INVALID_ARGUMENT, "output=logits reads texts of one length, and prompts=FILE has others: leave it out")
        if self.scores and self.prompt_lengths.vary:
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"output=logits reads texts of one length: give prompt_tokens=N, not {self.prompt_lengths}",
            )
        if self.inputs and self.answer_lengths.vary:
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"data are asked for answers of one length: give output_tokens=N, not {self.answer_lengths}",
            )


def _inputs_of_data(info: Info, load: Load) -> tuple[Port, ...]:
    """Prompts or texts as rows of tokens, all of one length."""
    if not load.data_shape:
        return ()
    ports = ports_of_input_shape(load.data_shape, load)
    if len(ports) != 1 or ports[0].dtype not in ("int32", "int64") or len(ports[0].shape or ()) != 2:
        raise Refused(
            Status.INVALID_ARGUMENT,
            f"{info.name} takes tokens as data, int64 of shape [texts, tokens], and this is {load.data_shape}",
        )
    if asked := sorted(load.options.keys() & {"prompts", "prompt_tokens", "shared_prefix", "seed"}):
        raise Refused(Status.INVALID_ARGUMENT, f"the data are the prompts: leave {', '.join(asked)} out")
    return (Port("input_ids", ports[0].dtype, ports[0].shape),)


def choice(info: Info, load: Load, key: str, values: tuple[str, ...]) -> str:
    """An option that is one of `values`; where it is not given, the first."""
    value = load.options.get(key, values[0])
    if value not in values:
        raise Refused(Status.INVALID_ARGUMENT, f"{info.name} cannot use {key}={value}; give {key}={'|'.join(values)}")
    return value


def _number(info: Info, load: Load, key: str, default: int, least: int, most: int) -> int:
    text = load.options.get(key)
    if text is None:
        return default
    if text.isascii() and text.isdecimal() and len(text) <= 20 and least <= int(text) <= most:
        return int(text)
    raise Refused(Status.INVALID_ARGUMENT, f"{info.name} cannot use {key}={text}; give a number from {least} to {most}")


def _lengths(info: Info, load: Load, key: str, default: int) -> Lengths:
    text = load.options.get(key, str(default))
    try:
        return Lengths.parse(text)
    except ValueError as error:
        why = f": {error}" if str(error) else ""
        raise Refused(Status.INVALID_ARGUMENT, f"{info.name} cannot use {key}={text}{why}; give {key}={LENGTH_FORMS}") from error


# --- prompts ---------------------------------------------------------------------------------------------------------


class TokenFile:
    """Prompts of a file as tokens of a model."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.tokens: list[np.ndarray] = []
        self.left_out = 0

    def read(self, model: LanguageModel, answer: int) -> None:
        """Refuses what leaves no room for an answer of so many tokens."""
        tokenizer = tokenizer_of(model.folder)
        if tokenizer is None:
            raise Refused(Status.MODEL_ERROR, f"{model.name} has no tokenizer.json, which prompts={self._path} needs")
        try:
            file = PromptFile(self._path)
            self.left_out = file.left_out
            found = tokens_of(((text, True) for _, text in file.prompts), tokenizer, "prompts=FILE")
        except ValueError as error:
            raise Refused(Status.INVALID_ARGUMENT, f"prompts={self._path}: {error}") from error
        for (place, _), tokens in zip(file.prompts, found, strict=True):
            self._check(place, tokens, model, answer)
        self.tokens = [np.array(tokens, np.int64) for tokens in found]

    def _check(self, place: str, tokens: list[int], model: LanguageModel, answer: int) -> None:
        where = f"prompts={self._path}: {place}"
        if not tokens:
            raise Refused(Status.INVALID_ARGUMENT, f"{where} has no tokens in {model.name}: take it out")
        if max(tokens) >= model.vocabulary:
            raise Refused(
                Status.MODEL_ERROR,
                f"{where} has the token {max(tokens)}, and {model.name} knows {model.vocabulary}: take the tokenizer that came with the model",
            )
        if len(tokens) + answer > model.context:
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"{where} has {len(tokens)} tokens, and with an answer of {answer} they do not fit into the context of {model.name}, "
                f"which is {model.context}: take it out, or ask for fewer output_tokens",
            )

    @property
    def most(self) -> int:
        return max(map(len, self.tokens))

    def described(self) -> dict[str, str]:
        count = len(self.tokens)
        text = f"file, {count} of them, {min(map(len, self.tokens))} to {self.most} tokens"
        if self.left_out:
            text += f", {self.left_out} entries without one left out"
        return {"prompts": text, "prompts_in_file": str(count)}


def _file_of_prompts(load: Load) -> TokenFile | None:
    path = load.options.get("prompts", "synthetic")
    if path == "synthetic":
        return None
    if path == "data":
        raise Refused(Status.INVALID_ARGUMENT, "prompts are data where --data names tokens: leave prompts=data out; a file is ./data")
    if asked := sorted(load.options.keys() & {"prompt_tokens", "shared_prefix"}):
        raise Refused(Status.INVALID_ARGUMENT, f"the prompts are those of a file: leave {', '.join(asked)} out")
    return TokenFile(path)


def draw_tokens(seed: int, number: int, count: int, choice: np.ndarray) -> np.ndarray:
    """`count` tokens of `choice`, int64: the same for the same seed and number, everywhere."""
    state = mixed(np.array([seed], np.uint64), np.uint64) ^ np.uint64(number)
    bits = mixed(state + np.uint64(SPLIT_MIX_STEP) * np.arange(1, count + 1, dtype=np.uint64), np.uint64)
    places = ((bits >> np.uint64(32)) * np.uint64(len(choice))) >> np.uint64(32)
    drawn: np.ndarray = choice[places.astype(np.int64)]
    return drawn


def ordinary_tokens(model: LanguageModel) -> np.ndarray:
    """Of each token itself, or the next one that is not special: what is drawn depends on the special ones where it meets them only,
    so that files of one model that call others special ask the same."""
    tokens = np.arange(model.vocabulary, dtype=np.int64)
    ordinary = np.setdiff1d(tokens, np.fromiter(model.special, np.int64))
    if not len(ordinary):
        raise Refused(Status.MODEL_ERROR, f"{model.name} has no tokens but special ones")
    chosen: np.ndarray = ordinary[np.searchsorted(ordinary, tokens) % len(ordinary)]
    return chosen


# --- the session -----------------------------------------------------------------------------------------------------


class Engine(Protocol):
    """A runtime that has loaded a model."""

    def generate(self, prompt: np.ndarray, stamp: Callable[[Sequence[int]], None]) -> None:
        """Answers `prompt` (int64, 1 x N). Calls `stamp` with each token, or the tokens that came together, in the thread
        that has them, as soon as they are known."""
        ...

    def limit(self, output_tokens: int) -> None:
        """Answers from now on have so many tokens (at most, without force_length). Called between steps, where the number changes; the
        first answer has settings.output_tokens."""
        ...

    # An engine that makes room when it is loaded, for settings.most_tokens, has an int `room`.

    def executed(self) -> dict[str, str]: ...


class Scorer(Protocol):
    """A runtime that has loaded a model to score texts."""

    def logits(self, text: np.ndarray) -> np.ndarray:
        """Of `text` (int64, 1 x N): float32, N x the model's vocabulary. Row i has the scores of the token behind the i-th,
        before the softmax; nothing of an earlier text is known."""
        ...

    def executed(self) -> dict[str, str]: ...


class Answer:
    """Tokens of one answer, and when they came."""

    __slots__ = ("asked", "moments_ns", "prompt_tokens", "tokens")

    def __init__(self, prompt_tokens: int, asked: int) -> None:
        self.prompt_tokens = prompt_tokens
        self.asked = asked  # so many tokens
        self.tokens: list[int] = []
        self.moments_ns: list[int] = []

    def stamp(self, tokens: Sequence[int], now: Callable[[], int] = time.monotonic_ns) -> None:
        self.moments_ns.append(now())
        self.tokens.extend(tokens)


def _checked(tokens: np.ndarray, model: LanguageModel) -> np.ndarray:
    if wrong := tokens[(tokens < 0) | (tokens >= model.vocabulary)].tolist():
        raise Refused(
            Status.INVALID_ARGUMENT,
            f"the data have the token {wrong[0]}, and {model.name} knows {model.vocabulary} tokens, from 0 on",
        )
    return tokens.astype(np.int64, copy=False)


class Prompts:
    """Data, where there are some. Otherwise the first prompt is the same for all subjects, and its result is the output; those that
    follow have never been asked before, and are made between the steps."""

    def __init__(self, model: LanguageModel, settings: Settings) -> None:
        self._model, self._settings = model, settings
        self.are_data = bool(settings.inputs)
        self._choice = ordinary_tokens(model)
        self._seed = int.from_bytes(os.urandom(8), "little") if settings.seed is None else settings.seed
        self._made = 0
        self._order = order_of(self._seed, len(settings.file.tokens)) if settings.file else []
        self.next = np.zeros((1, 0), np.int64)
        self.answer = settings.output_tokens  # tokens to ask for with it
        if settings.file:
            self.next = settings.file.tokens[0].reshape(1, -1)
        elif not self.are_data:
            self.next = self._prompt(0, 0, settings.prompt_tokens)
        # Subjects whose first prompts differ answer different questions.
        self._digest = hashlib.sha256(self.next.tobytes()).hexdigest()[:16]
        self._first: Any = None

    def _prompt(self, seed: int, number: int, length: int) -> np.ndarray:
        prompt = draw_tokens(seed, number, length, self._choice)
        shared = self._settings.shared_prefix
        prompt[:shared] = draw_tokens(0, 0, length, self._choice)[:shared]
        return prompt.reshape(1, -1)

    def _make_next(self) -> None:
        settings, seed, number, context = self._settings, self._seed, self._made, self._model.context
        if settings.file:
            self.next = settings.file.tokens[self._order[(number - 1) % len(self._order)]].reshape(1, -1)
            self.answer = settings.answer_lengths.drawn(seed, number, ANSWER_STREAM, 1, context - self.next.shape[1])
            return
        if settings.scores:
            self.next = self._prompt(seed, number, settings.prompt_tokens)
            return
        least = max(settings.shared_prefix, 1)
        self.answer = settings.answer_lengths.drawn(seed, number, ANSWER_STREAM, 1, context - least)
        length = settings.prompt_lengths.drawn(seed, number, PROMPT_STREAM, least, context - self.answer)
        self.next = self._prompt(seed, number, length)

    def bind(self, arrays: list[np.ndarray]) -> None:
        if self.are_data:
            self.next = _checked(arrays[0], self._model)

    def between(self) -> None:
        if not self.are_data:
            self._made += 1
            self._make_next()

    def ask(self, prompt_tokens: int, output_tokens: int) -> None:
        if self.are_data or self._settings.file:
            raise Refused(Status.UNSUPPORTED, "the prompts are those of a file or of the data")
        context, least = self._model.context, max(self._settings.shared_prefix, 1)
        self.answer = min(max(output_tokens, 1), context - least)
        self._made += 1
        self.next = self._prompt(self._seed, self._made, min(max(prompt_tokens, 1), context - self.answer))

    def shown(self, result: Any) -> Any:
        """What is the output, of what a step gave."""
        if self.are_data:
            return result
        if self._first is None:
            self._first = result
        return self._first

    def described(self) -> dict[str, str]:
        settings = self._settings
        if self.are_data:
            return {"prompts": f"data, {settings.prompt_tokens} tokens"}
        said = {"prompt_seed": str(self._seed), "first_prompt": self._digest}
        if settings.file:
            return {**settings.file.described(), **said}
        text = f"synthetic, {settings.prompt_lengths} tokens"
        if settings.shared_prefix:
            text += f", {settings.shared_prefix} of them shared"
        return {"prompts": text, **said}


# Of types of keys and values: so many numbers take so many bytes.
_KV_TYPES = {"f32": (1, 4), "f16": (1, 2), "bf16": (1, 2), "q8_0": (32, 34), "q4_0": (32, 18)}


class GenerationSession:
    def __init__(self, engine: Engine, model: LanguageModel, settings: Settings) -> None:
        self._engine, self._model, self._settings = engine, model, settings
        self._prompts = Prompts(model, settings)
        self._limited = settings.output_tokens
        self.inputs = list(settings.inputs)
        self.outputs = [Port("tokens", "int64", (settings.output_tokens if settings.force_length else None,))]

    def bind(self, arrays: list[np.ndarray]) -> Callable[[], object]:
        generate, prompts = self._engine.generate, self._prompts
        prompts.bind(arrays)

        def step() -> Answer:
            prompt = prompts.next
            answer = Answer(prompt.shape[1], prompts.answer)
            generate(prompt, answer.stamp)
            return answer

        return step

    def lengths(self, prompt_tokens: int, output_tokens: int) -> None:
        """Of the next prompt and answer, instead of those that `between` has made."""
        self._prompts.ask(prompt_tokens, output_tokens)
        wanted, room = self._prompts.next.shape[1] + self._prompts.answer, getattr(self._engine, "room", self._model.context)
        if wanted > room:
            raise Refused(
                Status.INVALID_ARGUMENT,
                f"a prompt of {self._prompts.next.shape[1]} and an answer of {self._prompts.answer} tokens are asked for, and there is room "
                f"for {room}, as prompt_tokens and output_tokens say: give the longest with these",
            )
        self._limit()

    def between(self) -> None:
        self._prompts.between()
        self._limit()

    def _limit(self) -> None:
        if self._prompts.answer != self._limited:
            self._limited = self._prompts.answer
            self._engine.limit(self._limited)

    def parts(self, answer: Answer) -> Parts:
        self._take(answer)
        return Parts(answer.moments_ns, len(answer.tokens), answer.prompt_tokens)

    def _take(self, answer: Answer) -> Answer:
        """The answer that is the output. One that is not as long as it must be is none."""
        if not answer.tokens or (self._settings.force_length and len(answer.tokens) != answer.asked):
            raise Refused(
                Status.RUN_ERROR,
                f"{self._model.name} answered with {len(answer.tokens)} tokens, not the {answer.asked} that were asked for",
            )
        shown: Answer = self._prompts.shown(answer)
        return shown

    def values(self, answer: Answer) -> list[np.ndarray]:
        return [np.array(self._take(answer).tokens, np.int64)]

    def executed(self) -> dict[str, str]:
        settings, engine = self._settings, self._engine.executed()
        return {
            **engine,
            **self._prompts.described(),
            "max_tokens": str(settings.answer_lengths),
            "force_length": "true" if settings.force_length else "false",
            "sampling": "greedy",
            "tokens_counted_by": "runtime",
            **self._kept(engine.get("kv_cache", "")),
        }

    def _kept(self, kind: str) -> dict[str, str]:
        """Of a token in the KV cache. Nothing of types whose scales a runtime keeps in a way of its own."""
        values, (block, size) = self._model.kept_values, _KV_TYPES.get(kind, (0, 0))
        if not values or not block:
            return {}
        return {"kv_bytes_per_token": str(values * size // block), "context": str(self._model.context)}


class ScoringSession:
    def __init__(self, scorer: Scorer, model: LanguageModel, settings: Settings) -> None:
        self._scorer, self._model = scorer, model
        self._prompts = Prompts(model, settings)
        self._shape = (settings.prompt_tokens, model.vocabulary)
        self.inputs = list(settings.inputs)
        self.outputs = [Port("logits", "float32", self._shape)]

    def bind(self, arrays: list[np.ndarray]) -> Callable[[], object]:
        logits, prompts = self._scorer.logits, self._prompts
        prompts.bind(arrays)
        return lambda: logits(prompts.next)

    def between(self) -> None:
        self._prompts.between()

    def values(self, result: np.ndarray) -> list[np.ndarray]:
        if result.shape != self._shape:
            raise Refused(
                Status.RUN_ERROR,
                f"{self._model.name} gave logits of shape {list(result.shape)}, and {list(self._shape)} were expected",
            )
        return [np.ascontiguousarray(self._prompts.shown(result), np.float32)]

    def executed(self) -> dict[str, str]:
        return {**self._scorer.executed(), **self._prompts.described()}
