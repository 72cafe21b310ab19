"""The report document follows docs/schema/report.schema.json, and the reports in it follow theirs."""

import json
import pathlib

import documents
import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden/document"
SCHEMAS = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "docs/schema").glob("*.json")}
SCHEMA = SCHEMAS["report.schema.json"]
KINDS = ["run", "gate", "validation", "variants", "layers", "history"]


def load(name):
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["all.json", "comparison.json", "empty.json"])
def test_documents_follow_the_schema(name):
    documents.check(load(name))


def test_a_document_of_every_kind_is_validated():
    parts = load("all.json")["parts"]
    assert [part["kind"] for part in parts] == KINDS
    for part in parts:
        assert part[part["kind"]] is not None
    assert parts[2]["difference_pictures"]


def broken_documents():
    def added(document):
        document["parts"][0]["surprise"] = 1

    def missing(document):
        del document["parts"][0]["figures"]["distributions"][0]["n"]

    def wordless(document):
        document["parts"][0]["answers"][0]["verdict"] = ""

    def wrong_tone(document):
        document["parts"][0]["answers"][0]["tone"] = "angry"

    def wrong_run(document):
        document["parts"][0]["run"]["trials"][0]["end"] = "exploded"

    def wrong_history(document):
        document["parts"][5]["history"]["series"][0]["values"][0]["value"] = "fast"

    return [added, missing, wordless, wrong_tone, wrong_run, wrong_history]


@pytest.mark.parametrize("breakage", broken_documents(), ids=lambda function: function.__name__)
def test_the_schema_refuses_what_is_wrong(breakage):
    document = load("all.json")
    breakage(document)
    with pytest.raises(jsonschema.ValidationError):
        documents.check(document)


def test_the_schema_lists_every_key_that_is_written():
    document = load("all.json")
    run, validation = document["parts"][0], document["parts"][2]
    written = {"part": run, "notice": run["notices"][0],
               "run_figures": run["figures"], "distribution": run["figures"]["distributions"][0],
               "pair_ratio": run["figures"]["ratios"][0], "difference_picture": validation["difference_pictures"][0]}
    assert set(SCHEMA["properties"]) == set(document)
    for name, example in written.items():
        assert set(SCHEMA["$defs"][name]["properties"]) == set(example), name
    answer = next(answer for answer in run["answers"] if answer["besides"])
    for name, example in {"answer": answer, "aside": answer["besides"][0], "check": run["checks"][0]}.items():
        assert set(SCHEMAS["run.schema.json"]["$defs"][name]["properties"]) == set(example), name


def test_answers_are_described_alike_in_every_schema():
    of_run = SCHEMAS["run.schema.json"]["$defs"]
    for name in ("validation", "gate", "variants", "layers", "history"):
        for part in ("answer", "aside", "check"):
            assert SCHEMAS[f"{name}.schema.json"]["$defs"][part] == of_run[part], f"{part} of {name}"
