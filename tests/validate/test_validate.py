"""validate A B: agreement and its opposite on real input, what is said where figures are odd, and every refusal."""

import json
import math
from pathlib import Path

import numpy
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from recorded_sets import write_set  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/schema/validation.schema.json").read_text(encoding="utf-8"))
RUN_SCHEMA = json.loads((ROOT / "docs/schema/run.schema.json").read_text(encoding="utf-8"))


def test_what_runs_and_validations_share_is_the_same():
    for name in ("output_difference", "accuracy", "diagnostic", "interval"):
        assert SCHEMA["$defs"][name] == RUN_SCHEMA["$defs"][name]


def write_model(path, nodes, shape, outputs=("y",), constants=(), out_shape=None, dtype=TensorProto.FLOAT, out_dtype=TensorProto.FLOAT):
    """A model of one input x, and outputs of its shape."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", dtype, shape)], [value(name, out_dtype, out_shape or shape) for name in outputs],
        [numpy_helper.from_array(numpy.asarray(array, "float32"), name) for name, array in constants])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return path


def scaled(path, factor, shape=("batch", 10)):
    """y = x * factor"""
    return write_model(path, [helper.make_node("Mul", ["x", "k"], ["y"])], list(shape), constants=[("k", factor)])


@pytest.fixture
def onnxruntime(run):
    if not json.loads(run("backends", "onnxruntime", "--format", "json").stdout)["usable"]:
        pytest.skip("ONNX Runtime is not installed")
    return "onnxruntime"


def validated(run, *arguments, code=0):
    done = run("validate", *arguments, "--format", "json")
    assert done.returncode == code, done.stderr
    report = json.loads(done.stdout)
    assert set(SCHEMA["properties"]) == set(report)
    return report


def refused(run, *arguments, code=2):
    done = run("validate", *arguments)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == "" and "Traceback" not in done.stderr
    return done.stderr


FAKE = "mlp@fake"


def test_two_runtimes_agree(run, onnxruntime):
    if not json.loads(run("backends", "openvino", "--format", "json").stdout)["usable"]:
        pytest.skip("OpenVINO is not installed")
    done = run("validate", "mlp@onnxruntime", "mlp@openvino")
    assert done.returncode == 0, done.stderr
    assert "✓ mlp@openvino agrees" in done.stdout or "✓ openvino agrees" in done.stdout
    assert "a synthetic item, and 9 of it with noise of 1" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_noise_stays_valid_and_is_the_same_for_both(run):
    report = validated(run, FAKE, "b=mlp@fake")
    assert report["outcome"] == "pass" and len(report["samples"]) == 10
    assert report["data"]["perturb"] == 10 and report["samples"][3]["name"] == "synthetic 0 with noise 3"
    assert all(sample["max_absolute"] == 0 for sample in report["samples"])
    assert report["outputs"][0]["difference"]["psnr_db"] is None  # infinite


def test_what_differs_is_told_by_output_by_sample_and_over_all(run):
    report = validated(run, "a=mlp@fake", "b=mlp@fake,output_error=1%", code=1)
    (output,) = report["outputs"]
    samples = report["samples"]
    assert report["outcome"] == "fail" and not report["agree"]
    assert output["difference"]["mismatched"] == sum(sample["mismatched"] for sample in samples) > 0
    assert output["difference"]["max_absolute"] == max(sample["max_absolute"] for sample in samples) > output["allowed"]
    for sample in samples:
        assert sample["within_tolerance"] == (sample["max_absolute"] <= output["allowed"])
        assert abs(sample["reference_at_max"] - sample["candidate_at_max"]) == pytest.approx(sample["max_absolute"], rel=1e-6)
    done = run("validate", "a=mlp@fake", "b=mlp@fake,output_error=1%", "--worst", 2)
    assert done.returncode == 1 and "✗ b DIFFERS from a" in done.stdout
    assert "BY SAMPLE, the worst 2 of 10" in done.stdout and "beyond the tolerance" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert validated(run, "a=mlp@fake", "b=mlp@fake,output_error=1%", "--rtol", 0.05)["outcome"] == "pass"


def test_the_worst_sample_comes_first(run, onnxruntime):
    good = scaled(run.folder / "good.onnx", 1)
    bad = write_model(run.folder / "bad.onnx", [helper.make_node("Mul", ["x", "x"], ["y"])], ["batch", 10])
    data = numpy.ones((6, 10), "float32")
    data[4, 7] = 3
    data[2, 1] = 2
    numpy.save(run.folder / "d.npy", data)
    report = validated(run, f"{good}@onnxruntime", f"{bad}@onnxruntime", "--data", "d.npy", code=1)
    assert [sample["within_tolerance"] for sample in report["samples"]] == [True, True, False, True, False, True]
    worst = report["samples"][4]
    assert (worst["max_absolute_index"], worst["reference_at_max"], worst["candidate_at_max"]) == (7, 3, 9)
    text = run("validate", f"{good}@onnxruntime", f"{bad}@onnxruntime", "--data", "d.npy", "--worst", 1).stdout
    assert "item 4" in text.split("BY SAMPLE")[1] and "[0, 7]" in text


def test_outputs_of_another_shape_are_named(run):
    done = run("validate", "a=mlp@fake", "b=mlp@fake,outputs=wrong_shape")
    assert done.returncode == 1, done.stderr
    assert "output 'output' cannot be compared: it has shape" in " ".join(done.stdout.split())
    validated(run, "a=mlp@fake", "b=mlp@fake,outputs=wrong_shape", code=1)


def test_outputs_of_another_type_are_named(run, onnxruntime):
    a = scaled(run.folder / "a.onnx", 1)
    b = write_model(run.folder / "b.onnx", [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT64)], ["batch", 10],
                    out_dtype=TensorProto.INT64)
    done = run("validate", f"{a}@onnxruntime", f"{b}@onnxruntime")
    assert done.returncode == 1, done.stderr
    assert "cannot be compared: it is int64 here but float32 in the reference" in " ".join(done.stdout.split())


def test_another_number_of_outputs_is_named(run, onnxruntime):
    one = scaled(run.folder / "one.onnx", 1)
    two = write_model(run.folder / "two.onnx", [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])],
                      ["batch", 10], outputs=("y", "z"))
    done = run("validate", f"{one}@onnxruntime", f"{two}@onnxruntime")
    assert done.returncode == 1 and "there are 2 outputs here but 1 in the reference" in done.stdout


def test_a_baseline_that_does_not_repeat_itself_sets_the_floor(run):
    report = validated(run, "a=mlp@fake,outputs=random", "b=mlp@fake,outputs=zeros", "--perturb", 3, "--atol", 0, "--rtol", 0)
    (again,) = report["again"]["outputs"]
    assert report["again"]["items"] == 3
    assert report["outputs"][0]["floor"] == again["max_absolute"] > 0
    assert report["outputs"][0]["allowed"] == again["max_absolute"]
    text = run("validate", "a=mlp@fake,outputs=random", "b=mlp@fake,outputs=zeros").stdout
    assert "the baseline does not repeat itself" in text


def test_nan_in_the_baseline_is_named(run, onnxruntime):
    root = write_model(run.folder / "m.onnx", [helper.make_node("Sqrt", ["x"], ["y"])], ["batch", 4])
    numpy.save(run.folder / "d.npy", numpy.asarray([[1, 4, -1, 9]], "float32"))
    done = run("validate", f"a={root}@onnxruntime", f"b={root}@onnxruntime", "--data", "d.npy")
    assert done.returncode == 0 and "the baseline itself has 1 NaN and 0 infinite values in 'y'" in " ".join(done.stdout.split())
    done = run("validate", "a=mlp@fake", "b=mlp@fake,outputs=nan")
    assert done.returncode == 1 and "NaN or infinite in one" in " ".join(done.stdout.split())


@pytest.mark.parametrize("other, code", [(1, 0), (2, 1)])
def test_constant_images_and_one_image(run, onnxruntime, other, code):
    shape = [1, 1, 8, 8]
    for name, value in (("a", 1), ("b", other)):
        nodes = [helper.make_node("Mul", ["x", "zero"], ["nothing"]), helper.make_node("Add", ["nothing", "k"], ["y"])]
        write_model(run.folder / f"{name}.onnx", nodes, shape, constants=[("zero", 0), ("k", value)])
    numpy.save(run.folder / "one.npy", numpy.random.default_rng(1).random(shape, "float32"))
    arguments = ("a.onnx@onnxruntime", "b.onnx@onnxruntime", "--data", "one.npy")
    report = validated(run, *arguments, code=code)
    figures = report["outputs"][0]["difference"]
    assert report["data"]["items"] == 1 and figures["pearson"] is None and figures["psnr_db"] is None
    text = " ".join(run("validate", *arguments).stdout.split())
    assert "is constant in the baseline: it correlates with nothing" in text
    if code == 0:
        assert figures["ssim"] == 1 and "PSNR is infinite" in text and "1 sample, 1 output" in text


def test_images_have_psnr_and_ssim(run, onnxruntime):
    skimage = pytest.importorskip("skimage.metrics")
    shape = (3, 1, 16, 16)
    scaled(run.folder / "a.onnx", 1, ["batch", 1, 16, 16])
    scaled(run.folder / "b.onnx", 1.05, ["batch", 1, 16, 16])
    x = numpy.random.default_rng(1).random(shape).astype("float32")
    numpy.save(run.folder / "x.npy", x)
    report = validated(run, "a.onnx@onnxruntime", "b.onnx@onnxruntime", "--data", "x.npy", code=1)
    y = x * numpy.float32(1.05)
    for sample, a, b in zip(report["samples"], x[:, 0], y[:, 0], strict=True):
        span = float(a.max() - a.min())
        assert sample["psnr_db"] == pytest.approx(skimage.peak_signal_noise_ratio(a, b, data_range=span), rel=1e-5)
        assert sample["ssim"] == pytest.approx(skimage.structural_similarity(a, b, data_range=span), rel=1e-4)
    whole = report["outputs"][0]["difference"]
    assert whole["ssim"] == pytest.approx(numpy.mean([sample["ssim"] for sample in report["samples"]]))


def labelled(folder, rows, seed=1):
    """Scores of ten classes as inputs, and the class of the largest."""
    scores = numpy.random.default_rng(seed).random((rows, 10)).astype("float32")
    numpy.save(folder / "scores.npy", scores)
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in scores.argmax(axis=1)))
    return scores


def test_labels_tell_the_drop_with_its_interval(run, onnxruntime):
    scores = labelled(run.folder, 400)
    a = scaled(run.folder / "a.onnx", 1)
    # Class 0 is never chosen: those rows, and only those, are lost.
    b = write_model(run.folder / "b.onnx", [helper.make_node("Mul", ["x", "k"], ["y"])], ["batch", 10],
                    constants=[("k", [0] + [1] * 9)])
    lost = int((scores.argmax(axis=1) == 0).sum())
    arguments = (f"a={a}@onnxruntime", f"b={b}@onnxruntime", "--data", "scores.npy", "--labels", "labels.txt")
    report = validated(run, *arguments, code=1)
    assert report["baseline"]["accuracy"]["value"] == 1
    change = report["candidate"]["accuracy"]["change"]
    assert change["value"] == pytest.approx(-lost / 400) and change["reference_only"] == lost
    assert change["interval"]["low"] < -lost / 400 < change["interval"]["high"] < 0
    assert report["drop"] is None
    # Where a drop is allowed the labels decide.
    assert validated(run, *arguments, "--max-drop", "50%")["drop"]["outcome"] == "pass"
    passed = run("validate", *arguments, "--max-drop", "50%").stdout
    assert "✓ b is as accurate as required, compared with a" in passed and "✗" not in passed.split("OVERALL")[1]
    assert validated(run, *arguments, "--max-drop", "1%", code=1)["drop"]["outcome"] == "fail"
    near = str(lost / 400)
    assert validated(run, *arguments, "--max-drop", near)["outcome"] == "inconclusive"
    assert run("validate", *arguments, "--max-drop", near, "--fail-inconclusive").returncode == 5
    text = " ".join(run("validate", *arguments, "--tolerance-accuracy", "0.01").stdout.split())
    assert "b is less right than a" in text or "b DIFFERS from a" in text
    assert f"class 0 loses most: {lost} of its {lost} rows" in text and "McNemar p" in text


def test_masks_tell_overlaps(run, onnxruntime):
    shape = ["batch", 2, 8, 8]
    a = scaled(run.folder / "a.onnx", 1, shape)
    b = write_model(run.folder / "b.onnx", [helper.make_node("Mul", ["x", "k"], ["y"])], shape,
                    constants=[("k", numpy.asarray([1, 0.8]).reshape(1, 2, 1, 1))])
    x = numpy.random.default_rng(2).random((5, 2, 8, 8)).astype("float32")
    numpy.save(run.folder / "x.npy", x)
    numpy.save(run.folder / "masks.npy", x.argmax(axis=1))
    arguments = (f"a={a}@onnxruntime", f"b={b}@onnxruntime", "--data", "x.npy", "--labels", "masks.npy")
    report = validated(run, *arguments, "--max-drop", "1%", code=1)
    masks = report["candidate"]["accuracy"]["masks"]
    got = (x * numpy.asarray([1, 0.8], "float32").reshape(1, 2, 1, 1)).argmax(axis=1)
    truth = x.argmax(axis=1)
    for one in masks["classes"]:
        both = ((got == one["label"]) & (truth == one["label"])).sum()
        either = ((got == one["label"]) | (truth == one["label"])).sum()
        assert one["iou"] == pytest.approx(both / either)
    assert report["drop"]["outcome"] == "fail"
    assert "mean IoU" in run("validate", *arguments).stdout


def test_data_are_perturbed_where_that_is_asked(run, onnxruntime):
    a = scaled(run.folder / "a.onnx", 1)
    numpy.save(run.folder / "d.npy", numpy.random.default_rng(1).random((3, 10)).astype("float32"))
    report = validated(run, f"a={a}@onnxruntime", f"b={a}@onnxruntime", "--data", "d.npy", "--perturb", 4, "--noise", "5%")
    assert [sample["name"] for sample in report["samples"]] == ["item 0", *(f"item 0 with noise {n}" for n in (1, 2, 3))]
    assert report["data"]["noise"] == 0.05


def test_one_output_can_have_its_own_tolerance(run):
    arguments = ("a=mlp@fake", "b=mlp@fake,output_error=1%")
    name = validated(run, *arguments, code=1)["outputs"][0]["difference"]["name"]
    assert validated(run, *arguments, "--tolerance", f"{name}=0.05")["outcome"] == "pass"
    assert validated(run, *arguments, "--tolerance", f"{name}=0:1000")["outcome"] == "pass"
    assert f"a tolerance is given for output 'no', the outputs are '{name}'" in refused(run, *arguments, "--tolerance", "no=1")


@pytest.mark.parametrize("arguments, said", [
    (["--rtol", "-1"], "--rtol: expected a number of at least 0, got -1"),
    (["--atol", "-0.5"], "--atol: expected a number of at least 0"),
    (["--tolerance", "y=-1"], "--tolerance: expected a number of at least 0, got -1"),
    (["--tolerance", "y=0.1:-1"], "--tolerance: expected a number of at least 0"),
    (["--tolerance", "0.1"], "is not of the form OUTPUT=RTOL"),
    (["--tolerance", "y=much"], "'much' is not a number"),
    (["--perturb", "0"], "--perturb: expected a number of at least 1"),
    (["--noise", "200%"], "--noise must be a share between 0 and 1"),
    (["--max-drop", "200%"], "--max-drop must be a share between 0 and 1"),
    (["--max-drop", "1%"], "give --labels FILE"),
    (["--format", "csv"], "has no csv report"),
    (["--labels", "nosuch.txt"], "nosuch.txt"),
])
def test_refusals(run, arguments, said):
    assert said in refused(run, "a=mlp@fake", "b=mlp@fake", *arguments)


def test_subjects_that_cannot_be_compared(run):
    assert "the batch sizes are 1 and 2" in refused(run, "a=mlp@fake", "b=mlp@fake,batch=2")
    assert "validate compares two subjects" in refused(run, "a=mlp@fake", "b=mlp@fake", "c=mlp@fake")
    assert "are for two subjects: give a second one" in refused(run, FAKE, "--perturb", 3)
    assert "names its back end" in refused(run, FAKE, "mlp", "--backend", "fake")


@pytest.mark.parametrize("option, code, said", [
    ("crash=run:1", 4, "crashed"), ("fail=load", 3, "load_failed"), ("fail=run:2", 3, "run_failed")])
@pytest.mark.parametrize("which", ["a", "b"])
def test_a_subject_that_ends_badly_is_named(run, which, option, code, said):
    subjects = {name: f"{name}=mlp@fake" for name in "ab"}
    subjects[which] += f",{option}"
    message = refused(run, *subjects.values(), code=code)
    assert f"{which}: {said}" in message


def test_reports_go_where_they_are_asked_for(run):
    assert run("validate", FAKE, "b=mlp@fake", "--output", "r.md", "--format", "markdown").returncode == 0
    text = (run.folder / "r.md").read_text()
    assert text.startswith("## ✓") and "| Output | Verdict |" in text
    assert "exists already" in refused(run, FAKE, "b=mlp@fake", "--output", "r.md")
    assert run("validate", FAKE, "b=mlp@fake", "--output", "r.md", "--force").returncode == 0


def test_one_subject_in_the_short_form_is_held_against_recorded_outputs(run, onnxruntime):
    model = scaled(run.folder / "m.onnx", 2, ["batch", 3])
    x = numpy.ones((2, 3), "float32")
    data = write_set(run.folder / "test_data_set_0", [x], [2 * x])
    done = run("validate", f"{model}@onnxruntime", "--data", data)
    assert done.returncode == 0 and "agrees" in done.stdout, done.stderr
    assert "or a second subject" in refused(run, f"{model}@onnxruntime")


def test_psnr_is_never_a_text_that_is_no_number(run):
    for sample in validated(run, FAKE, "b=mlp@fake,output_error=1%", code=1)["samples"]:
        assert sample["psnr_db"] is None or math.isfinite(sample["psnr_db"])


def network(path, seed, scale):
    """Two layers of random weights, with outputs of about `scale`."""
    random = numpy.random.default_rng(seed)
    weights = [("v", random.normal(size=(10, 16)) / 4), ("w", random.normal(size=(16, 10)) * scale / 4)]
    nodes = [helper.make_node("MatMul", ["x", "v"], ["h"]), helper.make_node("Relu", ["h"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])]
    return write_model(path, nodes, ["batch", 10], constants=weights)


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1, 1e6])
def test_different_networks_differ_whatever_the_size_of_their_outputs(run, onnxruntime, scale):
    one, two = network(run.folder / "one.onnx", 1, scale), network(run.folder / "two.onnx", 2, scale)
    report = validated(run, f"a={one}@onnxruntime", f"b={two}@onnxruntime", "--perturb", 2, code=1)
    (output,) = report["outputs"]
    assert output["difference"]["mismatched"] > 15 and output["difference"]["tolerance_absolute"] == 0
    if json.loads(run("backends", "openvino", "--format", "json").stdout)["usable"]:
        assert validated(run, f"a={one}@onnxruntime", f"b={one}@openvino", "--perturb", 2)["agree"]


def test_a_run_tells_different_networks_of_tiny_outputs_apart(run, onnxruntime):
    one, two = network(run.folder / "one.onnx", 1, 1e-9), network(run.folder / "two.onnx", 2, 1e-9)
    done = run("run", f"a={one}@onnxruntime", f"b={two}@onnxruntime", "--processes", 1, "--iterations", 2, "--warmup", 1)
    assert done.returncode == 1 and "DIFFER" in done.stdout, done.stderr


def test_outputs_of_zeros_tell_nothing(run, onnxruntime):
    one, two = scaled(run.folder / "one.onnx", 0), scaled(run.folder / "two.onnx", 0)
    subjects = f"a={one}@onnxruntime", f"b={two}@onnxruntime"
    report = validated(run, *subjects)
    assert (report["outcome"], report["agree"], report["undecided"]) == ("inconclusive", False, True)
    assert [each["id"] for each in report["diagnostics"]] == ["outputs_undecided"]
    text = " ".join(run("validate", *subjects).stdout.split())
    assert "it cannot be determined whether b agrees with a" in text and "'y' is 0 throughout in both" in text
    assert run("validate", *subjects, "--fail-inconclusive").returncode == 5
    assert validated(run, *subjects, "--atol", 1e-3)["agree"]
    done = run("run", *subjects, "--processes", 1, "--iterations", 2, "--warmup", 1, "--format", "json", "--no-samples")
    outputs = json.loads(done.stdout)["subjects"][1]["outputs"]
    assert (done.returncode, outputs["agree"], outputs["undecided"]) == (0, False, True)
