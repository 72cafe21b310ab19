"""Accuracy in runs: labels, masks, what does not fit; models that add a bias to scores that NumPy has as well."""

import csv
import io
import json

import numpy as np
import pytest
from onnx import TensorProto, helper, save

ROWS, CLASSES = 400, 7
QUICK = ("--iterations", "3", "--warmup", "1", "--processes", "2")


def model(path, bias, shape):
    """scores = x + bias"""
    add = helper.make_node("Add", ["x", "bias"], ["scores"])
    value = helper.make_tensor("bias", TensorProto.FLOAT, bias.shape, bias.ravel().tolist())
    graph = helper.make_graph([add], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, shape)], [value])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


@pytest.fixture
def classifier(run):
    """Two classifiers and their data in the current folder; x, labels, biases."""
    random = np.random.default_rng(6)
    labels = random.integers(0, CLASSES, ROWS)
    x = random.normal(0, 1, (ROWS, CLASSES)).astype(np.float32)
    x[np.arange(ROWS), labels] += 1.7
    biases = [np.zeros(CLASSES, np.float32), np.array([0.8, 0, 0, 0, 0, 0, -0.8], np.float32)]
    np.save(run.folder / "x.npy", x)
    (run.folder / "labels.txt").write_text("".join(f"{label}\n" for label in labels))
    for name, bias in zip(("a", "b"), biases):
        model(run.folder / f"{name}.onnx", bias, ["N", CLASSES])
    return x, labels, biases


def measured(run, *arguments, code=1, data="x.npy"):
    done = run("run", "a=a.onnx@onnxruntime", "b=b.onnx@onnxruntime", "--data", data, *QUICK, "--format", "json", *arguments)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)["subjects"]


def right_of(x, labels, bias):
    return (x + bias).argmax(1) == labels


def test_accuracy_and_its_change_are_numpys(run, classifier):
    x, labels, biases = classifier
    first, second = (right_of(x, labels, bias) for bias in biases)
    a, b = measured(run, "--labels", "labels.txt")
    assert a["accuracy"]["value"] == first.mean() and b["accuracy"]["value"] == second.mean()
    assert a["accuracy"]["output"] == "scores" and a["accuracy"]["reference"] is None and a["accuracy"]["change"] is None
    change = b["accuracy"]["change"]
    assert (change["both"], change["reference_only"], change["candidate_only"], change["neither"]) == (
        (first & second).sum(), (first & ~second).sum(), (~first & second).sum(), (~first & ~second).sum())
    assert change["value"] == pytest.approx(second.mean() - first.mean(), abs=1e-15)
    assert change["interval"]["low"] < change["value"] < change["interval"]["high"] and 0 <= change["p"] <= 1
    interval = a["accuracy"]["interval"]
    assert interval["low"] < first.mean() < interval["high"]
    ranks = (np.argsort(np.argsort(-(x + biases[1]), axis=1), axis=1))[np.arange(ROWS), labels]
    assert b["accuracy"]["labels"]["top5_share"] == (ranks < 5).mean()
    by_class = {one["label"]: (one["rows"], one["right"]) for one in b["accuracy"]["labels"]["classes"]}
    assert by_class == {int(c): (int((labels == c).sum()), int(second[labels == c].sum())) for c in range(CLASSES)}


def test_every_report_has_it(run, classifier):
    x, labels, biases = classifier
    first, second = (right_of(x, labels, bias).mean() for bias in biases)
    measured(run, "--labels", "labels.txt")
    table = run("report", "latest").stdout
    assert "Accuracy" in table and f"{second:.4f} ({second - first:+.4f})" in table
    assert f"a: accuracy {first:.4f} [" in table and f"of {ROWS} rows" in table
    markdown = run("report", "latest", "--format", "markdown").stdout
    assert "| Accuracy | Outputs |" in markdown and f"| {first:.4f} |" in markdown
    rows = list(csv.DictReader(io.StringIO(run("report", "latest", "--format", "csv").stdout)))
    assert float(rows[0]["accuracy"]) == pytest.approx(first, abs=1e-11)
    assert float(rows[1]["accuracy_change"]) == pytest.approx(second - first, abs=1e-11)
    assert float(rows[1]["accuracy_change_low"]) < float(rows[1]["accuracy_change"]) < float(rows[1]["accuracy_change_high"])
    assert rows[0]["accuracy_change"] == "" and rows[0]["mean_iou"] == "" and float(rows[1]["outputs_mae"]) > 0
    without = run("run", "a=a.onnx@onnxruntime", "--data", "x.npy", *QUICK).stdout
    assert "Accuracy" not in without and "accuracy" not in without


def test_labels_as_an_array_in_batches_and_without_comparing_outputs(run, classifier):
    x, labels, biases = classifier
    np.save(run.folder / "labels.npy", labels)
    a, b = measured(run, "--labels", "labels.npy", "--batch-sizes", "3", "--no-compare-outputs", code=0)
    whole = ROWS // 3 * 3
    assert b["accuracy"]["labels"]["rows"] == whole and b["outputs"] is None
    assert b["accuracy"]["value"] == right_of(x, labels, biases[1])[:whole].mean()
    assert b["accuracy"]["change"]["both"] > 0
    done = run("run", "a=a.onnx@onnxruntime", "--data", "x.npy", "--data-limit", "50", *QUICK, "--format", "json",
               env={"INFERMETER_LABELS": "labels.npy"})
    assert json.loads(done.stdout)["subjects"][0]["accuracy"]["labels"]["rows"] == 50


def test_masks(run):
    random = np.random.default_rng(7)
    x = random.normal(0, 1, (6, 3, 8, 9)).astype(np.float32)
    mask = random.integers(-1, 3, (6, 8, 9))
    np.save(run.folder / "x.npy", x)
    np.save(run.folder / "mask.npy", mask)
    bias = np.array([0.5, 0, -0.5], np.float32).reshape(3, 1, 1)
    for name, value in (("a", np.zeros_like(bias)), ("b", bias)):
        model(run.folder / f"{name}.onnx", value, ["N", 3, 8, 9])
    _, b = measured(run, "--labels", "mask.npy")
    predicted, known = (x + bias).argmax(1), mask >= 0
    masks = b["accuracy"]["masks"]
    assert masks["pixels"] == known.sum() and b["accuracy"]["value"] == (predicted == mask)[known].mean()
    overlaps = [((predicted == c) & (mask == c)).sum() / (((predicted == c) & known) | (mask == c)).sum() for c in range(3)]
    assert masks["mean_iou"] == pytest.approx(np.mean(overlaps), rel=1e-12)
    assert b["accuracy"]["interval"] is None and b["accuracy"]["change"] is None
    table = run("report", "latest").stdout
    assert f"IoU {np.mean(overlaps):.4f}" in table and "of the pixels are right, mean IoU" in table


def test_what_does_not_fit_is_refused(run, classifier):
    def refused(text, *words):
        (run.folder / "labels.txt").write_text(text)
        done = run("run", "a=a.onnx@onnxruntime", "--data", "x.npy", "--labels", "labels.txt", *QUICK)
        assert done.returncode == 2, done.stdout
        for word in words:
            assert word in done.stdout + done.stderr
        assert "Traceback" not in done.stderr

    refused("1\n2\n", "'labels.txt' has 2 labels", "have 400 rows")
    refused("cat\n", "labels.txt' line 1: 'cat' is not a class index")
    refused("9\n" * ROWS, "'labels.txt' does not fit the outputs of 'a'", "label 9 is not a class")
    (run.folder / "labels.txt").unlink()
    done = run("run", "a=a.onnx@onnxruntime", "--data", "x.npy", "--labels", "labels.txt", *QUICK)
    assert done.returncode == 2


def test_scores_that_are_none(run):
    np.save(run.folder / "x.npy", np.zeros((4, 1), np.float32))
    (run.folder / "labels.txt").write_text("0\n" * 4)
    model(run.folder / "a.onnx", np.zeros(1, np.float32), ["N", 1])
    done = run("run", "a=a.onnx@onnxruntime", "--data", "x.npy", "--labels", "labels.txt", *QUICK)
    assert done.returncode == 2 and "no output has a row of scores for each label" in done.stderr


def test_a_gate_on_accuracy(run, classifier):
    x, labels, biases = classifier
    first, second = (right_of(x, labels, bias).mean() for bias in biases)
    measured(run, "--labels", "labels.txt")

    def gate(*expectations):
        (run.folder / "gate.toml").write_text(f"run = 'latest'\nexpect = {json.dumps(expectations)}\n")
        done = run("gate", "gate.toml", "--format", "json")
        return done.returncode, {one["expectation"]: one for one in json.loads(done.stdout)["verdicts"] if one["subject"] == "b"}

    code, found = gate(f"accuracy >= {second - 0.1}", f"accuracy_drop <= {first - second + 0.1}", "top5_accuracy >= 50%",
                       "size_reduction >= 0.5", "rmse <= 1")
    assert code == 0 and {one["outcome"] for one in found.values()} == {"pass"}
    drop = next(one for text, one in found.items() if "drop" in text)
    assert drop["value"] == pytest.approx(first - second, abs=1e-12) and drop["n"] == ROWS
    assert gate(f"accuracy_drop <= {first - second - 0.1}")[0] == 1
    run("run", "a=a.onnx@onnxruntime", "--data", "x.npy", *QUICK)
    code = run("gate", "gate.toml", "--run", "latest").returncode
    assert code == 2
    (run.folder / "fresh.toml").write_text("expect = ['accuracy_drop <= 1%']\n[plan]\nsubjects = ['a.onnx@onnxruntime', 'b.onnx@onnxruntime']\n")
    done = run("gate", "fresh.toml")
    assert done.returncode == 2 and done.stderr == (
        "infermeter: 'accuracy_drop <= 1%' needs data with labels (--data, --labels)\n"), done.stderr


def test_folders_of_classes_are_labels_where_there_are_as_many(run, source_dir):
    for index, name in enumerate(("cat", "dog")):
        (run.folder / "pictures" / name).mkdir(parents=True)
        fixture = source_dir / "infermeter/data/fixtures" / ("rgb.png" if index else "grey.png")
        (run.folder / "pictures" / name / "1.png").write_bytes(fixture.read_bytes())
    for classes in (2, 3):
        mean = helper.make_node("ReduceMean", ["x"], ["m"], axes=[1, 2, 3], keepdims=0)
        shape = helper.make_node("Unsqueeze", ["m", "axis"], ["column"])
        scores = helper.make_node("Add", ["column", "bias"], ["scores"])
        bias = np.zeros(classes, np.float32)
        bias[0] = 1
        graph = helper.make_graph(
            [mean, shape, scores], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])],
            [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", classes])],
            [helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
             helper.make_tensor("bias", TensorProto.FLOAT, [classes], bias.tolist())])
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
             run.folder / f"{classes}.onnx")

    def report(classes):
        done = run("run", f"{classes}.onnx@onnxruntime", "--data", "pictures", *QUICK, "--format", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    two = report(2)
    assert two["subjects"][0]["accuracy"]["labels"]["rows"] == 2 and two["subjects"][0]["accuracy"]["value"] == 0.5
    three = report(3)
    assert three["subjects"][0]["accuracy"] is None
    reported = [one for one in three["diagnostics"] if one["id"] == "accuracy_not_told"]
    assert reported and "folders are 2 classes, the output has scores for 3" in reported[0]["message"]
    (run.folder / "labels.csv").write_text("cat/1.png,2\ndog/1.png,0\n")
    done = run("run", "3.onnx@onnxruntime", "--data", "pictures", "--labels", "labels.csv", *QUICK, "--format", "json")
    assert json.loads(done.stdout)["subjects"][0]["accuracy"]["value"] == 0.5
