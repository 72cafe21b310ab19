"""`python -m infermeter.worker`: the worker process of back ends written in Python. Started by infermeter, not by hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

UNFIT = 78  # EX_CONFIG; the last line on standard error says why


def main() -> int:
    if importlib.util.find_spec("numpy") is None:
        print(
            f"NumPy is not installed in {sys.executable}, which runs back ends written in Python: pip install numpy into "
            "it, or name another Python with INFERMETER_PYTHON",
            file=sys.stderr,
        )
        return UNFIT
    try:
        from infermeter import _worker
    except ImportError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        print(
            f"infermeter's Python module cannot be loaded into {sys.executable} (Python {version}): {error}; "
            "name the Python that it was built for with INFERMETER_PYTHON, or pip install infermeter into this one",
            file=sys.stderr,
        )
        return UNFIT
    own = Path(__file__).resolve().parent  # in a build tree our files are links to their sources
    readable = [sys.prefix, sys.base_prefix, str(own), *(path for path in sys.path if path)]
    code: int = _worker.serve(readable)
    return code


if __name__ == "__main__":
    sys.exit(main())
