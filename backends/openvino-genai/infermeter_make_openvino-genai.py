"""Language models of the zoo as OpenVINO GenAI reads them: infermeter asks for this once for each, and keeps the folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from infermeter.checks import need
from infermeter.making import Job, silence_openvino


def make(job: Job) -> None:
    need("openvino", f"writing the zoo's {job.name} for OpenVINO GenAI", setup="generation")
    silence_openvino()
    from infermeter.zoo import openvino_llama

    source, target = Path(job.model).parent, Path(job.file).parent
    openvino_llama.write(source, target)
    for file in ("generation_config.json", "tokenizer.json", "tokenizer_config.json", "config.json"):
        shutil.copyfile(source / file, target / file)
