"""Every command that README.md, docs/ and --help show is run, in a folder that contains the files they name. `run`, `load`, `compare`, `tune`,
`profile`, `variants` and `study` get --dry-run where it would take long: everything but the measuring is done then, the back ends' own check of options included."""

import glob
import gzip
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from PIL import Image

SOURCE = Path(__file__).resolve().parent.parent.parent
FRAMEWORKS = {"pytorch": ("torch", "pytorch"), "jax": ("jax", "jax"), "litert": ("ai_edge_litert", "litert"), "genai": ("openvino_genai", "generation"),
              "cpp": ("cyllama", "generation")}


def commands():
    found = []
    for file in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]:
        for block in re.findall(r"```sh\n(.*?)```", file.read_text(), re.S):
            found += [line for line in block.splitlines() if line.startswith("infermeter ")]
    for file in sorted((SOURCE / "tests/golden/help").glob("*.txt")):
        found += [line.strip() for line in file.read_text().splitlines() if line.startswith("  infermeter ")]
    # Without the comment, and without what it is piped into.
    return sorted({re.split(r"\s+#|\s+\|", line)[0].strip() for line in found})


def toml_blocks():
    return re.findall(r"```toml\n(.*?)```", (SOURCE / "docs/plan.md").read_text(), re.S)


RECORD = """
import sys, numpy, onnx, onnxruntime
from onnx import numpy_helper
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
x = numpy.random.default_rng(1).uniform(-1, 1, (1, 16)).astype(numpy.float32)
for name, array in (("input_0", x), ("output_0", session.run(None, {"input": x})[0])):
    open(f"{sys.argv[2]}/{name}.pb", "wb").write(numpy_helper.from_array(array).SerializeToString())
"""


PROFILE = """
import sys, numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.enable_profiling, options.optimized_model_filepath = True, "optimized.onnx"
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
for _ in range(10): session.run(None, {"input": numpy.zeros((1, 16), numpy.float32)})
print(session.end_profiling())
"""


def write_profiles(here):
    """What `infermeter import` is shown with."""
    done = subprocess.run([sys.executable, "-c", PROFILE, "model.onnx"], cwd=here, capture_output=True, text=True, check=True)
    profile = (here / done.stdout.split()[-1]).rename(here / "onnxruntime_profile.json")
    for name in ("a1", "a2", "a3", "b1", "b2", "b3"):
        shutil.copy(profile, here / f"{name}.json")
    times = SOURCE / "infermeter/importing/fixtures/hyperfine.json"
    shutil.copy(times, here)
    for name in ("base1", "base2", "base3", "head1", "head2", "head3"):
        shutil.copy(times, here / f"{name}.json")
    (here / "trace.json.gz").write_bytes(gzip.compress((SOURCE / "infermeter/profile/fixtures/torch_small.json").read_bytes()))


@pytest.fixture(scope="module")
def all_that_is_named(run_in, environment_in, tmp_path_factory):
    """A folder with all that the examples name: models, test data, a plan, another runtime's library, a stored run."""
    parent = tmp_path_factory.mktemp("examples")
    run = run_in(parent, environment_in(parent))
    here = run.folder
    library = sorted(glob.glob(str(Path(sys.prefix) / "lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so*")))[0]
    assert run("models", "build", "mlp", "model.onnx").returncode == 0
    (here / "my.onnx").write_bytes((here / "model.onnx").read_bytes())
    data = here / "model/test_data_set_0"
    data.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", RECORD, here / "model.onnx", data], check=True)
    shutil.copytree(here / "model", here / "my")
    (here / "plan.toml").write_text(toml_blocks()[0])
    write_profiles(here)
    for name in ("quantised.onnx", "small.onnx"):
        (here / name).write_bytes((here / "model.onnx").read_bytes())
    for name in ("llama.gguf", "llama-q4.gguf"):
        (here / name).write_bytes(b"GGUF")  # named only: the plan is checked, no model is loaded
    shutil.copy(Path(__file__).parents[1] / "fuzz/corpus/gguf/small.gguf", here / "model.gguf")
    (here / "nets.py").write_text("import torch\n\n\ndef make():\n    return torch.nn.Linear(16, 4)\n")
    for other in ("ort-1.20", "ort-1.21", "old", "new"):
        (here / other).mkdir()
    (here / "DIR").mkdir()
    for i in range(4):
        Image.new("RGB", (8, 8), (60 * i, 0, 0)).save(here / "DIR" / f"{i}.png")
    for place in ("ort-1.20/libonnxruntime.so", "ort-1.21/libonnxruntime.so", "libonnxruntime.so.1.20.1",
                  "old/libonnxruntime.so", "new/libonnxruntime.so"):
        (here / place).symlink_to(library)
    for name in ("inputs.npy", "test.npy"):
        numpy.save(here / name, numpy.zeros((4, 16), numpy.float32))
    numpy.save(here / "texts.npy", numpy.zeros((4, 16), numpy.int64))
    (here / "labels.txt").write_text("0\n1\n2\n3\n")
    (here / "book.txt").write_text("It is a truth that is well known. " * 40)
    (here / "trace.csv").write_text("0\n0.5\n0.5\n1.2\n")
    assert run("run", "mlp@onnxruntime", "--iterations", 10, "--processes", 2, "--quiet").returncode == 0
    assert run("baseline", "set", "release", "latest").returncode == 0
    assert run("run", "mlp@onnxruntime", "--iterations", 10, "--processes", 2, "--profile-processes", 1,
               "--quiet").returncode == 0
    for name in ("before the rewrite", "nightly"):
        assert run("baseline", "set", name, "latest").returncode == 0
    (here / "baselines").mkdir()
    assert run("report", "--format", "json", "--output", "baselines/release.json").returncode == 0
    (here / "gate.toml").write_text("expect = ['latency_p50_ms <= 60000']\n")
    return here


@pytest.fixture
def folder(all_that_is_named, run):
    """A copy of it for each example."""
    return shutil.copytree(all_that_is_named, run.folder, symlinks=True, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def imaging_is_built(build_dir):
    return (build_dir / "lib/infermeter/backends/infermeter_backend_imaging.so").exists()


def test_there_are_examples():
    assert len(commands()) > 20 and toml_blocks()


@pytest.mark.parametrize("command", commands())
def test_example(command, run, folder, imaging_is_built):
    words = shlex.split(command)[1:]
    for name, (package, setup) in FRAMEWORKS.items():
        if name in re.split(r"\W+", command) and importlib.util.find_spec(package) is None:
            pytest.skip(f"{name} is not installed: scripts/setup --with {setup}")
    if "--backend-path" in words:
        pytest.skip("needs a plug-in that is built: tests/examples has one")
    if re.search("@(kserve|openai),", command) and words[0] in ("validate", "load"):
        pytest.skip("needs a server: tests/serving has some")
    if "sorting.py:" in command:
        pytest.skip("tests/examples runs the page's own file")
    if "postgresql:///team" in words:
        pytest.skip("needs a database: tests/store has one")
    if words[:2] == ["study", "imaging"] and not imaging_is_built:
        pytest.skip("the back end imaging is not built: it needs FFTW")
    if "machines" in words:
        pytest.skip("needs a run over nodes: tests/fleet has one")
    if "--resume" in words:
        pytest.skip("needs a broken run: tests/faults has one")
    if "20261122" in words or words[:2] == ["runs", "delete"]:
        assert run("run", "mlp@fake", "--iterations", 10, "--quiet").returncode == 0
    stored = [one["id"] for one in json.loads(run("runs", "--format", "json").stdout)]
    dates = {"20261121": stored[-1], "20261122": stored[0]}
    words = [dates.get(word, word) for word in words]
    slow = words[0] in ("run", "load", "compare", "tune", "profile", "variants", "study") and "--dry-run" not in words and words != ["study"]
    slow = slow and "latest" not in words  # stored runs are compared at once
    if "--aa" in words:
        words[words.index("--aa") + 1] = "8"
        words += ["--aa-subject", "mlp@fake,latency=normal:100us:1us"]
    done = run(*words, *(["--dry-run"] if slow else []))
    if "cannot execute bfloat16 here" in done.stderr:
        pytest.skip("the processor has no bfloat16")
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert done.stdout or {"--output", "--plot", "--html", "--profile-files", "--tensorboard"} & set(words)


def test_python_example(run, folder):
    code = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/guide.md").read_text(), re.S)
    assert len(code) == 1
    done = subprocess.run([sys.executable, "-c", code[0]], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "mlp@onnxruntime" in done.stdout


@pytest.mark.parametrize("number", range(len(toml_blocks())))
def test_plan_example(number, run, folder):
    (folder / "example.toml").write_text(toml_blocks()[number])
    done = run("run", "--plan", "example.toml", "--dry-run")
    assert done.returncode == 0, done.stderr
