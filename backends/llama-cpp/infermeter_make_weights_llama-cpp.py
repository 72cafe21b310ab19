"""A language model with weights of 8 or 4 bits as GGUF, by llama.cpp."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from infermeter.backend import Refused, Status
from infermeter.checks import need
from infermeter.gguf_metadata import gguf_files, is_gguf, read_metadata, weights_of
from infermeter.making import Job

_TYPES = {"8": "Q8_0", "4": "Q4_K_M"}
_UNQUANTISED = ("F32", "F16", "BF16")


def make(job: Job) -> None:
    for package in ("cyllama", "gguf"):
        need(package, "weights of fewer bits for llama.cpp", setup="generation")
    import gguf
    from cyllama.llama import llama_cpp

    source, target = Path(job.model), Path(job.file)
    parameters = llama_cpp.LlamaModelQuantizeParams()
    wanted = _TYPES[job.options["bits"]]
    parameters.ftype = gguf.LlamaFileType[f"MOSTLY_{wanted}"].value
    is_folder = target.suffix != ".gguf"
    with tempfile.TemporaryDirectory(dir=target.parent) as workplace:
        given = _given(job, source, Path(workplace))
        if (weights := weights_of(read_metadata(given))) not in _UNQUANTISED:
            raise Refused(Status.MODEL_ERROR, f"the weights of {job.name} are {weights} already: give the file that it was made of")
        try:
            llama_cpp.model_quantize(str(given), str(target.parent / "model.gguf" if is_folder else target), parameters)
        except RuntimeError:
            raise Refused(Status.MODEL_ERROR, f"llama.cpp makes no {wanted} of {job.name}") from None
    # A GGUF file's tokenizer.json stands beside it, where there is one.
    for file in ("tokenizer.json", "config.json") if is_folder else ("tokenizer.json",):
        if (source.parent / file).is_file():
            shutil.copyfile(source.parent / file, target.parent / file)


def _given(job: Job, source: Path, workplace: Path) -> Path:
    """The model as GGUF: the file, the one in the folder, or the zoo's."""
    if is_gguf(source):
        return source
    files = gguf_files(source.parent)
    if len(files) == 1:
        return files[0]
    if "zoo" not in job.options:
        raise Refused(Status.MODEL_ERROR, f"{job.name} has {len(files) or 'no'} GGUF files, and one is needed")
    from infermeter.zoo import gguf_llama

    gguf_llama.write(source.parent, workplace / "model.gguf", job.name)
    return workplace / "model.gguf"
