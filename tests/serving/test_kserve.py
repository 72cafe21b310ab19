"""Models on servers: the back end kserve with MLServer, and with a server that does what none should."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest
from bad_server import BadServer

SHORT = ["--processes", "1", "--iterations", "6", "--warmup", "1", "--quiet"]


@pytest.fixture(scope="module", params=["binary", "json"])
def bad(request):
    with BadServer(binary=request.param == "binary") as server:
        yield server


@pytest.fixture(scope="module")
def good():
    with BadServer(binary=True) as server:
        yield server


def refusal(done):
    """The one sentence that a command says of itself."""
    lines = [line for line in done.stderr.splitlines() if line]
    assert "Traceback" not in done.stderr and "\x1b" not in done.stderr + done.stdout
    return " ".join(lines)


# --- MLServer


def test_mlserver_is_measured_like_any_runtime(measure, mlserver):
    done, trial = measure(f"served@kserve,url={mlserver}")
    assert done.returncode == 0, done.stderr
    assert trial["end"] == "ok" and trial["output_digest"]
    executed = trial["executed"]
    assert (executed["runtime"], executed["runtime_version"]) == ("mlserver", "1.7.1")
    assert (executed["tensors"], executed["transport"]) == ("json", "HTTP/1.1, connection kept alive")
    assert executed["device"] == "server" and "threads" not in executed


def test_batches_reach_mlserver(measure, mlserver):
    done, trial = measure(f"served@kserve,url={mlserver},batch=5")
    assert done.returncode == 0 and trial["items_per_iteration"] == 5, done.stderr
    assert trial["executed"]["input_shape"] == "(5, 4) (5, 1)"


def test_validate_compare_and_history_work_on_servers(run, mlserver, good):
    same = run("validate", f"served@kserve,url={mlserver}", f"served@kserve,url={mlserver},timeout=30")
    assert same.returncode == 0, same.stdout + same.stderr
    other = run("validate", f"good@kserve,url={good.url},tensors=json", f"good_tripled@kserve,url={good.url}", "--force")
    assert other.returncode == 1, other.stdout + other.stderr
    compared = run("compare", f"served@kserve,url={mlserver}", f"served@kserve,url={mlserver},timeout=30", "--max-pairs", "8",
                   "--iterations", "5", "--warmup", "1", "--quiet", "--format", "json")
    assert compared.returncode == 0 and compared.stdout, compared.stderr
    history = run("history")
    assert history.returncode == 0 and "served" in history.stdout, history.stderr


def test_a_model_that_mlserver_does_not_have(measure, mlserver):
    done, trial = measure(f"resnet50@kserve,url={mlserver}")  # the zoo's of that name is another one
    assert done.returncode == 3
    assert trial["message"] == ('the server does not give model "resnet50": the server answered with status 404; it said '
                                '"Model resnet50 not found"')


def load_of(run, *arguments):
    done = run("load", *arguments, "--processes", "1", "--warmup", "1", "--quiet", "--format", "json", "--no-samples")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    return record, {counter["name"]: counter["value"] for counter in record["subjects"][0]["counters"]}


def test_many_requests_at_once_have_connections_of_their_own(run):
    with BadServer(binary=True) as server:
        _, found = load_of(run, f"good@kserve,url={server.url}", "--concurrency", "4", "--requests", "40")
        assert found["failed"] == 0 and server.requests >= 40
        assert 4 <= server.connections < 12


def test_requests_that_fail_under_load_are_counted(run):
    with BadServer() as server:
        record, found = load_of(run, f"every_tenth_fails@kserve,url={server.url}", "--concurrency", "1", "--requests", "40")
        assert found["failed"] == 4
        assert "status 503" in json.dumps(record)


# --- tensors, types, connections


def test_binary_and_json_tensors_give_the_same(run, good):
    done = run("validate", f"good@kserve,url={good.url},tensors=json", f"good@kserve,url={good.url},tensors=binary")
    assert done.returncode == 0, done.stdout + done.stderr


def test_requests_share_one_connection(measure):
    with BadServer() as server:
        done, _ = measure(f"good@kserve,url={server.url}")
        assert done.returncode == 0, done.stderr
        assert server.requests > 6 and server.connections < 6  # one for each question while loading, one for all requests


@pytest.mark.parametrize("model", ["good", "good_undeclared", "good_text"])
def test_what_is_right_is_measured(measure, bad, model):
    done, trial = measure(f"{model}@kserve,url={bad.url}")
    assert done.returncode == 0 and trial["end"] == "ok", done.stderr


def test_the_contract_of_back_ends_holds(build_dir, good):
    """Among it submit and wait, several requests in flight, and that nothing leaks."""
    program = build_dir / "tests/conformance/backend_conformance"
    if not program.exists():
        pytest.skip("backend_conformance is not built")
    done = subprocess.run([program, build_dir / "lib/infermeter/backends/infermeter_backend_kserve.so", "good", "--option",
                           f"url={good.url}", "--gtest_brief=1"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


# --- what servers do wrong

FAULTS = {
    "unknown": 'does not give model "unknown": the server answered with status 404; it said "no such model \\u001b[31m',
    "no_inputs": "it declares no inputs",
    "strange_type": 'input "x" has the datatype "FP8", which the protocol does not have',
    "strange_shape": 'a dimension of input "x" is not a whole number',
    "huge_shape": "would make the data larger than",
    "negative_shape": 'a dimension of input "x" is not -1 to 2147483647',
    "deep_metadata": "is nested too deeply",
    "metadata_no_json": 'is not the JSON that it should be; it begins with "<html>\\u001b[2J</html>"',
    "error500": 'status 500; it said "broken \\u001b[31mred\\nyyy',
    "error400": 'status 400; it said "batch too large"',
    "redirect": "status 302",
    "bad_json": "it is not JSON at byte 42",
    "no_outputs": "it has no outputs",
    "deep": "it is nested too deeply",
    "wrong_size": "and its shape 1x3 needs",
    "size_beyond": "is said to have 9223372036854775808 bytes",
    "wrong_shape": 'output "y" has the shape 1x4, and the server declares 1x3',
    "huge_infer_shape": "has an impossible shape",
    "wrong_type": 'output "y" is int32, and the server declares float32',
    "missing_output": 'output "y" is missing',
    "endless": "sends more than 1048696 bytes",
    "huge_length": "sends more than 1048696 bytes",
    "endless_headers": "sends more than 65536 bytes of headers",
    "half": "closed the connection in the middle of its answer",
    "closes": "closed the connection without an answer",
    "resets": "closed the connection without an answer",
    "no_http": "does not speak HTTP/1.1",
}


@pytest.mark.parametrize("model", FAULTS)
def test_what_a_server_does_wrong_is_one_sentence(measure, bad, model):
    done, trial = measure(f"{model}@kserve,url={bad.url}")
    message = trial["message"] if trial else refusal(done)
    assert done.returncode in (2, 3), done.stderr
    assert FAULTS[model] in message and len(message) < 700
    assert message.isascii() or "…" in message
    refusal(done)


def test_a_shape_that_changes_ends_the_trial(measure):
    with BadServer() as server:
        done, trial = measure(f"shape_changes@kserve,url={server.url}", "--batch-axis", "none", "--dim", "x.0=1")
    assert done.returncode == 3
    assert 'output "y" had the shape 1x3 and has 2x3 now' in trial["message"]


@pytest.mark.parametrize("model, key, now", [("replaced", "model_version", "4"), ("replatformed", "platform", "other")])
def test_a_model_that_is_replaced_between_trials_ends_the_run(run, model, key, now):
    with BadServer() as server:
        done = run("run", f"{model}@kserve,url={server.url}", "--processes", 4, "--iterations", 3, "--warmup", 0, "--format", "json",
                   "--quiet")
        assert done.returncode == 2 and done.stdout == "", done.stderr
        assert f"what is measured changed during the run ({key}" in done.stderr and f"'{now}' now" in done.stderr
        record = json.loads(run("report", "--format", "json").stdout)
        assert {trial["executed"][key] for trial in record["trials"]} <= {"3", "numpy"}
        assert run("run", "--resume").returncode == 2, "it is not what was measured"


def test_a_model_that_is_replaced_in_a_trial_ends_it(measure):
    with BadServer() as server:
        done, trial = measure(f"replaced_meanwhile@kserve,url={server.url}")
    assert done.returncode == 3
    assert 'the model was replaced on the server: version "3" answered first, and version "4" now' in trial["message"]


def test_a_server_that_stalls(measure, good):
    done, trial = measure(f"stalls@kserve,url={good.url},timeout=0.2")
    assert done.returncode == 3
    assert "did not answer within 0.2 s; timeout=SECONDS sets another limit" in trial["message"]


def test_a_server_that_is_not_there(measure, closed_port):
    port = closed_port
    done, trial = measure(f"good@kserve,url=http://127.0.0.1:{port}")
    assert done.returncode == 3
    assert f'the server at "http://127.0.0.1:{port}" refuses connections: is it started' in trial["message"]


@pytest.mark.parametrize("url, why", [
    ("127.0.0.1:8000", "it does not begin with http:// or https://"),
    ("http://", "it names no host"),
    ("http://host:70000", "'70000' is not a port"),
    ("http://host:8000/a?b", "a '?'"),
    ("http://[::1:8000", "its '[' is not closed"),
    ("http://user:secret@host:8000", "token_file=FILE"),
    ("http://ho st", "blank"),
    ("http://no-such-host.invalid:8000", "the host 'no-such-host.invalid' cannot be resolved"),
])
def test_urls_that_are_none(measure, url, why):
    done, _ = measure(f"good@kserve,url={url}")
    assert done.returncode == 2
    assert why in refusal(done) and "secret" not in done.stderr


def test_a_back_end_for_servers_wants_a_url_and_others_want_none(measure, good):
    done, _ = measure("good@kserve")
    assert done.returncode == 2
    done, _ = measure("mlp@kserve")
    assert done.returncode == 2 and "url=http://HOST:PORT" in refusal(done)
    done, _ = measure(f"mlp@fake,url={good.url}")
    assert done.returncode == 2 and "no option 'url'" in refusal(done)


# --- who is trusted, and with what


def test_certificates(measure, run, certificate):
    (file, key), wrong = certificate
    with BadServer(certificate=(file, key)) as server:
        done, trial = measure(f"good@kserve,url={server.url}")
        assert done.returncode == 3 and "has a certificate that is not trusted" in trial["message"]
        assert "ca=FILE" in trial["message"]
        for option in (f"ca={file}", f"ca={os.path.relpath(file, run.folder)}", "verify=false"):
            done, trial = measure(f"good@kserve,url={server.url},{option}")
            assert done.returncode == 0 and trial["executed"]["transport"].startswith("HTTP/1.1 over TLS"), done.stderr
        done, trial = measure(f"good@kserve,url={server.url},ca=nowhere.pem")
        assert done.returncode == 2 and "ca=" in refusal(done)
        done, trial = measure(f"good@kserve,url=http://127.0.0.1:{server.port}")
        assert done.returncode == 3
    with BadServer(certificate=wrong) as server:
        done, trial = measure(f"good@kserve,url={server.url},ca={wrong[0]}")
        assert done.returncode == 3 and "has a certificate that is not trusted" in trial["message"]


def test_a_token_goes_to_the_server_and_nowhere_else(measure, run, tmp_path):
    secret = "s3cr3t-t0ken"
    (tmp_path / "token").write_text(secret + "\n")
    with BadServer() as server:
        for option, env in ((f"token_file={tmp_path}/token", {}), ("token_variable=MY_TOKEN", {"MY_TOKEN": secret})):
            server.tokens.clear()
            done, _ = measure(f"good@kserve,url={server.url},{option}", "--html", "report.html", "--force", env=env)
            assert done.returncode == 0, done.stderr
            assert server.tokens == {f"Bearer {secret}"}
            assert secret not in done.stdout + done.stderr
    for path in run.folder.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("option, why", [("token_file=nowhere", "cannot be read"), ("token_file=.", "not a regular file"),
                                         ("token_file=blank", "a blank"), ("token_variable=UNSET", "is not set"),
                                         ("token_file=blank,token_variable=X", "exclude each other"),
                                         ("threads=2", "leave out threads=")])
def test_tokens_that_cannot_be_had(measure, run, good, option, why):
    (run.folder / "blank").write_text("two words")
    done, _ = measure(f"good@kserve,url={good.url},{option}")
    assert done.returncode == 2 and why in refusal(done)
    assert "two words" not in done.stderr


@pytest.mark.parametrize("text", ['subjects = ["good@kserve,url={url}"]',
                                  '[[subject]]\nmodel = "good"\nbackend = "kserve"\noptions = {{ url = "{url}" }}',
                                  'subjects = ["good@kserve"]\noptions = {{ url = "{url}" }}',
                                  'subjects = ["good@kserve"]\noptions = {{ token_file = "/etc/passwd" }}'])
def test_a_file_cannot_lead_to_a_server_by_itself(run, text):
    with BadServer() as server:
        (run.folder / "plan.toml").write_text(text.format(url=server.url))
        done = run("run", "--plan", "plan.toml", *SHORT)
        assert done.returncode == 2 and "--allow-code" in refusal(done)
        assert server.connections == 0
        if "token_file" not in text:
            done = run("run", "--plan", "plan.toml", *SHORT, "--allow-code")
            assert done.returncode == 0, done.stderr


def test_gates_work_on_servers_and_their_files_are_data(run, good):
    (run.folder / "gate.toml").write_text(f'expect = ["latency_p50 <= 10s"]\n[plan]\nsubjects = ["good@kserve,url={good.url}"]\n'
                                          "processes = 3\niterations = 5\nwarmup = 0\n")
    assert "--allow-code" in refusal(run("gate", "gate.toml"))
    done = run("gate", "gate.toml", "--allow-code")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_command_line_beats_the_file(run):
    with BadServer() as server:
        (run.folder / "plan.toml").write_text('subjects = ["good@kserve,url=http://192.0.2.1:9"]\n')
        done = run("run", "--plan", "plan.toml", f"good@kserve,url={server.url}", *SHORT)
        assert done.returncode == 0, done.stderr


def test_names_are_resolved_outside_of_the_sandbox(measure, good):
    if not any(family == socket.AF_INET for family, *_ in socket.getaddrinfo("localhost", good.port)):
        pytest.skip("localhost has no IPv4 address here")
    done, trial = measure(f"good@kserve,url=http://localhost:{good.port}", "--sandbox", "auto")
    assert done.returncode == 0, trial["message"]


def test_proxies_of_the_environment_are_left_alone(measure, good):
    done, trial = measure(f"good@kserve,url={good.url}", "--env", "http_proxy=http://127.0.0.1:9")
    assert done.returncode == 0, trial["message"]


def test_the_server_can_be_reached_without_a_sandbox(measure, good):
    done, trial = measure(f"good@kserve,url={good.url}", "--sandbox", "off")
    assert done.returncode == 0, trial["message"]


def test_a_file_of_the_models_name_is_not_looked_at(measure, run, good):
    Path(run.folder / "good").write_text("no model")
    done, trial = measure(f"good@kserve,url={good.url}")
    assert done.returncode == 0, trial["message"]
