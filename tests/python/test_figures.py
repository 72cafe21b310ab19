"""Figures in plots are those of reports, digit for digit (infermeter/report/numbers/format_test.cpp writes the list)."""

import json
import re


def test_plots_round_as_reports_do(im, source_dir):
    from infermeter.plot import _three_digits

    golden = json.loads((source_dir / "tests/golden/figures.json").read_text())
    assert len(golden) >= 200
    for row in golden:
        assert _three_digits(row["value"]) + "x" == row["ratio"]
    sizes = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}
    for row in golden:
        number, unit = row["time"].split()
        assert _three_digits(row["value"] / sizes[unit]) == number and re.fullmatch(r"[\d.]+", number)
