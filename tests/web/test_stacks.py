"""Call stacks: what the page shows of them is the document's; one function between its callers and callees; what a clause names."""

import itertools
import json
import re
import xml.etree.ElementTree as xml

import jsonschema
import pytest

from . import operator_profiles as operators
from . import stack_profiles as stacks
from .accessibility import assert_axe_finds_nothing
from .drawing import draw, unfold
from .table import close
from .test_hostile import PAGES, assert_only_shown, use_everything
from .test_operators import SVG, focus_label, frames, graph, hostile, name_of, seconds

MS = 1e-3


@pytest.fixture(scope="module")
def pair():
    return stacks.pair()


@pytest.fixture
def pair_page(page_of, run_document, pair):
    return lambda content=None, **options: page_of(operators.with_profile(run_document, content or pair), **options)


def of_stacks(figure, which=0):
    figure.get_by_role("combobox", name="Frames").select_option(f"stacks-{which}")
    return figure


def sandwich(page):
    return draw(page.locator("#part-1-sandwich"))


def functions_of(figure):
    return figure.locator(".flame-tools select")


def tree(figure, name):
    return figure.get_by_role("tree", name=name)


def labels(figure, name, level=None):
    selector = ".frame" if level is None else f'.frame[aria-level="{level}"]'
    return tree(figure, name).locator(selector).evaluate_all("all => all.map(frame => frame.getAttribute('aria-label'))")


def test_frames_are_the_document_s(pair_page, pair):
    content = pair["subjects"][0]["stacks"][0]
    figure = of_stacks(graph(pair_page()))
    assert close(seconds(frames(figure, 1)[0]), content["wall_s"])
    assert {name_of(label) for label in frames(figure, 2)} == {"Conv", "MaxPool", "(outside operators)", "(not sampled)"}
    assert sum(map(seconds, frames(figure, 2))) == pytest.approx(content["wall_s"], rel=0.01)
    gemm = [label for label in frames(figure) if "MlasSgemmKernel" in label]
    assert sum(map(seconds, gemm)) == pytest.approx(13 * MS, rel=0.01)
    assert all(label.endswith(", function") for label in gemm)
    assert "[libort.so+0x1f40]" in " ".join(frames(figure))
    note = figure.locator("p.note").first.inner_text()
    assert "16,120 samples of 8 processes, 99.1 % of them in an operator, 20.0 % in code without a name." in note and "499 samples a second" in note


def test_methods_threads_and_subjects_are_chosen(pair_page):
    figure = graph(pair_page())
    assert figure.get_by_label("Frames").locator("option").all_inner_texts() == ["Operators", "Call stacks (perf_event)", "Python stacks (cProfile)"]
    of_stacks(figure).locator(".controls label", has_text="Threads").locator("select").select_option("other_threads")
    assert seconds(frames(figure, 1)[0]) == pytest.approx(20 * MS) and name_of(frames(figure, 2)[0]) == "worker_main"
    figure.locator(".controls label", has_text="Threads").locator("select").select_option("whole")
    of_stacks(figure, 1)
    assert "Session.run" in " ".join(frames(figure))
    # The other subject has none: its operators are shown, and that is said.
    figure.get_by_label("Subject").select_option("1")
    assert "There are no Python stacks (cProfile) of slow." in figure.locator("p.note").first.inner_text()
    assert "Conv" in " ".join(frames(figure, 2))


def test_a_profile_without_stacks_has_no_choice_of_them(page_of, run_document):
    page = page_of(operators.with_profile(run_document, operators.pair()))
    assert graph(page).get_by_label("Frames").count() == 0 and graph(page, True).get_by_label("Frames").count() == 0
    assert page.locator("#part-1-sandwich").count() == 0


def test_stacks_without_operators_are_shown(page_of, run_document):
    content = operators.profile([None], with_peaks=False)
    content["subjects"][0]["stacks"] = [stacks.python_stacks()]
    figure = graph(page_of(operators.with_profile(run_document, content)))
    assert [name_of(label) for label in frames(figure, 2)] == ["run", "(not sampled)"]


def test_a_slowed_profile_shows_shares_only(page_of, run_document):
    content = operators.profile([None], with_peaks=False)
    content["subjects"][0]["stacks"] = [stacks.python_stacks(distorted=True)]
    figure = graph(page_of(operators.with_profile(run_document, content)))
    assert "times cannot be read" in figure.locator("p.note").first.inner_text()
    assert not re.search(r"\d (µs|ms)", " ".join(frames(figure)) + figure.locator(".more-of-it").inner_text())
    figure.locator("details.data > summary").click()
    assert not re.search(r", s\b", figure.locator("details.data thead").inner_text())


def test_differences_of_stacks_add_up(pair_page, pair):
    content = pair["explanations"][0]["stacks"][0]
    figure = of_stacks(graph(pair_page(), difference=True))
    assert close(seconds(frames(figure, 1)[0]), content["difference_s"])
    assert sum(map(seconds, frames(figure, 2))) == pytest.approx(content["difference_s"], rel=0.01)
    copied = lambda: [label for label in frames(figure) if label.startswith("memcpy")]
    assert "+1.00 ms" in copied()[0]
    figure.get_by_label("Show").select_option("a")
    assert not copied()
    figure.get_by_label("Show").select_option("b")
    assert copied()
    figure.get_by_label("Show").select_option("difference")
    for frame in figure.locator(".frame").all():
        reported = "not separable" in frame.get_attribute("aria-label")
        assert reported == (frame.locator('path[fill^="url(#hatch"]').count() == 1)


def test_a_function_between_its_callers_and_callees(pair_page):
    page = pair_page()
    figure = sandwich(page)
    # The hottest function that has a name.
    assert functions_of(figure).evaluate("select => select.selectedOptions[0].text").startswith("MlasSgemmKernel<float, 12>")
    functions_of(figure).select_option(label=next(text for text in functions_of(figure).locator("option").all_inner_texts() if text.startswith("OrtRun")))
    assert [name_of(label) for label in labels(figure, "Callees", 1)] == ["OrtRun"]
    callees = {name_of(label): seconds(label) for label in labels(figure, "Callees", 2)}
    assert callees == pytest.approx({"MlasSgemmKernel<float, 12>": 13 * MS, "[libort.so+0x1f40]": 3 * MS}, rel=0.01)
    callers = {name_of(label): seconds(label) for label in labels(figure, "Callers", 2)}
    assert sum(callers.values()) == pytest.approx(seconds(labels(figure, "Callers", 1)[0]), rel=0.01)
    assert "main" in callers and "pool" in callers
    # Callers lie above, callees below.
    top = lambda name, level: tree(figure, name).locator(f'.frame[aria-level="{level}"] .area').first.evaluate("area => area.getBoundingClientRect().top")
    assert top("Callers", 2) < top("Callers", 1) < top("Callees", 1) < top("Callees", 2)


def test_the_sandwich_by_keyboard(pair_page):
    page = pair_page()
    figure = sandwich(page)
    tree(figure, "Callers").locator('.frame[tabindex="0"]').focus()
    root = focus_label(page)
    page.keyboard.press("ArrowUp")
    caller = focus_label(page)
    assert name_of(caller) == "OrtRun" and caller != root
    page.keyboard.press("ArrowDown")
    assert focus_label(page) == root
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert [name_of(label) for label in labels(figure, "Callers", 2)] == ["OrtRun"]
    page.keyboard.press("Escape")
    assert focus_label(page) == root
    # Arrows do not leave their tree.
    page.keyboard.press("ArrowDown")
    assert focus_label(page) == root


def test_a_frame_of_the_graph_leads_to_its_sandwich(pair_page):
    page = pair_page()
    figure = of_stacks(graph(page))
    button = figure.get_by_role("button", name="Callers and callees")
    figure.locator('.frame[tabindex="0"]').focus()
    assert button.count() == 0  # the whole is no function
    figure.locator(".frame", has_text="OrtRun").first.focus()
    button.focus()
    page.keyboard.press("Enter")
    below = page.locator("#part-1-sandwich")
    below.locator(".frame").first.wait_for()
    assert functions_of(below).evaluate("select => select.selectedOptions[0].text").startswith("OrtRun")
    assert below.get_by_label("Stacks").input_value() == "0"
    assert page.evaluate("document.activeElement.tagName") == "SELECT"


@pytest.mark.parametrize("of", ["operators", "stacks-0"])
def test_a_clause_shows_its_frames_in_the_graph(pair_page, pair, of):
    page = pair_page()
    clause, why = pair["explanations"][0]["clauses"][0], pair["explanations"][0]
    figure = graph(page, difference=True)
    figure.get_by_label("Frames").select_option(of)
    figure.get_by_label("Show").select_option("a")
    page.locator(".explanation").get_by_role("button", name=clause["sentence"]).focus()
    page.keyboard.press("Enter")
    assert figure.get_by_label("Show").input_value() == "difference"
    reported = figure.locator("output").inner_text()
    assert reported.startswith(f"{clause['sentence']}: ")
    if of == "operators":
        assert f"{len(clause['groups'])} found: " in reported and close(seconds(reported.split("found: ")[1]), clause["mean_s"])
        hits = {name_of(frame) for frame in figure.locator(".frame.hit").evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")}
        assert hits <= {name for i in clause["groups"] for name in [f"{why['groups'][i]['nodes'][0]} and 1 more", why["groups"][i]["nodes"][0]]} | {hit for hit in hits if "small" in hit}
    else:
        assert "2 found: +5.50 ms" in reported
    assert "hit" in page.evaluate("document.activeElement.getAttribute('class')")
    figure.get_by_role("button", name="Clear").click()
    assert figure.locator(".frame.hit, .frame.miss").count() == 0 and figure.locator("output").inner_text() == ""
    # A search takes its place.
    page.locator(".explanation").get_by_role("button", name=clause["sentence"]).click()
    figure.get_by_label("Search").fill("no such name")
    assert figure.locator("output").inner_text() == "nothing found" and figure.get_by_role("button", name="Clear").is_hidden()


def test_a_clause_is_shown_in_a_graph_that_is_not_drawn_yet(pair_page, pair):
    page = pair_page()
    button = page.locator(".explanation").get_by_role("button", name=pair["explanations"][0]["clauses"][0]["sentence"])
    button.evaluate("button => button.click()")  # without coming near it
    page.locator("#part-1-flame-difference .frame.hit:focus").wait_for()


def test_many_frames_are_drawn_within_bounds(page_of, run_document):
    content = operators.profile([None], with_peaks=False)
    content["subjects"][0]["stacks"] = [stacks.many(2500)]
    figure = graph(page_of(operators.with_profile(run_document, content)))
    assert 300 < figure.locator(".frame").count() <= 3000


def test_search_finds_functions_and_modules(pair_page):
    figure = of_stacks(graph(pair_page()))
    figure.get_by_label("Search").fill("sgemm")
    assert figure.locator("output").inner_text().startswith("2 found: 13.0 ms")
    figure.get_by_label("Search").fill("libc.so")
    assert figure.locator("output").inner_text().startswith("1 found: 1.00 ms")


@pytest.mark.parametrize("which", ["flame", "flame-difference", "sandwich"])
def test_saves_svg_and_png(pair_page, which):
    page = pair_page()
    figure = draw(page.locator(f"#part-1-{which}"))
    if which != "sandwich":
        of_stacks(figure)
    with page.expect_download() as download:
        figure.get_by_role("button", name="Save as SVG").click()
    root = xml.parse(download.value.path()).getroot()
    assert root.tag == f"{SVG}svg" and figure.locator("h4").inner_text() in " ".join(root.itertext()) and "OrtRun" in " ".join(root.itertext())
    assert len(root.findall(f"{SVG}g")) >= figure.locator(".frame").count()
    with page.expect_download() as download:
        figure.get_by_role("button", name="Save as PNG").click()
    assert open(download.value.path(), "rb").read(8) == b"\x89PNG\r\n\x1a\n"


def test_data_has_every_frame_and_every_function(pair_page, pair):
    page = pair_page()
    content = pair["subjects"][0]["stacks"][0]
    figure = of_stacks(graph(page))
    figure.locator("details.data > summary").click()
    rows = figure.locator("details.data tbody tr")
    assert rows.count() == len(content["tree"])
    assert "fast;Conv;conv_0_nchwc;OrtRun;MlasSgemmKernel<float, 12>" in rows.evaluate_all("rows => rows.map(row => row.cells[0].textContent)")
    below = sandwich(page)
    below.locator("details.data > summary").click()
    assert below.locator("details.data tbody tr").count() == len(content["functions"])


def test_axe_finds_nothing(pair_page, axe):
    page = pair_page(width=360)
    for which in ("flame", "flame-difference"):
        of_stacks(draw(page.locator(f"#part-1-{which}")))
    sandwich(page)
    unfold(page, "#part-1-operators details")
    # Symbols are longer than frames: what is drawn of one is cut, and what is read out is whole.
    assert_axe_finds_nothing(page, axe, "document.querySelector('#part-1-operators')")


@pytest.mark.parametrize("what", PAGES)
def test_hostile_names_run_nothing(page_of, run_document, pair, what):
    content = hostile(pair, itertools.cycle(PAGES[what]))
    # What readers depend on stays: a level of a closed list is no name.
    for before, after in [*zip(pair["subjects"], content["subjects"], strict=True), *zip(pair["explanations"], content["explanations"], strict=True)]:
        for old, new in zip(before["stacks"], after["stacks"], strict=True):
            for node, changed in zip(old["tree"], new["tree"], strict=True):
                changed["level"] = node["level"]
    for why in content["explanations"]:
        why["reason"] = ""  # with one there are no clauses
    page = page_of(operators.with_profile(run_document, content))
    use_everything(page)
    figure = page.locator("#part-1-flame")
    of_stacks(figure)
    figure.locator(".frame").nth(3).focus()
    page.keyboard.press("Enter")
    page.locator(".explanation button.link").first.click()
    assert_only_shown(page, what, "#part-1-operators")


def test_clauses_are_printed(pair_page, pair):
    page = pair_page()
    page.emulate_media(media="print")
    assert page.locator(".explanation").get_by_text(pair["explanations"][0]["clauses"][0]["sentence"]).is_visible()


def test_the_stacks_follow_the_schema(source_dir, pair):
    schema = json.loads((source_dir / "docs/schema/run.schema.json").read_text())
    jsonschema.Draft202012Validator({"$schema": schema["$schema"], "$ref": "#/$defs/profile", "$defs": schema["$defs"]}).validate(pair)
