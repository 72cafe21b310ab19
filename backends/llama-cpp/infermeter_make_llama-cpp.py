"""Language models of the zoo as llama.cpp reads them: infermeter asks for this once for each, and keeps the folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from infermeter.checks import need
from infermeter.making import Job


def make(job: Job) -> None:
    need("gguf", f"writing the zoo's {job.name} for llama.cpp", setup="generation")
    from infermeter.zoo import gguf_llama

    source, target = Path(job.model).parent, Path(job.file).parent
    gguf_llama.write(source, target / "model.gguf", job.name)
    for file in ("tokenizer.json", "config.json"):
        shutil.copyfile(source / file, target / file)
