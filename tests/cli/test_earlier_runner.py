"""The command line of an earlier runner works word for word; what it said of its run, and where its files went."""

import csv
import re

import numpy
import pytest
from PIL import Image

FAKE = "mlp@fake,latency=constant:100us"
SHORT = ("--processes", 1, "--iterations", 20, "--warmup", 2)


def labels_of(done):
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"^\d+ +1 +(\S+) ", done.stdout, re.M))


def test_the_command_works_word_for_word(run):
    random = numpy.random.default_rng(1)
    (run.folder / "images").mkdir()
    for number in range(4):
        picture = random.integers(0, 255, (240, 250, 3), numpy.uint8)
        Image.fromarray(picture).save(run.folder / f"images/{number}.jpg")
    done = run(
        "run", "--framework", "onnxruntime", "--framework", "openvino", "--model", "mobilenet_v3_small",
        "--batch-sizes", 1, 4, "--iterations", 5, "--warmup", 1, "--dtype", "float32", "--data", "images",
        "--output-dir", "results/raw", "--verbose", env={"INFERMETER_PROCESSES": "3"})
    assert done.returncode == 0, done.stderr
    (file,) = (run.folder / "results/raw").glob("*.csv")
    assert re.fullmatch(r"benchmark_results_\d{8}_\d{6}\.csv", file.name)
    rows = list(csv.DictReader(file.open()))
    assert [(row["framework"], row["batch_size"]) for row in rows] == [
        ("onnxruntime", "1"), ("openvino", "1"), ("onnxruntime", "4"), ("openvino", "4")]
    for row in rows:
        assert row["device_type"] == "cpu" and row["memory_kind"] == "resident" and float(row["memory_mb"]) > 10
        assert row["iterations"] == "15" and float(row["latency_p50_ms"]) > 0 and row["dtype"] == "float32"


def test_flags_that_are_repeated_add_up(run):
    repeated = labels_of(run("run", "--framework", "fake", "--framework", "openvino", "--model", "mlp", "--model", "unet2d",
                             "--batch-sizes", 1, "--batch-sizes", 2, "--dry-run"))
    assert repeated == {f"{model}@{back_end},batch={batch}"
                        for model in ("mlp", "unet2d") for back_end in ("fake", "openvino") for batch in (1, 2)}


def test_both_is_the_pair_that_it_stood_for(run, needs):
    needs("torch", "jax")
    both = labels_of(run("run", "--framework", "both", "--model", "both", "--batch-sizes", 1, "--dry-run"))
    assert both == {f"{model}@{back_end}" for model in ("resnet50", "vit_b_16") for back_end in ("pytorch", "jax")}
    assert labels_of(run("run", "--backend", "jax", "both", "--model", "vit_b_16", "--model", "both", "--dry-run")) == both
    # Only as a value of these flags: a subject may name a model so.
    alone = run("run", "both@fake", "--dry-run")
    assert alone.returncode == 2 and "unknown model 'both'" in alone.stderr


@pytest.mark.parametrize("asked, folder", [
    ("results", "results/raw"), ("results/raw", "results/raw"), ("results/raw/", "results/raw"), ("raw", "raw"),
    ("results/raw/.", "results/raw"), ("results/rawer", "results/rawer/raw"), ("raw/results", "raw/results"), ("results/raw/production", "results/raw/production")])
def test_the_csv_is_in_a_folder_called_raw(run, asked, folder):
    assert run("run", FAKE, *SHORT, "--output-dir", asked, "--quiet").returncode == 0
    assert [path.parent for path in run.folder.rglob("*.csv")] == [run.folder / folder]
    assert [path.parent for path in run.folder.rglob("infermeter.db")] == [run.folder / asked]
    assert run("report", "--output-dir", asked).returncode == 0


def test_verbose_says_what_is_used_and_what_each_trial_did(run, build_dir):
    done = run("run", FAKE + ",compile_delay=1ms", *SHORT, "--threads", 2, "--verbose", "--format", "csv")
    assert done.returncode == 0, done.stderr
    said = done.stderr
    assert f"worker: {build_dir}/libexec/infermeter/infermeter-worker\n" in said
    assert re.search(r"^back ends in: /.*backends$", said, re.M) and re.search(r"^Python: /.*, package in ", said, re.M)
    assert re.search(r"^models of the zoo in: /", said, re.M)
    assert "1 subject, 1 process each: 1 trial\neach: 2 warm-up iterations, then 20 timed iterations\n" in said
    assert "limits: load 5 min, run 10 min" in said and "(--seed), data synthetic, results in results\n" in said
    assert re.search(r"^subject mlp@fake.*: model mlp, back end fake, batch size 1, float32, device auto, threads 2, "
                     r"options latency=constant:100us compile_delay=1ms$", said, re.M)
    assert re.search(r"^\[1/1\] mlp@fake.*p50 .*\n  phases: opening the runtime .*, loading .*, compiling .*, "
                     r"first inference .*, warm-up \(2\) .*, timed \(20\) .*, all of it .*\n  executed: dtype=float32 ", said, re.M)
    assert re.search(r"^model mlp: /.*\.onnx, .* kB, SHA-256 [0-9a-f]{64}$", said, re.M)
    assert re.search(r"^Results saved to: results/raw/benchmark_results_\d{8}_\d{6}\.csv$", said, re.M)


def test_verbose_shows_a_phase_that_takes_time(run):
    done = run("run", "mlp@fake,load_delay=400ms", *SHORT, "-v")
    assert "[1/1] mlp@fake,load_delay=400ms  loading\n" in done.stderr.replace("mlp@fake  ", "mlp@fake,load_delay=400ms  ")
    assert "  done\n" not in done.stderr


def test_verbose_text_from_outside_steers_no_terminal(run):
    done = run("run", "x=mlp@fake,counters=a\x1b[2J:1", *SHORT, "--verbose")
    assert "\x1b" not in done.stderr and r"\x1b[2J" in done.stderr


def test_verbs_that_measure_take_verbose(run):
    done = run("compare", "a=mlp@fake", "b=mlp@fake", "--max-pairs", 6, "--warmup", 0, "--iterations", 5, "--verbose")
    assert done.returncode == 0 and "  phases: " in done.stderr and "\nResults saved to: " in done.stderr
