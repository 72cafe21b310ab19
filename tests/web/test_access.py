"""For everybody: axe-core finds nothing, the keyboard does it all, colours and widths as the reader has them."""

import pytest

from .drawing import draw_all, picture_with
from .table import figures

COLOURS = ["light", "dark"]
FOCUSABLE = "a[href], button, select, input, textarea, summary, [tabindex='0']"


@pytest.fixture(scope="session")
def axe(source_dir):
    file = source_dir / "web/node_modules/axe-core/axe.min.js"
    if not file.exists():
        pytest.fail(f"{file} is missing: the build gets it (npm ci in web/)")
    return file.read_text()


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("colour", COLOURS)
def test_axe_finds_nothing(whole_page, axe, colour, width):
    page = whole_page(colour=colour, width=width)
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    draw_all(page)
    page.evaluate(axe)  # evaluated by the debugger: the page's policy would not let it in
    found = page.evaluate("axe.run(document).then(result => result.violations)")
    told = [f"{each['id']}: {each['help']}: {[node['target'] for node in each['nodes']][:3]}" for each in found]
    assert not told, "\n".join(told)


@pytest.mark.parametrize("width", [360, 1600])
def test_body_does_not_scroll_sideways(whole_page, width):
    page = whole_page(width=width)
    draw_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # What is wider than the page scrolls in a box that the keyboard reaches.
    assert page.evaluate("""() => [...document.querySelectorAll("main *")]
        .filter(element => element.scrollWidth > element.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
        .filter(element => element.tabIndex < 0 && !element.querySelector("button, a, input, select, [tabindex='0']")).length""") == 0


def test_tab_reaches_every_control_in_order(run_page, open_page):
    page = open_page(run_page)
    draw_all(page)  # pictures bring controls of their own
    page.evaluate(f"""() => {{
        const shown = element => element.checkVisibility({{ checkVisibilityCSS: true }}) && !element.disabled;
        window.__controls = [...document.querySelectorAll("{FOCUSABLE}")].filter(shown);
    }}""")
    count = page.evaluate("window.__controls.length")
    assert count > 20
    order = []
    for _ in range(count + 40):
        page.keyboard.press("Tab")
        index = page.evaluate("window.__controls.indexOf(document.activeElement)")
        if index >= 0:
            order.append(index)
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"no focus to be seen on {page.evaluate('document.activeElement.outerHTML')[:200]}"
        if index == count - 1:
            break
    assert order == sorted(order)
    assert set(order) == set(range(count))


def test_works_by_keyboard_alone(run_page, open_page):
    page = open_page(run_page)
    head = figures(page).locator('th[data-column="latency_p50"]')
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    assert page.evaluate("document.activeElement.closest('th')?.dataset.column") == "latency_p50"
    picture = picture_with(page, ".legend:not([hidden]) button.series")
    series = picture.locator("button.series").first
    series.focus()
    page.keyboard.press("Space")
    assert series.get_attribute("aria-pressed") == "false"
    page.keyboard.press("Enter")
    assert series.get_attribute("aria-pressed") == "true"
    summary = picture.locator("details.data > summary")
    summary.focus()
    page.keyboard.press("Enter")
    picture.locator("details.data table").wait_for()


def test_skip_link_leads_to_the_report(run_page, open_page):
    page = open_page(run_page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def lightness(page, selector="body"):
    colour = page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).backgroundColor")
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")[:3]) / 3


@pytest.mark.parametrize("colour", COLOURS)
def test_follows_the_system_s_colours_and_the_reader_s_choice(run_page, open_page, colour):
    page = open_page(run_page, colour=colour)
    assert (lightness(page) > 128) == (colour == "light")
    for choice in ("dark", "light"):
        page.get_by_label("Theme").select_option(choice)
        assert (lightness(page) > 128) == (choice == "light")
    page.get_by_label("Theme").select_option("auto")
    assert (lightness(page) > 128) == (colour == "light")


def test_pictures_follow_the_choice_too(run_page, open_page):
    page = open_page(run_page)
    figure = page.locator("figure.picture:not(.compact)").first
    figure.scroll_into_view_if_needed()
    svg = figure.locator(".drawing svg").first
    svg.wait_for()
    before = svg.evaluate("svg => svg.outerHTML")
    page.get_by_label("Theme").select_option("dark")
    assert svg.evaluate("svg => svg.outerHTML") != before


def test_actions_are_announced(run_page, open_page):
    page = open_page(run_page)
    page.locator('button[aria-label^="Copy as CSV"]').first.click()
    status = page.locator("#announcements")
    assert status.get_attribute("aria-live") == "polite"
    assert "copied" in status.inner_text()
