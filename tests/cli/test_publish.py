"""infermeter publish: a store as a site of static files."""

import filecmp
import re
import signal
import subprocess
import xml.etree.ElementTree as xml
from datetime import datetime
from html.parser import HTMLParser

import pytest
from copied_runs import CopiedRuns

ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = """</title><script>alert(1)</script>"'&]]>\x1b[31m\u202e"""


@pytest.fixture
def store(run):
    assert run("run", "mlp@fake", "--processes", 2, "--warmup", 0, "--iterations", 20, "--quiet").returncode == 0
    return CopiedRuns(run.folder / "results/infermeter.db")


def publish(run, *arguments, folder="site"):
    done = run("publish", folder, *arguments)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return {str(file.relative_to(run.folder / folder)): file for file in (run.folder / folder).rglob("*") if file.is_file()}


def written(files):
    """What shows that a file was written again: each gets a name of its own first."""
    return {name: file.stat().st_ino for name, file in files.items()}


def differences(before, after):
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def same_folders(a, b):
    compared = filecmp.dircmp(a, b)
    todo = [compared]
    for each in todo:
        assert not each.left_only and not each.right_only and not each.funny_files
        assert filecmp.cmpfiles(each.left, each.right, each.common_files, shallow=False)[1:] == ([], [])
        todo += each.subdirs.values()


class Page(HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.addresses, self.scripts, self.policy = [], 0, ""
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.addresses += [found[key] for key in ("href", "src") if key in found]
        self.scripts += tag == "script"
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"]
        assert not any(key.startswith("on") for key in found), found


def test_only_what_is_new_or_changed_is_written(run, store):
    store.step(8, 4, 1.1)
    first = publish(run)
    assert len([name for name in first if name.startswith("runs/")]) == 13
    before = written(first)
    again = run("publish", "site")
    assert again.stdout == "site: 13 runs, 1 series; 0 files written, 0 removed\n"
    assert written(first) == before
    store.add(1.1e-3, run="20270101-000000-abcd")
    changed = differences(before, written(publish(run)))
    [series] = [name for name in first if name.startswith("series/")]
    assert {"runs/20270101-000000-abcd.html", series, "runs.html", "index.html", "infermeter-site.txt"} <= changed
    assert not [name for name in changed if name.startswith(("runs/2026", "runs/x", "assets/"))]
    assert run("runs", "delete", "20270101-000000-abcd").returncode == 0
    last = publish(run)
    assert "runs/20270101-000000-abcd.html" not in last
    assert "20270101" not in last["runs.html"].read_text()
    few = publish(run, "--runs", 2)
    assert len([name for name in few if name.startswith("runs/")]) == 2
    assert "11 older runs have no page" in few["runs.html"].read_text()


def test_every_link_leads_somewhere_and_nothing_is_asked_for_elsewhere(run, store):
    store.step(8, 4, 1.1)
    files = publish(run)
    for name, file in files.items():
        if not name.endswith(".html"):
            continue
        page = Page(file)
        assert page.policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe-eval" not in page.policy and "http" not in page.policy
        for address in page.addresses:
            assert (file.parent / address).resolve().is_relative_to(run.folder / "site") and (file.parent / address).is_file(), (name, address)
    assert Page(files["index.html"]).scripts == 0
    text = files["index.html"].read_text()
    assert "alarm" in text and "% slower since 2026-11-10" in text and "infermeter compare run-011 run-012" in text


def test_an_interrupted_publishing_is_completed(run, store, infermeter, environment):
    store.step(8, 8, 1.1)
    publish(run, folder="whole")
    process = subprocess.Popen([infermeter, "publish", "site"], cwd=run.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    publish(run)
    same_folders(run.folder / "site", run.folder / "whole")


def test_a_folder_of_somebody_else_is_left_alone(run, store):
    def refused(folder, *words):
        done = run("publish", folder)
        assert done.returncode == 2 and done.stdout == ""
        assert all(word in done.stderr for word in words), done.stderr

    (run.folder / "mine").mkdir()
    (run.folder / "mine/index.html").write_text("mine")
    refused("mine", "'mine' holds 'index.html', which `infermeter publish` did not write")
    assert (run.folder / "mine/index.html").read_text() == "mine"
    (run.folder / "file").write_text("")
    refused("file", "'file' cannot hold a site")
    assert (run.folder / "results/infermeter.db").is_file()


def test_names_are_text(run, store):
    for i in range(12):
        # Ids come from whoever wrote the store.
        store.add(1e-3 * (1 + (i > 6)), run=f"../../{HOSTILE}{i}", series=HOSTILE, label=HOSTILE, git_commit=f"{HOSTILE}{i > 6}")
    store.database.execute("UPDATE runs SET labels = json_array(?)", [HOSTILE])
    files = publish(run, "--title", HOSTILE)
    assert {name.split("/")[0] for name in files} == {"assets", "badges", "feed.xml", "index.html", "infermeter-site.txt", "runs", "runs.html", "series"}
    for name, file in files.items():
        text = file.read_text()
        if name.startswith("assets/"):
            continue
        assert "<script>alert" not in text and "\x1b" not in text and "\u202e" not in text, name
        if name.endswith((".xml", ".svg")):
            xml.fromstring(text)
    assert HOSTILE[:30] in "".join(xml.fromstring(files["feed.xml"].read_text()).itertext())


def test_the_feed_is_atom(run, store):
    store.step(8, 8, 1.1, {"runtime_version": "1"}, {"runtime_version": "2"})
    files = publish(run, "--title", "Speed", "--base-url", "https://example.org/speed")
    feed = xml.fromstring(files["feed.xml"].read_text())
    assert feed.tag == f"{ATOM}feed" and feed.findtext(f"{ATOM}id") == "https://example.org/speed/feed.xml"
    assert feed.findtext(f"{ATOM}title") == "Speed: changes" and feed.find(f"{ATOM}author/{ATOM}name") is not None
    assert {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")} == {
        "self": "https://example.org/speed/feed.xml", "alternate": "https://example.org/speed/index.html"}
    [entry] = feed.findall(f"{ATOM}entry")
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", entry.findtext(f"{ATOM}id"))
    assert "% slower" in entry.findtext(f"{ATOM}title")
    assert entry.findtext(f"{ATOM}summary") == "Since run run-009. What else changed there: the runtime's version: 1 → 2."
    assert datetime.fromisoformat(entry.findtext(f"{ATOM}updated")).isoformat() == "2026-11-10T00:00:00+00:00"
    [series] = [name for name in files if name.startswith("series/")]
    assert entry.find(f"{ATOM}link").get("href") == f"https://example.org/speed/{series}"
    badge = xml.fromstring(files[series.replace("series", "badges").replace("html", "svg")].read_text())
    assert "alarm" in badge.findtext("{http://www.w3.org/2000/svg}title")
    # Without an address the feed's own id stays, whatever is added.
    ids = []
    for _ in range(2):
        store.add(1.1e-3)
        ids.append(xml.fromstring(publish(run)["feed.xml"].read_text()).findtext(f"{ATOM}id"))
    assert ids[0] == ids[1] and ids[0].startswith("urn:uuid:")


@pytest.mark.parametrize(("arguments", "words"), [
    (["--base-url", "javascript:alert(1)"], ["--base-url", "is not an address of a folder"]),
    (["--metric", "speed"], ["--metric", "speed"]),
    (["--runs", "0"], ["--runs"]),
])
def test_what_is_wrong_is_said_before_anything_is_written(run, store, arguments, words):
    done = run("publish", "site", *arguments)
    assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr
    assert not list((run.folder / "site").glob("*"))


def test_several_metrics_and_a_damaged_run(run, store):
    store.step(3, 3, 1)
    store.database.execute("UPDATE trials SET samples = '{' WHERE run = 'run-003'")
    done = run("publish", "site", "--metric", "p50", "--metric", "peak_memory")
    assert done.returncode == 0 and "run run-003 is damaged and has no page" in done.stderr
    assert done.stdout.startswith("site: 6 runs, 2 series;")
    text = (run.folder / "site/index.html").read_text()
    assert ">latency p50<" in text and ">memory peak<" in text
    assert run("publish", "site", "--metric", "p50", "--metric", "peak_memory").stdout.endswith("; 0 files written, 0 removed\n")
