"""Pictures: series that are toggled, zoom, the data behind each, and their export."""

import csv
import io
import math
import struct
import xml.etree.ElementTree as xml

import pytest

from .document import with_subjects
from .drawing import draw, draw_all, picture_with, pictures


def titled(page, part):
    return draw(page.locator("figure.picture", has=page.locator("h4", has_text=part)).first)


def svg_of(figure):
    return figure.locator(".drawing svg").first.evaluate("svg => svg.innerHTML")


def saved(page, figure, format):
    with page.expect_download() as download:
        figure.get_by_role("button", name=f"Save as {format}").click()
    assert download.value.suggested_filename.endswith(f".{format.lower()}")
    return open(download.value.path(), "rb").read()


def test_every_kind_of_part_has_pictures(whole_page, whole_document):
    page = whole_page()
    for index, part in enumerate(whole_document["parts"]):
        assert page.locator(f"#part-{index + 1} figure.picture").count() > 0, part["kind"]


def test_every_picture_draws_and_says_how_it_is_read(whole_page):
    page = whole_page()
    all_of_them = pictures(page)
    assert len({figure.get_attribute("id") for figure in all_of_them}) == len(all_of_them)
    for figure in all_of_them:
        draw(figure)
        assert figure.locator("h4").inner_text() and len(figure.locator(".reads").inner_text()) > 20
        assert figure.locator(".drawing svg path, .drawing canvas").count() > 0
        label = figure.locator("[role=img]").get_attribute("aria-label")
        assert label.startswith(figure.locator("h4").inner_text())


def test_toggles_a_series(run_page, open_page):
    page = open_page(run_page)
    figure = picture_with(page, ".legend:not([hidden]) button.series")
    button = figure.locator("button.series").first
    before = svg_of(figure)
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    page.wait_for_function("([svg, before]) => svg.innerHTML !== before",
                           arg=[figure.locator(".drawing svg").first.element_handle(), before])
    button.click()
    assert button.get_attribute("aria-pressed") == "true"


def marks(figure):
    """The words in a drawing, those of its axes among them."""
    return figure.locator(".drawing svg text").all_text_contents()


def changed(page, figure, act):
    before = marks(figure)
    act()
    page.wait_for_function("([svg, before]) => String([...svg.querySelectorAll('text')].map(each => each.textContent)) !== before",
                           arg=[figure.locator(".drawing svg").first.element_handle(), ",".join(before)])
    return marks(figure)


def test_zooms_by_button(run_page, open_page):
    page = open_page(run_page)
    figure = picture_with(page, 'button[aria-label^="Zoom in"]')
    whole = marks(figure)
    changed(page, figure, figure.get_by_role("button", name="Zoom in").click)
    assert changed(page, figure, figure.get_by_role("button", name="Show all").click) == whole


@pytest.mark.parametrize("axis", ["all", "log"])
def test_zooms_by_key(run_page, open_page, axis):
    page = open_page(run_page)
    figure = picture_with(page, f'option[value="{axis}"]')
    figure.get_by_label("Axis").select_option(axis)
    whole = marks(figure)
    figure.locator(".drawing").focus()
    for key in ("+", "+", "ArrowLeft", "ArrowRight", "-"):
        changed(page, figure, lambda key=key: page.keyboard.press(key))
    assert changed(page, figure, lambda: page.keyboard.press("0")) == whole


def test_controls_draw_anew(whole_page):
    page = whole_page()
    seen = 0
    for figure in pictures(page):
        select = draw(figure).locator(".controls select").first
        if select.count() == 0:
            continue
        values = select.evaluate("select => [...select.options].map(option => option.value)")
        assert len(values) > 1
        select.select_option(values[1])
        assert figure.locator(".drawing svg path, .drawing canvas").count() > 0
        seen += 1
    assert seen > 0


def test_data_stand_behind_every_picture(whole_page):
    page = whole_page()
    for figure in pictures(page):
        draw(figure).locator("details.data > summary").click()
        table = figure.locator("details.data table")
        table.wait_for()
        assert table.locator("thead th").count() > 1
        assert table.locator("tbody tr").count() > 0
    figure = pictures(page)[0]
    figure.get_by_role("button", name="Copy as CSV").click()
    rows = list(csv.reader(io.StringIO(page.evaluate("window.__copied.at(-1)"))))
    assert len({len(row) for row in rows}) == 1
    assert rows[0] == figure.locator("details.data thead th").all_inner_texts()


def numbers(text):
    found = set()
    for cell in (cell for row in csv.reader(io.StringIO(text)) for cell in row):
        try:
            found.add(float(cell))
        except ValueError:
            pass
    return found


def test_data_are_the_document_s(run_page, open_page, run_document):
    """Every timed iteration of the first subject is in the data of its picture over time."""
    page = open_page(run_page)
    figure = titled(page, "over time")
    figure.locator("details.data > summary").click()
    figure.get_by_role("button", name="Copy as CSV").click()
    latencies = {value for trial in run_document["parts"][0]["run"]["trials"] if trial["subject"] == 0 for value in trial["samples"]["latency_s"]}
    assert len(latencies) > 100
    assert latencies <= numbers(page.evaluate("window.__copied.at(-1)"))


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_saves_svg_with_its_title(run_page, open_page, colour):
    page = open_page(run_page, colour=colour)
    for figure in pictures(page)[:3]:
        draw(figure)
        content = saved(page, figure, "SVG")
        root = xml.fromstring(content)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        title = figure.locator("h4").inner_text()
        assert title in " ".join(root.itertext())
        assert b"<script" not in content and b"http://www.w3.org/1999/xhtml" not in content


def test_saves_png_of_its_size(run_page, open_page):
    page = open_page(run_page)
    content = saved(page, draw(pictures(page)[0]), "PNG")
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width == 2 * 960 and height > 200


def test_saves_planes(whole_page):
    """Difference pictures are planes of pixels: both exports hold them."""
    page = whole_page()
    figure = titled(page, "mask")
    note = figure.locator(".note").first.inner_text()
    assert "0.25" in note and "[0, 0, 5, 7], row 5, column 7 of 12 × 16" in note and "Thinned to 6 × 8" in note
    assert saved(page, figure, "PNG").startswith(b"\x89PNG\r\n\x1a\n")
    root = xml.fromstring(saved(page, figure, "SVG"))
    image = root.find("{http://www.w3.org/2000/svg}image")
    assert image.attrib["href"].startswith("data:image/png;base64,")
    assert "mask" in " ".join(root.itertext())


TOPS = "figures => figures.map(figure => Math.round(figure.querySelector('.buttons').getBoundingClientRect().top + scrollY))"


@pytest.mark.parametrize("width", [360, 1280])
def test_drawing_moves_nothing(whole_page, width):
    """A click that lands beside its button, as something moved between press and release, does nothing at all."""
    page = whole_page(width=width)
    before = page.locator("figure.picture:not(.compact)").evaluate_all(TOPS)
    assert page.locator(".drawing:empty").count() > 5
    draw_all(page)
    assert page.locator("figure.picture:not(.compact)").evaluate_all(TOPS) == before


def test_saves_what_is_not_drawn_yet(whole_page):
    page = whole_page(own=True)
    figure = pictures(page)[-1]
    assert figure.locator(".drawing > *").count() == 0
    # By keyboard and by mouse; on a slow machine, while those above are drawn.
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    button = figure.get_by_role("button", name="Save as SVG")
    with page.expect_download() as download:
        button.click()
    assert xml.parse(download.value.path()).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    with page.expect_download():
        page.keyboard.press("Enter")


def test_a_press_counts_though_pictures_are_drawn_meanwhile(whole_page):
    page = whole_page()
    figure = pictures(page)[5]
    button = figure.get_by_role("button", name="Save as SVG")
    place = button.evaluate("button => { button.scrollIntoView({ block: 'end' }); const { x, y } = button.getBoundingClientRect(); return [x + 5, y + 5]; }")
    page.mouse.move(*place)
    page.mouse.down()
    for above in pictures(page)[3:6]:
        above.locator(".drawing > *").first.wait_for(state="attached")
    with page.expect_download():
        page.mouse.up()


def test_a_zoomed_picture_keeps_its_description(run_page, open_page):
    page = open_page(run_page)
    figure = picture_with(page, 'button[aria-label^="Zoom in"]')
    reported = figure.locator("[role=img]").get_attribute("aria-label")
    changed(page, figure, figure.get_by_role("button", name="Zoom in").click)
    assert figure.locator("[role=img]").get_attribute("aria-label") == reported
    toggle = picture_with(page, ".legend:not([hidden]) button.series")
    reported = toggle.locator("[role=img]").get_attribute("aria-label")
    before = svg_of(toggle)
    toggle.locator("button.series").first.click()
    page.wait_for_function("([svg, before]) => svg.innerHTML !== before", arg=[toggle.locator(".drawing svg").first.element_handle(), before])
    assert toggle.locator("[role=img]").get_attribute("aria-label") == reported


def reach(page):
    """Of each picture how far its widest path reaches, as a multiple of its width."""
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll('figure.picture .drawing svg')].map(svg => [
        svg.closest('figure').id,
        Math.max(...[...svg.querySelectorAll('path')].map(path => path.getBBox().width)) / svg.getBoundingClientRect().width]))""")


@pytest.mark.parametrize("axis", ["p99", "all", "log"])
def test_no_line_goes_far_beyond_its_axis(run_document, page_of, axis):
    """One iteration of each subject took 10,000 times as long: dashes beyond the axis cost a browser as much as others."""
    first = run_document["parts"][0]["figures"]["distributions"][0]
    for each in (first, *first["processes"]):
        each["quantiles_s"][-1] *= 1e4
    page = page_of(with_subjects(run_document, 40))
    draw_all(page)
    found = reach(page)
    assert any(name.endswith("ecdf") for name in found) and max(found.values()) < 3, found
    figure = page.locator("figure.picture[id$=ecdf]")
    figure.get_by_label("Axis").select_option(axis)
    for _ in range(8):
        figure.get_by_role("button", name="Zoom in").click()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert 0 < reach(page)[figure.get_attribute("id")] < 3, reach(page)


def test_a_plain_wheel_scrolls_the_page_and_with_ctrl_it_zooms(run_page, open_page):
    page = open_page(run_page)
    figure = picture_with(page, 'button[aria-label^="Zoom in"]')
    box = figure.locator(".drawing").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    before, top = svg_of(figure), page.evaluate("scrollY")
    page.mouse.wheel(0, 40)
    page.wait_for_function("top => scrollY > top", arg=top)
    assert svg_of(figure) == before
    box = figure.locator(".drawing").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    changed(page, figure, lambda: page.mouse.wheel(0, -40))
    page.keyboard.up("Control")


def test_the_pointer_tells_single_iterations(run_page, run_document, open_page):
    """Many of them share an element."""
    figure = titled(page := open_page(run_page), "Distribution of latency")
    figure.locator(".drawing").evaluate("drawing => drawing.scrollIntoView({ block: 'center' })")
    dots = figure.locator(".drawing svg").first.evaluate("""svg => {
        const { x, y } = svg.getBoundingClientRect();
        const many = [...svg.querySelectorAll("path")].map(path => path.getAttribute("d")).find(d => d.split("M").length > 15);
        return [...many.matchAll(/M([\\d.]+) ([\\d.]+)/g)].map(([, right, middle]) => [x + Number(right) - 1.5, y + Number(middle)]);
    }""")
    apart = []  # what lies closer may be one iteration's to the pointer
    for dot in dots:
        if all(math.dist(dot, other) > 6 for other in apart):
            apart.append(dot)
    assert len(apart) > 2
    told = set()
    for dot in apart[:8]:
        page.mouse.move(*dot)
        page.wait_for_function("told => { const tip = document.querySelector('.tip'); return tip && !told.includes(tip.innerText) && tip.innerText.includes('one iteration'); }",
                               arg=list(told))
        told.add(page.locator(".tip").first.inner_text())
    latencies = {f"{1e3 * each:.6g}" for trial in run_document["parts"][0]["run"]["trials"] for each in trial["samples"]["latency_s"]}
    assert {text.split()[-2].rstrip("0").rstrip(".") for text in told} <= latencies


def test_signs_stand_beside_their_words_at_any_width(page_of_kind, open_page):
    page = open_page(page_of_kind("compare"), width=1400)
    drawing = draw(page.locator("#part-1-effects")).locator(".drawing svg").first
    between = """svg => {
        const [text] = [...svg.querySelectorAll("text")].filter(each => each.textContent.includes("["));
        const signs = [...svg.querySelectorAll("path")].map(each => each.getBoundingClientRect()).filter(each => Math.abs(each.width - 16) < 2);
        return Math.min(...signs.map(each => Math.abs(text?.getBoundingClientRect().x - each.right)));
    }"""
    for width in (1400, 900, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"svg => ({between})(svg) < 12", arg=drawing.element_handle())
