"""structural_similarity() against scikit-image: 1e-6 of its float64, 1e-4 of its float32."""

import math

import numpy
import pytest
from skimage.metrics import structural_similarity

CASES = 150


def images(rng, shape, dtype="float64"):
    """Two images: noise or something smooth, and that with more or less noise on it."""
    r = rng.random(shape)
    if rng.random() < 0.5:
        for axis in range(r.ndim):
            r = r.cumsum(axis) / numpy.sqrt(numpy.arange(1, r.shape[axis] + 1)).reshape([-1 if a == axis else 1 for a in range(r.ndim)])
    c = r + rng.choice([1e-3, 0.1, 1.0]) * rng.normal(size=shape)
    if numpy.dtype(dtype).kind in "iu":
        r, c = (numpy.clip(100 * image, 0, 200) for image in (r, c))
    return r.astype(dtype), c.astype(dtype)


def settings_of(rng, dimensions):
    """Ours, and scikit-image's."""
    gaussian, sample = bool(rng.random() < 0.4), bool(rng.random() < 0.5)
    size = int(rng.choice([3, 5, 7, 9]))
    data_range = float(rng.choice([0.5, 1.0, 10.0]))
    ours = {"dimensions": dimensions, "data_range": data_range, "sample_covariance": sample}
    theirs = {"data_range": data_range, "use_sample_covariance": sample}
    if gaussian:
        return ours | {"window": "gaussian"}, theirs | {"gaussian_weights": True}, 11
    return ours | {"size": size}, theirs | {"win_size": size}, size


def sides(rng, window, dimensions):
    most = 40 if dimensions == 2 else 16
    return tuple(int(side) for side in rng.integers(window, most + 1, dimensions))


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("layout", ["plain", "channels_last", "batch"])
def test_similarity_is_scikit_images(metrics, dimensions, layout):
    rng = numpy.random.default_rng(dimensions + 10 * len(layout))
    for _ in range(CASES if dimensions == 2 else CASES // 3):
        ours, theirs, window = settings_of(rng, dimensions)
        shape = sides(rng, window, dimensions)
        if layout == "channels_last":
            shape, ours, theirs = (*shape, int(rng.integers(1, 4))), ours | {"channels_last": True}, theirs | {"channel_axis": -1}
        if layout == "batch":
            shape = (2, 3, *shape)
        r, c = images(rng, shape)
        found = metrics.structural_similarity(r, c, **ours)
        pairs = [(r, c)] if layout != "batch" else list(zip(r.reshape(6, *shape[2:]), c.reshape(6, *shape[2:])))
        wanted = numpy.mean([structural_similarity(*pair, **theirs) for pair in pairs])
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9), (shape, ours)


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "int16"])
def test_other_types(metrics, dtype):
    rng = numpy.random.default_rng(7)
    for _ in range(CASES // 3):
        ours, theirs, window = settings_of(rng, 2)
        r, c = images(rng, sides(rng, window, 2), dtype)
        wanted = structural_similarity(r.astype("float64"), c.astype("float64"), **theirs)
        found = metrics.structural_similarity(r, c, **ours)
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9)
        if dtype == "float32":
            assert found == pytest.approx(structural_similarity(r, c, **theirs), abs=1e-4)


def test_the_range_is_the_references(metrics):
    r, c = images(numpy.random.default_rng(8), (20, 20))
    found = metrics.structural_similarity(r, c)
    assert found == pytest.approx(structural_similarity(r, c, data_range=r.max() - r.min()), rel=1e-9)


def test_a_mean_far_above_the_spread(metrics):
    """Where float32's own squares have no digits left."""
    r, c = images(numpy.random.default_rng(9), (30, 30), "float32")
    far = [numpy.float32(1000) + image for image in (r, c)]
    wanted = structural_similarity(far[0].astype("float64"), far[1].astype("float64"), data_range=1.0)
    assert metrics.structural_similarity(*far, data_range=1.0) == pytest.approx(wanted, abs=1e-6)


def test_equal_and_constant_images(metrics):
    image = numpy.random.default_rng(1).random((8, 8))
    constant = numpy.full((8, 8), 3.0)
    assert metrics.structural_similarity(image, image) == 1
    assert metrics.structural_similarity(constant, constant) == 1
    assert math.isnan(metrics.structural_similarity(image, numpy.full((8, 8), math.nan)))
    found = metrics.structural_similarity(image, constant, data_range=1.0)
    assert found == pytest.approx(structural_similarity(image, constant, data_range=1.0), rel=1e-6)


@pytest.mark.parametrize(("shape", "options", "message"), [
    ((6, 9), {}, "a window of 7 does not fit into images whose shortest side is 6"),
    ((9, 9), {"window": "gaussian"}, "a window of 11 does not fit"),
    ((9, 9), {"size": 4}, "expected an odd window of at least 3, got 4"),
    ((9, 9), {"dimensions": 3}, r"shape \[9, 9\] has no 3-dimensional images"),
    ((9, 9), {"dimensions": 4}, "dimensions: expected 2 or 3, got 4"),
    ((9, 9), {"window": "hat"}, "window: expected 'uniform' or 'gaussian', got 'hat'"),
    ((9, 9), {"data_range": -1.0}, "data range: expected a number above 0, got -1"),
    ((0, 9, 9), {}, "there are no images"),
])
def test_what_does_not_fit_is_said(metrics, shape, options, message):
    r, c = images(numpy.random.default_rng(1), shape)
    with pytest.raises(Exception, match=message) as caught:
        metrics.structural_similarity(r, c, **options)
    assert type(caught.value).__name__ == "UsageError"
