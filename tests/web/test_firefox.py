"""The same page in Firefox: it comes up, everything is drawn, nothing runs over, and its figures are the document's."""

import pytest

from .conftest import unavailable
from .document import with_document
from .firefox import FIREFOX, Firefox

DRAWN = """
const ready = async () => {
  while (document.documentElement.dataset.ready === undefined) await new Promise(requestAnimationFrame);
  for (const details of document.querySelectorAll("details:not(.data)")) details.open = true;
  for (const figure of document.querySelectorAll("figure.picture")) {
    figure.scrollIntoView();
    while (figure.querySelector(".drawing > *") === null) await new Promise(requestAnimationFrame);
  }
  return {
    figures: document.querySelectorAll("figure.picture").length,
    empty: [...document.querySelectorAll("figure.picture .drawing")].filter(each => each.querySelector("path, canvas, rect, text") === null).length,
    wide: document.documentElement.scrollWidth - window.innerWidth,
    headline: document.querySelector(".headline .sentence").textContent,
    alert: document.querySelector("[role=alert]")?.textContent ?? "",
  };
};
ready().then(done, error => done({ error: String(error) }));
"""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    if FIREFOX is None:
        unavailable("Firefox is not on the PATH: install Debian's package firefox-esr")
    browser = Firefox(tmp_path_factory.mktemp("firefox"))
    yield browser
    browser.close()


@pytest.mark.parametrize("width", [500, 1400])
def test_every_picture_is_drawn_and_nothing_runs_over(firefox, run_page, whole_document, tmp_path, width):
    file = tmp_path / "page.html"
    file.write_text(with_document(run_page, whole_document), encoding="utf-8")
    firefox.open(file, width)
    found = firefox.run(DRAWN)
    assert found.get("error") is None and found["alert"] == ""
    assert found["figures"] > 15 and found["empty"] == 0
    assert found["wide"] <= 0
    assert found["headline"]
