"""Settings in Python mean what they mean in a plan file, and are refused in the same words."""

import json
import re
from pathlib import Path, PurePosixPath

import numpy
import pytest

# Each setting as Python and as a plan file has it; and one that does not fit, with the sentence.
SETTINGS = [
    ("batch_sizes", [1, 4], "[1, 4]"),
    ("batch_sizes", 4, "4"),
    ("dtype", ["float32", "bfloat16"], '["float32", "bfloat16"]'),
    ("device", "cpu", '"cpu"'),
    ("threads", [1, 2], "[1, 2]"),
    ("dimensions", {"height": 512, "input.2": "8"}, '{ height = 512, "input.2" = "8" }'),
    ("options", {"a": 1, "b": "x", "c": True, "d": 0.5}, '{ a = 1, b = "x", c = true, d = 0.5 }'),
    ("env", {"OMP_NUM_THREADS": 1, "OMP_WAIT_POLICY": "PASSIVE"}, '{ OMP_NUM_THREADS = 1, OMP_WAIT_POLICY = "PASSIVE" }'),
    ("backend_library", "/some/lib.so", '"/some/lib.so"'),
    ("backend_path", "/some/folder", '"/some/folder"'),
    ("precision", 0.05, "0.05"),
    ("repeat_disturbed", 2, "2"),
    ("warmup", 3, "3"),
    ("warmup", "auto", '"auto"'),
    ("warmup", "none", '"none"'),
    ("iterations", 7, "7"),
    ("duration", "250ms", '"250ms"'),
    ("duration", 1.5, "1.5"),
    ("duration", 2, "2"),
    ("processes", 5, "5"),
    ("leak_iterations", 2000, "2000"),
    ("profile", True, "true"),
    ("profile_processes", 3, "3"),
    ("profile_iterations", 7, "7"),
    ("stacks", "dwarf", '"dwarf"'),
    ("python_profiler", "cprofile", '"cprofile"'),
    ("seed", 9, "9"),
    ("data_seed", 9, "9"),
    ("batch_axis", "none", '"none"'),
    ("load", {"rate": 40.5, "scenario": "server"}, '{ rate = 40.5, scenario = "server" }'),
    ("batch_axis", {"h": "none", "x": 1}, '{ h = "none", x = 1 }'),
    ("data", "synthetic", '"synthetic"'),
    ("data_limit", 3, "3"),
    ("labels", "truth.txt", '"truth.txt"'),
    ("distribution", "normal:0:1", '"normal:0:1"'),
    ("distribution", {"input": "zeros"}, '{ input = "zeros" }'),
    ("outliers", "iqr:1.5", '"iqr:1.5"'),
    ("load_timeout", "30s", '"30s"'),
    ("run_timeout", 12.5, "12.5"),
    ("memory_limit", "2GB", '"2GB"'),
    ("memory_limit", 2_000_000_000, "2000000000"),
    ("sandbox", "strict", '"strict"'),
    ("cpus", "0-1", '"0-1"'),
    ("cpus", [0, 1], "[0, 1]"),
    ("compare_outputs", False, "false"),
    ("output_dir", "elsewhere", '"elsewhere"'),
    ("store", "service=team", '"service=team"'),
]

COMPARISON = [
    ("metric", "p90", '"p90"'),
    ("margin", "2%", '"2%"'),
    ("margin", 0.02, "0.02"),
    ("alpha", 0.1, "0.1"),
    ("max_pairs", 12, "12"),
    ("budget", "2m", '"2m"'),
    ("until_resolved", True, "true"),
    ("all_pairs", True, "true"),
    ("drop_disturbed", True, "true"),
]


def as_toml(im, *lines, **settings):
    return im.Plan.from_toml("\n".join(lines), **settings)


@pytest.mark.parametrize("key, value, toml", SETTINGS)
def test_a_setting_is_what_it_is_in_a_plan_file(im, key, value, toml):
    plan = im.Plan("mlp@fake", allow_code=True, **{key: value})
    assert plan == as_toml(im, 'subjects = ["mlp@fake"]', f"{key} = {toml}", allow_code=True)


@pytest.mark.parametrize("key, value, toml", COMPARISON)
def test_a_question_is_what_it_is_in_a_plan_file(im, key, value, toml):
    plan = im.Plan("mlp@fake", "b=mlp@fake", compare=True, **{key: value})
    assert plan == as_toml(im, 'subjects = ["mlp@fake", "b=mlp@fake"]', "compare = true", f"{key} = {toml}")


def test_every_key_of_plan_files_is_tried_here(source_dir):
    table = (source_dir / "docs/plan.md").read_text().split("## Keys")[1].split("\n## ")[0]
    keys = {key for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
    tried = {key for key, *_ in SETTINGS + COMPARISON}
    assert len(keys) > 30 and keys - tried <= {"subjects", "models", "backends", "allow_code", "compare", "format"}


def test_every_key_of_plan_files_has_a_type(im):
    from infermeter.settings import ComparisonSettings, TuningSettings

    typed = ComparisonSettings.__annotations__.keys()
    tried = {key for key, *_ in SETTINGS + COMPARISON}
    assert tried | {"models", "backends", "allow_code", "compare", "format"} == set(typed)
    assert set(TuningSettings.__annotations__) < set(typed)


def test_the_matrix(im):
    plan = im.Plan(models=["mlp", "resnet50"], backends=["fake"], batch_sizes=(1, 2))
    assert plan == as_toml(im, 'models = ["mlp", "resnet50"]', 'backends = ["fake"]', "batch_sizes = [1, 2]")
    assert len(plan.subjects) == 4 and [subject.batch_size for subject in plan.subjects] == [1, 2, 1, 2]


def test_subjects_as_dicts_are_those_of_a_plan_file(im):
    plan = im.Plan("a=mlp@fake,latency=constant:1ms",
                   {"label": "b", "model": "mlp", "backend": "fake", "batch_size": 2, "dtype": "bfloat16", "threads": 1,
                    "device": "cpu", "options": {"latency": "constant:2ms"}, "dimensions": {"n": 3}, "group": 7,
                    "backend_library": Path("x.so")}, allow_code=True)
    assert plan == as_toml(im, 'subjects = ["a=mlp@fake,latency=constant:1ms"]', "[[subject]]", 'label = "b"', 'model = "mlp"',
                           'backend = "fake"', "batch_size = 2", 'dtype = "bfloat16"', "threads = 1", 'device = "cpu"',
                           'options = { latency = "constant:2ms" }', "dimensions = { n = 3 }", "group = 7",
                           'backend_library = "x.so"', allow_code=True)
    assert [subject.label for subject in plan.subjects] == ["a", "b"]
    assert plan.subjects[1].options == [("latency", "constant:2ms")] and plan.subjects[1].dtype == "bfloat16"


def test_what_is_good_of_requests_is_asked_of_subjects_with_a_load_of_their_own(im):
    plan = im.Plan("a=mlp@fake,load.rate=60", "b=mlp@fake,load.rate=60,load.goodput=response<=9ms", "c=mlp@fake", load={"goodput": "response<=30ms", "rate": 5})
    loads = [dict(subject["load"]) for subject in json.loads(plan.to_json())["subjects"]]
    assert loads == [{"rate": "60", "goodput": "response<=30ms"}, {"rate": "60", "goodput": "response<=9ms"}, {"goodput": "response<=30ms", "rate": "5"}]


def test_numbers_of_numpy_paths_and_none(im):
    plan = im.Plan("mlp@fake", iterations=numpy.int64(7), run_timeout=numpy.float64(2.5), output_dir=PurePosixPath("here"),
                   batch_sizes=numpy.array([1, 2]), warmup=None, duration=None)
    assert (plan.iterations, plan.run_timeout_s, plan.output_dir) == (7, 2.5, "here")
    assert [subject.batch_size for subject in plan.subjects] == [1, 2] and plan.warmup is None


def test_allow_code_is_for_programs_to_say(im):
    assert im.Plan("mlp@fake", allow_code=True).allow_code
    with pytest.raises(im.UsageError, match="may be set on the command line only"):
        as_toml(im, 'subjects = ["mlp@fake"]', "allow_code = true")


def test_settings_beat_the_plan_file(im, tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text('models = ["mlp"]\nbackends = ["fake"]\nprocesses = 4\nseed = 5\n')
    plan = im.Plan.from_file(file, processes=2)
    assert (plan.processes, plan.seed, len(plan.subjects)) == (2, 5, 1)
    replaced = im.Plan.from_file(str(file), subjects=["x=mlp@fake"])
    assert [subject.label for subject in replaced.subjects] == ["x"]


def test_what_a_plan_says(im):
    plan = im.Plan("mlp@fake", "b=mlp@fake,threads=2", iterations=3, seed=4, run_timeout="2s", cpus=[0],
                   processes=3)
    assert (plan.iterations, plan.duration_s, plan.warmup, plan.seed, plan.cpus) == (3, None, None, 4, [0])
    assert plan.run_timeout_s == 2.0 and plan.question is None and plan.data == "synthetic"
    assert sorted(plan.order) == [(subject, process) for subject in (0, 1) for process in (0, 1, 2)]
    assert json.loads(plan.to_json())["seed"] == 4
    assert str(plan.subjects[1]) == "mlp@fake,threads=2" and "b" in repr(plan.subjects[1])
    assert plan != im.Plan("mlp@fake")
    question = im.Plan("mlp@fake", "b=mlp@fake", compare=True, metric="peak_memory", budget="1m").question
    assert (question.metric, question.margin, question.budget_s) == ("memory_peak", 0.01, 60.0)


WRONG = [
    ({"iteratons": 3}, "unknown setting 'iteratons' (did you mean 'iterations'?)"),
    ({"zzz": 3}, "unknown setting 'zzz'"),
    ({"iterations": "many"}, "iterations: expected auto, or a whole number of at least 1, got 'many'"),
    ({"iterations": 0}, "iterations: expected auto, or a whole number of at least 1, got '0'"),
    ({"iterations": [1, 2]}, "'iterations' needs a whole number or a string, got an array"),
    ({"iterations": 1.5}, "'iterations' needs a whole number or a string, got a fraction"),
    ({"iterations": True}, "'iterations' needs a whole number or a string, got true or false"),
    ({"leak_iterations": "3"}, "'leak_iterations' needs a whole number, got a string"),
    ({"processes": "some"}, "processes: expected auto, or a whole number from 1 to 10000, got 'some'"),
    ({"device": 3}, "'device' needs a string, got a whole number"),
    ({"compare_outputs": 1}, "'compare_outputs' needs true or false, got a whole number"),
    ({"duration": b"3"}, "'duration' needs a number or a string with a unit, got a value of type bytes"),
    ({"duration": "3 parsecs"}, "duration: "),
    ({"duration": 0}, "duration: expected a time above 0, such as 30s, got '0'"),
    ({"options": "a=1"}, "'options' needs a table, got a string"),
    ({"options": {"a": [1]}}, "'options.a' needs a whole number or a string, got an array"),
    ({"batch_sizes": {"a": 1}}, "'batch_sizes' needs a whole number, got a table"),
    ({"batch_sizes": []}, "batch_sizes: expected at least one value, got none"),
    ({"output_dir": ""}, "output_dir: the value is empty"),
    ({"iterations": 3, "duration": 3}, "'iterations' and 'duration' exclude each other"),
    ({"format": "json"}, "'format' says nothing here: a record has every form (render, text, json, to_csv)"),
    ({"compare": True, "metric": "speed"}, "metric: "),
    ({"backends": ["fake"], "subjects": None}, "back end fake has no model"),
]


@pytest.mark.parametrize("settings, sentence", WRONG)
def test_what_does_not_fit_is_refused(im, settings, sentence):
    subjects = ["mlp@fake", "b=mlp@fake"] if settings.get("compare") else ["mlp@fake"]
    with pytest.raises(im.UsageError) as caught:
        im.Plan(**({} if "backends" in settings else {"subjects": subjects}) | settings)
    assert str(caught.value).startswith(sentence)
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)


SUBJECTS = [
    ("mlp", "back end"),
    (7, "'subjects' needs a string, got a whole number"),
    ({"model": "mlp"}, "a subject has no 'backend'"),
    ({"backend": "fake"}, "a subject has no 'model'"),
    ({"model": "mlp", "backend": "fake", "thread": 1}, "unknown key 'thread' of a subject (did you mean 'threads'?)"),
    ({"model": "mlp", "backend": "fake", "threads": "1"}, "'threads' needs a whole number, got a string"),
    ({"model": "mlp", "backend": "fake", "options": 3}, "'options' needs a table, got a whole number"),
    ({"model": "mlp", "backend": "fake", "batch_size": 0}, "batch_size: "),
]


@pytest.mark.parametrize("subject, sentence", SUBJECTS)
def test_subjects_that_do_not_fit_are_refused(im, subject, sentence):
    with pytest.raises(im.UsageError) as caught:
        im.Plan(subject)
    assert sentence in str(caught.value)


def test_batch_axes(im):
    plan = im.Plan({"model": "m.onnx", "backend": "fake", "batch_axis": {"x": 1}}, batch_axis={"h": "none"})
    assert plan.subjects[0].batch_axes == [("h", "none"), ("x", "1")]
    assert im.Plan("m.onnx@fake", batch_axis="none").subjects[0].batch_axes == [("", "none")]
    assert im.Plan("m.onnx@fake,batch_axis.x=1").subjects[0].batch_axes == [("x", "1")]
    assert im.Plan({"model": "m.onnx", "backend": "fake", "batch_axis": "none"}).subjects[0].batch_axes == [("", "none")]
    for wrong in ({"x": -1}, {"x": "last"}, "0"):
        with pytest.raises(im.UsageError, match="--batch-axis"):
            im.Plan("m.onnx@fake", batch_axis=wrong)


def test_subjects_are_given_once(im):
    with pytest.raises(im.UsageError, match="subjects are given twice"):
        im.Plan("mlp@fake", subjects=["mlp@fake"])
    with pytest.raises(im.UsageError, match="nothing to measure"):
        im.Plan()


def test_names_that_are_no_utf8_are_refused(im):
    with pytest.raises(im.UsageError, match="not valid UTF-8"):
        im.Plan({"model": "a\udcff.onnx", "backend": "fake"})


# What the command line says of the same, after "infermeter: ".
SAME_WORDS = [
    (["mlp@fake", "--iterations", "many"], {"iterations": "many"}, "--iterations", "iterations"),
    (["mlp@fake", "--memory-limit", "2XB"], {"memory_limit": "2XB"}, "--memory-limit", "memory_limit"),
    (["mlp@fake", "--sandbox", "strictt"], {"sandbox": "strictt"}, "--sandbox", "sandbox"),
    (["mlp@fake", "--dtype", "float23"], {"dtype": "float23"}, "--dtype", "dtype"),
    (["mlp@fake", "--outliers", "iqr:0"], {"outliers": "iqr:0"}, "--outliers", "outliers"),
    (["mlp@fake", "mlp@fake,batch=0"], {"subjects": ["mlp@fake", "mlp@fake,batch=0"]}, "", ""),
    (["a=mlp@fake", "a=mlp@fake"], {"subjects": ["a=mlp@fake", "a=mlp@fake"]}, "", ""),
]


@pytest.mark.parametrize("arguments, settings, flag, key", SAME_WORDS)
def test_sentences_are_those_of_the_command_line(im, run, arguments, settings, flag, key):
    done = run("run", *arguments, "--dry-run")
    assert done.returncode == 2
    with pytest.raises(im.UsageError) as caught:
        im.Plan(**{"subjects": ["mlp@fake"]} | settings)
    assert "infermeter: " + str(caught.value).replace(f"{key}: ", f"{flag}: ", 1) == done.stderr.strip() or \
        f"infermeter: {caught.value}" == done.stderr.strip()


def test_plan_files_are_pointed_into(im, tmp_path, run):
    file = run.folder / "plan.toml"
    file.write_text("processes = 2\niteratons = 3\n")
    with pytest.raises(im.UsageError) as caught:
        im.Plan.from_file("plan.toml")
    assert str(caught.value) == "plan.toml:2:1: unknown key 'iteratons' (did you mean 'iterations'?)"
    assert run("run", "--plan", "plan.toml", "--dry-run").stderr.strip() == f"infermeter: {caught.value}"
    for wrong in (tmp_path / "nowhere.toml", tmp_path):
        with pytest.raises(im.UsageError) as caught:
            im.Plan.from_file(wrong)
        assert run("run", "--plan", wrong, "--dry-run").stderr.strip() == f"infermeter: {caught.value}"
