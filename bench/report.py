"""The HTML report: how large it is, how long it takes to write, and how long until a reader can sort its table.

Prints a line of JSON per figure: what, unit, our values, the peer's, the target. INFERMETER_BUILD says which build is
measured. The peers: the same run's JSON, its writing, and a page without content in the same browser.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
infermeter = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")) / "bin/infermeter"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
REPETITIONS = 5

# name: subjects, arguments, largest file in bytes, seconds to write, seconds until it can be used
RUNS = {
    "20 subjects x 10 processes x 1,000 iterations": (20, ["--processes", "10", "--iterations", "1000"], 3e6, 1, 1),
    "1,000,000 iterations": (1, ["--processes", "5", "--iterations", "200000"], 6e6, None, 2),
    "40 subjects, 1,000,000 iterations": (40, ["--processes", "5", "--iterations", "5000"], 8e6, None, 1),
}
MOST_TASK_S = 0.2  # while nothing but one task runs, a page answers nobody
MOST_PDF_BYTES = 2e6

# From before the page's first script on.
TASKS = """
window.__tasks = [];
new PerformanceObserver((list) => window.__tasks.push(...list.getEntries().map((task) => task.duration / 1000))).observe({ entryTypes: ["longtask"] });
"""


def quiet(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-500:]}")


def seconds(act):
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def figure(what, unit, ours, peer, target):
    print(json.dumps({"what": what, "unit": unit, "ours": ours, "peer": peer, "target": target}), flush=True)


def stored_run(folder, subjects, arguments):
    """Times that differ, as those of real subjects do: equal ones would pack far too well."""
    names = [f"subject-{i:02}=mlp@fake,latency=lognormal:{20 + i}us:0.2,seed={i + 1}" for i in range(subjects)]
    quiet(infermeter, "run", *names, *arguments, "--warmup", "10", "--output-dir", folder, "--quiet")


def measure_writing(name, folder, most_bytes, most_s):
    page, data = pathlib.Path(folder) / "report.html", pathlib.Path(folder) / "report.json"
    report = [infermeter, "report", "latest", "--output-dir", folder]
    ours = [seconds(lambda: quiet(*report, "--html", page, "--force")) for _ in range(REPETITIONS)]
    peer = [seconds(lambda: quiet(*report, "--format", "json", "--output", data, "--force")) for _ in range(REPETITIONS)]
    figure(f"HTML report of {name}, its size; peer: its JSON", "MB", [page.stat().st_size], [data.stat().st_size],
           f"at most {most_bytes / 1e6:g} MB")
    figure(f"HTML report of {name}, written from the store; peer: its JSON", "s", ours, peer,
           None if most_s is None else f"under {most_s} s")
    return page


def until_sorted(browser, page_file):
    """From the address to a table that was sorted by a click."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    begin = time.perf_counter()
    page.goto(page_file.as_uri(), wait_until="commit")
    page.wait_for_selector("html[data-ready]")
    page.locator("table.figures thead button").first.click()
    page.wait_for_selector('table.figures th[aria-sort="ascending"]')
    taken = time.perf_counter() - begin
    page.close()
    return taken


def all_of_it(browser, page_file):
    """Seconds until the page says that it is ready; its longest task, while all of it is scrolled through; bytes of its PDF."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.add_init_script(TASKS)
    begin = time.perf_counter()
    page.goto(page_file.as_uri(), wait_until="commit")
    page.wait_for_selector("html[data-ready]")
    ready = time.perf_counter() - begin
    for figure in page.locator("figure.picture").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".drawing > *").first.wait_for(state="attached")
    longest = max(page.evaluate("window.__tasks"), default=0.0)
    size = len(page.pdf())
    page.close()
    return ready, longest, size


def until_empty(browser, page_file):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    taken = seconds(lambda: page.goto(page_file.as_uri()))
    page.close()
    return taken


def measure_reading(name, page_file, most_s):
    what = f"HTML report of {name}, until its table was sorted by a click; peer: an empty page"
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        figure(what, "s", [], [], f"under {most_s} s")
        return
    empty = page_file.with_name("empty.html")
    empty.write_text("<!doctype html><title>empty</title>")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        ours = [until_sorted(browser, page_file) for _ in range(REPETITIONS)]
        peer = [until_empty(browser, empty) for _ in range(REPETITIONS)]
        ready, tasks, sizes = zip(*(all_of_it(browser, page_file) for _ in range(REPETITIONS)), strict=True)
        browser.close()
    figure(what, "s", ours, peer, f"under {most_s} s")
    figure(f"HTML report of {name}, until it is ready", "s", list(ready), peer, f"under {most_s} s")
    figure(f"HTML report of {name}, its longest task while it is built and scrolled through", "s", list(tasks), [], f"under {MOST_TASK_S} s")
    figure(f"HTML report of {name}, as a PDF", "MB", list(sizes), [], f"at most {MOST_PDF_BYTES / 1e6:g} MB")


for name, (subjects, arguments, most_bytes, most_write_s, most_read_s) in RUNS.items():
    with tempfile.TemporaryDirectory() as folder:
        stored_run(folder, subjects, arguments)
        measure_reading(name, measure_writing(name, folder, most_bytes, most_write_s), most_read_s)
