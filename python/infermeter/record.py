"""A record as tables of pandas."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from infermeter._core import Record as Record
from infermeter.errors import UsageError

if TYPE_CHECKING:
    import pandas

__all__ = ["Record", "frame_of"]


def frame_of(record: Record, iterations: bool) -> pandas.DataFrame:
    """A row per subject with the columns of the CSV report, or a row per timed iteration."""
    try:
        import pandas
    except ImportError:
        raise UsageError("to_dataframe needs pandas, which is not installed: pip install pandas") from None
    if not iterations:
        return pandas.read_csv(io.StringIO(record.render("csv")))
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
