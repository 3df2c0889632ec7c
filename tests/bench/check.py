"""The check of steps: shares of the answers, and how long 10,000 steps take in two processes.

Programs a, b and c, and the demo. Results beside the trace are not used.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.bench.measure import as_installed, run, table

PROGRAMS: Final = ("a", "b", "c", "digits")
JOBS: Final = 2
KINDS: Final = ("proved", "sampled", "assumes", "unchecked", "differs")


def figures() -> str:
    """As Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        rows = list(programs(Path(folder)))
    head = ("program", "steps", *(f"{kind}, %" for kind in KINDS), "seconds", "per 10,000 steps")
    return table("The steps of a run checked", head, rows)


def programs(folder: Path) -> Iterator[tuple[str, ...]]:
    """A row for each program."""
    for name in PROGRAMS:
        path = folder / f"{name}.viz"
        command = [sys.executable, "-m", "tests.bench.program", "core", name]
        run(command, {"VIZ": "-1", "VIZ_TRACE": str(path)})
        check = [sys.executable, "-m", "viz", "check", str(path), "--json", "--jobs", str(JOBS)]
        usage = run([*check, "--again"], {})
        done = subprocess.run(check, env=as_installed(), capture_output=True, check=True)
        data: dict[str, Any] = json.loads(done.stdout)
        steps = data["steps"]
        shares = (f"{100 * data['counts'][kind] / steps:.2f}" for kind in KINDS)
        seconds = usage.wall
        yield name, f"{steps:,}", *shares, f"{seconds:.0f}", f"{10_000 * seconds / steps:.0f} s"
