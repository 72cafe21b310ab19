"""Pages from Python: of one run, of several reports, and of the tools that wrote text before."""

import base64
import json
import re
import zlib

import pytest


def document(path):
    found = re.search(r'id="document" data-encoding="deflate">([^<]*)<', open(path, encoding="utf-8").read())
    return json.loads(zlib.decompress(base64.b64decode(found[1])))


def test_a_run_is_written_as_a_page(quick_run):
    quick_run.to_html("a.html")
    [part] = document("a.html")["parts"]
    assert part["kind"] == "run" and part["run"]["subjects"] == quick_run.json()["subjects"]
    assert open("a.html", encoding="utf-8").read() == quick_run.render("html")
    quick_run.to_html("a.html", samples=False)
    assert not any(trial.get("samples") for trial in document("a.html")["parts"][0]["run"]["trials"])


def test_it_is_the_command_lines_page(quick_run, run):
    quick_run.to_html("a.html")
    assert run("report", "--html", "b.html").returncode == 0
    assert (run.folder / "a.html").read_bytes() == (run.folder / "b.html").read_bytes()


def test_several_reports_in_one_page(im, quick_run):
    other = im.run("one=mlp@fake,latency=constant:150us", warmup=1, iterations=20, processes=1)
    gate = im.judge_gate(quick_run, 'expect = ["latency_p50_ms <= 60000"]')
    validation = im.validate("mlp@fake", "b=mlp@fake")
    im.write_html("all.html", other, quick_run, gate, validation)
    parts = document("all.html")["parts"]
    assert gate.render("html").startswith("<!doctype html>")
    assert [part["kind"] for part in parts] == ["run", "run", "gate", "validation"]
    assert [part["run"]["id"] for part in parts[:2]] == [other.id, quick_run.id]


def test_a_page_needs_a_report_and_a_folder(im, quick_run):
    with pytest.raises(im.UsageError, match="at least one report"):
        im.write_html("a.html")
    with pytest.raises(im.Error, match="cannot write 'nowhere/a.html': No such file or directory"):
        quick_run.to_html("nowhere/a.html")
    with pytest.raises(im.UsageError, match="not of a str"):
        im.write_html("a.html", "latest")
