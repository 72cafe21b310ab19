"""A browser, pages of real runs, and pages of documents that were changed on the way."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from . import kinds
from .document import difference_picture, document_of, layers, with_document

# The one without windows takes two thirds of the processor time of the other.
CHROMIUM = os.environ.get("INFERMETER_CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
READY = "html[data-ready]"
LIMIT_MS = 60_000
TEST_LIMIT_S = 180  # from its first page on: longer than any takes on a loaded machine
HERE = Path(__file__).parent

# What a page must not do is written down from before its first script on; what it copies is kept.
WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.__violations.push(`${event.violatedDirective} ${event.blockedURI}`));
window.__copied = [];
Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.__copied.push(text); } } });
"""


def unavailable(reason):
    """Skips, but fails where a browser is promised: tests that silently stop running test nothing."""
    if os.environ.get("CI") or os.environ.get("INFERMETER_REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("Playwright for Python is not installed: scripts/setup --tests installs it")
    if CHROMIUM is None:
        unavailable("chromium-headless-shell is not on the PATH: install Debian's package of that name, or set INFERMETER_CHROMIUM")
    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield instance
        instance.close()


class Watched:
    """A page in the browser, and whatever it did that a report must not do. One test after another gets it: a file in a page that
    was there before costs half of what it costs in a new one."""

    def __init__(self, browser, script):
        context = browser.new_context(accept_downloads=True, java_script_enabled=script)
        context.set_default_timeout(LIMIT_MS)
        if script:
            context.add_init_script(WATCH)
        self.script, self.page, self.trouble, self.files = script, context.new_page(), [], []
        self.page.on("console", lambda message: self.trouble.append(f"console {message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        self.page.on("dialog", self.dismiss)
        # A page that saves a file makes it itself, as a blob.
        self.page.on("request", lambda request: request.url.startswith(("file:", "blob:")) or self.trouble.append(f"request: {request.url}"))
        self.page.on("request", lambda request: request.url.startswith("file:") and self.files.append(request.url))

    def begin(self, width, colour, forced_colors="null", reduced_motion="null"):
        self.trouble, self.files = [], []
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media="null", color_scheme=colour, forced_colors=forced_colors, reduced_motion=reduced_motion)

    def dismiss(self, dialog):
        self.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def found(self):
        violations = self.page.evaluate("window.__violations ?? []") if self.script else []
        return self.trouble + [f"policy: {violation}" for violation in violations]

    def end(self):
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")

    def close(self):
        self.page.context.close()


FAILED, STUCK = pytest.StashKey[bool](), pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """A test whose page answers nothing any more is run again, once. Chromium 156 does that in one of some fifty runs of all tests: its
    main thread waits for a commit that its compositor never makes (LayerTreeHost::WaitForCommitCompletion)."""
    if item.path.parent != HERE:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if item.stash.get(STUCK, False):
        warnings.warn(f"{item.nodeid}: the page did not answer for {TEST_LIMIT_S} s and was killed; the test is run again", stacklevel=1)
        item.stash[STUCK] = item.stash[FAILED] = False
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def kill_renderers():
    """Those of this process's browser. Who waits for a page of one gets an error; the others of Playwright's calls wait for ever."""
    parent = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    for process in parent:
        above = process
        while above in parent and above != os.getpid():
            above = parent[above]
        with contextlib.suppress(OSError):
            if above == os.getpid() and b"--type=renderer" in Path(f"/proc/{process}/cmdline").read_bytes():
                os.kill(process, signal.SIGKILL)


@pytest.fixture(scope="session")
def idle(browser):
    """Pages that no test uses, with and without scripts."""
    return {True: [], False: []}


@pytest.fixture
def open_page(browser, idle, request):
    """open_page(file, width=…, colour="dark", script=False, reduced_motion="reduce") -> a Playwright page that is ready. At the end
    of the test: no console message, no error, no dialog, no violation of the policy, no request but for the file itself; of a page
    of a site (site=folder) for files of that folder. `own`: a page that no other test gets, since this one changes what a new
    file does not set right again: the clock, the speed of the processor."""
    opened = []

    def give_up():
        request.node.stash[STUCK] = True
        kill_renderers()

    patience = threading.Timer(TEST_LIMIT_S, give_up)
    patience.daemon = True
    patience.start()

    def open_one(file, width=1280, colour="light", script=True, site=None, own=False, **wants):
        watched = idle[script].pop() if idle[script] and not own else Watched(browser, script)
        opened.append((watched, site, own))
        watched.begin(width, colour, **wants)
        watched.page.goto(Path(file).as_uri())
        if script:
            watched.page.wait_for_selector(READY if site is None else "main")
        return watched.page

    yield open_one
    try:
        found = [(watched.found(), watched.files, site) for watched, site, _ in opened]
        for watched, _, own in opened:
            if own or watched.trouble or request.node.stash.get(FAILED, False):
                watched.close()
            else:
                watched.end()
                idle[watched.script].append(watched)
    finally:
        patience.cancel()
        if request.node.stash.get(STUCK, False):
            for pages in idle.values():
                pages.clear()  # dead, all of them
    for trouble, files, site in found:
        assert trouble == []
        if site is None:
            assert len(files) == 1, files
        else:
            assert all(file.startswith(site.as_uri() + "/") for file in files), files


@pytest.fixture(scope="session")
def axe(source_dir):
    file = source_dir / "web/node_modules/axe-core/axe.min.js"
    if not file.exists():
        pytest.fail(f"{file} is missing: the build gets it (npm ci in web/)")
    return file.read_text()


@pytest.fixture(scope="session")
def written(infermeter, models_cache, tmp_path_factory):
    """written("run", …) -> the page that `infermeter run … --html FILE` writes. The same command is run once."""
    pages = {}
    home = tmp_path_factory.mktemp("home")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("INFERMETER_", "XDG_"))} | {
        "HOME": str(home), "XDG_CACHE_HOME": str(models_cache), "VIRTUAL_ENV": sys.prefix, "LC_ALL": "C.UTF-8"}

    def write(*arguments, codes=(0,), page=None):
        """`page`: where a command writes it that has no --html."""
        if arguments not in pages:
            folder = tmp_path_factory.mktemp("page")
            to = [] if page is not None else ["--html", str(folder / "report.html")]
            result = subprocess.run([str(infermeter), *map(str, arguments), *to], cwd=folder,
                                    env=environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
            assert result.returncode in codes, result.stderr
            pages[arguments] = page or folder / "report.html"
        return pages[arguments]

    return write


@pytest.fixture(scope="session")
def run_page(written):
    """Three subjects of one group and one of another, on the fake back end. They sleep, and are far apart: other
    processes change nothing of who is faster."""
    return written("run", "fast=mlp@fake,work=sleep,latency=normal:3ms:60us", "slow=mlp@fake,work=sleep,latency=normal:6ms:120us",
                   "mid=mlp@fake,work=sleep,latency=normal:4500us:90us,threads=1", "other=resnet50@fake,work=sleep,latency=normal:7ms:200us,batch=4",
                   "--processes", "3", "--warmup", "5", "--iterations", "60")


@pytest.fixture(scope="session")
def page_of_kind(written, run_page, source_dir, tmp_path_factory):
    """page_of_kind("load") -> its file."""
    folder, files = tmp_path_factory.mktemp("kinds"), {}

    def find(kind):
        if kind not in files:
            files[kind] = kinds.page_file(kind, written, run_page, source_dir, folder)
        return files[kind]

    return find


@pytest.fixture
def run_document(run_page):
    """A fresh copy, to be changed."""
    return document_of(run_page)


@pytest.fixture(scope="session")
def parts(written, run_page, source_dir):
    """A part of each kind: from commands on the fake back end, from the golden reports, and contrived."""
    template = document_of(run_page)["parts"][0]
    empty = template | {key: None for key in ("run", "figures")} | {"difference_pictures": [], "graphs": [], "answers": [], "notices": [], "checks": [],
                        "overview": {"headline": {"verdict": "", "tone": "plain", "text": "contrived"}, "margin": 0, "effects": [], "since_last": None}}
    golden = lambda name: json.loads((source_dir / "tests/golden" / name).read_text())
    validation = document_of(written("validate", "mlp@fake", "mlp@fake,output_error=0.1", codes=(0, 1)))["parts"][0]
    return {
        "run": template,
        "validation": validation | {"difference_pictures": [difference_picture()]},
        "layers": empty | {"kind": "layers", "title": "Layers", "layers": layers()},
        "history": empty | {"kind": "history", "title": "History", "history": golden("history/history.json")},
        "variants": empty | {"kind": "variants", "title": "Variants", "variants": golden("variants/variants.json")},
    }


@pytest.fixture
def page_of(run_page, open_page, tmp_path):
    """page_of(document, …) opens a real page whose document is replaced: the policy knows script and style, not data."""
    def make(document, **options):
        file = tmp_path / f"page-{len(list(tmp_path.iterdir()))}.html"
        file.write_text(with_document(run_page, document), encoding="utf-8")
        return open_page(file, **options)
    return make


@pytest.fixture
def whole_document(run_document, parts):
    """Everything that a page can show, in one."""
    return run_document | {"title": "All parts", "parts": list(parts.values())}


@pytest.fixture
def whole_page(page_of, whole_document):
    return lambda document=None, **options: page_of(document or whole_document, **options)
