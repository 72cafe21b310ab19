"""A language model with weights of 8 or 4 bits in the form that OpenVINO GenAI reads, by NNCF."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from infermeter.backend import Refused, Status
from infermeter.making import Job, need_packages, silence_openvino

_GRAPH = "openvino_model.xml"


def make(job: Job) -> None:
    need_packages("weights of fewer bits for OpenVINO GenAI", "openvino", "nncf")
    silence_openvino()
    import nncf
    import openvino

    source, target = Path(job.model).parent, Path(job.file).parent
    modes = {"8": nncf.CompressWeightsMode.INT8_ASYM, "4": nncf.CompressWeightsMode.INT4_ASYM}
    # 4 bits: a scale for each 128 weights of a row. The embedding and the last layer have 8; rows that 128 does not divide stay.
    fallback = nncf.AdvancedCompressionParameters(group_size_fallback_mode=nncf.GroupSizeFallbackMode.IGNORE)
    of_4_bits: dict[str, Any] = {"group_size": 128, "ratio": 1.0, "advanced_parameters": fallback}
    bits = job.options["bits"]
    compressed = nncf.compress_weights(_graph(job, source), mode=modes[bits], **(of_4_bits if bits == "4" else {}))
    for file in source.iterdir():
        if file.is_file() and file.suffix not in (".xml", ".bin", ".safetensors"):
            shutil.copyfile(file, target / file.name)
    openvino.save_model(compressed, target / _GRAPH, compress_to_fp16=False)


def _graph(job: Job, source: Path) -> Any:
    import openvino

    if (source / _GRAPH).exists():
        return openvino.Core().read_model(source / _GRAPH)
    if "zoo" not in job.options:
        raise Refused(Status.MODEL_ERROR, f"{job.name} has no {_GRAPH}: export it first (optimum-cli export openvino)")
    from infermeter.zoo import openvino_llama

    return openvino_llama.graph(source)
