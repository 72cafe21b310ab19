"""`infermeter compare RUN RUN`: two stored runs against each other, in all forms, and what is refused."""

import json

import pytest

FAST = "x=mlp@fake,latency=constant:100us,process_spread=0.001,seed=random"
SLOW = FAST.replace("100us", "400us")  # slower whatever else the machine does
SHORT = ("--iterations", 10, "--warmup", 3, "--processes", 4, "--quiet")


@pytest.fixture
def two_runs(run):
    """The ids of a fast run and a slow one after it."""
    for subject in (FAST, SLOW):
        done = run("run", subject, *SHORT)
        assert done.returncode == 0, done.stderr
    return [line.split()[0] for line in run("runs").stdout.splitlines() if line.startswith("20")]


def compared(run, *arguments, code=0):
    done = run("compare", *arguments, "--format", "json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_the_later_run_is_slower_and_the_report_says_what_that_is_worth(run, two_runs):
    done = run("compare", "previous", "latest")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "slower than x (" in text and "from 4 and 4 processes" in text and "outputs agree" in text
    assert "the two runs were not interleaved" in text and "runs_not_interleaved" in text
    assert "process by process" in text and "Welch's" in text and "Detectable" not in text


def test_json_names_the_runs(run, two_runs):
    record = compared(run, "previous", "latest")
    assert {one["id"] for one in record["joined"]} == set(two_runs)
    answer = record["comparison"]["primary"][0]
    assert not record["comparison"]["paired"] and answer["direction"] == "slower" and answer["estimate"] > 0.5
    assert answer["pairs"] == 0 and answer["baseline_processes"] == answer["candidate_processes"] == 4
    turned = compared(run, "latest", "previous")["comparison"]["primary"][0]
    assert turned["direction"] == "faster" and turned["estimate"] == pytest.approx(-answer["estimate"])


def test_ids_names_and_files_mean_the_same_run(run, two_runs):
    known = compared(run, "previous", "latest")["comparison"]
    assert run("baseline", "set", "release", "previous").returncode == 0
    run("report", "latest", "--format", "json", "--output", "run.json")
    ids = [one["id"] for one in compared(run, "release", "latest")["joined"]]
    assert sorted(ids) == sorted(two_runs)
    for names in (ids, ("release", ids[1]), (ids[0], "run.json")):
        assert compared(run, *names)["comparison"] == known


def test_other_forms(run, two_runs):
    markdown = run("compare", "previous", "latest", "--format", "markdown").stdout
    assert "not interleaved" in markdown and "| x (" in markdown
    rows = run("compare", "previous", "latest", "--format", "csv").stdout.splitlines()
    assert len(rows) == 3
    assert run("compare", "previous", "latest", "--html", "page.html").returncode == 0
    assert "not interleaved" in (run.folder / "page.html").read_text()
    run("compare", "previous", "latest", "--format", "json", "--output", "both.json")
    refused = run("compare", "both.json", "latest")
    assert refused.returncode == 2 and "it is a comparison of two runs" in refused.stderr


def test_exit_codes_are_those_of_a_comparison(run, two_runs):
    assert run("compare", "previous", "latest", "--fail-slower").returncode == 1
    assert run("compare", "latest", "previous", "--fail-slower").returncode == 0
    assert run("compare", "previous", "latest", "--metric", "compile_time", "--fail-inconclusive").returncode in (0, 1, 5)


def test_what_differs_is_listed(run, two_runs):
    run("run", FAST.replace("mlp@fake", "mlp@fake,threads=1,executed_threads=1"), *SHORT)
    text = " ".join(run("compare", "previous", "latest").stdout.split())
    assert "threads_differ" in text
    run("run", FAST, *SHORT, "--data-seed", 2)
    answer = compared(run, "previous", "latest")["comparison"]["primary"][0]
    assert answer["direction"] == "unresolved" and "the input bytes are not those of" in answer["withheld"]


@pytest.mark.parametrize("arguments, said", [
    (("latest", "latest"), "both are run"),
    (("latest", "mlp@fake"), "'latest' is a stored run and 'mlp@fake' is none"),
    (("latest", "previous", "latest"), "two stored runs are compared at a time"),
    (("latest", "20001121"), "there is no run '20001121'"),
    (("latest", "2"), "give more of the id"),
    (("latest", "previous", "--iterations", "3"), "leave --iterations out"),
    (("latest", "previous", "--dry-run"), "leave --dry-run out"),
    (("latest", "previous", "--metric", "p55"), "did you mean 'p50'?"),
    (("latest", "absent.json"), "absent.json"),
])
def test_bad_input_is_refused_in_a_sentence(run, two_runs, arguments, said):
    done = run("compare", *arguments)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_runs_without_a_common_subject_and_a_store_of_one(run):
    run("run", FAST, *SHORT)
    alone = run("compare", "latest", "previous")
    assert alone.returncode == 2 and "no run before the latest one" in alone.stderr
    run("run", "u=mlp@fake,latency=constant:100us", "v=mlp@fake,latency=constant:100us,memory=1MB", *SHORT)
    run("run", "s=mlp@fake,latency=constant:200us", "t=mlp@fake,latency=constant:300us", *SHORT)
    done = run("compare", "previous", "latest")
    assert done.returncode == 2 and "have no subject in common" in done.stderr
