"""What language models in this process are asked, as the back end openai has it (backends/openai/lengths.hpp, prompt_file.hpp): how long
prompts and answers are, and prompts from a file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MOST_TOKENS = 1_000_000
LENGTH_FORMS = "N|uniform:LOW:HIGH|normal:MEAN:SD"
PROMPT_STREAM, ANSWER_STREAM, _SHUFFLE_STREAM = 1, 2, 3

_64_BITS = 2**64 - 1


# --- draws -----------------------------------------------------------------------------------------------------------


SPLIT_MIX_STEP = 0x9E3779B97F4A7C15


def mixed(x: Any, word: Callable[[int], Any] = int) -> Any:
    """SplitMix64 (Steele, Lea and Flood 2014) of an int, or of an array with word=np.uint64; the same as backends/openai/split_mix.hpp."""
    x = (x ^ (x >> word(30))) * word(0xBF58476D1CE4E5B9) & word(_64_BITS)
    x = (x ^ (x >> word(27))) * word(0x94D049BB133111EB) & word(_64_BITS)
    return x ^ (x >> word(31))


def _draws(seed: int, number: int, stream: int) -> Iterator[int]:
    state = mixed(mixed(seed) ^ number ^ (stream << 62 & _64_BITS))
    while True:
        state = (state + SPLIT_MIX_STEP) & _64_BITS
        yield mixed(state)


def _below(draws: Iterator[int], count: int) -> int:
    return (next(draws) >> 32) * count >> 32


# --- lengths ---------------------------------------------------------------------------------------------------------

_ONE_SD = 34404448521  # sqrt(256 / 4 + 2 / 12) 2^32
_FARTHEST = 17  # standard deviations: 129 / sqrt(64 + 1 / 6) are 16.1


def _normal_draw(draws: Iterator[int]) -> int:
    """About 0, in units of which _ONE_SD is a standard deviation: the number of ones in 256 fair bits, and the difference of two
    uniform numbers to fill the gaps."""
    ones = sum(next(draws).bit_count() for _ in range(4))
    draw = next(draws)
    return ((ones - 128) << 32) + (draw & 0xFFFFFFFF) - (draw >> 32)


def _length(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 20):
        raise ValueError
    if not 1 <= int(text) <= MOST_TOKENS:
        raise ValueError(f"it must be 1 to {MOST_TOKENS}")
    return int(text)


@dataclass(frozen=True)
class Lengths:
    """A number of tokens, or drawn for each request."""

    kind: str  # constant, uniform, normal
    first: int  # the number, LOW, the mean
    last: int = 0  # HIGH, the standard deviation

    @classmethod
    def parse(cls, text: str) -> Lengths:
        """Raises ValueError, with why or without."""
        name, *numbers = text.split(":")
        if not numbers:
            return cls("constant", _length(text))
        if name not in ("uniform", "normal") or len(numbers) != 2:
            raise ValueError
        first, last = map(_length, numbers)
        if name == "uniform" and first >= last:
            raise ValueError("LOW must be below HIGH")
        return cls(name, first, last)

    @property
    def vary(self) -> bool:
        return self.kind != "constant"

    @property
    def mean(self) -> int:
        """Of uniform: rounded down."""
        return (self.first + self.last) // 2 if self.kind == "uniform" else self.first

    @property
    def most(self) -> int:
        return self.last if self.kind == "uniform" else min(self.first + _FARTHEST * self.last, MOST_TOKENS)

    def drawn(self, seed: int, number: int, stream: int, least: int, most: int) -> int:
        """The one of request `number`; `stream` tells apart what is drawn for one request. The same everywhere."""
        if self.kind == "constant":
            length = self.first
        elif self.kind == "uniform":
            length = self.first + _below(_draws(seed, number, stream), self.last - self.first + 1)
        else:
            length = self.first + (2 * self.last * _normal_draw(_draws(seed, number, stream)) + _ONE_SD) // (2 * _ONE_SD)
        return min(max(length, least), most)

    def __str__(self) -> str:
        return str(self.first) if self.kind == "constant" else f"{self.kind}:{self.first}:{self.last}"


# --- files -----------------------------------------------------------------------------------------------------------

_LARGEST = 1 << 30
_BLANKS = " \t\r\n"
_FORMS = (("messages", "role", "content"), ("conversations", "from", "value"))


class PromptFile:
    """Prompts of a file as text, in its order, each with its place ("line 3"); at least one. Raises ValueError with a sentence."""

    def __init__(self, path: str) -> None:
        self.prompts: list[tuple[str, str]] = []
        self.left_out = 0  # entries in which nobody asks anything
        text = _bytes_of(path).removeprefix(b"\xef\xbb\xbf")
        is_json = path.endswith((".json", ".jsonl"))
        if is_json and text.lstrip(_BLANKS.encode()).startswith(b"["):
            self._take_array(text)
        else:
            self._take_lines(text, is_json)
        if not self.prompts:
            raise ValueError("there is no prompt in it")

    def _add(self, place: str, prompt: str) -> None:
        if not prompt:
            self.left_out += 1
            return
        self.prompts.append((place, prompt))

    def _take_lines(self, text: bytes, is_json: bool) -> None:
        for number, line in enumerate(text.split(b"\n"), 1):
            one = line.removesuffix(b"\r")
            if not one.strip(_BLANKS.encode()):
                continue
            place = f"line {number}"
            shown = _decoded(one, place)
            self._add(place, _prompt_in(_parsed(shown, place), place) if is_json else shown)

    def _take_array(self, data: bytes) -> None:
        """Each entry is taken when it has been read, and not kept."""
        text = _decoded(data, "the file")
        decoder, at, entry = json.JSONDecoder(), text.index("[") + 1, 0
        at = _behind_blanks(text, at)
        while not text.startswith("]", at):
            try:
                if entry:
                    if not text.startswith(",", at):
                        raise ValueError
                    at = _behind_blanks(text, at + 1)
                value, at = decoder.raw_decode(text, at)
            except RecursionError:
                raise ValueError(f"entry {entry + 1} is nested too deeply") from None
            except ValueError:
                raise ValueError(f"what stands behind entry {entry} is not the JSON that it should be") from None
            entry += 1
            self._add(f"entry {entry}", _prompt_in(value, f"entry {entry}"))
            at = _behind_blanks(text, at)
        if _behind_blanks(text, at + 1) != len(text):
            raise ValueError(f"what stands behind entry {entry} is not the JSON that it should be")


def _bytes_of(path: str) -> bytes:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("it is not a regular file")
            if status.st_size > _LARGEST:
                raise ValueError("the file is larger than 1 GiB")
            return file.read()
    except IsADirectoryError:
        raise ValueError("it is not a regular file") from None
    except OSError as error:
        raise ValueError(f"the file cannot be read: {error.strerror}") from None


def _behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _decoded(data: bytes, place: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{place} is not UTF-8") from None


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"{place} is nested too deeply") from None
    except ValueError:
        begin = json.dumps(text[:60]) + ("…" if len(text) > 60 else "")
        raise ValueError(f"{place} is not the JSON that it should be; it begins with {begin}") from None


def _prompt_in(entry: Any, place: str) -> str:
    """Empty: nobody asks anything."""
    if not isinstance(entry, dict):
        raise ValueError(f"{place} contains no object")
    if "prompt" in entry:
        if not isinstance(entry["prompt"], str):
            raise ValueError(f"{place} has a prompt that is not a text")
        return _sound(entry["prompt"], place)
    for form in _FORMS:
        if form[0] in entry:
            return _sound(_first_question(entry[form[0]], form, place), place)
    raise ValueError(f"{place} has neither prompt nor messages nor conversations")


def _sound(text: str, place: str) -> str:
    """JSON can write halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{place} is not UTF-8") from None
    return text


def _first_question(messages: Any, form: tuple[str, str, str], place: str) -> str:
    name, who, what = form
    if not isinstance(messages, list):
        raise ValueError(f"{place} has {name} that are no list")
    before: list[str] = []
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get(who), str) or what not in message:
            raise ValueError(f"{place} has a message without {who} or {what}")
        asks = message[who] in ("user", "human")
        if not asks and message[who] != "system":
            continue
        before.append(_content_in(message[what], place))
        if asks:
            return "\n\n".join(text for text in before if text)
    return ""


def _content_in(content: Any, place: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise ValueError(f"{place} has a message without a text")
    if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
        raise ValueError(f"{place} has a message with a part that is not a text")
    return "\n".join(part["text"] for part in content)


def order_of(seed: int, count: int) -> list[int]:
    """Which prompts requests ask one after the other: all but the first of `count`, as Fisher and Yates shuffle."""
    order = list(range(1, count)) or [0]
    draws = _draws(seed, 0, _SHUFFLE_STREAM)
    for i in range(len(order), 1, -1):
        j = _below(draws, i)
        order[i - 1], order[j] = order[j], order[i - 1]
    return order
