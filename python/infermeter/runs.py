"""Runs: made, finished, and loaded again."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from infermeter import _core
from infermeter.errors import UsageError
from infermeter.progress import Bar, Tell, shown
from infermeter.settings import ComparisonSettings, TrialSettings, TuningSettings

__all__ = ["compare", "load", "run", "tune", "validate", "validate_recorded", "write_html"]

Subject = str | Mapping[str, object]
_ALLOWED = ("allow_code", "sandbox")  # what a run that is finished by its own plan may be allowed


def run(
    *subjects: Subject,
    plan: _core.Plan | str | os.PathLike[str] | None = None,
    progress: Tell | Bar | bool | None = None,
    resume: str | bool | None = None,
    live: Mapping[str, object] | None = None,
    **settings: Unpack[ComparisonSettings],
) -> _core.Record:
    """Measures subjects, each in fresh worker processes, and returns the record; the first is the baseline.

    `subjects`: short forms ("resnet50@openvino,threads=1", "fast=model.onnx@onnxruntime"), or dicts with the keys of a
    plan file's [[subject]]. `settings`: the other keys of plan files (docs/plan.md): iterations, duration (seconds, or
    "10s"), warmup, processes, batch_sizes, threads, output_dir, … . `plan`: a Plan, or the path of a plan file, which
    settings beat. `progress` is called with a Progress between trials and while they run, or is a bar as tqdm's; None: a line
    that changes, in a terminal and in a notebook, and nothing elsewhere; True: a line on stderr for each trial that ended;
    False: nothing. `resume`: the id of an
    interrupted run, or True for the latest; without subjects it is finished by its own plan, which needs allow_code=True
    where that loads code, and sandbox="off" where that is what it says. `live`: objects of this process, see
    infermeter.live.

    A subject that fails does not stop the others: record.verdict.exit_code and record.samples tell. Everything is
    stored in `output_dir` as each trial ends. Ctrl-C ends the current iteration and raises KeyboardInterrupt, with the
    record so far as its attribute `record`.
    """
    given: dict[str, Any] = {**settings}
    _check_arguments(subjects, given)
    command = shlex.join(sys.orig_argv)
    output_dir = given.get("output_dir") or "results"
    store = given.get("store") or ""
    name = _core.latest_unfinished(output_dir, store=store) if resume is True else resume or None
    if name is not None and not subjects and plan is None:
        _refuse_changes(given)
        allowed = {key: given[key] for key in _ALLOWED if given.get(key) is not None}
        with shown(progress) as tell:
            return _core.resume_run(name, output_dir=output_dir, store=store, progress=tell, command=command, **allowed)
    objects = None if live is None else dict(live)
    whole = _plan_of(subjects, plan, given)
    with shown(progress) as tell:
        return _core.run(whole, progress=tell, resume=name, command=command, live=objects)


def compare(
    *subjects: Subject,
    plan: str | os.PathLike[str] | None = None,
    progress: Tell | Bar | bool | None = None,
    **settings: Unpack[ComparisonSettings],
) -> _core.Record:
    """Shows whether the other subjects are faster or slower than the first, as `infermeter compare` does: pairs of
    fresh processes in coin order, until a test with a known rate of false alarms has decided.

    The answer is record.verdict.comparison. `settings`: as for `run`, and metric ("p50", "peak_memory", …), margin and
    alpha (shares: 0.01, "1%"), max_pairs, budget (seconds, or "2m"), until_resolved, all_pairs, drop_disturbed.
    """
    settings["compare"] = True
    return run(*subjects, plan=plan, progress=progress, **settings)


def tune(
    model: str | os.PathLike[str],
    *,
    over: Mapping[str, Iterable[object]] | None = None,
    objective: str = "latency_p50",
    subject_to: Iterable[str] = (),
    indifference: float | str = 0.02,
    progress: Tell | Bar | bool | None = None,
    **settings: Unpack[TuningSettings],
) -> _core.Record:
    """Finds the best settings of a model on this machine, as `infermeter tune` does: they race in blocks of fresh
    processes until those that are worse are known, and fresh pairs tell how much better the best one is.

    `over`: the values to try, by key: {"backend": ["onnxruntime", "openvino"], "threads": [1, 2]}; the first ones are
    those in use today. None: each back end that reads the model, and one change at a time. `subject_to`: conditions,
    such as "latency_p99 <= 50ms". `settings`: as for `run`, and alpha, budget (seconds, or "5m"). A race that was
    interrupted is finished by run(resume=…).

    The answer is record.verdict.tuning; record.plan.subjects[record.verdict.tuning.best] is the best setting.
    """
    with shown(progress) as tell:
        return _core.tune(
            os.fspath(model),
            over=[f"{key}={','.join(_word(value) for value in values)}" for key, values in (over or {}).items()],
            objective=objective,
            constraints=list(subject_to),
            indifference=str(indifference),
            settings={**settings},
            progress=tell,
            command=shlex.join(sys.orig_argv),
        )


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def validate(
    baseline: Subject,
    candidate: Subject,
    *,
    perturb: int | None = None,
    noise: float = 0.01,
    rtol: float | None = None,
    atol: float | None = None,
    tolerances: Mapping[str, float] | None = None,
    max_drop: float | None = None,
    max_increase: float | None = None,
    text: str | os.PathLike[str] = "",
    text_tokens: int = 256,
    **settings: Unpack[TrialSettings],
) -> _core.Validation:
    """Shows whether `candidate` answers as `baseline` does, as `infermeter validate` does: on the items of data="…", with
    labels="…" if it is known what is right; or on the first item and that with noise, `perturb` in all.

    True if it passes. `tolerances`: relative ones by output, which beat `rtol`. `max_drop`: how much the share of right
    answers may drop; the labels then decide. `text`: a file that language models are to predict, cut into texts of `text_tokens`
    tokens; `max_increase`: how much the perplexity may increase. `settings`: the keys of plan files (data, labels, data_limit, data_seed, …).
    """
    _check_arguments((baseline, candidate), settings)
    plan = _core.Plan(baseline, candidate, **settings)
    return _core.validate_plan(
        plan,
        perturb=perturb,
        noise=noise,
        rtol=rtol,
        atol=atol,
        tolerances=dict(tolerances or {}),
        max_drop=max_drop,
        max_increase=max_increase,
        text=os.fspath(text),
        text_tokens=text_tokens,
    )


def validate_recorded(
    subject: Subject, *, rtol: float | None = None, atol: float | None = None, **settings: Unpack[TrialSettings]
) -> _core.RecordedValidation:
    """Shows whether `subject` answers as was recorded, as `infermeter validate` does of one subject: its outputs on the inputs
    of the ONNX test data set (input_*.pb, output_*.pb) in the folder data="…", or on those of every test_data_set_* in it.

    True if every output is within its tolerance: that of ONNX's own test runner, or that of the executed precision where this
    is wider; `rtol` and `atol` beat both.
    """
    _check_arguments((subject,), settings)
    return _core.validate_recorded_plan(_core.Plan(subject, **settings), rtol=rtol, atol=atol)


def load(name: str = "latest", output_dir: str | os.PathLike[str] = "results", *, store: str = "") -> _core.Record:
    """A stored run: its id, a unique beginning of one, "latest", "previous", or a baseline. `store`: as --store has it, in place of the folder."""
    return _core.load_run(name, output_dir, store=store)


def write_html(
    file: str | os.PathLike[str],
    *reports: _core.Record | _core.Gate | _core.Variants | _core.Validation,
    samples: bool = True,
) -> None:
    """Writes one page of all `reports`, in this order, as `infermeter report RUN… --html FILE` does: it opens in a
    browser, without a network. Runs of different machines are said to be that. Whole, over what was there. `samples`:
    with every iteration."""
    for report in reports:
        if not hasattr(report, "report_part"):
            kind = type(report).__name__
            raise UsageError(f"a page is made of records, gates, variants and validations, not of a {kind}")
    _core.write_page(file, [report.report_part(samples) for report in reports])


def _check_arguments(subjects: tuple[object, ...], settings: Mapping[str, object]) -> None:
    for subject in subjects:
        if isinstance(subject, (str, Mapping)):
            continue
        raise UsageError(
            f"a subject is text, such as 'resnet50@onnxruntime', or a dict, and not an object of type "
            f"{type(subject).__name__}: run_live({{'name': model}}, inputs) measures objects of this process"
        )
    data = settings.get("data")
    if data is not None and not isinstance(data, (str, os.PathLike)):
        raise UsageError(
            f"data needs 'synthetic' or the path of a file or folder, and got an object of type {type(data).__name__}: "
            "save it with numpy.save('data.npy', array) and give data='data.npy'"
        )


def _plan_of(
    subjects: tuple[Subject, ...], plan: _core.Plan | str | os.PathLike[str] | None, settings: dict[str, Any]
) -> _core.Plan:
    if plan is None:
        return _core.Plan(*subjects, **settings)
    if not isinstance(plan, _core.Plan):
        return _core.Plan.from_file(plan, **({"subjects": list(subjects)} if subjects else {}), **settings)
    if subjects or settings:
        raise UsageError("a Plan says everything: give subjects and settings to it, not beside it")
    return plan


def _refuse_changes(settings: dict[str, Any]) -> None:
    for key, value in settings.items():
        if key not in ("output_dir", "store", *_ALLOWED) and value is not None:
            raise UsageError(f"resume continues with the run's own plan: leave '{key}' out, or give the whole plan")
