"""Bad input: one clear sentence on standard error, nothing on standard output, the documented exit code."""

import json
import os

import numpy
import pytest

FAKE = "mlp@fake,latency=constant:100us"
SHORT = ("--processes", 1, "--iterations", 3, "--quiet")


def refused(done, code, *fragments):
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("infermeter: ") and done.stderr.count("\n") == 1, done.stderr
    for fragment in fragments:
        assert fragment in done.stderr


@pytest.mark.parametrize("arguments, fragments", [
    (["rnu"], ["unknown verb 'rnu' (did you mean 'run'?)"]),
    (["--versoin"], ["unknown flag '--versoin' (did you mean '--version'?)"]),
    (["run"], ["nothing to measure", "--plan"]),
    (["run", FAKE, "--itrations", "3"], ["unknown flag '--itrations' (did you mean '--iterations'?)"]),
    (["history", "a", "b"], ["'b' is one argument too many"]),
    (["run", FAKE, "--iterations"], ["--iterations: a value is missing"]),
    (["run", FAKE, "--iterations", "0"], ["--iterations: expected auto, or a whole number of at least 1, got '0'"]),
    (["run", FAKE, "--iterations", "many"], ["--iterations: expected auto, or a whole number of at least 1, got 'many'"]),
    (["run", FAKE, "--warmup", "-1"], ["--warmup: expected auto or none, or a whole number of at least 0, got '-1'"]),
    (["run", FAKE, "--batch-sizes", "0"], ["--batch-sizes: expected a whole number from 1"]),
    (["run", "mlp@fake,batch=0"], ["subject 'mlp@fake,batch=0': batch: expected a whole number from 1"]),
    (["run", FAKE, "--processes", "0"], ["--processes: expected auto, or a whole number from 1"]),
    (["run", FAKE, "--threads", "-2"], ["--threads: expected a whole number from 0"]),
    (["run", FAKE, "--duration", "-1s"], ["--duration: expected a time such as 30s", "got '-1s'"]),
    (["run", FAKE, "--duration", "0"], ["--duration: expected a time above 0"]),
    (["run", FAKE, "--load-timeout", "soon"], ["--load-timeout: expected a time such as 30s"]),
    (["run", FAKE, "--memory-limit", "2gigs"], ["--memory-limit: expected a size such as 2GB"]),
    (["run", FAKE, "--precision", "2"], ["a precision of 2 cannot be: above 0 % and below 100 % (--precision 2%)"]),
    (["run", FAKE, "--precision", "0"], ["a precision of 0 cannot be"]),
    (["run", FAKE, "--cpus", "1-0"], ["--cpus: expected processors such as 0-3,8"]),
    (["run", FAKE, "--outliers", "sigmoid:3"], ["--outliers: unknown outlier rule 'sigmoid'"]),
    (["run", FAKE, "--sandbox", "strikt"], ["--sandbox: unknown sandbox 'strikt' (did you mean 'strict'?)"]),
    (["run", FAKE, "--iterations", "1", "--duration", "1"], ["--iterations and --duration exclude each other"]),
    (["load", FAKE, "--rate", "10", "--requests", "9", "--duration", "1"], ["--requests and --duration exclude each other"]),
    (["compare", FAKE, FAKE, "--rate", "10", "--requests", "9", "--num-runs", "3"], ["--requests and --iterations exclude each other"]),
    (["run", FAKE, "--processes", "3", "--budget", "1m"], ["--budget", "--processes auto", "(3)"]),
    (["profile", FAKE, "--budget", "1m"], ["unknown flag '--budget'"]),
    (["load", FAKE, "--rate", "10", "--budget", "1m"], ["unknown flag '--budget'"]),
    (["run", FAKE, "--format", "jsn"], ["'jsn' (did you mean 'json'?)"]),
    (["run", FAKE, "--dim", "height"], ["--dim: expected it as name=value, got 'height'"]),
    (["run", FAKE, "--plan", "nosuch.toml"], ["plan file nosuch.toml cannot be read: No such file"]),
    (["run", "mlp,threads=2"], ["subject 'mlp,threads=2': it has no back end: write MODEL@BACKEND"]),
    (["run", "nosuch.xyz"], ["unknown model 'nosuch.xyz': it is neither a file nor in the zoo"]),
    (["run", FAKE, "--duration", "15m", "--run-timeout", "10m"],
     ["900 s of timed inferences do not end within a run limit of 600 s: a longer --run-timeout"]),
    (["run", FAKE, "--width", "12"], ["--width: expected a whole number from 60 to 500, got '12'"]),
    (["run", "a=mlp@fake", "a=mlp@fake"], ["two subjects have the label 'a'"]),
    (["run", "--model", "/etc/passwd"], ["no back end here reads /etc/passwd: name one with --backend"]),
    (["run", "--backend", "fake"], ["back end fake has no model: add, for example, --model"]),
    (["run", "mlp@fak"], ["unknown back end 'fak' (did you mean 'fake'?)"]),
    (["run", "mlp@fake,latncy=constant:1ms"], ["back end fake has no option 'latncy' (did you mean 'latency'?)"]),
    (["run", "mlp@fake", "--prompt-tokens", "8"], ["back end fake has no option 'prompt_tokens'"]),
    (["run", "mlp@fake", "--option", "threads=2"], ["threads is the same for all back ends, and no option of fake: write ,threads=2"]),
    (["study", "imaging", "--wait"], ["--wait waits for runs on a cluster: give --on slurm, or --resume"]),
    (["compare", "mlp@fake", "b=mlp@fake", "--wait"], ["--wait waits for a comparison on a cluster: give --on slurm"]),
    (["variants", "mlp", "--wait"], ["--wait waits for a run on a cluster: give --on slurm"]),
    (["variants", "mlp", "--model", "mlp"], ["--config, --ckpt, --model and --teacher are MODEL: give one of them"]),
    (["validate", "mlp@fake", "--format", "markdown"], ["one subject has no markdown report: --format takes table or json"]),
    (["run", FAKE, "--on", "kubernetes", "--write-job", "j", "--partition", "x"], ["--partition and --sbatch are Slurm's"]),
    (["run", FAKE, "--on", "kubernetes", "--write-job", "j", "--image", "i", "--volume", "c:/f", "--constraint", "x"],
     ["with --on kubernetes it is KEY=VALUE"]),
    (["run", FAKE, "--leak-iterations", "50"], ["50 iterations cannot show a leak: at least 100, or 0 for no leak trial"]),
    (["load", FAKE, "--rate", "10", "--arrivals", "burst:0s"], ["burst:N: expected a whole number from 1 to 1000000, got '0s'"]),
    (["run", "mlp@fake,threds=2"], ["has no option 'threds' (did you mean 'threads'?)"]),
    (["run", "mlp@fake,device=cpx"], ["back end fake has no device 'cpx' (did you mean 'cpu'?)"]),
    (["run", "mlp@fake", "--device", "tpu"], ["back end fake has no device 'tpu'; here it has cpu"]),
    (["run", "mlp@fake", "--device", "mps"], ["back end fake has no device 'mps'; here it has cpu"]),
    (["run", "mlp@fake", "--quiet", "--verbose"], ["--quiet excludes --verbose"]),
    (["run", FAKE, "--dtype", "flaot16"], ["--dtype: unknown dtype 'flaot16' (did you mean 'float16'?)"]),
    (["run", "--resume"], ["infermeter.db"]),
    (["run", "--resume", "--seed", "3"], ["--resume continues with the run's own plan: leave --seed out"]),
    (["report", "nosuch"], ["infermeter.db"]),
    (["backends", "fak"], ["unknown back end 'fak' (did you mean 'fake'?)"]),
    (["backends", "--format", "csv"], ["there are table and json here"]),
    (["models", "build", "mpl", "x.onnx"], ["the zoo has no model 'mpl' (did you mean 'mlp'?)"]),
    (["models", "build", "mlp", "m.tflite"], ["written as ONNX", "m.tflite does not end in .onnx"]),
    (["models", "build", "mlp"], ["FILE is required", "models build --help"]),
    (["validate", "mlp", "--backend", "fake"], ["validate needs recorded inputs and outputs: give --data"]),
    (["validate", "mlp", "--data", "."], ["it has no back end: write MODEL@BACKEND"]),
    (["validate", "mlp", "--backend", "fake", "--data", "nosuch"], ["--data: nosuch is not a folder"]),
    (["validate", "mlp", "--backend", "fake", "--data", ".", "--rtol", "-1"], ["--rtol: expected a number of at least 0"]),
])
def test_usage(run, arguments, fragments):
    refused(run(*arguments), 2, *fragments)


@pytest.mark.parametrize("text, where", [
    ("iteratons = 3\n", "plan.toml:1:1: unknown key 'iteratons' (did you mean 'iterations'?)"),
    ("models = ['mlp']\nwarmup = 'ten'\n", "plan.toml:2:10: warmup: expected auto or none, or a whole number"),
    ("models = [\n", "plan.toml:"),
    ("[[subject]]\nmodel = 'mlp'\n", "plan.toml:1:1: this [[subject]] has no 'backend'"),
])
def test_a_broken_plan_names_line_and_column(run, text, where):
    (run.folder / "plan.toml").write_text(text)
    refused(run("run", "--plan", "plan.toml"), 2, where)


def test_a_configuration_that_says_what_is_loaded_is_refused(run):
    (run.folder / "infermeter.toml").write_text("backend_path = 'evil'\n")
    refused(run("run", FAKE, *SHORT), 2, "infermeter.toml:1:16: 'backend_path' is allowed in a plan file only")


def test_a_variable_is_named(run):
    refused(run("run", FAKE, env={"INFERMETER_ITERATIONS": "x"}), 2,
            "INFERMETER_ITERATIONS: expected auto, or a whole number of at least 1, got 'x'")
    refused(run("run", FAKE, env={"INFERMETER_ITERATIONS": "1", "INFERMETER_DURATION": "1"}), 2, "exclude each other")


@pytest.mark.parametrize("name, content, fragment", [
    ("nosuch.onnx", None, "nosuch.onnx"),
    ("empty.onnx", b"", "empty"),
    ("foreign.onnx", b"\x7fELF this is not a model" * 10, "foreign.onnx"),
    ("pickled.pt", b"\x80\x02}q\x00.", "contains code"),
])
def test_a_model_file_that_is_none(run, name, content, fragment):
    if content is not None:
        (run.folder / name).write_bytes(content)
    done = run("run", f"./{name}@fake", *SHORT)
    assert done.returncode in (2, 3)
    refused(done, done.returncode, fragment)


@pytest.mark.parametrize("name", ["nosuch.onnx", "nosuch"])
@pytest.mark.parametrize("verb", ["run", "load", "profile"])
def test_a_model_that_is_not_there_is_said_before_back_ends_are(run, verb, name):
    done = run(verb, name, *(("--rate", 5) if verb == "load" else ()))
    assert done.returncode == 2 and done.stderr.startswith(f"infermeter: unknown model '{name}': it is neither a file"), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_number_that_is_none_names_flag_and_value(run):
    done = run("doctor", "--aa", "x")
    assert done.returncode == 2 and done.stderr.startswith("infermeter: --aa: 'x' is not a valid value; see "), done.stderr


def test_a_model_that_is_not_in_the_zoo(run):
    done = run("run", "resnet5@fake", *SHORT)
    refused(done, done.returncode, "resnet5", "did you mean 'resnet50'?")
    assert done.returncode in (2, 3)


def test_a_truncated_model(run):
    assert run("models", "build", "mlp", "mlp.onnx").returncode == 0
    whole = (run.folder / "mlp.onnx").read_bytes()
    (run.folder / "cut.onnx").write_bytes(whole[: len(whole) // 2])
    done = run("run", "./cut.onnx@fake", *SHORT)
    refused(done, done.returncode, "cut.onnx")
    assert done.returncode in (2, 3)


def test_a_dtype_that_the_back_end_cannot_do(run):
    found = json.loads(run("backends", "onnxruntime", "--format", "json").stdout)
    if not found["usable"]:
        pytest.skip(found["error"])
    refused(run("run", "mlp@onnxruntime", "--dtype", "bfloat16", *SHORT), 2,
            "back end onnxruntime cannot execute bfloat16 here, but float32 (--dtype)")


def failed_trial(done, code, *fragments):
    """Errors that only a worker can find are in the report and on its progress line; the exit code says whose they are."""
    assert done.returncode == code, done.stderr + done.stdout
    for fragment in fragments:
        assert fragment in done.stderr, done.stderr


def test_an_input_that_does_not_fit_names_wanted_and_got(run):
    numpy.save(run.folder / "x.npy", numpy.zeros((2, 3), "float32"))
    done = run("run", "mlp@fake,inputs=x:float32:2x4", "--batch-axis", "x=0", "--batch-sizes", 2, "--data", "x.npy", "--processes", 1, "--iterations", 3)
    failed_trial(done, 2, "[2, 4]", "[2, 3]")


def test_a_dynamic_dimension_that_is_not_given_is_named(run):
    done = run("run", "mlp@fake,inputs=x:float32:1xheight", "--processes", 1, "--iterations", 3)
    failed_trial(done, 2, "height")


def test_an_empty_data_folder(run):
    (run.folder / "images").mkdir()
    done = run("run", "mlp@fake,inputs=x:float32:1x3x8x8", "--data", "images", "--processes", 1, "--iterations", 3)
    failed_trial(done, 2, "images")


def test_an_unreadable_image_is_named(run):
    (run.folder / "images/cat").mkdir(parents=True)
    (run.folder / "images/cat/broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    done = run("run", "mlp@fake,inputs=x:float32:1x3x8x8", "--data", "images", "--processes", 1, "--iterations", 3)
    failed_trial(done, 2, "broken.jpg")


def test_an_output_folder_that_cannot_be_written(run):
    (run.folder / "file").write_text("")
    refused(run("run", FAKE, *SHORT, "--output-dir", "file/results"), 2, "file/results")


def test_an_output_file_is_refused_before_anything_is_measured(run):
    (run.folder / "report.json").write_text("earlier")
    refused(run("run", FAKE, *SHORT, "--output", "report.json"), 2, "report.json exists already: --force writes over it")
    assert not (run.folder / "results").exists()
    refused(run("run", FAKE, *SHORT, "--output", "/dev/null", "--force"), 2, "/dev/null is not a regular file")
    assert (run.folder / "report.json").read_text() == "earlier"


def test_a_backend_library_that_is_missing(run):
    done = run("run", "mlp@onnxruntime", "--backend-library", "nosuch.so", *SHORT)
    refused(done, 2, "nosuch.so")


def test_a_full_standard_output_is_an_error(run):
    assert run("run", FAKE, *SHORT).returncode == 0
    with open("/dev/full", "w") as full:
        done = run("report", stdout=full)
    assert done.returncode == 2
    assert "could not be written to standard output" in done.stderr


def test_a_reader_that_goes_away_is_none(run):
    assert run("run", FAKE, *SHORT).returncode == 0
    read, write = os.pipe()
    os.close(read)
    done = run("report", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_would_command_the_terminal_are_shown_escaped(run):
    done = run("run", "mlp\x1b[2J@fake", *SHORT)
    assert "\x1b" not in done.stderr and "\\x1b" in done.stderr.lower()


def test_fixed_batch_that_is_another(run):
    made = run("run", "mlp@fake,inputs=x:float32:8x3", "--batch-sizes", 4, "--iterations", 5, "--processes", 1)
    assert made.returncode == 2
    assert "no input has a batch axis" in made.stderr and made.stderr.endswith("leave --batch-sizes out\n"), made.stderr
    assert run("run", "mlp@fake,inputs=x:float32:8x3", "--iterations", 5, "--processes", 1).returncode == 0
    asked = ("run", "mlp@fake,inputs=x:float32:8x3", "--batch-axis", "x=0", "--iterations", 5, "--processes", 1)
    assert "an inference has 8 items" in run(*asked).stderr and "--batch-sizes 8" in run(*asked).stderr
    assert run(*asked, "--batch-sizes", 8).returncode == 0


def test_wrong_values_of_several_flags_are_told_at_once(run):
    done = run("run", "mlp@fake", "--threads", "x", "--iterations", "y", "--dry-run")
    assert done.returncode == 2 and "2 problems, nothing was measured" in done.stderr, done.stderr
    assert "- --threads: expected" in done.stderr and "- --iterations: expected" in done.stderr
