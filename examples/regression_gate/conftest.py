"""What the tests measure, how long, and where results are kept."""

import os
import tomllib
from pathlib import Path

import pytest

import infermeter

FOLDER = Path(__file__).resolve().parent


def pytest_addoption(parser):
    parser.addoption("--record-baseline", action="store_true", help="what is measured now is what later runs are compared with")
    parser.addoption("--results", default=str(FOLDER / "results"), help="where runs and baselines are kept")
    parser.addoption("--gate", default=str(FOLDER / "gate.toml"), help="the gate's file")


def pytest_configure(config):
    config.addinivalue_line("markers", "performance: measures times or memory; needs a quiet machine")
    config.addinivalue_line("markers", "slow: takes minutes")


@pytest.fixture(scope="session")
def gate_file(pytestconfig):
    return tomllib.loads(Path(pytestconfig.getoption("gate")).read_text())


@pytest.fixture(scope="session")
def subject(gate_file):
    """subject("baseline_2d") -> its line in the plan."""
    lines = {line.partition("=")[0]: line for line in gate_file["plan"]["subjects"]}
    return lambda label: lines[label]


@pytest.fixture(scope="session")
def settings(gate_file, pytestconfig):
    """How everything is measured: the plan without its subjects."""
    plan = {key: value for key, value in gate_file["plan"].items() if key != "subjects"}
    return plan | {"output_dir": os.path.join(pytestconfig.getoption("results"))}


@pytest.fixture(scope="session")
def run_alarms(settings, pytestconfig):
    """run_alarms(label, line, expectations): measures a subject and holds it against what was stored of it."""
    folder = settings["output_dir"]

    def check(label, line, expectations):
        record = infermeter.run(line, **settings)
        assert record.verdict.exit_code == 0, record.text()
        try:
            stored = infermeter.load_baseline(label, folder)
        except infermeter.UsageError:
            stored = None
        if stored is None or pytestconfig.getoption("record_baseline"):
            infermeter.set_baseline(label, record.id, folder)
            pytest.skip(f"stored as the baseline {label} (run {record.id}): later runs are compared with it")
        judge(record, expectations, baseline=stored, baseline_name=label)

    return check


def judge(record, expectations, **against):
    """Fails if an expectation certainly does not hold; skips where the figures cannot tell."""
    gate = infermeter.judge_gate(record, f"expect = {list(expectations)!r}", **against)
    print(gate.render(width=100))
    assert gate.failed == 0, "\n" + gate.render(width=100)
    if gate.inconclusive:
        pytest.skip("cannot be determined:\n" + gate.render(width=100))
