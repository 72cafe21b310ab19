"""What a user's Python can do wrong in a worker, and what a Python worker itself needs: each case leaves a record and one
sentence, and the others continue."""

import json
import sys

import pytest

GOOD = "good=mlp@fake,latency=constant:1ms,work=sleep"

FACTORIES = """
import numpy as np
from infermeter.backend import Port
from infermeter.factory import Model

def triple():
    return Model(lambda x: {"three": x * 3, "both": (x, x.astype(np.float64))}, [Port("x", "float32", (None, 4))])

def raises():
    table = {}
    return table["weights"]

def no_model():
    return 3

def fails_later():
    calls = []
    def call(x):
        calls.append(x)
        if len(calls) == 15:
            raise ValueError("the fifteenth is one too many")
        return x
    return call

def grows():
    calls = []
    def call(x):
        calls.append(x)
        return np.zeros((1, 4 + (len(calls) > 14)), np.float32)
    return call

def changes_type():
    calls = []
    def call(x):
        calls.append(x)
        return x.astype(np.float16) if len(calls) > 14 else x
    return call

def changes_container():
    calls = []
    def call(x):
        calls.append(x)
        return [x, x] if len(calls) > 14 else [x]
    return call

def gives_objects():
    return lambda x: np.array([object()])

def gives_nothing():
    return lambda x: None

def strided():
    return lambda x: np.zeros((4, 6), np.float32)[::2, ::3]

def writes_to_its_input():
    def call(x):
        x[0, 0] = 1
        return x
    return call

def exhausts_memory():
    def call(x):
        raise MemoryError("no room for 1 TB")
    return call

def forks():
    import os, threading
    def call(x):
        threads = [threading.Thread(target=lambda: None) for _ in range(3)]
        for thread in threads: thread.start()
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        for thread in threads: thread.join()
        return x
    return call

def leaves():
    import sys
    return lambda x: sys.exit(7)

def waits():
    import time
    return lambda x: time.sleep(60)
"""


@pytest.fixture(autouse=True)
def python_worker(build_dir):
    if not list(build_dir.glob("python/infermeter/_worker.*")):
        pytest.skip("the Python module is not built: python3-dev or nanobind is missing (scripts/setup)")


def measured(run, *subjects, limits=(), env=None):
    (run.folder / "nets.py").write_text(FACTORIES)
    done = run("run", *subjects, "--processes", 1, "--iterations", 20, "--warmup", 2, "--quiet", "--format", "json",
               *limits, env=env)
    record = json.loads(done.stdout) if done.stdout else None
    trials = {record["plan"]["subjects"][t["subject"]]["label"]: t for t in record["trials"]} if record else {}
    return done, trials


def bad(factory):
    return f"bad=nets:{factory}@python,input_shape=1x4"


def test_outputs_of_dicts_and_tuples_have_names_and_times_are_kept(run):
    done, trials = measured(run, "it=nets:triple@python,batch=3")
    assert done.returncode == 0, done.stderr
    trial = trials["it"]
    assert len(trial["samples"]["latency_s"]) == 20
    assert [(o["name"], o["dtype"], o["shape"]) for o in trial["outputs"]] == [
        ("output.three", "float32", [3, 4]), ("output.both.0", "float32", [3, 4]), ("output.both.1", "float64", [3, 4])]
    assert trial["executed"]["provider"] == "python"
    assert trial["executed"]["runtime_version"] == ".".join(map(str, sys.version_info[:3]))
    assert trial["compile_s"] is None  # there is no such step


def test_a_strided_output_is_the_values_that_numpy_sees(run):
    done, trials = measured(run, "it=nets:strided@python,input_shape=1x4")
    assert done.returncode == 0, done.stderr
    assert trials["it"]["outputs"][0]["shape"] == [2, 2]


@pytest.mark.parametrize("factory, end, code, sentence", [
    ("raises", "load_failed", 3, "factory raises raised KeyError: 'weights', at nets.py line 11"),
    ("no_model", "load_failed", 3, "nets:no_model gives an object of type int, which cannot be called"),
    ("fails_later", "run_failed", 3, "ValueError: the fifteenth is one too many (nets.py, line 21)"),
    ("gives_objects", "run_failed", 3, "an output is an array of object, which is not a tensor"),
    ("gives_nothing", "run_failed", 3, "'output' is None: the callable must return its outputs"),
    ("writes_to_its_input", "run_failed", 3, "ValueError: assignment destination is read-only (nets.py, line"),
    ("exhausts_memory", "out_of_memory", 4, "out of memory: no room for 1 TB"),
    ("leaves", "run_failed", 3, "SystemExit: 7"),
    ("grows", "run_failed", 3, "from ndarray float32 (1, 4) to ndarray float32 (1, 5)"),
    ("changes_type", "run_failed", 3, "from ndarray float32 (1, 4) to ndarray float16 (1, 4)"),
    ("changes_container", "run_failed", 3, "from list of 1 to list of 2"),
])
def test_what_a_factory_does_wrong_is_a_record_and_one_sentence(run, factory, end, code, sentence):
    done, trials = measured(run, GOOD, bad(factory))
    assert done.returncode == code
    assert trials["bad"]["end"] == end
    assert sentence in trials["bad"]["message"], trials["bad"]["message"]
    assert "\n" not in trials["bad"]["message"]
    assert "Traceback" not in done.stderr
    assert trials["good"]["end"] == "ok" and len(trials["good"]["samples"]["latency_s"]) == 20


def test_the_traceback_of_a_factory_is_in_the_record(run):
    _, trials = measured(run, bad("raises"))
    assert "Traceback (most recent call last)" in trials["bad"]["stderr_tail"]
    assert 'nets.py", line 11, in raises' in trials["bad"]["stderr_tail"]


def test_times_before_an_output_changed_are_kept(run):
    _, trials = measured(run, bad("grows"))
    assert 0 < len(trials["bad"]["samples"]["latency_s"]) < 20
    assert "samples_partial" in [diagnostic["id"] for diagnostic in trials["bad"]["diagnostics"]]


def test_a_fork_beside_threads_is_survived(run):
    done, trials = measured(run, "it=nets:forks@python,input_shape=1x4")
    assert done.returncode == 0, done.stderr
    assert trials["it"]["end"] == "ok"


def test_a_callable_that_does_not_come_back_is_killed(run):
    done, trials = measured(run, GOOD, bad("waits"), limits=("--load-timeout", "3s"))
    assert done.returncode == 4
    assert trials["bad"]["end"] == "timeout" and trials["bad"]["phase"] == "first_inference"
    assert trials["good"]["end"] == "ok"


@pytest.mark.parametrize("subject, sentence", [
    ("nets:missing@python,input_shape=1x4", "nets has no function 'missing'"),
    ("nonets:triple@python,input_shape=1x4", "there is no module 'nonets'"),
    ("nets:strided@python", "what nets:strided takes is not known"),
    ("nets:strided@python,input_shape=1xx4", "input_shape=1xx4 cannot be read"),
    ("nets:triple@python,dtype=float16", "python cannot execute float16 here"),
    ("nets:triple@python,device=cuda", "back end python has no device 'cuda'; here it has cpu"),
    ("nets:triple@python,shape=3", "back end python has no option 'shape'"),
    ("nets:triple@onnxruntime", "runs no Python, and 'nets:triple' names a Python factory"),
])
def test_what_cannot_be_asked_for_is_refused(run, subject, sentence):
    done, trials = measured(run, subject)
    assert done.returncode == 2
    text = done.stderr + "".join(trial["message"] for trial in trials.values())
    assert sentence in text, text
    assert "Traceback" not in done.stderr


def test_another_python_than_the_module_was_built_for_is_one_sentence(run, tmp_path):
    # A Python of another version fails to import the compiled module; so does this one where it cannot find it.
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\necho "a line before" >&2\nexec {sys.executable} -S -c "\nimport sys\n'
                     'print(\'it is for Python 3.4\', file=sys.stderr)\nsys.exit(78)"\n')
    other.chmod(0o755)
    done, trials = measured(run, GOOD, "bad=nets:triple@python", env={"INFERMETER_PYTHON": str(other)})
    assert done.returncode == 2
    text = done.stderr + "".join(trial["message"] for trial in trials.values())
    assert "it is for Python 3.4" in text and "a line before" not in text


def test_a_python_without_numpy_is_one_sentence(run, tmp_path):
    bare = tmp_path / "bare-python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without its site-packages
    bare.chmod(0o755)
    done, trials = measured(run, GOOD, "bad=nets:triple@python", env={"INFERMETER_PYTHON": str(bare)})
    assert done.returncode == 2
    text = done.stderr + "".join(trial["message"] for trial in trials.values())
    assert "NumPy is not installed in" in text and "name another Python with INFERMETER_PYTHON" in text, text


def test_a_python_that_is_not_there_is_one_sentence(run):
    done, trials = measured(run, "bad=nets:triple@python", env={"INFERMETER_PYTHON": "/nonexistent/python3"})
    assert done.returncode == 2
    text = done.stderr + "".join(trial["message"] for trial in trials.values())
    assert "/nonexistent/python3" in text
    assert "Traceback" not in text


def test_the_module_says_by_hand_what_it_is_for(run, build_dir):
    done = run("-m", "infermeter.worker", program=sys.executable, env={"PYTHONPATH": str(build_dir / "python")})
    assert done.returncode == 2
    assert "is started by infermeter, not by hand" in done.stderr


def test_what_a_worker_writes_stays_in_its_folder(run, tmp_path):
    (run.folder / "writer.py").write_text(f"""
import numpy as np
def make():
    open("here", "w").write("x")
    try:
        open({str(tmp_path / 'there')!r}, "w")
    except OSError:  # a file system that is read-only, or a permission
        return lambda x: np.ones(1, np.float32)
    return lambda x: np.zeros(1, np.float32)
""")
    done = run("run", "writer:make@python,input_shape=1x4", "--processes", 1, "--iterations", 20, "--warmup", 2,
               "--quiet", "--format", "json")
    assert done.returncode == 0, done.stderr
    trial = json.loads(done.stdout)["trials"][0]
    if "no_landlock" not in [diagnostic["id"] for diagnostic in trial["diagnostics"]]:
        assert not (tmp_path / "there").exists()
    assert not (run.folder / "here").exists()
