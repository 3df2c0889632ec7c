"""How many kernels known programs become, here and in tinygrad, where it is installed.

    python -m tests.bench.counts tinygrad

prints those of tinygrad as JSON; it is run so in a process of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

import core
from core.helpers import Context
from tests.bench.counted import PROGRAMS
from tests.bench.measure import table
from tests.bench.program import namespace


def figures() -> str:
    """The table."""
    theirs = _of_tinygrad() if importlib.util.find_spec("tinygrad") else {}
    rows: list[tuple[object, ...]] = []
    for program in PROGRAMS:
        with Context(**program.flags):
            first, *others = program.make(core)
            count = len(first.schedule(*others))
        rows.append((program.name, count, theirs.get(program.name, "-"), program.why))
    return table(
        "Kernels of known programs", ("program", "core", "tinygrad", "what they are"), rows
    )


def _of_tinygrad() -> dict[str, int]:
    """Counted on a device that runs nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.counts", "tinygrad"],
        env={**os.environ, "DEV": "NULL"},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _count_in_tinygrad() -> dict[str, int]:
    ns: Any = namespace("tinygrad")
    counters: Any = importlib.import_module("tinygrad.helpers").GlobalCounters
    found: dict[str, int] = {}
    for program in PROGRAMS:
        if program.flags or "fuse" in program.name:
            continue
        first, *others = program.make(ns)
        counters.reset()
        first.realize(*others)
        found[program.name] = counters.kernel_count
    return found


if __name__ == "__main__" and sys.argv[1:] == ["tinygrad"]:
    print(json.dumps(_count_in_tinygrad()))
