"""A text as rows of tokens, all of one length, by a language model's own tokenizer: int64, [texts, tokens]."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from infermeter.backend import Refused, Status
from infermeter.making import Job
from infermeter.text_tokenizer import tokenizer_of, tokens_of


def make(job: Job) -> None:
    file = tokenizer_of(Path(job.model))
    if file is None:
        raise Refused(Status.MODEL_ERROR, f"{job.name} has no tokenizer.json to read a text with: give tokens, --data tokens.npy --labels next")
    texts = (("", True), (_text(job), False))  # what it puts before every text, and the text
    try:
        begin, found = tokens_of(texts, file, "reading a text with a model's tokenizer")
    except ValueError as error:
        raise Refused(Status.MODEL_ERROR, f"{job.name}: {error}") from error
    tokens = np.array(found, np.int64)
    own = int(job.options["tokens"]) - len(begin)
    if own < 1:
        raise Refused(Status.INVALID_ARGUMENT, f"texts of {job.options['tokens']} tokens have no room behind the {len(begin)} that {job.name} begins with")
    if len(tokens) < own:
        raise Refused(
            Status.INVALID_ARGUMENT,
            f"the text has {len(tokens)} tokens, too few for one of {job.options['tokens']}: give --text-tokens {len(tokens) + len(begin)}",
        )
    rows = tokens[: len(tokens) // own * own].reshape(-1, own)
    np.save(job.file, np.concatenate([np.tile(np.array(begin, np.int64), (len(rows), 1)), rows], axis=1))


def _text(job: Job) -> str:
    try:
        return Path(job.data).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Refused(Status.INVALID_ARGUMENT, f"the text is not UTF-8: {error.reason} at byte {error.start}") from error
