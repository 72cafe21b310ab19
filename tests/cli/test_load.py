"""`infermeter load`: scenarios, what is refused, what is stored and reported, on the fake back end and a real one."""

import csv
import io
import json
import signal

import pytest

# Each inference sleeps, so that several can be in flight on any machine.
SUBJECT = "mlp@fake,latency=constant:2ms,work=sleep"
SHORT = ("--processes", 1, "--warmup", 1, "--seed", 3)


def loaded(run, *arguments, code=0):
    done = run("load", *arguments, "--format", "json", "--quiet", "--no-samples")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def figures(subject):
    return {counter["name"]: counter["value"] for counter in subject["counters"]}


@pytest.mark.parametrize("flags, requests, in_flight", [
    (("--scenario", "single-stream"), 20, 1),
    (("--scenario", "multi-stream", "--samples", 3), 8, 3),
    (("--scenario", "offline", "--concurrency", 4), 40, 4),
    (("--scenario", "server", "--rate", 500), 40, None),
    (("--concurrency", 4), 40, 4),
    (("--rate", 500), 40, None),
    (("--rate", 500, "--arrivals", "constant"), 40, None),
    (("--rate", 500, "--arrivals", "gamma:2"), 40, None),
    (("--rate", 500, "--arrivals", "burst:5"), 40, None),
    (("--arrivals", "step:200:50ms/800:50ms"), 40, None),
    (("--arrivals", "ramp:100:1000:50ms"), 40, None),
])
def test_every_scenario(run, flags, requests, in_flight):
    record = loaded(run, SUBJECT, *flags, "--requests", requests, *SHORT)
    subject, found = record["subjects"][0], figures(record["subjects"][0])
    assert subject["trials_ok"] == 1
    assert found["failed"] == 0
    assert found["service_p50"] >= 0.002
    assert found["response_p50"] >= found["service_p50"] * 0.999
    assert found["achieved_rate"] > 0
    assert ("offered_rate" in found) == ("--rate" in flags or "--arrivals" in flags)
    assert record["plan"]["subjects"][0]["load"]
    assert record["trials"][0]["iterations"] == requests


def test_answers_of_the_whole_load_are_compared(run):
    def load_of(subject, *flags):
        done = run("load", subject, *flags, "--requests", 20, *SHORT, "--format", "json")
        record = json.loads(done.stdout)
        return record["trials"][0]["load"], {each["rule"]: each["message"] for each in record["subjects"][0]["load"]["findings"]}

    load, _ = load_of(SUBJECT, "--concurrency", 2)
    # The answers to requests 1, 2, 4, 8 and 16, and the last of each client: one of those, where a busy machine let it
    # issue no more, but not that of the client that issued the twentieth.
    assert 5 + 1 <= load["checked"] <= 5 + 2
    _, findings = load_of("mlp@fake,outputs=random", "--concurrency", 1)
    assert "of 6 answers" in findings["outputs"]


@pytest.mark.parametrize("flags, words", [
    ((), "10 min of timed inferences"),
    (("--duration", "5s"), "5.0 s of timed inferences"),
    (("--requests", 7), "7 timed iterations"),
])
def test_the_time_that_mlperf_asks_for(run, flags, words):
    done = run("load", SUBJECT, "--scenario", "server", "--rate", 5, "--mlperf", *flags, "--dry-run")
    assert done.returncode == 0 and words in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("spin", ["auto", "on", "off"])
def test_how_an_arrival_is_waited_for(run, spin):
    record = loaded(run, SUBJECT, "--rate", 200, "--requests", 10, "--spin", spin, *SHORT)
    assert record["plan"]["subjects"][0]["load"]["spin"] == spin
    assert record["trials"][0]["iterations"] == 10


def test_arrivals_of_a_file(run):
    (run.folder / "trace.csv").write_text("seconds,user\n0,a\n0.01,b\n0.01,c\n0.05,d\n")
    record = loaded(run, SUBJECT, "--arrivals", "trace.csv", "--duration", "10s", *SHORT)
    assert record["trials"][0]["iterations"] == 4, "it ends with its file"
    begins = json.loads(run("report", "--format", "json").stdout)["trials"][0]["samples"]["begin_s"]
    assert [round(begin - begins[0], 6) for begin in begins] == [0, 0.01, 0.01, 0.05]


def test_lists_multiply_the_subjects(run):
    record = loaded(run, SUBJECT, "fast=mlp@fake", "--concurrency", "1,2", "--requests", 5, *SHORT)
    assert [subject["label"] for subject in record["subjects"]] == [
        "mlp@fake,latency=constant:2ms,work=sleep,concurrency=1", "fast,concurrency=1",
        "mlp@fake,latency=constant:2ms,work=sleep,concurrency=2", "fast,concurrency=2"]
    assert [subject["group"] for subject in record["subjects"]] == [0, 0, 1, 1], "compared at the same load"


def test_the_same_seed_has_the_same_arrivals(run):
    def gaps():
        record = json.loads(run("load", "a=mlp@fake", "b=mlp@fake", "--rate", 1000, "--requests", 20, *SHORT, "--format", "json").stdout)
        begins = [trial["samples"]["begin_s"] for trial in record["trials"]]
        return [[round(at - of_trial[0], 6) for at in of_trial] for of_trial in begins]

    first, second = gaps()
    assert first == second, "subjects of one block are loaded alike"
    assert gaps() == [first, second]


@pytest.mark.parametrize("flags, words", [
    (("--rate", "x"), "load.rate: expected requests per second above 0, such as 40, got 'x'"),
    (("--rate", "0"), "above 0"),
    (("--rate", "-3"), "above 0"),
    (("--rate", "nan"), "above 0"),
    (("--scenario", "serve"), "expected single-stream, multi-stream, server, offline, closed or open, got 'serve'"),
    (("--scenario", "server"), "server needs a rate"),
    (("--scenario", "offline", "--rate", "3"), "offline has no rate"),
    (("--scenario", "single-stream", "--concurrency", "2"), "one request in flight"),
    (("--scenario", "server", "--rate", "3", "--arrivals", "constant"), "server has Poisson arrivals"),
    (("--concurrency", "0"), "from 1 to 1024"),
    (("--rate", "3", "--samples", "2"), "one inference to a request"),
    (("--rate", "3", "--arrivals", "gamma:x"), "coefficient of variation"),
    (("--rate", "3", "--arrivals", "burst:0"), "burst:N"),
    (("--rate", "3", "--arrivals", "weekly"), "expected constant, poisson, gamma:CV"),
    (("--rate", "3", "--arrivals", "step:1:2s"), "leave the rate out"),
    (("--arrivals", "step:1"), "expected step:RATE:TIME"),
    (("--arrivals", "ramp:1:2"), "expected ramp:RATE:RATE:TIME"),
    (("--arrivals", "none.csv"), "cannot read 'none.csv'"),
    (("--requests", "0", "--rate", "3"), "--requests: expected a whole number from 1"),
    (("--load", "speed=3"), "load.speed: there is no such key"),
    (("--rate", "3", "--spin", "yes"), "load.spin: expected auto, on or off, got 'yes'"),
    (("--concurrency", "3", "--spin", "on"), "closed waits for no arrival: leave spin out"),
    (("--mlperf",), "--mlperf is for the scenarios of MLPerf"),
    (("--mlperf", "--rate", "3"), "--mlperf is for the scenarios of MLPerf"),
    ((), "no load is given for"),
])
def test_what_is_refused(run, flags, words):
    done = run("load", "mlp@fake", *flags)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1 and not (run.folder / "results").exists()


@pytest.mark.parametrize("text, words", [
    ("0\n2\n1\n", "line 3: 1 s comes before the arrival above it, 2 s: sort the file"),
    ("0\n-1\n", "line 2: -1 is not from 0 to 1e7 seconds"),
    ("0\n\x1b[31mx\n", "line 2: expected seconds, got '\\x1b[31mx'"),
    ("", "it has no arrivals"),
])
def test_a_trace_that_is_none(run, text, words):
    (run.folder / "t.csv").write_text(text)
    done = run("load", "mlp@fake", "--arrivals", "t.csv")
    assert done.returncode == 2 and words in done.stderr


def test_a_plan_file_and_other_verbs_take_a_load(run):
    (run.folder / "plan.toml").write_text('iterations = 5\nprocesses = 1\nwarmup = 1\n[load]\nrate = 400.5\n'
                                          '[[subject]]\nmodel = "mlp"\nbackend = "fake"\n'
                                          '[[subject]]\nmodel = "mlp"\nbackend = "fake"\nload = {concurrency = 2, scenario = "closed"}\n')
    done = run("run", "--plan", "plan.toml", "--format", "json", "--quiet")
    assert done.returncode == 2 and "closed has no rate" in done.stderr, "pairs of the plan hold for all subjects"
    plan = (run.folder / "plan.toml").read_text().replace("[load]\nrate = 400.5\n", "")
    (run.folder / "plan.toml").write_text(plan)
    done = run("run", "--plan", "plan.toml", "--format", "json", "--quiet")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert [subject.get("load") for subject in record["plan"]["subjects"]] == [None, {"concurrency": "2", "scenario": "closed"}]
    assert "achieved_rate" not in figures(record["subjects"][0]) and "achieved_rate" in figures(record["subjects"][1])


def test_a_comparison_under_load(run):
    done = run("compare", "slow=mlp@fake,latency=constant:4ms,work=sleep", "fast=mlp@fake,latency=constant:1ms,work=sleep",
               "--rate", 100, "--arrivals", "constant", "--requests", 10, "--metric", "response_p50", "--max-pairs", 24,
               "--warmup", 1, "--seed", 1, "--format", "json", "--quiet", "--no-samples")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["plan"]["question"]["metric"] == "response_p50"
    assert record["subjects"][1]["direction"] == "faster", record["subjects"][1]


def test_a_gate_on_figures_of_a_load(run):
    plan = f'[plan]\nsubjects = ["{SUBJECT},load.rate=200"]\nprocesses = 3\niterations = 700\nwarmup = 1\n'
    (run.folder / "gate.toml").write_text('expect = ["response_p99 <= 10s", "failed <= 0"]\n' + plan)
    done = run("gate", "gate.toml", "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    (run.folder / "missed.toml").write_text('expect = ["response_p50 <= 1us"]\n' + plan)
    missed = run("gate", "missed.toml", "--run", "latest", "--quiet")
    assert missed.returncode == 1, missed.stdout + missed.stderr


def test_it_is_stored_and_reported_again(run):
    done = run("load", SUBJECT, "--concurrency", 2, "--requests", 20, *SHORT)
    assert done.returncode == 0, done.stderr
    assert run("report").stdout == done.stdout
    rows = list(csv.DictReader(io.StringIO(run("report", "--format", "csv").stdout)))
    assert len(rows) == 1
    assert run("report", "--format", "markdown").returncode == 0
    page = run("report", "--html", "page.html")
    assert page.returncode == 0 and (run.folder / "page.html").stat().st_size > 100_000


def test_a_failed_inference_ends_the_trial_with_its_reason(run):
    done = run("load", "mlp@fake,fail=run:10", "--concurrency", 2, "--requests", 50, *SHORT)
    assert done.returncode == 3, done.stdout
    assert "a request under load failed: fake was told to fail" in " ".join(done.stdout.split())


def test_an_interruption_keeps_what_was_measured(run, run_slowly):
    with run_slowly("load", SUBJECT, "--rate", 100, "--duration", "60s", *SHORT, "--format", "json") as running:
        store = run.folder / "results" / "infermeter.db"
        while not store.exists():
            assert running.process.poll() is None
        running.process.send_signal(signal.SIGINT)
        code, _, _ = running.end()
    assert code == 130


def test_clients_of_a_runtime_that_takes_one_request_queue(run, onnxruntime):
    record = loaded(run, f"mlp@{onnxruntime}", "--concurrency", 3, "--requests", 300, *SHORT)
    assert record["trials"][0]["iterations"] == 300
    record = json.loads(run("load", f"mlp@{onnxruntime}", "--concurrency", 3, "--requests", 300, *SHORT, "--format", "json").stdout)
    load = record["trials"][0]["load"]
    assert 9 + 1 <= load["checked"] <= 9 + 3, "nine on the way, and the last of each client, which may be one of them"
    assert load["mismatched"] == 0 and load["largest_difference"] == 0
    assert load["completed"] == 300 and load["clients"] == 3


def test_the_highest_rate_is_found(run):
    record = json.loads(run("load", SUBJECT, "--find-rate", "response_p90 <= 60ms", "--duration", "8s", *SHORT, "--format", "json").stdout)
    load = record["trials"][0]["load"]
    # One client sleeps for 2 ms each time: no more than 500 can be met, however idle the machine is.
    assert 0 < load["max_rate"] < 600
    assert figures(record["subjects"][0])["max_rate"] == load["max_rate"]
    assert len(load["steps"]) >= 2 and any(step["met"] for step in load["steps"])


@pytest.mark.parametrize("flags, words", [
    (("--find-rate", "response_p99 < 3"), "expected 'response_p99 <= 50ms'"),
    (("--find-rate", "latency_p99 <= 3ms"), "expected 'response_p99 <= 50ms'"),
    (("--find-rate", "response_p99 <= 0"), "cannot be"),
    (("--find-rate", "response_p99 <= 3ms", "--rate", 3), "--find-rate searches for the rate"),
    (("--find-rate", "response_p99 <= 3ms", "--requests", 30), "takes as long as --duration says"),
    (("--find-rate", "response_p99 <= 3ms", "--iterations", 30), "a rate is found within a time"),
    (("--find-rate", "response_p99 <= 3ms", "--scenario", "offline"), "offline has no rate that could be found"),
])
def test_objectives_that_are_none(run, flags, words):
    done = run("load", "mlp@fake", *flags)
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1
