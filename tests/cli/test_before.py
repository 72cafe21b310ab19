"""What is wrong is said before anything runs: for all subjects at once, by --dry-run too, with exit code 2."""

import json
import shutil
import subprocess
import venv

import numpy
import pytest

FAKE = "mlp@fake,latency=constant:100us"
SHORT = ("--processes", 1, "--iterations", 3, "--warmup", 1)


def problems_of(done):
    """The lines of the list; nothing else was said or done."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    lines = done.stderr.splitlines()
    assert lines[0] == f"infermeter: {len(lines) - 1} problems, nothing was measured:", done.stderr
    assert all(line.startswith("  - ") for line in lines[1:])
    return [line.removeprefix("  - ") for line in lines[1:]]


@pytest.fixture
def model(run):
    assert run("models", "build", "mlp", "m.onnx").returncode == 0
    return "m.onnx"


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
@pytest.mark.parametrize("verb", ["run", "compare", "profile"])
def test_all_problems_are_said_at_once(run, verb, dry):
    (run.folder / "out").mkdir()
    (run.folder / "out/raw").write_text("a file")
    found = problems_of(run(verb, "mlp@fake,latncy=1ms", "b=mlp@fake,device=tpu", "c=nosuch.onnx@fake", "d=mlp@fak",
                            "--data", "nosuch.npy", "--output-dir", "out", "--output", "nowhere/r.txt", "--html", "nowhere/r.html",
                            "--cpus", "1000", *dry))
    for part in ("unknown back end 'fak' (did you mean 'fake'?)", "has no option 'latncy' (did you mean 'latency'?)",
                 "back end fake has no device 'tpu'", "unknown model 'nosuch.onnx'", "there is no 'nosuch.npy'",
                 "--output-dir: out/raw cannot hold the results", "nowhere/r.txt cannot be written", "nowhere/r.html cannot be written",
                 "--cpus: this machine, or the container's CPU set, does not have processor 1000"):
        assert sum(part in line for line in found) == 1, (part, found)
    assert len(found) == 9
    assert sorted(path.name for path in run.folder.iterdir()) == ["out"]


def test_data_are_held_against_the_inputs_that_the_file_declares(run, model, onnxruntime):
    numpy.save(run.folder / "x.npy", numpy.zeros((2, 3), "float32"))
    done = run("run", f"{model}@{onnxruntime}", "--data", "x.npy", "--dim", "hight=3", *SHORT)
    shape, dimension = sorted(problems_of(done), key=lambda line: "hight" in line)
    assert shape.startswith("m.onnx: input 'input' needs float32 ") and "'x.npy' has float32 [2, 3]" in shape
    assert "the model has no dynamic dimension 'hight'; it has batch (--dim)" in dimension
    assert not (run.folder / "results").exists()


def test_labels_and_distributions_too(run, model, onnxruntime):
    numpy.save(run.folder / "x.npy", numpy.zeros((4, 16), "float32"))
    (run.folder / "labels.txt").write_text("0\n1\n")
    done = run("run", f"{model}@{onnxruntime}", "--data", "x.npy", "--labels", "labels.txt", "--dry-run")
    assert done.returncode == 2 and "'labels.txt' has 2 labels, the data 'x.npy' have 4 rows" in done.stderr
    (run.folder / "labels.txt").write_text("0\n1\n0\n1\n")
    done = run("run", f"{model}@{onnxruntime}", "--data", "x.npy", "--labels", "labels.txt", "--dry-run")
    assert done.returncode == 0, done.stderr
    done = run("run", f"{model}@{onnxruntime}", "--distribution", "inptu=zeros", "--dry-run")
    assert done.returncode == 2 and "a distribution is given for input 'inptu'" in done.stderr


def test_labels_that_are_missing_hide_nothing_else(run, model, onnxruntime):
    found = problems_of(run("run", f"{model}@{onnxruntime}", "--data", "nosuch.npy", "--labels", "nosuch.txt", "--dry-run"))
    assert len(found) == 2
    assert any("'nosuch.npy'" in line for line in found) and any("'nosuch.txt'" in line for line in found)
    found = problems_of(run("run", f"{model}@{onnxruntime}", "--labels", "nosuch.txt", "--distribution", "inptu=zeros", "--dry-run"))
    assert len(found) == 2
    assert any("'inptu'" in line for line in found) and any("'nosuch.txt'" in line for line in found)


def test_what_only_the_back_end_can_tell_ends_the_run_at_once(run):
    done = run("run", "a=mlp@fake,inputs=x:float32:1xheight", "b=mlp@fake,inputs=x:float32:1xwidth", "--processes", 3)
    found = problems_of(subprocess.CompletedProcess([], done.returncode, done.stdout,
                                                    done.stderr[done.stderr.index("infermeter: "):]))
    assert [line[0] for line in found] == ["a", "b"] and "height" in found[0] and "width" in found[1]
    assert run("runs", "--format", "json").stdout.strip() == "[]", "nothing to be resumed"


def test_validate_knows_the_names_of_outputs(run, model, onnxruntime):
    done = run("validate", f"{model}@{onnxruntime}", f"b={model}@{onnxruntime}", "--tolerance", "outptu=0.1", "--output", "no/x")
    found = problems_of(done)
    assert any("a tolerance is given for output 'outptu'" in line for line in found)
    assert any("no/x cannot be written" in line for line in found)


def test_a_picture_that_cannot_be_drawn_is_said_first(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    done = run("validate", "mlp@fake", "b=mlp@fake", "--diff-images", "pictures", "--html", "page.html",
               env={"INFERMETER_PYTHON": str(folder / "bin/python")})
    assert done.returncode == 2 and "--diff-images needs " in done.stderr, done.stderr
    assert list(run.folder.iterdir()) == []


def test_a_gate_and_a_study_are_checked_as_well(run):
    (run.folder / "gate.toml").write_text(
        "expect = ['latency_p50_ms <= 1']\n[plan]\nsubjects = ['mlp@fake,latncy=1ms']\ndata = 'nosuch.npy'\n")
    found = problems_of(run("gate", "gate.toml", "--junit", "nowhere/x.xml"))
    assert len(found) == 3


def test_files_that_would_replace_one_another_are_refused(run):
    (run.folder / "gate.toml").write_text("expect = ['latency_p50_ms <= 1000']\n[plan]\nsubjects = ['mlp@fake']\n")
    done = run("gate", "gate.toml", "--junit", "one", "--html", "./one")
    assert (done.returncode, done.stdout) == (2, "") and "--junit and --html name one file, ./one" in done.stderr
    done = run("validate", "mlp@fake", "b=mlp@fake", "--output", "one", "--html", "../work/one")
    assert done.returncode == 2 and "--output and --html name one file" in done.stderr, done.stderr
    (run.folder / "a file").write_text("kept")
    done = run("profile", FAKE, *SHORT, "--profile-files", "a file", "--dry-run")
    assert done.returncode == 2 and "--profile-files: a file cannot hold the results" in done.stderr, done.stderr


def test_a_store_is_never_written_over(run):
    assert run("run", FAKE, *SHORT, "--quiet").returncode == 0
    stored = run("report").stdout
    for verb in (("report", "--html"), ("report", "--output"), ("run", FAKE, *SHORT, "--html")):
        done = run(*verb, "results/infermeter.db", "--force")
        assert done.returncode == 2 and "results/infermeter.db is a database and is not overwritten" in done.stderr
    assert run("report").stdout == stored


def test_what_cannot_be_written_takes_nothing_else_away(run, run_slowly):
    (run.folder / "pages").mkdir()
    with run_slowly("run", "mlp@fake,latency=constant:30ms,work=sleep", "--processes", 2, "--iterations", 20, "--warmup", 1,
                    "--html", "pages/r.html", "--output", "report.txt") as running:
        running.wait_for("[1/2]")
        shutil.rmtree(run.folder / "pages")
        shutil.rmtree(run.folder / "results/raw", ignore_errors=True)
        (run.folder / "results/raw").write_text("in the way")
        code, out, err = running.end()
    assert code == 2 and out == ""
    assert "mlp@fake" in (run.folder / "report.txt").read_text()
    assert "2 problems, the run is stored; not written:" in err
    assert "cannot write 'pages/r.html': No such file or directory" in err and "results/raw" in err


def test_a_model_that_is_replaced_ends_the_run(run, model, run_slowly):
    with run_slowly("run", f"{model}@fake,latency=constant:30ms,work=sleep", "--processes", 4, "--iterations", 10, "--warmup", 1) as running:
        running.wait_for("[2/4]")
        (run.folder / "other").write_bytes((run.folder / model).read_bytes() + b"\0")
        (run.folder / "other").rename(run.folder / model)
        code, out, err = running.end()
    assert (code, out) == (2, "")
    assert "the file of model 'm.onnx' changed during the run (SHA-256 " in err, err
    runs = json.loads(run("runs", "--format", "json").stdout)
    assert [(one["finished"], one["trials_done"] >= 2) for one in runs] == [(False, True)]


def test_limits_follow_the_duration(run):
    text = run("run", FAKE, "--duration", "15m", "--dry-run").stdout
    assert "run 25 min" in text and "estimated time: at least 45 min" in text
    assert text.count("at least 15 min") == 3
    assert "run 20 min" in run("run", FAKE, "--duration", "15m", "--run-timeout", "20m", "--dry-run").stdout


@pytest.mark.parametrize("sizes", [("1,4",), ("1", "4"), ("1,", "4"), ("1", "--batch-sizes", "4")])
def test_lists_are_written_with_blanks_and_commas(run, sizes):
    done = run("run", "mlp@fake", "--batch-sizes", *sizes, "--dry-run")
    assert done.returncode == 0 and "mlp@fake,batch=1" in done.stdout and "mlp@fake,batch=4" in done.stdout, done.stderr


def test_help_of_a_verb(run):
    assert run("help", "run").stdout == run("run", "--help").stdout
    assert run("help", "models", "show").stdout == run("models", "show", "--help").stdout
    assert run("help").stdout == run("--help").stdout
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, run("--help").stdout, "")


def test_a_model_alone_is_measured_on_what_reads_it(run, model, onnxruntime):
    done = run("run", model, "--dry-run")
    assert done.returncode == 0 and f"m.onnx@{onnxruntime}" in done.stdout, done.stderr
    assert "m.onnx: measured on " in done.stderr and "@fake" not in done.stdout
    assert run("run", model, "--backend", "fake", "--dry-run").stdout.count("m.onnx@fake") == 3


def test_the_width_of_tables(run):
    assert run("run", FAKE, "b=mlp@fake,latency=constant:200us", *SHORT, "--quiet").returncode == 0
    narrow = run("report").stdout
    wide = run("report", "--width", 200).stdout
    assert max(map(len, narrow.splitlines())) <= 80 < max(map(len, wide.splitlines())) <= 200
    assert run("report", env={"COLUMNS": "200"}).stdout == wide
    assert run("report", "--output", "wide.txt", "--width", 200).returncode == 0
    assert (run.folder / "wide.txt").read_text() == wide
