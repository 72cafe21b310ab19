"""Loads, and answers that come token by token: their tables and pictures."""

import gzip
import json

import pytest

from .drawing import draw
from .test_pictures import marks, titled


@pytest.fixture
def load_page(page_of_kind, open_page):
    return lambda **options: open_page(page_of_kind("generation"), **options)


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
    assert len(head) == 4 and "TTFT p50" in head[1].replace("\n", " ") and head[3].replace("\n", " ").startswith("KV cache at the full context")
    assert [row[3] for row in rows] == ["12.6\n6144 B per token, 2048 tokens", "–"]
    assert [row[:2] for row in rows] == [["resnet50@onnxruntime", "50.0"], ["resnet50@openvino", "70.0"]]


def test_times_of_answers_are_drawn(load_page):
    page = load_page()
    ttft, itl = (draw(titled(page, title)) for title in ("Time to the first token", "Time between two tokens"))
    assert ttft.locator(".note").first.inner_text() == "resnet50@onnxruntime: 8 answers. resnet50@openvino: 4 answers."
    assert "0.05" not in marks(ttft) and "TTFT, ms" in marks(ttft) and "share of gaps, %" in marks(itl)
    ttft.locator("details.data > summary").click()
    ttft.locator("details.data table").wait_for()
    assert ttft.locator("details.data tbody tr").first.locator("td").all_inner_texts() == ["resnet50@onnxruntime", "0.01", "0.1", "0.25"]


def test_times_are_drawn_by_position_and_by_length_of_the_prompt(load_page):
    page = load_page()
    itl, ttft = (draw(titled(page, title)) for title in ("Time between two tokens by position in the answer", "Time to the first token by length of the prompt"))
    assert itl.locator(".note").first.inner_text().startswith("resnet50@onnxruntime: +20.0 ms [18.0, 24.0] per 1,000 tokens.")
    assert {"ITL, median, ms", "tokens of the answer before it"} <= set(marks(itl)) and "tokens of the prompt" in marks(ttft)
    itl.locator(".controls select").select_option("p90_s")
    itl.locator("svg text", has_text="ITL, p90").wait_for()
    itl.locator("details.data > summary").click()
    itl.locator("details.data table").wait_for()
    assert itl.locator("details.data tbody tr").count() == 10


def test_where_answers_part_is_a_table(load_page):
    _, row, written = table(load_page(), "Where answers part")
    assert row[:3] == ["resnet50@openvino", "resnet50@onnxruntime", "item 0"]
    assert [text.split("\n")[0] for text in row[3:]] == ["40 of 64", "… 17 99 5", "7 8 9 …", "12 8 31 …"]
    assert [text.split("\n") for text in written[4:]] == [
        ['"the cat"', "… 17 99 5"], ['" sat\\u{a}"', "7 8 9 …"], ['" \\u{202e}ran"', "12 8 31 …"]]


def test_what_was_asked_of_a_time_is_a_line_in_its_chart(source_dir, page_of):
    document = json.loads(gzip.decompress((source_dir / "tests/web/pages/load.json.gz").read_bytes()))
    subjects = document["parts"][0]["run"]["subjects"]
    for subject in subjects:
        subject["load"]["bounds"] = [{"figure": "response_p99", "bound_s": 0.04}]
    subjects[0]["load"]["bounds"].append({"figure": "response", "bound_s": 0.5})
    chart = draw(titled(page_of(document), "Response time against throughput"))
    assert {"bound 40.0 ms", "bound 500 ms"} <= set(marks(chart))
    chart.locator(".controls select").select_option("response_p50")
    chart.locator("svg text", has_text="response p50").wait_for()
    assert "bound 40.0 ms" not in marks(chart) and "bound 500 ms" in marks(chart), "of each request, not of its p99"
