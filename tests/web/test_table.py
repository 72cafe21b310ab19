"""The table of subjects and metrics: its numbers are the document's, and it sorts, groups, compares and is copied."""

import csv
import io

import pytest

from .document import document_of
from .table import close, figures, in_base_units, read


@pytest.fixture
def subjects(run_page):
    return document_of(run_page)["parts"][0]["run"]["subjects"]


def ungroup(page):
    page.get_by_label("Group by").first.select_option("")


def sort_by(page, column):
    figures(page).locator(f'th[data-column="{column}"] button').click()


def labels(page):
    return [row["subject"]["value"] for row in read(figures(page)) if "group" not in row]


def baseline(page):
    return page.get_by_label("Baseline").first


def test_numbers_are_those_of_the_document(run_page, open_page, subjects):
    rows = read(figures(open_page(run_page)))
    assert [row["group"] for row in rows if "group" in row] == ["model mlp 3", "model resnet50 1"]
    rows = [row for row in rows if "group" not in row]
    assert [row["subject"]["value"] for row in rows] == [subject["label"] for subject in subjects]
    compared = 0
    for row, subject in zip(rows, subjects, strict=True):
        for column, metric in subject["metrics"].items():
            if column not in row or metric["value"] is None:
                continue
            value, interval = in_base_units(row[column])
            assert close(value, metric["value"]), (column, row[column], metric)
            if metric["interval"] is not None:
                assert interval is not None, (column, row[column])
                assert close(interval[0], metric["interval"]["low"]) and close(interval[1], metric["interval"]["high"])
            compared += 1
    assert compared >= 3 * len(subjects)


@pytest.mark.parametrize("column", ["latency_p50", "throughput"])
def test_sorts_by_number(run_page, open_page, subjects, column):
    page = open_page(run_page)
    ascending = [subject["label"] for subject in sorted(subjects, key=lambda subject: subject["metrics"][column]["value"])]
    ungroup(page)
    head = figures(page).locator(f'th[data-column="{column}"]')
    assert head.get_attribute("aria-sort") == "none"
    sort_by(page, column)
    assert (head.get_attribute("aria-sort"), labels(page)) == ("ascending", ascending)
    sort_by(page, column)
    assert (head.get_attribute("aria-sort"), labels(page)) == ("descending", ascending[::-1])
    sort_by(page, column)
    assert labels(page) == [subject["label"] for subject in subjects]


def test_sorts_over_magnitudes_and_keeps_what_is_not_known_last(page_of, run_document):
    for subject, value in zip(run_document["parts"][0]["run"]["subjects"], (9.5e-5, 1.2e-3, None, 0.2), strict=True):
        subject["metrics"]["latency_p50"]["value"] = value
    page = page_of(run_document)
    ungroup(page)
    sort_by(page, "latency_p50")
    assert labels(page) == ["fast", "slow", "other", "mid"]
    sort_by(page, "latency_p50")
    assert labels(page) == ["other", "slow", "fast", "mid"]


def test_groups(run_page, open_page, subjects):
    page = open_page(run_page)
    page.get_by_label("Group by").first.select_option("model")
    rows = read(figures(page))
    groups = [row["group"] for row in rows if "group" in row]
    models = list(dict.fromkeys(subject["model"] for subject in subjects))
    assert len(groups) == len(models) and all(model in name for model, name in zip(models, groups, strict=True))
    at = rows.index(next(row for row in rows if "group" in row and "resnet50" in row["group"]))
    assert [row["subject"]["value"] for row in rows[at + 1:]] == ["other"]


def test_ratios_follow_the_chosen_baseline(run_page, open_page, subjects):
    page = open_page(run_page)
    pairs = {(pair["baseline"], pair["subject"]): pair for pair in document_of(run_page)["parts"][0]["figures"]["ratios"]}
    group = [subject["index"] for subject in subjects if subject["group"] == subjects[0]["group"]]
    assert len(group) == 3
    for chosen in group:
        baseline(page).select_option(str(chosen))
        rows = [row for row in read(figures(page)) if "group" not in row]
        for row, subject in zip(rows, subjects, strict=True):
            shown = row["speed_up"]
            if subject["index"] == chosen:
                assert shown["value"] == "baseline"
            elif subject["index"] in group:
                pair = subject["ratios"]["latency_p50"] if chosen == subject["baseline"] else pairs[chosen, subject["index"]]
                value, interval = in_base_units(shown)
                assert close(value, pair["value"]), (chosen, shown, pair)
                assert close(interval[0], pair["interval"]["low"]) and close(interval[1], pair["interval"]["high"])


def copied(page, format):
    page.locator(f'button[aria-label^="Copy as {format}"]').first.click()
    return page.evaluate("window.__copied.at(-1)")


def test_copies_csv_in_base_units(run_page, open_page, subjects):
    page = open_page(run_page)
    ungroup(page)
    sort_by(page, "latency_p50")
    rows = list(csv.DictReader(io.StringIO(copied(page, "CSV"))))
    shown = [next(subject for subject in subjects if subject["label"] == row["subject"]) for row in rows]
    assert [row["subject"] for row in rows] == labels(page)
    column = next(name for name in rows[0] if name.startswith("latency p50") and name.endswith(", s"))
    assert [float(row[column]) for row in rows] == [subject["metrics"]["latency_p50"]["value"] for subject in shown]
    assert [float(row[column + ": low"]) for row in rows] == [subject["metrics"]["latency_p50"]["interval"]["low"] for subject in shown]


def test_copies_markdown_and_latex_as_shown(run_page, open_page, subjects):
    page = open_page(run_page)
    markdown = copied(page, "Markdown").splitlines()
    assert markdown[0].startswith("| subject |") and set(markdown[1]) <= set("|-: ")
    assert len({line.count("|") for line in markdown[:2 + len(subjects)]}) == 1
    latex = copied(page, "LaTeX")
    assert latex.startswith("\\begin{tabular}{") and "\\end{tabular}" in latex
    for subject in subjects:
        assert any(line.startswith(f"| {subject['label']} |") for line in markdown)
        assert f"  {subject['label']} & " in latex


def test_is_copied_where_the_clipboard_is_refused(run_page, open_page):
    page = open_page(run_page)
    page.evaluate("""() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
        document.addEventListener("copy", () => { window.__selected = document.activeElement.value; });
    }""")
    page.locator('button[aria-label^="Copy as CSV"]').first.click()
    page.wait_for_function("() => window.__selected !== undefined")
    assert page.evaluate("window.__selected").startswith("subject,")


@pytest.mark.parametrize("width", [1280, 1400])
def test_what_a_variant_of_a_language_model_is_worth_is_in_view(page_of_kind, open_page, width):
    page = open_page(page_of_kind("language"), width=width)
    box = page.locator(".sheet .scrolling:has(table.figures)").first
    right = box.bounding_box()["x"] + box.bounding_box()["width"]
    for column in ("pareto", "size", "ttft", "tpot", "perplexity", "divergence", "top1"):
        cell = box.locator(f'th[data-column="{column}"]').bounding_box()
        assert cell["x"] + cell["width"] <= right, column
    # What it costs in quality stands beneath the figure, with its interval.
    assert read(box.locator("table"))[2]["perplexity"]["sub"].startswith("+0.864 % [+0.")


def test_models_of_one_subject_each_stand_together(page_of, run_document):
    for place, subject in enumerate(run_document["parts"][0]["run"]["subjects"]):
        subject["model"] = f"file {place}"
    page = page_of(run_document)
    assert not [row for row in read(figures(page)) if "group" in row]
    page.get_by_label("Group by").first.select_option("model")
    assert len([row for row in read(figures(page)) if "group" in row]) == 4
