"""Makers: models made of models. Each is a file with a function `make(job: Job) -> None` that writes `job.file`; it runs
in a process of its own, in the sandbox. docs/variants.md lists ours; `infermeter_make_<name>.py` beside the back ends adds
one or takes the place of one of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infermeter.backend import Refused, Status
from infermeter.checks import need

if TYPE_CHECKING:
    import numpy as np

SETUP = "variants"  # of scripts/setup


@dataclass(frozen=True)
class Job:
    name: str  # of the model, for sentences
    model: str  # the file that something is to be made of
    options: dict[str, str]
    data: str  # an .npz with what to calibrate on; "": none
    file: str  # to be written; files that belong to it go beside it


def need_packages(what: str, *packages: str) -> None:
    for package in packages:
        need(package, what, setup=SETUP)


def silence_openvino() -> None:
    """No consent file means "on" to its telemetry; HOME is the worker's own folder. To be called before the import."""
    folder = Path(os.environ["HOME"], "intel")
    folder.mkdir(exist_ok=True)
    (folder / "openvino_telemetry").write_text("0")


def calibration_items(job: Job) -> Iterator[list[np.ndarray]]:
    """Each item's arrays, in the order of the model's inputs."""
    import numpy as np

    if not job.data:
        raise Refused(Status.INVALID_ARGUMENT, f"calibrating {job.name} needs data: give --calibration, or --data")
    with np.load(job.data, allow_pickle=False) as archive:
        for item in range(len({name.partition("-")[0] for name in archive.files})):
            names = [name for name in archive.files if name.startswith(f"item{item}-")]
            yield [archive[f"item{item}-input{place}"] for place in range(len(names))]
