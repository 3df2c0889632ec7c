"""Mutated traces: every route, every answer and every table, each in a bounded process."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from core import Tensor
from tests.fuzzing import cases
from viz.trace import Recorder

COUNT = 5
SECONDS = 10
"""Of wall time per mutant, on a machine that is busy with other tests too."""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The trace of a program with views, loops, kernels and launches."""
    path = tmp_path / "program.viz"
    recorder = Recorder(path).start()
    try:
        w = Tensor.rand(4, 3, requires_grad=True)
        x = Tensor.rand(4, 4).pad(((0, 1), (0, 0))).shrink(((0, 4), (0, 4)))
        (x @ w).relu().sum().backward()
        assert w.grad is not None
        w.grad.realize()
    finally:
        recorder.close()
    return path


def test_mutated_traces(trace: Path, program: Path, pytestconfig: pytest.Config) -> None:
    count, seed = cases(pytestconfig, COUNT), random.randrange(1 << 30)
    print("seed", seed)
    run = [sys.executable, "-m", "tests.viz.read.fuzz_traces", str(seed), str(count)]
    done = subprocess.run(
        [*run, str(program), str(program), str(trace)],
        capture_output=True,
        text=True,
        timeout=60 + SECONDS * count,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6000:]
