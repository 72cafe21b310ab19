"""run() and compare(): what they measure, how they end, and what Python does meanwhile."""

import contextlib
import functools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

QUICK = {"warmup": 1, "iterations": 20, "processes": 1}


def test_the_command_line_finds_what_python_measured(im, run):
    record = im.run("mlp@fake,latency=constant:100us", **QUICK)
    (listing,) = json.loads(run("runs", "--format", "json").stdout)
    assert listing["id"] == record.id and listing["finished"]
    assert record.plan == im.Plan("mlp@fake,latency=constant:100us", seed=record.plan.seed, **QUICK)


def test_a_plan_or_a_plan_file(im, run):
    (run.folder / "plan.toml").write_text('subjects = ["mlp@fake,latency=constant:100us"]\nwarmup = 1\nprocesses = 1\nseed = 3\n')
    from_file = im.run(plan="plan.toml", iterations=5)
    plan = im.Plan.from_file("plan.toml", iterations=5)
    assert from_file.plan == plan and im.run(plan=plan).plan == plan
    assert [s.label for s in im.run("x=mlp@fake,latency=constant:100us", plan="plan.toml", iterations=5).plan.subjects] == ["x"]
    with pytest.raises(im.UsageError, match="a Plan says everything"):
        im.run(plan=plan, iterations=3)


def test_progress(im):
    seen = []
    record = im.run("one=mlp@fake,latency=constant:5ms,work=sleep", processes=2, iterations=60, progress=seen.append)
    finished = [p for p in seen if p.finished is not None]
    assert [(p.label, p.trial, p.trials, p.purpose) for p in finished if p.purpose == "timed"] == \
        [("one", 0, 2, "timed"), ("one", 1, 2, "timed")]
    assert finished[-1].finished.latencies_s.tolist() == record.samples[-1].latencies_s.tolist()
    assert any(p.note.startswith("one: ") for p in seen)
    running = [p for p in seen if p.finished is None and p.phase == "timed"]
    assert running and 0 < running[-1].iterations_done <= 60
    assert seen[-1].seconds_left == 0 and seen[0].seconds_left is None


def test_comparison(im):
    seen = []
    record = im.compare("a=mlp@fake,latency=normal:100us:1us", "b=mlp@fake,latency=normal:600us:1us",  # slower on a busy machine, too
                        iterations=10, warmup=0, max_pairs=8, progress=seen.append)
    answer = record.verdict.comparison
    (candidate,) = answer.primary
    assert (candidate.direction, candidate.baseline, candidate.candidate) == ("slower", 0, 1)
    assert answer.resolved and answer.pairs == 8 and len(candidate.differences) == 8
    assert candidate.interval.low > 0 and answer.looks[0][-1].direction == "slower"
    assert candidate.metric == "latency_p50" and {p.metric for p in answer.exploratory}
    assert any(p.comparison is not None and p.comparison.pairs > 0 for p in seen)
    with pytest.raises(im.UsageError, match="a comparison needs at least two subjects"):
        im.compare("mlp@fake")


def test_a_race_of_settings(im, run):
    notes = []
    record = im.tune("mlp@fake", over={"latency": ["constant:6ms", "constant:1ms"], "work": ["sleep"]}, iterations=5, warmup=1,
                     objective="throughput", subject_to=["latency_p50 <= 1s"], indifference=0.05, budget="20s", seed=3,
                     progress=lambda now: notes.append(now.note))
    race = record.verdict.tuning
    assert race.decided and [setting.fate for setting in race.settings] == ["worse", "best"]
    assert race.settings[1].bounds[0].kept == "yes" and race.settings[0].behind_interval.low > 0
    assert race.against_default.direction == "faster" and dict(record.plan.subjects[race.best].options)["latency"] == "constant:1ms"
    assert any("pair 10 of 10 confirms it" in note for note in notes)
    assert json.loads(run("report", "--format", "json").stdout)["plan"]["tuning"]["indifference"] == 0.05
    assert im.run("mlp@fake", **QUICK).verdict.tuning is None


@pytest.mark.parametrize("arguments, text", [
    ({"over": {"treads": [1, 2]}}, "did you mean 'threads'"),
    ({"over": {"threads": [1]}}, "a race needs at least two settings"),
    ({"indifference": "lots"}, "expected a share such as 1%"),
    ({"over": {"threads": [1, 2]}, "output_dir": "/dev/null/here"}, "/dev/null/here"),
])
def test_a_race_that_cannot_be_is_a_usage_error(im, arguments, text):
    with pytest.raises(im.UsageError, match=text):
        im.tune("mlp@fake", **arguments)


def test_other_threads_go_on_meanwhile(im):
    """The interpreter's lock is free: a thread that needs it counts on while the run waits for its worker."""
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    record = im.run("mlp@fake,latency=constant:10ms,work=sleep", warmup=0, iterations=50, processes=1)
    during = counted[0] - before
    stop.set()
    thread.join()
    assert sum(record.samples[0].latencies_s) > 0.5 and during > 100


def test_runs_in_several_threads_at_once(im):
    records = {}

    def measure(name):
        records[name] = im.run(f"{name}=mlp@fake,latency=constant:100us", output_dir=name, **QUICK)

    threads = [threading.Thread(target=measure, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: len(record.samples[0]) for name, record in records.items()} == {"a": 20, "b": 20, "c": 20}


def test_subjects_that_fail_do_not_stop_the_others(im, run):
    subjects = ["bad=mlp@fake,fail=load", "good=mlp@fake,latency=constant:100us"]
    code = run("run", *subjects, "--iterations", 20, "--warmup", 1, "--processes", 1).returncode
    record = im.run(*subjects, **QUICK)
    assert record.verdict.exit_code == code == 3 and record.finished
    bad, good = sorted(record.samples, key=lambda samples: samples.subject)
    assert (bad.end, len(bad), good.end, len(good)) == ("load_failed", 0, "ok", 20) and bad.message
    assert bad.begin_s.size == 0 and bad.latencies_s.size == 0


def test_a_crash_is_a_record(im):
    record = im.run("mlp@fake,crash=run:5", **QUICK)
    assert record.verdict.exit_code == 4 and record.samples[0].end == "crashed" and record.samples[0].signal > 0


@pytest.mark.parametrize("options, kind, end", [
    ("fail=load", "ModelError", "load_failed at load"),
    ("fail=run:5", "ModelError", "run_failed at timed"),
    ("crash=run:5", "WorkerError", "crashed at timed"),
])
def test_a_failure_is_an_exception_where_that_is_asked_for(im, options, kind, end):
    record = im.run("good=mlp@fake,latency=constant:100us", f"bad=mlp@fake,{options}", **QUICK)
    with pytest.raises(getattr(im, kind)) as caught:
        record.raise_failure()
    bad = next(samples for samples in record.samples if samples.label == "bad")
    assert str(caught.value) == f"bad: {end}: {bad.message}" and caught.value.exit_code == record.verdict.exit_code
    assert im.run("mlp@fake,latency=constant:100us", **QUICK).raise_failure() is None


def test_what_a_back_end_refuses_is_an_exception_of_the_run(im):
    with pytest.raises(im.UsageError, match="bad: input 'x' is float32 .* its dimension 0 'A' has no size"):
        im.run("good=mlp@fake,latency=constant:100us", "bad=mlp@fake,inputs=x:float32:AxB", **QUICK)
    assert im.list_runs() == []


WRONG = [
    (["mlp@nobody"], {}, 2),
    (["mlp@fake,latenzy=1"], {}, 2),
    (["mlp@fake"], {"device": "tpu"}, 2),
    (["nowhere.onnx@fake"], {}, 2),
    (["empty.onnx@onnxruntime"], {}, 3),
    (["code.pt@fake"], {}, 3),
    (["mlp@fake"], {"backend_path": "nowhere"}, 2),
    (["mlp@fake"], {"output_dir": "a file"}, 2),
    (["mlp@fake"], {"data": "nowhere.npy"}, 2),
]


@pytest.mark.parametrize("subjects, settings, code", WRONG)
def test_errors_are_the_command_lines(im, run, subjects, settings, code):
    (run.folder / "empty.onnx").touch()
    (run.folder / "code.pt").write_bytes(b"x")
    (run.folder / "a file").touch()
    flags = [word for key, value in settings.items() for word in (f"--{key.replace('_', '-')}", value)]
    done = run("run", *subjects, *flags, "--iterations", 3, "--warmup", 0, "--processes", 1, "--quiet")
    try:
        record = im.run(*subjects, **settings, iterations=3, warmup=0, processes=1)
        sentence, exit_code = record.samples[0].message, record.verdict.exit_code
        assert sentence in done.stdout.replace("\n", " ") or sentence[:40] in " ".join(done.stdout.split())
    except im.Error as error:
        sentence, exit_code = str(error), error.exit_code
        assert done.stderr.strip() == f"infermeter: {sentence}"
        assert type(error) is {2: im.UsageError, 3: im.ModelError}[error.exit_code]
    assert exit_code == done.returncode == code


def test_exceptions_of_progress_end_the_run_and_pass_through(im):
    class Enough(Exception):
        pass

    def progress(now):
        if now.finished is not None:
            raise Enough("seen enough")

    with pytest.raises(Enough, match="seen enough") as caught:
        im.run("mlp@fake,latency=constant:100us", warmup=0, iterations=10, processes=5, progress=progress)
    record = caught.value.record
    assert not record.finished and len(record.samples) == 1 and im.load().id == record.id


INTERRUPTED = """
import infermeter, sys, threading
def say(progress):
    if progress.phase == "timed" and progress.iterations_done > 3:
        print("measuring", flush=True)
try:
    infermeter.run("mlp@fake,latency=constant:20ms,work=sleep", warmup=0, iterations=1000, processes=3, progress=say)
except KeyboardInterrupt as interrupt:
    samples = interrupt.record.samples
    print(interrupt.record.id, interrupt.record.finished, len(samples), samples[-1].end, len(samples[-1]))
    sys.exit(interrupt.record.verdict.exit_code)
"""


@pytest.fixture
def interrupted(package_dir, environment, run):
    """Starts the code in a process of its own and sends it SIGINT when it says that it measures."""

    def call(code, signals=1):
        process = subprocess.Popen([sys.executable, "-c", code], env=environment | {"PYTHONPATH": str(package_dir)},
                                   cwd=run.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "measuring\n", process.communicate()
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)  # two signals at once are one
        out, err = process.communicate(timeout=60)
        out = "".join(line for line in out.splitlines(keepends=True) if line != "measuring\n")
        return process.returncode, out, err

    return call


def test_ctrl_c_ends_the_iteration_and_keeps_the_record(im, interrupted, run):
    code, out, err = interrupted(INTERRUPTED)
    assert code == 130, err
    identity, finished, trials, end, iterations = out.split()
    assert (finished, trials, end) == ("False", "1", "interrupted") and 3 < int(iterations) < 1000
    stored = im.load(identity)
    assert not stored.finished and len(stored.samples[0]) == int(iterations)
    with pytest.raises(im.UsageError, match="leave 'iterations' out"):
        im.run(resume=True, iterations=3)


def test_ctrl_c_twice_stops_at_once(interrupted):
    code, out, err = interrupted(INTERRUPTED.replace("latency=constant:20ms,work=sleep", "latency=constant:20ms,work=sleep,hang=run:10"), signals=2)
    assert code == 130, err
    assert out.split()[1:4] == ["False", "1", "interrupted"]


def test_ctrl_c_without_a_handler_is_a_plain_keyboard_interrupt(interrupted):
    code, _, err = interrupted(INTERRUPTED.split("try:")[0] + INTERRUPTED.split("try:\n")[1].split("except")[0].strip())
    assert code in (-signal.SIGINT, 130) and err.strip().endswith("KeyboardInterrupt")


def test_ctrl_c_ends_the_wait_for_a_store_that_another_program_holds(im, interrupted, run):
    im.run("mlp@fake", warmup=0, iterations=3, processes=1)
    holder = sqlite3.connect(run.folder / "results/infermeter.db", isolation_level=None)
    with contextlib.closing(holder):
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        holder.execute("UPDATE runs SET finished = finished")
        code, _, err = interrupted("import infermeter\nprint('measuring', flush=True)\ninfermeter.list_runs()")
    assert code in (-signal.SIGINT, 130) and err.strip().endswith("KeyboardInterrupt")


def test_handlers_of_the_program_decide(interrupted):
    """A program that has a handler of its own, which does not raise, is not interrupted."""
    code, out, _ = interrupted("""
import infermeter, signal
signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
said = []
def say(progress):
    if progress.phase == "timed" and not said:
        said.append(print("measuring", flush=True))
print(infermeter.run("mlp@fake,latency=constant:10ms,work=sleep", warmup=0, iterations=100, processes=1, progress=say).finished)
""")
    assert (code, out) == (0, "handled\nTrue\n")


def test_a_run_is_resumed(im, run):
    class Enough(Exception):
        pass

    def stop(now):
        if now.finished is not None:
            raise Enough

    with pytest.raises(im.UsageError, match="nothing has been measured there yet"):
        im.run(resume=True)
    subjects = ("mlp@fake,latency=constant:100us", "b=mlp@fake,latency=constant:100us")
    settings = {"warmup": 0, "iterations": 10, "processes": 2}
    for resume in (True, "id", "whole plan"):
        with pytest.raises(Enough) as caught:
            im.run(*subjects, **settings, progress=stop)
        broken = caught.value.record
        if resume == "whole plan":
            record = im.run(*subjects, **settings, resume=broken.id)
        else:
            record = im.run(resume=broken.id if resume == "id" else True)
        assert record.id == broken.id and record.finished and len(record.samples) == 4
        assert record.samples[0].begin_s.tolist() == broken.samples[0].begin_s.tolist()
    with pytest.raises(im.UsageError, match="there is no unfinished run in results"):
        im.run(resume=True)
    with pytest.raises(im.UsageError) as caught:
        im.run(resume=record.id)
    assert f"infermeter: {caught.value}" == run("run", "--resume", record.id).stderr.strip()
    with pytest.raises(im.UsageError, match="its plan is not the one asked for"):
        with pytest.raises(Enough) as caught:
            im.run(*subjects, **settings, progress=stop)
        im.run(*subjects, **settings | {"iterations": 11}, resume=caught.value.record.id)


def test_the_packages_of_this_python_come_first(im, monkeypatch):
    """Whoever asks from Python means the runtimes that this Python has, activated or not."""
    monkeypatch.delenv("VIRTUAL_ENV")
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.chdir("/")
    onnxruntime = next(backend for backend in im.backends() if backend.name == "onnxruntime")
    if onnxruntime.error:
        pytest.skip(f"onnxruntime is not installed: {onnxruntime.error}")
    assert onnxruntime.library.startswith(os.path.realpath(sys.prefix))


def test_threads_and_files_are_given_back(im):
    im.run("mlp@fake,latency=constant:100us", **QUICK)
    def held():
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    before = held()
    for _ in range(3):
        im.run("mlp@fake,latency=constant:100us", **QUICK)
    assert held() == before


def test_what_a_run_cannot_measure_is_said_in_one_sentence(im, tmp_path):
    x = np.ones((2, 3), np.float32)
    with pytest.raises(im.UsageError, match=r"not an object of type function: run_live\(\{'name': model\}, inputs\)"):
        im.run(lambda a: a, x)
    with pytest.raises(im.UsageError, match="data needs 'synthetic' or the path .* type ndarray: save it with numpy.save"):
        im.run("mlp@fake", data=x, output_dir=tmp_path)


@pytest.mark.parametrize("dtype, known", [("'float32'", "float32"), ("np.float32", "float32"), ("np.dtype('float32')", "float32"), ("float", "float64"),
                                          ("'flaot32'", None), ("dict()", None)])
def test_types_of_inputs_are_names_or_numpys(im, dtype, known, tmp_path):
    source = f"import infermeter, numpy as np\nmake = lambda: infermeter.Model(lambda a: a, inputs=[infermeter.Port('x', {dtype}, (1, 2))])\n"
    (tmp_path / "typed.py").write_text(source)
    run = functools.partial(im.run, f"{tmp_path}/typed.py:make@python", allow_code=True, **QUICK)
    if known is None:
        with pytest.raises(im.UsageError, match="'(flaot32|void)' is not a type of elements that is known here"):
            run()
    else:
        (samples,) = run().samples
        assert samples.end == "ok" and samples.outputs[0].dtype == known


def test_progress_true_tells_each_trial(im, tmp_path, capfd):
    im.run("mlp@fake,latency=constant:10us", processes=2, iterations=3, warmup=1, progress=True, output_dir=tmp_path)
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["[1/2] mlp@fake", "[2/2] mlp@fake"]


def test_parts_of_the_package_are_there_without_an_import(im):
    assert im.plot.latency_by_batch and im.metrics.structural_similarity
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        im.nosuch  # noqa: B018


def test_size_and_parameters_are_those_of_what_is_executed(im, tmp_path, run):
    torch = pytest.importorskip("torch", reason="pytorch is not installed: scripts/setup --with pytorch")
    (run.folder / "nets.py").write_text(
        "import torch\n\ndef make():\n    torch.manual_seed(1)\n    return torch.nn.Sequential(torch.nn.Linear(256, 512))\n")
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(256, 512))
    torch.save({"state_dict": module.state_dict()}, run.folder / "best.ckpt")
    settings = {"options": {"input_shape": "1x256"}, "warmup": 1, "iterations": 20, "processes": 2, "allow_code": True}
    record = im.run("plain=nets.py:make@pytorch", "int8=nets.py:make@pytorch,quantize=dynamic",
                    "weights=best.ckpt@pytorch,factory=nets.py:make", **settings)
    assert [samples.end for samples in record.samples] == ["ok"] * 6, [samples.message for samples in record.samples]
    count, size = 256 * 512 + 512, 4 * (256 * 512 + 512)
    plain, int8, weights = record.models
    assert (plain.parameters, int8.parameters, weights.parameters) == (count,) * 3
    assert (plain.size_bytes, weights.size_bytes) == (size, size) and 3.5 < size / int8.size_bytes < 4
    assert outputs_agree(record, 2)

    loaded = im.load("latest")
    assert [model.size_bytes for model in loaded.models] == [model.size_bytes for model in record.models]
    frame = loaded.to_dataframe()
    assert list(frame["parameters"]) == [count] * 3 and frame["model_size_mb"][0] == pytest.approx(size * 1e-6)
    report = json.loads(loaded.render("json"))
    assert [model["size_bytes"] for model in report["models"]] == [model.size_bytes for model in record.models]
    assert "528 kB" in loaded.text() or "526 kB" in loaded.text()
    assert "3.9x smaller model" in loaded.recommendations_text() or "4.0x smaller model" in loaded.recommendations_text()
    (run.folder / "gate.toml").write_text(
        f'expect = "parameters == {count}"\n[[expectation]]\nthat = "size_reduction >= 3.5x"\nsubject = "int8"\n')
    gate = run("gate", "gate.toml", "--run", "latest")
    assert gate.returncode == 0, gate.stdout + gate.stderr


def outputs_agree(record, subject):
    return next(one.comparison.agree for one in record.outputs if one.subject == subject)


def test_data_that_are_not_there_are_found_before_anything_runs(im):
    with pytest.raises(im.UsageError, match="there is no 'no/such/folder'"):
        im.run("mlp@fake", data="no/such/folder")
