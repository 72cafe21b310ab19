"""A language model with weights of 8 or 4 bits in the form that ONNX Runtime GenAI reads, by ONNX Runtime's quantiser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from infermeter.backend import Refused, Status
from infermeter.making import Job, need_packages, onnx_files

_CONFIG = "genai_config.json"


def make(job: Job) -> None:
    need_packages("weights of fewer bits for ONNX Runtime GenAI", "onnx", "onnxruntime", "onnx_ir")
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    source, target = Path(job.model).parent, Path(job.file).parent
    graph = _graph(_folder(job, source, target), job.name)
    # As ONNX Runtime GenAI's own builder has it for the processor: a scale for each 32 weights, products in int8.
    how = DefaultWeightOnlyQuantConfig(block_size=32, is_symmetric=True, accuracy_level=4, bits=int(job.options["bits"]))
    model = _read(graph)
    if _is_quantized(model):
        raise Refused(Status.UNSUPPORTED, f"the weights of {job.name} have fewer bits already: give the folder that it was made of")
    quantizer = MatMulNBitsQuantizer(model, algo_config=how)
    quantizer.process()
    if not _is_quantized(quantizer.model.model):
        raise Refused(Status.UNSUPPORTED, f"{job.name} has no matrix products with weights in float32 or float16")
    for file in source.iterdir():
        if file.is_file() and file.suffix not in (".onnx", ".data", ".safetensors"):
            shutil.copyfile(file, target / file.name)
    onnx_files.save(quantizer.model.model, str(target / graph.name))


def _folder(job: Job, source: Path, target: Path) -> Path:
    """With ONNX Runtime GenAI's form of the model."""
    if (source / _CONFIG).exists():
        return source
    if "zoo" not in job.options:
        raise Refused(Status.MODEL_ERROR, f"{job.name} has no {_CONFIG}: make it first (onnxruntime_genai.models.builder)")
    from infermeter.zoo import onnx_llama

    onnx_llama.write(source, target)
    return target


def _graph(folder: Path, name: str) -> Path:
    """Of the decoder; its name is the config's, which stays within its folder."""
    try:
        file = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))["model"]["decoder"]["filename"]
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(Status.MODEL_ERROR, f"{name} has a {_CONFIG} that names no decoder") from error
    if not isinstance(file, str) or Path(file).name != file or not (folder / file).is_file():
        raise Refused(Status.MODEL_ERROR, f"{name} lacks the decoder that its {_CONFIG} names")
    return folder / file


def _is_quantized(model: Any) -> bool:
    return any(node.op_type == "MatMulNBits" for node in model.graph.node)


def _read(file: Path) -> Any:
    import onnx

    try:
        return onnx.load(file)
    except Exception as error:
        raise Refused(Status.MODEL_ERROR, f"{file.name} cannot be read as ONNX: {error}") from error
