"""What workers are given beside their model: options whose order does not matter, options for several requests, variables."""

import json

import pytest


def measured(run, *arguments):
    done = run("run", *arguments, "--processes", 1, "--iterations", 5, "--warmup", 1, "--quiet", "--format", "json")
    record = json.loads(done.stdout)
    labels = [subject["label"] for subject in record["plan"]["subjects"]]
    return record, {labels[trial["subject"]]: trial for trial in record["trials"]}


def test_streams_that_are_asked_for_are_executed_whatever_the_order(run):
    record, trials = measured(run, "a=mlp@openvino,num_streams=1,performance_hint=throughput",
                              "b=mlp@openvino,performance_hint=throughput,num_streams=1", "c=mlp@openvino,num_streams=2")
    assert [trials[label]["executed"]["streams"] for label in "abc"] == ["1", "1", "2"]
    flagged = [found["about"] for found in record["diagnostics"] if found["id"] == "one_request_at_a_time"]
    assert flagged == ["c"]


def test_an_answer_says_that_one_request_at_a_time_was_measured(run):
    done = run("run", "many=mlp@fake,concurrent_inferences=4", "one=mlp@fake", "--processes", 2, "--iterations", 5, "--warmup", 1)
    assert "was measured one request at a time" in " ".join(done.stdout.split())
    assert "one_request_at_a_time" in done.stdout


def test_workers_get_the_variables_that_are_given_and_no_others(run):
    record, trials = measured(run, "mlp@fake,variable=LD_LIBRARY_PATH", "--env", "LD_LIBRARY_PATH=/opt/runtime/lib")
    (subject,), (trial,) = record["plan"]["subjects"], trials.values()
    assert subject["environment"] == {"LD_LIBRARY_PATH": "/opt/runtime/lib"}
    assert trial["executed"]["variable"] == "/opt/runtime/lib"
    _, trials = measured(run, "a=mlp@fake,variable=OMP_WAIT_POLICY", "b=mlp@fake,variable=OMP_WAIT_POLICY,env.OMP_WAIT_POLICY=PASSIVE")
    assert "variable" not in trials["a"]["executed"] and trials["b"]["executed"]["variable"] == "PASSIVE"


@pytest.mark.parametrize("name", ["LD_PRELOAD", "OMP_TOOL_LIBRARIES", "CUDA_INJECTION64_PATH"])
def test_a_plan_file_brings_no_variable_by_which_code_could_come(run, name):
    (run.folder / "plan.toml").write_text(f'subjects = ["mlp@fake"]\nenv = {{ {name} = "/tmp/x.so" }}\n')
    done = run("run", "--plan", "plan.toml")
    assert done.returncode == 2 and f"give --env {name}=" in done.stderr
