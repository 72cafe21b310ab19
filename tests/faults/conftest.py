from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def fault_shim(build_dir) -> Path:
    shim = build_dir / "tests/faults/fault_shim.so"
    if not shim.exists():
        pytest.fail(f"{shim} is not built: run `make test`")
    return shim
