"""What subjects count themselves comes out in every report: of the fake back end, and of one written in Python."""

import csv
import io
import json
import os

import pytest

SHORT = ("--processes", 3, "--iterations", 20, "--warmup", 1, "--quiet")

# Its sessions count what their process's number decides: one of three gives no `rare`.
BACK_END = '''
import numpy as np
from infermeter.backend import Info, Port

class Session:
    inputs = [Port("x", "float32", (1, 4))]
    outputs = [Port("y", "float32", (1, 4))]
    def bind(self, arrays):
        (x,) = arrays
        return lambda: x * 2
    def values(self, result):
        return [result]
    def executed(self):
        return {"device": "cpu", "dtype": "float32", "provider": "counting", "threads": "1"}
    def counters(self):
        return {"cache_hit_rate": (0.75, "1"), "wait, \\x1b[2J": (-1.5, "ms"), "nothing": (float("nan"), "")}

class Runtime:
    info = Info(name="counting", runtime_name="counting", runtime_version="1", library="", model_formats=("*",),
                devices=("cpu",), dtypes=("float32",))
    def load(self, load):
        return Session()

def open_runtime(environment):
    return Runtime()
'''


def reports(run, *subjects, env=None):
    done = run("run", *subjects, *SHORT, "--format", "json", env=env)
    assert done.returncode == 0, done.stderr
    texts = {form: run("report", "--format", form).stdout for form in ("table", "markdown", "csv")}
    return json.loads(done.stdout), list(csv.DictReader(io.StringIO(texts["csv"]))), texts["table"], texts["markdown"]


def test_the_fake_back_ends_counters(run):
    report, rows, table, markdown = reports(run, "a=mlp@fake,counters=hit_rate:0.25+drift:-3", "b=mlp@fake")
    first, second = report["subjects"]
    assert second["counters"] == []
    assert first["counters"][0] == {
        "name": "hit_rate", "unit": "1", "value": 0.25, "interval": {"low": 0.25, "high": 0.25, "confidence": 0.95}, "n": 3,
        "processes": 3, "method": "mean over processes; t interval", "note": ""}
    assert (rows[0]["counter_hit_rate"], rows[0]["counter_drift"], rows[1]["counter_drift"]) == ("0.25", "-3", "")
    assert "Counters  hit_rate  drift\n" in table and "a         0.250 ±0  -3 ±0\n" in table
    assert "| a | 0.250 ±0 | -3 ±0 |\n| b | – | – |\n" in markdown


def test_a_gate_sees_the_same_counters(run):
    assert run("run", "mlp@fake,counters=hit_rate:0.25", *SHORT).returncode == 0
    (run.folder / "gate.toml").write_text("expect = ['hit_rate >= 20%']\n")
    done = run("gate", "gate.toml", "--run", "latest")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0.250" in done.stdout


def test_the_counters_of_a_back_end_in_python(run, build_dir):
    if not list((build_dir / "python/infermeter").glob("_worker.*")):
        pytest.skip("the Python module is not built: scripts/setup installs what it needs")
    (run.folder / "infermeter_backend_counting.py").write_text(BACK_END)
    (run.folder / "model.any").write_bytes(b"x")
    report, rows, table, markdown = reports(
        run, "model.any@counting", env={"INFERMETER_BACKEND_PATH": os.fspath(run.folder)})
    counters = {counter["name"]: counter for counter in report["subjects"][0]["counters"]}
    assert counters["cache_hit_rate"]["value"] == 0.75 and counters["wait, \x1b[2J"]["unit"] == "ms"
    assert counters["nothing"]["value"] is None and counters["nothing"]["note"] == "no process gave a finite value"
    assert rows[0]["counter_cache_hit_rate"] == "0.75" and rows[0][r"counter_wait, \x1b[2J"] == "-1.5"
    assert rows[0]["counter_nothing"] == ""
    for text in (table, markdown):
        assert "\x1b" not in text and "(ms)" in text and "0.750 ±0" in text
