"""validate_recorded(): a model against outputs that were recorded as ONNX test data sets."""

import json

import documents
import pytest
from recorded_sets import write_case


@pytest.fixture
def case(run):
    """case(outputs, sets) -> a model that adds 1; beside it sets of what outputs(x) gives."""

    def write(outputs=lambda x: x + 1, sets=1):
        write_case(run.folder / "sets", outputs, sets)
        return "sets/model.onnx@onnxruntime"

    return write


def test_every_set_is_compared(im, case):
    found = im.validate_recorded(case(sets=11), data="sets", threads=1)
    assert found and found.agree and isinstance(found, im.RecordedValidation)
    assert [one.folder.rsplit("_", 1)[1] for one in found.sets] == [str(number) for number in range(11)]
    (output,) = found.sets[3].outputs
    assert (output.name, output.dtype, output.shape, output.max_absolute) == ("y", "float32", [2, 3], 0)
    assert "agrees" in found.text() and "11 sets: agrees" in repr(found)
    report = json.loads(found.json())
    documents.check(report)
    assert report["schema"] == "infermeter.recorded/1" and len(report["sets"]) == 11


def test_what_differs_is_told_and_tolerated_where_asked(im, case):
    subject = case(lambda x: x + 1.25)  # of a largest recorded value of 6.25 a twenty-fifth
    found = im.validate_recorded(subject, data="sets/test_data_set_0")
    assert not found and not found.sets[0].agree and found.sets[0].outputs[0].mismatched == 6
    assert "DIFFERS" in found.text() and "differs in 6 of 6" in found.text()
    assert not im.validate_recorded(subject, data="sets", rtol=0.0399)
    assert im.validate_recorded(subject, data="sets", rtol=0.0401)
    assert not im.validate_recorded(subject, data="sets", rtol=0, atol=0.249) and im.validate_recorded(subject, data="sets", rtol=0, atol=0.251)


@pytest.mark.parametrize(("settings", "said"), [
    ({}, "validate needs recorded inputs and outputs: give --data FOLDER"), ({"data": "nothing"}, "nothing is not a folder"),
    ({"data": "sets", "labels": "labels.txt"}, "recorded outputs are for one subject, which takes no labels"),
])
def test_what_makes_no_sense_is_refused(im, case, settings, said):
    with pytest.raises(im.UsageError, match=said):
        im.validate_recorded(case(), **settings)
    with pytest.raises(im.UsageError, match="a subject is text"):
        im.validate_recorded(lambda x: x, **settings)
