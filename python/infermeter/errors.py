"""What goes wrong, in one sentence: what, where, why, and the option that helps."""

from __future__ import annotations

__all__ = ["Error", "InternalError", "ModelError", "UsageError", "WorkerError"]


class Error(Exception):
    """Any failure of infermeter's. `exit_code` is what the command line would exit with (docs/cli.md)."""

    exit_code = 2


class UsageError(Error):
    """What was asked for cannot be done as asked: a setting, a plan, a file, a folder."""


class ModelError(Error):
    """A model is not there, is damaged, or failed to load or to run."""

    exit_code = 3


class WorkerError(Error):
    """A worker process crashed, timed out or ran out of memory."""

    exit_code = 4


class InternalError(Error):
    """infermeter's own fault, or the system's."""
