"""Pictures are drawn when they come near the window, and get the toggles of their series then."""


def draw(figure):
    """Scrolls a picture into view and waits until it is drawn."""
    figure.scroll_into_view_if_needed()
    figure.locator(".drawing > *").first.wait_for(state="attached")
    return figure


def pictures(page):
    found = page.locator("figure.picture:not(.compact)")
    return [found.nth(i) for i in range(found.count())]


def draw_all(page):
    for figure in pictures(page):
        draw(figure)
    page.evaluate("window.scrollTo(0, 0)")


def picture_with(page, selector):
    """The first one that has such an element once it is drawn."""
    for figure in pictures(page):
        if draw(figure).locator(selector).count() > 0:
            return figure
    raise AssertionError(f"no picture has {selector}")
