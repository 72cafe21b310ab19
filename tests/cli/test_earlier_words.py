"""The command lines of earlier tools, with nothing but the program's name changed: what each of its words does here."""

import json
import re
import shlex

import numpy
import pytest
from PIL import Image

SHORT = ("--processes", 1, "--iterations", 20, "--warmup", 1, "--quiet")

# As their documents have them, behind the program's name.
RUNNER = "--framework both --model both --batch-sizes 1 8 32 128 --iterations 200 --warmup 20 --output-dir results/raw/production"
MODELS = ('--models "original:models/resnet50.pt,quantized:models/quantized_model.pt,pruned:models/pruned_model.pt,'
          'distilled:models/distilled_model.pt" --dataset ./data/test --batch-size 32 --num-runs 100 --save-dir benchmark_results '
          "--report-format markdown")
FLAMEGRAPH = ("--model models/optimized_model.pt --dataset ./data/test --batch-size 1 --save-dir profile_results --profiler torch "
              "--use-cuda")
RUNNER_LINES = """\
--framework pytorch --model resnet50 --batch-sizes 1 4 --iterations 10 --warmup 3
--framework pytorch --model resnet50
--framework jax --model vit_b_16 --batch-sizes 1 16 32 64 --iterations 100 --warmup 20
--framework pytorch --model resnet50 --batch-sizes 1 16 --iterations 20 --warmup 5
"""
OPTIMISERS = {  # the program, and what of ours it is
    "--model models/original.pt --save-path models/quantized.pt": "--precisions int8",
    "--model models/original.pt --save-path models/pruned.pt": "--prune 0.5",
    "--teacher models/original.pt --save-path models/distilled.pt": "--student models/small.pt",
}
PHASES_LINES = """\
--config configs/experiment/im2im/segmentation.yaml --ckpt path/to/checkpoint.ckpt --baseline --phase1
--config configs/experiment/im2im/mae.yaml --batch-sizes 1 2 4 8 16
--config configs/experiment/im2im/labelfree.yaml --ckpt logs/best.ckpt --all-phases --validation-data data/val --generate-html --output benchmark_results/
--batch-sizes 1 2
--device cpu
--baseline --phase1  # Skip Phase 2/3
"""
PHASES = ("--config configs/experiment/im2im/labelfree.yaml --ckpt path/to/checkpoint.ckpt --all-phases "
          "--validation-data path/to/val/images --generate-html")


def words(line, **other):
    """The words of a line; `other`: what stands for a value of it."""
    return [other.get(word, word) for word in shlex.split(line)]


def pictures(folder):
    folder.mkdir(parents=True)
    random = numpy.random.default_rng(1)
    for number in range(3):
        Image.fromarray(random.integers(0, 255, (40, 50, 3), numpy.uint8)).save(folder / f"{number}.png")


def lines_of(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- a runner over frameworks -----------------------------------------------------------------------------------------


def test_the_runner(run, needs):
    needs("torch", "jax")
    text = lines_of(run("run", *words(RUNNER), "--dry-run"))
    assert "20 warm-up iterations, then 200 timed iterations" in text and "results in results/raw/production" in text
    for subject in (f"{model}@{framework},batch={batch}" for model in ("resnet50", "vit_b_16")
                    for framework in ("pytorch", "jax") for batch in (1, 8, 32, 128)):
        assert subject in text


@pytest.mark.parametrize("line", RUNNER_LINES.splitlines())
def test_the_runner_s_other_lines(run, needs, line):
    asked = dict(re.findall(r"--(iterations|warmup|framework|model) (\S+)", line))
    needs({"pytorch": "torch"}.get(asked["framework"], asked["framework"]))
    text = lines_of(run("run", *words(line), "--dry-run"))
    sizes = re.search(r"--batch-sizes ([\d ]+)", line)
    for batch in (sizes.group(1).split() if sizes else (1, 8, 32, 128)):
        assert f"{asked['model']}@{asked['framework']},batch={batch}" in text
    assert "iterations" not in asked or f"{asked['warmup']} warm-up iterations, then {asked['iterations']} timed" in text


def test_framework_has_the_batch_sizes_of_its_tool(run):
    batches = re.findall(r"mlp@fake,batch=(\d+)", lines_of(run("run", "--framework", "fake", "--model", "mlp", "--dry-run")))
    assert set(batches) == {"1", "8", "32", "128"}
    said = lines_of(run("run", "--framework", "fake", "--model", "mlp", "--batch-sizes", 2, "--dry-run"))
    assert "batch=" not in said
    assert "batch=" not in lines_of(run("run", "--backend", "fake", "--model", "mlp", "--dry-run"))


def test_the_csv_is_where_it_was_and_named(run):
    done = run("run", "mlp@fake", *SHORT[:-1], "--output-dir", "results/raw/production")
    assert done.returncode == 0, done.stderr
    (file,) = (run.folder / "results/raw/production").glob("benchmark_results_*.csv")
    assert f"Results saved to: {file.relative_to(run.folder)}\n" in done.stderr


# --- several model files beside each other ----------------------------------------------------------------------------


@pytest.fixture
def onnx_models(run, onnxruntime):
    (run.folder / "models").mkdir()
    for name in ("resnet50", "quantized_model", "pruned_model", "distilled_model"):
        assert run("models", "build", "mlp", f"models/{name}.onnx").returncode == 0
    return MODELS.replace(".pt", ".onnx").replace("--num-runs 100", "--num-runs 5").replace("./data/test", "synthetic")


def test_models_beside_each_other(run, onnx_models):
    done = run("variants", *words(onnx_models), "--processes", 1, "--warmup", 1, "--quiet")
    text = lines_of(done)
    for name in ("original", "quantized", "pruned", "distilled"):
        assert f"| {name} |" in text
    # A single sample and a batch, in one go.
    assert "batch 1" in text.lower() and "batch 32" in text.lower() or "batch=32" in text
    assert (run.folder / "benchmark_results/infermeter.db").exists()


def test_the_page_is_in_the_folder_of_results(run, onnx_models):
    line = onnx_models.replace("--report-format markdown", "--report-format html").replace("32", "2")
    lines_of(run("variants", *words(line), "--processes", 1, "--warmup", 1, "--quiet"))
    assert "<html" in (run.folder / "benchmark_results/comparison.html").read_text()[:500]


def test_models_that_are_code_want_the_word(run):
    done = run("variants", *words(MODELS), "--dry-run")
    assert done.returncode == 2 and "models/resnet50.pt" in done.stderr


def test_pickled_models_are_measured_on_what_the_dataset_holds(run):
    """Neither a back end nor an input shape is said: a pickle is for Python, and pictures are 224 x 224."""
    torch = pytest.importorskip("torch", reason="pytorch is not installed: scripts/setup --with pytorch")
    pictures(run.folder / "data/test")
    (run.folder / "models").mkdir()
    for name in ("resnet50", "quantized_model"):
        torch.save(torch.nn.Conv2d(3, 2, 3, stride=8), run.folder / f"models/{name}.pt")
    line = MODELS.split(",pruned")[0] + '" ' + MODELS.split('" ')[1]  # two of the four
    line = line.replace("--batch-size 32", "--batch-size 3").replace("100", "3")
    text = lines_of(run("variants", *words(line), "--allow-code", "--processes", 1, "--warmup", 1, "--quiet"))
    for name in ("original", "quantized"):
        assert re.search(rf"^\| {name} \| \S+ \S+ \| mean \S+", text, re.M), "too few for a median"
    report = json.loads(run("report", "--output-dir", "benchmark_results", "--format", "json").stdout)
    assert {subject["backend"] for subject in report["plan"]["subjects"]} == {"pytorch"}
    assert {trial["executed"]["input_shape"] for trial in report["trials"]} == {"(1, 3, 224, 224)", "(3, 3, 224, 224)"}


@pytest.fixture
def networks(run):
    """Two modules of torch's own classes, pickled."""
    torch = pytest.importorskip("torch", reason="pytorch is not installed: scripts/setup --with pytorch")
    (run.folder / "models").mkdir()
    for name, width in (("original", 32), ("small", 8)):
        net = torch.nn.Sequential(torch.nn.Linear(16, width), torch.nn.ReLU(), torch.nn.Linear(width, 4))
        torch.save(net, run.folder / f"models/{name}.pt")
    return torch


def test_what_optimisers_made_is_saved_where_they_saved_it(run, networks):
    short = (*SHORT[:-1], "--option", "input_shape=1x16", "--allow-code")
    for line, ours in OPTIMISERS.items():
        done = run("variants", *words(line), *words(ours), *short)
        assert done.returncode == 0 and f"saved: {line.split()[-1]}\n" in done.stderr, done.stderr
    files = [networks.load(run.folder / f"models/{name}.pt", weights_only=False) for name in ("quantized", "pruned", "distilled")]
    assert "quantized" in type(files[0][0]).__module__
    weights = networks.cat([files[1][place].weight.flatten() for place in (0, 2)])
    assert int((weights == 0).sum()) == len(weights) // 2
    assert files[2][0].out_features == 8 and not any(file.training for file in files)
    # The last line of theirs, on what was made.
    line = ("--models original:models/original.pt,quantized:models/quantized.pt,pruned:models/pruned.pt,distilled:models/distilled.pt")
    text = lines_of(run("variants", *words(line), *short, "--quiet", "--format", "markdown"))
    assert all(f"| {name} |" in text for name in ("original", "quantized", "pruned", "distilled"))


def test_a_teacher_without_a_student_is_refused(run, networks):
    done = run("variants", *words([*OPTIMISERS][2]), "--allow-code")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert "--teacher: no student is trained here; give the one that was trained elsewhere, --student MODEL" in done.stderr


def test_two_names_of_one_flag_are_refused(run):
    done = run("run", "mlp@fake", "--data", "synthetic", "--dataset", "synthetic")
    assert done.returncode == 2 and "--dataset is --data: give one of them" in done.stderr
    done = run("run", "mlp@fake", "--num-runs", 5, "--duration", "1s")
    assert done.returncode == 2 and "--iterations and --duration exclude each other" in done.stderr


# --- flame graphs -----------------------------------------------------------------------------------------------------


def test_profiles_are_in_the_folder_of_results(run, onnxruntime):
    line = FLAMEGRAPH.replace("models/optimized_model.pt", "mlp").replace("./data/test", "synthetic").replace(" --use-cuda", "")
    done = run("profile", *words(line), "--backend", onnxruntime, *SHORT, "--profile-processes", 1, "--profile-iterations", 3)
    lines_of(done)
    folder = run.folder / "profile_results"
    names = {"trace.json", "cpu_time_summary.txt", "memory_summary.txt", "detailed_breakdown.txt", "profiling_summary.txt"}
    assert names <= {path.name for path in folder.iterdir()} and not (folder / "cuda_memory_summary.txt").exists()
    assert list(folder.glob("tensorboard/*/*.pt.trace.json")) and list(folder.glob("tensorboard/*/events.out.tfevents.*"))
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    steps = {event["name"] for event in events if event.get("cat") == "user_annotation"}
    assert steps == {"ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"} and any(e.get("cat") == "cpu_op" for e in events)


def test_a_profiler_of_python_by_its_name(run):
    done = run("profile", "mlp@fake", "--profiler", "cProfile", *SHORT, "--profile-processes", 1, "--format", "json")
    assert json.loads(lines_of(done))["plan"]["python_profiler"] == "cprofile"
    done = run("profile", "mlp@fake", "--profiler", "perf", "--dry-run")
    assert done.returncode == 2 and "--python-profiler" in done.stderr and "'perf'" in done.stderr


def test_cuda_is_refused_where_there_is_none(run, onnxruntime):
    done = run("profile", "mlp@onnxruntime", "--use-cuda", "--dry-run")
    assert done.returncode in (0, 2)
    assert done.returncode == 0 or "cuda" in done.stderr


# --- phases of optimisation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", PHASES_LINES.splitlines())
def test_the_lines_of_phases(run, needs, line):
    needs("torch")
    given = shlex.split(line, comments=True)
    plain = run("variants", *given, "--dry-run")
    config = next((word for word in given if word.endswith(".yaml")), None)
    checkpoint = next((word for word in given if word.endswith(".ckpt")), None)
    said = f"{config} is the configuration of a training program" if config else "which model? Name one of the zoo"
    assert plain.returncode == 2 and said in plain.stderr and plain.stderr.count("\n") == 1
    (run.folder / "nets.py").write_text("def make():\n    return None\n")
    if checkpoint is not None:
        (run.folder / checkpoint).parent.mkdir(parents=True)
        (run.folder / checkpoint).write_bytes(b"weights")
    pictures(run.folder / "data/val")
    ours = ["nets.py:make" if word == config else word for word in given]
    more = [] if config else ["--config", "nets.py:make"]
    text = lines_of(run("variants", *ours, *more, "--allow-code", "--dry-run"))
    sizes = given[given.index("--batch-sizes") + 1:] if "--batch-sizes" in given else []
    assert re.search(r"^eager: as it is$", text, re.M) and all(f"eager,batch={size}" in text for size in sizes)


def test_a_configuration_of_another_program_is_refused_with_what_to_give(run):
    done = run("variants", *words(PHASES), "--dry-run")
    assert done.returncode == 2 and "give a function that returns the model, --config FILE.py:FACTORY" in done.stderr


@pytest.mark.parametrize("flags, phases", [
    ("--baseline --phase1", ["eager", "phase1"]), ("--all-phases", ["eager", "channels_last", "autocast", "compile",
                                                                   "dynamic_int8", "stacked"]),
    ("--baseline --phase2 --phase3", ["eager", "tensorrt", "dynamic_int8"])])
def test_phases(run, needs, flags, phases):
    needs("torch")
    (run.folder / "nets.py").write_text("def make():\n    return None\n")
    text = lines_of(run("variants", "--config", "nets.py:make", *flags.split(), "--validation-data", "synthetic", "--generate-html",
                        "--batch-sizes", 1, 2, "--dry-run"))
    assert re.findall(r"^([a-z0-9_]+): (?:as it is|not measured)", text, re.M) == phases


def test_a_folder_for_the_report_and_its_page(run):
    done = run("run", "a=mlp@fake", "b=mlp@fake", *SHORT, "--output", "benchmark_results/", "--generate-html")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert sorted(path.name for path in (run.folder / "benchmark_results").iterdir()) == ["comparison.html", "comparison.txt"]
    again = run("run", "a=mlp@fake", *SHORT, "--output", "benchmark_results", "--format", "json")
    assert again.returncode == 0 and (run.folder / "benchmark_results/comparison.json").exists()
    reported = run("run", "a=mlp@fake", *SHORT, "--output", "benchmark_results/")
    assert reported.returncode == 2 and "comparison.txt exists already" in reported.stderr


def test_a_page_without_a_folder_is_beside_the_results(run):
    lines_of(run("run", "mlp@fake", *SHORT, "--generate-html", "--output-dir", "kept"))
    assert (run.folder / "kept/comparison.html").exists()


def test_a_missing_folder_is_told_before_anything_is_measured(run):
    done = run("run", "mlp@fake", *SHORT, "--output", "nowhere/report.txt")
    assert done.returncode == 2 and "nowhere/report.txt cannot be written" in done.stderr
    assert not (run.folder / "results").exists()
