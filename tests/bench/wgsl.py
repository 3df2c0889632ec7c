"""The WGSL of the demo's kernels: processor time to make one, beside PTX, and sizes; and how close
functions of floats on WEBGPU are, where it can be tested."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core import Tensor
from core.compile import compile_kernel
from core.target import targets
from core.uop import UOp
from tests.bench.measure import as_installed, table
from tests.on_targets.collect import ROOT, kernel_of, lines_of
from tests.webgpu_setup import missing

FUNCTIONS = {
    "sin": (1e-3, 1.0, 30.0, 1e5, 1e20, 1e37),
    "cos": (1e-3, 1.0, 30.0, 1e5, 1e20, 1e37),
    "exp2": (1e-3, 1.0, 30.0),
    "exp": (1e-3, 1.0, 20.0),
    "log2": (1e-3, 1.0, 1e20),
    "log": (1e-3, 1.0, 1e20),
    "sqrt": (1e-3, 1.0, 1e20),
    "tanh": (1e-3, 1.0, 5.0),
}
"""Scales of the normally distributed arguments of each."""
POSITIVE = ("log2", "log", "sqrt")


def kernels_of_the_demo() -> list[UOp]:
    """Their ASTs."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "tests.on_targets.collect", "demo", scratch]
        subprocess.run(command, cwd=ROOT, env=as_installed(), check=True, capture_output=True)
        return [kernel_of(line) for line in lines_of(Path(scratch)).values()]


def texts(title: str, kernels: Sequence[UOp], names: Sequence[str]) -> str:
    """The table of what it takes to make the texts of kernels for targets."""
    for ast in kernels:  # what all targets share is computed once, and kept
        compile_kernel(ast, targets["gfx1100"])
    rows: list[list[object]] = []
    for name in names:
        taken: list[float] = []
        sizes: list[int] = []
        for ast in kernels:
            start = time.process_time()
            text = compile_kernel(ast, targets[name]).source.text
            taken.append((time.process_time() - start) * 1000)
            sizes.append(len(text))
        middle, most = statistics.median(taken), max(taken)
        rows.append([name, len(kernels), f"{middle:.1f}", f"{most:.1f}", sum(sizes) // 1000])
    columns = ["target", "kernels", "ms of CPU, median", "most", "kB of text"]
    return table(title, columns, rows)


def figures() -> str:
    """Both tables."""
    made = texts("WGSL of the demo", kernels_of_the_demo(), ("webgpu", "sm_90"))
    lacks = missing()
    if lacks:
        return f"{made}\n\nFunctions on WEBGPU: not measured, there is not {lacks}"
    rows: list[list[object]] = [[name, f"{units(name):.2f}"] for name in FUNCTIONS]
    return made + "\n" + table("Functions on WEBGPU", ["function", "largest error, ulp"], rows)


def units(name: str) -> float:
    """The largest error of a function, in units in the last place."""
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(size=5000) * s for s in FUNCTIONS[name]])
    values = (np.abs(values) if name in POSITIVE else values).astype(np.float32)
    exact = getattr(np, name)(values.astype(np.float64))
    found = getattr(Tensor(values, device="WEBGPU"), name)().numpy()
    spacing = np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
    return float(np.max(np.abs(found - exact) / spacing))
