"""bench/verdicts: how it reads what the tools say, and the table it makes of that. Nothing is measured here."""

import importlib.util
import json
import statistics
import subprocess
import sys

import pytest

SETTINGS = {"settings": {"workload": "fake"}}


def verdict(tool, effect, wall_s, comparison=0, **readings):
    return {"comparison": comparison, "effect_percent": effect, "tool": tool, "wall_s": wall_s, "details": {},
            "readings": {name.replace("_", " "): said for name, said in readings.items()}}


@pytest.fixture
def table(source_dir, tmp_path):
    def rows(lines, cut=""):
        file = tmp_path / "verdicts.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines) + cut)
        done = subprocess.run([sys.executable, source_dir / "bench/verdicts", "--report", "--output", file],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()
    return rows


def cells(row):
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_every_reading_has_its_row(table):
    rows = table([SETTINGS, verdict("pyperf", 1, 9.0, pyperf_compare_to="slower"),
                  verdict("hyperfine", 0, 2.0, Welch="slower", deviation="none")])
    assert [cells(row)[0] for row in rows[2:]] == ["Welch", "deviation", "pyperf compare to"]


def test_alarms_finds_and_wrong_directions_are_counted_apart(table):
    said = {0: ["equivalent", "unresolved", "faster", "slower"], 1: ["slower", "equivalent", "faster", "slower"],
            2: ["slower"] * 4}
    lines = [verdict("infermeter", effect, 1.0 + i, i, ours=word) for effect, words in said.items()
             for i, word in enumerate(words)]
    head, _, row = table([SETTINGS, *lines])
    assert cells(head)[1:5] == ["false alarms, A/A", "found 1 %", "found 2 %", "wrong direction"]
    # Wilson's interval, not Wald's (1 … 99 %): scipy.stats.binomtest(2, 4).proportion_ci(method="wilson") is 0.150, 0.850
    assert cells(row) == ["ours", "2 of 4 (15 … 85 %)", "2 of 4 (15 … 85 %)", "4 of 4 (51 … 100 %)", "1 of 8",
                          "2.5 s (4.0 s)"]


def test_a_run_that_was_cut_off_can_be_reported(table):
    rows = table([SETTINGS, verdict("pyperf", 0, 9.0, pyperf="none")], cut='{"comparison": 0, "eff')
    assert cells(rows[2])[:3] == ["pyperf", "0 of 1 (0 … 79 %)", "–"]


def test_the_measured_slowdown_stands_below(table):
    rows = table([SETTINGS, {"reference": 1, "pairs": 40, "percent": [0.9, 1.04, 1.18]},
                  verdict("pyperf", 0, 9.0, pyperf="none")])
    assert rows[-1] == "True slowdown of 1 %: 1.04 % (0.90 … 1.18), 40 pairs of processes."


class Work:
    runs = 30

    def command(self, effect):
        return ["work", effect]


@pytest.fixture
def tools(source_dir):
    spec = importlib.util.spec_from_file_location("verdict_tools", source_dir / "bench/verdict_tools.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("shift, welch, deviation", [
    (0.000, "none", "none"),
    (0.004, "none", "none"),        # p = 0.067; 1.0040 ± 0.0116
    (0.005, "slower", "none"),      # p = 0.023; 1.0050 ± 0.0116
    (0.011, "slower", "none"),      # 1.0109 ± 0.0117
    (0.013, "slower", "slower"),    # 1.0129 ± 0.0117
    (-0.013, "faster", "faster"),
])
def test_hyperfine_is_read_in_two_ways(tools, tmp_path, monkeypatch, shift, welch, deviation):
    def result(shift):
        times = [shift + time for time in (1.00, 1.01, 1.02)] * 10
        return {"mean": statistics.fmean(times), "stddev": statistics.stdev(times), "times": times}

    def hyperfine(*command):
        (tmp_path / "hyperfine.json").write_text(json.dumps({"results": [result(0), result(shift)]}))

    monkeypatch.setattr(tools, "done", hyperfine)
    readings, _ = tools.hyperfine(Work(), 1, tmp_path, 1)
    assert list(readings.values()) == [welch, deviation]


@pytest.mark.parametrize("said, reading", [
    ("Mean +- std dev: [base] 45.2 ms +- 0.5 ms -> [candidate] 45.9 ms +- 0.4 ms: 1.02x slower", "slower"),
    ("Mean +- std dev: [base] 45.2 ms +- 0.5 ms -> [candidate] 44.9 ms +- 0.4 ms: 1.01x faster", "faster"),
    ("Benchmark hidden because not significant (1): inference", "none"),
])
def test_pyperf_is_taken_at_its_word(tools, tmp_path, monkeypatch, said, reading):
    monkeypatch.setattr(tools, "done", lambda *command: said)
    assert tools.pyperf(Work(), 1, tmp_path, 1)[0] == {"pyperf compare_to": reading}
