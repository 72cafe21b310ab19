"""Operators: what the page shows of a profile is the document's, by mouse and by keyboard, whoever named the operators."""

import itertools
import json
import re
import xml.etree.ElementTree as xml

import jsonschema
import pytest

from . import operator_profiles as profile
from .accessibility import assert_axe_finds_nothing
from .document import with_document
from .drawing import draw, unfold
from .table import close, in_base_units, read
from .test_hostile import PAGES, assert_only_shown, use_everything

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def pair():
    return profile.pair()


@pytest.fixture
def pair_page(page_of, run_document, pair):
    return lambda content=None, **options: page_of(profile.with_profile(run_document, content or pair), **options)


def graph(page, difference=False):
    return draw(page.locator(f"#part-1-flame{'-difference' if difference else ''}"))


def frames(figure, level=None):
    """Names as they are reported, of one level or of all."""
    selector = ".frame" if level is None else f'.frame[aria-level="{level}"]'
    return figure.locator(selector).evaluate_all("all => all.map(frame => frame.getAttribute('aria-label'))")


def name_of(label):
    """Of "conv1 +1.23 ms [+1.20, +1.26], operator"."""
    return re.match(r"(.*?) [+−]?[\d,.]+ (ns|µs|ms|s|%)", label)[1]


def seconds(label):
    """The first time in it."""
    number, unit = re.search(r"([+−]?[\d,.]+) (ns|µs|ms|s)\b", label).groups()
    return float(number.replace(",", "").replace("−", "-").replace("+", "")) * {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}[unit]


def focus_label(page):
    return page.evaluate("document.activeElement.getAttribute('aria-label')")


def operators_table(page):
    return page.locator("#part-1-operators table.figures").first


def test_frames_add_up_to_the_document_s_wall_time(pair_page, pair):
    table = pair["subjects"][0]["table"]
    figure = graph(pair_page())
    assert close(seconds(frames(figure, 1)[0]), table["wall_s"])
    assert sum(map(seconds, frames(figure, 2))) == pytest.approx(table["wall_s"], rel=0.01)
    kinds = {name_of(label): seconds(label) for label in frames(figure, 2)}
    convolutions = sum(each["mean_s"] for each in table["operators"] if each["kind"] == "Conv")
    assert close(kinds["Conv"], convolutions) and close(kinds["(rest)"], table["rest"]["mean_s"])


def test_differences_add_up_to_the_document_s(pair_page, pair):
    why = pair["explanations"][0]
    figure = graph(pair_page(), difference=True)
    root = frames(figure, 1)[0]
    assert close(seconds(root), why["difference_s"]) and "[" in root
    figure.locator("details.data > summary").click()
    figure.locator("details.data table").wait_for()
    shown = figure.locator("details.data tbody tr").evaluate_all("rows => rows.map(row => Number(row.cells[4].textContent))")
    assert len(shown) == len(why["groups"])
    assert sum(shown) == pytest.approx(why["difference_s"], abs=1e-12)
    assert sum(map(seconds, frames(figure, 2))) == pytest.approx(why["difference_s"], rel=0.01)


def test_what_one_side_lacks_stays_in_sight(pair_page):
    page = pair_page()
    figure = graph(page, difference=True)
    reorder = lambda: [label for label in frames(figure, 2) if "Reorder" in label]
    assert any("−120 µs" in label for label in reorder())
    figure.get_by_label("Show").select_option("a")
    assert reorder()
    figure.get_by_label("Show").select_option("b")
    assert not reorder()
    figure.get_by_label("Show").select_option("difference")
    assert reorder()


def test_a_b_and_difference_show_each_side_s_time(pair_page, pair):
    groups = pair["explanations"][0]["groups"]
    figure = graph(pair_page(), difference=True)
    widths = {}
    for mode, key in (("a", "baseline_s"), ("b", "subject_s"), ("difference", "mean_s")):
        figure.get_by_label("Show").select_option(mode)
        assert close(seconds(frames(figure, 1)[0]), sum(group[key] for group in groups)), mode
        widths[mode] = figure.locator(".frame .area").first.evaluate("area => area.getBBox().width")
    # On one scale: the slower one is wider.
    whole = figure.locator("svg.flame").evaluate("svg => svg.getBoundingClientRect().width")
    assert widths["b"] == pytest.approx(whole, abs=3) and widths["a"] < 0.9 * whole
    figure.get_by_label("Scale").select_option("own")
    figure.get_by_label("Show").select_option("a")
    assert figure.locator(".frame .area").first.evaluate("area => area.getBBox().width") == pytest.approx(whole, abs=3)


def test_what_is_not_separable_is_hatched(pair_page):
    figure = graph(pair_page(), difference=True)
    for frame in figure.locator('.frame[aria-level="3"]').all():
        reported = "not separable" in frame.get_attribute("aria-label")
        assert reported == (frame.locator('path[fill^="url(#hatch"]').count() == 1)
    assert "not separable from noise" in figure.locator("svg.flame").text_content()


def test_clauses_say_the_answer_with_its_share(pair_page, pair):
    clause = pair["explanations"][0]["clauses"][0]
    text = pair_page().locator("#part-1-operators .explanation").inner_text()
    assert clause["sentence"] in text and f"{clause['share'] * 100:.3g} %" in text
    assert "other layout" in text and "not separable" in text


def test_zoom_by_keyboard_and_back(pair_page):
    page = pair_page()
    figure = graph(page)
    figure.locator('.frame[tabindex="0"]').focus()
    assert name_of(focus_label(page)) == "fast"
    page.keyboard.press("ArrowDown")
    assert name_of(focus_label(page)) == "Conv"
    page.keyboard.press("ArrowRight")
    second = focus_label(page)
    assert ", kind" in second and name_of(second) != "Conv"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    operator = focus_label(page)
    assert ", operator" in operator
    page.keyboard.press("Enter")
    assert focus_label(page) == operator
    assert [name_of(label) for label in frames(figure, 3)] == [name_of(operator)]
    assert figure.locator(".way li").all_inner_texts() == ["fast", "Conv", name_of(operator)]
    page.keyboard.press("Escape")
    assert name_of(focus_label(page)) == "Conv"
    page.keyboard.press("Escape")
    assert name_of(focus_label(page)) == "fast"
    assert len(frames(figure, 2)) > 2
    # There is one way in for Tab, whatever was done.
    assert figure.locator('.frame[tabindex="0"]').count() == 1


def test_zoom_by_mouse_and_by_the_way_back(pair_page):
    page = pair_page()
    figure = graph(page)
    figure.locator(".frame", has_text="Conv").first.click()
    assert figure.locator(".way [aria-current]").inner_text() == "Conv"
    figure.locator(".way button").first.click()
    assert figure.locator(".way [aria-current]").inner_text() == "fast"


def test_the_address_keeps_what_is_shown(pair_page):
    page = pair_page()
    figure = graph(page, difference=True)
    figure.get_by_label("Show").select_option("b")
    figure.locator(".frame", has_text="Conv").first.click()
    address = page.evaluate("location.hash")
    assert address.startswith("#part-1-flame-difference=b/")
    page.evaluate("history.replaceState(null, '', location.pathname)")
    figure.locator(".way button").first.click()
    assert page.evaluate("location.hash") == ""
    page.evaluate(f"location.hash = '{address}'")
    page.wait_for_function("() => document.querySelector('#part-1-flame-difference .way [aria-current]').textContent === 'Conv'")
    assert figure.get_by_label("Show").input_value() == "b"
    # An address of no frame opens all of them.
    page.evaluate("location.hash = '#part-1-flame-difference=b/own/%3Cimg%3E/__proto__'")
    page.wait_for_function("() => document.querySelectorAll('#part-1-flame-difference .way li').length === 1")


def test_search_tells_what_is_found_and_its_total(pair_page, pair):
    page = pair_page()
    figure = graph(page)
    found = figure.locator("output")
    operators = pair["subjects"][0]["table"]["operators"]
    search = figure.get_by_label("Search")
    search.fill("reorder")
    assert found.inner_text().startswith("2 found: ")  # both kinds, each once
    assert close(seconds(found.inner_text()), sum(each["mean_s"] for each in operators if "Reorder" in each["kind"]))
    search.fill("^conv_1.?_")
    assert found.inner_text() == "nothing found"
    figure.get_by_label("Regular expression").check()
    matched = [each for each in operators if re.match("conv_1.?_", each["name"])]
    assert found.inner_text().startswith(f"{len(matched)} found: ")
    assert close(seconds(found.inner_text()), sum(each["mean_s"] for each in matched))
    assert figure.locator(".frame.hit").count() == len(matched)
    search.fill("(")
    assert found.inner_text() == "this is not a regular expression"
    search.fill("")
    assert found.inner_text() == "" and figure.locator(".frame.hit, .frame.miss").count() == 0


def test_table_has_every_operator_and_the_rest(pair_page, pair):
    table = pair["subjects"][0]["table"]
    rows = read(operators_table(pair_page()))
    assert [row["name"]["value"] for row in rows] == [each["name"] for each in table["operators"]] + ["(rest)"]
    total = 0
    for row, each in zip(rows, [*table["operators"], table["rest"]], strict=True):
        value, interval = in_base_units(row["time"])
        assert close(value, each["mean_s"]) and close(interval[0], each["low_s"]) and close(interval[1], each["high_s"])
        total += value
    assert total == pytest.approx(table["wall_s"], rel=0.005)


def test_table_sorts_filters_and_groups(pair_page, pair):
    page = pair_page()
    table = operators_table(page)
    table.locator('th[data-column="time"] button').click()
    rows = read(table)
    times = [in_base_units(row["time"])[0] for row in rows]
    assert times == sorted(times)
    sheet = page.locator("#part-1-operators .sheet").first
    sheet.get_by_label("Filter").fill("reorder")
    assert len(read(table)) == 2
    sheet.get_by_label("Filter").fill("")
    sheet.get_by_label("Group by").select_option("kind")
    heads = [row["group"] for row in read(table) if "group" in row]
    assert any(head.startswith("kind Conv") for head in heads)
    text = table.locator("tr.group", has_text="kind Conv").inner_text()
    assert close(seconds(text), sum(each["mean_s"] for each in pair["subjects"][0]["table"]["operators"] if each["kind"] == "Conv"))


def test_subjects_are_chosen(pair_page, pair):
    page = pair_page()
    page.locator("label", has_text="Operators of").locator("select").select_option("1")
    assert len(read(operators_table(page))) == len(pair["subjects"][1]["table"]["operators"]) + 1
    figure = graph(page)
    figure.get_by_label("Subject").select_option("1")
    assert name_of(frames(figure, 1)[0]) == "slow"


def test_distorted_profiles_show_shares_only_and_say_so(pair_page):
    page = pair_page(profile.profile([profile.table(profile.blocked_operators(), distorted=True)]))
    section = page.locator("#part-1-operators")
    assert "only shares are shown" in section.inner_text()
    assert operators_table(page).locator('th[data-column="time"], th[data-column="roof"]').count() == 0
    figure = graph(page)
    assert all("%" in label and not re.search(r"\d (ns|µs|ms|s)\b", label) for label in frames(figure))
    figure.locator("details.data > summary").click()
    assert "time, s" not in figure.locator("details.data thead").inner_text()
    assert page.locator("#part-1-roofline").count() == 0


def test_reasons_stand_where_figures_would(pair_page):
    content = profile.profile([profile.table(profile.blocked_operators(), peaks=False), None], with_peaks=False)
    content["explanations"] = [profile.explanation(0, 0, [content["subjects"][0]["table"]] * 2) | {"reason": "three pairs are needed", "groups": [], "clauses": []}]
    page = pair_page(content)
    text = page.locator("#part-1-operators").inner_text()
    assert "peaks were not measured" in text and "three pairs are needed" in text and "this machine lets nobody sample" in text
    assert page.locator("#part-1-roofline, #part-1-flame-difference").count() == 0
    page.locator("label", has_text="Operators of").locator("select").select_option("1")
    assert "None of the 8 profile trials" in page.locator("#part-1-operators").inner_text()


def test_a_run_without_profiles_has_no_section(run_page, open_page):
    assert open_page(run_page).locator("#part-1-operators").count() == 0


def test_three_thousand_operators_are_drawn_within_bounds(pair_page):
    page = pair_page(profile.profile([profile.table(profile.many_operators(3000))], with_peaks=False))
    figure = graph(page)
    assert 300 < figure.locator(".frame").count() <= 3000
    assert "below 0.1 %" in figure.locator("p.note").first.inner_text()
    small = [int(count) for label in frames(figure) for count in re.findall(r"^\((\d+) small\)", label)]
    assert sum(small) > 1000
    figure.get_by_label("Search").fill("operator_2999")
    assert figure.locator("output").inner_text().startswith("1 found: ")
    assert figure.locator(".frame.hit").count() >= 1


def test_every_picture_has_controls_that_draw_and_data_behind_it(pair_page):
    page = pair_page()
    figures = page.locator("#part-1-operators figure.picture").all()
    assert len(figures) == 7, [figure.get_attribute("id") for figure in figures]
    for figure in figures:
        for select in draw(figure).locator(".controls select").all():
            select.select_option(select.evaluate("select => select.options[1].value"))
            assert figure.locator(".drawing svg path").count() > 0
        figure.locator("details.data > summary").click()
        figure.locator("details.data table").wait_for()
        assert figure.locator("details.data tbody tr").count() > 3


@pytest.mark.parametrize("difference", [False, True])
def test_saves_svg_and_png(pair_page, difference):
    page = pair_page()
    figure = graph(page, difference)
    with page.expect_download() as download:
        figure.get_by_role("button", name="Save as SVG").click()
    root = xml.parse(download.value.path()).getroot()
    assert root.tag == f"{SVG}svg" and figure.locator("h4").inner_text() in " ".join(root.itertext())
    assert len(root.findall(f"{SVG}g")) >= figure.locator(".frame").count()
    with page.expect_download() as download:
        figure.get_by_role("button", name="Save as PNG").click()
    assert open(download.value.path(), "rb").read(8) == b"\x89PNG\r\n\x1a\n"


def test_axe_finds_nothing(pair_page, axe):
    page = pair_page(width=360)
    for figure in page.locator("#part-1-operators figure.picture").all():
        draw(figure)
    unfold(page, "#part-1-operators details")
    assert_axe_finds_nothing(page, axe, "document.querySelector('#part-1-operators')")


def hostile(value, names):
    """Every text becomes the next name, those of closed lists too."""
    if isinstance(value, dict):
        return {key: hostile(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [hostile(item, names) for item in value]
    return next(names) if isinstance(value, str) else value


@pytest.mark.parametrize("what", PAGES)
def test_hostile_names_run_nothing(page_of, run_document, pair, what):
    page = page_of(profile.with_profile(run_document, hostile(pair, itertools.cycle(PAGES[what]))))
    use_everything(page)
    for figure in page.locator("#part-1-operators .flame").all():
        figure.locator(".frame").nth(1).focus()
        page.keyboard.press("Enter")
    assert_only_shown(page, what, "#part-1-operators")


@pytest.mark.parametrize("what", ["in turn", "at once"])
def test_saved_graphs_of_hostile_names_are_well_formed(page_of, run_document, pair, what):
    page = page_of(profile.with_profile(run_document, hostile(pair, itertools.cycle(PAGES[what]))))
    figure = graph(page)
    with page.expect_download() as download:
        figure.get_by_role("button", name="Save as SVG").click()
    for element in xml.parse(download.value.path()).getroot().iter():
        assert not element.tag.endswith(("script", "foreignObject")) and not any(key.startswith("on") for key in element.attrib)


def test_the_page_of_a_pair_is_small(run_page, run_document, pair):
    assert len(with_document(run_page, profile.with_profile(run_document, pair)).encode()) < 1_500_000


def test_printed(pair_page):
    page = pair_page(colour="dark")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for figure in page.locator("#part-1-operators figure.picture").all():
        assert figure.locator(".drawing svg path").count() > 0
    assert page.evaluate("[...document.querySelectorAll('#part-1-operators .flame-tools')].filter(each => each.checkVisibility()).length") == 0


def test_the_profile_follows_the_schema(source_dir, pair):
    schema = json.loads((source_dir / "docs/schema/run.schema.json").read_text())
    schema = {"$schema": schema["$schema"], "$ref": "#/$defs/profile", "$defs": schema["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(pair)
    jsonschema.Draft202012Validator(schema).validate(profile.profile([profile.table(profile.many_operators(30), distorted=True), None], with_peaks=False))


def test_opens_at_the_frame_that_its_address_names(run_page, run_document, pair, browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(with_document(run_page, profile.with_profile(run_document, pair)), encoding="utf-8")
    page = browser.new_page()
    page.goto(f"{file.as_uri()}#part-1-flame=1/1")
    page.wait_for_selector("#part-1-flame .frame")
    assert page.locator("#part-1-flame").get_by_label("Subject").input_value() == "1"
    assert page.locator("#part-1-flame .way li").count() == 2
    page.wait_for_function("() => document.querySelector('#part-1-flame').getBoundingClientRect().top < innerHeight")
    page.close()
