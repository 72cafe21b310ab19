"""difference() on thousands of seeded cases, against NumPy, SciPy and scikit-image in float64."""

import math
import warnings

import ml_dtypes
import numpy
import pytest
import scipy.spatial.distance
import scipy.stats
import skimage.metrics

CASES = 250  # per type
FLOATS = [numpy.dtype(name) for name in ("float16", "float32", "float64")] + [numpy.dtype(ml_dtypes.bfloat16)]
INTEGERS = [numpy.dtype(name) for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")]
TYPES = [*FLOATS, *INTEGERS, numpy.dtype("bool")]


def shape_of(rng):
    """One to five dimensions; most of them small, some beyond a kernel's block."""
    if rng.random() < 0.05:
        return (int(rng.integers(8000, 25000)),)
    return tuple(int(side) for side in rng.integers(1, 9, int(rng.integers(1, 6))))


def floats(rng, dtype, shape):
    """Two arrays in one of many styles: near to each other, far apart, tiny, huge, offset, constant, equal."""
    style = rng.choice(["noise", "near", "huge", "tiny", "subnormal", "offset", "constant", "equal", "zeros", "mixed"])
    r = rng.normal(size=shape)
    c = r + 1e-3 * rng.normal(size=shape)
    if style == "noise":
        c = rng.normal(size=shape)
    wide = dtype.name in ("float32", "float64", "bfloat16")
    factor = {"huge": 1e30 if wide else 3e3, "tiny": 1e-30 if wide else 1e-4,
              "subnormal": {"float64": 1e-120, "float32": 1e-41, "bfloat16": 1e-39}.get(dtype.name, 1e-6)}.get(style, 1.0)
    r, c = factor * r, factor * c
    if style == "offset":  # large beside the spread, as far as the type can tell
        offset = {"float64": 1e9, "float32": 1e4, "float16": 100.0, "bfloat16": 20.0}[dtype.name]
        r, c = r + offset, c + offset
    if style == "mixed":
        r = r * 10.0 ** rng.uniform(-4, 4, shape)
    if style == "constant":
        r = numpy.full(shape, r.ravel()[0])
    if style == "equal":
        c = r.copy()
    if style == "zeros":
        r = numpy.zeros(shape)
    return r.astype(dtype), c.astype(dtype)


def numbers(rng, dtype, shape):
    if dtype.kind == "b":
        return rng.random(shape) < 0.5, rng.random(shape) < 0.5
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        low, high = (limits.min, limits.max) if rng.random() < 0.5 else (0, 100)
        return tuple(rng.integers(low, high, shape, dtype=dtype, endpoint=True) for _ in range(2))
    return floats(rng, dtype, shape)


def spoilt(rng, array):
    """With NaN and infinities in places."""
    array = array.copy()
    for value in (math.nan, math.inf, -math.inf):
        array.flat[rng.integers(0, array.size, int(rng.integers(0, 3)))] = value
    return array


def near(found, wanted, absolute=0.0):
    if wanted is None or found is None:
        return found is None and wanted is None
    return found == wanted or math.isclose(found, wanted, rel_tol=1e-6, abs_tol=absolute)


def ratio(above, below):
    return above / below if below > 0 else None


def exact(array):
    """As numbers that hold every element: long doubles have 64 bits of mantissa."""
    return array.astype("float64").astype("longdouble") if array.dtype.kind not in "iu" else array.astype("longdouble")


def check(metrics, reference, candidate):
    found = metrics.difference(reference, candidate)
    r, c = exact(reference).ravel(), exact(candidate).ravel()
    finite = numpy.isfinite(r) & numpy.isfinite(c)
    assert found.count == r.size
    assert (found.nan_reference, found.nan_candidate) == (numpy.isnan(r).sum(), numpy.isnan(c).sum())
    assert (found.inf_reference, found.inf_candidate) == (numpy.isinf(r).sum(), numpy.isinf(c).sum())
    same = (r == c) | (numpy.isnan(r) & numpy.isnan(c))
    assert found.non_finite_apart == (~finite & ~same).sum()
    if not finite.any():
        assert found.mae is found.max_absolute is found.max_absolute_index is found.cosine is found.psnr_db is None
        return
    distance = numpy.where(finite, abs(numpy.where(finite, c, 0) - numpy.where(finite, r, 0)).astype("float64"), -1)
    index = numpy.unravel_index(int(distance.argmax()), reference.shape)
    assert found.max_absolute_index == tuple(int(i) for i in index)
    assert found.max_absolute == distance.max()
    assert found.reference_at_max == float(reference[index]) and found.candidate_at_max == float(candidate[index])
    d, r, c = distance[finite], r[finite].astype("float64"), c[finite].astype("float64")
    assert near(found.mae, numpy.mean(d))
    assert near(found.mse, numpy.mean(d**2))
    assert near(found.rmse, math.sqrt(numpy.mean(d**2)))
    assert near(found.relative_l1, ratio(d.sum(), abs(r).sum()))
    assert near(found.relative_l2, ratio(numpy.linalg.norm(d), numpy.linalg.norm(r)))
    assert near(found.relative_max, ratio(d.max(), abs(r).max()))
    assert found.data_range == r.max() - r.min()
    check_angles(found, r, c)
    check_psnr(found, r, c, d)


def check_angles(found, r, c):
    if numpy.any(r) and numpy.any(c):
        # SciPy's own squares of tiny and huge numbers leave the range of doubles; an angle does not depend on lengths.
        wanted = 1 - scipy.spatial.distance.cosine(r / abs(r).max(), c / abs(c).max())
        assert near(found.cosine, wanted, 1e-9)
    else:
        assert found.cosine is None
    if len(r) > 1 and r.min() < r.max() and c.min() < c.max():
        assert near(found.pearson, scipy.stats.pearsonr(r, c).statistic, 1e-9)
    else:
        assert found.pearson is None


def check_psnr(found, r, c, d):
    if not d.any():
        assert found.psnr_db == math.inf
    elif r.max() == r.min():
        assert found.psnr_db is None
    elif (d**2).mean() > 1e-290:
        wanted = skimage.metrics.peak_signal_noise_ratio(r, c, data_range=r.max() - r.min())
        assert near(found.psnr_db, wanted, 1e-6)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():  # of SciPy on data that are nearly constant, of casts that overflow to infinity
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
def test_figures_are_those_of_others(metrics, dtype):
    rng = numpy.random.default_rng(sum(dtype.name.encode()))
    for _ in range(CASES):
        check(metrics, *numbers(rng, dtype, shape_of(rng)))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
def test_what_is_not_finite_is_counted_and_left_out(metrics, dtype):
    rng = numpy.random.default_rng(100 + sum(dtype.name.encode()))
    for _ in range(CASES):
        reference, candidate = floats(rng, dtype, shape_of(rng))
        check(metrics, spoilt(rng, reference), spoilt(rng, candidate))


def test_strides_byte_orders_and_no_dimensions(metrics):
    rng = numpy.random.default_rng(1)
    reference, candidate = rng.normal(size=(2, 30, 40))
    plain = metrics.difference(reference[::2, ::-1].copy(), candidate[::2, ::-1].copy())
    for form in (lambda a: a[::2, ::-1], lambda a: numpy.asfortranarray(a[::2, ::-1]), lambda a: a[::2, ::-1].astype(">f8")):
        found = metrics.difference(form(reference), form(candidate))
        assert (found.mse, found.max_absolute_index) == (plain.mse, plain.max_absolute_index)
    scalar = metrics.difference(numpy.float32(2), numpy.float32(5))
    assert (scalar.max_absolute, scalar.max_absolute_index, scalar.count) == (3, (), 1)
    assert metrics.difference([1, 2], [1, 4]).mse == 2


def test_complex_numbers_are_pairs_of_numbers(metrics):
    reference = numpy.array([[1 + 2j, 3 - 4j]])
    found = metrics.difference(reference, reference + numpy.array([[0, 5j]]))
    assert (found.count, found.max_absolute, found.max_absolute_index) == (2, 5, (0, 1))


def test_a_data_set_adds_up(metrics):
    rng = numpy.random.default_rng(2)
    items = [rng.normal(50, 1, (2, int(rng.integers(1, 9)), int(rng.integers(1, 9)))) for _ in range(20)]
    sum_of_them = metrics.Difference()
    for reference, candidate in items:
        sum_of_them.add(reference, candidate)
    whole = metrics.difference(*(numpy.concatenate([item[side].ravel() for item in items]) for side in (0, 1)))
    for name in ("mae", "mse", "relative_l1", "relative_l2", "relative_max", "cosine", "pearson", "psnr_db", "max_absolute"):
        assert near(getattr(sum_of_them, name), getattr(whole, name)), name
    assert sum_of_them.items == 20
    reference, candidate = items[sum_of_them.max_absolute_item]
    index = sum_of_them.max_absolute_index
    assert abs(candidate[index] - reference[index]) == whole.max_absolute
    assert sum_of_them.reference_at_max == reference[index]


def test_the_data_range_may_be_given(metrics):
    rng = numpy.random.default_rng(3)
    reference, candidate = (rng.integers(0, 256, (20, 30), dtype="uint8") for _ in range(2))
    found = metrics.difference(reference, candidate, data_range=255)
    assert found.data_range == 255
    assert near(found.psnr_db, skimage.metrics.peak_signal_noise_ratio(reference, candidate, data_range=255))


def test_tensors_of_pytorch(metrics):
    torch = pytest.importorskip("torch")
    reference = torch.randn(3, 4, requires_grad=True)
    candidate = reference + 0.5
    assert near(metrics.difference(reference, candidate).mae, 0.5)
    assert metrics.difference(reference.to(torch.bfloat16), reference.to(torch.bfloat16)).mae == 0


@pytest.mark.parametrize(("arguments", "message"), [
    (([1.0], [1]), "the candidate is int64 here but float64 in the reference"),
    (([1.0], [1.0, 2.0]), r"the candidate has shape \[2\] here but \[1\] in the reference"),
    ((["a"], ["a"]), "strings have no differences"),
    (([1.0], [1.0], 0), "data_range: expected a number above 0, got 0"),
    (([1.0], [1.0], math.nan), "data_range: expected a number above 0, got nan"),
    (([object()], [1.0]), "an array of Python objects cannot be compared"),
])
def test_what_cannot_be_compared_is_said(metrics, arguments, message):
    with pytest.raises(Exception, match=message) as caught:
        metrics.difference(*arguments)
    assert type(caught.value).__name__ == "UsageError"
