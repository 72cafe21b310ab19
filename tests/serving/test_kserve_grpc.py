"""Models on servers by gRPC: the back end kserve with MLServer, and with a server that does what none should."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest
from waiting import wait_until

HERE = Path(__file__).parent


@contextlib.contextmanager
def bad_grpc_server(source_dir, folder, *certificate):
    """The URL of one that runs."""
    python = source_dir / ".deps/mlserver/bin/python"
    if not python.exists():
        pytest.skip("MLServer, whose gRPC this takes, is not installed: scripts/setup --tests")
    file = folder / "port"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([python, HERE / "bad_grpc_server.py", file, *certificate], stdout=log, stderr=log, env=kept)
    try:
        wait_until(lambda: process.poll() is not None or file.exists())
        if process.poll() is not None:
            pytest.fail((folder / "log").read_text()[-2000:])
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{file.read_text()}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def bad(source_dir, tmp_path_factory):
    with bad_grpc_server(source_dir, tmp_path_factory.mktemp("grpc")) as url:
        yield f"kserve,protocol=grpc,url={url}"


@pytest.fixture
def by_grpc(mlserver_urls):
    return f"kserve,protocol=grpc,url={mlserver_urls[1]}"


def counters_of(done):
    assert done.returncode == 0, done.stderr
    return {counter["name"]: counter["value"] for counter in json.loads(done.stdout)["subjects"][0]["counters"]}


# --- MLServer


def test_mlserver_is_measured_by_grpc(measure, by_grpc):
    done, trial = measure(f"served@{by_grpc},batch=5")
    assert done.returncode == 0 and trial["end"] == "ok" and trial["items_per_iteration"] == 5, done.stderr
    executed = trial["executed"]
    assert (executed["runtime"], executed["runtime_version"], executed["model_version"]) == ("mlserver", "1.7.1", "v1")
    assert (executed["protocol"], executed["tensors"], executed["transport"]) == ("gRPC", "binary", "HTTP/2, connection kept alive")
    assert executed["input_shape"] == "(5, 4) (5, 1)"


def test_grpc_answers_as_http_does(run, by_grpc, mlserver):
    done = run("validate", f"served@{by_grpc}", f"served@kserve,url={mlserver}")
    assert done.returncode == 0 and "agrees" in done.stdout, done.stdout + done.stderr


def test_compare_and_load_work_by_grpc(run, by_grpc, mlserver):
    compared = run("compare", f"served@{by_grpc}", f"served@kserve,url={mlserver}", "--max-pairs", 8, "--iterations", 5, "--warmup", 1,
                   "--quiet", "--format", "json")
    assert compared.returncode == 0 and compared.stdout, compared.stderr
    found = counters_of(run("load", f"served@{by_grpc}", "--concurrency", 4, "--requests", 60, "--processes", 1, "--warmup", 1, "--quiet",
                            "--format", "json", "--no-samples"))
    assert found["failed"] == 0 and found["response_p50"] > 0


def test_a_model_that_mlserver_does_not_have(measure, by_grpc):
    done, trial = measure(f"resnet50@{by_grpc}")
    assert done.returncode == 3
    assert trial["message"].startswith('the server does not give model "resnet50": the server answered with gRPC status NOT_FOUND; it '
                                       'said "Model resnet50 ')


@pytest.mark.parametrize("subject, why", [
    ("served@kserve,url={http},protocol=grpc", "closed the connection"),
    ("served@kserve,url={grpc}", "does not speak HTTP/1.1"),
])
def test_the_port_of_the_other_protocol(measure, mlserver_urls, subject, why):
    done, trial = measure(subject.format(http=mlserver_urls[0], grpc=mlserver_urls[1]))
    assert done.returncode == 3 and why in trial["message"]


def test_options_that_exclude_each_other(measure, by_grpc):
    done, _ = measure(f"served@{by_grpc},tensors=json")
    assert done.returncode == 2 and "tensors=json goes with protocol=http" in done.stderr
    done, _ = measure("served@kserve,url=http://127.0.0.1:1,protocol=smoke")
    assert done.returncode == 2 and "http|grpc" in done.stderr


# --- what is right


@pytest.mark.parametrize("model", ["good", "good_undeclared", "good_text", "good_typed"])
def test_what_is_right_is_measured(measure, bad, model):
    done, trial = measure(f"{model}@{bad}")
    assert done.returncode == 0 and trial["end"] == "ok" and trial["output_digest"], done.stderr


def test_raw_and_typed_tensors_are_the_same_and_others_are_not(run, bad):
    assert run("validate", f"good@{bad}", f"good_typed@{bad}", "--force").returncode == 0
    assert run("validate", f"good@{bad}", f"good_tripled@{bad}", "--force").returncode == 1


def test_the_contract_of_back_ends_holds(build_dir, bad):
    program = build_dir / "tests/conformance/backend_conformance"
    if not program.exists():
        pytest.skip("backend_conformance is not built")
    done = subprocess.run([program, build_dir / "lib/infermeter/backends/infermeter_backend_kserve.so", "good", "--option",
                           bad.split(",")[2], "--option", "protocol=grpc", "--gtest_brief=1"], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_token_goes_with_each_request(measure, run, bad):
    (run.folder / "token").write_text("s3cr3t\n")
    done, _ = measure(f"wants_token@{bad},token_file=token")
    assert done.returncode == 0, done.stderr
    done, trial = measure(f"wants_token@{bad}")
    assert done.returncode == 3 and 'gRPC status UNAUTHENTICATED; it said "who are you?"' in trial["message"]


def test_requests_that_fail_under_load_are_counted_by_class(run, bad):
    done = run("load", f"every_tenth_fails@{bad}", "--concurrency", 1, "--requests", 40, "--processes", 1, "--warmup", 0, "--quiet",
               "--format", "json", "--no-samples")
    assert counters_of(done)["failed"] == 4
    assert "gRPC status UNAVAILABLE" in done.stdout and '"5xx"' in done.stdout


def test_certificates(measure, source_dir, tmp_path, certificate):
    (file, key), _ = certificate
    with bad_grpc_server(source_dir, tmp_path, file, key) as url:
        done, trial = measure(f"good@kserve,protocol=grpc,url={url}")
        assert done.returncode == 3 and "has a certificate that is not trusted" in trial["message"]
        done, trial = measure(f"good@kserve,protocol=grpc,url={url},ca={file}")
        assert done.returncode == 0 and trial["executed"]["transport"] == "HTTP/2 over TLS, connection kept alive", done.stderr


# --- what servers do wrong

FAULTS = {
    "unknown": 'does not give model "unknown": the server answered with gRPC status NOT_FOUND; it said "no such model \\u001b[31m',
    "no_inputs": "it declares no inputs",
    "nameless": 'input "" has a name that cannot be one',
    "twins": 'two inputs have the name "x"',
    "strange_type": 'input "x" has the datatype "FP8", which the protocol does not have',
    "huge_shape": "would make the data larger than",
    "huge_dimension": 'a dimension of input "x" is not -1 to 2147483647',
    "negative_shape": 'a dimension of input "x" is not -1 to 2147483647',
    "many_dimensions": 'input "x" has too many dimensions',
    "metadata_garbage": "what the server says of the model is not a message of the protocol",
    "metadata_wire_type": "what the server says of the model is not a message of the protocol",
    "invalid": 'gRPC status INVALID_ARGUMENT; it said "broken \\u001b[31mred\\n100 % \\u00e4yyy',
    "internal": "gRPC status INTERNAL",
    "unavailable": "gRPC status UNAVAILABLE",
    "late": "gRPC status DEADLINE_EXCEEDED",
    "exhausted": "gRPC status RESOURCE_EXHAUSTED",
    "garbage": "the server's answer is not a message of the protocol",
    "wire_type": "the server's answer is not a message of the protocol",
    "number_wire_type": "the server's answer is not a message of the protocol",
    "no_outputs": "it has no outputs",
    "typed_too_few": 'output "y" has 1 elements, and its shape 1x3 needs 3',
    "typed_otherwise": "holds values that are not of its datatype",
    "two_contents": "it has 1 outputs and the contents of 2",
    "wrong_size": 'output "y" has 4 bytes, and its shape 1x3 needs 12',
    "wrong_shape": 'output "y" has the shape 1x4, and the server declares 1x3',
    "negative_infer_shape": "a dimension is not a size",
    "huge_infer_shape": "has an impossible shape",
    "many_infer_dimensions": "an output has too many dimensions",
    "strange_infer_type": 'has the datatype "FP8"',
    "wrong_type": 'output "y" is int32, and the server declares float32',
    "missing_output": 'output "y" is missing',
    "endless": "sends more than 1048696 bytes",
    "replaced_meanwhile": 'version "3" answered first, and version "4" now',
}


@pytest.mark.parametrize("model", FAULTS)
def test_what_a_server_does_wrong_is_one_sentence(measure, bad, model):
    done, trial = measure(f"{model}@{bad}")
    message = trial["message"] if trial else " ".join(done.stderr.split())
    assert done.returncode in (2, 3), done.stderr
    assert FAULTS[model] in message and len(message) < 700, message
    assert "Traceback" not in done.stderr and "\x1b" not in done.stderr + done.stdout


def test_a_server_that_stalls(measure, bad):
    done, trial = measure(f"stalls@{bad},timeout=0.5")
    assert done.returncode == 3
    assert "did not answer within 0.5 s; timeout=SECONDS sets another limit" in trial["message"]


def test_a_server_that_is_not_there(measure, closed_port):
    done, trial = measure(f"good@kserve,protocol=grpc,url=http://127.0.0.1:{closed_port}")
    assert done.returncode == 3 and "refuses connections: is it started" in trial["message"]
