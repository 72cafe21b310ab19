"""A record as tables of pandas."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from infermeter._core import Record as Record
from infermeter.errors import UsageError

if TYPE_CHECKING:
    import pandas

__all__ = ["Record", "frame_of"]

# Of the CSV report; all others are numbers.
TEXT_COLUMNS = frozenset(
    "framework model device device_type input_shape dtype timestamp git_commit run label backend runtime runtime_version "
    "executed_dtype memory_kind outputs end message model_sha256 machine infermeter_version".split()
)


def frame_of(record: Record, iterations: bool) -> pandas.DataFrame:
    """A row per subject with the columns of the CSV report, or a row per timed iteration."""
    try:
        import pandas
    except ImportError:
        raise UsageError("to_dataframe needs pandas, which is not installed: pip install pandas") from None
    if not iterations:
        return read_csv(io.StringIO(record.render("csv")))
    columns = ["label", "process", "iteration", "begin_s", "end_s", "latency_s"]
    parts = [
        pandas.DataFrame(
            {
                "label": samples.label,
                "process": samples.process,
                "iteration": range(len(samples)),
                "begin_s": samples.begin_s,
                "end_s": samples.end_s,
                "latency_s": samples.latencies_s,
            }
        )
        for samples in record.samples
        if len(samples) > 0
    ]
    return pandas.concat(parts, ignore_index=True) if parts else pandas.DataFrame(columns=columns)


def read_csv(file: str | os.PathLike[str] | io.StringIO) -> pandas.DataFrame:
    """A CSV report. Texts stay as they are: a label "001" is no number, and "NA" is not missing."""
    import pandas

    names = pandas.read_csv(file, nrows=0).columns
    if isinstance(file, io.StringIO):
        file.seek(0)
    missing = {name: [""] for name in names if name not in TEXT_COLUMNS}
    return pandas.read_csv(file, dtype=dict.fromkeys(TEXT_COLUMNS, str), keep_default_na=False, na_values=missing)
