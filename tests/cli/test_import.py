"""`infermeter import`: profiles that ONNX Runtime, torch.profiler, OpenVINO, perf and others wrote, whole, cut and hostile."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parent.parent.parent / "infermeter/profile/fixtures"
COUNTERS = """layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);
fc1;EXECUTED;FullyConnected;brgemm_avx512_f32;0.400000;0.400000;
relu1;EXECUTED;Eltwise;jit_avx512_f32;0.100000;0.100000;
Total;;;;0.5;0.5;

"""
PERF = """# captured
cafe  6532 4567.123456:    2004008 cpu-clock:u:
\t          401136 work+0x10 (/tmp/cafe)
\t          401200 main+0x2 (/tmp/cafe)

"""
COLLAPSED = "main;work 12\nmain;rest 3\n"

PROFILE = """
import sys, numpy, onnxruntime
model, level, prefix, runs, optimized = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.enable_profiling = True
options.profile_file_prefix = prefix
options.intra_op_num_threads = 1
options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
if optimized: options.optimized_model_filepath = optimized
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
x = numpy.zeros((1, 16), numpy.float32)
for _ in range(int(runs)): session.run(None, {"input": x})
print(session.end_profiling())
"""


@pytest.fixture(scope="module")
def real(run_in, environment_in, tmp_path_factory):
    """A folder with a model of the zoo and what ONNX Runtime reported about it: all.json and basic.json, three of each."""
    pytest.importorskip("onnxruntime")
    parent = tmp_path_factory.mktemp("real")
    run = run_in(parent, environment_in(parent))
    here = run.folder
    assert run("models", "build", "mlp", "model.onnx").returncode == 0
    for name, level in (("all", "ORT_ENABLE_ALL"), ("basic", "ORT_DISABLE_ALL")):
        for number in range(3):
            optimized = f"{name}.onnx" if number == 0 else ""
            done = subprocess.run(
                [sys.executable, "-c", PROFILE, "model.onnx", level, f"{name}_{number}", "40", optimized],
                cwd=here, capture_output=True, text=True, check=True)
            Path(here / done.stdout.strip().splitlines()[-1]).rename(here / f"{name}{number}.json")
    return here


def report_of(run, *arguments, code=0):
    done = run("import", *arguments, "--format", "json", "--quiet")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def refused(done, sentence):
    assert (done.returncode, done.stdout) == (2, ""), done.stdout
    assert sentence in done.stderr and done.stderr.startswith("infermeter: ") and done.stderr.count("\n") == 1, done.stderr


def write(run, name, text):
    file = run.folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def table_of(report, subject=0):
    return report["profile"]["subjects"][subject]["table"]


# ---- Files that real runtimes wrote ----


def test_a_profile_of_onnx_runtime_with_its_model(run, real):
    report = report_of(run, real / "all0.json", "--model", real / "model.onnx", "--compiled", real / "all.onnx")
    events = json.loads((real / "all0.json").read_text())
    runs = [event for event in events if event["name"] == "model_run"]
    (trial,) = report["side_trials"]
    assert trial["iterations"] == len(runs) == 40 and trial["purpose"] == "profile" and report["trials"] == []
    table = table_of(report)
    nodes = [node for one in table["operators"] for node in one["nodes"]]
    assert len(nodes) == len(set(nodes)) >= 3
    assert sum(one["flops"] for one in table["operators"]) == 2 * (3498 - 106)
    # The faster half of all inferences, and the same operators' times in them.
    fast = sorted(runs, key=lambda event: event["dur"])[:20]
    wall_s = sum(event["dur"] for event in fast) / 20 * 1e-6
    assert table["wall_s"] == pytest.approx(wall_s, rel=1e-6)
    total = sum(one["mean_s"] for one in table["operators"]) + table["rest"]["mean_s"]
    assert total == pytest.approx(wall_s, rel=1e-9)
    assert table["clean_p50_s"] is None and not table["distorted"]
    assert report["profile"]["peaks"] is None


def test_one_against_another_is_explained(run, real):
    files = {name: ",".join(str(real / f"{name}{i}.json") for i in range(3)) for name in ("all", "basic")}
    done = run("import", f"all={files['all']}", f"basic={files['basic']}", "--model", real / "model.onnx", "--html", "why.html")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "why basic against all" in text and "other tools wrote" in text
    (why,) = report_of(run, f"all={files['all']}", f"basic={files['basic']}", "--model", real / "model.onnx")["profile"]["explanations"]
    assert why["pairs"] == 3 and why["reason"] == ""
    assert why["clean_difference_s"] is None and why["consistent"]
    assert sum(group["mean_s"] for group in why["groups"]) == pytest.approx(why["difference_s"], abs=1e-9)
    assert (run.folder / "why.html").stat().st_size > 10_000


def test_nothing_is_claimed_that_was_not_measured(run, real):
    done = run("import", real / "all0.json")
    text = " ".join(done.stdout.split())
    assert "machine is not known" in text and "imported: '" in text and "not measured" not in text
    for word in ("Latency p50", "Throughput", "s without", "faster", "GFLOP", "at batch size"):
        assert word not in text, word
    markdown = run("report", "latest", "--format", "markdown").stdout
    assert "other tools wrote" in markdown and "Latency p50" not in markdown
    report = report_of(run, real / "all0.json")
    assert report["environment"]["processor"] == "" and report["environment"]["hostname"] == ""
    csv = run("report", "latest", "--format", "csv").stdout.splitlines()
    assert len(csv) == 2


def test_the_run_is_kept_and_its_report_is_the_same_again(run, real):
    done = run("import", real / "all0.json", real / "basic0.json")
    assert done.returncode == 0 and "is stored in" in done.stderr
    assert run("report", "latest", "--operators", 25).stdout == done.stdout
    again = run("report", "latest", "--profile-files", "profiles")
    assert again.returncode == 0, again.stderr
    trace = json.loads((run.folder / "profiles/trace.json").read_text())
    assert any("fc" in event.get("name", "") for event in trace["traceEvents"])
    assert run("runs").returncode == 0 and run("history").returncode in (0, 2)
    assert run("report", "--html", "page.html").returncode == 0


def test_what_our_own_back_end_leaves_is_read_as_well(run):
    (run.folder / "a.json").write_text(json.dumps(
        {"format": "infermeter-operators", "version": 1, "source": "mine", "clock": "iteration", "iterations": 2,
         "operators": [{"name": "conv1", "kind": "Conv"}, {"name": "relu1", "kind": "Relu"}],
         "events": {"iteration": [0, 0, 1, 1], "op": [0, 1, 0, 1], "thread": [0, 0, 0, 0],
                    "begin_ns": [0, 5000, 0, 5000], "duration_ns": [4000, 1000, 4000, 1000]}}))
    table = table_of(report_of(run, "a.json"))
    assert [one["name"] for one in table["operators"]] == ["conv1", "relu1"]
    assert table["operators"][0]["mean_s"] == pytest.approx(4e-6) and table["wall_s"] == pytest.approx(6e-6)
    assert table["rest"]["mean_s"] == pytest.approx(1e-6)


@pytest.mark.parametrize("packed", [False, True])
def test_a_trace_of_torch(run, packed):
    text = (FIXTURES / "torch_small.json").read_bytes()
    name = write(run, "trace.json", gzip.compress(text) if packed else text)
    table = table_of(report_of(run, name))
    assert any(one["kind"] == "linear" for one in table["operators"])
    assert "infermeter_iteration" in table["sources"][0]["detail"]


TORCH = """
import sys, torch
from torch.profiler import ProfilerActivity, profile, schedule
model = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.ReLU())
with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=4, repeat=1),
                              on_trace_ready=lambda p: p.export_chrome_trace(sys.argv[1])) as profiler:
    for _ in range(6):
        model(torch.zeros(1, 16))
        profiler.step()
"""


def test_a_trace_with_steps_that_torch_writes_here(run):
    pytest.importorskip("torch")
    subprocess.run([sys.executable, "-c", TORCH, run.folder / "steps.json"], check=True, capture_output=True)
    report = report_of(run, "steps.json")
    assert 3 <= report["side_trials"][0]["iterations"] <= 4
    assert "ProfilerStep#" in table_of(report)["sources"][0]["detail"]
    assert {"linear", "relu"} <= {one["kind"] for one in table_of(report)["operators"]}


def test_counters_of_openvino_are_means(run):
    table = table_of(report_of(run, write(run, "benchmark_average_counters_report.csv", COUNTERS)))
    assert [(one["name"], one["kernel"], one["precision"]) for one in table["operators"]] == [
        ("fc1", "brgemm_avx512_f32", "float32"), ("relu1", "jit_avx512_f32", "float32")]
    assert table["operators"][0]["mean_s"] == pytest.approx(400e-6) and table["timeline"] is None
    assert table["wall_s"] == pytest.approx(500e-6) and table["profiled_p50_s"] is None  # a sum is no median


@pytest.mark.parametrize("text, samples", [(PERF, 1), (COLLAPSED, 2)])
def test_stacks_are_kept(run, text, samples):
    done = run("import", write(run, "stacks.txt", text))
    assert done.returncode == 0, done.stderr
    assert f"stacks: call stacks of {samples} sample" in done.stdout and "no_operator_profile" not in done.stdout
    assert run("report", "latest", "--operators", 25).stdout == done.stdout
    assert run("report", "--html", "page.html").returncode == 0


def test_operators_and_stacks_stand_beside_each_other(run, real):
    write(run, "stacks.txt", COLLAPSED)
    done = run("import", real / "all0.json", "stacks.txt")
    assert done.returncode == 0, done.stderr
    assert "call stacks of 2 samples" in done.stdout and "fc1" in done.stdout


def test_labels(run, real):
    (run.folder / "x=y,z.txt").write_text(COLLAPSED)
    (run.folder / "other").mkdir()
    (run.folder / "other/all0.json").write_bytes((real / "all0.json").read_bytes())
    report = report_of(run, "x=y,z.txt", real / "all0.json", "other/all0.json", f"mine={real / 'all1.json'}")
    assert [subject["label"] for subject in report["subjects"]] == ["x=y,z", "all0", "all0#2", "mine"]


# ---- What stands in the way ----


@pytest.mark.parametrize("arguments, sentence", [
    (["missing.json"], "cannot read 'missing.json': No such file or directory"),
    (["."], "'.' is not a regular file"),
    (["a="], "LABEL=FILE,FILE"),
    (["=stacks.txt"], "is not a label"),
    (["a=stacks.txt", "a=stacks.txt"], "two subjects have the label 'a'"),
    (["stacks.txt", "--compiled", "b=model.onnx"], "there is no subject 'b'"),
    (["stacks.txt", "other.txt", "--compiled", "model.onnx"], "--compiled LABEL=FILE"),
    (["stacks.txt", "--model", "stacks.txt"], "stacks.txt"),
    (["stacks.txt", "--batch-size", "0"], "--batch-size"),
    (["empty.txt"], "'empty.txt': it is not a profile that can be read: it is empty"),
    (["perf.data"], "`perf script -i FILE"),
    (["text.txt"], "nor does it hold times of hyperfine"),
    (["events.txt"], "several events"),
    (["/dev/zero"], "is not a regular file"),
])
def test_one_sentence(run, arguments, sentence):
    for name, text in (("stacks.txt", COLLAPSED), ("other.txt", COLLAPSED), ("empty.txt", ""), ("text.txt", "hello\n"),
                       ("perf.data", "PERFILE2"), ("events.txt", PERF + PERF.replace("cpu-clock", "page-faults"))):
        write(run, name, text)
    refused(run("import", *arguments), sentence)
    assert not (run.folder / "results").exists()


def test_a_graph_that_is_none(run):
    done = run("import", write(run, "stacks.txt", COLLAPSED), "--compiled", "stacks.txt")
    assert (done.returncode, done.stdout) == (3, "")  # as of any model that cannot be read
    assert done.stderr.startswith("infermeter: 'stacks.txt': the graph ") and done.stderr.count("\n") == 1


def test_without_a_file(run):
    done = run("import")
    assert done.returncode == 2 and "FILE" in done.stderr


def test_a_file_beyond_what_is_read(run):
    with open(run.folder / "large.json", "wb") as file:
        file.truncate((2 << 30) + 1)
    refused(run("import", "large.json"), "at most 2147483648 are read")


def test_a_packed_file_that_is_damaged(run):
    packed = bytearray(gzip.compress((FIXTURES / "torch_small.json").read_bytes()))
    packed[len(packed) // 2] ^= 0xFF
    done = run("import", write(run, "trace.json.gz", bytes(packed)))
    assert done.returncode in (0, 2) and done.stderr.count("\n") == 1  # what was unpacked before may be whole
    refused(run("import", write(run, "no.gz", b"\x1f\x8bno")), "damaged")


@pytest.mark.parametrize("part", range(1, 7))
@pytest.mark.parametrize("name", ["onnxruntime_mlp.json", "torch_small.json", "counters.csv"])
def test_cut_files_give_what_there_is_or_one_sentence(run, name, part):
    whole = COUNTERS.encode() if name == "counters.csv" else (FIXTURES / name).read_bytes()
    done = run("import", write(run, name, whole[:len(whole) * part // 7]))
    assert done.returncode in (0, 2)
    if done.returncode == 0:
        assert "profile_cut" in done.stdout and "the file ends early" in " ".join(done.stdout.split())
    else:
        refused(done, name)


def test_hostile_names_are_shown_and_steer_nothing(run):
    evil = "\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>\u202e|`$(x)`"
    events = [{"cat": "Session", "ph": "X", "name": "model_run", "tid": 1, "ts": 0, "dur": 100, "args": {}},
              {"cat": "Node", "ph": "X", "name": evil + "_kernel_time", "tid": 1, "ts": 10, "dur": 80,
               "args": {"op_name": evil, "provider": evil}}]
    raw = write(run, "evil.json", json.dumps(events, ensure_ascii=False))
    counters = write(run, "evil.csv", COUNTERS.replace("fc1", evil).replace("relu1", "\xff\xfe").encode("latin-1", "replace"))
    stacks = write(run, "evil.txt", f"main;{evil} 3\n".replace("\u202e", ""))
    done = run("import", raw, counters, stacks, "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", done.stdout + done.stderr)
    page = (run.folder / "page.html").read_text()
    assert "<script>alert(1)" not in page
    assert run("report", "latest", "--operators", 25).stdout == done.stdout
    for form in ("markdown", "csv", "json"):
        assert run("report", "latest", "--format", form).returncode == 0


def test_a_deep_or_endless_file_is_refused_at_once(run):
    refused(run("import", write(run, "deep.json", "[" * 200_000), timeout=20), "deep.json")
    refused(run("import", write(run, "deeper.json", '{"traceEvents":[' + '{"a":' * 200_000), timeout=20), "deeper.json")
    refused(run("import", write(run, "nodes.json", '{"avg_performance":' + '{"nodes":[' * 100_000), timeout=20), "nodes.json")


@pytest.mark.parametrize("name, text", [("cut.txt", COLLAPSED[:-1]), ("cut.perf", PERF + PERF[11:-20])])
def test_stacks_that_end_early_say_so(run, name, text):
    done = run("import", write(run, name, text))
    assert done.returncode == 0, done.stderr
    assert "ends early, or has more samples than are kept" in " ".join(done.stdout.split())
    report = report_of(run, name)
    (found,) = report["side_trials"][0]["diagnostics"]
    assert found["id"] == "profile_cut" and name in found["message"]
