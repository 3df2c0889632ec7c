"""A copy of the code whose rules a test may edit: it records a run, and serves it.

Used by tests of replays and by the benchmark of the loop from saving a rule to its comparison.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

from tests.browser.served import ROOT, Process, environment, record

RULE_FILE: Final = "core/passes/loops/reduce.py"
RULE: Final = "reduce_in_loop"
WAS: Final = "UOp.const(red.dtype, identity(red.arg, red.dtype))"
IS: Final = "UOp.const(red.dtype, 1 + identity(red.arg, red.dtype))"
"""Sums begin at 1: a rule that is wrong."""


class CodeCopy:
    """`core` and `viz` in a folder, with the page as it is built here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("core", "viz"):
            left_out = shutil.ignore_patterns("__pycache__", "node_modules", "src", "test")
            shutil.copytree(ROOT / name, folder / name, ignore=left_out)
        self.rule = folder / RULE_FILE
        self._recorded = self.rule.read_text("utf-8")
        assert self._recorded.count(WAS) == 1

    def run(self, program: Path) -> Path:
        """Records a program with it; the trace."""
        return record(program, self.folder / "run.viz", PYTHONPATH=str(self.folder))

    def serve(self, trace: Path) -> Process:
        """Serves a trace by it."""
        command = [sys.executable, "-P", "-m", "viz", "open", str(trace), "--no-browser"]
        return Process(command, environment(PYTHONPATH=str(self.folder)), errors=False)

    def restore(self) -> None:
        """Writes the file as it was when the run was recorded."""
        self.rule.write_text(self._recorded, "utf-8")

    def edit(self, now: str = IS) -> None:
        """Writes the file of the rule, with other text in one place."""
        self.rule.write_text(self._recorded.replace(WAS, now), "utf-8")

    def hang(self) -> None:
        """Makes the rule one that does not come to an end."""
        self.edit(f"[None for _ in iter(int, 1)] or {WAS}")
