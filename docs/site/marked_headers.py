"""Public headers with their comments marked as documentation, for Doxygen: `//` becomes `///`, `/*` becomes `/**`."""

import re
from pathlib import Path

_INCLUDE = re.compile(r'^#include "(infermeter/[^"]+)"', re.M)
_COMMENT = re.compile(r"^(\s*)//(?: (.*)|)$")
_TRAILING = re.compile(r"^(\s*[^\s/#}](?:.*[^\s{:])?|.*;) {2,}// (.*)$")
_C_TRAILING = re.compile(r"^(\s*[^\s/*].*\S) +/\* ")
# Sphinx's parser of C++ does not know designated initialisers.
_DESIGNATED = re.compile(r" = \{\.[^;]*\};")
# What Doxygen takes for commands, entities, tags or links.
_MARKS = re.compile(r"([\\@<>#&$%\"])")
_CODE = re.compile(r"(`[^`]*`)")


def public_headers(source: Path, first: str) -> list[str]:
    """`first` and every header that it reaches, sorted."""
    found: set[str] = set()
    ahead = [first]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += _INCLUDE.findall((source / name).read_text())
    return sorted(found)


def marked(text: str) -> str:
    """A C++ header. Doxygen describes a file only where its first comment says so."""
    lines, column = ["/// \\file"], None
    for line in _DESIGNATED.sub(r" {};", text).splitlines():
        line, column = _marked_line(line, column)
        lines.append(line)
    return "\n".join(lines) + "\n"


def _marked_line(line: str, column: int | None) -> tuple[str, int | None]:
    """`column`: where the comment behind the line before stands; a comment there goes on with it."""
    if comment := _COMMENT.match(line):
        begin = "///<" if column == len(comment[1]) else "///"
        return f"{comment[1]}{begin} {_plain(comment[2] or '')}", column if begin == "///<" else None
    if trailing := _TRAILING.match(line):
        return f"{trailing[1]}  ///< {_plain(trailing[2])}", trailing.start(2) - len("// ")
    return line, None


def marked_c(text: str) -> str:
    """A C header."""
    lines = []
    for line in text.replace("/* ", "/** \\file\n * ", 1).splitlines():
        line = _C_TRAILING.sub(r"\1 /**< ", line)
        lines.append(re.sub(r"^(\s*)/\* ", r"\1/** ", line))
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return "".join(part if part.startswith("`") else _MARKS.sub(r"\\\1", part) for part in _CODE.split(text))
