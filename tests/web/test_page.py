"""The page as a whole: it opens from a file, alone, and says what the document says."""

import json

from .document import document_of, document_text


def test_opens_from_a_file_without_any_request(run_page, open_page):
    page = open_page(run_page)  # the fixture asserts: no request, console message, error, violation
    assert page.url.startswith("file://")
    assert page.locator("h1").inner_text() == document_of(run_page)["title"]
    assert page.locator("main section").count() > 0


def test_policy_allows_only_the_page_s_own(run_page):
    text = run_page.read_text()
    policy = text.split('http-equiv="Content-Security-Policy" content="')[1].split('"')[0]
    directives = {words.split()[0]: words.split()[1:] for words in policy.split(";") if words.strip()}
    assert directives["default-src"] == ["'none'"]
    for kind in ("script-src", "style-src"):
        assert all(source.startswith("'sha256-") for source in directives[kind]), directives
    assert directives["style-src-attr"] == ["'unsafe-inline'"]
    assert "unsafe-eval" not in policy


def test_script_that_the_policy_does_not_know_is_not_run(run_page, browser, tmp_path):
    changed = tmp_path / "changed.html"
    changed.write_text(run_page.read_text().replace("</body>", "<script>window.__owned = 1</script></body>"))
    page = browser.new_page()
    page.goto(changed.as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("window.__owned") is None
    page.close()


def test_saved_document_is_the_embedded_one(run_page, open_page):
    page = open_page(run_page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save JSON").click()
    assert download.value.suggested_filename.endswith(".json")
    saved = open(download.value.path(), encoding="utf-8").read()
    assert saved == document_text(run_page)
    json.loads(saved)


def test_without_scripts_there_is_the_text_report(run_page, open_page):
    page = open_page(run_page, script=False)
    text = page.locator("body").inner_text()
    for subject in document_of(run_page)["parts"][0]["run"]["subjects"]:
        assert subject["label"] in text
    assert "latency" in text.lower() or "p50" in text.lower()


def test_document_of_another_version_is_said_and_shown_as_text(run_document, browser, run_page, tmp_path):
    from .document import with_document
    file = tmp_path / "other.html"
    file.write_text(with_document(run_page, run_document | {"schema": "infermeter.report/999"}))
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("[role=alert]")
    assert "another version" in page.locator("[role=alert]").inner_text()
    assert "fast" in page.locator("#report pre").inner_text()
    page.close()


def test_every_section_is_linked(whole_page):
    page = whole_page()
    links = page.eval_on_selector_all("nav a", "all => all.map(a => a.getAttribute('href').slice(1))")
    sections = page.eval_on_selector_all("main .part > section", "all => all.map(e => e.id)")
    assert sections and set(sections) <= set(links)
    for link in links:
        assert page.locator(f'[id="{link}"]').count() == 1
