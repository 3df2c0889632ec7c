"""Collects metadata of a run: command, commit, versions, flags and machine.

Asks git once and waits for it briefly; never fails: what cannot be found out is left empty.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from importlib import metadata
from typing import Final

from core.helpers import Flag
from viz.files.alive import new_run, process_info
from viz.files.machine import machine_text
from viz.format.schema import COMPILER, CORE_DIALECT

PACKAGES: Final = ("uopviz", "numpy", "llvmlite", "flask", "networkx", "cuda-bindings")
_GIT_SECONDS: Final = 2.0


def run_info(run: str | None, main: bool, ago: float = 0.0) -> dict[str, object]:
    """Values for schema.META of a recording that began `ago` seconds before; `run` names the run
    that this process takes part in."""
    began = datetime.datetime.now().astimezone() - datetime.timedelta(seconds=ago)
    info: dict[str, object] = {
        "run": run or new_run(),
        "process": process_info(main),
        "started": began.isoformat(timespec="milliseconds"),
        "command": [*sys.orig_argv],
        "cwd": _folder(),
        "compiler": COMPILER,
        "dialect": CORE_DIALECT,
        "flags": {name: flag.value for name, flag in Flag.table.items()},
        "machine": machine_text(),
        "python": platform.python_version(),
    }
    if main:
        info["commit"] = _commit()
        info["versions"] = versions()
    return info


def _folder() -> str:
    """The working directory; "" where it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _commit() -> dict[str, object]:
    """The commit of the repository around the working directory, and how many files differ."""
    # without locks: another git of the user's may be at work
    said = _git(
        "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=no"
    )
    lines = said.splitlines()
    head = next((line.split()[2] for line in lines if line.startswith("# branch.oid ")), "")
    dirty = sum(not line.startswith("#") for line in lines)
    return {"id": "" if head == "(initial)" else head, "dirty": dirty}


def _git(*args: str) -> str:
    try:
        done = subprocess.run(
            ["git", *args],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def versions() -> dict[str, str]:
    """The versions of packages that what is compiled depends on, as far as they are installed."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
