"""The plug-in of pytest: tests that measure, run by a pytest of their own."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

FAST, SLOW = "a=mlp@fake,latency=normal:100us:1us", "b=mlp@fake,latency=normal:130us:1us"
SHORT = "iterations=20, warmup=1"


@pytest.fixture
def pytest_on(package_dir, run):
    """pytest_on(text of a test file, options…) -> the CompletedProcess."""

    def call(text, *options, code):
        (run.folder / "test_speed.py").write_text(text)
        environment = {**os.environ, "PYTHONPATH": str(package_dir), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
        done = subprocess.run([sys.executable, "-m", "pytest", "-p", "infermeter.pytest_plugin", "-p", "no:cacheprovider", "-q", *options],
                              cwd=run.folder, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout

    return call


def test_a_test_fails_on_a_regression_and_says_by_how_much(pytest_on):
    reported = pytest_on(f"def test_speed(infermeter):\n    infermeter.compare({FAST!r}, {SLOW!r}, {SHORT}, max_pairs=16)\n", code=1)
    assert re.search(r"b is (2[89]|3\d)\.?\d* % slower than a on mlp .*95 % interval", reported), reported
    assert "test_speed.py" in reported and "pytest_plugin.py" not in reported


def test_what_is_faster_or_within_the_margin_passes_and_is_told(pytest_on, run):
    text = (f"def test_speed(infermeter):\n    infermeter.compare({SLOW!r}, {FAST!r}, {SHORT}, max_pairs=16)\n"
            f"def test_margin(infermeter):\n    infermeter.compare({FAST!r}, {SLOW!r}, {SHORT}, margin='80%', max_pairs=16)\n"
            "def test_other():\n    pass\n")
    reported = pytest_on(text, "--junit-xml", "junit.xml", code=0)
    assert "3 passed" in reported and "test_speed.py::test_speed\n  a is" in reported and "faster than b" in reported, reported
    cases = {case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")}
             for case in ElementTree.parse(run.folder / "junit.xml").iter("testcase")}
    assert cases["test_other"] == {}
    speed = cases["test_speed"]
    assert speed["infermeter.a.latency_p50.direction"] == "faster"
    change, low, high = map(float, re.fullmatch(r"(\S+) \[(\S+), (\S+)\]", speed["infermeter.a.latency_p50.log_change"]).groups())
    assert low <= change <= high and -0.30 < change < -0.22  # ln(100 / 130) = -0.262
    assert (run.folder / ".infermeter/infermeter.db").exists()
    assert run("runs", "--output-dir", ".infermeter").stdout.count(speed["infermeter.run"]) == 1


def test_gates_fail_with_the_figure_its_interval_and_the_reason(pytest_on):
    text = ("def test_gate(infermeter):\n"
            f"    infermeter.gate({FAST!r}, expect=['latency_p50 <= 10ms', 'latency_p50 <= 50us'], {SHORT}, processes=3)\n")
    reported = pytest_on(text, code=1)
    failures = reported.split("= infermeter =")[0]
    assert "latency_p50 <= 50us" in failures and "latency_p50 <= 10ms" not in failures, reported
    assert re.search(r"pass: latency_p50 <= 10ms, a: [\d.]+ .s", reported), reported
    assert re.search(r"fail: latency_p50 <= 50us, a: [\d.]+ .s .*violates the bound", reported), reported


@pytest.mark.parametrize("option, code, word", [(None, 0, "InfermeterWarning"), ("fail", 1, "undecided"), ("pass", 0, "")])
def test_what_is_undecided(pytest_on, option, code, word):
    # Six pairs cannot decide, whatever comes: the least p of the signed-rank test is 1/32.
    noisy = [f"{name}=mlp@fake,latency=lognormal:100us:0.5" for name in "ab"]
    text = (f"def test_speed(infermeter):\n    infermeter.compare({noisy[0]!r}, {noisy[1]!r}, {SHORT}, max_pairs=6, alpha=0.01, margin=0.0001)\n")
    reported = pytest_on(text, *(["--infermeter-undecided", option] if option else []), code=code)
    assert word in reported, reported
    assert ("InfermeterWarning" in reported) == (option is None)


def test_a_subject_that_fails_and_outputs_that_differ_fail_the_test(pytest_on):
    text = (f"def test_run(infermeter):\n    infermeter.run({FAST!r}, 'c=mlp@fake,crash=run:3', {SHORT}, processes=1)\n"
            f"def test_outputs(infermeter):\n    infermeter.run('a=mlp@fake', 'd=mlp@fake,output_error=0.5', {SHORT}, processes=1)\n"
            f"def test_same(infermeter):\n    infermeter.validate('a=mlp@fake', 'b=mlp@fake')\n"
            f"def test_not_same(infermeter):\n    infermeter.validate('a=mlp@fake', 'd=mlp@fake,output_error=0.5')\n")
    reported = pytest_on(text, code=1)
    assert "3 failed, 1 passed" in reported, reported
    assert "c did not finish in 1 of 1 trial" in reported and "outputs DIFFER" in reported and "10 of 10 samples beyond" in reported, reported


def test_what_is_wrong_with_a_request_is_the_sentence(pytest_on):
    reported = pytest_on("def test_speed(infermeter):\n    infermeter.compare('mlp@fake', 'mlp@nothing')\n", code=1)
    assert "UsageError" in reported and "nothing" in reported
    reported = pytest_on("def test_speed(infermeter):\n    infermeter.run('mlp@fake', output_dir='x')\n", code=1)
    assert "infermeter_dir" in reported


@pytest.mark.parametrize("call, said", [
    ("gate({0!r}, expect=['latncy_p50 <= 5ms'])", "latncy_p50"),
    ("gate({0!r}, expect=[])", "expect"),
    ("gate({0!r}, expect='latency_p50 <= 5ms', undecided='foo')", "undecided is 'fail', 'warn' or 'pass', and not 'foo'"),
    ("compare({0!r}, {0!r}, undecided='foo')", "and not 'foo'"),
    ("validate({0!r}, {0!r}, undecided='foo')", "and not 'foo'"),
])
def test_what_is_wrong_is_said_before_anything_is_measured(pytest_on, run, call, said):
    reported = pytest_on(f"def test_it(infermeter):\n    infermeter.{call.format('mlp@fake')}\n", code=1)
    assert "UsageError" in reported and said in reported
    assert not (run.folder / ".infermeter").exists()


def test_one_text_is_one_expectation(pytest_on):
    text = f"def test_gate(infermeter):\n    infermeter.gate({FAST!r}, expect='latency_p50 <= 10ms', {SHORT}, processes=3)\n"
    assert "pass: latency_p50 <= 10ms" in pytest_on(text, code=0)


def test_a_wrong_option_of_the_ini_file_is_refused(pytest_on):
    pytest_on("def test_other():\n    pass\n", "-o", "infermeter_undecided=foo", code=4)


def test_tests_that_measure_are_marked(pytest_on):
    text = f"def test_speed(infermeter):\n    infermeter.run({FAST!r}, {SHORT}, processes=1)\ndef test_other():\n    pass\n"
    assert "1 passed, 1 deselected" in pytest_on(text, "-m", "not infermeter", "--strict-markers", code=0)


def test_workers_of_xdist_measure_one_after_the_other_and_all_is_told(pytest_on, run, im):
    pytest.importorskip("xdist")
    test = "def test_{0}(infermeter):\n    infermeter.run('m{0}=mlp@fake,latency=constant:1ms,work=sleep', iterations=100, warmup=0, processes=1)\n"
    reported = pytest_on("".join(test.format(i) for i in range(4)), "-p", "xdist.plugin", "-n", "2", "--junit-xml", "junit.xml", code=0)
    assert "4 passed" in reported
    runs = {each.get("value") for each in ElementTree.parse(run.folder / "junit.xml").iter("property") if each.get("name") == "infermeter.run"}
    assert len(runs) == 4
    times = sorted((samples.started_at, samples.started_at + samples.wall_s) for name in runs
                   for samples in im.load(name, output_dir=run.folder / ".infermeter").samples)
    assert all(before[1] <= after[0] for before, after in zip(times, times[1:])), times
