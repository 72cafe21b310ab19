"""The documentation as pages (`make docs`): links in the Markdown, comments of headers as Doxygen takes them, and what Sphinx refuses. The
whole site takes most of a minute and is not built here."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent.parent
SITE = SOURCE / "docs/site"
PAGES = [*sorted(SOURCE.glob("*.md")), *sorted((SOURCE / "docs").glob("*.md"))]
FENCES = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*)$", FENCES.sub("", page.read_text()), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        found.add(next(each for each in (name, *(f"{name}-{n}" for n in range(1, 99))) if each not in found))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for path, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)]*))?\)", FENCES.sub("", page.read_text())):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def test_each_page_is_in_the_contents():
    listed = re.findall(r"^(?:docs/)?[\w-]+$", (SITE / "contents.md").read_text(), re.MULTILINE)
    wanted = {str(page.relative_to(SOURCE).with_suffix("")) for page in PAGES} - {"README"}
    assert wanted <= set(listed)
    assert len(listed) == len(set(listed))


HEADER = """// A part of a plan. It has a @sign, a <tag> and 50 % of #all.
#pragma once

// How it stops: MODEL@BACKEND, with \\n.
struct Stop {
  int iterations = 1;  // how many,
                       // at least
  // Seconds.
  double duration_s = 0;
};

// Which one.
enum class End {
  ok,      // it ended
  failed,  // it did not
};

// Stops `what`.
int stop(const Stop& what, Stop with = {.iterations = 2});
"""
C_HEADER = """/* The ABI.
 *
 * More of it. */
#define WIDE 1

/* What happened. */
typedef enum end {
  OK = 0,    /* it ended */
  FAILED = 1 /* it did not */
} end;
"""


def test_doxygen_finds_the_comments_of_headers(tmp_path):
    if shutil.which("doxygen") is None:
        pytest.skip("doxygen is not installed: scripts/setup --docs")
    script = ("import sys; from pathlib import Path; from marked_headers import marked, marked_c; "
              "[Path(name).write_text(take(Path(name).read_text())) for name, take in (('headers/a.b.hpp', marked), ('headers/c.h', marked_c))]")
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers/a.b.hpp").write_text(HEADER)
    (tmp_path / "headers/c.h").write_text(C_HEADER)
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, env={"PYTHONPATH": str(SITE)})
    done = subprocess.run(["doxygen", SITE / "Doxyfile"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    described = {}
    for file in (tmp_path / "xml").glob("*.xml"):
        for each in xml.etree.ElementTree.parse(file).iter():
            name = each.findtext("compoundname") or each.findtext("name")
            if name is not None and each.find("detaileddescription") is not None:
                described[name] = " ".join("".join([*each.find("briefdescription").itertext(), *each.find("detaileddescription").itertext()]).split())
    assert described["a.b.hpp"] == "A part of a plan. It has a @sign, a <tag> and 50 % of #all."
    assert described["Stop"] == "How it stops: MODEL@BACKEND, with \\n."
    assert described["iterations"] == "how many, at least"
    assert described["duration_s"] == "Seconds."
    assert described["End"] == "Which one."
    assert (described["ok"], described["failed"]) == ("it ended", "it did not")
    assert described["stop"] == "Stops what."
    assert described["c.h"] == "The ABI. More of it."
    assert described["end"] == "What happened."
    assert (described["OK"], described["FAILED"]) == ("it ended", "it did not")


def build(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    source = folder / "source"
    source.mkdir()
    for name in ("conf.py", "scorer.js", "style.css"):
        shutil.copy(SITE / name, source)
    (source / "index.md").write_text(page)
    (source / "other.md").write_text("---\norphan: true\n---\n# Other\n\n## A part, of it\n")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "-q", "-b", "html", source, folder / "html"]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_sphinx_refuses_links_that_lead_nowhere(tmp_path):
    for module in ("sphinx", "myst_parser", "breathe", "furo"):
        pytest.importorskip(module, reason="scripts/setup --docs")
    (tmp_path / "good").mkdir()
    good = build(tmp_path / "good", "# Title\n\n[one](other.md#a-part-of-it) [self](#title)\n")
    assert (good.returncode, good.stderr) == (0, "")
    assert 'href="other.html#a-part-of-it"' in (tmp_path / "good/html/index.html").read_text()
    (tmp_path / "bad").mkdir()
    bad = build(tmp_path / "bad", "# Title\n\n[1](othre.md) [2](other.md#no-such-part) [3](#none) [4](code/gone.cpp)\n\n![5](gone.png)\n")
    assert bad.returncode == 1
    for what in ("othre.md", "no-such-part", "none", "code/gone.cpp", "gone.png"):
        assert what in bad.stderr, what
