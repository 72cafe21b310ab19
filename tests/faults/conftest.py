import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's own way of importing tests leaves it out


@pytest.fixture(scope="session")
def fault_shim(build_dir) -> Path:
    shim = build_dir / "tests/faults/fault_shim.so"
    if not shim.exists():
        pytest.fail(f"{shim} is not built: run `make test`")
    return shim
