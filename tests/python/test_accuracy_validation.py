"""validate() and the earlier tool's AccuracyValidator, on objects of this process."""

import dataclasses
import json
import math

import numpy as np
import pytest


def images(count=4, seed=1):
    random = np.random.default_rng(seed)
    return [random.random((2, 1, 16, 16)).astype("float32") for _ in range(count)]


def test_metrics_are_those_of_scikit_image_and_numpy(im):
    skimage = pytest.importorskip("skimage.metrics")
    loader = images()
    result = im.AccuracyValidator(lambda x: x, lambda x: x * np.float32(1.02), loader, tolerance=0.05).validate()
    metrics = result["metrics"]
    a, b = np.stack(loader), np.stack(loader) * np.float32(1.02)
    assert result["passed"] and result["num_samples"] == 4
    assert metrics.mae == pytest.approx(np.abs(a - b).mean(), rel=1e-5)
    assert metrics.mse == pytest.approx(((a - b) ** 2).mean(), rel=1e-5)
    assert metrics.max_difference == pytest.approx(np.abs(a - b).max())
    assert metrics.relative_error == pytest.approx(np.linalg.norm(a - b) / np.linalg.norm(a), rel=1e-5)
    assert metrics.psnr == pytest.approx(skimage.peak_signal_noise_ratio(a, b, data_range=float(np.ptp(a))), rel=1e-5)
    assert metrics.cosine_similarity == pytest.approx(1)
    own = [np.mean([skimage.structural_similarity(x[0], (x * np.float32(1.02))[0], data_range=float(np.ptp(item)))
                    for x in item]) for item in loader]
    assert metrics.ssim == pytest.approx(np.mean(own), rel=1e-4)


def test_what_lies_beyond_the_tolerance_fails_and_is_printed(im, capsys):
    loader = images()
    assert im.validate_optimization(lambda x: x, lambda x: x * 1.02, loader, tolerance=0.03)
    assert "✓ accuracy maintained: 4 inputs" in capsys.readouterr().out
    assert not im.validate_optimization(lambda x: x, lambda x: x * 1.02, loader, tolerance=0.01)
    assert "✗ NOT within tolerance" in capsys.readouterr().out
    assert not im.validate_optimization(lambda x: x, lambda x: x[:1], loader)
    assert "cannot be compared: it has shape" in capsys.readouterr().out


def labelled(rows):
    scores = np.random.default_rng(3).random((rows, 10)).astype("float32")
    return [(scores[i : i + 50], scores[i : i + 50].argmax(axis=1)) for i in range(0, rows, 50)]


def test_labels_give_accuracy_and_its_drop(im):
    loader = labelled(1000)
    alike = im.AccuracyValidator(lambda x: x, lambda x: x * 2, loader, tolerance=0.01).validate()
    assert alike["passed"] and not all(output.within_tolerance for output in alike["outputs"])
    assert alike["accuracy"].outcome == "pass" and alike["metrics"].optimized_accuracy == 1
    forgetful = np.ones(10, "float32")
    forgetful[0] = 0
    worse = im.AccuracyValidator(lambda x: x, lambda x: x * forgetful, loader, tolerance=0.01).validate()
    lost = sum(int((labels == 0).sum()) for _, labels in loader) / 1000
    low, high = worse["accuracy"].change_interval
    assert not worse["passed"] and worse["accuracy"].outcome == "fail"
    assert worse["accuracy"].change == pytest.approx(-lost) and low < -lost < high < 0
    # Too few rows to tell: what is not alike does not pass on them.
    few = im.AccuracyValidator(lambda x: x, lambda x: x * 2, labelled(50), tolerance=0.01).validate()
    assert few["accuracy"].outcome == "inconclusive" and not few["passed"]


def test_targets_of_a_regression_are_no_labels(im):
    loader = [(x, x) for x in images()]
    assert im.AccuracyValidator(lambda x: x, lambda x: x, loader).validate()["accuracy"] is None


def test_refusals(im):
    with pytest.raises(im.UsageError, match="tolerance=-1"):
        im.AccuracyValidator(tolerance=-1)
    with pytest.raises(im.UsageError, match="needs baseline_model"):
        im.AccuracyValidator(tolerance=0.02).validate()
    with pytest.raises(im.UsageError, match="gave nothing"):
        im.AccuracyValidator(abs, abs, []).validate()
    with pytest.raises(im.UsageError, match="gave 3 things"):
        im.AccuracyValidator(abs, abs, [(1, 2, 3)]).validate()
    with pytest.raises(im.UsageError, match="gave a mapping"):
        im.AccuracyValidator(abs, abs, [{"x": 1}]).validate()
    with pytest.raises(im.UsageError, match="no output has scores"):
        im.AccuracyValidator(abs, abs, [(np.ones((3, 4), "float32"), np.ones(5, "int64"))]).validate()
    with pytest.raises(ZeroDivisionError):
        im.AccuracyValidator(abs, lambda x: x / 0 if x is None else 1 // 0, [np.ones(3)]).validate()


def test_one_input_and_its_picture(im, run):
    comparator = im.OutputComparator(lambda x: x, lambda x: x + np.float32(0.25))
    comparison = comparator.compare(images()[0])
    assert not comparison and comparison.outputs[0].max_absolute == pytest.approx(0.25)
    assert comparator.compare(images()[0], tolerance=0.5)
    pytest.importorskip("matplotlib")
    assert comparator.visualize_diff(comparison, "difference.png") == ["difference.png"]
    assert (run.folder / "difference.png").read_bytes().startswith(b"\x89PNG")
    flat = im.OutputComparator(lambda x: x.sum(axis=(1, 2, 3)), lambda x: x.sum(axis=(1, 2, 3)))
    with pytest.raises(im.UsageError, match="no output is an image"):
        flat.visualize_diff(flat.compare(images()[0]), "difference.png")
    assert flat.visualize_diff(flat.compare(images()[0])) == []  # it is printed


def test_models_are_left_as_they_were(im):
    torch = pytest.importorskip("torch")
    model, other = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
    model.train(), other.eval()
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    im.AccuracyValidator(model, other, [torch.ones(3, 4)]).validate()
    assert model.training and not other.training and torch.is_grad_enabled()
    assert torch.get_num_threads() == threads and torch.equal(torch.get_rng_state(), state)


def test_subjects_are_validated_as_on_the_command_line(im):
    validation = im.validate("a=mlp@fake", "b=mlp@fake,output_error=1%", perturb=4)
    assert not validation and validation.outcome == "fail" and not validation.agree
    assert len(validation.items) == len(validation.samples) == 4
    worst = validation.samples[validation.worst(1)[0]]
    assert worst.max_absolute == max(sample.max_absolute for sample in validation.samples)
    assert "✗ b DIFFERS from a" in validation.text() and validation.markdown().startswith("## ✗")
    assert json.loads(validation.json())["outcome"] == "fail"
    assert im.validate("a=mlp@fake", "b=mlp@fake,output_error=1%", rtol=0.05)
    assert math.isinf(im.validate("a=mlp@fake", "b=mlp@fake").outputs[0].psnr_db)
    with pytest.raises(im.UsageError, match="relative tolerance must be a number of at least 0, not -1"):
        im.validate("a=mlp@fake", "b=mlp@fake", rtol=-1)
    with pytest.raises(im.WorkerError, match="b: crashed"):
        im.validate("a=mlp@fake", "b=mlp@fake,crash=run:1")


def test_an_output_that_is_no_number_has_no_error(im):
    def broken(x):
        out = x * 2
        out[0, 0] = np.nan
        return out

    validator = im.AccuracyValidator(lambda x: x * 2, broken, [np.ones((3, 4), np.float32)])
    found = validator.validate()
    assert not found["passed"] and found["outputs"][0].non_finite_apart == 1
    figures = dataclasses.asdict(found["metrics"])
    assert all(math.isnan(figure) for figure in figures.values())
    validator.print_report()


def test_masks_decide_over_images(im, capsys):
    random = np.random.default_rng(4)
    scores = random.random((12, 3, 8, 8)).astype("float32")
    truth = scores.argmax(axis=1)
    loader = [(scores[i : i + 3], truth[i : i + 3]) for i in range(0, 12, 3)]
    alike = im.AccuracyValidator(lambda x: x, lambda x: x * 2, loader, tolerance=0.01)
    result = alike.validate()
    assert not result["outputs"][0].within_tolerance and result["passed"] and result["accuracy"].outcome == "pass"
    assert result["metrics"].baseline_accuracy == result["metrics"].optimized_accuracy == 1
    forgetful = np.array([0, 1, 1], "float32").reshape(3, 1, 1)
    worse = im.AccuracyValidator(lambda x: x, lambda x: x * forgetful, loader, tolerance=0.01)
    result = worse.validate()
    assert not result["passed"] and result["accuracy"].outcome == "fail"
    assert result["accuracy"].change == pytest.approx(-(truth == 0).mean()) and result["accuracy"].p_value is None
    worse.print_report()
    assert "], over masks" in capsys.readouterr().out


def test_a_validation_is_asked_again_with_other_tolerances(im):
    validator = im.AccuracyValidator(lambda x: x, lambda x: x * 1.03, images())
    assert not validator.validate()["passed"]
    assert [im.AccuracyValidator(tolerance=t).validate()["passed"] for t in (0.02, 0.05, 0.02)] == [False, True, False]
