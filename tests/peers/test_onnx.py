"""`uopviz record` on ONNX Script as it is published: as many steps as its rewriter counts, passes
that replay to what it made, reasons of what it did not do, and the same output."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.peers.test_dumps import python_of
from tests.peers.test_tinygrad import PROGRAMS, ROOT, is_exact
from tests.peers.test_xdsl import run
from viz.read.tracefile import TraceFile

pytestmark = pytest.mark.nightly


def test_steps_are_what_its_rewriter_counts(tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    command = [python_of("onnxscript"), str(PROGRAMS / "rules.py")]
    plain, _ = run(command)
    viz = [sys.executable, "-m", "viz", "record", "-o", str(path)]
    assert run([*viz, *command], PYTHONPATH=str(ROOT))[0] == plain
    file = TraceFile(path)
    file.refresh()
    steps = sum(one.matches for one in file.rewrites.values())
    assert plain.startswith(f"COUNT {steps}\n") and steps
    assert all(is_exact(file, one) for one in file.rewrites.values())
    assert "it is never so" in str(file.meta["reasons"])
