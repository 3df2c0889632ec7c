"""Measuring helpers: CPU and wall seconds of whole processes, and tables of figures.

Never judges a figure.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """What one finished process took: seconds of CPU (user + system), of wall time, peak MiB."""

    cpu: float
    wall: float
    mib: float


def as_installed() -> dict[str, str]:
    """This environment, but that modules are compiled once, as those of an installed package, and
    that nothing is recorded. Compiling them at each start takes 0.2 s of `uopviz open`."""
    left_out = ("VIZ", "PYTHONDONTWRITEBYTECODE")
    return {key: value for key, value in os.environ.items() if not key.startswith(left_out)}


def run(command: Sequence[str], environment: Mapping[str, str]) -> Usage:
    """Runs a command to its end, its output thrown away. Raises RuntimeError where it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=as_installed() | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{errors[-2000:]}")
    return Usage(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024)


def side_by_side(a: Callable[[], float], b: Callable[[], float], runs: int) -> list[float]:
    """The ratio a / b of `runs` pairs, measured in turn after one warm-up each."""
    a(), b()
    return [a() / b() for _ in range(runs)]


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Median (smallest .. largest)."""
    return (
        f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}"
        f"..{max(values):.{digits}f})"
    )


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table with a heading."""
    lines = [f"### {title}", "", "| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def machine() -> str:
    """One line about where the figures come from."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load {load:.1f}, "
        f"{platform.machine()}, Python {platform.python_version()}, {calibration()}, "
        f"`{' '.join(['python -m tests.bench', *sys.argv[1:]])}`"
    )


_TURNS = 10_000_000


def calibration() -> str:
    """Milliseconds of a fixed loop in Python and, where Node is installed, in JavaScript: machines
    differ by a factor of two, so a figure means little without them."""
    start = time.perf_counter()
    total = 0
    for i in range(_TURNS):
        total += i & 3
    python = (time.perf_counter() - start) * 1e3
    places = (str(Path(sys.executable).parent), os.environ.get("PATH", ""))
    node = shutil.which("node", path=os.pathsep.join(places))
    if node is None:
        return f"calibration loop: Python {python:.0f} ms"
    code = (
        "const s = performance.now(); let t = 0;"
        f"for (let k = 0; k < 10; k++) for (let i = 0; i < {_TURNS}; i++) t = (t + (i & 3)) % 1009;"
        "console.log((performance.now() - s).toFixed(0), t)"
    )
    done = subprocess.run([node, "-e", code], capture_output=True, text=True, check=True)
    return f"calibration loop: Python {python:.0f} ms, JavaScript {done.stdout.split()[0]} ms"
