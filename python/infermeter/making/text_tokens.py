"""A text as rows of tokens, all of one length, by a language model's own tokenizer: int64, [texts, tokens]."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from infermeter.backend import Refused, Status
from infermeter.checks import need
from infermeter.making import Job
from infermeter.prompts import open_tokenizer


def make(job: Job) -> None:
    need("tokenizers", "reading a text with a model's tokenizer", setup="generation")
    file = Path(job.model).parent / "tokenizer.json"
    if not file.exists():
        raise Refused(Status.MODEL_ERROR, f"{job.name} has no tokenizer.json to read a text with: give tokens, --data tokens.npy --labels next")
    try:
        tokenizer = open_tokenizer(file)
    except Exception as error:  # a plain Exception is all that it raises
        raise Refused(Status.MODEL_ERROR, f"tokenizer.json of {job.name} cannot be read: {' '.join(str(error).split())[:300]}") from error
    begin = tokenizer.encode("").ids  # what it puts before every text
    tokens = np.array(tokenizer.encode(_text(job), add_special_tokens=False).ids, np.int64)
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
