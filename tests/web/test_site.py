"""A site of many pages (infermeter publish), in a browser: from disk, nothing but its own files."""

import subprocess

import pytest
from copied_runs import CopiedRuns

READY = "html[data-ready]"


@pytest.fixture(scope="session")
def site(written, infermeter):
    page = written("run", "mlp@fake", "--processes", "2", "--warmup", "0", "--iterations", "20")
    runs = CopiedRuns(page.parent / "results/infermeter.db")
    runs.step(6, 4, 1.2)
    folder = page.parent / "site"
    done = subprocess.run([infermeter, "publish", folder, "--output-dir", page.parent / "results"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(("name", "width"), [("index", 360), ("index", 1400), ("series", 360), ("series", 1400), ("runs", 360)])
def test_axe_finds_nothing(site, open_page, axe, name, width):
    [file] = site.glob("series/*.html") if name == "series" else [site / f"{name}.html"]
    for colour in ("light", "dark") if width == 360 and name != "runs" else ("light",):
        page = open_page(file, width=width, colour=colour, site=site)
        page.evaluate(axe)
        # preload: axe would ask for the style itself, which the page's policy refuses.
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'], preload: false }).then(result => result.violations)")
        assert [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_series_leads_from_the_index_to_the_run_behind_a_point(site, open_page):
    page = open_page(site / "index.html", site=site)
    page.locator("table.matrix td a").first.click()
    page.wait_for_selector(READY)
    assert "alarm" in page.locator("main").inner_text()
    # Its last point, at the right edge of the chart, is that of run-010.
    chart = page.locator("figure.picture .drawing svg").first
    chart.wait_for()
    symbols = page.locator("figure.picture .drawing svg path[fill='#055bcb']")
    symbols.last.click(force=True)
    page.wait_for_url("**/runs/*.html")
    page.wait_for_selector(READY)
    assert page.title().startswith("mlp: fake, 2026-11-11")
    page.locator("nav.site a").first.click()
    page.wait_for_url("**/index.html")


def test_without_script_links_and_text_are_there(site, open_page):
    [file] = site.glob("series/*.html")
    page = open_page(file, script=False, site=site)
    assert "ALARM" in page.locator("noscript pre").inner_text()
    page.locator("a[data-run='9']").click()
    page.wait_for_url("**/runs/*.html")
    assert page.locator("noscript pre").is_visible()
