"""Servers under load: several requests in flight, errors that are counted, answers that are compared."""

import json

import pytest
from bad_server import BadServer

SHORT = ["--processes", "1", "--warmup", "1", "--seed", "3", "--quiet"]


@pytest.fixture
def server():
    """Which counts its requests from 1 on."""
    with BadServer(binary=True) as started:
        yield started


def loaded(run, *arguments):
    done = run("load", *arguments, *SHORT, "--format", "json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    return record, record["trials"][0]["load"]


def test_mlserver_under_load(run, mlserver):
    record, load = loaded(run, f"served@kserve,url={mlserver}", "--concurrency", "4", "--requests", "60")
    assert (load["clients"], load["completed"], load["failed"]) == (4, 60, 0)
    assert 6 + 1 <= load["checked"] <= 6 + 4, "six on the way, and the last of each client, which may be one of them"
    assert load["mismatched"] == 0 and load["largest_difference"] < 1e-5
    _, load = loaded(run, f"served@kserve,url={mlserver}", "--rate", "100", "--requests", "40")
    assert load["open_loop"] and load["completed"] == load["due"] == 40
    assert load["clients"] == 40, "a server is given as many requests as come"


def test_errors_of_a_server_are_counted_and_make_the_load_invalid(run, server):
    record, load = loaded(run, f"every_tenth_fails@kserve,url={server.url}", "--rate", "300", "--requests", "50")
    assert load["failed"] > 0 and load["completed"] + load["failed"] == load["due"] == 50
    assert record["trials"][0]["iterations"] == load["completed"]
    (text, count), *others = load["errors"]
    assert count == load["failed"] and not others
    assert "HTTP" in text or "50" in text, text
    subject = record["subjects"][0]
    assert not subject["load"]["valid"]
    assert "errors" in [finding["rule"] for finding in subject["load"]["findings"]]


@pytest.mark.parametrize("how", [("--rate", "300"), ("--concurrency", "4"), ("--concurrency", "1"), ("--scenario", "multi-stream", "--samples", "1")])
def test_an_answer_that_is_none_is_a_failure_of_its_own_request_alone(run, server, how):
    record, load = loaded(run, f"every_tenth_is_none@kserve,url={server.url}", *how, "--requests", "50")
    assert load["completed"] + load["failed"] == 50
    assert 3 <= load["failed"] <= 7, "one of ten, whatever requests came before"
    assert load["errors"][0][0].count("the server's answer") == 1
    assert "errors" in [finding["rule"] for finding in record["subjects"][0]["load"]["findings"]]


def test_two_servers_are_compared_under_the_same_load(run, mlserver):
    done = run("compare", f"a=served@kserve,url={mlserver}", f"b=served@kserve,url={mlserver}", "--rate", "100", "--requests", "20",
               "--metric", "response_p50", "--max-pairs", "6", "--all-pairs", "--warmup", "1", "--quiet", "--format", "json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["plan"]["question"]["metric"] == "response_p50" and len(record["trials"]) >= 12
