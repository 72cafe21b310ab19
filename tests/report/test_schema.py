"""The JSON reports follow docs/schema/run.schema.json, and the CSV reports are numbers to pandas."""

import json
import math
import pathlib

import documents
import jsonschema
import pandas
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden/report"
SCHEMA = json.loads((ROOT / "docs/schema/run.schema.json").read_text(encoding="utf-8"))
FIRST_COLUMNS = (
    "framework,model,device,device_type,batch_size,input_shape,dtype,latency_p50_ms,latency_p95_ms,latency_p99_ms,"
    "latency_mean_ms,latency_std_ms,latency_min_ms,latency_max_ms,throughput_ips,memory_mb,compilation_time_ms,"
    "timestamp,git_commit"
).split(",")


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def load(name):
    return json.loads((GOLDEN / name).read_bytes().decode("utf-8", "strict"), parse_constant=no_constant)


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.json")))
def test_reports_follow_the_schema(name):
    documents.check(load(name))


def test_there_are_reports_to_validate():
    assert {"example.json", "empty.json", "hostile.json"} <= {path.name for path in GOLDEN.glob("*.json")}


def broken_reports():
    def renamed(report):
        report["trials"][0]["wall"] = report["trials"][0].pop("wall_s")

    def added(report):
        report["surprise"] = 1

    def missing(report):
        del report["subjects"][0]["metrics"]["latency_p50"]["n"]

    def wrong_type(report):
        report["trials"][0]["samples"]["latency_s"][0] = "fast"

    def wrong_end(report):
        report["trials"][0]["end"] = "exploded"

    def unexplained(report):
        del report["subjects"][0]["counters"][0]["note"]

    return [unexplained, renamed, added, missing, wrong_type, wrong_end]


@pytest.mark.parametrize("breakage", broken_reports(), ids=lambda function: function.__name__)
def test_the_schema_refuses_what_is_wrong(breakage):
    report = load("example.json")
    breakage(report)
    with pytest.raises(jsonschema.ValidationError):
        documents.check(report)


def test_the_schema_lists_every_key_that_is_written():
    # Strict in both directions: what the example does not have is not in the schema either.
    report = load("example.json")
    assert set(SCHEMA["properties"]) == set(report)
    of_load = load("load.json")
    # tests/serving has the record of a language model.
    assert set(SCHEMA["$defs"]["trial"]["properties"]) == set(of_load["trials"][0]) | {"generation"}
    assert set(of_load["trials"][0]) - set(report["trials"][0]) == {"load"}
    assert set(SCHEMA["$defs"]["load_record"]["properties"]) == set(of_load["trials"][0]["load"]) | {"good"}  # of --goodput
    assert set(SCHEMA["$defs"]["subject_load"]["properties"]) == set(of_load["subjects"][0]["load"])
    of_nodes = {"nodes", "nodes_differ_in"}  # tests/fleet has a run over nodes
    assert set(SCHEMA["$defs"]["environment"]["properties"]) == set(report["environment"]) | of_nodes
    assert set(SCHEMA["$defs"]["plan"]["properties"]) == set(report["plan"])


def test_csv_is_read_as_numbers():
    frame = pandas.read_csv(GOLDEN / "example.csv")
    assert list(frame.columns)[: len(FIRST_COLUMNS)] == FIRST_COLUMNS
    assert len(frame) == 5
    for column in ["latency_p50_ms", "latency_p50_low_ms", "throughput_ips", "memory_mb", "speedup", "model_size_mb"]:
        assert frame[column].dtype.kind == "f", column
    assert frame["batch_size"].dtype.kind == "i"
    assert frame["latency_p50_ms"][0] == pytest.approx(38.2)
    assert frame["memory_mb"][0] == pytest.approx(312)
    assert frame["input_shape"][0] == "(1, 3, 224, 224)"
    assert math.isnan(frame["latency_p50_ms"][4]) and frame["end"][4] == "crashed"
    assert pandas.to_datetime(frame["timestamp"])[0].year == 2026
    chosen = frame[(frame["framework"] == "openvino") & (frame["model"] == "resnet50")]
    assert chosen["speedup_low"].item() == pytest.approx(1.05)


def test_csv_survives_hostile_names():
    frame = pandas.read_csv(GOLDEN / "hostile.csv")
    assert len(frame) == 15
    for text in frame["label"]:
        assert str(text)[0] not in "=+-@\t\r"
    assert frame["label"][4] == "two\\x0alines\\x0d\\x0a"
    assert frame["label"][9] == "'\\x09tab, \"quoted\" | piped"


def test_csv_has_a_column_for_each_counter_behind_the_others():
    frame = pandas.read_csv(GOLDEN / "example.csv")
    assert list(frame.columns)[-4:] == ["seed", "counter_cache_hits", "counter_psnr_difference", "counter_wait"]
    assert frame["counter_psnr_difference"][:2].tolist() == [-0.31, 0.2]
    assert frame["counter_wait"].isna().tolist() == [True, False, True, True, True]
    hostile = pandas.read_csv(GOLDEN / "hostile.csv")
    names = [name for name in hostile.columns if name.startswith("counter_")]
    assert len(names) == 15 and all(name.isprintable() for name in names)
    assert names[9] == 'counter_\\x09tab, "quoted" | piped'


def test_csv_says_which_memory_it_is():
    frame = pandas.read_csv(GOLDEN / "example.csv")
    on_device = frame[frame["memory_kind"] == "device"]
    assert on_device["memory_mb"].tolist() == on_device["memory_device_mb"].tolist() == [1250]
    resident = frame[frame["memory_kind"] == "resident"]
    assert resident["memory_mb"].tolist() == resident["memory_resident_mb"].tolist() == [312] * 3


def test_csv_of_an_empty_run_has_its_columns():
    assert list(pandas.read_csv(GOLDEN / "empty.csv").columns)[0] == "framework"
