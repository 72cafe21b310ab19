"""infermeter gate: what is expected of a run, its verdicts, files and exit codes."""

import json
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
# Processes differ by a hundredth of a percent, so that intervals are narrow and not of no width.
QUICK = "latency=constant:200us,process_spread=0.0001,seed=random"
SLOW = "latency=constant:600us,process_spread=0.0001,seed=random"
PLAN = f"""
[plan]
subjects = ["slow=mlp@fake,{SLOW},counters=hit_rate:0.9", "quick=mlp@fake,{QUICK},counters=hit_rate:0.9"]
processes = 3
iterations = 10
warmup = 1
"""


def write_gate(run, *expectations, plan=PLAN, name="gate.toml", head=""):
    (run.folder / name).write_text(f"{head}\nexpect = {json.dumps(expectations)}\n{plan}")


def gate(run, *arguments, name="gate.toml"):
    return run("gate", name, "--quiet", *arguments)


def verdicts(run, *arguments, code=0):
    """{(expectation, subject): verdict} of a gate in JSON."""
    done = gate(run, "--format", "json", *arguments)
    assert code is None or done.returncode == code, done.stderr + done.stdout
    return {(one["expectation"], one["subject"]): one for one in json.loads(done.stdout)["verdicts"]}


def stored_runs(run):
    return json.loads(run("runs", "--format", "json").stdout)


def measure(run, *subjects, processes=3):
    """The id of the new run. Of two that began in the same second, "latest" may be either."""
    before = run("runs", "--format", "json").stdout or "[]"
    done = run("run", *subjects, "--processes", processes, "--iterations", 10, "--warmup", 1, "--quiet")
    assert done.returncode == 0, done.stderr
    (new,) = {one["id"] for one in stored_runs(run)} - {one["id"] for one in json.loads(before)}
    return new


def name_baseline(run, name, stored):
    assert run("baseline", "set", name, stored).returncode == 0


def test_what_holds_passes(run):
    write_gate(run, "latency_p50_ms <= 100", "speedup >= 1.2", "peak_memory_mb < 2048", "outputs agree", "hit_rate >= 0.9",
               "model_size_mb < 100", "load_time_ms < 60s", "throughput_ips > 1")
    found = verdicts(run)
    assert {one["outcome"] for one in found.values()} == {"pass"}
    assert ("speedup >= 1.2", "slow") not in found and len(found) == 14
    speedup = found["speedup >= 1.2", "quick"]
    assert speedup["interval"]["low"] <= speedup["value"] <= speedup["interval"]["high"]
    assert (speedup["n"], speedup["n_of"], speedup["processes"]) == (60, "iterations", 6)
    assert [one["finished"] for one in stored_runs(run)] == [True]
    assert len(list((run.folder / "results/raw").iterdir())) == 1


def test_what_does_not_hold_fails_and_is_written_down(run):
    write_gate(run, "latency_p50_ms <= 100", "size_reduction >= 1000", "latency_p50 < 1us")
    done = gate(run, "--junit", "gate.xml", "--markdown", "gate.md")
    assert done.returncode == 1 and done.stderr == ""
    assert "2 passed, 3 FAILED" in done.stdout
    assert re.search(r"✗ FAIL +size_reduction >= 1000 ", done.stdout)
    suite = ElementTree.parse(run.folder / "gate.xml").getroot().find("testsuite")
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("gate.toml", "5", "3")
    failed = suite.findall("testcase[failure]")
    assert {(case.get("classname"), case.get("name")) for case in failed} == {
        ("quick", "size_reduction >= 1000"), ("slow", "latency_p50 < 1us"), ("quick", "latency_p50 < 1us")}
    assert all("bound" in case.find("failure").get("message") for case in failed)
    assert (run.folder / "gate.md").read_text().startswith("## ✗ gate.toml: 2 passed, 3 FAILED")
    assert gate(run, "--run", "latest", "--format", "markdown").stdout == (run.folder / "gate.md").read_text()


def test_what_cannot_be_told_fails_only_where_that_is_asked(run):
    write_gate(run, "latency_p99_ms <= 100", "psnr_difference_db < 1")
    found = verdicts(run)
    assert {one["outcome"] for one in found.values()} == {"inconclusive"}
    assert found["latency_p99_ms <= 100", "slow"]["reason"] == "needs 299 iterations (--iterations)"
    assert gate(run, "--run", "latest", "--fail-inconclusive").returncode == 5
    write_gate(run, "psnr_difference_db < 1", head="fail_inconclusive = true")
    assert gate(run, "--run", "latest").returncode == 5
    write_gate(run, "psnr_difference_db < 1", "latency_p50 < 1us", head="fail_inconclusive = true")
    done = gate(run, "--run", "latest", "--junit", "gate.xml")
    assert done.returncode == 1
    suite = ElementTree.parse(run.folder / "gate.xml").getroot().find("testsuite")
    assert (suite.get("failures"), suite.get("skipped")) == ("2", "1")  # the difference is asked of the second alone


def test_one_process_is_inconclusive(run):
    measure(run, f"a=mlp@fake,{QUICK}", processes=1)
    write_gate(run, "regression <= 10%", plan="")
    refused(gate(run), "gate.toml:2:12: a regression is against a baseline")
    write_gate(run, "latency_p50_ms <= 100", plan="")
    assert verdicts(run)["latency_p50_ms <= 100", "a"]["reason"] == "needs 2 processes for an interval (--processes 3)"


def test_a_stored_run_is_judged_without_measuring(run):
    first = measure(run, f"a=mlp@fake,{SLOW}", f"b=mlp@fake,{QUICK}")
    write_gate(run, "latency_p50_ms <= 100", plan="")
    assert {subject for _, subject in verdicts(run)} == {"a", "b"}
    second = measure(run, f"c=mlp@fake,{QUICK}")
    assert {subject for _, subject in verdicts(run, "--run", first)} == {"a", "b"}
    write_gate(run, "latency_p50_ms <= 100", plan="", head=f"run = '{first[:-1]}'")
    assert {subject for _, subject in verdicts(run)} == {"a", "b"}
    write_gate(run, "latency_p50_ms <= 100")  # with a plan, which --run beats
    assert {subject for _, subject in verdicts(run, "--run", second)} == {"c"}
    assert len(stored_runs(run)) == 2


def test_one_subject_can_be_meant(run):
    measure(run, f"a=mlp@fake,{SLOW}", f"b=mlp@fake,{QUICK}")
    (run.folder / "gate.toml").write_text("[[expectation]]\nthat = 'latency_p50_ms <= 100'\nsubject = 'b'\n")
    assert list(verdicts(run)) == [("latency_p50_ms <= 100", "b")]


def test_a_plan_file_is_found_beside_the_gate_file(run):
    (run.folder / "ci").mkdir()
    (run.folder / "ci/plan.toml").write_text(f"subjects = ['a=mlp@fake,{QUICK}']\nprocesses = 2\niterations = 5\nwarmup = 0\n")
    write_gate(run, "latency_p50_ms <= 100", plan="", head="plan = 'plan.toml'", name="ci/gate.toml")
    done = gate(run, "--output-dir", "elsewhere", name="ci/gate.toml")
    assert done.returncode == 0, done.stderr
    assert (run.folder / "elsewhere/infermeter.db").exists() and not (run.folder / "results").exists()


def test_a_subject_that_fails_is_reported_with_the_others(run):
    plan = f'[plan]\nsubjects = ["good=mlp@fake,{QUICK}", "bad=mlp@fake,{QUICK},crash=run:5"]\nprocesses = 2\niterations = 10\n' \
           "warmup = 1\n"
    write_gate(run, "latency_p50_ms <= 100", "model_size_mb <= 100", plan=plan)
    done = gate(run, "--junit", "gate.xml", "--format", "json")
    assert done.returncode == 4, done.stderr
    found = {(one["expectation"], one["subject"]): one for one in json.loads(done.stdout)["verdicts"]}
    assert found["latency_p50_ms <= 100", "good"]["outcome"] == "pass"
    for expectation in ("latency_p50_ms <= 100", "model_size_mb <= 100"):
        assert found[expectation, "bad"]["outcome"] == "fail"
        assert "crashed by signal 11" in found[expectation, "bad"]["reason"]
    suite = ElementTree.parse(run.folder / "gate.xml").getroot().find("testsuite")
    assert suite.get("failures") == "2"


def test_a_model_that_does_not_load_is_another_exit_code(run):
    plan = f'[plan]\nsubjects = ["bad=mlp@fake,{QUICK},fail=load"]\nprocesses = 1\niterations = 3\nwarmup = 0\n'
    write_gate(run, "latency_p50_ms <= 100", plan=plan)
    assert gate(run).returncode == 3


def test_regressions_are_against_a_named_run(run):
    quick = measure(run, f"a=mlp@fake,{QUICK}")
    name_baseline(run, "nightly", quick)
    write_gate(run, "regression <= 30%", "no regression beyond 30%", "regression(peak_memory) <= 50%", plan="",
               head="baseline = 'nightly'")
    assert "is this run itself" in verdicts(run)["regression <= 30%", "a"]["reason"]
    slow = measure(run, f"a=mlp@fake,{SLOW}")
    found = verdicts(run, "--run", slow, code=None)
    # On a disturbed machine nothing across runs fails, and the reason says so.
    disturbed = "disturbed" in found["regression <= 30%", "a"]["reason"]
    wanted = "inconclusive" if disturbed else "fail"
    assert found["regression <= 30%", "a"]["outcome"] == found["no regression beyond 30%", "a"]["outcome"] == wanted
    assert gate(run, "--run", slow).returncode == (0 if disturbed else 1)
    assert found["regression <= 30%", "a"]["value"] > 1
    assert found["regression(peak_memory) <= 50%", "a"]["outcome"] == "pass"
    name_baseline(run, "slow", slow)
    report = json.loads(gate(run, "--run", quick, "--baseline", "slow", "--format", "json").stdout)
    assert report["failed"] == 0 and report["passed"] == 3
    assert report["baseline"] == {"name": "slow", "run": slow}


def test_a_fresh_run_is_held_against_a_baseline_too(run):
    name_baseline(run, "nightly", measure(run, f"slow=mlp@fake,{SLOW}", f"quick=mlp@fake,{QUICK}"))
    write_gate(run, "regression <= 1000%", head="baseline = 'nightly'")
    assert {one["outcome"] for one in verdicts(run).values()} == {"pass"}
    assert len(stored_runs(run)) == 2


def test_a_baseline_that_is_not_like_for_like_tells_nothing(run):
    name_baseline(run, "nightly", measure(run, f"a=mlp@fake,{QUICK},executed_dtype=bfloat16"))
    new = measure(run, f"a=mlp@fake,{QUICK}")
    write_gate(run, "regression <= 10%", plan="", head="baseline = 'nightly'")
    found = verdicts(run, "--run", new)["regression <= 10%", "a"]
    assert found["outcome"] == "inconclusive" and "bfloat16 for 'nightly'" in found["reason"]


def test_the_pairs_of_a_comparison_decide(run):
    done = run("compare", f"a=mlp@fake,{QUICK}", f"b=mlp@fake,{SLOW}", "--iterations", 5, "--warmup", 1, "--quiet")
    assert done.returncode == 0, done.stderr
    write_gate(run, "regression <= 10%", "no regression beyond 2%", "speedup <= 0.9", "outputs agree", plan="")
    found = verdicts(run, code=1)
    assert {subject for _, subject in found} == {"b"}
    assert found["regression <= 10%", "b"]["outcome"] == found["no regression beyond 2%", "b"]["outcome"] == "fail"
    assert found["speedup <= 0.9", "b"]["outcome"] == "pass"
    regression = found["regression <= 10%", "b"]
    assert regression["n_of"] == "pairs" and regression["processes"] == 2 * regression["n"] >= 16


def test_a_plan_with_a_regression_and_no_baseline_is_a_comparison(run):
    plan = f'[plan]\nsubjects = ["base=mlp@fake,{QUICK}", "head=mlp@fake,{SLOW}"]\niterations = 5\nwarmup = 1\nmargin = "2%"\n'
    write_gate(run, "no regression beyond 2%", "regression(throughput) <= 1000%", plan=plan)
    found = verdicts(run, code=1)
    assert found["no regression beyond 2%", "head"]["outcome"] == "fail"
    assert found["no regression beyond 2%", "head"]["n_of"] == "pairs"
    assert found["regression(throughput) <= 1000%", "head"]["outcome"] == "pass"


def test_a_plan_is_run_as_often_as_reproducibility_wants(run):
    plan = f'[plan]\nsubjects = ["a=mlp@fake,{QUICK}"]\nprocesses = 3\niterations = 10\nwarmup = 1\n'
    write_gate(run, "reproducible over 3 runs within 1000%", "latency_p50_ms <= 100", plan=plan)
    found = verdicts(run)
    assert len(stored_runs(run)) == 3
    one = found["reproducible over 3 runs within 1000%", "a"]
    assert (one["outcome"], one["n"], one["n_of"], one["processes"]) == ("pass", 3, "runs", 9)
    write_gate(run, "reproducible over 3 runs within 1000%", plan="")
    assert verdicts(run)["reproducible over 3 runs within 1000%", "a"]["outcome"] == "pass"
    write_gate(run, "reproducible over 4 runs within 1000%", plan="")
    assert "and there are 3" in verdicts(run)["reproducible over 4 runs within 1000%", "a"]["reason"]


def test_an_interrupted_run_is_reported_and_cannot_be_judged_later(run, infermeter, environment):
    plan = '[plan]\nsubjects = ["a=mlp@fake,latency=constant:20ms,work=sleep"]\nprocesses = 3\niterations = 1000\nwarmup = 0\n'
    write_gate(run, "latency_p50_ms <= 1", plan=plan)
    process = subprocess.Popen([infermeter, "gate", "gate.toml", "--junit", "gate.xml"], env=environment, cwd=run.folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(200):
        if run("runs").returncode == 0:
            break
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "not finished" in out and "? inconclusive" in out
    suite = ElementTree.parse(run.folder / "gate.xml").getroot().find("testsuite")
    assert (suite.get("errors"), suite.get("tests")) == ("1", "2")
    refused(gate(run, "--run", "latest"), "is not finished, so that nothing can be expected of it", "--resume")


def test_what_is_finished_is_used_again_while_its_model_is_the_same_and_something_is_left_to_do(run):
    assert run("models", "build", "mlp", "m.onnx").returncode == 0
    plan = PLAN.replace("mlp@", "m.onnx@")
    write_gate(run, "latency_p50_ms <= 100", plan=plan)
    assert gate(run).returncode == 0
    (first,) = stored_runs(run)
    refused(gate(run, "--resume"), "nothing was interrupted", "Leave --resume out", f"--run {first['id']}")

    write_gate(run, "reproducible over 2 runs within 1000%", plan=plan)
    same = (run.folder / "m.onnx").read_bytes()
    (run.folder / "m.onnx").write_bytes(same + b"\x32\x01x")  # a doc_string
    refused(gate(run, "--resume"), f"run {first['id']} cannot be resumed: the file of model", "m.onnx' has changed since")
    (run.folder / "m.onnx").write_bytes(same)
    done = run("gate", "gate.toml", "--resume")
    assert done.returncode == 0 and f"run {first['id']} of " in done.stderr and "is used again" in done.stderr, done.stderr
    assert len(stored_runs(run)) == 2


def test_a_broken_model_file_is_told_before_anything_is_measured(run):
    (run.folder / "bad.onnx").write_text("garbage")
    write_gate(run, "latency_p50_ms <= 100", plan='[plan]\nsubjects = ["bad.onnx@fake", "mlp@fake"]\n')
    refused(gate(run, "--junit", "gate.xml"), "nothing was measured: ", "bad.onnx' is not a whole ONNX model")
    assert not (run.folder / "gate.xml").exists() and not (run.folder / "results").exists()


def refused(done, *fragments):
    assert done.returncode == 2, done.stderr + done.stdout
    assert done.stdout == ""
    assert done.stderr.startswith("infermeter: ") and done.stderr.count("\n") == 1, done.stderr
    for fragment in fragments:
        assert fragment in done.stderr


@pytest.mark.parametrize("text, fragments", [
    ("", ["gate.toml: it expects nothing"]),
    ("expect = [\n", ["gate.toml:"]),
    ("expect = ['latency_p9_ms <= 3']", ["gate.toml:1:12: unknown figure 'latency_p9_ms' (did you mean 'latency_p90_ms'?"]),
    ("expect = [\n  'outputs agree',\n  'latency_p50_ms <= 12%',\n]", ["gate.toml:3:24: latency_p50_ms takes ms", "not '%'"]),
    ("expect = ['latency_p50_ms <= nan']", ["gate.toml:1:30: a threshold is a finite number, got 'nan'"]),
    ("expect = ['regression <= 10']", ["gate.toml:1:28: regression takes a percentage: write 10%"]),
    ("expct = ['outputs agree']", ["gate.toml:1:1: unknown key 'expct' (did you mean 'expect'?)"]),
    ("expect = ['outputs agree']\nplan = 'nosuch.toml'", ["plan file nosuch.toml cannot be read"]),
    ("expect = ['outputs agree']\n[plan]\niteratons = 3", ["gate.toml:3:1: unknown key 'iteratons' (did you mean 'iterations'?)"]),
    ("expect = ['outputs agree']\n[plan]\nsubjects = ['mlp@fak']", ["this is about a subject and the first one of its group"]),
    ("expect = ['speedup >= 3']\n[plan]\nsubjects = ['a=mlp@fak', 'b=mlp@fake']", ["unknown back end 'fak'"]),
    ("expect = ['regression <= 10%']\n[plan]\nsubjects = ['mlp@fake']", ["compar"]),
    ("expect = ['regression <= 10%']\n[plan]\nsubjects = ['mlp@fake', 'mlp@openvino']\nmetric = 'p5'", ["no metric 'p5' (did you mean"]),
    ("expect = ['regression <= 10%']\nbaseline = 'nightly'\n[plan]\nsubjects = ['mlp@fake']", ["results/infermeter.db"]),
    ("expect = ['no leak']\nrun = 'latest'", ["results/infermeter.db"]),
    ("[[expectation]]\nthat = 'latency_p50_ms <= 3'\nsubject = 'resnet'\n[plan]\nsubjects = ['resnt=mlp@fake']",
     ["gate.toml:3:12: no subject is called 'resnet' (did you mean 'resnt'?)"]),
])
def test_bad_input_is_refused_before_anything_is_measured(run, text, fragments):
    (run.folder / "gate.toml").write_text(text)
    refused(run("gate", "gate.toml"), *fragments)
    assert not (run.folder / "results").exists()


def test_flags_that_cannot_be_followed(run):
    refused(run("gate"), "FILE is required")
    refused(run("gate", "nosuch.toml"), "gate file nosuch.toml cannot be read")
    write_gate(run, "latency_p50_ms <= 100")
    refused(gate(run, "--format", "csv"), "a gate has no csv report: --format takes table, json or markdown here")
    (run.folder / "gate.xml").write_text("earlier")
    refused(gate(run, "--junit", "gate.xml"), "gate.xml exists already: --force writes over it")
    assert not (run.folder / "results").exists()
    assert gate(run, "--junit", "gate.xml", "--force").returncode == 0
    assert (run.folder / "gate.xml").read_text().startswith("<?xml")
    refused(gate(run, "--run", "1999"), "1999")
    assert run("baseline", "set", "nightly", "latest").returncode == 0
    refused(gate(run, "--baseline", "nigthly"), "no baseline 'nigthly' (did you mean 'nightly'?)")


def toml_blocks():
    return re.findall(r"```toml\n(.*?)```", (SOURCE / "docs/gate.md").read_text(), re.S)


@pytest.mark.parametrize("number", range(len(toml_blocks())))
def test_the_documented_files_can_be_read(run, number):
    (run.folder / "gate.toml").write_text(toml_blocks()[number])
    done = run("gate", "gate.toml", "--run", "nosuch")
    assert done.returncode == 2 and "results/infermeter.db" in done.stderr
