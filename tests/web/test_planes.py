"""Pictures of outputs: planes that are zoomed together, read under a crosshair, and shown in one place in turn."""

import pytest

from .drawing import draw
from .test_pictures import titled


@pytest.fixture
def planes(whole_page):
    """planes(address) -> the page and the figure, which has the focus."""
    def open_one(hash="", **options):
        page = whole_page(**options)
        if hash:
            page.evaluate(f"location.hash = {hash!r}")
        figure = draw(titled(page, "mask"))
        figure.locator(".drawing").focus()
        return page, figure
    return open_one


def foot(figure):
    return figure.locator(".more-of-it").inner_text()


def pixels(figure):
    return figure.locator("canvas").evaluate("canvas => canvas.toDataURL()")


def pressed(figure):
    return figure.locator(".planes button[aria-pressed='true']").all_inner_texts()


def kept(page, text):
    page.wait_for_function("text => decodeURIComponent(location.hash).includes(text)", arg=text)


def test_arrows_move_a_crosshair_that_is_read_in_all_three(planes):
    page, figure = planes()
    assert foot(figure).startswith("Point at a pixel")
    page.keyboard.press("ArrowRight")  # it begins at the largest difference
    assert foot(figure) == ("[0, 0, 4–5, 6–7], row 4–5, column 6–7: reference 0.0077 (mean), candidate 0.0077 (mean), "
                            "|difference| 0.25000 (largest)")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert foot(figure).startswith("[0, 0, 2–3, 4–5], row 2–3, column 4–5: reference -0.7065 (mean)")
    assert figure.locator(".more-of-it").get_attribute("aria-live") == "polite"
    kept(page, "//1,2")
    page.keyboard.press("Escape")
    assert foot(figure).startswith("Point at a pixel")


def test_what_is_no_number_is_said(planes):
    page, figure = planes()
    box = figure.locator("canvas").bounding_box()
    width = (box["width"] - 32) / 3
    page.mouse.move(box["x"] + width * 1.5 / 8, box["y"] + 22 + 5)
    assert foot(figure) == ("[0, 0, 0–1, 2–3], row 0–1, column 2–3: reference -1.4206 (mean), candidate NaN (mean), "
                            "|difference| finite in one only (largest)")
    assert figure.locator(".more-of-it").get_attribute("aria-live") == "off"  # a pointer is followed without speaking
    page.mouse.move(box["x"] - 5, box["y"])
    assert foot(figure).startswith("Point at a pixel")


def test_a_click_puts_the_crosshair(planes):
    page, figure = planes()
    box = figure.locator("canvas").bounding_box()
    page.mouse.click(box["x"] + 3, box["y"] + 25)
    kept(page, "//0,0")
    page.mouse.move(0, 0)
    assert foot(figure).startswith("[0, 0, 0–1, 0–1]")


def test_zooms_by_keys_and_buttons_and_wheel(planes):
    page, figure = planes()
    whole = pixels(figure)
    page.keyboard.press("+")
    zoomed = pixels(figure)
    assert zoomed != whole
    kept(page, "/2,2,1.5/")
    page.keyboard.press("Shift+ArrowRight")
    kept(page, "/2,4,1.5/")
    assert pixels(figure) != zoomed
    page.keyboard.press("0")
    assert pixels(figure) == whole
    figure.get_by_role("button", name="Zoom in").click()
    assert pixels(figure) == zoomed
    figure.get_by_role("button", name="Show all").click()
    page.wait_for_function("() => !decodeURIComponent(location.hash).includes('/2,')")
    box = figure.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 30)
    scrolled = page.evaluate("scrollY")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    kept(page, "/2,")
    assert page.evaluate("scrollY") == scrolled
    page.mouse.wheel(0, 100)  # a plain one scrolls the page
    page.wait_for_function("before => scrollY > before", arg=scrolled)


def test_dragging_moves_what_is_in_view(planes):
    page, figure = planes()
    page.keyboard.press("+")
    box = figure.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 600, box["y"] + 600, steps=4)
    page.mouse.up()
    kept(page, "/2,0,0/")


def test_planes_are_shown_in_one_place_in_turn(planes):
    page, figure = planes()
    assert pressed(figure) == ["All three"]
    seen = {}
    for key, names, said in (("b", ["Blink"], "Reference"), ("b", ["Blink"], "Candidate"), ("d", ["|Difference|"], "|Difference|")):
        page.keyboard.press(key)
        assert pressed(figure) == names and foot(figure).startswith(f"{said} is shown.")
        seen[said] = pixels(figure)
    assert len(set(seen.values())) == 3
    kept(page, "=2//")
    figure.get_by_role("button", name="Blink", exact=True).click()
    assert pixels(figure) == seen["Reference"]
    page.keyboard.press("Enter")
    assert foot(figure).startswith("Candidate is shown.")
    figure.get_by_role("button", name="All three").click()
    assert pressed(figure) == ["All three"]


def test_planes_blink_by_themselves_only_when_asked(planes):
    page, figure = planes(own=True)
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    button = figure.get_by_role("button", name="Blink by itself")
    button.click()
    assert pressed(figure) == ["Blink", "Blink by itself"] and foot(figure).startswith("Reference")
    page.clock.run_for(500)
    assert foot(figure).startswith("Candidate")
    assert figure.locator(".more-of-it").get_attribute("aria-live") == "off"
    button.click()
    page.clock.run_for(5000)
    assert pressed(figure) == ["Blink"] and foot(figure).startswith("Candidate")


def test_nothing_blinks_where_less_motion_is_asked_for(planes):
    page, figure = planes()
    button = figure.get_by_role("button", name="Blink by itself")
    button.click()
    page.emulate_media(reduced_motion="reduce")
    page.wait_for_function("button => button.disabled", arg=button.element_handle())
    assert pressed(figure) == ["Blink"]


def test_the_address_shows_others_the_same(planes):
    page, figure = planes()
    name = figure.get_attribute("id")
    page, figure = planes(f"{name}=1/2,3,1/4,5")
    assert pressed(figure) == ["Blink"]
    assert foot(figure).startswith("Candidate is shown. [0, 0, 8–9, 10–11]")
    for hostile in ("9/-1,x/99,99", "%", "1e9/NaN/-1", "/Infinity,2/1.5.5,"):
        page, figure = planes(f"{name}={hostile}")
        assert pressed(figure) == ["All three"] and foot(figure).startswith("Point at a pixel")


@pytest.mark.parametrize("width", [360, 1280])
def test_planes_fit_the_page(planes, width):
    page, figure = planes(width=width)
    for key in "b+d":
        page.keyboard.press(key)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
