"""The pictures of the page in docs/report.md: the first screens of stored documents. INFERMETER_APPROVE=1 takes them anew; otherwise
it is looked at that each page still has on its first screen what its picture shows. web/page-documents stores documents."""

import gzip
import io
import json
import os
import re

import pytest
from PIL import Image, ImageColor

from .document import with_document
from .kinds import KINDS

WIDTH, HEIGHT = 1400, 900
LARGEST = 60_000  # bytes
WITHOUT_CHART = ("study",)  # its parts are a table


SHOWN = {kind: "light" if place % 2 else "dark" for place, kind in enumerate(KINDS)}  # in the docs: one of each kind


def picture_of(source_dir, kind):
    return source_dir / f"docs/pictures/page-{kind}-{SHOWN[kind]}.png"


def approve(page, file):
    """In the colours of its signs and in its most frequent ones; as many as there is room for."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    style = page.evaluate("['--good', '--warning', '--bad', '--accent'].map(name => getComputedStyle(document.documentElement).getPropertyValue(name).trim())")
    signs = [ImageColor.getrgb(colour) for colour in style]
    frequent = signs + [colour for _, colour in sorted(shot.getcolors(WIDTH * HEIGHT), reverse=True) if colour not in signs]
    for colours in range(96, 8, -6):
        palette = Image.new("P", (1, 1))
        palette.putpalette([part for colour in frequent[:colours] for part in colour])
        shot.quantize(palette=palette, dither=Image.Dither.NONE).save(file, optimize=True)
        if file.stat().st_size < LARGEST:
            return


@pytest.fixture
def first_screen(source_dir, run_page, open_page, tmp_path):
    """first_screen(kind, colour) -> the page of the stored document, drawn, and the document."""
    def show(kind, colour):
        document = json.loads(gzip.decompress((source_dir / f"tests/web/pages/{kind}.json.gz").read_bytes()))
        file = tmp_path / f"{kind}.html"
        file.write_text(with_document(run_page, document), encoding="utf-8")
        page = open_page(file, width=WIDTH, colour=colour)
        for figure in page.locator("figure.picture").all()[:2]:
            if figure.bounding_box()["y"] < HEIGHT:
                figure.locator(".drawing > *").first.wait_for(state="attached")
        return page, document
    return show


def lowest(element):
    box = element.bounding_box()
    return box["y"] + box["height"]


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_screen_is_as_it_is_shown(first_screen, source_dir, kind, colour):
    page, document = first_screen(kind, colour)
    [part, *others] = document["parts"]
    assert lowest(page.locator(".headline, .tally").first) <= HEIGHT
    said = page.locator(".headline .sentence" if not others else ".tally").first.inner_text().replace("\u00a0", " ")
    assert len(said) > 10
    if kind in WITHOUT_CHART:
        assert lowest(page.locator("table.outcomes tbody tr").nth(len(document["parts"]) - 1)) <= HEIGHT
    else:
        chart = page.locator("figure.picture").first
        assert lowest(chart.locator(".drawing")) <= HEIGHT
        assert chart.locator(".drawing svg path").count() > 5
        texts = chart.locator(".drawing svg text")
        assert texts.count() > 2 and not any("…]" in text or re.search(r"\d…|^[−+]?[\d.,]+ …$", text) for text in texts.all_text_contents()), "a figure is cut"
    grave = [notice for notice in part["notices"] if notice["severity"] != "info"]
    if grave and not others:
        assert lowest(page.locator(".caveat").first) <= HEIGHT
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    if os.environ.get("INFERMETER_APPROVE") and colour == SHOWN[kind]:
        approve(page, picture_of(source_dir, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_docs_show_its_picture(source_dir, kind):
    file = picture_of(source_dir, kind)
    assert f"pictures/{file.name}" in (source_dir / "docs/report.md").read_text()
    with Image.open(file) as picture:
        assert (picture.size, picture.mode) == ((WIDTH, HEIGHT), "P")
    assert file.stat().st_size < LARGEST, file.name


def test_every_picture_of_a_page_is_of_a_kind(source_dir):
    known = {picture_of(source_dir, kind).name for kind in KINDS} | {"page-demo-dark.png"}
    assert {file.name for file in (source_dir / "docs/pictures").glob("page-*.png")} <= known
