"""scripts/release, as far as it is known without building: which Pythons wheels are built with, what the source distribution has."""

import re
import subprocess
import tomllib

import pytest


def found_pythons(source_dir, *folders):
    function = re.search(r"^find_pythons\(\) \{.*?^\}", (source_dir / "scripts/release").read_text(), re.MULTILINE | re.DOTALL)[0]
    script = f'say() {{ echo "release: $*"; }}\n{function}\nfind_pythons'
    path = ":".join(map(str, folders))
    return subprocess.run(["/bin/bash", "-c", script], env={"PATH": path}, capture_output=True, text=True, check=True)


def program(folder, name, text):
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_a_shim_whose_version_is_not_switched_on_is_told_and_the_next_is_taken(source_dir, tmp_path):
    shim = program(tmp_path / "shims", "python3.12", "echo \"pyenv: python3.12: command not found\" >&2; echo \"It is in 3.12.1\" >&2; exit 127")
    python = program(tmp_path / "bin", "python3.13", "exit 0")
    done = found_pythons(source_dir, shim.parent, python.parent)
    assert done.stdout.splitlines() == ["/usr/bin/python3", str(python)]
    assert done.stderr == f"release: {shim} does not run: pyenv: python3.12: command not found\n"


def test_without_any_the_wheel_that_will_be_missing_is_told(source_dir, tmp_path):
    done = found_pythons(source_dir, tmp_path)
    assert done.stdout == "/usr/bin/python3\n"
    assert "there will be no wheel for CPython 3.12 and later" in done.stderr and "PYTHONS=" in done.stderr


def test_the_source_distribution_has_all_that_is_built(source_dir):
    """What is left out of it, by the rules of scikit-build-core: patterns of gitignore, which find a bare name at any depth."""
    pathspec = pytest.importorskip("pathspec", reason="scripts/setup")
    rules = tomllib.loads((source_dir / "pyproject.toml").read_text())["tool"]["scikit-build"]["sdist"]["exclude"]
    spec = pathspec.GitIgnoreSpec.from_lines(rules)
    folders = ("infermeter", "backends", "cli", "python", "web", "cmake", "scripts", "docs", "studies", "simulation", "packaging", "examples")
    files = [str(file.relative_to(source_dir)) for folder in folders for file in (source_dir / folder).rglob("*") if "node_modules" not in file.parts]
    assert len(files) > 1000
    assert [file for file in files if spec.match_file(file)] == []
    assert spec.match_file("tests/cli/test_run.py") and spec.match_file("bench/run")
