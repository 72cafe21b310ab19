"""Records in Python: the same numbers as in the reports and in the store, without copies, for as long as they are used."""

import csv
import gc
import io
import json
import math
import sqlite3
import statistics

import documents
import numpy
import pytest


def test_every_report_is_the_command_lines(quick_run, run):
    for form in ("table", "json", "csv", "markdown"):
        run("report", "--format", form, "--output", form)
        assert quick_run.render(form).encode() == (run.folder / form).read_bytes()
    assert quick_run.text() == str(quick_run) == quick_run.render("table", width=80)
    assert quick_run.render("json", samples=False) == run("report", "--format", "json", "--no-samples").stdout
    assert "\x1b[" in quick_run.render(color=True)
    assert max(map(len, quick_run.text(width=120).splitlines())) > 80


def test_counters_are_in_the_summary(im):
    record = im.run("mlp@fake,counters=hit_rate:0.25", warmup=1, iterations=5, processes=2)
    (counter,) = record.verdict.subjects[0].summary.counters
    assert (counter.name, counter.unit, counter.value, counter.estimate.processes) == ("hit_rate", "1", 0.25, 2)
    assert repr(counter) == "<CounterSummary hit_rate 0.25 1>"


def test_nothing_is_shown_by_its_address(quick_run):
    verdict = quick_run.verdict
    assert repr(verdict.subjects[1]) == "<SubjectVerdict subject=1, baseline=0, direction='slower'>"
    shown = [verdict.subjects[0].summary, verdict.subjects[1].ratios[0], verdict.subjects[1].outputs, quick_run.models[0],
             quick_run.samples[0].memory, quick_run.samples[0].noise]
    assert all(repr(one).startswith("<") and "object at" not in repr(one) for one in shown), shown


def test_json_is_a_dict_that_fits_the_schema(quick_run):
    record = quick_run.json()
    documents.check(record)
    assert record["trials"][0]["samples"]["latency_s"] == quick_run.samples[0].latencies_s.tolist()
    assert "samples" not in quick_run.json(samples=False)["trials"][0] or not quick_run.json(samples=False)["trials"][0]["samples"]


def test_an_unknown_format(im, quick_run, run):
    with pytest.raises(im.UsageError) as caught:
        quick_run.render("jsn")
    assert f"infermeter: {caught.value}" == run("report", "--format", "jsn").stderr.strip()


def test_arrays_are_views(quick_run):
    samples = quick_run.samples[0]
    for name in ("begin_s", "end_s", "latencies_s", "warmup_begin_s", "warmup_end_s", "memory_bytes"):
        one, other = getattr(samples, name), getattr(quick_run.samples[0], name)
        assert one.dtype == numpy.float64 and one.ndim == 1 and not one.flags.writeable and not one.flags.owndata
        assert one.size == 0 or one.ctypes.data == other.ctypes.data, name
        with pytest.raises(ValueError):
            one.flags.writeable = True
    assert len(samples) == len(samples.begin_s) == 30 and len(samples.warmup_begin_s) == 2
    assert numpy.array_equal(samples.latencies_s, samples.end_s - samples.begin_s)
    assert (samples.latencies_s >= 100e-6).all() and (numpy.diff(samples.begin_s) > 0).all()


def test_arrays_keep_the_record_alive(im):
    record = im.run("mlp@fake,latency=constant:10us", warmup=0, iterations=20_000, processes=1)
    begin, latencies = record.samples[0].begin_s, record.samples[0].latencies_s
    expected = begin.copy(), latencies.copy()
    facts, verdict = record.samples[0].memory, record.verdict.subjects[0].summary.metrics[0].estimate
    peak, value = facts.rss_peak_inference, verdict.value
    del record
    gc.collect()
    ballast = [numpy.full(20_000, 7.0) for _ in range(50)]  # what was freed would be overwritten
    assert numpy.array_equal(begin, expected[0]) and numpy.array_equal(latencies, expected[1]) and len(ballast) == 50
    assert (facts.rss_peak_inference, verdict.value) == (peak, value)


def test_what_is_in_the_store_is_what_python_shows(quick_run):
    with sqlite3.connect("results/infermeter.db") as store:
        names = [row[0] for row in store.execute("select name from sqlite_master where type = 'table'")]
        assert "trials" in names
        columns = [row[1] for row in store.execute("pragma table_info(trials)")]
        blobs = [column for column in columns if "begin" in column and "warmup" not in column]
        stored = store.execute(f"select {blobs[0]} from trials order by position").fetchall()
    assert [numpy.frombuffer(row[0]).tolist() for row in stored] == [s.begin_s.tolist() for s in quick_run.samples]


def test_figures_against_a_computation_of_our_own(quick_run):
    """Geometric mean over processes of the median (docs/methodology.md), and the ratio of two of them."""
    def p50(label):
        medians = [statistics.median(s.latencies_s) for s in quick_run.samples if s.label == label]
        return math.exp(statistics.fmean(map(math.log, medians)))

    first, second = quick_run.verdict.subjects
    assert first.summary.metric("latency_p50").value == pytest.approx(p50("one"), rel=1e-12)
    assert second.summary.metric("latency_p50").estimate.value == pytest.approx(p50("two"), rel=1e-12)
    ratio = {ratio.metric: ratio.estimate for ratio in second.ratios}["latency_p50"]
    assert ratio.value == pytest.approx(p50("one") / p50("two"), rel=1e-12)
    assert ratio.interval.low <= ratio.value <= ratio.interval.high and ratio.processes > 0
    assert first.baseline is None and second.baseline == 0
    assert first.summary.metric("nonsense") is None
    p99 = first.summary.metric("latency_p99")
    assert p99.value is None and "299" in p99.estimate.note


def test_facts(quick_run):
    samples = quick_run.samples[0]
    assert (samples.end, samples.phase, samples.purpose, samples.message) == ("ok", "done", "timed", "")
    assert samples.label == quick_run.plan.subjects[samples.subject].label
    assert samples.executed["runtime"].startswith("fake") and samples.executed["dtype"] == "float32"
    assert samples.clock.tick_s > 0 and samples.memory.rss_peak_inference > 1e6 and samples.wall_s > 0.003
    assert samples.started_at >= quick_run.created_at and samples.items_per_iteration == 1
    assert samples.outputs[0].element_count > 0 and samples.outputs[0].nan_count == 0
    assert {s.input_digest for s in quick_run.samples} == {samples.input_digest}
    assert json.loads(samples.to_json())["end"] == "ok"
    assert quick_run.finished and quick_run.environment.processors_usable >= 1
    assert quick_run.environment.command and quick_run.environment.fingerprint
    assert quick_run.models[0].from_zoo and quick_run.models[0].sha256 and quick_run.models[0].parameters > 0
    (outputs,) = quick_run.outputs
    assert (outputs.subject, outputs.reference, outputs.comparison.agree, bool(outputs.comparison)) == (1, 0, True, True)
    assert quick_run.verdict.subjects[1].outputs.comparison.outputs[0].max_absolute == 0
    assert quick_run.verdict.subjects[0].outputs is None
    found = {diagnostic.id: diagnostic for diagnostic in quick_run.verdict.diagnostics}
    assert found["too_few_samples"].severity == "info" and found["too_few_samples"].remedy
    assert quick_run.side_samples == [] and quick_run.errors == {}


def test_counters(im):
    record = im.run("mlp@fake,latency=constant:100us,counters=hits:0.5+misses:3", warmup=0, iterations=5, processes=1)
    assert {counter.name: counter.value for counter in record.samples[0].counters} == {"hits": 0.5, "misses": 3}


def test_side_trials_are_apart(im):
    # A given warm-up: one pilot is enough, however unsteady the machine is.
    record = im.run("mlp@fake,latency=constant:100us", processes=1, warmup=3, leak_iterations=200)
    assert [s.purpose for s in record.side_samples] == ["pilot", "leak"]
    assert len(record.side_samples[1].memory_bytes) == 200 and record.side_samples[1].memory_bytes.min() > 1e6
    assert record.verdict.subjects[0].leak.verdict in ("no leak", "no_leak", "cannot tell", "cannot_tell")
    assert record.verdict.subjects[0].leak.reason


def test_load_gives_the_same_again(im, quick_run):
    for name in ("latest", quick_run.id, quick_run.id[:12]):
        again = im.load(name)
        assert again.id == quick_run.id and again.render("json") == quick_run.render("json")
    assert im.load().samples[0].begin_s.tolist() == quick_run.samples[0].begin_s.tolist()
    (listing,) = im.list_runs()
    assert (listing.id, listing.finished, listing.trials_done, listing.labels) == (quick_run.id, True, 4, ["one", "two"])


def test_loading_what_is_not_there(im, quick_run, run, tmp_path):
    for name, folder in (("20001111", "results"), ("latest", tmp_path / "nowhere")):
        with pytest.raises(im.UsageError) as caught:
            im.load(name, folder)
        assert f"infermeter: {caught.value}" == run("report", name, "--output-dir", folder).stderr.strip()


def test_csv_is_written_whole(im, quick_run, tmp_path):
    file = tmp_path / "out.csv"
    file.write_text("before")
    quick_run.to_csv(file)
    assert file.read_bytes() == quick_run.render("csv").encode()
    assert [row["label"] for row in csv.DictReader(io.StringIO(file.read_text()))] == ["one", "two"]
    with pytest.raises(im.UsageError, match="cannot write .*No such file or directory"):
        quick_run.to_csv(tmp_path / "no folder/out.csv")
    assert list(tmp_path.glob(".out*")) == []


def test_data_frames(quick_run):
    pandas = pytest.importorskip("pandas")
    subjects = quick_run.to_dataframe()
    assert list(subjects["label"]) == ["one", "two"] and subjects["latency_p50_ms"][0] == pytest.approx(0.1, rel=0.2)
    iterations = quick_run.to_dataframe(iterations=True)
    assert len(iterations) == 4 * 30 and isinstance(iterations, pandas.DataFrame)
    first = iterations[(iterations.label == "one") & (iterations.process == 0)]
    expected = next(s for s in quick_run.samples if s.label == "one" and s.process == 0)
    assert numpy.array_equal(first["latency_s"], expected.latencies_s) and list(first["iteration"]) == list(range(30))


def test_texts_of_data_frames_stay_as_they_are(im, tmp_path):
    pandas = pytest.importorskip("pandas")
    subjects = [{"label": label, "model": "mlp", "backend": "fake"} for label in ("001", "NA")]
    record = im.run(*subjects, iterations=20, warmup=1, processes=1)
    record.to_csv(tmp_path / "benchmark_results_1.csv")
    for frame in (record.to_dataframe(), im.BenchmarkLogger(tmp_path).read_results()):
        assert list(frame["label"]) == ["001", "NA"] and list(frame["message"]) == ["", ""]
        assert frame["latency_p50_ms"][0] > 0 and pandas.isna(frame["memory_device_mb"][0])


def test_iterations_are_read_back_from_parquet_by_arrow(quick_run, tmp_path):
    pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    quick_run.to_dataframe(iterations=True).to_parquet(tmp_path / "samples.parquet")
    table = parquet.read_table(tmp_path / "samples.parquet")
    assert str(table.schema.field("latency_s").type) == "double" and str(table.schema.field("iteration").type) == "int64"
    rows = [(row["label"], row["process"], row["iteration"], row["latency_s"]) for row in table.to_pylist()]
    assert rows == [(each.label, each.process, i, latency) for each in quick_run.samples for i, latency in enumerate(each.latencies_s)]


def test_data_frames_without_pandas(python):
    done = python("""
import sys
sys.modules["pandas"] = None
import infermeter
record = infermeter.run("mlp@fake,latency=constant:100us", iterations=3, warmup=0, processes=1)
try:
    record.to_dataframe()
except infermeter.UsageError as error:
    print(error)
""")
    assert done.stdout == "to_dataframe needs pandas, which is not installed: pip install pandas\n", done.stderr


@pytest.mark.parametrize("key, name", [("memory", "Memory"), ("noise", "Noise"), ("clock", "Clock")])
def test_the_schema_has_the_fields_of_the_library(im, source_dir, key, name):
    """One list in C++ (infermeter/samples/trial_fields.hpp) makes those of Python and of reports."""
    schema = json.loads((source_dir / "docs/schema/run.schema.json").read_text())["$defs"]["trial"]["properties"][key]
    fields = {field: made.__doc__ for field, made in vars(getattr(im._core, name)).items() if not field.startswith("_")}
    in_bytes = key == "memory"
    described = {field if field == "peak_reset" or not in_bytes else f"{field}_bytes": what for field, what in fields.items()}
    assert {field: each["description"] for field, each in schema["properties"].items()} == described
    assert schema["required"] == list(described)
