"""What every figure here shares: matplotlib where it is installed, settings that give the same bytes for the same
values, and texts that are drawn as they are."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infermeter.errors import UsageError
from infermeter.plot_rows import clean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")
REFUSED = 78  # EX_CONFIG; the last line on standard error says why


def check_ending(path: str | os.PathLike[str], what: str, endings: Sequence[str] = ENDINGS) -> None:
    if Path(path).suffix not in endings:
        raise UsageError(f"{clean(str(path))}: {what} is a {', '.join(endings[:-1])} or {endings[-1]} file")


def check_matplotlib(what: str) -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]  # not the module of it that was asked for
        raise UsageError(
            f"{what} needs {package}, which is not installed in {sys.executable}: scripts/setup --with plot, or pip "
            "install matplotlib"
        ) from None


@contextmanager
def new_figure(path: str | os.PathLike[str], what: str, width: float, height: float, dpi: int) -> Iterator[Figure]:
    """A figure of this size in inches, saved at the end. `what`: "a plot", where matplotlib is missing."""
    check_matplotlib(what)
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        # The same run gives the same bytes; a name in a script that the font lacks is drawn as boxes, which is seen.
        matplotlib.rcParams.update({"svg.hashsalt": "infermeter", "font.size": 9})
        warnings.simplefilter("ignore")
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.savefig(path, dpi=dpi, metadata={"Date": None} if Path(path).suffix == ".svg" else None)


def set_text(text: Any, content: str) -> None:
    text.set_parse_math(False)  # a "$" is a "$"
    text.set_text(content)


def main(arguments: Sequence[str] | None = None) -> int:
    """Whether figures can be drawn here, asked before there is anything to draw."""
    parser = argparse.ArgumentParser(prog="python -m infermeter.figure")
    parser.add_argument("what", type=Path, help="what would be drawn")
    parser.add_argument("done", type=Path, help="written if it can be")
    given = parser.parse_args(arguments)
    try:
        check_matplotlib(given.what.read_text(encoding="utf-8"))
        given.done.write_text("done\n", encoding="utf-8")
    except (UsageError, OSError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
