"""--html FILE on every verb: a page whose document fits its schema, beside what is printed; what stands in the way is one sentence."""

import base64
import json
import re
import signal
import sqlite3
import subprocess
import time
import zlib
from pathlib import Path

import documents
import pytest

QUICK = "mlp@fake,latency=constant:200us,seed=random"
SLOW = "mlp@fake,latency=constant:400us,seed=random"
SHORT = ("--processes", 2, "--iterations", 20, "--warmup", 1)


def document(path):
    """The document of a page, which must fit its schema."""
    page = Path(path).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    found = re.search(r'<script type="application/json" id="document" data-encoding="deflate">([A-Za-z0-9+/=]*)</script>', page)
    report = json.loads(zlib.decompress(base64.b64decode(found[1])))
    documents.check(report)
    return report


def kinds(path):
    return [part["kind"] for part in document(path)["parts"]]


def refused(done, *fragments, code=2):
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("infermeter: ") and done.stderr.count("\n") == 1, done.stderr
    for fragment in fragments:
        assert fragment in done.stderr


@pytest.fixture
def page(run):
    return run.folder / "a.html"


@pytest.fixture
def stored(run):
    """Two runs, the older one first."""
    done = [run("run", f"a=mlp@fake,latency=constant:{latency}", *SHORT, "--quiet", "--format", "json")
            for latency in ("200us", "300us")]
    return [json.loads(one.stdout)["id"] for one in done]


def test_a_run_has_a_page_beside_its_report(run, page):
    done = run("run", f"one={QUICK}", f"two={SLOW}", *SHORT, "--html", "a.html")
    assert done.returncode == 0, done.stderr
    assert "Latency p50" in done.stdout and "<" not in done.stdout
    assert re.search(r"^report: a\.html \([\d.]+ [kM]B\)$", done.stderr, re.M)
    part = document(page)["parts"][0]
    assert part["kind"] == "run" and part["run"]["id"]
    assert [subject["label"] for subject in part["run"]["subjects"]] == ["one", "two"]
    assert part["figures"]["distributions"][0]["n"] == 40
    assert part["answers"]


def test_quiet_says_nothing(run, page):
    done = run("run", QUICK, *SHORT, "--quiet", "--html", "a.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert kinds(page) == ["run"]


def test_the_page_has_what_json_has(run, page):
    done = run("run", QUICK, *SHORT, "--quiet", "--format", "json", "--html", "a.html")
    run_report = document(page)["parts"][0]["run"]
    printed = json.loads(done.stdout)
    assert run_report["subjects"] == printed["subjects"]
    assert run_report["environment"] == printed["environment"] and run_report["plan"] == printed["plan"]


def test_a_comparison_has_a_page(run, page):
    done = run("compare", f"a={QUICK}", f"b={SLOW}", "--max-pairs", 8, "--warmup", 1, "--iterations", 10, "--quiet",
               "--html", "a.html")
    assert done.returncode == 0, done.stderr
    part = document(page)["parts"][0]
    assert part["run"]["comparison"] and "slower" in part["answers"][0]["text"]


def test_a_gate_has_a_page_even_if_it_fails(run, page):
    (run.folder / "gate.toml").write_text(
        f'expect = ["latency_p50_ms <= 0.001"]\n[plan]\nsubjects = ["a={QUICK}"]\nprocesses = 2\niterations = 10\nwarmup = 1\n')
    done = run("gate", "gate.toml", "--quiet", "--html", "a.html")
    assert done.returncode == 1, done.stderr
    part = document(page)["parts"][0]
    assert (part["kind"], part["outcome"]) == ("gate", "fail") and part["gate"]
    assert run("gate", "gate.toml", "--run", "latest", "--html", "b.html").returncode == 1
    assert kinds(run.folder / "b.html") == ["gate"]


def test_a_history_has_a_page(run, page, stored):
    for arguments in (["mlp@fake,latency=constant:200us"], []):
        done = run("history", *arguments, "--html", "a.html", "--force")
        assert done.returncode == 0 and done.stdout, done.stderr
        assert "report: a.html (" in done.stderr
        assert kinds(page) == ["history"]


def test_a_validation_has_a_page(run, page):
    done = run("validate", "a=mlp@fake", "b=mlp@fake,output_error=0.5", "--quiet", "--html", "a.html")
    assert done.returncode == 1, done.stderr
    assert "DIFFERS" in done.stdout or "✗" in done.stdout
    part = document(page)["parts"][0]
    assert (part["kind"], part["outcome"]) == ("validation", "fail")
    assert part["difference_pictures"] == []  # its output is no image


def test_outputs_that_are_images_are_in_the_page(run, page):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    for name, bias in (("a", 0.0), ("b", 0.25)):
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("Add", ["x", "bias"], ["y"])], "g",
            [value("x", onnx.TensorProto.FLOAT, [1, 1, 16, 12])], [value("y", onnx.TensorProto.FLOAT, [1, 1, 16, 12])],
            [onnx.helper.make_tensor("bias", onnx.TensorProto.FLOAT, [1], [bias])])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        (run.folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    done = run("validate", "a.onnx@onnxruntime", "b.onnx@onnxruntime", "--quiet", "--html", "a.html")
    assert done.returncode == 1, done.stderr
    pictures = document(page)["parts"][0]["difference_pictures"]
    assert len(pictures) == 4 and {picture["output"] for picture in pictures} == {"y"}
    assert (pictures[0]["rows"], pictures[0]["columns"]) == (16, 12)
    assert pictures[0]["max_difference"] == pytest.approx(0.25, rel=1e-3)


def test_layers_have_a_page(run, page):
    pytest.importorskip("onnxruntime")
    done = run("validate", "mlp@onnxruntime", "again=mlp@onnxruntime", "--layers", "--html", "a.html", "--quiet")
    assert done.returncode == 0, done.stderr
    part = document(page)["parts"][0]
    assert part["kind"] == "layers" and part["layers"]


def test_variants_have_a_page(run, page):
    pytest.importorskip("onnxruntime")
    done = run("variants", "mlp", "--backends", "onnxruntime", "--precisions", "float32", "--graph-opt", "none,all", *SHORT,
               "--quiet", "--html", "a.html")
    assert done.returncode == 0, done.stderr
    part = document(page)["parts"][0]
    assert part["kind"] == "variants" and len(part["variants"]["variants"]) >= 2 and part["run"]


def test_several_runs_are_one_page_in_the_order_asked_for(run, page, stored):
    done = run("report", stored[1], stored[0], "--html", "a.html")
    assert (done.returncode, done.stdout) == (0, "") and "report: a.html (" in done.stderr
    report = document(page)
    assert [part["run"]["id"] for part in report["parts"]] == [stored[1], stored[0]]
    assert report["notices"] == []
    assert run("report", "--html", "b.html").returncode == 0
    assert document(run.folder / "b.html")["parts"][0]["run"]["id"] == stored[1]


def test_runs_of_two_machines_are_said_to_be_that(run, page, stored):
    with sqlite3.connect(run.folder / "results/infermeter.db") as database:
        [environment] = database.execute("SELECT environment FROM runs WHERE id = ?", (stored[0],)).fetchone()
        other = json.dumps(json.loads(environment) | {"processor": "Another One 9000"})
        database.execute("UPDATE runs SET environment = ?, checksum = NULL WHERE id = ?", (other, stored[0]))
    assert run("report", *stored, "--html", "a.html").returncode == 0
    [notice] = document(page)["notices"]
    assert notice["severity"] in ("warning", "error") and "machine" in " ".join(notice["messages"])


def test_several_runs_are_printed_one_after_the_other(run, stored):
    done = run("report", *stored)
    assert done.returncode == 0 and done.stdout == run("report", stored[0]).stdout + "\n" + run("report", stored[1]).stdout
    for form in ("json", "csv", "html", "openmetrics", "google-benchmark"):
        refused(run("report", *stored, "--format", form), f"{form} is a report of one run")
    refused(run("report", *stored, "--plot", "a.png"), "--plot draws one run")
    refused(run("report", "latest", "latest"), "is asked for twice")
    assert run("report", *stored, "--format", "markdown", "--output", "both.md").returncode == 0
    assert (run.folder / "both.md").read_text().count("## ") >= 2


def test_without_samples_the_page_is_smaller(run, page, stored):
    assert run("report", "--html", "a.html").returncode == 0
    assert run("report", "--html", "b.html", "--no-samples").returncode == 0
    assert not any(trial.get("samples") for trial in document(run.folder / "b.html")["parts"][0]["run"]["trials"])
    assert any(trial.get("samples") for trial in document(page)["parts"][0]["run"]["trials"])


@pytest.mark.parametrize("arguments", [
    ["run", QUICK], ["compare", QUICK, SLOW], ["validate", QUICK, SLOW], ["gate", "gate.toml"], ["history"], ["report"],
    ["variants", "mlp@fake", "--precisions", "float32"],
    ["validate", "mlp@onnxruntime", "b=mlp@onnxruntime", "--layers"],
])
def test_what_is_there_is_written_over_only_with_force(run, page, stored, arguments):
    (run.folder / "gate.toml").write_text("run = 'latest'\nexpect = ['latency_p50_ms <= 60000']\n")
    page.write_text("mine")
    runs = run("runs").stdout
    refused(run(*arguments, "--html", "a.html"), "a.html exists already: --force writes over it")
    refused(run(*arguments, "--html", "nowhere/a.html"), "nowhere/a.html cannot be written: its folder takes no file")
    refused(run(*arguments, "--html", "gate.toml/a.html"), "its folder takes no file")
    assert page.read_text() == "mine" and run("runs").stdout == runs
    if arguments[0] in ("history", "report", "gate"):
        assert run(*arguments, "--html", "a.html", "--force").returncode == 0
        assert kinds(page)
        assert sorted(path.name for path in run.folder.glob("*.html")) == ["a.html"]


def test_a_page_in_the_results_folder_that_the_run_makes(run):
    assert run("run", QUICK, *SHORT, "--html", "results/a.html").returncode == 0
    assert kinds(run.folder / "results/a.html") == ["run"]


@pytest.mark.parametrize("arguments, sentence", [
    (["--html", "a.html", "--format", "json"], "--html writes a page instead of printing"),
    (["--html", "a.html", "--output", "b"], "--html writes a page instead of printing"),
    (["--html", "a.html", "--plot", "a.png"], "--plot draws instead of printing"),
    (["--html"], "--html"),
    (["--html", "a.html", "--format", "html"], "--html writes a page instead of printing"),
])
def test_what_is_asked_for_wrongly(run, stored, arguments, sentence):
    refused(run("report", *arguments), sentence)
    assert not list(run.folder.glob("a.*"))


@pytest.mark.parametrize("arguments", [["gate", "gate.toml"], ["validate", QUICK, SLOW], ["variants", "mlp@fake"]])
def test_where_a_page_is_no_format(run, arguments):
    (run.folder / "gate.toml").write_text("run = 'latest'\nexpect = ['latency_p50_ms <= 60000']\n")
    refused(run(*arguments, "--format", "html"), "--html FILE writes its page" if arguments[0] != "variants" else "a page of variants is written by --html FILE")


def test_a_page_can_be_printed(run, stored):
    older = sqlite3.connect(run.folder / "results/infermeter.db")  # the one before, whichever second they began in
    older.execute("UPDATE runs SET created_at = created_at - 100 WHERE id = ?", (stored[0],))
    older.commit()
    older.close()
    assert run("report", "--html", "a.html").returncode == 0
    assert run("report", "--format", "html").stdout == (run.folder / "a.html").read_text(encoding="utf-8")


def test_one_file_cannot_be_two_reports(run):
    refused(run("run", QUICK, "--output", "a", "--html", "a"), "--output and --html name one file, a: give each its own")


def test_recorded_outputs_have_no_page(run):
    refused(run("validate", "mlp@fake", "--html", "a.html"), "are for two subjects: give a second one")


def test_a_run_that_fails_has_its_page(run, page):
    done = run("run", f"good={QUICK}", "bad=mlp@fake,crash=run:5", *SHORT, "--quiet", "--html", "a.html")
    assert done.returncode == 4, done.stderr
    part = document(page)["parts"][0]
    assert any("did not finish" in answer["text"] for answer in part["answers"])


def test_a_run_that_is_interrupted_has_its_page(run, infermeter, environment, page):
    process = subprocess.Popen(
        [infermeter, "run", "mlp@fake,latency=constant:20ms,work=sleep", "--processes", "2", "--iterations", "2000", "--html", "a.html"],
        env=environment, cwd=run.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(200):
        if run("runs").returncode == 0:
            break
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "not finished" in out and "report: a.html (" in err
    assert document(page)["parts"][0]["run"]["finished"] is False


HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "a\u202egnp.exe", "$&`'\"\\", "x" * 300]


def test_hostile_labels_stay_text(run, page):
    subjects = [f"[[subject]]\nlabel = {json.dumps(label)}\nmodel = 'mlp'\nbackend = 'fake'\n" for label in HOSTILE]
    (run.folder / "plan.toml").write_text("".join(subjects), encoding="utf-8")
    done = run("run", "--plan", "plan.toml", "--iterations", 5, "--processes", 1, "--warmup", 0, "--quiet", "--html", "a.html")
    assert done.returncode == 0, done.stderr
    report = document(page)
    assert [subject["label"] for subject in report["parts"][0]["run"]["subjects"]] == HOSTILE
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text and "<img src=x" not in text and "\u202e" not in text
