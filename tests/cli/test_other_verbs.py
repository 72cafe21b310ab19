"""validate, models, backends, doctor."""

import json

import numpy
import pytest

onnx = pytest.importorskip("onnx")
from onnx import numpy_helper  # noqa: E402
from recorded_sets import write_case  # noqa: E402


@pytest.fixture(params=["onnxruntime", "openvino"])
def backend(request, run):
    info = json.loads(run("backends", request.param, "--format", "json").stdout)
    if not info["usable"]:
        pytest.skip(info["error"])
    return request.param


def test_validate_agrees(run, backend):
    case = write_case(run.folder / "case", lambda x: x + 1)
    done = run("validate", case / "model.onnx", "--backend", backend, "--data", case / "test_data_set_0")
    assert done.returncode == 0, done.stderr
    assert "agrees" in done.stdout and "float32 [2, 3]" in done.stdout


def test_validate_tells_which_output_differs_and_where(run, backend):
    def spoiled(x):
        y = x + 1
        y[1, 2] += 0.1
        return y
    case = write_case(run.folder / "case", spoiled)
    arguments = ("validate", case / "model.onnx", "--backend", backend, "--data", case / "test_data_set_0")
    done = run(*arguments)
    assert done.returncode == 1
    assert "differs in 1 of 6" in done.stdout and "at [1, 2]" in done.stdout
    report = json.loads(run(*arguments, "--format", "json").stdout)
    assert report["sets"][0]["outputs"][0]["mismatched"] == 1 and not report["agree"]
    assert run(*arguments, "--rtol", 0.1).returncode == 0


def test_validate_takes_a_folder_of_sets_in_their_order(run, backend):
    case = write_case(run.folder / "case", lambda x: x + 1, sets=11)
    done = run("validate", case / "model.onnx", "--backend", backend, "--data", case, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [entry["data"].rsplit("_", 1)[1] for entry in json.loads(done.stdout)["sets"]] == [str(n) for n in range(11)]


def test_validate_says_when_nothing_was_recorded(run, backend):
    case = write_case(run.folder / "case", lambda x: x + 1)
    (case / "test_data_set_0/output_0.pb").unlink()
    done = run("validate", case / "model.onnx", "--backend", backend, "--data", case / "test_data_set_0")
    assert done.returncode == 2 and "contains no recorded outputs" in done.stderr


def test_validate_says_which_input_does_not_fit(run, backend):
    case = write_case(run.folder / "case", lambda x: x + 1)
    wrong = numpy_helper.from_array(numpy.zeros((2, 4), "float32"), "x").SerializeToString()
    (case / "test_data_set_0/input_0.pb").write_bytes(wrong)
    done = run("validate", case / "model.onnx", "--backend", backend, "--data", case / "test_data_set_0")
    assert done.returncode == 2, done.stderr
    assert "[2, 4]" in done.stderr and "x" in done.stderr


def test_models_lists_builds_and_shows(run):
    names = [model["name"] for model in json.loads(run("models", "--format", "json").stdout)]
    assert names and "mlp" in names
    assert all(name in run("models").stdout for name in names)
    assert run("models", "build", "mlp", "m.onnx").returncode == 0
    assert run("models", "build", "mlp", "m.onnx").returncode == 2
    assert run("models", "build", "mlp", "m.onnx", "--force").returncode == 0
    shown = json.loads(run("models", "show", "m.onnx", "--format", "json").stdout)
    listed = next(m for m in json.loads(run("models", "--format", "json").stdout) if m["name"] == "mlp")
    assert (shown["sha256"], shown["parameters"]) == (listed["sha256"], listed["parameters"])
    onnx.checker.check_model(str(run.folder / "m.onnx"))
    assert "input" in run("models", "show", "m.onnx").stdout


def test_models_show_names_optional_inputs_and_maps(run):
    optional = onnx.helper.make_optional_type_proto(onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [2]))
    maps = onnx.helper.make_sequence_type_proto(
        onnx.helper.make_map_type_proto(onnx.TensorProto.INT64, onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None)))
    graph = onnx.helper.make_graph([], "g", [onnx.helper.make_value_info("x", optional)], [onnx.helper.make_value_info("y", maps)])
    onnx.save(onnx.helper.make_model(graph), str(run.folder / "m.onnx"))
    shown = run("models", "show", "m.onnx").stdout
    assert "x  optional float32 [2]" in shown and "y  sequence of maps of int64 to float32\n" in shown, shown
    output = json.loads(run("models", "show", "m.onnx", "--format", "json").stdout)["outputs"][0]
    assert (output["kind"], output["map_key"], output["dtype"]) == ("sequence", "int64", "float32")


def test_backends_show_what_is_found(run):
    found = {entry["name"]: entry for entry in json.loads(run("backends", "--format", "json").stdout)}
    assert {"fake", "onnxruntime", "openvino"} <= set(found)
    assert found["fake"]["usable"] and any(option["key"] == "latency" for option in found["fake"]["options"])
    text = run("backends", "fake").stdout
    assert "latency=" in text and "plug-in" in text


def test_doctor_gives_a_remedy_for_everything(run):
    done = run("doctor", "--format", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert all(entry["remedy"] for entry in found["findings"] + found["missing"])
    assert found["environment"]["kernel"]
    assert found["peaks"] is None


def test_doctor_measures_peaks_where_it_is_asked(run):
    done = run("doctor", "--peaks", "--format", "json")
    assert done.returncode == 0
    peaks = json.loads(done.stdout)["peaks"]
    assert peaks[0]["threads"] == 1
    for one in peaks:
        missing = {sentence.split(":")[0] for sentence in one["missing"]}
        reported = {peak["dtype"] for peak in one["compute"]} | {peak["level"] for peak in one["bandwidth"]}
        assert reported | missing >= {"float32", "bfloat16", "int8", "L1", "L2", "L3", "DRAM", "DRAM triad"} or \
            "all peaks" in missing
        assert all(0 < peak["low"] <= peak["high"] for peak in one["compute"] + one["bandwidth"])
    text = run("doctor", "--peaks")
    assert text.returncode == 0 and "What disturbs a measurement here" in text.stdout
    assert "What this machine does at best with 1 thread" in text.stdout and "Gop/s" in text.stdout


def test_doctor_says_what_is_missing(run):
    (run.folder / "file").write_text("")
    found = json.loads(run("doctor", "--format", "json", "--output-dir", "file/results",
                           env={"INFERMETER_WORKER": "/nosuch"}).stdout)
    what = " ".join(entry["what"] for entry in found["missing"])
    assert "results cannot be written" in what and "worker" in what
    assert found["can_measure"] is False
