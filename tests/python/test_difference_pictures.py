"""infermeter.difference_pictures: what is drawn, and what is refused."""

import importlib.util
import re
import sys

import numpy as np
import pytest

if importlib.util.find_spec("matplotlib") is None:
    pytest.skip("matplotlib is not installed: scripts/setup --with plot", allow_module_level=True)


@pytest.fixture
def pictures(im):
    from infermeter import difference_pictures

    return difference_pictures


def pixels(file):
    from matplotlib.image import imread

    return (imread(file)[..., :3] * 255).round().astype(int)


def share_of(image, colour):
    return float((np.abs(image - colour).max(axis=-1) <= 3).mean())


def texts(file):
    """What the SVG's comments say: matplotlib draws letters as paths, and says what they are."""
    return re.findall(r"<!-- (.*?) -->", file.read_text())


def test_more_is_orange_less_is_blue_and_the_scale_is_symmetric(pictures, tmp_path):
    reference = np.zeros((1, 1, 32, 32))
    candidate = reference.copy()
    candidate[0, 0, :8] = 0.5
    candidate[0, 0, 24:] = -1
    pictures.draw(reference, candidate, tmp_path / "a.png")
    image = pixels(tmp_path / "a.png")
    blue, orange, half = (0x05, 0x30, 0x61), (0x7F, 0x3B, 0x08), (0xE0, 0x82, 0x14)
    assert share_of(image, blue) > 0.02  # the end of the scale: -1
    assert share_of(image, half) > 0.02 > share_of(image, orange)  # half of the other side: +0.5


def test_of_a_batch_the_item_that_differs_most(pictures, tmp_path):
    reference = np.zeros((3, 1, 8, 8), np.float32)
    candidate = reference.copy()
    candidate[2, 0, 1, 1] = 4
    candidate[1, 0, 1, 1] = -1
    pictures.draw(reference, candidate, tmp_path / "a.svg", title="mask")
    assert "mask, 2 of the batch, largest difference 4" in texts(tmp_path / "a.svg")


@pytest.mark.parametrize("slices, rows", [(1, ["axis 0 at 4", "axis 1 at 5", "axis 2 at 6"]), (2, [
    "axis 0 at 2", "axis 0 at 6", "axis 1 at 2", "axis 1 at 7", "axis 2 at 3", "axis 2 at 9"])])
def test_slices_of_volumes(pictures, tmp_path, slices, rows):
    volume = np.random.default_rng(1).random((1, 1, 8, 10, 12))
    pictures.draw(volume, volume + 1e-3, tmp_path / "a.svg", slices=slices)
    assert [text for text in texts(tmp_path / "a.svg") if text.startswith("axis")] == rows


def test_names_are_text(pictures, tmp_path):
    image = np.ones((4, 5))
    pictures.draw(image, image, tmp_path / "a.svg", title="$x^{$ _y_ \x1b[31m")
    assert any("$x^{$ _y_" in text and "\x1b" not in text for text in texts(tmp_path / "a.svg"))


def test_strange_numbers_are_counted(pictures, tmp_path):
    image = np.ones((1, 2, 8, 8))
    other = image.copy()
    other[0, 1, 0, :3] = (np.nan, np.inf, -np.inf)
    pictures.draw(image, other, tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    assert "largest difference 0, 3 NaN or infinite" in found
    assert "channel 0 of 2" in found and "channel 1 of 2" in found
    pictures.draw_histogram(image, other, tmp_path / "h.svg")
    assert "0 values differ, 125 are equal, 3 NaN or infinite" in texts(tmp_path / "h.svg")


def test_the_histogram_counts_by_size(pictures, tmp_path):
    reference = np.zeros(1000)
    candidate = np.r_[np.zeros(500), np.full(400, 1e-3), np.full(100, -10.0)]
    pictures.draw_histogram(reference, candidate, tmp_path / "h.svg", title="scores")
    assert "scores, 500 values differ, 500 are equal" in texts(tmp_path / "h.svg")


@pytest.mark.parametrize("shape, other, path, slices, sentence", [
    ((1, 10), (1, 10), "a.png", 1, "an output of shape [1, 10] is not a picture"),
    ((1, 1, 8, 8), (1, 1, 8, 9), "a.png", 1, "has shape [1, 1, 8, 9] and the reference [1, 1, 8, 8]"),
    ((8, 8), (8, 8), "a.gif", 1, "a picture is a .png, .svg or .pdf file"),
    ((8, 8), (8, 8), "a.png", 0, "slices: expected at least 1, got 0"),
])
def test_what_cannot_be_drawn_is_refused(pictures, tmp_path, shape, other, path, slices, sentence, im):
    with pytest.raises(im.UsageError) as raised:
        pictures.draw(np.ones(shape), np.ones(other), tmp_path / path, slices=slices)
    assert sentence in str(raised.value) and not (tmp_path / path).exists()


def test_settings_of_matplotlib_stay(pictures, tmp_path):
    import matplotlib

    matplotlib.rcParams["font.size"] = 17
    pictures.draw(np.ones((8, 8)), np.ones((8, 8)), tmp_path / "a.png")
    assert matplotlib.rcParams["font.size"] == 17
    matplotlib.rcdefaults()


def test_a_missing_matplotlib_is_said_with_the_way_to_get_it(pictures, tmp_path, monkeypatch, im):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(im.UsageError, match="a picture needs matplotlib, which is not installed in .* pip install"):
        pictures.draw(np.ones((8, 8)), np.ones((8, 8)), tmp_path / "a.png")
