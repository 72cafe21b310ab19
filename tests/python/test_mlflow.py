"""A record in MLflow, read back by MLflow's own client. MLflow 3 takes a folder only if it is told to."""

import json
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def record(im, tmp_path_factory):
    return im.run({"label": "base", "model": "mlp", "backend": "fake", "options": {"latency": "constant:200us", "counters": "hit_rate:0.9"}},
                  {"label": "<b>../x\n", "model": "mlp", "backend": "fake", "threads": 2, "options": {"latency": "constant:400us"}},
                  iterations=20, processes=3, output_dir=tmp_path_factory.mktemp("mlflow"))


@pytest.fixture
def client(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: scripts/setup --tests")
    return mlflow.MlflowClient(tracking_uri=f"file://{tmp_path}/runs")


def test_a_record_is_read_back_by_mlflow(im, record, client, tmp_path):
    where = f"file://{tmp_path}/runs"
    ids = [im.to_mlflow(record, experiment="speed", tracking_uri=where) for _ in range(2)]
    experiment = client.get_experiment_by_name("speed")
    assert len(set(ids)) == 2, "twice the same experiment"
    whole = client.get_run(ids[0])
    assert whole.info.status == "FINISHED" and whole.data.tags["infermeter.run"] == record.id
    assert whole.data.tags["mlflow.note.content"] == record.render("markdown")
    assert {each.path for each in client.list_artifacts(ids[0])} == {"report.html", "run.json"}
    stored = json.loads(Path(client.download_artifacts(ids[0], "run.json")).read_text())
    assert stored["id"] == record.id and stored["trials"][0]["samples"]["latency_s"]
    children = client.search_runs([experiment.experiment_id], f"tags.`mlflow.parentRunId` = '{ids[0]}'")
    by_label = {each.data.tags["infermeter.subject"]: each for each in children}
    report = record.json(samples=False)
    assert set(by_label) == {"base", "<b>../x\n"}
    for subject in report["subjects"]:
        found = by_label[subject["label"]].data
        for name, metric in subject["metrics"].items():
            assert found.metrics.get(name) == metric["value"]
            if metric["value"] is not None and metric["interval"] is not None:
                assert found.metrics[f"{name}_low"] == metric["interval"]["low"] and found.metrics[f"{name}_high"] == metric["interval"]["high"]
    slow, base = by_label["<b>../x\n"].data, by_label["base"].data
    assert slow.metrics["speedup"] == report["subjects"][1]["ratios"]["latency_p50"]["value"] < 1 and "speedup" not in base.metrics
    assert (slow.params["threads"], slow.params["backend"], slow.params["options.latency"]) == ("2", "fake", "constant:400us")
    assert base.metrics["hit_rate"] == pytest.approx(0.9)


def test_what_mlflow_refuses_is_one_sentence(im, record, client, monkeypatch):
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE")
    with pytest.raises(im.UsageError, match="MLflow refused the record: ") as refused:
        im.to_mlflow(record, tracking_uri="nosuch://x")
    assert "\n" not in str(refused.value)


def test_without_mlflow_it_says_what_to_install(im, record, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(im.UsageError, match="pip install mlflow"):
        im.to_mlflow(record)
