"""The imaging plug-in against the same mathematics in NumPy, and against what physics says."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imaging_reference as reference
import numpy as np
import pytest
from imaging_plugin import Refused, Session
from imaging_reference import Workload, psnr

Open = Callable[..., Session]


def relative(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


@pytest.mark.parametrize(
    "options",
    [
        {"photons": "inf"},
        {"detector": 64, "photons": "inf"},
        {"detector": 64, "photons": 1e3, "read_noise": 0.002},
        {"detector": 64, "photons": 1e3, "noise": "frozen", "seed": 11},
        {"detector": 64, "photons": "inf", "order": "dwell", "epochs": 3},
        {"detector": 64, "photons": "inf", "prior": "support", "alpha": 0.7},
        {"detector": 64, "photons": "inf", "prior": "none"},
        {"detector": 64, "photons": "inf", "line_length": 3},
    ],
    ids=str,
)
def test_is_what_the_definition_says(session: Open, options: dict[str, Any]) -> None:
    image, truth, error = session(**options).run()
    known = {k: float(v) if k in ("photons", "read_noise") else v for k, v in options.items()}
    expected, errors = reference.reconstruct(Workload(**known), truth[0].astype(float))
    assert relative(image[0], expected) < 1e-4
    assert error[0] == pytest.approx(errors, rel=1e-3)


def test_field_is_the_low_pass_of_the_union(session: Open) -> None:
    image, truth, _ = session(detection="field").run()
    expected = reference.low_pass(Workload(), truth[0].astype(float))
    assert psnr(image[0], truth[0]) == pytest.approx(psnr(expected, truth[0]), abs=1e-4)
    assert relative(image[0], expected) < 1e-5


def test_measurement_is_what_the_aperture_lets_through(session: Open) -> None:
    (last,) = session(reconstruct="off", photons="inf", object="point", samples=1, epochs=1).run()
    # One bright pixel through a round hole: Airy's pattern, dark first at 0.61 N/R from its middle.
    dark = int(np.argmin(last[0, 0, 1 : 256 // 10]) + 1)
    assert dark == pytest.approx(0.61 * 256 / 10, abs=1)
    assert last[0, 0, 0] == pytest.approx((317 / 256**2) ** 2, rel=1e-5)  # 317 pixels in a disc of radius 10


def test_opposite_apertures_see_the_same_of_a_real_object(session: Open) -> None:
    # The 2nd and the 5th point of the lattice lie above and below its centre.
    above, below = (
        session(reconstruct="off", photons="inf", pattern="grid", samples=k, r_max=30).run()[0] for k in (2, 5)
    )
    assert above == pytest.approx(below, abs=1e-5 * float(above.max()))
    beside = session(reconstruct="off", photons="inf", pattern="grid", samples=4, r_max=30).run()[0]
    assert np.abs(beside - above).max() > 0.1 * above.max()


@pytest.mark.parametrize("detector", [32, 64, 128])
def test_a_small_detector_samples_the_large_one(session: Open, detector: int) -> None:
    large = session(reconstruct="off", photons="inf").run()[0][0]
    small = session(reconstruct="off", photons="inf", detector=detector).run()[0][0]
    step = 256 // detector
    assert small == pytest.approx(large[::step, ::step], abs=1e-5 * float(large.max()))


def test_an_aperture_over_everything_sees_the_object(session: Open) -> None:
    everything = {"image_size": 64, "object_size": 64, "radius": 31, "r_max": 0, "samples": 1, "epochs": 1}
    measuring = session(**everything, reconstruct="off", photons="inf", object="tensor")
    y, x = np.mgrid[-32:32, -32:32]
    smooth = np.exp(-(y**2 + x**2) / (2 * 4.0**2)).astype(np.float32)  # nothing of it lies beyond the aperture
    measuring.bind(smooth[None])
    measured = measuring.run()[0][0]
    assert np.roll(measured, (32, 32), axis=(0, 1)) == pytest.approx(smooth**2, abs=1e-5)


CACHES = ("spectrum_cache", "measurement_cache", "mask_cache")


def test_caches_and_their_capacity_change_no_bit(session: Open) -> None:
    expected = [output.tobytes() for output in session(caches="none").run()]
    for switches in itertools.product(("on", "off"), repeat=3):
        got = session(**dict(zip(CACHES, switches))).run()
        assert [output.tobytes() for output in got] == expected, switches
    entry = 256 * 256 * 4 + 64
    for entries, eviction in itertools.product((0.5, 1, 7, 19, 20), ("lru", "mru")):
        got = session(cache_budget=int(entries * entry), eviction=eviction).run()
        assert [output.tobytes() for output in got] == expected, (entries, eviction)


def test_half_precision_in_the_cache_is_the_same_for_any_capacity(session: Open) -> None:
    whole = session(storage="float16").run()[0]
    some = session(storage="float16", cache_budget=5 * (256 * 256 * 2 + 64)).run()[0]
    assert whole.tobytes() == some.tobytes()
    exact = session().run()[0]
    assert 0 < np.abs(whole - exact).max() < 1e-3


def test_mixed_precision_costs_little_and_is_the_same_with_any_cache(session: Open) -> None:
    float32, mixed = session(), session(dtype="float16", storage="float16")
    exact, truth, _ = float32.run()
    rounded = mixed.run()[0]
    assert (mixed.executed["dtype"], mixed.executed["transforms"]) == ("float16", "float32")
    assert 1e-5 < relative(rounded, exact) < 1e-2
    assert abs(psnr(rounded[0], truth[0]) - psnr(exact[0], truth[0])) < 0.1
    without = [session(dtype="float16", caches=caches).run()[0].tobytes() for caches in ("all", "none")]
    assert without[0] == without[1] == rounded.tobytes()  # what is float16 is kept as float16 without loss
    assert mixed.counters["measurement_bytes_peak"] < 0.51 * float32.counters["measurement_bytes_peak"]
    with pytest.raises(Refused, match="dtype=float16 is there for line_length=1"):
        session(dtype="float16", line_length=3)


def test_two_runs_and_two_processes_give_the_same_bits(session: Open, plans: str) -> None:
    one = session()
    first = one.run()[0].tobytes()
    assert one.run()[0].tobytes() == first
    program = (
        "import sys; sys.path.insert(0, sys.argv[2]); from imaging_plugin import Session; "
        "sys.stdout.buffer.write(Session(sys.argv[1], preset='small').run()[0].tobytes())"
    )
    folder = str(Path(__file__).parent)
    other = subprocess.run([sys.executable, "-c", program, plans, folder], capture_output=True, check=True)
    assert other.stdout == first


def test_counts_are_exact(session: Open) -> None:
    k, e = 20, 5
    counted = session()
    counted.run()
    counted.run()  # each run begins cold
    c = counted.counters
    assert (c["measurement_lookups"], c["measurement_hits"], c["measurement_misses"]) == (k * e, k * (e - 1), k)
    assert c["measurement_hit_rate"] == (e - 1) / e
    assert (c["spectrum_lookups"], c["spectrum_hits"], c["spectrum_misses"]) == (k, k - 1, 1)
    assert (c["mask_hits"], c["mask_misses"]) == (k * (e - 1), k)
    assert c["measurement_bytes_peak"] == k * (256 * 256 * 4 + 64)
    assert c["measurement_evictions"] == 0


@pytest.mark.parametrize(
    ("caches", "transforms"),
    [
        ({"caches": "none"}, 4 * 100 + 2 + 10),
        ({"caches": "none", "spectrum_cache": "on"}, 3 * 100 + 3 + 10),
        ({"caches": "none", "measurement_cache": "on"}, 2 * 20 + 2 * 100 + 2 + 10),
        ({"caches": "all"}, 2 * 100 + 20 + 3 + 10),
    ],
)
def test_transforms_are_counted(session: Open, caches: dict[str, str], transforms: int) -> None:
    counted = session(**caches)
    counted.run()
    assert counted.counters["fft_count"] == transforms
    points = 256 * 256
    assert counted.counters["fft_gflop"] == pytest.approx(transforms * 5e-9 * points * np.log2(points))


def test_transforms_of_a_small_detector_weigh_less(session: Open) -> None:
    counted = session(caches="none", detector=64)
    counted.run()
    grid, window = (n * n * np.log2(n * n) * 5e-9 for n in (256, 64))
    assert counted.counters["fft_count"] == 4 * 100 + 2 + 10
    assert counted.counters["fft_gflop"] == pytest.approx((100 + 10 + 1) * grid + (3 * 100 + 1) * window)


def test_a_sweep_through_a_cache_that_is_one_too_small_never_hits(session: Open) -> None:
    k, e, entry = 20, 5, 256 * 256 * 4 + 64
    sweep = session(cache_budget=(k - 1) * entry)
    sweep.run()
    c = sweep.counters
    assert (c["measurement_hits"], c["measurement_evictions"]) == (0, k * e - k + 1)
    assert c["measurement_bytes_peak"] <= (k - 1) * entry
    latest = session(cache_budget=(k - 1) * entry, eviction="mru")
    latest.run()
    assert latest.counters["measurement_hits"] > 0.8 * k * (e - 1)
    dwell = session(cache_budget=entry, order="dwell")
    dwell.run()
    assert dwell.counters["measurement_hits"] == k * (e - 1)
    nothing = session(cache_budget=entry - 1)
    nothing.run()
    assert (nothing.counters["measurement_bytes_peak"], nothing.counters["measurement_hits"]) == (0, 0)


def test_quality_grows_with_epochs_and_with_positions(session: Open) -> None:
    def quality(**options: Any) -> float:
        image, truth, _ = session(detector=64, **options).run()
        return psnr(image[0], truth[0])

    by_epochs = [quality(epochs=e) for e in (1, 2, 5, 10)]
    assert by_epochs == sorted(by_epochs) and by_epochs[-1] > by_epochs[0] + 1
    by_positions = [quality(samples=k, epochs=10) for k in (5, 10, 20, 40)]
    assert by_positions == sorted(by_positions) and by_positions[-1] > by_positions[0] + 5


def test_standard_sizes_reach_their_quality(session: Open) -> None:
    standard = {"preset": "lowres"}
    image, truth, _ = session(**standard).run()
    bound = reference.low_pass(
        Workload(image_size=512, object_size=128, radius=20, samples=100, detector=512), truth[0].astype(float)
    )
    assert psnr(image[0], truth[0]) >= 32
    assert psnr(image[0], truth[0]) >= psnr(bound, truth[0]) + 1


def test_noise_is_normal_and_nobodys_neighbour() -> None:
    w = Workload(detector=256)
    one, other, later = reference.gaussian(w, 0, 3), reference.gaussian(w, 0, 4), reference.gaussian(w, 1, 3)
    assert one.mean() == pytest.approx(0, abs=0.02)
    assert one.std() == pytest.approx(1, abs=0.01)
    for a, b in ((one, other), (one, later), (one, np.roll(one, 1)), (one, np.roll(one, 1, axis=0))):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.02


def test_objects_of_ones_own_are_told_apart_by_their_bytes(session: Open) -> None:
    given = session(object="tensor", image_size=64, object_size=16, radius=4, samples=6, detector=32, epochs=2)
    random = np.random.default_rng(3)
    objects = [random.uniform(0, 5, (1, 16, 16)).astype(np.float32) for _ in range(2)]
    results = []
    for each in (objects[0], objects[1], objects[0]):
        given.bind(each.copy())  # at another place each time, and at one that was used before
        results.append(given.run()[0])
    assert results[0].tobytes() == results[2].tobytes() != results[1].tobytes()
    assert given.run()[1].max() == 1  # the truth is what it was scaled to


def test_objects_of_a_batch_are_reconstructed_each_for_itself(plans: str) -> None:
    tiny = {"image_size": 64, "object_size": 16, "radius": 4, "samples": 6, "detector": 32, "epochs": 2}
    both, one = Session(plans, batch=2, object="tensor", **tiny), Session(plans, object="tensor", **tiny)
    objects = np.random.default_rng(4).uniform(0, 1, (2, 16, 16)).astype(np.float32)
    both.bind(objects)
    one.bind(objects[1:])
    assert both.run()[0][1].tobytes() == one.run()[0][0].tobytes()
    assert both.counters["fft_count"] == 2 * one.counters["fft_count"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"image_size": 300}, "image_size=300 is not a power of two"),
        ({"detector": 100}, "detector=100 is not a power of two"),
        ({"detector": 16}, "does not hold an aperture"),
        ({"detector": 512}, "finer than the grid"),
        ({"r_max": 120}, "outside of the grid"),
        ({"object_size": 300}, "larger than the grid"),
        ({"cache_budget": 0}, "a budget of 0 holds nothing"),
        ({"r_max": 2}, "fall onto one pixel"),
        ({"photons": "nan"}, "photons"),
        ({"epochs": 0}, "epochs=N"),
        ({"preset": "huge"}, "standard|lowres|small|profiling"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_a_sentence(session: Open, options: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words.replace("|", r"\|")):
        session(**options)


@pytest.mark.parametrize(
    ("values", "words"),
    [(np.nan, "NaN at row 3, column 5"), (np.inf, "an infinity at row 3, column 5"), (None, "dark or too bright")],
)
def test_objects_that_are_none_are_refused(session: Open, values: float | None, words: str) -> None:
    given = session(object="tensor", image_size=64, object_size=16, radius=4, samples=6, detector=32, epochs=2)
    bad = np.zeros((1, 16, 16), np.float32)
    if values is not None:
        bad[0, 3, 5] = values
    with pytest.raises(Refused, match=words):
        given.bind(bad)


def test_a_faint_object_is_as_good_as_a_bright_one(session: Open) -> None:
    given = session(object="tensor", image_size=64, object_size=16, radius=4, samples=6, detector=32, epochs=2)
    bright = np.random.default_rng(5).uniform(0, 1, (1, 16, 16)).astype(np.float32)
    given.bind(bright)
    expected = given.run()[0]
    given.bind(bright * np.float32(2.0**-60))
    assert given.run()[0].tobytes() == expected.tobytes()


def test_plans_are_read_and_what_is_wrong_with_them_is_said(tmp_path: Path, plans: str) -> None:
    assert Session(plans, preset="small").executed["plans_from"] == "wisdom file"
    assert Session(preset="small").executed["plans_from"] == "made in this process"
    (kept,) = [file for file in Path(plans).iterdir() if file.name.startswith("plans-")]
    text = kept.read_bytes()
    head, machine, wisdom = text.split(b"\n", 2)

    def plant(content: bytes) -> str:
        (tmp_path / kept.name).write_bytes(content)
        return str(tmp_path)

    for content, words in (
        (b"", "not a file of plans"),
        (b"\n".join([head, b"another \x1b[31mcomputer", wisdom]), "another machine .another  .31mcomputer; this is"),
        (b"\n".join([head, machine, wisdom[: len(wisdom) // 2]]), "it is broken"),
        (head, "not a file of plans"),
    ):
        with pytest.raises(Refused, match=words) as refused:
            Session(plant(content), preset="small")
        assert "delete the file" in str(refused.value)


def test_a_profile_tells_the_stages(tmp_path: Path, plans: str) -> None:
    profiled = Session(plans, preset="small", caches="none", profile_folder=str(tmp_path))
    profiled.run()
    profiled.profiled_run()
    reported = json.loads((tmp_path / "operators.json").read_text())
    assert reported["iterations"] == 1
    calls = dict(zip((op["name"] for op in reported["operators"]), reported["means"]["calls"]))
    assert calls["object_fft"] == calls["field_fft"] == calls["estimate_fft"] == calls["noise"] == 100
    assert calls["correction_fft"] == 101 and calls["prior"] == 5 and calls["read_out"] == 1


def test_loading_writes_nothing_unless_it_prepares(tmp_path: Path) -> None:
    tiny = {"image_size": 32, "object_size": 8, "radius": 2, "samples": 2, "r_max": 3, "epochs": 1}
    if not Path(os.environ.get("INFERMETER_BUILD", "build/release")).exists():
        pytest.skip("not built")
    Session(str(tmp_path), **tiny)
    assert not list(tmp_path.iterdir())
    Session(str(tmp_path), preparing=True, **tiny)
    assert sorted(file.name.partition("-")[0] for file in tmp_path.iterdir()) == ["lock", "plans"]
    assert Session(str(tmp_path), **tiny).executed["plans_from"] == "wisdom file"
