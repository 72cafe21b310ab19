"""The command line `infermeter`, as a console script of the Python package."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

# In a wheel the program lies in the package; in a build tree and an installed one it lies beside.
_PLACES = ("bin/infermeter", "../../bin/infermeter", "../../../../bin/infermeter", "../../../../../bin/infermeter")


def program() -> Path | None:
    """The command line's program, if it was built."""
    package = Path(__file__).parent
    return next((package / place for place in _PLACES if os.access(package / place, os.X_OK)), None)


def main() -> NoReturn:
    found = program()
    if found is None:
        print("infermeter: the command line is not installed with this Python package", file=sys.stderr)
        sys.exit(2)
    # Back ends written in Python run in the Python that this script belongs to.
    os.environ.setdefault("INFERMETER_PYTHON", sys.executable)
    os.execv(found, ["infermeter", *sys.argv[1:]])


if __name__ == "__main__":
    main()
