#!/usr/bin/env python3
"""Writes the documentation as static pages with a search that works offline: build/docs/html/index.html.

docs.py [--build FOLDER]   FOLDER: a build with the Python module, default build/release

Pages are README.md, CHANGELOG.md, CONTRIBUTING.md, SECURITY.md and docs/*.md, the API of the C++ headers that infermeter.hpp includes and of
the back ends' header (Doxygen, Breathe), and that of the Python module (autodoc). A link that leads nowhere fails the build, as does a file
that a page would get from the network.
"""

import argparse
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "docs/site"
OUT = ROOT / "build/docs"
sys.path.insert(0, str(SITE))
import marked_headers  # noqa: E402 (its folder is no package)

PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)")
LANGUAGES = {".h": "c", ".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".json": "json", ".toml": "toml", ".txt": "cmake", ".sh": "sh"}
FENCE = "`" * 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    if shutil.which("doxygen") is None:
        sys.exit("docs: doxygen is missing: run scripts/setup --docs")
    if not (build / "python/infermeter/_core.pyi").is_file():
        sys.exit(f"docs: {build} has no Python module, whose API is to be told: run make build first")
    headers = marked_headers.public_headers(ROOT, "infermeter/infermeter.hpp")
    if write_headers(headers) or not (OUT / "xml/index.xml").is_file():
        run("doxygen", SITE / "Doxyfile", cwd=OUT)
    write_pages(headers, build)
    run(sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "-q", "-b", "html", "-d", OUT / "doctrees", OUT / "source", OUT / "html",
        env={**os.environ, "PYTHONPATH": str(build / "python")})
    check_offline(OUT / "html")
    print(f"docs: {OUT / 'html/index.html'}")


def run(*command, **options):
    if subprocess.run([str(word) for word in command], check=False, **options).returncode:
        sys.exit(f"docs: {Path(command[0]).name} failed")


def write(file, text):
    """Only what differs: what has not changed is not read again. Whether it did."""
    if file.is_file() and file.read_text() == text:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return True


# --- headers ------------------------------------------------------------------------------------------------------------------------------

def flat(header):
    """Breathe knows files by the last part of their path alone."""
    return header.replace("/", ".")


def write_headers(headers):
    texts = {flat(name): marked_headers.marked((ROOT / name).read_text()) for name in headers}
    texts["backends.infermeter_backend.h"] = marked_headers.marked_c((ROOT / "backends/infermeter_backend.h").read_text())
    changed = remove_others(OUT / "headers", texts)
    return any([write(OUT / "headers" / name, text) for name, text in texts.items()] + changed)


def remove_others(folder, names):
    """What an earlier build left and this one does not write."""
    others = [file for file in folder.rglob("*") if file.is_file() and str(file.relative_to(folder)) not in names]
    for file in others:
        file.unlink()
    return [True for _ in others]


# --- pages --------------------------------------------------------------------------------------------------------------------------------

def write_pages(headers, build):
    pages = {name: (SITE / name).read_text() for name in ("conf.py", "scorer.js", "style.css")}
    sources = [ROOT / name for name in PAGES] + sorted((ROOT / "docs").glob("*.md"))
    code = set()
    for file in sources:
        name = str(file.relative_to(ROOT))
        pages[place_of_page(name)] = rewritten(file, code)
    pages["index.md"] += (SITE / "contents.md").read_text()
    for path in sorted(code):
        pages[code_page(path)] = code_text(ROOT / path)
    pages |= api_pages(headers) | {"api/python.md": python_page(build)}
    pictures = {str(file.relative_to(ROOT)): file for file in sorted((ROOT / "docs/pictures").iterdir())}
    remove_others(OUT / "source", {*pages, *pictures})
    for name, text in pages.items():
        write(OUT / "source" / name, text)
    for name, file in pictures.items():
        (OUT / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, OUT / "source" / name)


def place_of_page(name):
    return "index.md" if name == "README.md" else name


def rewritten(file, code):
    """Links to files of the source tree, which is not part of the site, lead to pages that show them; `code` gets their paths."""

    def target(link):
        path = (file.parent / link[1]).resolve()
        if not path.is_relative_to(ROOT) or not path.exists() or path.suffix == ".png":
            return link[1]
        name = str(path.relative_to(ROOT))
        if path.suffix != ".md":
            code.add(name)
            name = code_page(name)
        return os.path.relpath(place_of_page(name), file.parent.relative_to(ROOT))

    # Between fences there is code, which has no links.
    parts = re.split(r"(^```.*?^```$)", file.read_text(), flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(target, part) for part in parts)


def code_page(path):
    return f"code/{path}.md"


def code_text(path):
    """A file, or the files of a folder, without what a build left there."""
    text = f"---\norphan: true\n---\n# {path.relative_to(ROOT)}\n"
    if path.is_file():
        return text + code_block(path)
    for file in sorted(path.rglob("*")):
        if file.suffix in LANGUAGES and "build" not in file.parts[len(path.parts):]:
            text += f"\n## {file.relative_to(path)}\n{code_block(file)}"
    return text


def code_block(file):
    return f"\n{FENCE}{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text().rstrip()}\n{FENCE}\n"


# --- API ----------------------------------------------------------------------------------------------------------------------------------

def api_pages(headers):
    folders = defaultdict(list)
    for name in headers:
        if name.count("/") > 1:
            folders[name.split("/")[1]].append(name)
    pages = {f"api/{folder}.md": f"# {folder}\n" + "".join(map(header_section, names)) for folder, names in folders.items()}
    entries = "\n".join(sorted(folders))
    pages["api/index.md"] = (
        "# C++ API\n\nEverything that `#include <infermeter/infermeter.hpp>` gives, by folder of the library ([architecture](../docs/architecture.md)"
        " says what each is for) and header.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n")
    pages["api/abi.md"] = "# infermeter_backend.h\n" + directive("doxygenfile", "backends.infermeter_backend.h")
    return pages


def header_section(name):
    return f"\n## {name.removeprefix('infermeter/')}\n{directive('doxygenfile', flat(name))}"


def directive(name, argument, *options):
    lines = "\n".join((f"```{{{name}}} {argument}", *options, "```"))
    return f"\n{lines}\n"


def python_page(build):
    sys.path.insert(0, str(build / "python"))
    package = importlib.import_module("infermeter")
    core = importlib.import_module("infermeter._core")
    text = "# Python API\n\n[Python](../docs/python.md) shows it in use.\n"
    shown = set()
    for place, names in package._PLACES.items():
        text += f"\n## {title_of(place)}\n"
        for name in names.split():
            shown.add(name)
            text += python_name("infermeter", name, getattr(package, name))
    others = sorted(name for name, value in vars(core).items() if isinstance(value, type) and name not in shown)
    text += "\n## What records hold\n" + "".join(python_name("infermeter._core", name, getattr(core, name)) for name in others)
    for module in ("settings", "metrics", "plot"):
        text += f"\n## infermeter.{module}\n" + directive("eval-rst", "", f".. automodule:: infermeter.{module}", "   :members:")
    return text


def title_of(place):
    return "Records, verdicts, stores" if place == "infermeter._core" else place.rpartition(".")[2].replace("_", " ").capitalize()


def python_name(module, name, value):
    if isinstance(value, type):
        return directive("eval-rst", "", f".. autoclass:: {module}.{name}", "   :members:", "   :undoc-members:")
    return directive("eval-rst", "", f".. autofunction:: {module}.{name}")


# --- what came out ------------------------------------------------------------------------------------------------------------------------

class Loads(HTMLParser):
    """What a browser gets with a page without being asked."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        address = values.get("src") if tag != "link" or values.get("rel") != "stylesheet" else values.get("href")
        if address and re.match(r"(https?:)?//", address):
            self.found.append(f"<{tag}> gets {address}")


def check_offline(folder):
    problems = []
    for page in sorted(folder.rglob("*.html")):
        loads = Loads()
        loads.feed(page.read_text())
        problems += [f"{page.relative_to(folder)}: {problem}" for problem in loads.found]
    for style in sorted(folder.rglob("*.css")):
        problems += [f"{style.relative_to(folder)}: {url}" for url in re.findall(r"url\([\"']?(?:https?:)?//[^)]*\)", style.read_text())]
    if problems:
        sys.exit("\n".join(["docs: pages that need the network:", *problems]))


if __name__ == "__main__":
    main()
