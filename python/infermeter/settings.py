"""The keys of plan files as types, so that editors complete them and type checkers refuse others. docs/plan.md says what each
does, and its default, which None stands for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypedDict

__all__ = ["ComparisonSettings", "Settings", "TrialSettings", "TuningSettings"]

Path = str | os.PathLike[str]
Time = float | str  # seconds, or "250ms", "5m"
Size = int | str  # bytes, or "2GB"
Share = float | str  # 0.02, or "2%"
Numbers = int | Sequence[int]
Words = str | Sequence[str]


class TrialSettings(TypedDict, total=False):
    """How subjects are measured, whichever they are."""

    batch_sizes: Numbers | None
    batch_axis: str | Mapping[str, int | str] | None
    dtype: Words | None
    device: str | None
    threads: Numbers | None
    dimensions: Mapping[str, int | str] | None
    options: Mapping[str, object] | None
    load: Mapping[str, object] | None
    env: Mapping[str, object] | None
    backend_library: Path | None
    backend_path: Path | None
    allow_code: bool | None
    warmup: int | str | None
    iterations: int | str | None
    duration: Time | None
    processes: int | str | None
    precision: Share | None
    repeat_disturbed: int | None
    budget: Time | None
    leak_iterations: int | None
    profile: bool | None
    profile_processes: int | None
    profile_iterations: int | None
    stacks: str | None
    python_profiler: str | None
    seed: int | None
    data: Path | None
    data_limit: int | None
    data_seed: int | None
    labels: Path | None
    distribution: str | Mapping[str, str] | None
    outliers: str | None
    load_timeout: Time | None
    run_timeout: Time | None
    memory_limit: Size | None
    sandbox: str | None
    cpus: str | Sequence[int] | None
    compare_outputs: bool | None
    output_dir: Path | None
    store: str | None
    format: str | None


class Settings(TrialSettings, total=False):
    """And which, beside those that are named."""

    models: Words | None
    backends: Words | None


class ComparisonSettings(Settings, total=False):
    """And of a comparison, `compare` or compare=True."""

    compare: bool | None
    metric: str | None
    margin: Share | None
    alpha: Share | None
    max_pairs: int | None
    until_resolved: bool | None
    all_pairs: bool | None
    drop_disturbed: bool | None


class TuningSettings(TrialSettings, total=False):
    """And of a race of settings."""

    alpha: Share | None


