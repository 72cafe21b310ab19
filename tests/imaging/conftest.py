from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from imaging_plugin import Refused, Session

PLUGIN = Path(os.environ.get("INFERMETER_BUILD", "build/release")) / "lib/infermeter/backends/infermeter_backend_imaging.so"
SMALL = {"preset": "small"}


@pytest.fixture(scope="session")
def plans(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Plans that all sessions of this run read, so that they compute the same bits."""
    if not PLUGIN.exists():
        pytest.skip(f"{PLUGIN} was not built")
    folder = str(tmp_path_factory.mktemp("plans"))
    try:
        for sizes in ({}, {"detector": 64}, {"detector": 32}):
            Session(folder, preparing=True, **SMALL, **sizes).close()
    except Refused as refusal:
        if "libfftw3f" in str(refusal):
            pytest.skip(str(refusal))
        raise
    return folder


@pytest.fixture
def session(plans: str) -> Callable[..., Session]:
    return lambda **options: Session(plans, **{**SMALL, **options})
