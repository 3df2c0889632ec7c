"""What recording costs: CPU seconds with recording over without, and trace bytes per match.

Beside it, the same programs on tinygrad with its own recording, `VIZ=-1`. That turns off its worker
processes and its cache of compiled kernels, so that the plain side would do less work, and in
processes that end on their own: both sides run without them (PARALLEL=0, CACHELEVEL=0).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.measure import run, side_by_side, spread, table

RUNS = int(os.environ.get("BENCH_RUNS", "5"))


def environment(recording: bool, trace: Path) -> dict[str, str]:
    """What a program of either compiler runs under. Traces go where `trace` is."""
    return {
        "VIZ": "-1" if recording else "0",
        "VIZ_TRACE": str(trace),
        "TMPDIR": str(trace.parent),
        "XDG_CACHE_HOME": str(trace.parent / "kept"),
        "PARALLEL": "0",
        "CACHELEVEL": "0",
    }


def command(compiler: str, program: str) -> list[str]:
    """The command line that runs a program once."""
    return [sys.executable, "-m", "tests.bench.program", compiler, program]


def cpu_seconds(compiler: str, program: str, recording: bool, trace: Path) -> float:
    """CPU seconds of one whole process, the interpreter's start included."""
    trace.unlink(missing_ok=True)
    shutil.rmtree(trace.parent / "kept", ignore_errors=True)  # compiled code of the run before
    return run(command(compiler, program), environment(recording, trace)).cpu


def recorded_here(program: str, trace: Path) -> tuple[int, int]:
    """Matches and bytes on disk of a finished trace of this compiler."""
    cpu_seconds("core", program, True, trace)
    stats = subprocess.run(
        [sys.executable, "-m", "viz", "stats", str(trace), "--json", "--whole"],
        check=True,
        capture_output=True,
    )
    size = sum(f.stat().st_size for f in trace.parent.glob(trace.name + "*"))
    return json.loads(stats.stdout)["steps"], size


def recorded_by_tinygrad(program: str, trace: Path) -> tuple[int, int]:
    """The same of tinygrad's recording: what it says at its end, and the file that it names."""
    done = subprocess.run(
        command("tinygrad", program),
        env={**os.environ, **environment(True, trace)},
        check=True,
        capture_output=True,
        text=True,
    )
    said = re.search(r"matched (\d+) times, saved to (\S+)", done.stdout)
    if said is None:
        raise RuntimeError(f"tinygrad did not say what it recorded:\n{done.stdout[-2000:]}")
    return int(said[1]), Path(said[2]).stat().st_size


def row(compiler: str, program: str, trace: Path) -> list[object]:
    """One line of the table."""
    plain: list[float] = []
    recorded: list[float] = []

    def off() -> float:
        plain.append(cpu_seconds(compiler, program, False, trace))
        return plain[-1]

    def on() -> float:
        recorded.append(cpu_seconds(compiler, program, True, trace))
        return recorded[-1]

    ratios = side_by_side(on, off, RUNS)
    count = recorded_here if compiler == "core" else recorded_by_tinygrad
    matches, size = count(program, trace)
    return [
        compiler,
        program,
        spread(plain[1:]),
        spread(ratios),
        f"{min(recorded[1:]) / min(plain[1:]):.2f}",
        f"{matches:,}",
        f"{size / max(matches, 1):.0f}",
    ]


def lacking() -> str:
    """Why tinygrad cannot be measured beside this compiler here; "" where it can."""
    if importlib.util.find_spec("tinygrad") is None:
        return "it is not installed (`make bench` installs it)"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command("tinygrad", "a"),
            env={**os.environ, **environment(False, Path(folder) / "trace")},
            capture_output=True,
            text=True,
        )
    if done.returncode == 0:
        return ""
    last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    compiler = os.environ.get("CC", "clang")
    hint = f"; it compiles with {compiler}, which is not installed"
    return last + (hint if shutil.which(compiler) is None else "")


def figures() -> str:
    """The table, and what is missing from it."""
    missing = lacking()
    compilers = ["core"] + ["tinygrad"] * (not missing)
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
        "recording / not, of pairs",
        "least / least",
        "matches",
        "trace bytes per match",
    ]
    text = table("Recording", header, rows)
    return f"{text}\ntinygrad is not measured: {missing}\n" if missing else text
