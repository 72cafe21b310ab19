"""Names, paths and messages are text from outside: whatever they hold, it is shown and not run."""

import copy
import itertools
import json
import re
import xml.etree.ElementTree as xml

import pytest

from .drawing import show_everything


def own(number):
    """A script that says which name ran."""
    return f"window.__owned={number}"


NAMES = {
    "address": f"javascript:{own(1)}//",  # the first: an address is one where a text begins with it
    "ends its element": f"</script><script>{own(2)}</script>",
    "svg": f'"><svg onload="{own(3)}">',
    "image": f"<img src=x onerror={own(4)}>",
    "style": f"</style><script>{own(5)}</script><style>*{{display:none}}",
    "template": "${" + own(6) + "}{{constructor.constructor('" + own(6) + "')()}}",
    "turned around": "a‮gpj.⁧exe",
    "NUL": "nul\0 bell\a escape\x1b[31m",
    "spreadsheet": "=cmd|'/c calc'!A0",
    "right to left": "نموذج سريع",
    "prototype": "__proto__",
    "surrogate": "half \ud800 of a pair",
    "comment": f"<!--<script>{own(7)}</script>",  # the last: it may hide what follows
}
# Every text of a page is made one of them. In one page they take turns, so that each is drawn before a drawing cuts what is
# too long; in one each text is all of them; in one each is the name of what a table of JavaScript inherits.
PAGES = {
    "in turn": [*NAMES.values()],
    "at once": [" ".join(NAMES.values())],
    "prototype": [NAMES["prototype"]],
}


def plain_names(page):
    """What is to be seen of each name that such a page holds: what steers the terminal or the line is written out."""
    names = [NAMES["prototype"]] if page == "prototype" else NAMES.values()
    return [re.match(r"[^\0-\x1f\u202e\ud800]+", name)[0].strip() for name in names]


def everywhere(value, names):
    """Every text that is free of form becomes the next name; what readers depend on (kinds, digests, pixels) stays."""
    kept = {"schema", "kind", "outcome", "tone", "severity", "id", "end", "purpose", "unit", "direction", "place", "matched_by", "started_at",
            "created_at", "at", "first_at", "last_at", "gate", "metric", "first_run", "last_run", "run", "machine", "series",
            "reference", "candidate", "difference"}  # the last three: planes of pixels
    if isinstance(value, dict):
        return {key: item if key in kept and isinstance(item, str) else everywhere(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [everywhere(item, names) for item in value]
    return next(names) if isinstance(value, str) else value


def assert_only_shown(page, what, section):
    """No script of a name ran, no element came of one, objects inherit nothing of one, and each is in the section's text."""
    assert page.evaluate("window.__owned") is None
    assert page.evaluate("() => { const found = []; for (const key in {}) found.push(key); return found; }") == []
    assert page.locator("main script, main img, main iframe, main object, main style").count() == 0
    shown = page.locator(section).inner_text()
    assert [name for name in plain_names(what) if name not in shown] == []


def use_everything(page):
    """All sections opened, pictures drawn, data shown, tooltips asked for."""
    show_everything(page)
    for drawing in page.locator(".drawing").all()[:8]:
        drawing.scroll_into_view_if_needed()
        box = drawing.bounding_box()
        for part in (0.3, 0.5, 0.7):
            page.mouse.move(box["x"] + box["width"] * part, box["y"] + box["height"] * 0.5)


@pytest.mark.parametrize("what", PAGES)
def test_runs_nothing_and_is_shown(page_of, whole_document, what):
    page = page_of(everywhere(copy.deepcopy(whole_document), itertools.cycle(PAGES[what])))
    use_everything(page)
    assert_only_shown(page, what, "main")


@pytest.mark.parametrize("what", ["in turn", "at once"])
def test_saved_pictures_are_well_formed(page_of, whole_document, what):
    page = page_of(everywhere(copy.deepcopy(whole_document), itertools.cycle(PAGES[what])))
    # What a page hands over for saving. Chromium itself drops the eleventh download of a page within a second.
    page.evaluate("""() => {
      window.__saved = [];
      const address = URL.createObjectURL;
      URL.createObjectURL = (content) => (window.__saved.push(content), address.call(URL, content));
    }""")
    figures = page.locator("figure.picture:not(.compact)").all()
    for figure in figures:
        figure.get_by_role("button", name="Save as SVG").click()
    saved = page.evaluate("() => Promise.all(window.__saved.map((content) => content.text()))")
    assert len(saved) == len(figures)
    for content in saved:
        root = xml.fromstring(content)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        for element in root.iter():
            assert not element.tag.endswith(("script", "foreignObject")) and not any(key.startswith("on") for key in element.attrib)


def test_steering_characters_are_written_out(page_of, run_document):
    run_document["parts"][0]["run"]["subjects"][0]["label"] = "a‮b\0c"
    text = page_of(run_document).locator("main").inner_text()
    assert "\\u{202e}" in text and "\\u{0}" in text
    assert "‮" not in text and "\0" not in text


def test_spreadsheets_get_no_formula(page_of, run_document):
    run_document["parts"][0]["run"]["subjects"][0]["label"] = "=cmd|'/c calc'!A0"
    page = page_of(run_document)
    page.locator('button[aria-label^="Copy as CSV"]').first.click()
    assert page.evaluate("window.__copied.at(-1)").splitlines()[1].startswith("'=cmd")


def test_markdown_and_latex_get_no_markup(page_of, run_document):
    run_document["parts"][0]["run"]["subjects"][0]["label"] = "<b>|x|</b> $1_2$ \\input{y} @all"
    page = page_of(run_document)
    page.locator('button[aria-label^="Copy as Markdown"]').first.click()
    markdown = page.evaluate("window.__copied.at(-1)").splitlines()
    assert "<b>" not in markdown[2] and "@all" not in markdown[2] and markdown[2].replace("\\|", "").count("|") == markdown[0].count("|")
    page.locator('button[aria-label^="Copy as LaTeX"]').first.click()
    assert "\\input{" not in page.evaluate("window.__copied.at(-1)")


def test_a_name_of_a_megabyte_leaves_the_page_usable(page_of, run_document):
    label = "m" * 1_000_000
    run_document["parts"][0]["run"]["subjects"][0]["label"] = label
    run_document["parts"][0]["run"]["plan"]["subjects"][0]["label"] = label
    page = page_of(run_document, width=1280)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.get_by_label("Baseline").first.select_option("1")
    assert page.locator("h1").is_visible()


def test_saved_file_of_a_hostile_name_is_a_plain_file(page_of, run_document):
    run_document["parts"][0]["run"]["id"] = "../../etc/passwd\0<>"
    page = page_of(run_document)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save JSON").click()
    assert "/" not in download.value.suggested_filename and download.value.suggested_filename.endswith(".json")
    assert json.loads(open(download.value.path(), encoding="utf-8").read())["parts"]
