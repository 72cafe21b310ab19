"""`infermeter tune` end to end on the fake back end: what it finds, what it leaves out, what it refuses."""

import csv
import io
import json
import re

import pytest

# Far apart, so that a loaded machine changes nothing of who is best.
OVER = ("--over", "latency=constant:6ms,constant:1ms,constant:3ms", "work=sleep")
SHORT = ("--iterations", 5, "--warmup", 1, "--seed", 5)


def tuned(run, *arguments, code=0):
    done = run("tune", *arguments, "--format", "json", "--quiet", "--no-samples")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def fates(record):
    return [setting["fate"] for setting in record["tuning"]["settings"]]


def test_the_best_setting_is_found_confirmed_and_written(run):
    record = tuned(run, "mlp@fake", *OVER, *SHORT, "--write-plan", "best.toml", "--html", "report.html")
    tuning = record["tuning"]
    assert tuning["stage"] == "ended" and tuning["decided"] and tuning["best"] == 1
    assert fates(record) == ["worse", "best", "worse"]
    assert tuning["against_default"]["pairs"] == 10 and tuning["against_default"]["direction"] == "faster"
    assert tuning["against_second"]["baseline"] == 2
    assert tuning["against_default"]["interval"]["high"] < 0
    # Confirmed by blocks that the race did not have.
    first = record["plan"]["tuning"]["race_blocks"]
    assert {trial["process"] for trial in record["trials"] if trial["subject"] == 0} >= set(range(first, first + 10))
    assert '"fate":"best"' in (run.folder / "report.html").read_text() or (run.folder / "report.html").stat().st_size > 10_000
    assert "constant:1ms" in (run.folder / "best.toml").read_text()
    again = run("run", "--plan", "best.toml", "--iterations", 5, "--warmup", 1, "--processes", 2, "--format", "json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["plan"]["subjects"][0]["options"]["latency"] == "constant:1ms"


def test_the_report_says_it_in_every_form(run):
    done = run("tune", "mlp@fake", *OVER, *SHORT)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "best of 3 settings: fake,latency=constant:1ms" in text
    assert "from 10 pairs measured after the choice" in text
    assert "infermeter run mlp@fake,latency=constant:1ms,work=sleep" in text
    assert run("report").stdout == done.stdout
    markdown = run("report", "--format", "markdown").stdout
    assert "| Setting | Standing |" in markdown
    rows = list(csv.DictReader(io.StringIO(run("report", "--format", "csv").stdout)))
    assert [row["standing"] for row in rows] == ["worse", "best", "worse"]


def test_a_constraint_leaves_out_what_misses_it(run):
    record = tuned(run, "mlp@fake", *OVER, *SHORT, "--objective", "throughput", "--subject-to", "latency_p50 >= 2ms")
    assert record["tuning"]["best"] == 2
    assert fates(record)[1] == "bound" and record["tuning"]["settings"][1]["reason"] == "latency_p50 >= 2ms"
    done = run("tune", "mlp@fake", *OVER, *SHORT, "--subject-to", "latency_p50 <= 1us")
    assert done.returncode == 1 and "no setting is left" in done.stdout


def test_what_cannot_be_run_is_left_out_before_anything_runs(run):
    done = run("tune", "mlp@fake", "--over", "device=cpu,cuda", "threads=1,2", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("has no device 'cuda'") == 2 and "2 subjects" in done.stdout
    alone = run("tune", "mlp@fake", "--over", "device=cpu,cuda")
    assert alone.returncode == 2
    assert "a race needs at least two settings" in alone.stderr and "has no device 'cuda'" in alone.stderr


def test_what_fails_leaves_the_race(run):
    record = tuned(run, "mlp@fake", "--over", "crash=run:9,load,run:999999", *SHORT)
    assert fates(record)[1] == "failed" and record["tuning"]["best"] in (0, 2)
    done = run("tune", "mlp@fake", "--over", "crash=load,compile")
    assert done.returncode == 1 and "no setting is left" in done.stdout


def test_other_outputs_are_left_out(run):
    record = tuned(run, "mlp@fake", "--over", "outputs=hash,ones", "threads=1,2", *SHORT)
    assert fates(record)[2:] == ["outputs", "outputs"]


def test_outputs_may_differ_where_a_condition_bounds_them(run):
    done = run("tune", "mlp@fake", "--over", "outputs=ones,hash", "work=sleep", *SHORT, "--subject-to", "cosine >= -1")
    assert done.returncode == 0, done.stderr
    assert "keeps to cosine >= -1" in done.stdout
    assert "differ, max" in done.stdout and "DIFFER" not in done.stdout and "outputs_differ" not in done.stdout
    outputs = json.loads(run("report", "--format", "json").stdout)["subjects"][1]["outputs"]
    assert not outputs["agree"] and "outputs_differ" in json.dumps(outputs), "the record keeps what was found"


@pytest.mark.parametrize("arguments, message", [
    (("--over", "treads=1,2"), "did you mean 'threads'"),
    (("--over", "work=spin,slep"), "did you mean 'sleep'"),
    (("--over", "threads"), "expected KEY=VALUE,VALUE"),
    (("--over", "threads=1,1"), "the value 1 is given twice"),
    (("--over", "threads=1,x"), "--over: threads: "),
    (("--over", "threads=2"), "a race needs at least two settings"),
    (("--over", "dtype=float32,int8"), "--subject-to 'cosine >= 0.99'"),
    (("--over", "threads=1,2", "--objective", "throughputs"), "did you mean 'throughput'"),
    (("--over", "threads=1,2", "--indifference", "lots"), "--indifference: "),
    (("--over", "threads=1,2", "--budget", "0s"), "--budget: "),
    (("--over", "threads=1,2", "--subject-to", "latency <= 5"), "--subject-to 'latency <= 5'"),
    (("--over", "backend=fake,fale"), "unknown back end 'fale'"),
    (("--over", "threads=" + ",".join(map(str, range(1, 200))), "seed=" + ",".join(map(str, range(200)))), "(--over)"),
])
def test_what_is_wrong_is_refused_in_one_sentence(run, arguments, message):
    done = run("tune", "mlp@fake" if "backend" not in arguments[1] else "mlp", *arguments)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert done.stderr.startswith("infermeter: ") and not done.stdout


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_all_problems_are_said_at_once(run, dry):
    (run.folder / "taken.html").write_text("x")
    done = run("tune", "nosuch.onnx@fake", "--over", "threads=1,2", "--data", "nosuch.npy", "--html", "taken.html", "--output",
               "nowhere/r.txt", "--write-plan", "nowhere/best.toml", *dry)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    for part in ("5 problems, nothing was measured", "there is no 'nosuch.npy'", "taken.html exists already",
                 "nowhere/r.txt cannot be written", "nowhere/best.toml cannot be written"):
        assert done.stderr.count(part) == 1, (part, done.stderr)
    assert done.stderr.count("unknown model 'nosuch.onnx'") == 1, done.stderr


@pytest.mark.parametrize("other", ["--html", "--output"])
def test_the_plan_of_the_best_has_a_file_of_its_own(run, other):
    done = run("tune", "mlp@fake", "--over", "threads=1,2", "--write-plan", "same.toml", other, "same.toml", "--dry-run")
    assert done.returncode == 2 and f"{other} and --write-plan name one file, same.toml" in done.stderr, done.stderr


def test_a_model_that_is_not_there_is_one_sentence(run):
    done = run("tune", "nosuch.onnx", "--over", "threads=1,2", "--dry-run")
    assert done.returncode == 2 and done.stderr.startswith("infermeter: unknown model 'nosuch.onnx'"), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_budget_that_is_too_short_is_said(run):
    done = run("tune", "mlp@fake", "--over", "load_delay=200ms,201ms,202ms", *SHORT, "--budget", "10ms")
    text = " ".join(done.stdout.split())
    assert done.returncode in (0, 1), done.stderr
    assert "(--budget" in text and ("undecided which of" in text or "nothing was raced" in text)


def test_more_than_sixty_settings_are_drawn_and_it_is_said(run):
    over = ("--over", "threads=1,2,3,4", "memory=" + ",".join(f"{i}MB" for i in range(1, 26)))
    done = run("tune", "mlp@fake", *over, "--seed", 3, "--dry-run")
    assert done.returncode == 0 and "60 subjects" in done.stdout and "7 blocks that halve them" in done.stdout
    assert run("tune", "mlp@fake", *over, "--seed", 3, "--dry-run").stdout == done.stdout


def test_a_killed_race_is_finished_by_resume(run, run_slowly):
    with run_slowly("tune", "mlp@fake", *OVER, *SHORT) as running:
        running.wait_for("race, block 2")
        running.process.kill()
        running.process.wait()
    done = run("run", "--resume", "--format", "json", "--no-samples")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["finished"] and record["tuning"]["stage"] == "ended" and record["tuning"]["best"] == 1
    places = [(trial["subject"], trial["process"]) for trial in record["trials"]]
    assert len(set(places)) == len(places)
    planned = [(trial["subject"], trial["process"]) for trial in record["plan"]["order"]]
    assert [place for place in planned if place in set(places)] == places


def test_without_values_each_option_is_changed_once(run):
    done = run("tune", "mlp@fake", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+ settings: fake as it is", done.stderr)
    assert "work=sleep" in done.stdout


def test_settings_race_under_a_load(run):
    record = tuned(run, "mlp@fake", "--over", "latency=constant:40ms,constant:1ms", "work=sleep", "--load", "concurrency=2",
                   "--duration", "200ms", "--objective", "achieved_rate", "--subject-to", "response_p50 <= 10ms", "achieved_rate >= 10",
                   "--write-plan", "best.toml", "--seed", 5)
    assert record["tuning"]["best"] == 1 and fates(record)[0] in ("bound", "worse")
    best = next(answer for answer in record["answers"] if answer["kind"] == "best")
    assert best["metric"] == "achieved_rate" and best["unit"] == "1/s" and best["value"] > 100
    assert sum(answer["topic"] == "load" for answer in record["answers"]) == 1, "that of the best alone"
    assert "concurrency = '2'" in (run.folder / "best.toml").read_text()


@pytest.mark.parametrize("arguments, text", [
    (("--objective", "response_p99"), "response_p99 is a figure of a load, and 'mlp@fake,threads=1' is measured without one"),
    (("--subject-to", "response_p99 <= 5ms"), "response_p99 is a figure of a load"),
    (("--subject-to", "accuracy_drop <= 0.01"), "'accuracy_drop <= 0.01' needs data with labels"),
    (("--load", "rate=5", "--objective", "max_rate"), "--load find_rate='response_p99 <= 50ms'"),
    (("--over", "latency=constant:1ms", "batch_size=3..1"), "the range 3..1 ends below its beginning"),
])
def test_what_a_race_cannot_measure_is_refused_before_it(run, arguments, text):
    done = run("tune", "mlp@fake", "--over", "threads=1..2", *arguments, "--dry-run")
    assert done.returncode == 2 and text in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


def test_a_comparison_by_a_figure_of_a_load_needs_a_load(run):
    done = run("compare", "mlp@fake", "b=mlp@fake", "--metric", "response_p99", "--dry-run")
    assert done.returncode == 2 and "response_p99 is a figure of a load, and 'mlp@fake' is measured without one" in done.stderr
