"""The page's sources: their types, their own tests, and what they are locked to."""
import json
import os
import shutil
import subprocess

import pytest

PACKAGES_LACK = "web/node_modules is missing: the build makes it"


@pytest.fixture
def web(source_dir):
    assert (source_dir / "web/node_modules").is_dir(), PACKAGES_LACK
    return source_dir / "web"


@pytest.fixture
def node(source_dir):
    """The Node.js that the build uses: the machine's, else the one in .venv."""
    path = os.pathsep.join([os.environ["PATH"], str(source_dir / ".venv/bin")])
    return lambda *arguments, cwd: subprocess.run([shutil.which("node", path=path), *arguments], cwd=cwd, text=True,
                                                  capture_output=True, timeout=300, env={**os.environ, "PATH": path})


def test_types_are_right(web, node):
    done = node("node_modules/typescript/bin/tsc", "-p", ".", cwd=web)
    assert done.returncode == 0, done.stdout + done.stderr


def test_unit_tests_of_the_page_pass(web, node):
    done = node("test/run.mjs", cwd=web)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout or "fail 0" in done.stdout, done.stdout[-2000:]


def test_the_lock_file_names_versions_and_no_addresses(web):
    lock = json.loads((web / "package-lock.json").read_text())
    assert all("resolved" not in package for package in lock["packages"].values())
    asked = json.loads((web / "package.json").read_text())
    for name, version in {**asked["dependencies"], **asked["devDependencies"]}.items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
