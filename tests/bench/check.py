"""The check of steps: shares of the answers, of all steps and of those that replace integers and
booleans, what kernels come to as a whole, and how long 10,000 steps take in two processes.

Programs a, b and c, and the demo, or those that BENCH_CHECK names. Results beside the trace are not
used. Times are of the processor: seconds of the wall are those of a machine with nothing else to do
only where there is nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.bench.measure import as_installed, run, table
from viz.known.whole import STATES

PROGRAMS: Final = tuple(os.environ.get("BENCH_CHECK", "a b c digits").split())
JOBS: Final = 2
KINDS: Final = ("proved", "sampled", "assumes", "unchecked", "differs")


def figures() -> str:
    """As Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        rows = list(programs(Path(folder)))
    head = ("program", "steps", *(f"{kind}, %" for kind in KINDS), "integers", "proved of these, %",
            *(f"kernels {state}" for state in STATES),
            "CPU seconds", "per 10,000 steps, in each process", "seconds")  # fmt: skip
    return table("The steps of a run checked", head, rows)


def programs(folder: Path) -> Iterator[tuple[str, ...]]:
    """A row for each program."""
    for name in PROGRAMS:
        path = folder / f"{name}.viz"
        command = [sys.executable, "-m", "tests.bench.program", "core", name]
        run(command, {"VIZ": "-1", "VIZ_TRACE": str(path)})
        check = [
            sys.executable,
            "-m",
            "viz",
            "check",
            str(path),
            "--json",
            "--whole",
            "--jobs",
            str(JOBS),
        ]
        usage = run([*check, "--again"], {})
        done = subprocess.run(check, env=as_installed(), capture_output=True, check=True)
        data: dict[str, Any] = json.loads(done.stdout)
        steps, integers = data["steps"], data["integers"]
        shares = (f"{100 * data['counts'][kind] / steps:.2f}" for kind in KINDS)
        many = sum(integers.values())
        of_integers = f"{many:,}", f"{100 * integers['proved'] / many:.2f}"
        each = f"{10_000 * usage.cpu / steps / JOBS:.0f} s"
        times = f"{usage.cpu:.0f}", each, f"{usage.wall:.0f}"
        kernels = (str(data["wholes"][state]) for state in STATES)
        yield name, f"{steps:,}", *shares, *of_integers, *kernels, *times
