"""The columns of the CSV that an earlier runner had for devices, of back ends written in Python: device_type,
compilation_time_ms and memory_mb. The device is simulated: its back end says what a framework with one would say."""

import csv
import json

import pytest

BACK_END = '''
import time
from infermeter.backend import Info, Port

class Session:
    inputs = [Port("x", "float32", ("batch", 4))]
    outputs = [Port("y", "float32", ("batch", 4))]
    def __init__(self, load):
        self.device = load.device
    def compile(self):
        time.sleep(0.01)
    def bind(self, arrays):
        (x,) = arrays
        return lambda: x * 2
    def values(self, result):
        return [result]
    def executed(self):
        return {"device": self.device, "dtype": "float32", "provider": "simulated", "threads": "1"}
    def device_memory(self):
        return (1_000_000, 250_000_000) if self.device == "cuda" else None

class Runtime:
    info = Info(name="simulated", runtime_name="simulated", runtime_version="1", library="", model_formats=("*",),
                devices=("cuda", "cpu"), dtypes=("float32",))
    def load(self, load):
        return Session(load)

def open_runtime(environment):
    return Runtime()
'''


@pytest.fixture
def rows(run, build_dir):
    if not list((build_dir / "python/infermeter").glob("_worker.*")):
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")
    (run.folder / "infermeter_backend_simulated.py").write_text(BACK_END)
    (run.folder / "model.any").write_bytes(b"x")
    done = run("run", "model.any@simulated,device=cuda", "model.any@simulated,device=cpu", "--backend-path", run.folder,
               "--processes", 2, "--iterations", 10, "--warmup", 1, "--quiet")
    assert done.returncode == 0, done.stderr
    assert "250 MB (device)" in done.stdout and done.stdout.count("(device)") == 1
    (file,) = (run.folder / "results/raw").glob("*.csv")
    return list(csv.DictReader(file.open()))


def test_device_and_compiling_are_what_was_executed(rows):
    assert [row["device_type"] for row in rows] == ["cuda", "cpu"]
    assert all(10 <= float(row["compilation_time_ms"]) < 1000 for row in rows)


def test_memory_is_that_of_the_device_where_the_model_is(rows):
    on_device, on_host = rows
    assert (on_device["memory_kind"], on_device["memory_mb"], on_device["memory_device_mb"]) == ("device", "250", "250")
    assert float(on_device["memory_resident_mb"]) > 5
    assert on_host["memory_kind"] == "resident" and on_host["memory_device_mb"] == ""
    assert on_host["memory_mb"] == on_host["memory_resident_mb"] != ""


def test_the_json_report_has_both_with_their_interval(run, rows):
    report = json.loads(run("report", "--format", "json", "--no-samples").stdout)
    metrics = report["subjects"][0]["metrics"]
    assert metrics["device_memory_peak"]["value"] == 250e6 and metrics["device_memory_peak"]["processes"] == 2
    assert metrics["memory_peak"]["interval"]["low"] > 0
    assert report["subjects"][1]["metrics"]["device_memory_peak"]["note"] == "not measured"
