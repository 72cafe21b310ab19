"""measure(): a callable timed as a Python loop would time it, and everything around it left as it is."""

import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest


def test_it_is_called_as_often_as_was_asked(im):
    calls = []
    samples = im.measure(lambda: calls.append(None), warmup=3, iterations=40, items_per_iteration=8)
    assert len(calls) == 1 + 3 + 40 and len(samples) == 40 and len(samples.warmup_begin_s) == 3
    assert (samples.end, samples.phase, samples.items_per_iteration) == ("ok", "done", 8)
    assert len(im.measure(lambda: None)) == 100
    throughput = samples.summary().metric("throughput").value
    assert throughput == pytest.approx(40 * 8 / samples.latencies_s.sum(), rel=1e-9)


def test_times_are_those_of_the_call(im):
    """Against the times that the callable itself reads, which lie within the measured ones."""
    own = []

    def busy():
        begin = time.perf_counter()
        while time.perf_counter() - begin < 300e-6:
            pass
        own.append(time.perf_counter() - begin)

    samples = im.measure(busy, warmup=2, iterations=50)
    inside = numpy.array(own[-50:])
    assert (samples.latencies_s >= inside * 0.999).all()
    assert numpy.median(samples.latencies_s - inside) < 150e-6  # two calls in one iteration would be 300 more


def test_until_a_duration_is_over(im):
    samples = im.measure(lambda: sum(range(2000)), warmup=1, duration_s=0.05)
    assert samples.latencies_s.sum() >= 0.05 * 0.999 and samples.latencies_s[:-1].sum() < 0.05 * 1.001


def test_exceptions_pass_through_as_they_are(im):
    class Own(ValueError):
        def __init__(self):
            super().__init__("mine")
            self.extra = 7

    raised = Own()
    calls = []

    def fail():
        calls.append(None)
        if len(calls) == 7:
            raise raised

    with pytest.raises(Own) as caught:
        im.measure(fail, warmup=2, iterations=50)
    assert caught.value is raised and len(calls) == 7 and not hasattr(raised, "samples")
    assert caught.traceback[-1].name == "fail"


def test_results_are_dropped_within_the_call(im):
    """As in a loop: what a call returns lives no longer than until the next."""
    alive, most = [0], [0]

    class Output:
        def __init__(self):
            alive[0] += 1
            most[0] = max(most[0], alive[0])

        def __del__(self):
            alive[0] -= 1

    im.measure(Output, warmup=2, iterations=10)
    assert (alive[0], most[0]) == (0, 1)


def test_other_threads_have_their_turns(im):
    """A thread that needs the interpreter's lock continues while a callable that never gives it up is measured."""
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted[0]
        im.measure(lambda: sum(range(20_000)), warmup=0, iterations=200)
        during = counted[0] - before
    finally:
        stop.set()
        thread.join()
    assert during > 1000


def test_views_outlive_the_samples(im):
    samples = im.measure(lambda: None, warmup=0, iterations=1000)
    latencies, expected = samples.latencies_s, samples.latencies_s.tolist()
    assert latencies.ctypes.data == samples.latencies_s.ctypes.data
    del samples
    assert latencies.tolist() == expected


WRONG = [
    ({"iterations": 0}, "iterations: expected a number of at least 1, got 0"),
    ({"warmup": -1}, "warmup: expected a number of at least 0, got -1"),
    ({"duration_s": 0}, "duration_s: expected a time above 0, in seconds, got 0"),
    ({"duration_s": float("nan")}, "duration_s: expected a time above 0, in seconds, got nan"),
    ({"iterations": 3, "duration_s": 1}, "'iterations' and 'duration_s' exclude each other"),
    ({"items_per_iteration": 0}, "items_per_iteration: expected a number of at least 1, got 0"),
]


@pytest.mark.parametrize("settings, sentence", WRONG)
def test_what_does_not_fit_is_refused(im, settings, sentence):
    with pytest.raises(im.UsageError) as caught:
        im.measure(lambda: None, **settings)
    assert str(caught.value) == sentence


def test_only_callables(im):
    with pytest.raises(im.UsageError, match="can be called without arguments, got a int"):
        im.measure(7)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        im.measure(lambda x: x)


INTERRUPTED = """
import infermeter, time
calls = []
def work():
    calls.append(None)
    if len(calls) == 5:
        print("measuring", flush=True)
    {body}
try:
    infermeter.measure(work, warmup=0, iterations=100_000)
except KeyboardInterrupt as interrupt:
    print(interrupt.samples.end, len(interrupt.samples), len(calls))
"""


@pytest.mark.parametrize("body", ["time.sleep(0.005)", "sum(range(20_000))"])
def test_ctrl_c_keeps_what_was_measured(package_dir, environment, run, body):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(body=body)], cwd=run.folder, text=True,
                               env=environment | {"PYTHONPATH": str(package_dir)}, stdout=subprocess.PIPE)
    assert process.stdout.readline() == "measuring\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    end, measured, calls = out.split()
    assert (process.returncode, end) == (0, "interrupted")
    assert int(calls) - 2 <= int(measured) <= int(calls) - 1  # less the untimed first, and the one that was cut short
