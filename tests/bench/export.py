"""Exporting the demo: with the texts of PTX and AMD's ISA, as by default, once more with what is
kept of that, with the passes of their targets, and without either."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.bench.measure import run, table

_DEMO: Final = Path(__file__).resolve().parents[2] / "examples" / "digits.py"
_HOW: Final = (
    ("texts and links of lines (default)", (), "12 s, 12 MB"),
    ("the same again", (), ""),
    ("with the passes of sm_90 and gfx942", ("--passes-for", "sm_90,gfx942"), "30 s, 18 MB"),
    ("without texts of other targets", ("--texts-for", "none"), ""),
)
"""What is exported, the arguments for it, and the marks."""


def figures() -> str:
    """Seconds of wall and processor time, and the size of the file."""
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        cache, trace = Path(folder) / "cache", Path(folder) / "demo.viz"
        cache.mkdir(mode=0o700)
        here = {"XDG_CACHE_HOME": str(cache)}
        run([sys.executable, str(_DEMO)], here | {"VIZ": "-1", "VIZ_TRACE": str(trace)})
        for what, arguments, mark in _HOW:
            page = Path(folder) / "demo.html"
            page.unlink(missing_ok=True)
            command = [
                sys.executable,
                "-m",
                "viz",
                "export",
                str(trace),
                "-o",
                str(page),
                *arguments,
            ]
            used = run(command, here)
            size = page.stat().st_size / 1e6
            rows.append([what, f"{used.wall:.1f} s", f"{used.cpu:.1f} s", f"{size:.1f} MB", mark])
    return table("Export of the demo", ("what", "time", "CPU", "file", "mark"), rows)
