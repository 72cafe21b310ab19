"""Pictures are drawn when they come near the window, and get the toggles of their series then."""

PICTURES = "figure.picture:not(.compact)"


def draw(figure):
    """Scrolls a picture into view and waits until it is drawn."""
    figure.scroll_into_view_if_needed()
    figure.locator(".drawing > *").first.wait_for(state="attached")
    return figure


def pictures(page):
    found = page.locator(PICTURES)
    return [found.nth(i) for i in range(found.count())]


# In the page: asking for each picture from outside takes longer than drawing it.
DRAW_ALL = """async (pictures) => {
    for (const figure of document.querySelectorAll(pictures)) {
        const until = performance.now() + 60_000;
        figure.scrollIntoView({ behavior: "instant" });
        while (figure.querySelector(".drawing > *") === null) {
            if (performance.now() > until) throw new Error(`${figure.id} was not drawn`);
            await new Promise(done => { requestAnimationFrame(done); setTimeout(done, 500); });  // a browser that draws no frames is not waited for
        }
    }
    window.scrollTo({ top: 0, behavior: "instant" });
}"""


def draw_all(page):
    page.evaluate(DRAW_ALL, PICTURES)


def unfold(page, which):
    page.evaluate("(which) => { for (const details of document.querySelectorAll(which)) details.open = true; }", which)


def show_everything(page):
    """Draws all pictures, and opens what is folded. Data come last: beside their tables each drawing is a layout of all of them."""
    unfold(page, "details:not(.data)")
    draw_all(page)
    unfold(page, "details.data")


def picture_with(page, selector):
    """The first one that has such an element once it is drawn."""
    for figure in pictures(page):
        if draw(figure).locator(selector).count() > 0:
            return figure
    raise AssertionError(f"no picture has {selector}")
