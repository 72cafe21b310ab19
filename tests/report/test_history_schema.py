"""The JSON of histories follows docs/schema/history.schema.json."""

import json
import pathlib

import documents
import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden/history"
SCHEMA = json.loads((ROOT / "docs/schema/history.schema.json").read_text(encoding="utf-8"))


def load(name):
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["history.json", "list.json"])
def test_histories_follow_the_schema(name):
    documents.check(load(name))


def broken_histories():
    def added(history):
        history["series"][0]["surprise"] = 1

    def missing(history):
        del history["series"][0]["changes"][0]["worse"]

    def wrong_type(history):
        history["series"][0]["values"][0]["value"] = "fast"

    def wrong_what(history):
        history["series"][0]["changes"][0]["context"][0]["what"] = "weather"

    return [added, missing, wrong_type, wrong_what]


@pytest.mark.parametrize("breakage", broken_histories(), ids=lambda function: function.__name__)
def test_the_schema_refuses_what_is_wrong(breakage):
    history = load("history.json")
    breakage(history)
    with pytest.raises(jsonschema.ValidationError):
        documents.check(history)


def test_the_schema_lists_every_key_that_is_written():
    history = load("history.json")
    series = history["series"][0]
    written = {"history_machine": history["machines"][0], "history_series": series, "history_level": series["levels"][0],
               "history_change": series["changes"][0], "history_context": series["changes"][0]["context"][0],
               "history_alarm": series["alarm"], "history_run": series["values"][0]}
    assert set(SCHEMA["properties"]) == set(history)
    for name, example in written.items():
        assert set(SCHEMA["$defs"][name]["properties"]) == set(example), name
