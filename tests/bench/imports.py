"""Importing large dumps: what other compilers printed, repeated until it is large enough. Dumps can
be named in the environment variable `BENCH_DUMPS`, as folders or files between colons; otherwise
they are those of the tests."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.bench.measure import run, table

_STORED: Final = Path(__file__).resolve().parents[1] / "viz" / "importers" / "dumps"
_SIZE: Final = 100_000_000
"""Bytes of a dump that is imported."""


def figures() -> str:
    """Seconds of wall and processor time, and the size of the trace."""
    named = os.environ.get("BENCH_DUMPS")
    dumps = (
        [Path(name) for name in named.split(os.pathsep)]
        if named
        else [_STORED / "mlir" / "both_forms.mlir", _STORED / "torch", _STORED / "xla"]
    )
    rows: list[list[object]] = []
    for dump in dumps:
        with tempfile.TemporaryDirectory() as folder:
            large, trace = Path(folder) / "large", Path(folder) / "large.viz"
            size = _repeated(dump, large)
            command = [sys.executable, "-m", "viz", "import", str(large), "-o", str(trace)]
            used = run(command, {})
            made = f"{trace.stat().st_size / 1e6:.1f} MB"
            what = f"{dump.name}, {size / 1e6:.1f} MB"
            speed = f"{size / 1e6 / used.cpu:.1f}"
            rows.append([what, f"{used.wall:.1f} s", f"{used.cpu:.1f} s", speed, made, "60 s"])
    columns = ("dump", "time", "CPU", "MB/s", "trace", "mark")
    return table("Imports of 100 MB", columns, rows)


def _repeated(dump: Path, large: Path) -> int:
    """Writes a dump again and again: one file as a longer one, the modules of a folder under
    further numbers. How many bytes that is."""
    size = 0
    if dump.is_file():
        data = dump.read_bytes()
        with large.open("wb") as file:
            while size < _SIZE:
                size += file.write(data)
        return size
    large.mkdir()
    files = [path for path in sorted(dump.iterdir()) if path.is_file()]
    modules = [path for path in files if path.name.startswith("module_")]
    at = 0
    while size < _SIZE:
        for path in modules or files:
            name = path.name.removeprefix("module_")
            target = large / (f"module_{at}{name}" if modules else f"{at}_{name}")
            shutil.copyfile(path, target)
            size += target.stat().st_size
        at += 1
    return size
