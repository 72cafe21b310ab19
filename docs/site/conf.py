"""Sphinx's settings. scripts/docs puts this file beside the pages that it assembles."""

import re
from pathlib import Path

project = "infermeter"
html_title = "infermeter"
author = "infermeter"
root_doc = "index"
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]

# Links: every heading has the name that GitHub gives it, and a link that leads nowhere is a warning, which ends the build.
myst_heading_anchors = 6
suppress_warnings = [
    "myst.header",  # a page that is a part of another one may begin with a smaller heading
    "misc.highlighting_failure",  # examples are shortened with "…"
    "duplicate_declaration.cpp",  # the namespace, in every header; a friend
    "duplicate_declaration.c",  # typedef struct x x
]

# The API of C++: scripts/docs leaves what Doxygen found in ../xml.
breathe_projects = {"infermeter": str(Path(__file__).resolve().parent.parent / "xml")}
breathe_default_project = "infermeter"
breathe_show_include = False
cpp_maximum_signature_line_length = 90

# The API of Python.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 90
add_module_names = False

html_theme = "furo"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_search_summary = False  # a page from disk may not read another one
html_search_scorer = str(Path(__file__).resolve().parent / "scorer.js")
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

_CODE = re.compile(r"(`[^`]*`)")


def _as_restructured_text(lines: list[str]) -> list[str]:
    """Docstrings are plain text with code in backticks; an indented block behind an empty line is code."""
    text: list[str] = []
    in_code = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not in_code and text and not text[-1].strip():
            text += ["::", ""]
        in_code = indented or (in_code and not line.strip())
        text.append(line if in_code else _escaped(line))
    return text


def _escaped(line: str) -> str:
    parts = _CODE.split(line)
    return "".join(f"`{part}`" if part.startswith("`") else re.sub(r"([\\*|_])", r"\\\1", part) for part in parts)


def _process_docstring(app, what, name, found, options, lines):
    if what == "property" and (type_of := re.match(r"\(self\) -> (.*)", getattr(found.fget, "__doc__", None) or "")):
        # nanobind says it in the docstring of what it calls, and in the property's own where that has no other.
        lines[:] = [f"`{type_of[1]}`", "", *(line for line in lines if line != type_of[0])]
    lines[:] = _as_restructured_text(lines)


def setup(app):
    app.connect("autodoc-process-docstring", _process_docstring)
