"""The installed tree, moved away from where it was installed: what is in it, and that other people's programs can use it."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
#include <iostream>

#include "infermeter/infermeter.hpp"
#include "infermeter/version.hpp"

int main() {
  for (const auto& model : infermeter::zoo()) std::cout << model.name << '\\n';
  const auto launcher = infermeter::find_launcher();
  if (!launcher) return std::cout << launcher.error().message << '\\n', 1;
  std::cout << "worker " << launcher.value().worker.string() << '\\n';
}
"""


def call(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_what_is_installed(installed):
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if not path.is_dir()}
    expected = {
        "bin/infermeter", "libexec/infermeter/infermeter-worker", "lib/libinfermeter.so", "lib/pkgconfig/infermeter.pc",
        "lib/cmake/infermeter/infermeterConfig.cmake", "lib/cmake/infermeter/infermeterConfigVersion.cmake",
        "lib/cmake/infermeter/infermeterTargets.cmake", "include/infermeter_backend.h", "include/infermeter/version.hpp",
        "include/infermeter/infermeter.hpp", "share/doc/infermeter/LICENSE",
    } | {f"lib/infermeter/backends/infermeter_backend_{name}.so" for name in ("fake", "onnxruntime", "openvino")}
    assert expected <= names
    assert not [name for name in names if name.endswith((".a", ".cpp")) or "_test" in name]


def test_private_headers_stay_home(installed, source_dir):
    headers = {path.relative_to(installed / "include") for path in (installed / "include").rglob("*.hpp")}
    everything = {path.relative_to(source_dir) for path in (source_dir / "infermeter").rglob("*.hpp")}
    assert headers - everything == {path for path in headers if path.name == "version.hpp"}
    assert len(headers) < len(everything)


def test_nothing_installed_names_the_folders_of_the_build(installed, build_dir, source_dir):
    for path in installed.rglob("*"):
        if path.suffix in (".cmake", ".pc", ".hpp"):
            text = path.read_text()
            assert str(build_dir) not in text and str(source_dir) not in text, path
    for program in ("bin/infermeter", "libexec/infermeter/infermeter-worker", "lib/libinfermeter.so"):
        paths = [line for line in call("readelf", "-d", installed / program).splitlines() if "PATH" in line]
        assert all("$ORIGIN" in line and str(build_dir) not in line for line in paths), paths
        # Nor does what the linker made its build ID of.
        assert str(source_dir).encode() not in (build_dir / program).read_bytes(), program


def test_the_moved_program_runs_with_its_own_library(installed, run):
    assert "libinfermeter" in call("ldd", installed / "bin/infermeter").split(str(installed))[0]
    done = run("models", program=installed / "bin/infermeter")
    assert done.returncode == 0, done.stderr
    assert "resnet50" in done.stdout


@pytest.fixture
def program(tmp_path):
    folder = tmp_path / "embedding"
    folder.mkdir()
    (folder / "main.cpp").write_text(PROGRAM)
    return folder


def expect_it_works(installed, output):
    assert "resnet50\n" in output and "vit_b_16\n" in output
    assert f"worker {installed}/libexec/infermeter/infermeter-worker" in output


def test_find_package(installed, program, ccache):
    (program / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(embedding CXX)\nfind_package(infermeter 0.1 REQUIRED)\n"
        "add_executable(embedding main.cpp)\ntarget_link_libraries(embedding PRIVATE infermeter::infermeter)\n")
    call("cmake", "-S", program, "-B", program / "build", f"-DCMAKE_PREFIX_PATH={installed}", env=os.environ | ccache)
    call("cmake", "--build", program / "build", env=os.environ | ccache)
    expect_it_works(installed, call(program / "build/embedding", cwd=program))


def test_pkg_config(installed, program, ccache):
    environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(installed / "lib/pkgconfig")}
    flags = call("pkg-config", "--cflags", "infermeter", env=environment).split()
    libraries = call("pkg-config", "--libs", "infermeter", env=environment).split()
    compiler = [ccache["CMAKE_CXX_COMPILER_LAUNCHER"], "g++"] if ccache else ["g++"]
    call(*compiler, "-std=c++20", *flags, "-c", program / "main.cpp", "-o", program / "main.o", cwd=program,
         env=os.environ | ccache)
    call("g++", program / "main.o", "-o", program / "embedding", *libraries, f"-Wl,-rpath,{installed}/lib")
    expect_it_works(installed, call(program / "embedding", cwd=program))


def test_the_python_module(installed, environment, tmp_path):
    package = installed / "lib/infermeter/python/infermeter"
    if not package.exists():
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")
    code = ("import infermeter, sys\n"
            "record = infermeter.run('mlp@fake,latency=constant:100us', iterations=20, processes=1)\n"
            "print(infermeter.__file__, len(record.samples[0]), infermeter._core.plugin_path('fake'))\n"
            "from infermeter import cli\n"
            "print(cli.program().resolve())\n")
    out = call(sys.executable, "-c", code, cwd=tmp_path, env=environment | {"PYTHONPATH": str(package.parent)}).split()
    assert out == [f"{package}/__init__.py", "20", f"{installed}/lib/infermeter/backends/infermeter_backend_fake.so",
                   f"{installed}/bin/infermeter"]


def test_shells_and_man_find_their_files(installed):
    assert "complete -o default" in (installed / "share/bash-completion/completions/infermeter").read_text()
    assert (installed / "share/zsh/site-functions/_infermeter").read_text().startswith("#compdef infermeter")
    assert "complete -c infermeter" in (installed / "share/fish/vendor_completions.d/infermeter.fish").read_text()
    pages = {page.name for page in (installed / "share/man/man1").iterdir()}
    assert {"infermeter.1", "infermeter-run.1", "infermeter-completion.1"} <= pages and "infermeter-complete.1" not in pages
