"""Python code in profile trials: which frames py-spy, cProfile and pyinstrument tell, in workers and of live objects."""

import importlib.util
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

METHODS = ["py-spy", "cprofile", "pyinstrument"]
SHORT = {"warmup": 1, "iterations": 5, "processes": 1, "profile_processes": 1}

MODEL = '''
import time
import numpy as np

def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass

def short():
    spin(0.001)

def long():
    spin(0.019)

def forward(x):
    short()
    long()
    return x

def make():
    return forward

def make_broken():
    calls = []
    def call(x):
        calls.append(x)
        if len(calls) > 8:
            raise ValueError("the ninth is one too many")
        return x
    return call
'''
SUBJECT = "m=model.py:make@python,input_shape=1x4"


def installed(method):
    if method == "py-spy" and not (Path(sys.executable).parent / "py-spy").exists():
        pytest.skip("py-spy is not installed: scripts/setup --tests")
    if method == "pyinstrument" and importlib.util.find_spec("pyinstrument") is None:
        pytest.skip("pyinstrument is not installed: scripts/setup --tests")
    return method


@pytest.fixture
def profiled(im, run):
    """profiled("cprofile") -> the record of a profiled run of MODEL."""

    def call(method, subject=SUBJECT, **settings):
        (run.folder / "model.py").write_text(MODEL)
        settings = SHORT | {"profile_iterations": 20} | settings
        return im.run(subject, profile=True, python_profiler=method, stacks="off", allow_code=True, **settings)

    return call


def said(record):
    return [d.message for samples in record.side_samples for d in samples.diagnostics if d.id == "no_python_profile"]


def within(stacks, function):
    """The weight of the samples in which a function is on the stack."""
    return sum(weight for _, frames, weight in stacks.samples if any(f.startswith(f"{function} (") for f in frames))


@pytest.mark.parametrize("method", METHODS)
def test_the_functions_of_a_model_are_told_with_their_share(profiled, method):
    record = profiled(installed(method), profile_processes=2)
    assert said(record) == []
    assert [(s.position, s.method, s.is_python, s.cut) for s in record.stacks] == \
        [(position, method.replace("-", "_"), True, False) for position in (0, 1)]
    for stacks in record.stacks:
        assert {thread for thread, _, _ in stacks.samples} == {"MainThread"}
        assert within(stacks, "long") > within(stacks, "short")  # 19 to 1
        for _, frames, _ in stacks.samples:
            if any(frame.startswith("spin (") for frame in frames):
                names = [frame.partition(" (")[0] for frame in frames]
                assert names[names.index("forward") + 1] in ("short", "long")
        assert not any("infermeter/worker.py" in f or "runpy" in f for _, frames, _ in stacks.samples for f in frames)


def test_what_was_told_is_stored(im, profiled):
    record = profiled("cprofile")
    (stored,) = im.load(record.id).stacks
    (reported,) = record.stacks
    assert stored.samples == reported.samples and (stored.detail, stored.unit) == (reported.detail, reported.unit)


@pytest.mark.parametrize("method", METHODS)
def test_the_timed_iterations_are_looked_at_and_nothing_else(profiled, method):
    record = profiled(installed(method), warmup=60)
    (stacks,) = record.stacks
    timed_s = record.side_samples[0].latencies_s.sum()
    seen_s = sum(weight for _, _, weight in stacks.samples) / (100 if method == "py-spy" else 1)
    assert stacks.unit == ("samples" if method == "py-spy" else "s")
    assert ("100 times a second" if method == "py-spy" else "three times as slow") in stacks.detail
    # The warm-up is three times as long.
    assert 0.2 * timed_s < seen_s < 2 * timed_s


def test_operators_and_python_code_come_from_the_same_trials(im, run):
    pytest.importorskip("torch", reason="pytorch is not installed: scripts/setup --with pytorch")
    (run.folder / "net.py").write_text(
        "import torch\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = torch.nn.Linear(64, 64)\n\n    def forward(self, x):\n        return self.fc(x)\n\n"
        "def make():\n    return Net()\n")
    record = im.run("net.py:make@pytorch,input_shape=1x64", profile=True, python_profiler="cprofile",
                    stacks="off", allow_code=True, **SHORT)
    assert said(record) == []
    (stacks,) = record.stacks
    assert within(stacks, "Net.forward") > 0
    (subject,) = record.json()["profile"]["subjects"]
    assert subject["table"]["operators"]


@pytest.mark.parametrize("method", METHODS)
def test_a_back_end_that_is_no_python_says_so_and_nothing_else(im, method):
    record = im.run("mlp@fake,operators=Conv:conv1:1ms", profile=True, python_profiler=method, stacks="off", **SHORT)
    assert said(record) == ["no profile of Python code: the back end fake is not written in Python"]
    assert record.stacks == [] and record.verdict.exit_code == 0
    assert record.json()["profile"]["subjects"][0]["table"]["operators"]


def test_without_a_profiler_nothing_is_told_of_python(profiled):
    record = profiled("off")
    assert record.stacks == [] and said(record) == []


@pytest.fixture
def bare_python(tmp_path):
    """A Python with NumPy and nothing else."""
    import numpy

    folder = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    site = Path(numpy.__file__).parent.parent
    for name in ("numpy", "numpy.libs"):
        if (site / name).exists():
            (packages / name).symlink_to(site / name)
    return folder / "bin/python"


@pytest.mark.parametrize("method, words", [
    ("py-spy", ["py-spy is neither beside", "pip install py-spy"]),
    ("pyinstrument", ["install pyinstrument into the environment of", "bare"]),
])
def test_what_is_not_installed_is_said_and_the_times_stand(profiled, monkeypatch, bare_python, method, words):
    monkeypatch.setenv("INFERMETER_PYTHON", str(bare_python))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    record = profiled(method)
    (message,) = said(record)
    assert all(word in message for word in words)
    assert record.stacks == [] and record.verdict.exit_code == 0 and len(record.side_samples[0]) == 20


def test_a_model_that_fails_under_the_profiler_is_told_as_ever(profiled):
    record = profiled("cprofile", "m=model.py:make_broken@python,input_shape=1x4", iterations=2, warmup=1)
    (trial,) = record.side_samples
    assert trial.end == "run_failed" and "the ninth is one too many" in trial.message
    assert len(record.samples[0]) == 2


@pytest.mark.parametrize("method", ["cprofile", "pyinstrument"])
def test_live_objects_are_looked_at_too(im, method):
    import numpy as np

    installed(method)

    def doubled(x):
        end = time.perf_counter() + 0.002
        while time.perf_counter() < end:
            pass
        return x * 2

    record = im.run_live({"doubled": doubled}, np.ones((1, 4), np.float32), profile=True, python_profiler=method, **SHORT)
    (stacks,) = record.stacks
    name = "test_live_objects_are_looked_at_too.<locals>.doubled" if method == "cprofile" else "doubled"
    timed_s = record.side_samples[0].latencies_s.sum()
    assert 0.5 * timed_s < within(stacks, name) < 1.5 * timed_s
    names = {frame.partition(" (")[0] for _, frames, _ in stacks.samples for frame in frames}
    assert not names & {"run_live", "<module>", "begin", "end"}


def test_py_spy_is_not_for_live_objects(im):
    import numpy as np

    record = im.run_live({"same": lambda x: x}, np.ones((1, 4), np.float32), profile=True, python_profiler="py-spy", **SHORT)
    (message,) = said(record)
    assert "use cprofile or pyinstrument" in message and record.stacks == []


# What cProfile reports, as call trees.


class Clock:
    """Time that passes when it is told to."""

    now = 0

    def work(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def trees(im, clock):
    """trees(function) -> {stack of names: own seconds} of a call of it, by `clock`."""
    import cProfile

    from infermeter.python_profilers import call_trees

    def call(function):
        profiler = cProfile.Profile(lambda: clock.now, 1.0)
        profiler.runcall(function)
        seconds = {}
        for stack, own_s in call_trees(profiler.getstats()):
            names = tuple(frame.partition(" (")[0].rpartition(".")[2] for frame in stack)
            seconds[names] = seconds.get(names, 0) + own_s
        return {stack: own_s for stack, own_s in seconds.items() if own_s > 0}

    return call


def test_a_function_of_two_callers_is_divided_by_the_time_of_their_calls(trees, clock):
    def shared(seconds):
        clock.work(seconds)

    def one():
        shared(1)

    def two():
        clock.work(5)
        shared(3)
        shared(4)

    def top():
        one()
        two()
        clock.work(2)

    assert trees(top) == {
        ("top", "work"): 2, ("top", "one", "shared", "work"): 1, ("top", "two", "work"): 5,
        ("top", "two", "shared", "work"): 7}


def test_recursion_adds_up_to_the_whole(trees, clock):
    def even(n):
        clock.work(1)
        return True if n == 0 else odd(n - 1)

    def odd(n):
        clock.work(2)
        return False if n == 0 else even(n - 1)

    def down(n):
        clock.work(1)
        if n:
            down(n - 1)

    for function, whole_s in ((lambda: even(9), 15), (lambda: down(9), 10), (lambda: (even(1), down(2)), 6)):
        seconds = trees(function)
        assert sum(seconds.values()) == pytest.approx(whole_s)
        assert all(len(set(stack)) == len(stack) for stack in seconds), "a function is below itself once"


def test_as_many_paths_as_there_can_be_make_a_bounded_tree(trees, clock):
    layers = 40
    source = "".join(f"def a{i}(way): work(1), (a{i + 1}, b{i + 1})[way >> {i} & 1](way)\n"
                     f"def b{i}(way): work(1), (a{i + 1}, b{i + 1})[way >> {i} & 1](way)\n" for i in range(layers))
    namespace = {"work": clock.work}
    exec(source + f"def a{layers}(way): pass\ndef b{layers}(way): pass\n", namespace)
    generator = random.Random(1)
    ways = [generator.getrandbits(layers) for _ in range(100)]  # 2^40 paths through the graph that they make
    seconds = trees(lambda: [namespace["a0"](way) for way in ways])
    assert 0 < len(seconds) < 100_000
    assert sum(seconds.values()) == pytest.approx(100 * layers)


def test_stacks_are_collapsed_into_one_line_each(im):
    from infermeter import python_profilers

    text = python_profilers.collapsed([(("a", "b"), 0.5), (("a",), 0.25), (("a", "b"), 0.5), ((), 3.0), (("z",), 0.0)])
    assert text == "a;b 1.000000000\na 0.250000000\n"


def test_hostile_names_stay_one_line(im):
    from infermeter.python_profilers import _name

    name = _name("f\x1b[31m;\n\ud800" + "x" * 1000, "/a b/c;d\n.py", 3)
    assert len(name) <= 300 and name.isprintable() and ";" not in name and "\n" not in name
