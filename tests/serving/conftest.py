"""Servers that the tests start on the loopback: MLServer and llama.cpp's, real ones, and bad_server.py and bad_grpc_server.py, which do what none
should."""

import importlib.util
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from waiting import wait_until

HERE = Path(__file__).parent
SHORT = ["--processes", "1", "--iterations", "6", "--warmup", "1", "--quiet"]


@pytest.fixture
def measure(run):
    """measure("good@kserve,url=…") -> the CompletedProcess, the trial of its report (None where there is no report)."""

    def call(subject, *arguments, **options):
        done = run("run", subject, *SHORT, "--format", "json", *arguments, **options)
        return done, json.loads(done.stdout)["trials"][0] if done.stdout else None

    return call


def free_ports(count):
    """Ports that nobody listens on; all are held until the last one is known, so that they differ."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


@pytest.fixture(scope="session", autouse=True)
def back_end(build_dir):
    if not (build_dir / "lib/infermeter/backends/infermeter_backend_kserve.so").exists():
        pytest.skip("the back end kserve is not built: it needs libcurl")


@pytest.fixture
def closed_port():
    return free_ports(1)[0]


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def listens(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session")
def mlserver(mlserver_urls):
    """The URL of an MLServer that has the model `served`."""
    return mlserver_urls[0]


@pytest.fixture(scope="session")
def mlserver_urls(source_dir, tmp_path_factory):
    """The URLs of an MLServer that has the model `served`: for HTTP, for gRPC."""
    program = source_dir / ".deps/mlserver/bin/mlserver"
    if not program.exists():
        pytest.skip("MLServer is not installed: scripts/setup --tests")
    folder = tmp_path_factory.mktemp("mlserver")
    shutil.copy(HERE / "mlserver/served_model.py", folder)
    http, grpc, metrics = free_ports(3)
    (folder / "model-settings.json").write_text(json.dumps(
        {"name": "served", "implementation": "served_model.ServedModel", "parameters": {"version": "v1"}}))
    (folder / "settings.json").write_text(json.dumps(
        {"debug": False, "host": "127.0.0.1", "http_port": http, "grpc_port": grpc, "metrics_port": metrics,
         "parallel_workers": 0}))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MLSERVER"))}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([program, "start", folder], cwd=folder, stdout=log, stderr=log, env=kept)
    try:
        url = f"http://127.0.0.1:{http}"
        wait_until(lambda: process.poll() is not None or (answers(f"{url}/v2/models/served/ready") and listens(grpc)))
        if process.poll() is not None:
            pytest.fail((folder / "log").read_text()[-2000:])
        yield url, f"http://127.0.0.1:{grpc}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def llama_server(build_dir, infermeter, tmp_path_factory):
    """The URL of llama.cpp's own server, which has the zoo's tiny_llama, a context of 512 tokens for each request, and no template of a chat."""
    if any(importlib.util.find_spec(package) is None for package in ("xllamacpp", "gguf")):
        pytest.skip("llama.cpp's server is not installed: scripts/setup --with generation")
    folder = tmp_path_factory.mktemp("llama")
    subprocess.run([infermeter, "models", "build", "tiny_llama", folder / "tiny_llama"], check=True, capture_output=True)
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([sys.executable, HERE / "llama_server.py", folder / "tiny_llama", folder / "model.gguf"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=log, env=os.environ | {"PYTHONPATH": str(build_dir / "python")}, text=True)
    try:
        address = process.stdout.readline().strip()
        if not address:
            pytest.fail((folder / "log").read_text()[-2000:])
        yield f"{address}/v1"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """(file, key) of a certificate for 127.0.0.1 that signs itself, and one for another address."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    folder = tmp_path_factory.mktemp("certificate")
    made = []
    for name, address in (("right", "127.0.0.1"), ("wrong", "192.0.2.1")):
        file, key = folder / f"{name}.pem", folder / f"{name}.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                        "2", "-subj", "/CN=test", "-addext", f"subjectAltName=IP:{address}", "-out", file, "-keyout", key],
                       check=True, capture_output=True)
        ssl.create_default_context(cafile=file)
        made.append((file, key))
    return made
