"""`infermeter report --tensorboard`: a log folder that TensorBoard itself opens, asked over its HTTP interface."""

import gzip
import json
import logging
import math
import urllib.parse
import urllib.request

import pytest
from PIL import Image
from waiting import wait_until

SHORT = ("--processes", 2, "--iterations", 20, "--warmup", 1, "--quiet")
PROFILED = ("--profile", "--profile-processes", 2, "--profile-iterations", 3, "--stacks", "off")


class Server:
    def __init__(self, folder):
        program = pytest.importorskip("tensorboard.program", reason="TensorBoard is not installed: requirements-tests.txt")
        logging.getLogger("tensorboard").setLevel(logging.ERROR)
        board = program.TensorBoard()
        board.configure(argv=["tensorboard", "--logdir", str(folder), "--load_fast=false", "--port", "0", "--host", "127.0.0.1",
                              "--window_title", "test"])
        self.url = board.launch()

    def get(self, path, **query):
        with urllib.request.urlopen(f"{self.url}data/{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
            return answer.read()

    def ask(self, path, **query):
        return json.loads(self.get(path, **query))


@pytest.fixture
def board(run):
    """board(…): TensorBoard on the folder that `report --tensorboard` with these arguments writes."""

    def open_board(*arguments):
        done = run("report", *arguments, "--tensorboard", "logs")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert done.stderr.startswith("tensorboard --logdir logs shows it (")
        return Server(run.folder / "logs")

    return open_board


def stored(run, *arguments):
    done = run("run", *arguments, *SHORT)
    assert done.returncode == 0, done.stderr
    return json.loads(run("report", "--format", "json").stdout)


def test_figures_and_histograms_of_a_run(run, board):
    report = stored(run, "fast=mlp@fake,latency=constant:100us", "slow=mlp@fake,latency=constant:200us,counters=hits:7")
    server = board()
    wait_until(lambda: len(server.ask("plugin/scalars/tags")) == 2)
    tags = server.ask("plugin/scalars/tags")
    assert set(tags) == {"fast", "slow"}
    assert {"figures/latency_p50_ms", "figures/throughput_ips", "figures/memory_peak_mb", "iterations/process_1_ms",
            "iterations/process_2_ms"} <= set(tags["fast"])
    for run_name, subject in zip(("fast", "slow"), report["subjects"], strict=True):
        ((_, step, value),) = server.ask("plugin/scalars/scalars", run=run_name, tag="figures/latency_p50_ms")
        assert step == 0 and math.isclose(value, subject["metrics"]["latency_p50"]["value"] * 1e3, rel_tol=1e-6)
        ((_, _, buckets),) = server.ask("plugin/histograms/histograms", run=run_name, tag="latency_ms/all")
        assert round(sum(count for _, _, count in buckets)) == 40
    ((_, _, value),) = server.ask("plugin/scalars/scalars", run="slow", tag="counters/hits")
    assert value == 7
    points = server.ask("plugin/scalars/scalars", run="fast", tag="iterations/process_1_ms")
    first = [trial for trial in report["trials"] if trial["subject"] == 0 and trial["process"] == 0][0]
    assert [step for _, step, _ in points] == list(range(20))
    assert all(math.isclose(value, s * 1e3, rel_tol=1e-6)
               for (_, _, value), s in zip(points, first["samples"]["latency_s"], strict=True))


def test_several_runs_are_steps(run, board):
    for milliseconds in (1, 40, 6):
        stored(run, f"a=mlp@fake,latency=constant:{milliseconds}ms")
    ids = [each["id"] for each in json.loads(run("runs", "--format", "json").stdout)]
    server = board(*ids)
    wait_until(lambda: "a" in server.ask("plugin/scalars/tags"))
    points = server.ask("plugin/scalars/scalars", run="a", tag="figures/latency_p50_ms")
    assert [step for _, step, _ in points] == [0, 1, 2]
    assert points[0][2] < points[2][2] < points[1][2]
    assert "iterations/process_1_ms" not in server.ask("plugin/scalars/tags")["a"]


def test_operators_fill_the_profile_plug_in(run, onnxruntime, board):
    pytest.importorskip("torch_tb_profiler", reason="torch-tb-profiler is not installed: requirements-tests.txt")
    report = stored(run, f"net=mlp@{onnxruntime}", *PROFILED)
    server = board()
    plugin = "plugin/pytorch_profiler/"
    wait_until(lambda: server.ask(plugin + "runs")["runs"] == ["net"] and not server.ask(plugin + "runs")["loading"])
    assert {"Overview", "Operator", "Trace"} <= set(server.ask(plugin + "views", run="net"))
    workers = server.ask(plugin + "workers", run="net", view="Overview")
    assert sorted(workers) == ["process_1", "process_2"]
    (span,) = server.ask(plugin + "spans", run="net", worker="process_1")
    which = {"run": "net", "worker": "process_1", "view": "Overview", "span": span}
    overview = server.ask(plugin + "overview", **which)
    steps = overview["steps"]["rows"]
    assert [row[0]["value"] if isinstance(row[0], dict) else row[0] for row in steps] == ["0", "1", "2"]
    table = server.ask(plugin + "operation/table", **(which | {"view": "Operator", "group_by": "Operation"}))
    operators = {op["name"] for op in report["profile"]["subjects"][0]["table"]["operators"]}
    assert {row["name"] for row in table["data"]} >= operators and operators
    assert {row["calls"] for row in table["data"] if row["name"] in operators} == {3}


def test_pytorch_s_own_trace_is_what_the_plug_in_shows(run, board):
    pytest.importorskip("torch", reason="pytorch is not installed: scripts/setup --with pytorch")
    pytest.importorskip("torch_tb_profiler", reason="torch-tb-profiler is not installed: requirements-tests.txt")
    (run.folder / "nets.py").write_text("import torch\n\ndef make():\n    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU())\n")
    once = [word if word != "2" else "1" for word in map(str, PROFILED)]
    report = stored(run, "net=nets.py:make@pytorch", "--option", "input_shape=1x64", *once)
    timed = [trial["executed"] for trial in report["trials"]]
    assert timed and all("profile" not in executed for executed in timed)
    server = board()
    (file,) = (run.folder / "logs/net").glob("*.pt.trace.json.gz")
    with gzip.open(file, "rt") as unpacked:
        trace = json.load(unpacked)
    assert "schemaVersion" in trace and trace["record_shapes"]  # as Kineto writes it
    plugin = "plugin/pytorch_profiler/"
    wait_until(lambda: server.ask(plugin + "runs")["runs"] == ["net"] and not server.ask(plugin + "runs")["loading"])
    which = {"run": "net", "worker": "process_1", "view": "Overview", "span": server.ask(plugin + "spans", run="net", worker="process_1")[0]}
    steps = server.ask(plugin + "overview", **which)["steps"]["rows"]
    assert [row[0]["value"] if isinstance(row[0], dict) else row[0] for row in steps] == ["0", "1", "2"]
    table = server.ask(plugin + "operation/table", **(which | {"view": "Operator", "group_by": "Operation"}))
    calls = {row["name"]: row["calls"] for row in table["data"]}
    assert calls["aten::linear"] == calls["aten::addmm"] == calls["aten::relu"] == 3  # what calls, and what is called
    done = run("report", "--profile-files", "profiling")
    assert done.returncode == 0, done.stderr
    assert json.loads((run.folder / "profiling/trace.json").read_text()) == trace


def test_pictures(run, board):
    stored(run, "a=mlp@fake")
    (run.folder / "drawn").mkdir()
    Image.new("RGB", (30, 20), (200, 10, 10)).save(run.folder / "drawn/0_mask_worst_1.png")
    (run.folder / "drawn/broken.png").write_bytes(b"no picture")
    server = board("--pictures", "drawn")
    wait_until(lambda: "pictures" in server.ask("plugin/images/tags"))
    (shown,) = server.ask("plugin/images/images", run="pictures", tag="0_mask_worst_1", sample=0)
    query = dict(urllib.parse.parse_qsl(shown["query"]))
    assert server.get("plugin/images/individualImage", **query) == (run.folder / "drawn/0_mask_worst_1.png").read_bytes()


@pytest.mark.parametrize("arguments, sentence", [
    (["--pictures", "a"], "--pictures says what --tensorboard shows: give --tensorboard FOLDER as well"),
    (["--tensorboard", "logs", "--pictures", "nowhere"], "--pictures: nowhere cannot be read: No such file"),
    (["--tensorboard", "logs", "--format", "json"], "--tensorboard writes files instead of printing"),
    (["--tensorboard", "results/infermeter.db/logs"], "--tensorboard: results/infermeter.db/logs cannot hold the results"),
])
def test_what_is_asked_for_wrongly(run, arguments, sentence):
    stored(run, "a=mlp@fake")
    done = run("report", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and sentence in done.stderr and done.stderr.count("\n") == 1
    assert not (run.folder / "logs").exists()
