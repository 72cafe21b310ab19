"""Gate reports: the JSON follows docs/schema/gate.schema.json, and the JUnit XML what its readers have in common."""

import json
import pathlib
import xml.etree.ElementTree as ElementTree

import documents
import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden/gate"
SCHEMA = json.loads((ROOT / "docs/schema/gate.schema.json").read_text(encoding="utf-8"))

# What Jenkins' junit-10.xsd allows, less what only some readers know: {element: (needed, other attributes, children)}.
ELEMENTS = {
    "testsuites": (set(), {"name", "tests", "failures", "errors", "time"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors"}, {"time", "skipped", "timestamp", "hostname"}, {"properties", "testcase"}),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": ({"name"}, {"classname"}, {"failure", "skipped", "system-out"}),
    "failure": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"message"}, set()),
    "system-out": (set(), set(), set()),
}


def check(element):
    needed, others, children = ELEMENTS[element.tag]
    assert needed <= set(element.attrib) <= needed | others, element.tag
    for child in element:
        assert child.tag in children, f"{child.tag} in {element.tag}"
        check(child)


def junit(name):
    return ElementTree.fromstring((GOLDEN / name).read_bytes())


def test_reports_follow_the_schema():
    report = json.loads((GOLDEN / "gate.json").read_bytes())
    documents.check(report)
    assert set(SCHEMA["properties"]) == set(report)
    assert set(SCHEMA["$defs"]["verdict"]["properties"]) == set(report["verdicts"][0])


@pytest.mark.parametrize("change", [
    lambda report: report.update(surprise=1),
    lambda report: report["verdicts"][0].pop("n"),
    lambda report: report["verdicts"][0].update(outcome="perhaps"),
    lambda report: report["verdicts"][0].update(value="fast"),
])
def test_the_schema_refuses_what_is_wrong(change):
    report = json.loads((GOLDEN / "gate.json").read_bytes())
    change(report)
    with pytest.raises(jsonschema.ValidationError):
        documents.check(report)


@pytest.mark.parametrize("name", ["gate.xml", "hostile.xml"])
def test_junit_is_what_its_readers_know(name):
    root = junit(name)
    assert root.tag == "testsuites"
    check(root)
    suite = root.find("testsuite")
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == int(root.get("tests")) == len(cases)
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    assert all(len(case) == 1 for case in cases)


def test_junit_keeps_hostile_names_as_text():
    names = [case.get("name") for case in junit("hostile.xml").iter("testcase")]
    assert names[0] == "</script><svg onload=alert(1)>"
    assert names[1] == "\\x1b[2J\\x1b]0;owned\\x07"
    assert len(names) == 15
