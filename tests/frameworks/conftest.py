"""What the tests of frameworks hosted in Python use: their back ends as modules, the zoo's files, and ONNX Runtime's
answers to compare with."""

import contextlib
import functools
import importlib.util
import subprocess
import sys

import numpy as np
import pytest

# torch.compile imports it, and it puts a distutils of its own in the place of Python's: better before all tests than between two.
with contextlib.suppress(ImportError):
    import setuptools  # noqa: F401

# What a test of a framework needs: scripts/setup --with NAME installs it.
PACKAGES = {
    "pytorch": ("torch", "torchvision"),
    "jax": ("jax", "flax"),
    "litert": ("ai_edge_litert", "flatbuffers"),
    "generation": ("openvino_genai", "onnxruntime_genai", "transformers", "cyllama", "gguf"),
    "onnxruntime": ("onnxruntime", "onnx"),
    "variants": ("nncf", "openvino", "onnx_ir"),
}

# What a factory's file begins with.
IMPORTS = {
    "pytorch": "import numpy as np\nimport torch\nfrom infermeter.backend import Port\n",
    "jax": "import jax\nimport jax.numpy as jnp\nfrom flax import nnx\nfrom infermeter.backend import Port\n"
    "from infermeter.factory import Model\n",
}


@pytest.fixture(scope="session", autouse=True)
def built_package(build_dir):
    """The package infermeter, as built."""
    sys.path.insert(0, str(build_dir / "python"))
    yield
    sys.path.remove(str(build_dir / "python"))


@pytest.fixture
def need():
    """need("pytorch", …): skips where one is not installed."""

    def check(*names):
        for name in names:
            if any(importlib.util.find_spec(module) is None for module in PACKAGES[name]):
                pytest.skip(f"{name} is not installed: scripts/setup --with {name}")

    return check


@pytest.fixture(scope="session")
def tiny_llama(infermeter, tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo") / "tiny_llama"
    subprocess.run([infermeter, "models", "build", "tiny_llama", folder], check=True, capture_output=True)
    return folder


@pytest.fixture(autouse=True)
def framework(request, need):
    """What the test's file is about, FRAMEWORK = "jax": its tests are skipped where it is not installed."""
    name = getattr(request.module, "FRAMEWORK", None)
    if name:
        need(name)
    return name


@pytest.fixture(scope="session")
def plugin(build_dir, built_package):
    """plugin("infermeter_backend_jax"): that file as a module, as a worker loads it."""

    @functools.cache
    def load(name):
        from infermeter._host import load_file

        return load_file(str(build_dir / "lib/infermeter/backends" / f"{name}.py"))

    return load


@pytest.fixture(scope="session")
def open_runtime(plugin, tmp_path_factory):
    """open_runtime("jax", folder="…") -> the back end's Runtime."""

    def call(name, **environment):
        from infermeter.backend import Environment

        return plugin(f"infermeter_backend_{name}").open_runtime(Environment(**environment))

    return call


@pytest.fixture
def runtime(framework, open_runtime, tmp_path):
    """That of FRAMEWORK's back end."""
    return open_runtime(framework, folder=str(tmp_path))


@pytest.fixture
def refused(runtime, load_of):
    """refused(...) -> the sentence with which that load is refused."""

    def sentence(*arguments, **fields):
        from infermeter.backend import Refused

        with pytest.raises(Refused) as raised:
            session = runtime.load(load_of(*arguments, **fields))
            session.compile()
        return str(raised.value)

    return sentence


@pytest.fixture
def factory(framework, tmp_path, request):
    """factory(source) -> FILE.py:make with that source. A name for each test: modules stay in memory."""

    def write(body):
        file = tmp_path / f"{request.node.name.partition('[')[0]}.py"
        file.write_text(f"{IMPORTS[framework]}{body}")
        return f"{file.name}:make"

    return write


@pytest.fixture(scope="session")
def onnx_file(infermeter, tmp_path_factory):
    """onnx_file("resnet50") -> the zoo's file, written once in a session."""
    folder = tmp_path_factory.mktemp("zoo")

    @functools.cache
    def write(name):
        file = folder / f"{name}.onnx"
        subprocess.run([infermeter, "models", "build", name, file], check=True, capture_output=True)
        return file

    return write


@pytest.fixture(scope="session")
def weights_of(onnx_file):
    @functools.cache
    def read(name):
        from infermeter.zoo.weights import read_weights

        return read_weights(onnx_file(name))

    return read


@pytest.fixture(scope="session")
def input_of(built_package):
    """input_of("vit_b_16") -> two items, read-only as the host's are. The second is faint: little variance flows
    through the network, so that the epsilon of a normalisation shows."""

    @functools.cache
    def draw(name, items=2):
        from infermeter.zoo.ports import zoo_input

        array = np.random.default_rng(7).standard_normal((items, *zoo_input(name).shape[1:]), dtype=np.float32)
        array[1:] *= np.float32(0.01)
        return np.frombuffer(array.tobytes(), np.float32).reshape(array.shape)

    return draw


@pytest.fixture(scope="session")
def expected(onnx_file, input_of):
    """expected("resnet50") -> what ONNX Runtime makes of input_of("resnet50")."""

    @functools.cache
    def compute(name, items=2):
        import onnxruntime

        session = onnxruntime.InferenceSession(onnx_file(name), providers=["CPUExecutionProvider"])
        return session.run(None, {"input": input_of(name, items)})[0]

    return compute


@pytest.fixture(scope="session")
def distance():
    """The greatest relative L2 distance of an item from what is expected of it."""

    def compute(values, reference):
        assert values.shape == reference.shape
        values, reference = (array.astype(np.float64).reshape(len(array), -1) for array in (values, reference))
        return float((np.linalg.norm(values - reference, axis=1) / np.linalg.norm(reference, axis=1)).max())

    return compute


@pytest.fixture
def run_once():
    """run_once(session, array, …) -> the values of one step, after whatever the session does before it."""

    def call(session, *arrays):
        if hasattr(session, "compile"):
            session.compile()
        return session.values(session.bind(list(arrays))())

    return call


@pytest.fixture
def load_of():
    """load_of(model="m:f", batch=2, …) -> a Load with defaults."""

    def make(model="", zoo_name="", device="cpu", dtype="float32", threads=0, batch=2, dimensions=None,
             profile_folder="", batch_axes=None, **options):
        from infermeter.backend import Load

        axes = {} if batch_axes is None else {"batch_axes": batch_axes}
        return Load(str(model), zoo_name, device, dtype, threads, batch, dimensions or {}, options, str(profile_folder), **axes)

    return make
