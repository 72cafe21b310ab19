"""What every test that runs the built programs uses. INFERMETER_BUILD names the build folder (default: build/release)."""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import documents
import pytest

SOURCE = Path(__file__).resolve().parent.parent
RUN_LIMIT_S = 120
# Files of few but long tests: begun late, they would be waited for when all others are done. Those of Slurm wait, and leave the processors idle.
BEGIN_WITH = ("variants/test_variants", "cli/test_earlier_words", "frameworks/test_libtorch", "docs/test_python_examples", "web/test_access",
              "conformance/test_onnx_node_tests", "fleet/test_slurm", "web/test_operators", "web/test_figures", "web/test_stacks", "docs/test_examples", "install/test_wheel",
              "examples/test_regression_gate", "frameworks/test_weights", "attribution/test_flops", "frameworks/test_pruned", "web/test_firefox",
              "cli/test_study")

# What pytest makes of a test's assertions is kept, wherever Python is told to keep nothing: the other processes take it.
sys.dont_write_bytecode = False
# Whatever imports a runtime in the tests' own process must not phone home either.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# Arithmetic of the tests themselves: several threads beside other tests wait for each other more than they compute. Workers do not inherit these.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# A shell starts what runs in the background with Ctrl-C ignored, which programs inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Those files first, then the others by the number of their tests: the order in which pytest-xdist hands them out."""
    count = Counter(item.path for item in items)

    def rank(item):
        name = str(item.path.relative_to(SOURCE / "tests").with_suffix(""))
        return (BEGIN_WITH.index(name) if name in BEGIN_WITH else len(BEGIN_WITH), -count[item.path])

    items.sort(key=rank)


@pytest.fixture(scope="session")
def source_dir() -> Path:
    return SOURCE


@pytest.fixture(scope="session")
def build_dir() -> Path:
    folder = Path(os.environ.get("INFERMETER_BUILD", SOURCE / "build/release")).resolve()
    if not (folder / "CMakeCache.txt").exists():
        pytest.fail(f"{folder} is not a build folder: run `make test`, or set INFERMETER_BUILD to one that is built")
    return folder


@pytest.fixture(scope="session")
def infermeter(build_dir) -> Path:
    """The command line, as built."""
    program = build_dir / "bin/infermeter"
    if not program.exists():
        pytest.fail(f"{program} is not built: run `make test`")
    return program


@pytest.fixture(scope="session")
def models_cache(tmp_path_factory, request) -> Path:
    """Zoo models are written once per session, not once per test, for all workers of pytest-xdist together."""
    of_worker = tmp_path_factory.getbasetemp()
    folder = (of_worker.parent if hasattr(request.config, "workerinput") else of_worker) / "cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def environment_in(models_cache):
    """environment_in(folder) -> an environment with a private HOME in that folder."""

    def make(folder) -> dict:
        home = folder / "home"
        (home / "intel").mkdir(parents=True)
        (home / "intel/openvino_telemetry").write_text("0")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("INFERMETER_", "XDG_", "COLUMNS"))}
        return kept | {
            "HOME": str(home),
            "XDG_CACHE_HOME": str(models_cache),
            "VIRTUAL_ENV": sys.prefix,
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
            "ORT_DISABLE_TELEMETRY": "1",
        }

    return make


@pytest.fixture
def environment(environment_in, tmp_path) -> dict:
    """A private HOME, no colour, nothing of the caller's INFERMETER_* settings; the runtimes of this test's Python."""
    return environment_in(tmp_path)


@pytest.fixture(scope="session")
def run_in(infermeter):
    """run_in(folder, environment) -> `run` for what several tests share."""

    def make(parent, environment):
        folder = parent / "work"
        folder.mkdir()

        def call(*arguments, env=None, cwd=folder, timeout=RUN_LIMIT_S, program=infermeter, **options):
            if "input" not in options:
                options.setdefault("stdin", subprocess.DEVNULL)
            options.setdefault("stdout", subprocess.PIPE)
            options.setdefault("stderr", subprocess.PIPE)
            done = subprocess.run(
                [str(program), *map(str, arguments)],
                env=environment | (env or {}), cwd=cwd, timeout=timeout, text=True, errors="surrogateescape", **options)
            documents.check_printed(done.stdout)
            return done

        call.folder = folder
        return call

    return make


@pytest.fixture
def run(run_in, environment, tmp_path):
    """run("models", "--list", env={…}, cwd=…, input=…) -> CompletedProcess with text; the exit code is the test's affair."""
    return run_in(tmp_path, environment)


class Running:
    """A process whose standard error is read as it comes."""

    def __init__(self, process):
        self.process, self.err = process, ""

    def wait_for(self, part):
        while part not in self.err:
            line = self.process.stderr.readline()
            assert line, self.err
            self.err += line

    def end(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, self.err + err


@pytest.fixture
def run_slowly(run, infermeter, environment):
    """run_slowly("run", …) -> a context with the process while it runs."""

    @contextmanager
    def start(*arguments):
        process = subprocess.Popen([str(infermeter), *map(str, arguments)], env=environment, cwd=run.folder, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            yield Running(process)
        finally:
            process.kill()
            process.wait()

    return start


@pytest.fixture(scope="session")
def ccache():
    """For programs of others that tests compile: the environment in which CMake and ccache compile each of them once, in
    whichever temporary folder; as a prefix of a command the value of CMAKE_CXX_COMPILER_LAUNCHER. {} without ccache."""
    program = shutil.which("ccache")
    return {"CMAKE_CXX_COMPILER_LAUNCHER": program, "CCACHE_BASEDIR": "/", "CCACHE_NOHASHDIR": "1"} if program else {}


@pytest.fixture(scope="session")
def installed(build_dir, tmp_path_factory) -> Path:
    """The prefix of a `cmake --install` of the build, in a folder that the build knows nothing of."""
    prefix = tmp_path_factory.mktemp("installed") / "here" / "prefix"
    result = subprocess.run(["cmake", "--install", build_dir, "--prefix", prefix], capture_output=True, text=True)
    if result.returncode != 0:
        pytest.fail(f"cmake --install failed: {result.stderr}")
    # Moved, so that whatever holds an absolute path shows.
    moved = prefix.parent.parent / "moved"
    prefix.parent.rename(moved)
    return moved / "prefix"
