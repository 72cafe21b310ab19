"""The module infermeter.metrics of the build, in the tests' own process."""

import sys

import pytest


@pytest.fixture(scope="session")
def metrics(build_dir):
    folder = build_dir / "python"
    if not list((folder / "infermeter").glob("_core.*.so")):
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    from infermeter import metrics

    return metrics
