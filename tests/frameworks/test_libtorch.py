"""The libtorch back end: what it runs is compared with eager PyTorch, and what it refuses is provoked.

The models are made here: a small convolutional net with random statistics as a TorchScript file and as an AOTInductor
package (compiling takes some 15 s, once), and modules of one line for what goes in and out.
"""

import importlib.util
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from recorded_sets import write_set

onnx = pytest.importorskip("onnx", reason="onnx is not installed: scripts/setup --tests")

SHAPE = "input_shape=1x3x16x16"
ONCE = ("--processes", 1, "--warmup", 0, "--iterations", 3, "--quiet", "--format", "json")
PARTS = ("infermeter_backend_libtorch.so", "libinfermeter_libtorch.so", "libinfermeter_libtorch_stub.so")
TORCH = importlib.util.find_spec("torch")
if TORCH is None:
    pytest.skip("pytorch is not installed: scripts/setup --with pytorch", allow_module_level=True)
SITE_PACKAGES = Path(TORCH.origin).parent.parent

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def plugin(build_dir) -> Path:
    # Imported by the process that runs these tests: it takes a second, and all processes of pytest-xdist read this file.
    global torch, scripts
    import torch
    from frameworks import script_modules as scripts

    file = build_dir / "lib/infermeter/backends" / PARTS[0]
    if not file.exists():
        pytest.skip("the libtorch back end is not built: pytorch was not there (scripts/setup --with pytorch, then build)")
    return file


@pytest.fixture(scope="module")
def net(plugin):
    torch.manual_seed(1)
    net = scripts.Net().eval()
    net.norm.running_mean.normal_()
    net.norm.running_var.uniform_(0.5, 2)
    return net


@pytest.fixture(scope="module")
def models(plugin, net, tmp_path_factory) -> Path:
    """TorchScript files, an exported program, and files that are none."""
    folder = tmp_path_factory.mktemp("models")
    torch.jit.script(net).save(folder / "net.pt")
    torch.jit.trace(net, torch.zeros(1, 3, 16, 16)).save(folder / "traced.torchscript")
    torch.jit.script(torch.nn.Linear(8, 4).half()).save(folder / "half.pt")
    for module in (scripts.Nested, scripts.Named, scripts.WantsNumber, scripts.GivesNumber, scripts.WritesIntoItsInput, scripts.Refuses):
        torch.jit.script(module()).save(folder / f"{module.__name__}.pt")
    torch.export.save(torch.export.export(net, (torch.zeros(2, 3, 16, 16),)), folder / "exported.pt2")
    torch.save(net.state_dict(), folder / "weights.pt")
    whole = (folder / "net.pt").read_bytes()
    (folder / "cut.pt").write_bytes(whole[: len(whole) // 2])
    (folder / "text.pt").write_text("this is not a model\n")
    with zipfile.ZipFile(folder / "foreign.pt", "w") as archive:
        archive.writestr("foreign/version", "3\n")
    with zipfile.ZipFile(folder / "net.pt") as source, zipfile.ZipFile(folder / "code.pt", "w") as archive:
        for name in source.namelist():
            archive.writestr(name, b"import os\n" if "/code/" in name else source.read(name))
    return folder


@pytest.fixture(scope="module")
def package(models, net, tmp_path_factory, ccache) -> Path:
    """Compiled with a batch from 2 to 8: a range that begins with 1 is more than what torch.export takes."""
    from torch._inductor import aoti_compile_and_package, config

    batch = torch.export.Dim("batch", min=2, max=8)
    program = torch.export.export(net, (torch.zeros(4, 3, 16, 16),), dynamic_shapes=({0: batch},))
    # What the processor has is not tried by compiling; headers compiled beforehand are nothing that ccache keeps, what is compiled with them
    # neither.
    changed = {"cpp.vec_isa_ok": True, "aot_inductor.precompile_headers": False}
    with torch.no_grad(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("inductor")))
        # Under the compiler's name ccache is the compiler. Always in one place: Inductor names what it writes by the compiler's path, too.
        compiler = Path("/usr/lib/ccache/g++")
        if ccache and compiler.exists():
            changed["cpp.cxx"] = (None, str(compiler))
            for name, value in ccache.items():
                patch.setenv(name, value)
        with config.patch(changed):
            return Path(aoti_compile_and_package(program, package_path=str(models / "package.pt2")))


@pytest.fixture
def try_once(run, models):
    """The only trial of a run of one subject, as the report has it, with the exit code."""

    def call(model, *flags, **options):
        done = run("run", f"{models / model}@libtorch", "--allow-code", *ONCE, *flags, **options)
        if not done.stdout:  # what the back end refuses ends the run before anything is measured
            return {"end": "load_failed", "message": done.stderr.strip(), "exit_code": done.returncode}
        return json.loads(done.stdout)["trials"][0] | {"exit_code": done.returncode}

    return call


def refused(trial, exit_code, *fragments):
    assert trial["exit_code"] == exit_code, trial["message"]
    assert trial["end"] in ("load_failed", "run_failed")
    assert "\n" not in trial["message"]
    for fragment in fragments:
        assert fragment in trial["message"]


# --- the contract ----------------------------------------------------------------------------------------------------


def conformance(build_dir, plugin, model, *arguments):
    program = build_dir / "tests/conformance/backend_conformance"
    return subprocess.run([program, plugin, model, *arguments, "--gtest_brief=1"], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("model", ["net.pt", "traced.torchscript"])
def test_it_keeps_the_contract_with_torchscript(build_dir, plugin, models, model):
    done = conformance(build_dir, plugin, models / model, "--option", SHAPE, SITE_PACKAGES)
    assert done.returncode == 0, done.stdout[-4000:]


def test_it_keeps_the_contract_with_a_package(build_dir, plugin, package):
    left_out = ("RunTest.AnItemsOutputDoesNotDependOnTheBatch",  # they want a batch of 1
                "RunTest.DynamicBatchTakesAnySize",
                "LifetimeTest.LoadingAndClosingOftenLeavesNothing")  # the loader keeps code that has unique symbols
    done = conformance(build_dir, plugin, package, SITE_PACKAGES, f"--gtest_filter=-{':'.join(left_out)}")
    assert done.returncode == 0, done.stdout[-4000:]


def test_without_pytorch_it_says_how_to_get_it(build_dir, plugin, models, tmp_path):
    done = conformance(build_dir, plugin, models / "net.pt", tmp_path)
    assert done.returncode == 77
    for fragment in ("PyTorch " + torch.__version__.split("+")[0], "scripts/setup --with pytorch", "--backend-library"):
        assert fragment in done.stdout


# --- outputs ---------------------------------------------------------------------------------------------------------


def validated(run, model, folder, *flags):
    done = run("validate", model, "--backend", "libtorch", "--data", folder, "--allow-code", "--format", "json", *flags)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)["sets"][0]["outputs"]


@pytest.mark.parametrize("batch", [2, 3])
@pytest.mark.parametrize("model, most", [("net.pt", 1e-6), ("traced.torchscript", 1e-6), ("package.pt2", 1e-5)])
def test_outputs_are_those_of_eager_pytorch(run, models, package, net, batch, model, most):
    image = torch.randn(batch, 3, 16, 16, generator=torch.Generator().manual_seed(batch))
    with torch.inference_mode():
        expected = net(image)
    option = () if model.endswith(".pt2") else ("--option", SHAPE)
    (output,) = validated(run, models / model, write_set(run.folder / "data", [image], [expected]), *option)
    assert output["shape"] == [batch, 10]
    assert output["relative_l2"] <= most


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_lower_precision_is_that_of_eager_pytorch(run, models, net, dtype):
    """Executed in that precision, and no other: as far from float32 as eager PyTorch is, to the last bit of it."""
    image = torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(5))
    script = torch.jit.load(models / "net.pt")
    for _, tensor in (*script.named_parameters(), *script.named_buffers()):
        if tensor.dtype == torch.float32:
            tensor.data = tensor.data.to(getattr(torch, dtype))
    with torch.inference_mode():
        expected, wide = script(image.to(getattr(torch, dtype))).float(), net(image)
    difference = (expected - wide).norm() / wide.norm()
    (output,) = validated(run, models / "net.pt", write_set(run.folder / "data", [image], [wide]), "--option", SHAPE, "--dtype",
                          dtype)
    assert output["relative_l2"] == pytest.approx(difference.item(), rel=1e-3)


def test_nested_outputs_are_flattened_in_order(run, try_once, models):
    x = torch.randn(2, 5)
    a, (b, (c, d)) = scripts.Nested()(x)
    outputs = validated(run, models / "Nested.pt", write_set(run.folder / "data", [x], [a, b, c, d]), "--option", "input_shape=2x5")
    assert [output["within_tolerance"] for output in outputs] == [True] * 4
    trial = try_once("Nested.pt", "--option", "input_shape=2x5", "--batch-sizes", 2)
    assert {output["name"]: output["shape"] for output in trial["outputs"]} == {
        "output.0": [2, 5], "output.1.0": [2, 5], "output.1.1.0": [], "output.1.1.1": [2, 5]}


def test_outputs_of_a_dictionary_have_its_keys(try_once):
    trial = try_once("Named.pt", "--option", "input_shape=1x5;1x3:int64")
    assert [(output["name"], output["dtype"]) for output in trial["outputs"]] == [
        ("output.scaled", "float32"), ("output.next", "int64")]
    assert trial["executed"]["input_shape"] == "(1, 5) (1, 3)"
    refused(try_once("Named.pt", "--option", "input_shape=1x5;1x3:int64;1x5"), 2, "'scale' of forward is not a tensor (float)")


def test_what_is_executed_is_told(try_once, package):
    script = try_once("net.pt", "--option", SHAPE, "--threads", 1, "--batch-sizes", 3, "--dtype", "bfloat16")["executed"]
    assert script["parameters"] == str(3 * 8 * 9 + 8 + 2 * 8 + 8 * 10 + 10)
    assert (script["dtype"], script["threads"], script["device"], script["provider"], script["input_shape"]) == (
        "bfloat16", "1", "cpu", "torchscript", "(3, 3, 16, 16)")
    assert script["runtime_version"] == torch.__version__.split("+")[0]
    compiled = try_once("package.pt2", "--batch-sizes", 4)
    assert (compiled["executed"]["provider"], compiled["executed"]["dtype"]) == ("aotinductor", "float32")
    assert [output["shape"] for output in compiled["outputs"]] == [[4, 10]]


def test_a_file_of_float16_is_executed_as_it_is(try_once):
    trial = try_once("half.pt", "--option", "input_shape=1x8:float16")
    assert trial["executed"]["dtype"] == "float16"
    assert trial["outputs"][0]["dtype"] == "float16"
    assert "precision_not_as_asked" not in [found["id"] for found in trial["diagnostics"]]  # --dtype would change nothing
    refused(try_once("half.pt", "--option", "input_shape=1x8"), 3, "PyTorch could not run the model", "dtype")


def test_a_program_may_write_into_its_input(try_once):
    assert try_once("WritesIntoItsInput.pt", "--option", "input_shape=1x8")["end"] == "ok"


def test_a_package_does_without_the_cuda_libraries(try_once, package):
    """libtorch.so would drag them in: 390 MB instead of 120."""
    assert try_once("package.pt2", "--batch-sizes", 2)["memory"]["rss_peak_inference_bytes"] < 250e6


def test_it_works_from_any_folder(run, try_once, plugin):
    """Nothing of where it was built, or of where PyTorch is, is in it."""
    for part in PARTS:
        shutil.copy(plugin.parent / part, run.folder)
        assert str(SITE_PACKAGES).encode() not in (run.folder / part).read_bytes()
    assert try_once("net.pt", "--option", SHAPE, "--backend-path", run.folder)["end"] == "ok"


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model, reason", [
    ("cut.pt", "failed finding central directory"),
    ("text.pt", "not a ZIP archive"),
    ("foreign.pt", "is neither a TorchScript file nor an AOTInductor package: there is no code in it"),
    ("code.pt", "PyTorch could not load"),
    ("weights.pt", "holds pickled weights or a pickled module, and no program"),
    ("exported.pt2", "compile it with torch._inductor.aoti_compile_and_package, or run it with the pytorch back end"),
])
def test_files_without_a_program_are_refused(try_once, models, model, reason):
    refused(try_once(model, "--option", SHAPE), 3, str(models / model), reason)


def test_code_must_be_allowed(run, models):
    done = run("run", f"{models / 'net.pt'}@libtorch", "--option", SHAPE, *ONCE)
    assert (done.returncode, done.stdout) == (3, "")
    assert "contains code" in done.stderr and "--allow-code" in done.stderr


@pytest.mark.parametrize("value, reason", [
    ("1x3xax16", "'a' is not a size; whole numbers from 1 are"),
    ("", "'' is not a size"),
    ("1x0", "'0' is not a size"),
    ("1x3x16x16:float33", "'float33' is not an element type"),
    ("1x3x16x16;", "'' is not a size"),
    ("1x3x16x16;1x2", "forward takes 1 tensors (image), and input_shape gives 2"),
])
def test_shapes_that_are_none_are_refused(run, models, value, reason):
    done = run("run", f"{models / 'net.pt'}@libtorch", "--allow-code", *ONCE, "--option", f"input_shape={value}")
    assert done.returncode == 2
    assert reason in (json.loads(done.stdout)["trials"][0]["message"] if done.stdout else done.stderr)


def test_shapes_must_be_given(try_once):
    refused(try_once("net.pt"), 2, "does not declare the shapes of its inputs (here: image)", "give, for example, input_shape=1x3x224x224")


def test_arguments_and_outputs_that_are_no_tensors_are_refused(try_once):
    refused(try_once("WantsNumber.pt", "--option", "input_shape=1x8"), 2, "argument 'n' of forward is not a tensor (int)")
    refused(try_once("GivesNumber.pt", "--option", "input_shape=1x8"), 2, "'output' is of type Int, and only tensors")


def test_an_error_of_the_program_is_one_sentence(try_once):
    refused(try_once("Refuses.pt", "--option", "input_shape=1x8"), 3, "PyTorch could not run the model: not with me")


def test_a_package_is_executed_as_it_was_compiled_or_not_at_all(try_once, package):
    refused(try_once("package.pt2", "--batch-sizes", 2, "--dtype", "float16"), 2,
            "was compiled for float32 and cannot execute float16; give dtype=float32")
    refused(try_once("package.pt2"), 2, "was compiled for sizes of 2 to ", "dimension 0 of input 'input' and not for 1")
    refused(try_once("package.pt2", "--batch-sizes", 2, "--option", "input_shape=2x3x17x16"), 2,
            "was compiled for an input 'input' of shape ?x3x16x16:float32, and input_shape gives 2x3x17x16:float32")


def edited(package, target, change):
    """A copy of the package in which `change` made something else of each file's bytes; None leaves a file out."""
    with zipfile.ZipFile(package) as source, zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            data = change(name, source.read(name))
            if data is not None:
                archive.writestr(name, data)
    return target.name


def test_threads_of_a_package_are_those_that_it_was_compiled_for(try_once, models, package):
    def with_threads(name, data):
        return data + b"\n    #pragma omp parallel num_threads(3)\n" if name.endswith("wrapper.cpp") else data

    model = edited(package, models / "threads.pt2", with_threads)
    refused(try_once(model, "--batch-sizes", 2, "--threads", 2), 2, "was compiled for 3 threads and not for 2; give threads=3")
    assert try_once(model, "--batch-sizes", 2, "--threads", 3)["end"] == "ok"


def test_the_device_of_a_package_is_the_one_that_it_was_compiled_for(try_once, models, package):
    model = edited(package, models / "device.pt2", lambda name, data: data.replace(
        b'"AOTI_DEVICE_KEY": "cpu"', b'"AOTI_DEVICE_KEY": "cuda"') if name.endswith(".json") else data)
    refused(try_once(model, "--batch-sizes", 2), 2, "was compiled for device cuda and not for cpu")


def test_a_package_without_its_text_checks_its_inputs_itself(try_once, models, package):
    model = edited(package, models / "no_text.pt2", lambda name, data: None if name.endswith(".cpp") else data)
    refused(try_once(model, "--batch-sizes", 2), 2, "does not declare the shapes of its 1 inputs", "give input_shape=")
    assert try_once(model, "--batch-sizes", 2, "--option", SHAPE)["end"] == "ok"
    refused(try_once(model, "--batch-sizes", 2, "--option", "input_shape=1x3x17x16"), 3, "expected: 16, but got: 17")


def test_a_layout_of_inputs_that_is_not_given_is_refused(try_once, models, package):
    model = edited(package, models / "layout.pt2", lambda name, data: data.replace(b"if (1 != ", b"if (3 != ")
                   if name.endswith("wrapper.cpp") else data)
    refused(try_once(model, "--batch-sizes", 2), 2, "does not lie in memory row by row (for example, channels_last)")


@pytest.mark.parametrize("before, after", [
    (b"aoti_torch_dtype_float32(", b"aoti_torch_dtype_float33("),
    (b"static void check_input_0", b"static void check_input_18446744073709551617"),
    (b"_size[", b"_size[99999999999999999999"),
    (b"_stride[", b"_stride[4294967296"),
])
def test_damaged_text_of_a_package_is_no_harm(try_once, models, package, before, after):
    """What it no longer shows must be given, or is checked where it is run."""
    model = edited(package, models / "damaged.pt2", lambda name, data: data.replace(before, after)
                   if name.endswith("wrapper.cpp") else data)
    trial = try_once(model, "--batch-sizes", 2, "--option", SHAPE)
    assert trial["end"] in ("ok", "load_failed")
    assert trial["exit_code"] in (0, 2)


def test_another_version_of_pytorch_is_refused_by_name(run, models, plugin):
    """A library that says that it is PyTorch 2.13.0."""
    (run.folder / "other.c").write_text("unsigned long long aoti_torch_abi_version(void) { return 0x020D000000000000; }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", run.folder / "libtorch_cpu.so", run.folder / "other.c"], check=True)
    done = run("run", f"{models / 'net.pt'}@libtorch,library=./libtorch_cpu.so", "--allow-code", "--option", SHAPE, *ONCE)
    assert done.returncode == 2
    assert "is PyTorch 2.13.0, and this back end was built with PyTorch " + torch.__version__.split("+")[0] in done.stderr
    assert "pip install torch==" in done.stderr


def test_there_is_no_cuda_without_a_driver(run, models):
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has NVIDIA's driver")
    done = run("run", f"{models / 'net.pt'}@libtorch,device=cuda", "--allow-code", "--option", SHAPE, *ONCE)
    assert done.returncode == 2
    assert "has no device 'cuda'; here it has cpu" in done.stderr


