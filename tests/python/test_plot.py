"""Plots: what is drawn is asked of matplotlib's own figure; what names and reports can do to it."""

import copy
import importlib.util
import json
import pathlib
import subprocess
import sys
import xml.dom.minidom

import pandas
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden/report"


def subject(model, label, backend, batch_size, value, spread=None, index=0):
    interval = None if spread is None else {"low": value - spread, "high": value + 2 * spread, "confidence": 0.95}
    figures = {name: {"value": value, "interval": interval} for name in ("latency_p50", "throughput", "memory_peak")}
    return {"index": index, "label": label, "model": model, "backend": backend, "batch_size": batch_size, "metrics": figures}


def report_of(*subjects):
    for index, one in enumerate(subjects):
        one["index"] = index
    return {"id": "20261121-114200-3f9a", "environment": {"processor": "AMD EPYC"}, "trials": [], "subjects": list(subjects)}


def matrix():
    return report_of(*(
        subject(model, f"{model}@{back_end},batch={batch}", back_end, batch, 0.004 * batch * factor, 0.0001)
        for model in ("resnet50", "mlp") for batch in (1, 2, 4) for back_end, factor in (("onnxruntime", 1), ("openvino", 0.5))))


@pytest.fixture
def plot(im):
    import infermeter.plot

    return infermeter.plot


@pytest.fixture
def drawn(plot, monkeypatch, tmp_path):
    """Draws, and gives the figure as well."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: scripts/setup --with plot")
    from matplotlib.figure import Figure

    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *args, **kw: (figures.append(self), save(self, *args, **kw))[1])

    def draw(report, metric="p50", name="plot.png"):
        plot.latency_by_batch(report, tmp_path / name, metric)
        return figures[-1]

    return draw


def lines_of(axes):
    """(x, y, length of the error bars down and up) of each line."""
    found = []
    for container in axes.containers:
        line, _, (bars,) = container.lines
        segments = bars.get_segments()
        xs, ys = line.get_data()
        found.append((list(xs), list(ys), [(y - s[0][1], s[1][1] - y) for y, s in zip(ys, segments, strict=True)]))
    return found


def caption_of(figure):
    return figure.texts[-1].get_text()


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_there_is_a_panel_per_model_and_a_line_per_framework(drawn):
    figure = drawn(matrix())
    assert figure.get_suptitle() == "Median latency by batch size"
    assert [axes.get_title() for axes in figure.axes] == ["resnet50", "mlp"]
    assert legend_of(figure) == ["onnxruntime", "openvino"]
    for axes in figure.axes:
        (xs, ys, bars), second = lines_of(axes)
        assert xs == [1, 2, 4] and ys == pytest.approx([4, 8, 16]) and second[1] == pytest.approx([2, 4, 8])
        assert all(bar == pytest.approx((0.1, 0.2)) for bar in bars)  # milliseconds, each bound by itself
        assert axes.get_ylabel() == "Median latency (ms)" and axes.get_xlabel() == "Batch size (items per inference)"
        assert axes.get_ylim()[0] == 0
        assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "4"]
    assert caption_of(figure) == "run 20261121-114200-3f9a, AMD EPYC; error bars: 95 % interval over worker processes"


def test_the_same_points_come_from_the_columns_of_the_csv(drawn):
    frame = pandas.read_csv(GOLDEN / "example.csv")
    report = json.loads((GOLDEN / "example.json").read_text())
    for metric in ("p50", "throughput", "memory"):
        one, other = drawn(frame, metric), drawn(report, metric)
        assert legend_of(one) == legend_of(other)
        heights = [[[patch.get_height() for patch in axes.patches] for axes in figure.axes] for figure in (one, other)]
        assert heights[0][0] == pytest.approx(heights[1][0]) and heights[0][1] == pytest.approx(heights[1][1])
    assert legend_of(drawn(frame, "memory")) == ["onnxruntime", "openvino", "openvino (device)"]


def test_a_record_is_drawn_like_its_report(drawn, quick_run):
    one, other = drawn(quick_run), drawn(json.loads(quick_run.render("json")))
    assert legend_of(one) == legend_of(other) == ["one", "two"]
    assert [patch.get_height() for patch in one.axes[0].patches] == [patch.get_height() for patch in other.axes[0].patches]


def test_a_single_batch_size_is_drawn_as_bars(drawn):
    figure = drawn(report_of(subject("mlp", "mlp@a", "a", 8, 2.1e-6, 1e-7), subject("mlp", "mlp@b", "b", 8, 6.84e-6)))
    (axes,) = figure.axes
    assert figure.get_suptitle() == "Median latency, batch size 8"
    assert [patch.get_height() for patch in axes.patches] == pytest.approx([2.1, 6.84])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2.10 µs", "6.84 µs"]
    assert axes.get_ylabel() == "Median latency (µs)"


def test_an_axis_is_logarithmic_where_a_line_would_vanish_and_says_so(drawn):
    report = report_of(subject("m", "m@a,batch=1", "a", 1, 0.001), subject("m", "m@a,batch=128", "a", 128, 0.1))
    (axes,) = drawn(report).axes
    assert axes.get_yscale() == "log" and axes.get_ylabel() == "Median latency (ms), log scale"


def test_variants_of_a_back_end_have_lines_of_their_own(drawn):
    report = report_of(*(subject("m", f"m@a,batch={batch},threads={threads}", "a", batch, 0.01 * batch)
                         for batch in (1, 2) for threads in (1, 2)))
    assert legend_of(drawn(report)) == ["a,threads=1", "a,threads=2"]


def test_what_has_no_value_is_left_out_and_named(drawn):
    report = matrix()
    for figure in report["subjects"][0]["metrics"].values():
        figure |= {"value": None, "interval": None}
    report["trials"] = [{"subject": 0, "end": "out_of_memory"}]
    figure = drawn(report)
    assert lines_of(figure.axes[0])[0][0] == [2, 4]
    assert "without a value: onnxruntime at 1 (out_of_memory)" in caption_of(figure)
    assert "log" not in figure.axes[0].get_ylabel()


HOSTILE = ["_hidden", "$x^{$", r"\frac", "a--b", "<svg onload=1>&", "\x1b[2J", "\u202egnp.exe", "模型 🚀", "x" * 5000, "nul\0", ""]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_names_are_text_and_nothing_else(drawn, tmp_path, ending):
    report = report_of(*(subject(name, f"{name},batch={batch}", "a", batch, 0.01) for name in HOSTILE for batch in (1, 2)))
    figure = drawn(report, name=f"plot.{ending}")
    names = legend_of(figure)
    assert names[:3] == HOSTILE[:3] and r"\u{1b}[2J" in names and r"\u{202e}gnp.exe" in names
    assert all(len(name) <= 60 and name.isprintable() for name in names)
    if ending == "svg":
        text = (tmp_path / "plot.svg").read_text()
        assert "<svg onload" not in text
        xml.dom.minidom.parseString(text)


def test_runs_of_several_files_have_lines_of_their_own(drawn):
    frame = pandas.DataFrame({"model": "m", "framework": "a", "label": ["m@a,batch=1", "m@a,batch=2"] * 2,
                              "batch_size": [1, 2] * 2, "throughput_ips": [1, 2, 3, 4], "run": ["r1", "r1", "r2", "r2"]})
    assert legend_of(drawn(frame, "throughput")) == ["a in r1", "a in r2"]


def test_the_same_run_gives_the_same_picture(drawn, tmp_path):
    drawn(matrix(), name="a.svg"), drawn(copy.deepcopy(matrix()), name="b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_cannot_be_drawn_is_refused_in_one_sentence(im, plot, tmp_path):
    empty = json.loads((GOLDEN / "empty.json").read_text())
    for report, name, metric, sentence in [
        (empty, "a.png", "p50", "there is nothing to draw: no subject has a median latency"),
        (matrix(), "a.gif", "p50", "a plot is a .png, .svg or .pdf file"),
        (matrix(), "a.png", "p99", "there is no metric 'p99' to draw: p50, throughput and memory can be"),
        ({"a": 1}, "a.png", "p50", "a plot needs a record, a JSON report"),
        ([1], "a.png", "p50", "a plot needs a record, a JSON report"),
        (pandas.DataFrame({"a": [1]}), "a.png", "p50", "the frame has no column 'model', which the CSV of a run has"),
    ]:
        with pytest.raises(im.UsageError) as raised:
            plot.latency_by_batch(report, tmp_path / name, metric)
        assert sentence in str(raised.value)
    assert not list(tmp_path.glob("a.*"))


def test_without_matplotlib_it_says_how_to_get_it(im, plot, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(im.UsageError, match="a plot needs matplotlib, which is not installed in .*: scripts/setup --with plot"):
        plot.latency_by_batch(matrix(), tmp_path / "a.png")


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None,
                    reason="matplotlib is not installed: scripts/setup --with plot")
def test_it_is_a_program_too(package_dir, tmp_path):
    def program(*arguments):
        return subprocess.run([sys.executable, "-m", "infermeter.plot", *arguments], cwd=tmp_path, capture_output=True,
                              text=True, env={"PYTHONPATH": str(package_dir), "HOME": str(tmp_path)})

    assert program(GOLDEN / "example.csv", "a.png", "--metric", "memory").returncode == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    for arguments, sentence in [((tmp_path / "none.json", "a.png"), "No such file"), ((GOLDEN / "empty.csv", "a.png"), "nothing"),
                                ((GOLDEN / "example.md", "a.png"), "is not a JSON report")]:
        refused = program(*arguments)
        assert refused.returncode == 78 and sentence in refused.stderr and refused.stderr.count("\n") == 1
