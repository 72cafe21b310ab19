"""The package as such: importing it is cheap, everything in it is documented and typed."""

import subprocess
import sys

import pytest


def test_importing_loads_nothing(python):
    done = python("""
import sys
before = set(sys.modules)
import infermeter
loaded = {name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names
print(sorted(loaded), sorted(name for name in sys.modules if name.startswith("infermeter")))
infermeter.run, infermeter.Plan("mlp@fake")
assert not {"numpy", "pandas", "torch", "jax"} & set(sys.modules)
""")
    assert done.stdout == "['infermeter'] ['infermeter']\n", done.stderr


def test_every_name_is_there_and_documented(im):
    assert set(im.__all__) <= set(dir(im)) and im.__version__.count(".") == 2
    for name in im.__all__:
        thing = getattr(im, name)
        assert name == "__version__" or thing.__doc__, name
        assert thing is getattr(im, name)
    with pytest.raises(AttributeError, match="module 'infermeter' has no attribute 'rum'"):
        im.rum  # noqa: B018


def test_the_version_is_the_command_lines(im, run):
    assert run("version").stdout.split()[1] == im.__version__


def test_attributes_are_documented(im):
    """What has a unit says so: every public property of the records that people read."""
    for kind in (im.Samples, im.Record, im.Plan, im.Verdict):
        for name in dir(kind):
            if name.endswith("_s") or name.endswith("_at"):
                assert "econds" in (getattr(kind, name).__doc__ or ""), f"{kind.__name__}.{name}"


def test_stubs_name_python_types_only(package_dir):
    stub = (package_dir / "infermeter/_core.pyi").read_text()
    assert "std::" not in stub and "infermeter::" not in stub
    compile(stub, "_core.pyi", "exec")


def test_the_program_of_the_console_script(python, build_dir):
    done = python("""
import sys
from infermeter import cli
sys.argv = ["infermeter", "version"]
cli.main()
""")
    assert done.returncode == 0 and done.stdout.startswith("infermeter "), done.stderr
    done = python("import runpy, sys; sys.argv = ['infermeter', 'verson']; runpy.run_module('infermeter')")
    assert done.returncode == 2 and "did you mean 'version'?" in done.stderr


def test_a_package_without_its_program(package_dir, tmp_path):
    """As where only the Python part was copied."""
    folder = tmp_path / "a/b/c/infermeter"
    folder.mkdir(parents=True)
    for name in ("__init__.py", "cli.py"):
        (folder / name).write_text((package_dir / "infermeter" / name).read_text())
    done = subprocess.run([sys.executable, "-m", "infermeter.cli"], cwd=folder.parent, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "infermeter: the command line is not installed with this Python package\n")


def test_errors_have_the_command_lines_exit_codes(im):
    kinds = (im.Error, im.UsageError, im.ModelError, im.WorkerError, im.InternalError)
    codes = {kind.__name__: kind.exit_code for kind in kinds}
    assert codes == {"Error": 2, "UsageError": 2, "ModelError": 3, "WorkerError": 4, "InternalError": 2}
    assert all(issubclass(kind, im.Error) for kind in kinds)


def test_types(package_dir, tmp_path):
    (tmp_path / "program.py").write_text("""
import infermeter

record: infermeter.Record = infermeter.run("mlp@fake", iterations=10)
latency: float = float(record.samples[0].latencies_s.max())
value: float | None = record.verdict.subjects[0].summary.metrics[0].value
try:
    infermeter.load("x")
except infermeter.Error as error:
    code: int = error.exit_code
""")
    names = ("__init__.py", "errors.py", "runs.py", "record.py", "cli.py", "backend.py")
    files = [package_dir / "infermeter" / name for name in names]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", tmp_path / "cache"]
    done = subprocess.run([*command, *files, tmp_path / "program.py"], capture_output=True, text=True, cwd=package_dir)
    assert done.returncode == 0, done.stdout
