"""Call stacks in profile trials: of the fake back end, whose functions have names, by each way of sampling, and on real ones."""

import ctypes
import json
import platform
import sqlite3
import struct

import pytest

# 10 ms of sums per inference, in a function of the back end's own.
BUSY = "a=mlp@fake,compute=5000000,operators=Conv:conv1:1ms"
SHORT = ("--processes", 1, "--iterations", 2, "--warmup", 1, "--profile-processes", 1, "--profile-iterations", 20,
         "--quiet")
SYSTEM_CALLS = {"x86_64": (0xC000003E, {"perf_event_open": 298, "setitimer": 38}),
                "aarch64": (0xC00000B7, {"perf_event_open": 241, "setitimer": 103})}
EACCES = 13


def refuse(*names):
    """For preexec_fn: the kernel answers these calls with EACCES, to the process and all that it starts."""
    machine, numbers = SYSTEM_CALLS[platform.machine()]
    load, equal, give = 0x20, 0x15, 0x06
    wrong = [(equal, 0, 1, numbers[name]) for name in names]
    program = [(load, 0, 0, 4), (equal, 1, 0, machine), (give, 0, 0, 0x7FFF0000), (load, 0, 0, 0)]
    for test in wrong:
        program += [test, (give, 0, 0, 0x00050000 | EACCES)]
    program.append((give, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)

    def apply():
        assert code  # it has to live as long as this
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, header, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no filter")

    return apply


@pytest.fixture
def sampled(run):
    """sampled(subject, …) -> (the report as JSON, what the store holds of stacks)."""

    def call(*arguments, preexec_fn=None):
        done = run("profile", *SHORT, *arguments, "--format", "json", "--output-dir", "results", preexec_fn=preexec_fn)
        assert done.returncode == 0, done.stderr
        with sqlite3.connect(run.folder / "results/infermeter.db") as database:
            rows = database.execute("SELECT stacks FROM stacks WHERE run = ?", (json.loads(done.stdout)["id"],)).fetchall()
        return json.loads(done.stdout), [json.loads(text) for (text,) in rows]

    return call


def said(report):
    return {one["id"]: one["message"] for trial in report["side_trials"] for one in trial["diagnostics"]}


def symbols(sampled_at):
    frames = sampled_at["stacks"]["frames"]
    return {frames[frame].get("symbol", "") for one in sampled_at["stacks"]["samples"] for frame in one["frames"]}


def innermost(sampled_at):
    frames = sampled_at["stacks"]["frames"]
    return [frames[one["frames"][-1]] for one in sampled_at["stacks"]["samples"]]


def expect_sums(sampled_at):
    at = [frame.get("symbol", "") for frame in innermost(sampled_at)]
    assert at and sum("Computation::run" in symbol for symbol in at) > len(at) / 2, at[:10]
    assert all(one.get("iteration", 0) < 20 for one in sampled_at["stacks"]["samples"])


@pytest.fixture
def perf(sampled):
    """Skips where the kernel refuses to sample."""
    report, _ = sampled(BUSY)
    if "stacks_by_signal" in said(report) or "no_stack_profile" in said(report):
        pytest.skip(str(said(report)))


def test_functions_are_named(perf, sampled):
    report, found = sampled(BUSY)
    assert found[0]["method"] == "perf_event" and "499 Hz" in found[0]["detail"]
    assert found[0]["stacks"]["threads"] == ["main"]
    expect_sums(found[0])
    assert "stacks_not_joined" not in said(report)


def test_stacks_are_unwound_to_the_programs_begin(perf, sampled):
    _, found = sampled(BUSY, "--stacks", "dwarf")
    assert found[0]["method"] == "perf_event_dwarf"
    expect_sums(found[0])
    assert any("main" in symbol for symbol in symbols(found[0]))
    assert max(len(one["frames"]) for one in found[0]["stacks"]["samples"]) > 5


def test_without_perf_the_worker_samples_itself(sampled, run):
    report, found = sampled(BUSY, "--stacks", "auto", preexec_fn=refuse("perf_event_open"))
    assert "perf_event_open was refused (EACCES" in said(report)["stacks_by_signal"]
    assert "stacks_by_signal" in run("report").stdout
    assert found[0]["method"] == "sigprof" and "perf_event_open was refused" in found[0]["detail"]
    expect_sums(found[0])


def test_without_either_it_says_so_and_the_times_stand(sampled, run):
    report, found = sampled(BUSY, preexec_fn=refuse("perf_event_open", "setitimer"))
    assert "EACCES" in said(report)["no_stack_profile"] and "no_stack_profile" in run("report").stdout
    assert found == [] and "stacks_by_signal" not in said(report)
    assert report["profile"]["subjects"][0]["table"]["operators"][0]["name"] == "conv1"


def test_off_is_off(sampled):
    report, found = sampled(BUSY, "--stacks", "off")
    assert found == [] and not {"no_stack_profile", "stacks_by_signal"} & set(said(report))


def test_samples_lie_in_the_operators_that_the_runtime_tells_of(perf, sampled):
    """ONNX Runtime stamps its events by another clock than the kernel its samples."""
    pytest.importorskip("onnxruntime")
    report, found = sampled("mobilenet_v3_small@onnxruntime", "--threads", 1, "--profile-iterations", 200)
    samples = found[0]["stacks"]["samples"]
    if "stacks_not_joined" in said(report):
        pytest.skip(said(report)["stacks_not_joined"])
    with_operator = [one for one in samples if one.get("op") is not None]
    assert len(with_operator) > 0.8 * len(samples)
    assert "% within an operator" in found[0]["detail"]


def test_generated_code_has_its_names(perf, sampled):
    pytest.importorskip("openvino")
    _, found = sampled("mobilenet_v3_small@openvino", "--threads", 1, "--profile-iterations", 200)
    generated = [frame for frame in innermost(found[0]) if frame.get("module") == "[jit]"]
    assert generated
    assert sum(bool(frame.get("symbol")) for frame in generated) > 0.5 * len(generated)
