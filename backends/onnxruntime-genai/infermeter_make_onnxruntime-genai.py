"""Language models of the zoo as ONNX Runtime GenAI reads them: infermeter asks for this once for each, and keeps the folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from infermeter.checks import need
from infermeter.making import Job


def make(job: Job) -> None:
    need("onnx", f"writing the zoo's {job.name} for ONNX Runtime GenAI", setup="generation")
    from infermeter.zoo import onnx_llama

    source, target = Path(job.model).parent, Path(job.file).parent
    onnx_llama.write(source, target)
    for file in ("generation_config.json", "tokenizer.json", "tokenizer_config.json", "config.json"):
        shutil.copyfile(source / file, target / file)
