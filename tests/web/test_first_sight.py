"""What is seen first, what is marked together, and what the address keeps."""

import json

import pytest

from .document import document_of
from .drawing import draw, draw_all
from .table import close, figures, in_base_units, number, read


@pytest.fixture
def part(run_page):
    return document_of(run_page)["parts"][0]


def test_the_first_screen_has_the_answer_its_chart_and_the_caveat(run_page, open_page, part):
    page = open_page(run_page, width=1400)
    reported = "".join(page.locator(".headline .sentence, .headline .rest").all_inner_texts())
    assert reported.replace("\u00a0", " ").replace(" ", "") == part["overview"]["headline"]["text"].replace(" ", "")
    chart = draw(page.locator("figure.picture").first)
    assert chart.get_attribute("id") == "part-1-effects"
    box = chart.locator(".drawing svg").bounding_box()
    assert box["y"] + box["height"] < 900
    assert "2026" in page.locator("h1").inner_text() or part["run"]["created_at"][:10] in page.locator("h1").inner_text()
    grave = [notice for notice in part["notices"] if notice["severity"] != "info"]
    assert page.locator(".caveat").count() == (1 if grave else 0)


def test_the_chart_has_every_effect_with_its_figures(run_page, open_page, part):
    page = open_page(run_page, width=1400)
    chart = draw(page.locator("#part-1-effects"))
    words = chart.locator(".drawing svg text").all_text_contents()
    effects = [effect for effect in part["overview"]["effects"] if effect["baseline"] is not None]
    assert len(effects) == 2
    for effect in effects:
        assert effect["label"] in words
        line = next(text for text in words if text.startswith(effect["verdict"]) and close_to_effect(text, effect))
        assert line


def close_to_effect(text, effect):
    """"slower +40.1 % [+39.9, +40.3]", or where the axis has factors "slower 1.40× [1.40, 1.40]"."""
    value, _, interval = text.removeprefix(effect["verdict"]).strip().partition(" [")
    shown = [number(each) for each in (value, *interval.removesuffix("]").split(", "))]
    true = [effect["change"], effect["interval"]["low"], effect["interval"]["high"]]
    true = [1 + each if "×" in text else 100 * each for each in true]
    return all(abs(a - b) <= 0.006 * max(abs(b), 1) for a, b in zip(shown, true, strict=True))


def test_models_have_charts_of_their_own(run_page, open_page, part):
    page = open_page(run_page)
    galleries = page.locator("details.gallery")
    models = list(dict.fromkeys(subject["model"] for subject in part["run"]["subjects"]))
    assert galleries.locator(":scope > summary").all_inner_texts() == models
    for index, model in enumerate(models):
        chart = draw(page.locator(f"#part-1-figures-{index + 1}"))
        own = [subject["label"] for subject in part["run"]["subjects"] if subject["model"] == model]
        words = chart.locator(".drawing svg text").all_text_contents()
        assert all(label in words for label in own)
        assert not any(subject["label"] in words for subject in part["run"]["subjects"] if subject["model"] != model)


def test_a_group_has_units_of_its_own(page_of, run_document):
    """3.5 µs and 189 ms in one column: neither is 0.0035 ms."""
    for subject in run_document["parts"][0]["run"]["subjects"][:3]:
        subject["metrics"]["latency_p50"] |= {"value": 3.5e-6, "interval": None}
    run_document["parts"][0]["run"]["subjects"][3]["metrics"]["latency_p50"] |= {"value": 0.189, "interval": None}
    rows = [row for row in read(figures(page_of(run_document))) if "group" not in row]
    assert [(row["latency_p50"]["value"], row["latency_p50"]["factor"]) for row in rows] == [("3.50", 1e-6)] * 3 + [("189", 1e-3)]


def test_a_subject_is_marked_in_all_charts_and_tables(run_page, open_page):
    page = open_page(run_page)
    draw_all(page)
    row = figures(page).locator("tr[data-subject='1']")
    row.hover()
    assert "linked" in row.get_attribute("class")
    marked = page.evaluate("[...document.querySelectorAll('figure:has(.lane-mark:not([hidden]))')].map(each => each.id)")
    assert {"part-1-effects", "part-1-distribution-1", "part-1-figures-1"} <= set(marked)
    page.locator("h1").hover()
    assert page.locator(".lane-mark:not([hidden])").count() == 0
    page.locator("#part-1-ecdf-1 button.series").nth(2).focus()
    assert "linked" in figures(page).locator("tr[data-subject='2']").get_attribute("class")


def share_of(chart):
    return chart.locator(".controls label", has_text="Share").locator("select")


def test_the_address_shows_others_the_same(run_page, open_page):
    page = open_page(run_page)
    figures(page).locator('th[data-column="latency_p50"] button').click()
    page.get_by_label("Baseline").first.select_option("1")
    page.get_by_label("Theme").select_option("dark")
    chart = draw(page.locator("#part-1-ecdf-1"))
    share_of(chart).select_option("tail")
    chart.locator("button.series").first.click()
    chart.get_by_role("button", name="Zoom in").click()
    page.wait_for_function("() => location.hash.includes('ecdf-1.z=')")
    page.locator("details.gallery").nth(1).evaluate("fold => { fold.open = false; }")
    page.wait_for_function("() => location.hash.includes('folds=')")
    other = open_page(run_page)
    other.evaluate(f"location.hash = {json.dumps(page.evaluate('location.hash'))}")
    other.wait_for_function("() => !document.querySelectorAll('details.gallery')[1].open")
    assert figures(other).locator('th[data-column="latency_p50"]').get_attribute("aria-sort") == "ascending"
    assert other.get_by_label("Baseline").first.input_value() == "1"
    chart = draw(other.locator("#part-1-ecdf-1"))
    assert share_of(chart).input_value() == "tail"
    assert chart.locator("button.series").first.get_attribute("aria-pressed") == "false"


def test_two_charts_zoomed_at_once_are_both_kept_in_the_address(run_page, open_page):
    page = open_page(run_page, own=True)
    charts = [draw(page.locator(name)) for name in ("#part-1-ecdf-1", "#part-1-timeline-1")]
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    for chart in charts:
        chart.get_by_role("button", name="Zoom in").click()
    assert ".z=" not in page.evaluate("location.hash")
    charts[0].get_by_role("button", name="Show all").click()
    charts[0].get_by_role("button", name="Zoom in").click()
    page.clock.run_for(300)
    assert "ecdf-1.z=" in page.evaluate("location.hash") and "timeline-1.z=" in page.evaluate("location.hash")


def test_zooming_in_shows_more_of_the_stored_points(run_document, page_of):
    """Of 20,000 iterations some are drawn; of a tenth of them all that the chart has room for."""
    part = run_document["parts"][0]
    for trial in part["run"]["trials"]:
        if trial["subject"] == 0:
            trial["samples"] = {"begin_s": [i * 1e-3 for i in range(20_000)], "latency_s": [1e-3 + (i * 7919 % 1000) * 1e-8 for i in range(20_000)]}
            trial["iterations"] = 20_000
    page = page_of(run_document)
    chart = draw(page.locator("#part-1-timeline-1"))
    note = chart.locator("p.note").first
    before = note.inner_text()
    for _ in range(5):
        chart.get_by_role("button", name="Zoom in").click()
    page.wait_for_function("([note, before]) => note.textContent !== before", arg=[note.element_handle(), before])
    words = note.inner_text()
    drawn, of = (int(text.replace(",", "")) for text in (words.split(" iterations of ")[0].split()[-1], words.split(" iterations of ")[1].split()[0]))
    assert of < 10_000 and drawn / of > 0.2


def test_every_figure_of_the_table_is_the_document_s(run_page, open_page, part):
    """All columns on: values and interval ends, more than fifty."""
    page = open_page(run_page)
    page.evaluate("""() => { for (const fold of document.querySelectorAll('.chooser')) fold.open = true;
        for (const box of document.querySelectorAll("[id$=-tables] .chooser input:not(:checked)")) box.click(); }""")
    rows = [row for row in read(figures(page)) if "group" not in row]
    compared = 0
    for row, subject in zip(rows, part["run"]["subjects"], strict=True):
        for column, metric in subject["metrics"].items():
            if column not in row or metric["value"] is None or row[column]["factor"] is None:
                continue
            value, shown = in_base_units(row[column])
            assert close(value, metric["value"]), (column, row[column])
            compared += 1
            interval = metric["interval"]
            if shown is not None:
                assert close(shown[0], interval["low"]) and close(shown[1], interval["high"]), (column, row[column])
                compared += 2
            elif row[column]["sub"] == "[too few to tell]":
                assert not interval["high"] - interval["low"] <= 100 * abs(metric["value"]), (column, row[column])
    assert compared >= 50


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_without_script_it_is_styled_and_fits(run_page, open_page, colour):
    page = open_page(run_page, width=360, colour=colour, script=False)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    pre = page.locator("noscript pre").first
    assert pre.evaluate("pre => getComputedStyle(pre).whiteSpace") == "pre"
    assert pre.bounding_box()["x"] >= 8


def test_forced_colours_keep_text_and_drawings_apart_from_the_ground(run_page, open_page):
    page = open_page(run_page, width=1000, forced_colors="active")
    chart = draw(page.locator("#part-1-effects"))
    colours = chart.locator(".drawing svg text").first.evaluate(
        "text => [getComputedStyle(text).fill, getComputedStyle(document.body).backgroundColor]")
    assert colours[0] != colours[1]
