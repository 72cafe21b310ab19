"""Where answers part, as text: of each parting what both have said before it, and how each goes on, by a language model's own
tokenizer. Each text is UTF-8 and ends with a byte of 0."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

from infermeter.backend import Refused, Status
from infermeter.making import Job
from infermeter.text_tokenizer import texts_of, tokenizer_of


def make(job: Job) -> None:
    file = tokenizer_of(Path(job.model))
    if file is None:
        raise Refused(Status.MODEL_ERROR, f"{job.name} has no tokenizer.json to write texts with")
    lists = []
    for parting in job.options["tokens"].split(";"):
        before, *ways = ([int(token) for token in part.split(",") if token] for part in parting.split("|"))
        lists += [before, *(before + way for way in ways)]
    try:
        texts = texts_of(lists, file, "writing answers as text")
    except ValueError as error:
        raise Refused(Status.MODEL_ERROR, f"{job.name}: {error}") from error
    most = int(job.options["most_bytes"])
    shown = (part for place in range(0, len(texts), 3) for part in _parted(texts[place : place + 3], most))
    Path(job.file).write_bytes(b"".join(text.replace("\0", "\ufffd").encode() + b"\0" for text in shown))


def _parted(texts: list[str], most: int) -> tuple[str, str, str]:
    """Of what both have, and of that with how each goes on. The last token that both have may end within a character: then they part
    before it."""
    before, one, other = texts
    same = len([*takewhile(lambda signs: len({*signs}) == 1, zip(before, one, other, strict=False))])
    return _shortened(before[:same][::-1], most)[::-1], _shortened(one[same:], most), _shortened(other[same:], most)


def _shortened(text: str, most: int) -> str:
    """So many bytes at most, whole characters."""
    return text if len(text.encode()) <= most else text[: (most - 3) // 4] + "…"
