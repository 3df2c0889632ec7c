"""A compiler with a wrong rule, for those who look for it: a copy of this project in which the
accumulator of a sum begins with 1, or another mistake was made; a run that it recorded, and a
server of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.browser.served import PROGRAMS, ROOT, Process, environment

RULE = "reduce_in_loop"
RIGHT, WRONG = "identity(red.arg, red.dtype)", "identity(red.arg, red.dtype) + 1"


def broken_copy(
    folder: Path, file: str = "core/passes/loops/reduce.py", right: str = RIGHT, wrong: str = WRONG
) -> Path:
    """The project in `folder`, with the wrong rule."""
    skipped = shutil.ignore_patterns("src", "test", "node_modules")
    for package in ("core", "viz"):
        shutil.copytree(ROOT / package, folder / package, ignore=skipped)
    path = folder / file
    text = path.read_text()
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong))
    return folder


def recorded_with(copy: Path, trace: Path, program: str = "wrong.py") -> Path:
    """The trace of a program that this copy ran."""
    setting = environment(VIZ="-1", VIZ_TRACE=str(trace)) | {"PYTHONPATH": str(copy)}
    command = [sys.executable, "-P", str(PROGRAMS / program)]
    done = subprocess.run(command, env=setting, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return trace


def served_by(copy: Path, trace: Path) -> Process:
    """`uopviz open TRACE --no-browser` of this copy."""
    command = [sys.executable, "-P", "-m", "viz", "open", str(trace), "--no-browser"]
    return Process(command, environment() | {"PYTHONPATH": str(copy)}, errors=False)
