"""What recording costs: CPU seconds with recording over without, and trace bytes per match."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.measure import run, side_by_side, spread, table

RUNS = int(os.environ.get("BENCH_RUNS", "5"))


def cpu_seconds(compiler: str, program: str, recording: bool, trace: Path) -> float:
    """CPU seconds of one whole process, the interpreter's start included."""
    trace.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.bench.program", compiler, program]
    environment = {"VIZ": "-1" if recording else "0", "VIZ_TRACE": str(trace)}
    return run(command, environment).cpu


def matches_and_bytes(trace: Path) -> tuple[int, int, int]:
    """Rewrites, matches and bytes on disk of a finished trace."""
    command = [sys.executable, "-m", "viz", "stats", str(trace), "--json"]
    stats = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    size = sum(f.stat().st_size for f in trace.parent.glob(trace.name + "*"))
    return stats["rewrites"], stats["steps"], size


def row(compiler: str, program: str, trace: Path) -> list[object]:
    """One line of the table."""
    plain: list[float] = []

    def off() -> float:
        plain.append(cpu_seconds(compiler, program, False, trace))
        return plain[-1]

    def on() -> float:
        return cpu_seconds(compiler, program, True, trace)

    ratios = side_by_side(on, off, RUNS)
    cells: list[object] = [compiler, program, spread(plain[1:]), spread(ratios)]
    if compiler != "core":
        return [*cells, "-", "-", "-"]
    on()
    rewrites, matches, size = matches_and_bytes(trace)
    return [*cells, f"{rewrites:,}", f"{matches:,}", f"{size / max(matches, 1):.0f}"]


def figures() -> str:
    """The table."""
    compilers = ["core"] + ["tinygrad"] * (importlib.util.find_spec("tinygrad") is not None)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row(compiler, program, Path(folder) / f"{compiler}-{program}.viz")
            for program in ("a", "b", "c", "digits")
            for compiler in (compilers if program != "digits" else ["core"])
        ]
    header = [
        "compiler",
        "program",
        "CPU s, not recording",
        "recording / not recording",
        "rewrites",
        "matches",
        "trace bytes per match",
    ]
    return table("Recording", header, rows)
