"""Documents with little in them, with holes, or with far too much: the page stays readable."""

import copy

import pytest

from .document import with_subjects
from .drawing import draw_all
from .table import figures, read


def samples_removed(document):
    for trial in document["parts"][0]["run"]["trials"]:
        for key in ("samples", "warmup_samples", "memory_after_iteration_bytes"):
            trial.pop(key, None)
    return document


def nothing_measured(document, first=None):
    """Of any subject, or of the first ones only."""
    run = document["parts"][0]["run"]
    for subject in run["subjects"][:first]:
        subject |= {"trials_ok": 0, "trials_failed": 3, "ratios": {}, "outputs": None, "accuracy": None, "leak": None}
        for metric in subject["metrics"].values():
            metric |= {"value": None, "interval": None, "within": None, "n": 0, "processes": 0, "note": "no process ended well"}
    for trial in run["trials"]:
        trial |= {"end": "crashed", "iterations": 0, "message": "it crashed", "stderr_tail": "Segmentation fault\n", "signal": 11}
        trial["samples"] = {"begin_s": [], "latency_s": []}
    document["parts"][0]["figures"] |= {"distributions": [], "ratios": []}
    return document


def one_sample(document):
    document = with_subjects(document, 1)
    run = document["parts"][0]["run"]
    run["trials"] = run["trials"][:1]
    for trial in run["trials"]:
        trial["samples"] = {"begin_s": [0.1], "latency_s": [0.001]}
        trial["iterations"] = 1
    for metric in run["subjects"][0]["metrics"].values():
        metric |= {"interval": None, "n": 1, "processes": 1}
    levels = document["parts"][0]["figures"]
    for distribution in levels["distributions"]:
        distribution |= {"n": 1, "quantiles_s": [0.001] * len(levels["quantile_levels"])}
        distribution["processes"] = distribution["processes"][:1]
        for process in distribution["processes"]:
            process |= {"n": 1, "quantiles_s": [0.001] * len(levels["process_levels"])}
    return document


def no_parts(document):
    return document | {"parts": []}


def no_run(document):
    document["parts"][0] |= {"run": None, "figures": None}
    return document


def no_figures(document):
    document["parts"][0]["figures"] = None
    return document


def long_labels(document):
    run = document["parts"][0]["run"]
    for index, (subject, planned) in enumerate(zip(run["subjects"], run["plan"]["subjects"], strict=True)):
        label = ("long" * 75, "طويل " * 60, "W" * 300, "x y " * 75)[index]
        subject["label"] = planned["label"] = label
    # The slowest iteration lies beyond the axis: a note names its subject.
    document["parts"][0]["figures"]["distributions"][0]["quantiles_s"][-1] = 1
    return document


def same_labels(document):
    run = document["parts"][0]["run"]
    for subject, planned in zip(run["subjects"], run["plan"]["subjects"], strict=True):
        subject["label"] = planned["label"] = "the same"
    return document


CASES = [samples_removed, nothing_measured, one_sample, no_parts, no_run, no_figures, long_labels, same_labels]


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_page_stays_readable(page_of, run_document, case, width):
    page = page_of(case(run_document), width=width)
    draw_all(page)
    assert page.locator("h1").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    text = page.locator("body").inner_text()
    assert "NaN" not in text and "undefined" not in text and "[object" not in text and "Infinity" not in text


def test_what_is_not_measured_is_a_dash_with_its_reason(page_of, run_document):
    page = page_of(nothing_measured(run_document, first=1))
    row = next(row for row in read(figures(page)) if "subject" in row)
    assert row["latency_p50"]["value"] == "–"
    assert "no process ended well" in page.locator("main").inner_text() or "crashed" in page.locator("main").inner_text()
    assert page.locator("text=Segmentation fault").count() > 0


def test_nulls_in_every_number_that_may_be_null(page_of, run_document):
    run = run_document["parts"][0]["run"]
    for subject in run["subjects"]:
        for metric in subject["metrics"].values():
            metric["value"] = None
        for ratio in subject["ratios"].values():
            ratio |= {"value": None, "interval": None}
    for trial in run["trials"]:
        for key in ("open_s", "load_s", "compile_s", "first_inference_s", "ready_s"):
            trial[key] = None
        trial["memory"] = {key: None for key in trial["memory"]} | {"peak_reset": False}
        trial["noise"] = {key: None for key in trial["noise"]}
    page = page_of(run_document)
    draw_all(page)
    text = page.locator("body").inner_text()
    assert "NaN" not in text and "undefined" not in text


def test_two_hundred_subjects(page_of, run_document):
    page = page_of(with_subjects(run_document, 200))
    draw_all(page)
    assert len(read(figures(page))) == 200
    for figure in page.locator("figure.picture").all():
        assert figure.locator(".drawing svg *").count() <= 6000, figure.get_attribute("id")
    page.get_by_label("Filter").first.fill("subject 19")
    assert [row["subject"]["value"] for row in read(figures(page))] == ["subject 19"] + [f"subject {i}" for i in range(190, 200)]


def test_runs_of_different_machines_are_said(page_of, run_document):
    other = copy.deepcopy(run_document["parts"][0])
    other["run"]["environment"]["machine"] = "another"
    notice = {"id": "different_machines", "severity": "warning", "messages": ["The runs are of 2 machines."],
              "remedy": "Compare within one machine."}
    document = run_document | {"parts": [run_document["parts"][0], other], "notices": [notice]}
    text = page_of(document).locator("main").inner_text()
    assert "The runs are of 2 machines." in text and "Compare within one machine." in text
