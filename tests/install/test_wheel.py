"""The wheel, installed in an environment of its own and used where there is neither source nor build: built once, in minutes
where the compiler has not seen it all before."""

import base64
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

BUILD_LIMIT_S = 3600
SHORT = ("--iterations", 50, "--processes", 1, "--quiet", "--format", "json")


def cache_value(build_dir, name):
    found = re.search(rf"^{name}:\w+=(.+)$", (build_dir / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else ""


@pytest.fixture(scope="session")
def wheel(build_dir, source_dir, tmp_path_factory):
    """Built as `pip wheel .` does, with the build's compiler, in a folder beside the build's, as deep as that: ccache knows
    what it compiles there by paths relative to the folder."""
    for needed in ("scikit_build_core", "nanobind", "pip"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed: scripts/setup installs it")
    folder = tmp_path_factory.mktemp("wheel")
    environment = os.environ | {
        "CC": cache_value(build_dir, "CMAKE_C_COMPILER"), "CXX": cache_value(build_dir, "CMAKE_CXX_COMPILER")}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", source_dir, "--no-deps", "--no-build-isolation", "--no-index",
         "--wheel-dir", folder, f"--config-settings=build-dir={build_dir.parent / 'wheel'}"],
        env=environment, capture_output=True, text=True, timeout=BUILD_LIMIT_S)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    (file,) = folder.glob("*.whl")
    return file


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="session")
def site(wheel, tmp_path_factory):
    """The site-packages of a fresh environment that has the wheel, numpy, and ONNX Runtime where this one has it."""
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--no-deps", "--no-index", wheel],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (packages,) = folder.glob("lib/python*/site-packages")
    # Not links: a worker may read what lies in the environment, and nothing that it points to elsewhere.
    for name in ("numpy", "numpy.libs", "onnxruntime/capi"):
        source = Path(importlib.util.find_spec("numpy").origin).parents[1] / name
        if source.is_dir():
            shutil.copytree(source, packages / name, copy_function=link_or_copy)
    return packages


@pytest.fixture
def call(site, tmp_path, models_cache):
    """Runs a program of the environment, in / and with next to nothing of ours around it."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8", "ORT_DISABLE_TELEMETRY": "1",
                   "XDG_CACHE_HOME": str(models_cache)}

    def run(program, *arguments):
        done = subprocess.run([site.parents[2] / "bin" / program, *map(str, arguments)], cwd="/", env=environment,
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_what_is_in_it(wheel, source_dir):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = [archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
    version = re.search(r"project\(infermeter VERSION ([0-9.]+)", (source_dir / "CMakeLists.txt").read_text())[1]
    assert f"\nVersion: {version}\n" in metadata and "\nRequires-Python: >=3.11\n" in metadata
    expected = {"infermeter/__init__.py", "infermeter/py.typed", "infermeter/_core.pyi", "infermeter/bin/infermeter",
                "infermeter/libexec/infermeter/infermeter-worker", "infermeter/lib/libinfermeter.so.0",
                "infermeter/lib/infermeter/backends/infermeter_backend_fake.so",
                "infermeter/lib/infermeter/backends/infermeter_backend_onnxruntime.so"}
    expected |= {f"infermeter/lib/infermeter/backends/{file.name}"
                 for file in (source_dir / "backends").glob("*/infermeter_*.py")}
    expected |= {str(file.relative_to(source_dir / "python")) for file in (source_dir / "python/infermeter").rglob("*.py")}
    assert expected <= names
    assert {name.split(".")[0] for name in names if name.endswith(".so")} >= {"infermeter/_core", "infermeter/_worker"}
    unwanted = (".hpp", ".h", ".a", ".cmake", ".pc", ".pyc")
    assert not [name for name in names if name.endswith(unwanted) or "_test" in name]
    assert {name.split("/")[0] for name in names} == {"infermeter", f"infermeter-{version}.dist-info"}


def test_libpq_is_linked(wheel, tmp_path):
    """auditwheel copies what is linked, and knows nothing of what is loaded later."""
    with zipfile.ZipFile(wheel) as archive:
        library = archive.extract("infermeter/lib/libinfermeter.so.0", tmp_path)
    needed = subprocess.run(["readelf", "--dynamic", library], capture_output=True, text=True, check=True).stdout
    assert "Shared library: [libpq.so.5]" in needed


def test_what_others_wrote_is_told(wheel, build_dir, source_dir, tmp_path):
    """scripts/bundle.py: texts of licences and a bill of materials, the same bytes each time."""
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        subprocess.run([sys.executable, source_dir / "scripts/bundle.py", "wheel", wheel, build_dir.parent / "wheel", tmp_path / name],
                       env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}, check=True)
        files.append(tmp_path / name / wheel.name)
    assert files[0].read_bytes() == files[1].read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        before = {name for name in archive.namelist() if not name.endswith("/")}
    with zipfile.ZipFile(files[0]) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
        assert {info.date_time for info in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}
        [program] = [info for info in archive.infolist() if info.filename == "infermeter/bin/infermeter"]
        assert program.external_attr >> 16 == 0o100755
    assert before <= contents.keys()
    [record] = [name for name in contents if name.endswith("/RECORD")]
    rows = [line.rsplit(",", 2) for line in contents[record].decode().splitlines()]
    assert {row[0] for row in rows} == contents.keys()
    for name, digest, size in rows:
        if name == record:
            continue
        found = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).rstrip(b"=").decode()
        assert (digest, int(size)) == (f"sha256={found}", len(contents[name])), name
    info = record.removesuffix("RECORD")
    said = re.findall(r"^License-File: (.+)$", contents[info + "METADATA"].decode().split("\n\n")[0], re.MULTILINE)
    assert {"LICENSE", "bundled/nanobind.txt", "bundled/echarts.txt"} <= set(said)
    assert all(len(contents[f"{info}licenses/{file}"]) > 200 for file in said)
    bill = json.loads(contents[info + "sboms/infermeter.cdx.json"])
    assert bill["bomFormat"] == "CycloneDX" and bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    components = {one["name"]: one for one in bill["components"]}
    assert {"nanobind", "echarts", "libfmt-dev", "nlohmann-json3-dev"} <= components.keys() and "libc6-dev" not in components
    assert all(one["version"] and one["licenses"] and one["purl"].startswith("pkg:") for one in components.values())
    assert bill["dependencies"][0]["dependsOn"] == [one["bom-ref"] for one in bill["components"]]


def test_a_release_without_wheels_has_no_bill(source_dir, tmp_path):
    done = subprocess.run([sys.executable, source_dir / "scripts/bundle.py", "sbom", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == f"bundle: there is no wheel in {tmp_path}\n"


def test_nothing_in_it_names_the_folders_of_the_build(site, source_dir, build_dir):
    for file in (site / "infermeter").rglob("*"):
        if file.is_file() and (file.suffix in (".so", ".0") or os.access(file, os.X_OK)):
            output = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
            paths = [line for line in output.splitlines() if "PATH" in line]
            assert all("$ORIGIN" in line and str(build_dir) not in line and str(source_dir) not in line for line in paths), file


def test_the_command_line(call, tmp_path):
    assert call("infermeter", "version").startswith("infermeter ")
    subjects = ["mlp@fake,latency=constant:100us", "mlp@onnxruntime"]
    if importlib.util.find_spec("onnxruntime") is None:
        subjects.pop()
    report = json.loads(call("infermeter", "run", *subjects, *SHORT, "--no-compare-outputs", "--output-dir", tmp_path / "results"))
    assert [len(trial["samples"]["latency_s"]) for trial in report["trials"]] == [50] * len(subjects)


def test_the_module(call, site, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"""
import sys
import infermeter
record = infermeter.run("mlp@fake,latency=constant:100us", iterations=50, processes=1,
                        output_dir={str(tmp_path / "results")!r})
print(infermeter.__file__, len(record.samples[0].latencies_s), len(infermeter.measure(lambda: None)))
found = {{backend.name: backend for backend in infermeter.backends()}}
print(found["fake"].plugin, found["python"].error or found["python"].runtime_version)
""")
    out = call("python", program).split()
    assert out[:3] == [str(site / "infermeter/__init__.py"), "50", "100"]
    assert out[3] == str(site / "infermeter/lib/infermeter/backends/infermeter_backend_fake.so")
    assert out[4] == ".".join(map(str, sys.version_info[:3]))


def test_back_ends_written_in_python(call, tmp_path):
    """They run in the environment's own Python, by the worker module of the wheel."""
    (tmp_path / "model.py").write_text("""
import sys

from infermeter import Model, Port


def make():
    return Model(lambda x: x + 1, [Port("x", "float32", (1, 4))])
""")
    subject = f"{tmp_path / 'model.py'}:make@python"
    report = json.loads(call("infermeter", "run", subject, *SHORT, "--output-dir", tmp_path / "results"))
    assert [trial["end"] for trial in report["trials"]] == ["ok"]


def test_a_build_without_what_the_module_needs(source_dir, tmp_path):
    """The module is left out with a warning that says what to do, and so are the back ends that need it."""
    if subprocess.run(["/usr/bin/python3", "-m", "nanobind", "--cmake_dir"], capture_output=True).returncode == 0:
        pytest.skip("the system's Python has nanobind")
    done = subprocess.run(
        ["cmake", "-S", source_dir, "-B", tmp_path, "-DPython_EXECUTABLE=/usr/bin/python3", "-DINFERMETER_TESTS=OFF",
         "-DINFERMETER_BENCHMARKS=OFF"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    warning = " ".join(done.stderr.split())
    assert "The Python module is left out: /usr/bin/python3 has no nanobind 3.1. scripts/setup installs it" in warning
    assert not (tmp_path / "python").exists() and not list(tmp_path.glob("lib/infermeter/backends/*.py"))
