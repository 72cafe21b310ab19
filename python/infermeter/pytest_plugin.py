"""A plug-in of pytest: the fixture `infermeter` measures within a test, and fails the test on what intervals show.

    def test_no_slower(infermeter):
        infermeter.compare("old.onnx@onnxruntime", "new.onnx@onnxruntime")

    def test_fast_enough(infermeter):
        infermeter.gate("resnet50@openvino", expect=["latency_p99 <= 50ms", "peak_memory < 1GB"])

docs/pytest.md has the rest.
"""

from __future__ import annotations

import fcntl
import json
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pytest

from infermeter.errors import UsageError

if TYPE_CHECKING:
    from infermeter._core import Gate, Record, Validation
    from infermeter.runs import Subject
    from infermeter.settings import ComparisonSettings, Settings, TrialSettings

__all__ = ["InfermeterWarning", "Meter"]

_PREFIX = "infermeter"  # of the properties of a test, which JUnit XML keeps
_ANSWER = f"{_PREFIX}.answer"
_OUTCOMES = ("fail", "warn", "pass")


class InfermeterWarning(pytest.PytestWarning):
    """A question that the measurements did not decide."""


class Meter:
    """What the fixture `infermeter` is: it measures as the functions of the module do, and fails the test with the
    answer where that is not what was asked for. Only one test measures at a time, also under pytest-xdist."""

    def __init__(self, output_dir: Path, undecided: str, properties: list[tuple[str, object]]) -> None:
        self.output_dir = output_dir
        self._undecided = undecided
        self._properties = properties

    def run(self, *subjects: Subject, **settings: Unpack[Settings]) -> Record:
        """`infermeter.run`; fails where a subject did, or where outputs differ."""
        record, answers = self._measured("run", subjects, settings)
        _fail_with(_bad(answers))
        return record

    def compare(self, baseline: Subject, *candidates: Subject, undecided: str | None = None, **settings: Unpack[ComparisonSettings]) -> Record:
        """`infermeter.compare`; fails where a candidate is worse than the baseline, by a test with a known rate of false
        alarms and by more than `margin`, where its outputs differ, or where one did not run. `undecided`: "fail", "warn" or
        "pass" where the pairs do not decide; the default is the option infermeter_undecided."""
        self._check_undecided(undecided)
        record, answers = self._measured("compare", (baseline, *candidates), settings)
        comparison, question = record.verdict.comparison, record.plan.question
        assert comparison is not None and question is not None
        reported = {tuple(answer["subjects"]): answer["text"] for answer in answers if answer["topic"] == "speed"}
        worse, open_questions = [], []
        for pairs in comparison.primary:
            text = reported.get((pairs.candidate,), f"{pairs.metric}: {pairs.direction}")
            self._note_change(record, pairs)
            if pairs.direction == "slower" and (pairs.estimate or 0) > math.log1p(question.margin):
                worse.append(text)
            elif pairs.direction == "unresolved":
                open_questions.append(text)
        _fail_with([*_bad(answers), *worse])
        self._settle(open_questions, undecided)
        return record

    def gate(
        self, *subjects: Subject, expect: str | Sequence[str], baseline: Record | None = None, undecided: str | None = None, **settings: Unpack[Settings]
    ) -> Gate:
        """Measures as `run`, and fails where an expectation (docs/gate.md) does not hold: "latency_p99 <= 50ms", or a list of
        them. `baseline`: what "no regression" is judged against. `undecided` as for `compare`."""
        import infermeter
        from infermeter import _core

        self._check_undecided(undecided)
        expectations = [expect] if isinstance(expect, str) else expect
        text = f"expect = [{', '.join(json.dumps(each) for each in expectations)}]"
        _core.check_expectations(text, name="expect")
        record, answers = self._measured("run", subjects, settings)
        judged = infermeter.judge_gate(record, text, name="expect", baseline=baseline)
        for outcome in judged.outcomes:
            found = "" if outcome.value is None else f" {_with_interval(outcome.value, outcome.interval)}"
            self._note(f"{_PREFIX}.{outcome.label}.{outcome.expectation}", outcome.outcome + found)
        reported = [each for each in json.loads(judged.render("json"))["answers"] if each["topic"] == "expectation"]
        for answer in reported:
            self._note(_ANSWER, f"{answer['kind']}: {answer['text']}")
        _fail_with([*_bad(answers), *(answer["text"] for answer in reported if answer["kind"] == "fail")])
        self._settle([answer["text"] for answer in reported if answer["kind"] not in ("pass", "fail")], undecided)
        return judged

    def validate(self, baseline: Subject, candidate: Subject, *, undecided: str | None = None, **settings: Unpack[TrialSettings]) -> Validation:
        """`infermeter.validate`; fails where the candidate does not answer as the baseline does. `undecided`: as for
        `compare`."""
        import infermeter

        self._check_undecided(undecided)
        given: dict[str, Any] = {**settings, "output_dir": str(self.output_dir)}
        with self._alone():
            validation = infermeter.validate(baseline, candidate, **given)
        self._note(_ANSWER, f"{validation.candidate} against {validation.baseline}: {validation.outcome}")
        if validation.outcome == "fail":
            pytest.fail(validation.text(), pytrace=False)
        self._settle([] if validation else [validation.text()], undecided)
        return validation

    def _measured(self, verb: str, subjects: tuple[Subject, ...], settings: Mapping[str, Any]) -> tuple[Record, list[dict[str, Any]]]:
        """The record, and its answers with their words."""
        import infermeter

        if "output_dir" in settings:
            raise UsageError("the runs of all tests are in one folder: the option infermeter_dir says in which")
        with self._alone():
            record: Record = getattr(infermeter, verb)(*subjects, output_dir=str(self.output_dir), **settings)
        self._note(f"{_PREFIX}.run", record.id)
        answers: list[dict[str, Any]] = record.json(samples=False)["answers"]
        for answer in answers:
            if answer["topic"] == "speed":
                self._note(_ANSWER, answer["text"])
        return record, answers

    def _note(self, name: str, value: object) -> None:
        self._properties.append((name, value))

    def _note_change(self, record: Record, pairs: Any) -> None:
        if pairs.estimate is None:
            return
        label = record.plan.subjects[pairs.candidate].label
        self._note(f"{_PREFIX}.{label}.{pairs.metric}.log_change", _with_interval(pairs.estimate, pairs.interval))
        self._note(f"{_PREFIX}.{label}.{pairs.metric}.direction", pairs.direction)

    def _check_undecided(self, wanted: str | None) -> None:
        if wanted is not None and wanted not in _OUTCOMES:
            raise UsageError(f"undecided is 'fail', 'warn' or 'pass', and not {wanted!r}")

    def _settle(self, questions: list[str], wanted: str | None) -> None:
        outcome = wanted or self._undecided
        if questions and outcome == "fail":
            pytest.fail("\n".join(questions), pytrace=False)
        if questions and outcome == "warn":
            warnings.warn(InfermeterWarning("; ".join(questions)), stacklevel=3)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Tests of other workers of pytest-xdist wait: two that measure at once measure each other."""
        self.output_dir.mkdir(parents=True, exist_ok=True)
        with open(self.output_dir / "measuring.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _bad(answers: list[dict[str, Any]]) -> list[str]:
    return [answer["text"] for answer in answers if answer["tone"] == "bad"]


def _fail_with(reasons: list[str]) -> None:
    if reasons:
        pytest.fail("\n".join(reasons), pytrace=False)


def _with_interval(value: float, interval: Any) -> str:
    return f"{value:.6g}" if interval is None else f"{value:.6g} [{interval.low:.6g}, {interval.high:.6g}]"


# --- pytest's hooks -----------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("infermeter", "measuring by the fixture `infermeter`")
    group.addoption("--infermeter-dir", metavar="DIR", help="where runs are stored (default: the ini option, or .infermeter)")
    group.addoption("--infermeter-undecided", choices=_OUTCOMES, help="what becomes of a test whose question is undecided")
    parser.addini("infermeter_dir", "where runs are stored, from the root folder", default=".infermeter")
    parser.addini("infermeter_undecided", "fail, warn or pass", default="warn")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "infermeter: measures by the fixture `infermeter`; set by itself")
    undecided = config.getini("infermeter_undecided")
    if undecided not in _OUTCOMES:
        raise pytest.UsageError(f"infermeter_undecided is fail, warn or pass, and not {undecided}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "infermeter" in getattr(item, "fixturenames", ()):
            item.add_marker("infermeter")


@pytest.fixture
def infermeter(request: pytest.FixtureRequest) -> Meter:
    """Measures, and fails the test on what intervals show: infermeter.compare, .gate, .run, .validate."""
    config = request.config
    folder = config.getoption("--infermeter-dir") or config.getini("infermeter_dir")
    undecided = config.getoption("--infermeter-undecided") or config.getini("infermeter_undecided")
    return Meter(config.rootpath / folder, undecided, request.node.user_properties)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was found, test by test: under pytest-xdist properties are what comes back from workers."""
    rows = [
        (report.nodeid, value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == _ANSWER
    ]
    if not rows:
        return
    terminalreporter.section("infermeter")
    for place, (nodeid, text) in enumerate(rows):
        if place == 0 or rows[place - 1][0] != nodeid:
            terminalreporter.write_line(nodeid)
        terminalreporter.write_line(f"  {text}")
