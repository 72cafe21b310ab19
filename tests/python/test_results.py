"""Named results, gates and histories."""

import json
import xml.etree.ElementTree

import pytest


@pytest.fixture
def results(im):
    results = im.Results()
    for _ in range(3):
        results.add("slow", im.measure(lambda: sum(range(20_000)), warmup=1, iterations=20))
        results.add("fast", [im.measure(lambda: sum(range(2_000)), warmup=1, iterations=20)])
    return results


def test_get_list_and_clear(results):
    assert [result.name for result in results.all()] == ["slow", "fast"] and len(results) == 2
    assert "fast" in results and "none" not in results and results.get("none") is None
    assert len(results["fast"].samples) == 3 and results.get("fast").samples[0].label == "fast"
    kept = results["fast"]
    results.clear()
    assert len(results) == 0 and results.all() == []
    assert kept.name == "fast" and len(kept.samples[2].latencies_s) == 20  # what was given out stays


def test_compare(im, results):
    comparison = results.compare("slow", "fast")
    assert comparison.speedup.value > 2
    # Three rounds of this process are one process: nothing says what another one would give.
    assert comparison.speedup.interval is None and not comparison.is_improvement
    p50 = results["fast"].summary.metric("latency_p50")
    assert (p50.estimate.n, p50.estimate.processes, p50.estimate.interval) == (60, 1, None)
    assert comparison.speedup.value == results["fast"].speedup_vs(results["slow"]).value
    assert not results.compare("fast", "slow").is_improvement
    assert isinstance(results["fast"].memory_change_vs(results["slow"]), float)
    with pytest.raises(im.UsageError, match="there is no result named 'none'"):
        results.compare("slow", "none")
    with pytest.raises(im.UsageError, match="there is no result named 'none'"):
        results["none"]


def test_as_a_record(im, results):
    record = results.to_record()
    assert [subject.label for subject in record.plan.subjects] == ["slow", "fast"]
    assert "fast" in record.text() and len(record.json()["trials"]) == 6
    assert record.verdict.subjects[1].ratios[0].estimate.value > 2


def test_subjects_of_a_run(im, quick_run):
    results = im.Results()
    results.add(quick_run)
    assert [result.name for result in results.all()] == ["one", "two"]
    comparison = results.compare("two", "one")
    assert comparison.speedup.value == pytest.approx(2, rel=0.2)
    assert comparison.is_improvement and comparison.speedup.interval.low > 1  # of two workers each


GATE = """
expect = ["latency_p50_ms <= 60000", "latency_p50_ms <= 0.0001", "latency_p99_ms <= 60000"]
"""


def test_a_gate(im, quick_run, run):
    gate = im.judge_gate(quick_run, GATE, name="gate.toml")
    (run.folder / "gate.toml").write_text(GATE)
    done = run("gate", "gate.toml", "--run", "latest", "--junit", "cli.xml")
    assert gate.exit_code == done.returncode == 1 and str(gate) == gate.render("table") == done.stdout
    assert gate.junit() == (run.folder / "cli.xml").read_text()
    assert len(xml.etree.ElementTree.fromstring(gate.junit()).findall(".//testcase")) == 6
    assert json.loads(gate.render("json")) and gate.render("markdown")
    assert (gate.passed, gate.failed, gate.inconclusive) == (2, 2, 2)
    first = gate.outcomes[0]
    assert (first.expectation, first.label, first.outcome) == ("latency_p50_ms <= 60000", "one", "pass")
    assert first.value == quick_run.verdict.subjects[0].summary.metric("latency_p50").value
    assert gate.outcomes[-1].outcome == "inconclusive" and "299" in gate.outcomes[-1].reason


@pytest.mark.alone  # verdicts on times
def test_a_gate_with_a_baseline(im, quick_run):
    assert im.set_baseline("nightly") == quick_run.id
    baseline = im.load_baseline("nightly")
    assert baseline.id == quick_run.id
    text = 'expect = ["regression <= 50%"]'
    itself = im.judge_gate(quick_run, text, baseline=baseline, baseline_name="nightly")
    assert [outcome.reason for outcome in itself.outcomes] == ["the baseline 'nightly' is this run itself"] * 2
    slower = im.run("one=mlp@fake,latency=constant:100us", "two=mlp@fake,latency=constant:400us",
                    warmup=2, iterations=30, processes=2)
    gate = im.judge_gate(slower, text, baseline=baseline)
    # On a disturbed machine nothing across runs fails, and the reason says so.
    wanted = "inconclusive" if "disturbed" in gate.outcomes[1].reason else "fail"
    assert [(outcome.label, outcome.outcome) for outcome in gate.outcomes] == [("one", "pass"), ("two", wanted)]
    assert gate.outcomes[1].value == pytest.approx(1, rel=0.1)  # twice as slow: 100 % more
    reproducible = im.judge_gate(slower, 'expect = ["reproducible over 2 runs within 2%"]', earlier=[baseline])
    assert [outcome.outcome for outcome in reproducible.outcomes][0] == "pass"
    with pytest.raises(im.UsageError):
        im.load_baseline("no such name")


@pytest.mark.parametrize("text, sentence", [
    ("expect = ['latency_p50_ms <=']", "gate.toml:1:"),
    ("expect = 'x", "gate.toml:1:"),
    ("[[expectation]]\nthat = 'latency_p50_ms <= 3'\nsubject = 'nobody'", "nobody"),
])
def test_gates_that_are_wrong(im, quick_run, text, sentence):
    with pytest.raises(im.UsageError) as caught:
        im.judge_gate(quick_run, text, name="gate.toml")
    assert sentence in str(caught.value)
    with pytest.raises(im.UsageError, match="a gate has no csv report"):
        im.judge_gate(quick_run, GATE).render("csv")


def test_histories(im, run):
    for _ in range(2):
        im.run("mlp@fake,latency=constant:100us", warmup=0, iterations=20, processes=1)
    (history,) = im.histories()
    listed = json.loads(run("history", "mlp", "--format", "json").stdout)
    assert history.metric == "latency_p50" and len(history.figures) == 2 and history.too_few and history.alarm is None
    assert history.series == listed["series"][0]["series"]
    assert history.figures[0].value == pytest.approx(100e-6, rel=0.5) and history.figures[0].run
    assert im.histories(series="no such one") == [] and len(im.histories(metric="peak_memory", all_machines=True)) == 1
    with pytest.raises(im.UsageError):
        im.histories(metric="speed")


def test_publish(im, run):
    for _ in range(2):
        im.run("mlp@fake,latency=constant:100us", warmup=0, iterations=20, processes=1)
    assert run("runs", "tag", "latest", "nightly").returncode == 0
    assert [listing.tags for listing in im.list_runs()] == [[], ["nightly"]] and im.list_runs()[0].note == ""
    site = im.publish("site", title="Speed of <models>", metrics=["p50", "peak_memory"], runs=1)
    assert (site.runs, site.series, site.removed, site.unfinished, site.unreadable) == (1, 2, 0, 0, [])
    index = (run.folder / "site/index.html").read_text()
    assert "Speed of &lt;models&gt;" in index and "nightly" in index and ">memory peak<" in index
    again = im.publish("site", title="Speed of <models>", metrics=["p50", "peak_memory"], runs=1)
    assert again.written == 0 and repr(again) == "<PublishedSite: runs 1, series 2, written 0, removed 0>"
    assert im.publish("twice", metrics=["p50", "p50"]).series == 1
    for wrong, said in (({"metrics": []}, "metrics: expected one"), ({"metrics": ["speed"]}, "no metric 'speed'"), ({"base_url": "x"}, "not an address")):
        with pytest.raises(im.UsageError, match=said):
            im.publish("other", **wrong)


def test_what_there_is(im, run, models_cache):
    names = [model.name for model in im.models()]
    assert names == [line["name"] for line in json.loads(run("models", "--format", "json").stdout)]
    path = im.zoo_model_path("mlp")
    assert path.is_file() and str(path).startswith(str(models_cache))
    with pytest.raises(im.Error) as caught:
        im.zoo_model_path("mlpp")
    assert "mlpp" in str(caught.value)
    found = {backend.name: backend for backend in im.backends()}
    listed = json.loads(run("backends", "--format", "json").stdout)
    assert sorted(found) == sorted(backend["name"] for backend in listed)
    assert not found["fake"].error and "latency" in [option.key for option in found["fake"].options]
    assert im.environment().processors_usable >= 1
