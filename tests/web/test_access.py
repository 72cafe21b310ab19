"""For everybody: axe-core finds nothing, the keyboard does it all, colours and widths as the reader has them."""

import pytest

from .accessibility import COLOURS, assert_axe_finds_nothing
from .drawing import draw_all, picture_with, pictures, show_everything, unfold
from .kinds import KINDS
from .table import figures

FOCUSABLE = "a[href], button, select, input, textarea, summary, [tabindex='0']"


@pytest.mark.parametrize("kind", [*KINDS, "generation", "language"])
def test_axe_finds_nothing(page_of_kind, open_page, axe, kind):
    page = open_page(page_of_kind(kind), width=360)
    show_everything(page)
    assert_axe_finds_nothing(page, axe)


@pytest.mark.parametrize("width", [360, 1600])
def test_body_does_not_scroll_sideways(whole_page, width):
    page = whole_page(width=width)
    draw_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # What is wider than the page scrolls in a box that the keyboard reaches.
    assert page.evaluate("""() => [...document.querySelectorAll("main *")]
        .filter(element => element.scrollWidth > element.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
        .filter(element => element.tabIndex < 0 && !element.querySelector("button, a, input, select, [tabindex='0']")).length""") == 0


@pytest.mark.parametrize("kind", KINDS)
def test_tab_reaches_every_control_in_order(page_of_kind, open_page, kind):
    page = open_page(page_of_kind(kind))
    draw_all(page)  # pictures bring controls of their own
    page.evaluate(f"""() => {{
        const shown = element => element.checkVisibility({{ checkVisibilityCSS: true }}) && !element.disabled;
        const controls = [...document.querySelectorAll("{FOCUSABLE}")].filter(shown);
        window.__count = controls.length;
        window.__apart = [...document.querySelectorAll("figure.picture, .sheet")].filter(each => shown(each) && !controls.some(control => each.contains(control))).length;
        window.__order = [];
        window.__unseen = [];
        document.addEventListener("focusin", ({{ target }}) => {{
            window.__order.push(controls.indexOf(target));
            const ring = target.matches(".frame") ? getComputedStyle(target.querySelector("path")).stroke : getComputedStyle(target).outlineStyle;
            if (ring === "none") window.__unseen.push(target.outerHTML.slice(0, 200));
        }});
    }}""")
    count = page.evaluate("window.__count")
    assert count > 12
    assert page.evaluate("window.__apart") == 0, "a picture or a table that the keyboard has nothing to do with"
    for pressed in range(count + 40):
        page.keyboard.press("Tab")
        if pressed >= count - 1 and page.evaluate("window.__order.at(-1)") == count - 1:
            break
    order = [index for index in page.evaluate("window.__order") if index >= 0]
    assert page.evaluate("window.__unseen") == [], "no focus to be seen"
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


LAST = ["load", "tune", "validate", "generation"]


@pytest.fixture
def page_for(open_page, page_of_kind):
    """A page whose reader's system needs something."""

    def make(kind, **wants):
        page = open_page(page_of_kind(kind), width=1000, **wants)
        draw_all(page)
        return page

    return make


@pytest.mark.parametrize("kind", LAST)
def test_forced_colours_keep_drawings_apart_from_the_ground(page_for, kind):
    page = page_for(kind, forced_colors="active")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    drawn = 0
    for figure in pictures(page):
        texts = figure.locator(".drawing svg text")
        fills = texts.evaluate_all("all => all.map(text => getComputedStyle(text).fill)")
        assert ground not in fills, figure.get_attribute("id")
        strokes = figure.locator(".drawing svg path").evaluate_all("all => all.flatMap(path => [getComputedStyle(path).fill, getComputedStyle(path).stroke])")
        painted = figure.locator("canvas").count()
        assert painted or {colour for colour in strokes if colour not in ("none", ground)}, figure.get_attribute("id")
        drawn += 1
    assert drawn >= 1


@pytest.mark.parametrize("kind", LAST)
def test_nothing_moves_where_less_motion_is_asked_for(page_for, kind):
    page = page_for(kind, reduced_motion="reduce")
    unfold(page, "details")
    for button in page.locator("figure.picture button").all()[:12]:
        if button.is_visible() and button.is_enabled():
            button.hover()
    assert page.evaluate("document.getAnimations().length") == 0
    assert page.evaluate("""[...document.querySelectorAll("*")].filter(each => getComputedStyle(each).transitionDuration.split(", ").some(time => parseFloat(time) > 0.011)
        || getComputedStyle(each).scrollBehavior === "smooth").length""") == 0
