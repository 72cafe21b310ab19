"""compare_outputs() on arrays, against NumPy's own figures."""

import gc

import numpy
import pytest

RNG = numpy.random.default_rng(1)
KINDS = ["float64", "float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool",
         "complex64", "complex128"]


def numbers(dtype, shape=(3, 5)):
    values = RNG.uniform(-50, 50, shape)
    if numpy.dtype(dtype).kind == "c":
        values = values + 1j * RNG.uniform(-50, 50, shape)
    if dtype.startswith("u"):
        values = abs(values)
    return values.astype(dtype) if dtype != "bool" else values > 0


@pytest.mark.parametrize("dtype", KINDS)
def test_every_type_of_number(im, dtype):
    reference = numbers(dtype)
    same = im.compare_outputs(reference, reference.copy())
    assert same and same.agree and same.outputs[0].dtype == dtype and same.outputs[0].shape == [3, 5]
    assert (same.outputs[0].element_count, same.outputs[0].max_absolute, same.items) == (15, 0, 1)
    other = reference.copy()
    other[1, 2] = not other[1, 2] if dtype == "bool" else other[1, 2] + 40
    (difference,) = im.compare_outputs(reference, other).outputs
    assert not difference.within_tolerance and difference.mismatched == 1 and difference.max_absolute_index == 7


def test_figures_are_numpys(im):
    reference, candidate = numbers("float32", (4, 9)), None
    candidate = (reference + RNG.normal(0, 1e-3, reference.shape)).astype("float32")
    (found,) = im.compare_outputs(reference, candidate, rtol=0, atol=1e-3).outputs
    r, c = reference.astype("float64").ravel(), candidate.astype("float64").ravel()
    assert found.max_absolute == abs(c - r).max() and found.max_absolute_index == abs(c - r).argmax()
    assert found.mismatched == (abs(c - r) > 1e-3).sum()
    assert found.relative_l2 == pytest.approx(numpy.linalg.norm(c - r) / numpy.linalg.norm(r), rel=1e-12)
    assert found.cosine == pytest.approx(c @ r / numpy.linalg.norm(c) / numpy.linalg.norm(r), rel=1e-12)
    assert found.top1_agreement == (reference.argmax(1) == candidate.argmax(1)).mean()
    assert (found.reference_at_max, found.candidate_at_max) == (r[found.max_absolute_index], c[found.max_absolute_index])
    assert (found.tolerance.relative, found.tolerance.absolute) == (0, 1e-3)


def test_tolerance_is_that_of_the_precision(im):
    reference = numpy.linspace(1, 100, 50, dtype="float32")
    candidate = (reference * 1.002).astype("float32")
    assert not im.compare_outputs(reference, candidate)
    assert im.compare_outputs(reference, candidate, precision="bfloat16")
    assert im.compare_outputs(reference, candidate, rtol=0.01)


def test_not_a_number_and_infinity(im):
    reference = numpy.array([1, numpy.nan, numpy.inf, 2.0])
    assert im.compare_outputs(reference, reference.copy())
    (found,) = im.compare_outputs(reference, numpy.array([1, 5, -numpy.inf, numpy.nan])).outputs
    assert found.non_finite_apart == 3 and (found.nan_reference, found.nan_candidate) == (1, 1)
    assert (found.inf_reference, found.inf_candidate) == (1, 1)


def test_lists_and_dicts(im):
    a, b = numbers("float32"), numbers("int64")
    assert [output.name for output in im.compare_outputs([a, b], (a, b)).outputs] == ["output 0", "output 1"]
    by_name = im.compare_outputs({"a": a, "b": b}, {"b": b, "a": a})
    assert by_name and [output.name for output in by_name.outputs] == ["a", "b"]
    assert not im.compare_outputs([a, b], [a]).agree
    assert "there are 1 outputs here but 2" in im.compare_outputs([a, b], [a]).diagnostics[0].message
    with pytest.raises(im.UsageError, match="the candidate has no output 'b'"):
        im.compare_outputs({"a": a, "b": b}, {"a": a})
    with pytest.raises(im.UsageError, match="the reference has no output 'b'"):
        im.compare_outputs({"a": a}, {"a": a, "b": b})
    with pytest.raises(im.UsageError, match="by name and outputs by position"):
        im.compare_outputs([a], {"a": a})


def test_shapes_that_differ(im):
    (found,) = im.compare_outputs(numpy.ones((2, 3)), numpy.ones((3, 2))).outputs
    assert not found.comparable and found.reason


def test_however_an_array_lies(im):
    reference = numbers("float32", (6, 8))
    read_only = reference.copy()
    read_only.flags.writeable = False
    for same in (numpy.asfortranarray(reference), numpy.repeat(reference, 2, axis=1)[:, ::2], reference[::-1][::-1],
                 reference.astype(">f4"), read_only, reference.tolist(), memoryview(reference)):
        expected = reference if not isinstance(same, list) else list(reference.astype("float64"))  # an output for each element
        found = im.compare_outputs(expected, same)
        assert found.agree and all(output.max_absolute == 0 for output in found.outputs)
    assert im.compare_outputs(numpy.float32(3), numpy.float32(3)).outputs[0].shape == []
    assert im.compare_outputs(numpy.empty((0, 4)), numpy.empty((0, 4))).agree


def test_bfloat16_and_eight_bits(im):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        reference = numpy.array([1.0, -2.5, 3.5]).astype(getattr(ml_dtypes, name))
        (found,) = im.compare_outputs(reference, reference.copy()).outputs
        assert found.dtype == name.replace("_", "") and found.max_absolute == 0
        assert found.reference_at_max == found.candidate_at_max == 1  # all are the largest: the first one
        (found,) = im.compare_outputs(reference, reference * 2).outputs
        assert found.max_absolute == 3.5
    with pytest.raises(im.UsageError, match="reference 'output 0': an array of int4 cannot be compared"):
        im.compare_outputs(numpy.array([1]).astype(ml_dtypes.int4), numpy.array([1]))


def test_strings(im):
    assert im.compare_outputs(numpy.array(["a", "bé"]), numpy.array(["a", "bé"], dtype=object))
    assert im.compare_outputs(numpy.array(["a", "b"]), numpy.array(["a", "c"])).outputs[0].mismatched == 1


@pytest.mark.parametrize("array, called", [
    (numpy.array([1, "a"], dtype=object), "Python objects"),
    (numpy.array(["2020-01-01"], dtype="datetime64[D]"), r"datetime64\[D\]"),
    (numpy.zeros(2, dtype=[("a", "i4")]), "void32"),
    (numpy.array([b"abc"]), "bytes24"),
    (None, "Python objects"),
])
def test_what_is_no_tensor(im, array, called):
    with pytest.raises(im.UsageError, match=f"^candidate 'output 0': an array of {called} cannot be compared; give "):
        im.compare_outputs(numpy.ones(1), array)


@pytest.mark.parametrize("settings, sentence", [
    ({"rtol": -1}, "rtol: expected a number of at least 0, got -1"),
    ({"atol": float("nan")}, "atol: expected a number of at least 0, got nan"),
    ({"precision": "float23"}, "float23"),
])
def test_wrong_tolerances(im, settings, sentence):
    with pytest.raises(im.UsageError) as caught:
        im.compare_outputs(numpy.ones(1), numpy.ones(1), **settings)
    assert sentence in str(caught.value)


def peak_bytes():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def test_nothing_is_copied(im):
    reference = numpy.ones(16_000_000, dtype="float32")  # 64 MB
    candidate = reference.copy()
    candidate.flags.writeable = False
    gc.collect()
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pytest.skip("the peak of the resident set cannot be reset here")
    before = peak_bytes()
    assert im.compare_outputs(reference, candidate)
    assert peak_bytes() - before < 16e6
