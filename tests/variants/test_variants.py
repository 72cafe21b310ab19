"""`infermeter variants`: real makers on small models of the zoo, makers that misbehave, and what is refused."""

import importlib.util
import json
import pathlib
import signal
import subprocess
import sys

import documents
import numpy
import pytest

QUICK = ("--iterations", 3, "--warmup", 1, "--processes", 2, "--quiet")
ONCE = ("--processes", 1)  # where what is made counts, and not its times: a process takes seconds to import PyTorch
MAKE_FLOAT16 = "infermeter_make_float16_onnx.py"


def need(*packages):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: scripts/setup --with variants")


@pytest.fixture
def variants(run, tmp_path):
    """variants("mlp", …) -> the JSON report; with a cache of its own."""

    def call(*arguments, code=0, **options):
        options["env"] = {"INFERMETER_CACHE": str(tmp_path / "cache"), **options.get("env", {})}
        quick = QUICK[2:] if "--num-runs" in arguments else QUICK  # the other name of --iterations
        quick = (*quick[:-3], "--quiet") if "--processes" in arguments else quick
        done = run("variants", *arguments, *quick, "--format", "json", timeout=300, **options)
        assert done.returncode == code, done.stderr
        if code != 0:
            assert done.stdout == "" and len(done.stderr.splitlines()) == 1, done.stderr
            return done.stderr
        report = json.loads(done.stdout)
        return {variant["label"]: variant for variant in report["variants"]} | {"": report}

    call.cache = tmp_path / "cache"
    return call


@pytest.fixture
def fake_maker(tmp_path):
    """fake_maker(body): a folder of back ends in which float16 is made by this function."""

    def write(body):
        folder = tmp_path / "plugins"
        folder.mkdir(exist_ok=True)
        lines = ["import os", "import shutil", "import signal", "", "", "def make(job):", f"    {body}"]
        (folder / MAKE_FLOAT16).write_text("\n".join(lines) + "\n")
        return ("--backend-path", folder, "--backends", "onnxruntime", "--precisions", "float16")

    return write


def test_int8_races_with_float32(run, tmp_path):
    need("onnx", "nncf")
    env = {"INFERMETER_CACHE": str(tmp_path / "cache")}
    over = ("tune", "mlp", "--over", "backend=onnxruntime,openvino", "dtype=float32,int8", "--subject-to", "cosine >= 0.9",
            "--iterations", 5, "--warmup", 1, "--budget", "20s")
    dry = run(*over, "--dry-run", env=env)
    assert dry.returncode == 0, dry.stderr
    assert dry.stdout.count("it takes a file, which is made before the race") == 2 and not (tmp_path / "cache/variants").exists()
    done = run(*over, "--format", "json", "--write-plan", "best.toml", env=env, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "int8 static by ONNX Runtime: being made" in done.stderr and "int8 static by NNCF: being made" in done.stderr
    report = json.loads(done.stdout)
    assert [one["label"] for one in report["subjects"]] == [
        "mlp@onnxruntime", "mlp.int8_static.onnx@onnxruntime", "mlp@openvino", "mlp.int8_nncf.xml@openvino"]
    assert not report["plan"]["tuning"]["left_out"]
    made = [one["made"] for one in report["models"]]
    assert made[0] == "" and made[1].startswith("int8 static by ONNX Runtime 1.") and "calibrated on" in made[3]
    for setting in report["tuning"]["settings"]:
        assert setting["bounds"][0]["kept"] in ("yes", "no"), setting
    # Which one is fastest depends on what else runs here; that its outputs keep the condition does not.
    assert report["tuning"]["settings"][report["tuning"]["best"]]["bounds"][0]["kept"] == "yes"
    again = run("run", "--plan", "best.toml", "--processes", 1, "--iterations", 2, env=env)
    assert again.returncode == 0, again.stderr


# --- real makers ------------------------------------------------------------------------------------------------------


def test_float16_and_int8_of_a_network(variants):
    need("onnx", "onnxruntime")
    report = variants("mobilenet_v3_small", "--backends", "onnxruntime", "--precisions", "float16,int8",
                      "--quantise", "static,dynamic", "--calibration-items", 4)
    assert [*report][:4] == ["float32", "float16", "int8-static", "int8-dynamic"]
    size = {label: variant["model"]["size_bytes"] for label, variant in report.items() if label}
    assert 1.9 < size["float32"] / size["float16"] < 2.1
    assert size["float32"] / size["int8-static"] > 3.5 and size["float32"] / size["int8-dynamic"] > 3.5
    assert report["int8-static"]["model"]["made"].startswith("int8 static by ONNX Runtime 1.")
    assert report["int8-static"]["model"]["made"].endswith("calibrated on 4 items of synthetic data")
    # Normalisations are folded into convolutions: fewer parameters, but the same weights.
    for label in ("float16", "int8-static", "int8-dynamic"):
        count = report[label]["model"]["parameters"]
        assert 0.98 < count / 2_542_856 <= 1, label
        assert 0.9 < report[label]["model"]["nonzero_parameters"] / count <= 1, label
    assert report["float32"]["output_error"] is None
    assert 1e-5 < report["float16"]["output_error"] < 0.02
    assert report["float16"]["output_error"] < report["int8-static"]["output_error"] < 1
    assert all(variant["failure"] is None for label, variant in report.items() if label)
    kinds = {one["kind"] for one in report["int8-static"]["recommendations"]}
    assert "smaller_model" in kinds
    assert report["float32"]["pareto"]["place"] == "front"  # nothing else has no error
    if "avx512_fp16" not in pathlib.Path("/proc/cpuinfo").read_text():
        assert "executed as float32 here: half the size" in " ".join(report["float16"]["remarks"])


def test_pruning_zeroes_the_smallest_weights_and_saves_nothing(variants):
    need("onnx")
    report = variants("mlp", "--backends", "onnxruntime", "--precisions", "float32", "--prune", "0.5,25%")
    given = report["float32"]["model"]
    assert given["parameters"] == 3498
    weights = 16 * 32 + 32 * 64 + 64 * 10
    if weights + 32 + 64 + 10 != 3498:  # the zoo's own sizes: biases are not pruned
        weights = 3498 - sum(shape[0] for shape in _biases(variants.cache))
    for label, share in (("pruned-50%", 0.5), ("pruned-25%", 0.25)):
        model = report[label]["model"]
        assert model["nonzero_parameters"] == 3498 - int(weights * share)
        assert model["parameters"] == 3498
        assert abs(model["size_bytes"] - given["size_bytes"]) < 1000
        assert "its zeros are stored" in report[label]["remarks"][0]
    # Of two networks the one with more zeros is further away.
    assert report["pruned-50%"]["output_error"] > report["pruned-25%"]["output_error"] > 0.001


def _biases(cache):
    import onnx

    (file,) = (cache / "zoo").glob("mlp-*.onnx")
    return [tuple(tensor.dims) for tensor in onnx.load(file).graph.initializer if len(tensor.dims) == 1]


def test_openvino_by_nncf_and_float16(variants):
    need("nncf", "openvino")
    report = variants("mlp", "--backends", "openvino", "--precisions", "float16,int8", "--quantise", "nncf")
    assert [*report][:3] == ["float32", "float16", "int8-nncf"]
    for label in ("float16", "int8-nncf"):
        assert report[label]["failure"] is None
        assert report[label]["model"]["format"] == "xml" and len(report[label]["model"]["weight_files"]) == 1
    assert report["int8-nncf"]["model"]["made"].startswith("int8 static by NNCF 3.")
    assert report["int8-nncf"]["output_error"] < 0.2


def test_what_was_made_is_taken_from_the_cache(run, variants, tmp_path):
    need("onnx")

    def notes(*more):
        done = run("variants", "mlp", "--backends", "onnxruntime", "--precisions", "float32", "--prune", 0.5, "--iterations", 1,
                   "--processes", 1, *more, env={"INFERMETER_CACHE": str(variants.cache)})
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if "weights set to 0" in line]

    assert notes() == ["[1/1] 50 % of its weights set to 0: being made"]
    (file,) = variants.cache.glob("variants/*/mlp.pruned.onnx")
    before = file.stat().st_mtime_ns
    assert notes() == ["[1/1] 50 % of its weights set to 0: taken from the cache"]
    assert notes("--prune", 0.4)[-1] == "[2/2] 40 % of its weights set to 0: being made"
    assert file.stat().st_mtime_ns == before
    assert not list(variants.cache.glob("variants/.making*"))


NETS = """
import torch

class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(288, width), torch.nn.Linear(width, 4))

    def forward(self, x):
        return self.body(x)

def make():
    return Net(32)

def small():
    return Net(8)

def no_module():
    return lambda x: x
"""


@pytest.fixture
def nets(run, monkeypatch):
    """nets.py, and what loads a file of its classes."""
    need("torch")
    import torch

    (run.folder / "nets.py").write_text(NETS)
    monkeypatch.syspath_prepend(str(run.folder))
    monkeypatch.delitem(sys.modules, "nets", raising=False)
    return lambda file: torch.load(run.folder / file, weights_only=False)


SHAPE = ("--option", "input_shape=1x3x8x8")


def test_what_pytorch_makes_when_it_loads_is_saved(run, variants, nets):
    import torch

    asked = ("--precisions", "float32,int8", "--prune", "0.5", "--prune-how", "unstructured,structured", "--student", "nets.py:small",
             "--save-path", "kept", *SHAPE, *ONCE)
    report = variants("nets.py:make@pytorch", *asked)
    assert [*report][:5] == ["eager", "pruned-50%", "pruned-50%-structured", "int8-dynamic", "distilled"]
    kept = {file.name: nets(f"kept/{file.name}") for file in (run.folder / "kept").iterdir()}
    assert {*kept} == {f"nets_make.{kind}.pt" for kind in ("pruned-50", "pruned-50-structured", "int8-dynamic", "distilled")}
    assert all(type(net).__name__ == "Net" and type(net).__module__ == "nets" and not net.training for net in kept.values())
    layers = [[net.body[place].weight for place in (0, 2, 3)] for net in (kept["nets_make.pruned-50.pt"], kept["nets_make.pruned-50-structured.pt"])]
    flat = torch.cat([weight.flatten() for weight in layers[0]])
    assert int((flat == 0).sum()) == len(flat) // 2
    assert [int((weight.flatten(1) == 0).all(1).sum()) for weight in layers[1]] == [4, 16, 2]
    assert "quantized" in type(kept["nets_make.int8-dynamic.pt"].body[2]).__module__
    assert kept["nets_make.distilled.pt"].body[2].out_features == 8
    x = torch.rand(1, 3, 8, 8)
    assert all(net(x).shape == (1, 4) for net in kept.values())
    # Of another model of that file: names of their own. Of the same: told before anything is made.
    variants("nets.py:small@pytorch", "--prune", 0.5, "--save-path", "kept", *SHAPE, *ONCE)
    assert (run.folder / "kept/nets_small.pruned-50.pt").exists()
    said = variants("nets.py:make@pytorch", *asked, code=2)
    assert "kept/nets_make.distilled.pt exists already: --force writes over it" in said or "exists already: --force" in said


@pytest.mark.parametrize(("model", "said"), [
    ("nets.py:no_module@pytorch", "--save-path: nets_no_module.pruned-50.pt could not be made: "),
])
def test_what_cannot_be_saved_is_told(run, nets, model, said):
    done = run("variants", model, "--prune", 0.5, "--save-path", "kept", *SHAPE, *QUICK)
    assert done.returncode == 2 and said in done.stderr and "a function has no layers" in done.stderr, done.stderr


def test_a_name_for_one_file_and_none_to_make(run, nets, variants):
    asked = ("nets.py:make@pytorch", "--save-path", "kept/mine.pth", *SHAPE, *ONCE)
    assert "--save-path: there is no variant that a file is made of" in variants(*asked, code=2)
    assert "--save-path: 2 files are to be made: name a folder for them" in variants(*asked, "--prune", "0.5,0.4", code=2)
    variants(*asked, "--prune", 0.5)
    assert [file.name for file in (run.folder / "kept").iterdir()] == ["mine.pth"]


# --- makers that misbehave --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "reason"), [
    ("raise ValueError('out of cheese')", "ValueError: out of cheese (infermeter_make_float16_onnx.py, line 7)"),
    ("os.kill(os.getpid(), signal.SIGSEGV)", "it crashed with signal 11"),
    ("os._exit(7)", "it ended with status 7"),
    ("pass", "it ended well but made no file"),
    ("open('/etc/passwd').read()", "Permission"),
    ("import socket; socket.create_connection(('127.0.0.1', 9))", "PermissionError"),
    ("open(job.file, 'wb').write(b'no model')", "is not a whole ONNX model"),
])
def test_a_maker_that_fails_is_a_reason_and_the_others_go_on(body, reason, variants, fake_maker):
    report = variants("mlp", *fake_maker(body), "--prune", "0.5")
    assert reason in report["float16"]["failure"], report["float16"]["failure"]
    assert report["float16"]["failure"].startswith("could not be made: ")
    assert report["float16"]["measurements"] == [] and report["float16"]["model"] is None
    assert report["float16"]["pareto"]["place"] == "not_placed"
    assert report["float32"]["measurements"][0]["latency_p50_s"]["value"] > 0
    if importlib.util.find_spec("onnx") is not None:
        assert report["pruned-50%"]["failure"] is None


def test_a_maker_that_hangs_is_ended(variants, fake_maker):
    report = variants("mlp", *fake_maker("signal.pause()"), "--making-timeout", 2)
    assert report["float16"]["failure"] == "could not be made: it did not answer within 2 s"


def test_ctrl_c_while_a_file_is_made(infermeter, environment, fake_maker, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    command = [infermeter, "variants", "mlp", *map(str, fake_maker("signal.pause()"))]
    process = subprocess.Popen(command, cwd=folder, env=environment | {"INFERMETER_CACHE": str(tmp_path / "cache")},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "[1/1] float16 by ONNX Runtime's converter: being made\n"
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "" and "interrupted" in said
    assert not (folder / "results").exists() and not list((tmp_path / "cache/variants").iterdir())


def test_a_maker_of_ones_own_takes_the_place_of_ours(variants, fake_maker):
    report = variants("mlp", *fake_maker("shutil.copyfile(job.model, job.file)"))
    assert report["float16"]["failure"] is None and report["float16"]["output_error"] == 0


def test_a_variant_that_cannot_be_run_is_a_reason(variants, fake_maker):
    body = "open(job.file, 'wb').write(open(job.model, 'rb').read().replace(b'Gemm', b'Gemn').replace(b'MatMul', b'MatMum'))"
    report = variants("mlp", *fake_maker(body))
    assert "Gemn" in report["float16"]["failure"] or "MatMum" in report["float16"]["failure"]


def test_a_quantiser_that_fails_on_a_model(variants, run, tmp_path):
    """A tensor that is declared with another shape than it has: it runs, and shape inference refuses it."""
    need("onnx", "onnxruntime")
    import onnx

    file = tmp_path / "odd.onnx"
    assert run("models", "build", "mlp", file).returncode == 0
    model = onnx.load(file)
    inner = model.graph.node[0].output[0]
    model.graph.value_info.append(onnx.helper.make_tensor_value_info(inner, onnx.TensorProto.FLOAT, ["batch", 999, 3]))
    onnx.save(model, file)
    report = variants(file, "--backends", "onnxruntime", "--precisions", "int8", "--quantise", "dynamic,static", "--prune", 0.5)
    assert report["int8-dynamic"]["failure"].startswith("could not be made: ")
    assert report["pruned-50%"]["failure"] is None and report["float32"]["failure"] is None


def test_a_missing_package_is_said_with_the_way_to_get_it(build_dir, monkeypatch):
    monkeypatch.syspath_prepend(str(build_dir / "python"))
    from infermeter.backend import Refused
    from infermeter.making import Job, int8_nncf, int8_static

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for maker, package in ((int8_nncf, "openvino"), (int8_static, "onnx")):
        with pytest.raises(Refused, match=f"needs the package {package}, .*scripts/setup --with variants, or pip install"):
            maker.make(Job("m", "m.onnx", {}, "", "out.onnx"))


# --- data to calibrate on ---------------------------------------------------------------------------------------------


def test_calibration_data_that_do_not_fit_are_refused_at_once(variants, tmp_path):
    numpy.save(tmp_path / "wrong.npy", numpy.zeros((4, 17), numpy.float32))
    said = variants("mlp", "--precisions", "int8", "--calibration", tmp_path / "wrong.npy", code=2)
    assert "the data to calibrate on do not fit (--calibration): " in said and "17" in said
    assert not (variants.cache / "variants").exists()


def test_calibration_data_of_ones_own(variants, tmp_path):
    need("onnx", "onnxruntime")
    numpy.save(tmp_path / "right.npy", numpy.random.default_rng(1).uniform(-1, 1, (5, 16)).astype(numpy.float32))
    report = variants("mlp", "--backends", "onnxruntime", "--precisions", "int8", "--quantise", "static",
                      "--calibration", tmp_path / "right.npy")
    assert report["int8-static"]["failure"] is None
    assert report["int8-static"]["model"]["made"].endswith(f"calibrated on 5 items of {tmp_path}/right.npy")


# --- what is said, and what is refused --------------------------------------------------------------------------------


def test_models_that_are_there_already(variants, run, tmp_path):
    for name in ("a.onnx", "b.onnx"):
        assert run("models", "build", "mlp", tmp_path / name).returncode == 0
    (tmp_path / "c.tflite").write_bytes(b"what is this")
    report = variants("--models", f"original:{tmp_path}/a.onnx,quantized:{tmp_path}/b.onnx,other:{tmp_path}/c.tflite",
                      "--batch-size", 2, "--num-runs", 4)
    assert [*report][:3] == ["original", "quantized", "other"]
    assert report["quantized"]["output_error"] == 0
    # As in the tool that had these flags: one item, and so many at once.
    assert [measured["batch_size"] for measured in report["original"]["measurements"]] == [1, 2]
    assert report["other"]["failure"] is not None


def test_batch_sizes_threads_and_graph_levels(variants):
    report = variants("mlp", "--backends", "onnxruntime,openvino", "--precisions", "float32", "--graph-opt", "none,all",
                      "--threads", "1,2", "--batch-sizes", "1,8")
    assert len(report) - 1 == 6
    assert report[""]["batch_sizes"] == [1, 8]
    assert "openvino has no levels of graph optimisation" in report[""]["notes"][0]
    for label, variant in report.items():
        if label:
            assert [one["batch_size"] for one in variant["measurements"]] == [1, 8], label
            assert variant["output_error"] is None or variant["output_error"] < 1e-4


def test_hostile_names_are_harmless(variants, run, tmp_path):
    need("onnx")
    file = tmp_path / "\x1b[31m‮ evil$(touch x)'\".onnx"
    assert run("models", "build", "mlp", file).returncode == 0
    report = variants(file, "--backends", "onnxruntime", "--precisions", "float32", "--prune", 0.5)
    made = report["pruned-50%"]["model"]["path"]
    assert "\x1b" not in made and "$" not in made and made.endswith(".pruned.onnx")
    text = run("variants", file, "--backends", "onnxruntime", "--precisions", "float32", *QUICK).stdout
    assert "\x1b" not in text and "‮" not in text
    said = variants("--models", f"\x1b[31mx:{file}", "--precisions", "int8", code=2)
    assert "\x1b" not in said


def test_a_dry_run_makes_and_measures_nothing(run, tmp_path):
    env = {"INFERMETER_CACHE": str(tmp_path / "cache")}
    done = run("variants", "mlp", "--precisions", "float16,int8", "--backends", "onnxruntime", "--dry-run", env=env)
    assert done.returncode == 0, done.stderr
    assert "float32: as it is" in done.stdout
    assert "int8-static: to be made: int8 static by ONNX Runtime, a .onnx file" in done.stdout
    assert "3 subjects, 3 processes each: 9 trials" in done.stdout
    assert not (tmp_path / "cache/variants").exists() and not (run.folder / "results").exists()


def test_what_is_made_of_a_folder_is_one(run):
    need("cyllama", "gguf")
    done = run("variants", "tiny_llama@llama-cpp", "--precisions", "int8", "--dry-run")
    assert done.returncode == 0 and "int8: to be made: int8 weights for llama.cpp, a folder\n" in done.stdout, done.stderr


@pytest.mark.parametrize(("arguments", "said"), [
    ((), "which model?"),
    (("mlp", "--precisions", "float61"), "--precisions: there is no 'float61' (did you mean 'float16'?)"),
    (("mlp", "--prune", "1.5"), "a share of 1.5 cannot be pruned"),
    (("mlp", "--backends", "tensorrt"), "there is no back end tensorrt: it needs an NVIDIA GPU"),
    (("mlp", "--backends", "onnxruntimee"), "did you mean 'onnxruntime'?"),
    (("mlp", "--models", "a:b"), "--models names files that are measured as they are"),
    (("--models", "nothing"), "'nothing' is not a NAME:PATH"),
    (("nowhere.onnx",), "unknown model 'nowhere.onnx'"),
    (("mlp@onnxruntime", "--backends", "openvino"), "names a back end, and so does --backends"),
    (("mlp@onnxruntime,batch=4",), "batch sizes, precisions and threads are flags"),
    (("mlp", "--num-runs", "none"), "--iterations: expected auto, or"),
])
def test_what_makes_no_sense_is_refused(arguments, said, variants):
    assert said in variants(*arguments, code=2)


@pytest.mark.parametrize("name", ["table", "markdown", "csv"])
def test_other_formats(name, run, tmp_path):
    done = run("variants", "mlp", "--backends", "onnxruntime", "--precisions", "float32,bfloat16", *QUICK, "--report-format", name,
               "--save-dir", tmp_path / "kept")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kept/infermeter.db").exists()
    if name == "csv":
        assert done.stdout.startswith("framework,model,device,")
        return
    assert "float32" in done.stdout
    if "bfloat16" in done.stdout and "executes no bfloat16" in done.stdout:
        assert "refused" in done.stdout
    if name == "table":
        assert max(map(len, done.stdout.splitlines())) <= 80


def test_from_python(build_dir, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(build_dir / "python"))
    monkeypatch.setenv("INFERMETER_CACHE", str(tmp_path / "cache"))
    import infermeter

    notes = []
    made = infermeter.variants("mlp", backends=["onnxruntime"], precisions=["float32"], prune=0.5,
                               prune_how=["unstructured", "structured"], student="mlp", iterations=3, processes=2,
                               output_dir=str(tmp_path / "results"), note=notes.append)
    documents.check(made.report)
    assert [variant["label"] for variant in made.report["variants"]] == ["float32", "pruned-50%", "pruned-50%-structured", "distilled"]
    assert made.record.id == made.report["run"] and made.exit_code == 0
    assert notes == ["50 % of its weights set to 0: being made"]
    assert "PARETO FRONT" in str(made)
    with pytest.raises(infermeter.UsageError, match="--precisions: there is no 'int9'"):
        infermeter.variants("mlp", precisions="int9", output_dir=str(tmp_path / "results"))
