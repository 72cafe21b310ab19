"""What `infermeter run` does around the measurement: where values come from, where results go, what is shown."""

import csv
import json
import os
import pty
import re
import unicodedata

import numpy
import pytest
from PIL import Image

FAKE = "mlp@fake,latency=constant:100us"
SHORT = ("--processes", 1, "--iterations", 20)


def measured(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def plan_of(run, *arguments, env=None):
    done = run("run", *arguments, "--dry-run", env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_report_prints_the_same_bytes_again(run, form):
    first = run("run", FAKE, "b=mlp@fake,latency=constant:200us", *SHORT, "--format", form)
    assert first.returncode == 0 and first.stdout
    assert run("report", "--format", form).stdout == first.stdout
    assert run("report", "--format", form, "--output", "again").stdout == ""
    assert (run.folder / "again").read_text() == first.stdout


def test_results_are_in_the_store_and_in_a_csv_file(run):
    assert run("run", FAKE, *SHORT).returncode == 0
    files = list((run.folder / "results/raw").iterdir())
    assert len(files) == 1 and re.fullmatch(r"benchmark_results_\d{8}_\d{6}\.csv", files[0].name)
    row = next(csv.DictReader(files[0].open()))
    assert list(row)[:4] == ["framework", "model", "device", "device_type"]
    assert row["framework"] == "fake" and float(row["latency_p50_ms"]) >= 0.1
    runs = json.loads(run("runs", "--format", "json").stdout)
    assert [r["finished"] for r in runs] == [True]


def test_iterations_are_counted_where_they_are_too_few_for_a_median(run):
    done = run("run", FAKE, "--processes", 1, "--iterations", 5, "--warmup", 2, "--format", "csv")
    row = next(csv.DictReader(done.stdout.splitlines()))
    assert (row["iterations"], row["latency_p50_ms"]) == ("5", "")


def test_two_runs_of_one_second_keep_both_files(run):
    for _ in range(3):
        assert run("run", FAKE, *SHORT, "--quiet").returncode == 0
    assert len(list((run.folder / "results/raw").glob("benchmark_results_*.csv"))) == 3


def test_flags_beat_plan_beats_variables_beat_configuration(run):
    (run.folder / "infermeter.toml").write_text("warmup = 1\niterations = 11\nseed = 21\nprocesses = 4\n")
    (run.folder / "plan.toml").write_text("subjects = ['mlp@fake']\nseed = 23\nprocesses = 6\n")
    text = plan_of(run, "--plan", "plan.toml", "--processes", 7,
                   env={"INFERMETER_ITERATIONS": "12", "INFERMETER_SEED": "22", "INFERMETER_PROCESSES": "5"})
    assert "each: 1 warm-up iterations, then 12 timed iterations" in text
    assert "seed 23" in text and "1 subject, 7 processes each" in text


def test_a_stronger_source_decides_how_a_trial_stops(run):
    (run.folder / "infermeter.toml").write_text("iterations = 11\n")
    assert "of timed inferences" in plan_of(run, "mlp@fake", env={"INFERMETER_DURATION": "2s"})
    assert "then 3 timed iterations" in plan_of(run, "mlp@fake", "--iterations", 3, env={"INFERMETER_DURATION": "2s"})


def test_subjects_on_the_command_line_replace_those_of_the_plan(run):
    (run.folder / "plan.toml").write_text("models = ['mlp']\nbackends = ['fake']\nbatch_sizes = [1, 4]\n")
    assert "2 subjects" in plan_of(run, "--plan", "plan.toml")
    assert "one=" not in plan_of(run, "one=mlp@fake,batch=2", "--plan", "plan.toml")
    assert "1 subject," in plan_of(run, "mlp@fake", "--batch-sizes", 2, "--plan", "plan.toml")
    assert "3 subjects" in plan_of(run, "--plan", "plan.toml", "--batch-sizes", 1, 2, 3)


def test_a_dry_run_measures_nothing_and_learns_from_earlier_runs(run):
    assert "estimated time: unknown until measured" in plan_of(run, FAKE)
    assert not (run.folder / "results").exists()
    assert run("run", FAKE, *SHORT).returncode == 0
    text = plan_of(run, FAKE, "--iterations", 30_000, "--processes", 1)
    estimate = re.search(r"estimated time: about ([\d.]+) s\b", text)
    assert estimate and 3 <= float(estimate[1]) < 60, text  # 3 s of inferences, and what a busy machine adds


def test_the_order_is_the_seeds(run):
    subjects = [f"{letter}=mlp@fake" for letter in "abcdef"]
    one, same, other = (plan_of(run, *subjects, "--seed", seed) for seed in (1, 1, 2))
    assert one == same
    assert one.replace("seed 1", "") != other.replace("seed 2", "")


def test_each_run_draws_an_order_but_not_other_inputs(run):
    subjects = [f"{letter}=mlp@fake" for letter in "abcdef"]
    short = ("--warmup", 0, "--iterations", 2, "--processes", 1, "--format", "json")

    def record_of(*arguments):
        return measured(run("run", *arguments, *short))

    runs = [record_of(*subjects) for _ in range(3)]
    seeds = [record["plan"]["seed"] for record in runs]
    assert len(set(seeds)) == 3
    assert record_of(*subjects, "--seed", seeds[0])["plan"]["order"] == runs[0]["plan"]["order"]
    assert {record["plan"]["data"]["seed"] for record in runs} == {1}
    inputs = {trial["input_digest"] for record in runs for trial in record["trials"]}
    assert len(inputs) == 1
    other = record_of("mlp@fake", "--data-seed", 2)
    assert {trial["input_digest"] for trial in other["trials"]}.isdisjoint(inputs)


def test_results_alone_are_on_standard_output(run):
    done = run("run", FAKE, *SHORT, "--format", "json")
    json.loads(done.stdout)
    lines = done.stderr.splitlines()
    assert lines[0].startswith("[pilot 1/1] ") and "200 iterations" in lines[0]
    lines = [line for line in lines if line.startswith("[1/1]")] + lines[-1:]
    assert lines[0].startswith("[1/1] ") and "20 iterations" in lines[0]
    assert len(lines) == 2 and "results/infermeter.db" in lines[1]
    assert "\r" not in done.stderr and "\x1b" not in done.stderr
    assert run("run", FAKE, *SHORT, "--format", "json", "--quiet").stderr == ""


def on_terminal(run, *arguments, env=None):
    """Runs with both streams on a pseudo terminal."""
    ours, theirs = pty.openpty()
    done = run(*arguments, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    text = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        text += chunk
    os.close(ours)
    return done.returncode, text.decode()


def test_a_terminal_gets_a_live_line_that_is_erased(run):
    code, text = on_terminal(run, "run", "mlp@fake,latency=constant:20ms,work=sleep", "--iterations", 20, "--processes", 1, "--warmup", 0)
    assert code == 0
    assert "\r\x1b[K[1/1]" in text and "measuring" in text
    final = text.split("\r\x1b[K")[-1]
    assert final.startswith("[1/1] ") and "20 iterations in" in final


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


def test_a_live_line_stays_on_its_line_whatever_is_in_it(run):
    assert run("models", "build", "mlp", "模" * 50 + ".onnx").returncode == 0
    code, text = on_terminal(run, "run", f"{'模' * 50}.onnx@fake,latency=constant:20ms,work=sleep", "--iterations", 20, "--processes", 1, "--warmup", 0)
    assert code == 0
    lines = [line for line in text.split("\r\x1b[K")[:-1] if line]
    assert lines and all(70 < columns_of(line) < 80 for line in lines), lines


def test_a_terminal_shows_a_run_on_one_line(run):
    assert run("models", "build", "mlp", "模型.onnx").returncode == 0
    subjects = [f"模型.onnx@fake,latency=constant:{i + 1}us" for i in range(30)]
    assert run("run", *subjects, *SHORT, "--quiet").returncode == 0
    _, shown = on_terminal(run, "runs")
    lines = shown.splitlines()
    assert len(lines) == 2 and columns_of(lines[1]) in (79, 80) and lines[1].endswith("…"), lines
    assert subjects[5] in run("runs").stdout.split()
    assert all(columns_of(line) <= 100 for line in run("runs", env={"COLUMNS": "100"}).stdout.splitlines())


def test_a_live_line_shows_what_a_load_does(run):
    code, text = on_terminal(run, "load", "mlp@fake,latency=constant:5ms,work=sleep", "--concurrency", 2, "--duration", "2s", "--processes", 1,
                             "--warmup", 0)
    assert code == 0
    lines = [line for line in text.split("\r\x1b[K") if " in flight, " in line]
    assert lines and all(line.startswith("[1/1] mlp@fake") and " 0 errors" in line for line in lines), text
    assert any(re.search(r"  \d+(\.\d+)?k?/s, [0-2] in flight, p50 \d+\.\d+ ms, p99 ", line) for line in lines), lines


def test_colour_is_for_terminals_without_no_color(run):
    assert run("run", FAKE, "b=mlp@fake,latency=constant:200us", *SHORT, "--quiet").returncode == 0
    _, plain = on_terminal(run, "report", env={"TERM": "xterm", "NO_COLOR": "1"})
    assert "\x1b[" not in plain
    _, coloured = on_terminal(run, "report", env={"TERM": "xterm", "NO_COLOR": ""})
    assert "\x1b[" in coloured
    assert "\x1b[" not in run("report", env={"TERM": "xterm", "NO_COLOR": ""}).stdout


def test_output_writes_a_whole_file_and_only_once(run):
    assert run("run", FAKE, *SHORT, "--format", "json", "--output", "report.json").stdout == ""
    first = (run.folder / "report.json").read_text()
    json.loads(first)
    assert run("report", "--format", "csv", "--output", "report.json").returncode == 2
    assert (run.folder / "report.json").read_text() == first
    assert run("report", "--format", "csv", "--output", "report.json", "--force").returncode == 0
    assert (run.folder / "report.json").read_text().startswith("framework,")
    assert sorted(path.name for path in run.folder.iterdir()) == ["report.json", "results"]


def test_a_file_whose_name_is_strange_is_written_like_any_other(run):
    assert run("run", FAKE, *SHORT, "--quiet", "--output", "./-rf\n x.txt").returncode == 0
    assert (run.folder / "-rf\n x.txt").stat().st_size > 0


def test_a_link_is_replaced_and_not_followed(run):
    (run.folder / "target").write_text("kept")
    (run.folder / "link").symlink_to("target")
    assert run("run", FAKE, *SHORT, "--quiet", "--output", "link").returncode == 2
    assert run("run", FAKE, *SHORT, "--quiet", "--output", "link", "--force").returncode == 0
    assert (run.folder / "target").read_text() == "kept"


def test_the_framework_flag_and_the_matrix(run):
    text = plan_of(run, "--model", "mlp", "--framework", "fake", "--batch-sizes", 1, 4, "--threads", 1, 2)
    assert "4 subjects" in text and "mlp@fake,batch=4,threads=2" in text


def test_an_empty_subject_can_be_measured_without_comparing(run):
    record = measured(run("run", "mlp@fake", "b=mlp@fake", *SHORT, "--no-compare-outputs", "--format", "json", "--quiet"))
    assert len(record["trials"]) == 2


@pytest.mark.parametrize("verb, flag, before, after", [("run", "--labels", "0\n1\n", "1\n1\n"),
                                                       ("load", "--arrivals", "0\n0.2\n0.4\n", "0\n0.1\n")])
def test_labels_and_arrivals_that_are_replaced_before_a_run_is_resumed_end_it(run, run_slowly, verb, flag, before, after):
    (run.folder / "f.csv").write_text(before)
    numpy.save(run.folder / "x.npy", numpy.zeros((2, 3, 8, 8), "float32"))
    with run_slowly(verb, "mlp@fake,latency=constant:5ms,work=sleep", "--data", "x.npy", flag, "f.csv", "--processes", 6, "--warmup", 0,
                    *(("--iterations", 60) if verb == "run" else ())) as running:
        running.wait_for("[2/6]")
        running.process.kill()
        running.process.wait()
    (run.folder / "f.csv").write_text(after)
    done = run("run", "--resume")
    assert done.returncode == 2, done.stderr
    assert f"what is measured changed during the run ({flag[2:]}_sha256" in done.stderr, done.stderr


def an_array(folder, values):
    numpy.save(folder / "x.npy", values)
    return "x.npy"


def pictures(folder, values):
    (folder / "x").mkdir(exist_ok=True)
    for i, value in enumerate(values):
        Image.fromarray(numpy.moveaxis(value, 0, -1).astype("uint8")).save(folder / "x" / f"{i}.png")
    return "x"


@pytest.mark.parametrize("written", [an_array, pictures])
def test_data_that_are_replaced_before_a_run_is_resumed_end_it(run, run_slowly, written):
    values = numpy.zeros((2, 3, 8, 8), "float32")
    source = written(run.folder, values)
    with run_slowly("run", "mlp@fake,latency=constant:5ms,work=sleep", "--data", source, "--processes", 6, "--iterations", 60,
                    "--warmup", 0) as running:
        running.wait_for("[2/6]")
        running.process.kill()
        running.process.wait()
    values[1] = 1  # of which the first item shows nothing
    written(run.folder, values)
    done = run("run", "--resume")
    assert done.returncode == 2 and "what is measured changed during the run (data_digest" in done.stderr, done.stderr
    trials = json.loads(run("report", "--format", "json").stdout)["trials"]
    assert len({trial["executed"]["data_digest"] for trial in trials}) == 1
