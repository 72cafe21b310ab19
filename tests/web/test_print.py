"""On paper: everything is there, on white, without buttons."""


def printed(page):
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    return page


def test_every_section_and_picture_is_printed(whole_page):
    page = printed(whole_page(colour="dark"))
    for section in page.locator("main .part > section").all():
        box = section.bounding_box()
        assert box["height"] > 30 and len(section.inner_text()) > 10, section.get_attribute("id")
    figures = page.locator("figure.picture")
    assert figures.count() > 0
    for i in range(figures.count()):
        assert figures.nth(i).locator(".drawing svg path, .drawing canvas").count() > 0, figures.nth(i).get_attribute("id")


def test_paper_is_white_and_has_no_controls(whole_page):
    page = printed(whole_page(colour="dark"))
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--text').trim()") == "#1b2129"
    assert page.evaluate("[...document.querySelectorAll('select, nav, .tools, figure .bar')].filter(e => e.checkVisibility()).length") == 0
    closed = page.evaluate("[...document.querySelectorAll('details:not(.data):not([open])')].filter(e => e.checkVisibility()).length")
    assert closed == 0


def test_afterwards_the_page_is_as_before(run_page, open_page):
    page = open_page(run_page, colour="dark")
    before = page.evaluate("[...document.querySelectorAll('details')].map(details => details.open)")
    printed(page)
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("[...document.querySelectorAll('details')].map(details => details.open)") == before
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--text').trim()") == "#e8ebef"


def test_becomes_a_pdf_with_its_text(run_page, open_page, run_document):
    content = open_page(run_page).pdf()
    assert content.startswith(b"%PDF") and len(content) > 10_000
