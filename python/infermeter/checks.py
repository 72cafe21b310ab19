"""What a load asks for, compared with what a runtime offers, and Python packages that may not be there."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

from infermeter.backend import Environment, Info, Load, Option, Refused, Status
from infermeter.factory import look_in


def framework(environment: Environment, package: str, title: str, setup: str, pip: str) -> ModuleType:
    """The framework's package, imported. `--backend-library` names the folder it lies in (site-packages)."""
    if environment.library:
        top = package.partition(".")[0]
        if not Path(environment.library, top).is_dir():
            raise Refused(
                Status.LIBRARY_MISSING,
                f"there is no package {top} in {environment.library}: name the folder that {title} is installed in, "
                "such as …/lib/python3.11/site-packages",
            )
        look_in(environment.library)
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.partition(".")[0]:
            raise _unusable(title, error) from error
        raise Refused(
            Status.LIBRARY_MISSING,
            f"{title} is not installed in {sys.executable}: scripts/setup --with {setup}, or pip install {pip}",
        ) from error
    except Exception as error:  # a broken installation may raise anything
        raise _unusable(title, error) from error


def need(package: str, what: str, setup: str) -> None:
    """For packages that are not needed by everything that a back end does."""
    if importlib.util.find_spec(package) is None:
        raise Refused(
            Status.LIBRARY_MISSING,
            f"{what} needs the package {package}, which is not installed in {sys.executable}: scripts/setup --with "
            f"{setup}, or pip install {package.replace('_', '-')}",
        )


def _unusable(title: str, error: Exception) -> Refused:
    traceback.print_exception(error, file=sys.stderr)
    return Refused(
        Status.LIBRARY_MISSING,
        f"{title} is installed in {sys.executable} and cannot be imported: {type(error).__name__}: "
        f"{' '.join(str(error).split())}",
    )


def refuse_what_is_not_offered(info: Info, load: Load) -> None:
    """Device, dtype and the keys of options."""
    if load.device not in info.devices:
        raise Refused(
            Status.UNSUPPORTED, f"{info.runtime_name} has no device '{load.device}' here; it has {_list(info.devices)}"
        )
    if load.dtype not in info.dtypes:
        raise Refused(
            Status.UNSUPPORTED, f"{info.runtime_name} does not execute {load.dtype} here, but {_list(info.dtypes)}"
        )
    known = [option.key for option in info.options]
    for key in load.options:
        if key not in known:
            raise Refused(Status.INVALID_ARGUMENT, f"{info.name} has no option {key}; it has {_list(known)}")


def flag(info: Info, load: Load, key: str, default: bool) -> bool:
    """An option that is true or false."""
    value = load.options.get(key)
    if value is None:
        return default
    if value in ("true", "1"):
        return True
    if value in ("false", "0"):
        return False
    option: Option = next(option for option in info.options if option.key == key)
    raise Refused(
        Status.INVALID_ARGUMENT,
        f"{info.name} cannot use {key}={value}; give {key}={option.values} ({option.help})",
    )


def thread_count(load: Load) -> int:
    """0 asks for as many as the process may use."""
    return load.threads or len(os.sched_getaffinity(0))


def refuse_outside_zoo(info: Info, load: Load, names: tuple[str, ...]) -> None:
    if load.zoo_name not in names:
        raise Refused(
            Status.UNSUPPORTED,
            f"{info.runtime_name} has no definition of the zoo's {load.zoo_name}; it has {_list(names)}",
        )


def _list(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names) or "none"
