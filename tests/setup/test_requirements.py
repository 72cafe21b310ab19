"""The pins: one version of a package everywhere, all of what a file's packages need, sizes as they are on this disk."""

import importlib.metadata
import importlib.util
import os
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

SOURCE = Path(__file__).resolve().parent.parent.parent
FILES = sorted(SOURCE.glob("requirements*.txt"))
LARGE_MB = 20
BLOCK_BYTES = 4096
# Not needed: it phones home; TensorBoard reads its logs without it, too; command lines; downloads; MLflow's server, its projects, and
# its way to Databricks.
LEFT_OUT = {"openvino-telemetry", "tensorboard-data-server", "typer", "hf-xet", "requests", "click", "uvicorn", "gitpython", "python-dotenv",
            "google-auth"}


def lines(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if not line.startswith("#")]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(*files: Path) -> dict[str, str]:
    return dict(line.split()[0].split("==") for file in files for line in lines(file))


def installed(name: str, version: str) -> importlib.metadata.Distribution:
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        found = None
    if found is None or found.version != version:
        pytest.skip(f"{name}=={version} is not installed: scripts/setup --with pytorch,jax,litert,variants --tests --bench")
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_line_is_a_pin_as_setup_reads_it(file):
    for line in lines(file):
        # Lower case and no dots: a dist-info folder's name is made of it by one replacement.
        assert re.fullmatch(r"[a-z0-9_-]+==[a-z0-9.]+(  # \d+ MB)?", line), line


def test_a_package_has_one_version_one_spelling_and_one_size():
    seen: dict[str, str] = {}
    for file in FILES:
        for line in lines(file):
            assert seen.setdefault(canonical(line.split("==")[0]), line) == line, file.name


def requirements_of(name: str, version: str, extras: frozenset[str]) -> list[Requirement]:
    texts = installed(name, version).requires or []
    return [each for each in map(Requirement, texts)
            if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in extras | {""})]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_all_dependencies_are_listed(file):
    """They are installed with --no-deps, so nothing else would bring them."""
    pinned = {canonical(name): version for name, version in pins(SOURCE / "requirements.txt", file).items()}
    wanted = [(canonical(name), frozenset()) for name in pins(file)]
    for name, extras in wanted:
        for needed in requirements_of(name, pinned[name], extras):
            needed_name = canonical(needed.name)
            if needed_name in LEFT_OUT:
                continue
            assert needed_name in pinned, f"{name} needs {needed_name}"
            assert needed.specifier.contains(pinned[needed_name], prereleases=True), f"{name} needs {needed}"
            if needed.extras and (needed_name, frozenset(needed.extras)) not in wanted:
                wanted.append((needed_name, frozenset(needed.extras)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_sizes_are_those_on_disk(file):
    for line in lines(file):
        name, version = line.split()[0].split("==")
        found = installed(name, version)
        files = [Path(found.locate_file(each)) for each in found.files or []]
        # Python's own copies are not in the list of who installs without them.
        files += [Path(importlib.util.cache_from_source(str(each))) for each in files if each.suffix == ".py"]
        files = {os.path.normpath(each): each for each in files}.values()
        measured_mb = sum(-(-each.lstat().st_size // BLOCK_BYTES) * BLOCK_BYTES for each in files if each.exists()) / 1e6
        said = re.search(r"# (\d+) MB", line)
        if said:
            assert measured_mb == pytest.approx(int(said[1]), rel=0.2), line
        else:
            assert measured_mb < 1.2 * LARGE_MB, line
