"""Memory: over time with its phases, of operators, and a leak's slope with its interval."""

import pytest

from . import operator_profiles as profile
from .drawing import draw

MB = 10**6
PHASES = ["start", "load", "load", "inputs", "first_inference", "warmup", "timed", "timed", "timed"]


def timeline(top, seconds=1.0, phases=PHASES):
    count = len(phases)
    return {"recorded": 400, "at_s": [round(seconds * (i + 1) / count, 3) for i in range(count)], "phase": phases,
            "rss_bytes": [top * (i + 1) // count for i in range(count)]}


def of_one_model(document):
    """Another model has pictures of its own."""
    run = document["parts"][0]["run"]
    for subject in run["plan"]["subjects"] + run["subjects"]:
        subject["model"] = "mlp"
    return document


@pytest.fixture
def document(run_document):
    run = of_one_model(run_document)["parts"][0]["run"]
    for trial in run["trials"]:
        top = (100 + 10 * trial["subject"] + trial["process"]) * MB
        trial["memory_timeline"] = timeline(top)
        trial["memory"]["rss_peak_inference_bytes"] = top  # by which the process in the middle is found
    run["trials"][0]["memory"]["rss_peak_inference_bytes"] = 900 * MB
    run["trials"][0] |= {"end": "out_of_memory", "memory_timeline": timeline(900 * MB, 0.4, PHASES[:4])}
    return run_document


def rows(figure):
    figure.locator("details.data > summary").click()
    figure.locator("details.data table").wait_for()
    return figure.locator("details.data tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")


def words(figure):
    return figure.locator(".drawing svg text").all_text_contents()


def test_a_real_run_tells_memory_over_time(run_document):
    trials = run_document["parts"][0]["run"]["trials"]
    for trial in trials:
        reported = trial["memory_timeline"]
        assert len(reported["at_s"]) == len(reported["phase"]) == len(reported["rss_bytes"]) <= 60
        assert reported["at_s"] == sorted(reported["at_s"]) and all(size > 0 for size in reported["rss_bytes"])
    assert any("timed" in trial["memory_timeline"]["phase"] for trial in trials)
    assert all(trial["memory"]["pss_after_load_bytes"] > 0 for trial in trials)


def test_memory_over_time_has_phases_and_failed_processes(page_of, document):
    page = page_of(document)
    figure = draw(page.locator("#part-1-memory-timeline"))
    assert figure.locator(".legend button.series").count() == 4, "a process of each subject"
    failed = document["parts"][0]["run"]["trials"][0]
    figure.locator("label select").first.select_option(str(failed["subject"]))
    names = figure.locator(".legend button.series").all_inner_texts()
    assert any("out of memory" in name for name in names) and len(names) == 3
    page.wait_for_function("svg => [...svg.querySelectorAll('text')].some(each => each.textContent === 'timed')",
                           arg=figure.locator(".drawing svg").first.element_handle())
    assert {"load", "timed"} <= set(words(figure))
    assert "some 60 points of up to 400" in figure.inner_text()
    figure.locator("label select").last.select_option("ready")
    page.wait_for_function("svg => ![...svg.querySelectorAll('text')].some(each => each.textContent === 'timed')",
                           arg=figure.locator(".drawing svg").first.element_handle())
    table = rows(figure)
    assert len(table) == sum(len(trial["memory_timeline"]["at_s"]) for trial in document["parts"][0]["run"]["trials"])
    assert [row[4] for row in table if row[2] == "out of memory"] == ["start", "load", "load", "inputs"]


def test_operators_by_memory_and_the_arena(page_of, run_document):
    pair = profile.pair()
    page = page_of(profile.with_profile(run_document, pair))
    operators = pair["subjects"][0]["table"]["operators"]
    bars = draw(page.locator("#part-1-operators-by-memory"))
    largest = max(operators, key=lambda each: (each["activation_bytes"] + each["parameter_bytes"] + each["output_bytes"], -each["op"]))
    assert any(largest["name"] in word for word in words(bars))
    assert "The 25 largest of" in bars.inner_text()
    bars.locator("label select").last.select_option("arena")
    arena = draw(page.locator("#part-1-arena"))
    assert arena.locator(".legend button.series").count() == 4
    table = rows(arena)
    assert [int(row[1]) for row in table] == list(range(1, len(operators) + 1))
    assert [int(row[7]) for row in table] == [each["arena_in_use_bytes"] for each in sorted(operators, key=lambda each: each["op"])]


def test_a_runtime_that_tells_no_memory_has_no_pictures_of_it(page_of, run_document):
    pair = profile.pair()
    for subject in pair["subjects"]:
        for each in subject["table"]["operators"]:
            each |= {key: None for key in each if key.endswith("_bytes")}
    page = page_of(profile.with_profile(run_document, pair))
    assert page.locator("#part-1-slowest").count() == 1
    assert page.locator("#part-1-operators-by-memory, #part-1-arena").count() == 0


def test_a_leak_s_slope_has_its_interval(page_of, run_document):
    run = of_one_model(run_document)["parts"][0]["run"]
    run["trials"][0]["memory_after_iteration_bytes"] = [100 * MB + 1000 * i for i in range(60)]
    interval = {"low": 500.0, "high": 1500.0, "confidence": 0.95}
    leak = {"verdict": "leak", "bytes_per_iteration": 1000.0, "interval": interval, "from_iteration": 30, "growth_bytes": 3e4, "reason": ""}
    subject = run["subjects"][run["trials"][0]["subject"]]
    filled = "svg => [...svg.querySelectorAll('path')].filter(each => Number(each.getAttribute('fill-opacity') ?? each.style.fillOpacity) === 0.2 || each.getAttribute('opacity') === '0.2').length"
    found = []
    for reported in (leak, leak | {"interval": None}):
        subject["leak"] = reported
        figure = draw(page_of(run_document).locator("#part-1-leak"))
        found.append(figure.locator(".drawing svg").first.evaluate(filled))
    assert found == [1, 0]
