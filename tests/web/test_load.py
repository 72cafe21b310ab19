"""Loads, and answers that come token by token: their tables and pictures."""

import json

import pytest

from .drawing import draw, draw_all
from .test_access import axe  # noqa: F401
from .test_pictures import marks, titled


def figure(value):
    return {"unit": "s", "lower_is_better": True, "holds": True, "value": value, "interval": None, "n": 4, "processes": 2, "method": "", "note": ""}


@pytest.fixture
def load_page(run_document, page_of, source_dir):
    part = run_document["parts"][0]
    run = json.loads((source_dir / "tests/golden/report/load.json").read_text())
    run["subjects"][0]["load"]["figures"] |= {"ttft_p50": figure(0.05), "itl_p50": figure(0.01), "goodput": figure(90)}
    run["subjects"][1]["counters"].append({"name": "ttft_p50"} | figure(0.07))
    times = {"edges_s": [0.01, 0.1, 1], "subjects": [{"subject": 0, "n": 8, "shares": [0.25, 0.75]}, {"subject": 1, "n": 4, "shares": [1, 0]}]}
    part |= {"run": run, "figures": part["figures"] | {
        "distributions": [], "ratios": [], "fronts": [], "generation": [{"time": "ttft", "log": True} | times, {"time": "itl", "log": False} | times]}}
    return lambda **options: page_of(run_document | {"parts": [part]}, **options)


def table(page, caption):
    sheet = page.locator(".sheet", has=page.locator(".caption", has_text=caption)).first
    return [row.locator("th, td").all_inner_texts() for row in sheet.locator("table tr").all()]


def test_failed_requests_are_told_by_class(load_page):
    page = load_page()
    head, *rows = table(page, "Failed requests by class")
    assert [text.strip() for text in head] == ["subject", "refused", "timeout"]
    assert rows == [["resnet50@openvino", "1", "2"]]
    assert page.locator("main").get_by_text("by class").count() == 1


def test_times_of_answers_are_a_table_with_and_without_a_load(load_page):
    page = load_page()
    head, *rows = table(page, "Answers token by token")
    assert len(head) == 3 and "TTFT p50" in head[1].replace("\n", " ")
    assert [row[:2] for row in rows] == [["resnet50@onnxruntime", "50.0"], ["resnet50@openvino", "70.0"]]


def test_times_of_answers_are_drawn(load_page):
    page = load_page()
    ttft, itl = (draw(titled(page, title)) for title in ("Time to the first token", "Time between two tokens"))
    assert ttft.locator(".note").first.inner_text() == "resnet50@onnxruntime: 8 answers. resnet50@openvino: 4 answers."
    assert "0.05" not in marks(ttft) and "TTFT, ms" in marks(ttft) and "share of gaps, %" in marks(itl)
    ttft.locator("details.data > summary").click()
    ttft.locator("details.data table").wait_for()
    assert ttft.locator("details.data tbody tr").first.locator("td").all_inner_texts() == ["resnet50@onnxruntime", "0.01", "0.1", "0.25"]


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_a_load_is_for_everybody(load_page, axe, width, colour):  # noqa: F811
    page = load_page(width=width, colour=colour)
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    draw_all(page)
    page.evaluate(axe)
    found = page.evaluate("axe.run(document).then(result => result.violations)")
    assert [f"{each['id']}: {[node['target'] for node in each['nodes']][:3]}" for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
