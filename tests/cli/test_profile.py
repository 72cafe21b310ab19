"""`infermeter profile` and --profile: on operators whose times are known (the fake back end), and on ONNX Runtime."""

import json

import pytest

OPERATORS = "operators=Conv:conv1:400us:c1:kernel_a:float32:NCHW+Relu:relu1:100us+Gemm:fc:200us,operator_gap=10us"
A = f"a=mlp@fake,{OPERATORS}"
SHORT = ("--processes", 2, "--iterations", 10, "--warmup", 2, "--profile-iterations", 8)


@pytest.fixture
def profiled(run):
    """profiled(subject…) -> the JSON report."""

    def call(*arguments, verb="profile", code=0):
        done = run(verb, *arguments, "--format", "json", "--quiet")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    return call


def test_operators_come_with_their_scripted_times_and_add_up(profiled):
    report = profiled(A, *SHORT, "--profile-processes", 3)
    (subject,) = report["profile"]["subjects"]
    table = subject["table"]
    assert subject["processes"] == subject["asked"] == 3 and subject["left_out"] == 0
    assert [one["name"] for one in table["operators"]] == ["conv1", "fc", "relu1"]  # slowest first
    for one, scripted_s in zip(table["operators"], (400e-6, 200e-6, 100e-6)):
        assert one["mean_s"] == pytest.approx(scripted_s, abs=2e-9)
        assert one["calls"] == 1
    assert sum(one["mean_s"] for one in table["operators"]) + table["rest"]["mean_s"] == pytest.approx(
        table["wall_s"], abs=1e-9)
    assert table["operators"][0]["kernel"] == "kernel_a" and table["operators"][0]["layout"] == "NCHW"
    assert {trial["purpose"] for trial in report["side_trials"]} == {"profile"}
    assert report["profile"]["peaks"]["threads"] >= 1


def test_without_profile_nothing_is_profiled(profiled):
    report = profiled(A, "--processes", 1, "--iterations", 5, "--warmup", 1, verb="run")
    assert report["profile"] is None and report["side_trials"] == []


def test_a_planted_delay_is_the_reason(profiled, run):
    report = profiled(A, f"b=mlp@fake,{OPERATORS},delay=fc:150us", *SHORT, "--profile-processes", 6)
    (why,) = report["profile"]["explanations"]
    assert why["reason"] == "" and why["pairs"] == 6
    assert sum(group["mean_s"] for group in why["groups"]) == pytest.approx(why["difference_s"], abs=1e-9)
    largest = why["groups"][0]
    assert largest["kind"] == "Gemm" and largest["mean_s"] == pytest.approx(150e-6, abs=2e-6) and largest["separable"]
    assert why["clauses"][0]["groups"] == [0]
    text = run("report").stdout
    assert "why b against a: " in " ".join(text.split())
    assert "(rest)" in text and "conv1" in text
    assert run("report").stdout == text


def test_the_profile_is_kept_and_the_text_is_the_same_again(run):
    done = run("profile", A, *SHORT, "--profile-processes", 2)
    assert done.returncode == 0, done.stderr
    assert "[profile] a" in done.stderr and "at best" in done.stderr
    assert run("report", "latest", "--operators", 25).stdout == done.stdout
    few = run("report", "latest", "--operators", 1).stdout
    assert "(2 others)" in few and "conv1" in few


@pytest.mark.parametrize("kind, said", [("none", "no profile of operators"), ("hostile", "no_operator_profile")])
def test_a_back_end_that_tells_nothing_is_said_and_the_times_stand(run, kind, said):
    done = run("profile", f"{A},profile={kind}", *SHORT, "--profile-processes", 1, "--quiet")
    assert done.returncode == 0, done.stderr
    assert said in done.stdout and "Latency p50" in done.stdout


def test_a_profile_that_is_cut_is_kept_as_far_as_it_goes(run, profiled):
    report = profiled(f"{A},profile=cut", *SHORT, "--profile-processes", 1)
    assert [one["name"] for one in report["profile"]["subjects"][0]["table"]["operators"]] == ["conv1", "fc", "relu1"]
    assert "profile_cut" in run("report").stdout


def test_a_worker_that_dies_while_it_is_profiled_takes_nothing_away(run):
    done = run("profile", f"{A},crash=profile", *SHORT, "--profile-processes", 1, "--quiet")
    assert done.returncode == 0, done.stderr  # the timed trials are whole
    text = " ".join(done.stdout.split())
    assert "a profile trial crashed" in text and "no_operator_profile" in text


def test_means_only_are_a_table_too(profiled):
    report = profiled(f"{A},profile=means", *SHORT, "--profile-processes", 2)
    table = report["profile"]["subjects"][0]["table"]
    assert table["operators"][0]["mean_s"] == pytest.approx(400e-6, abs=2e-9) and table["timeline"] is None


@pytest.mark.parametrize("flags, said", [
    (("--profile-processes", "0"), "--profile-processes"),
    (("--profile-iterations", "0"), "--profile-iterations"),
    (("--profile-iterations", "1001"), "--profile-iterations"),
    (("--operators", "x"), "--operators"),
])
def test_numbers_that_cannot_be(run, flags, said):
    done = run("profile", A, *flags)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_onnx_runtime_tells_every_node_of_the_model(profiled):
    pytest.importorskip("onnxruntime")
    report = profiled("mlp@onnxruntime", *SHORT, "--profile-processes", 2)
    table = report["profile"]["subjects"][0]["table"]
    owned = [node for one in table["operators"] for node in one["nodes"]]
    assert len(owned) == len(set(owned)) >= 3
    assert all(one["flops"] is not None and one["rule"] in ("exact", "tensor", "suffix") for one in table["operators"])
    # Each of its 3,498 weights but the 106 biases is multiplied and added once.
    assert sum(one["flops"] for one in table["operators"]) == 2 * (3498 - 106)
    assert {source["name"]: source["available"] for source in table["sources"]}["operators"]


def test_compare_can_profile_too(profiled):
    report = profiled(A, f"b=mlp@fake,{OPERATORS}", "--iterations", 10, "--warmup", 2, "--max-pairs", 8, "--profile",
                      "--profile-processes", 3, "--profile-iterations", 5, verb="compare")
    assert report["comparison"]["pairs"] == 8
    assert report["profile"]["explanations"][0]["pairs"] == 3
