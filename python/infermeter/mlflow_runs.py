"""Records as runs of MLflow: one for each subject, beneath one for the whole."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from infermeter import _core
from infermeter.errors import UsageError

__all__ = ["to_mlflow"]

_LONGEST_PARAM = 500  # that every store of MLflow keeps


def to_mlflow(record: _core.Record, *, experiment: str = "infermeter", tracking_uri: str | os.PathLike[str] | None = None) -> str:
    """Keeps a record in MLflow (`pip install mlflow`), and returns the id of its run there.

    The run holds the report as a page, as JSON and as its description; beneath it is one of each subject, with what it was
    asked (parameters), and its figures with the ends of their intervals (`latency_p50`, `latency_p50_low`, `latency_p50_high`; base
    units: seconds, bytes, items per second), its changes against the baseline (`speedup`), and its counters. A figure that is
    not known is left out. `experiment`: made if it is not there. `tracking_uri`: None: MLflow's own (MLFLOW_TRACKING_URI).
    """
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise UsageError("to_mlflow needs MLflow, which is not installed: pip install mlflow") from None
    report = record.json(samples=False)
    try:
        client = MlflowClient(tracking_uri=None if tracking_uri is None else os.fspath(tracking_uri))
        found = client.get_experiment_by_name(experiment)
        place = client.create_experiment(experiment) if found is None else found.experiment_id
        began = round(record.created_at * 1000)
        parent: str = client.create_run(place, began, _tags(report), f"infermeter {report['id']}").info.run_id
        client.set_tag(parent, "mlflow.note.content", record.render("markdown"))
        with tempfile.TemporaryDirectory() as folder:
            for name, form in (("report.html", "html"), ("run.json", "json")):
                file = Path(folder) / name
                file.write_text(record.render(form), encoding="utf-8")
                client.log_artifact(parent, str(file))
        for subject, asked in zip(report["subjects"], report["plan"]["subjects"], strict=True):
            tags = {"mlflow.parentRunId": parent, "infermeter.subject": subject["label"]}
            child = client.create_run(place, began, tags, subject["label"]).info.run_id
            client.log_batch(
                child,
                metrics=[Metric(name, value, began, 0) for name, value in _figures(subject)],
                params=[Param(name, value) for name, value in _asked(asked)],
            )
            client.set_terminated(child, "FINISHED" if subject["trials_ok"] > 0 else "FAILED", began)
        client.set_terminated(parent, "FINISHED" if record.finished else "KILLED", began)
    except MlflowException as error:
        raise UsageError(f"MLflow refused the record: {error.message.partition(chr(10))[0]}") from None
    return parent


def _tags(report: Mapping[str, Any]) -> dict[str, str]:
    environment = report["environment"]
    return {
        "infermeter.run": report["id"],
        "infermeter.machine": environment["machine"],
        "infermeter.version": environment["infermeter_version"],
        "infermeter.command": environment["command"][:_LONGEST_PARAM],
        "mlflow.source.git.commit": environment["git_commit"],
    }


def _figures(subject: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    named = list(subject["metrics"].items())
    named += [("speedup" if name == "latency_p50" else f"{name}_improvement", ratio) for name, ratio in subject["ratios"].items()]
    named += [(_key(counter["name"]), counter) for counter in subject["counters"]]
    for name, figure in named:
        if figure is None or figure["value"] is None:
            continue
        yield name, figure["value"]
        for end in ("low", "high"):
            if figure["interval"] is not None and figure["interval"][end] is not None:
                yield f"{name}_{end}", figure["interval"][end]


def _asked(subject: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in subject.items():
        if key in ("label", "group") or value in ("", {}, None):
            continue
        if isinstance(value, Mapping):
            yield from ((_key(f"{key}.{name}"), str(one)[:_LONGEST_PARAM]) for name, one in value.items())
        else:
            yield key, str(value)[:_LONGEST_PARAM]


def _key(name: str) -> str:
    """Names of a back end, in the letters that MLflow's names have."""
    return re.sub(r"[^\w\-. /]", "_", name, flags=re.ASCII).strip("/. ")[:250] or "_"
