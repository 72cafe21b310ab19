"""What notebooks show of records and validations, and what is reported while a run continues."""

import html.parser
import io
import re
import sys

import pytest

HOSTILE = "<script>alert(1)</script>&\"'"


class Page(html.parser.HTMLParser):
    """Tags in balance, and the texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append((tag, dict(attributes)))

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def tags(self, name):
        return [attributes for tag, attributes in self.seen if tag == name]


@pytest.fixture(scope="module")
def record(im, tmp_path_factory):
    return im.run("base=mlp@fake,latency=constant:200us", {"label": HOSTILE, "model": "mlp", "backend": "fake", "options": {"latency": "constant:400us"}},
                          iterations=20, processes=3, output_dir=tmp_path_factory.mktemp("notebook"))


def test_a_record_is_shown_without_script_and_with_its_own_figures(record):
    page = Page(record._repr_html_())
    assert not page.tags("script") and not page.tags("style") and not any(key.startswith("on") for _, attributes in page.seen for key in attributes)
    assert len(page.tags("svg")) == 1 and len(page.tags("circle")) == 1
    assert any("&" in text and "<script>" in text for text in page.texts), "the label is there, as text"
    for answer in record.json(samples=False)["answers"]:
        assert any(" ".join(answer["text"].split()) in " ".join(text.split()) for text in page.texts), answer["text"]
    figures = [cell.replace("\\", "") for cell in re.findall(r"\| ([\d.]+ [µm]s[^|]*?) \|", record.render("markdown"))]
    assert figures and all(figure in page.texts for figure in figures)


def test_the_picture_is_of_the_change(record):
    [circle] = Page(record._repr_html_()).tags("circle")
    [band] = Page(record._repr_html_()).tags("rect")
    assert float(circle["cx"]) > float(band["x"]) + float(band["width"]), "400 µs against 200 µs lies to the right of the margin"


def test_a_validation_is_shown(im):
    page = Page(im.validate("mlp@fake", "mlp@fake,output_error=10%", perturb=3)._repr_html_())
    assert page.tags("table") and any("disagree" in text or "differ" in text for text in page.texts)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def measured(im, tmp_path, **settings):
    return im.run({"label": "a\x1b[31m", "model": "mlp", "backend": "fake"}, iterations=5, processes=3, warmup=0, output_dir=tmp_path, **settings)


def test_a_terminal_has_a_line_that_changes_and_goes(im, tmp_path, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    measured(im, tmp_path)
    text = terminal.getvalue()
    assert "[3/3] a?[31m: " in text and "\x1b" not in text and "\n" not in text
    assert text.endswith("\r") and text.rstrip("\r").rpartition("\r")[2].strip() == "", "nothing is left of it"


def test_under_load_the_line_is_that_of_the_command_line(im, tmp_path, monkeypatch):
    terminal, seen = Terminal(), []
    monkeypatch.setattr(sys, "stderr", terminal)
    settings = {"load": {"concurrency": "2"}, "duration": "1200ms", "processes": 1, "warmup": 1, "output_dir": tmp_path}
    im.run("mlp@fake,latency=constant:2ms,work=sleep", **settings)
    assert "/s, 2 in flight, p50 " in terminal.getvalue() and "0 errors" in terminal.getvalue()
    im.run("mlp@fake,latency=constant:2ms,work=sleep", progress=seen.append, **settings)
    now = [each.load for each in seen if each.load is not None][-1]
    assert now.rate > 100 and now.failed == 0 and now.in_flight <= 2 and 0.002 <= now.response_p50 <= now.response_p99
    assert seen[0].load is None


@pytest.mark.parametrize("progress", [None, False])
def test_elsewhere_nothing_is_told(im, tmp_path, monkeypatch, progress):
    stream = io.StringIO() if progress is None else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    measured(im, tmp_path, progress=progress)
    assert stream.getvalue() == ""


def test_the_line_is_cleared_where_a_run_is_refused(im, tmp_path, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(im.UsageError):
        im.run("mlp@nosuch", output_dir=tmp_path)
    assert terminal.getvalue().strip() == ""


def test_a_bar_of_another_package_is_filled(im, tmp_path):
    class Bar:
        total, done = None, 0

        def update(self, n=1):
            self.done += n

    bar = Bar()
    measured(im, tmp_path, progress=bar)
    assert (bar.total, bar.done) == (3, 3)
