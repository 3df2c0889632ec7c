"""Writing to picked elements beside NumPy, and the gradient of an embedding beside PyTorch.

The same arrays, in one process, in turn; PyTorch is in the environment of the conformance tests, in
which this starts itself. A captured call writes in place, as NumPy does. Rows that differ in how
much is written say what a row costs, whatever the size of what it is written to.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core import Tensor, TinyJit
from core.runtime.device import Device
from tests.bench.measure import table

RUNS = 20
Array = np.ndarray[Any, Any]
Case = tuple[str, Callable[[], None], Callable[[], None], str]


def figures() -> str:
    """The table; without PyTorch all but its row."""
    python = Path(sys.prefix) / "conformance" / "bin" / "python"
    if importlib.util.find_spec("torch") is not None or not python.exists():
        return measured()
    code = "from tests.bench import scatter; print(scatter.measured())"
    done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def measured() -> str:
    """The table, measured in this process."""
    rows: list[list[object]] = []
    for name, ours, theirs, beside in (*_writes(), *_embeddings()):
        mine, others = _in_turn(ours, theirs)
        rows.append([name, f"{mine:.2f}", f"{others:.2f}", beside, f"**{mine / others:.2f}**"])
    header = ("written", "ms", "of the other", "which is", "ratio")
    return table("Writing to picked elements, CPU", header, rows)


def _in_turn(ours: Callable[[], None], theirs: Callable[[], None]) -> tuple[float, float]:
    """The least of both in milliseconds, after three runs of each that capture and warm up."""
    for _ in range(3):
        ours()
        theirs()
    times: tuple[list[float], list[float]] = [], []
    for _ in range(RUNS):
        for function, found in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            function()
            found.append((time.perf_counter() - start) * 1e3)
    return min(times[0]), min(times[1])


def _writes() -> list[Case]:
    rng = np.random.default_rng(1)
    cases: list[Case] = []
    for rows, columns, count in (
        (10_000, 100, 1_250),
        (10_000, 100, 5_000),
        (120_000, 100, 5_000),
        (120_000, 100, 20_000),
    ):
        start = rng.standard_normal((rows, columns), dtype=np.float32)
        places = rng.integers(0, rows, count).astype(np.int32)
        values = rng.standard_normal((count, columns), dtype=np.float32)
        for added in (False, True):
            how = "x[i] += v" if added else "x[i] = v"
            name = f"{how}, {count:,} of {rows:,} rows of {columns}"
            cases.append((name, *_one(start, places, values, added), "NumPy"))
    return cases


def _one(
    start: Array, places: Array, values: Array, added: bool
) -> tuple[Callable[[], None], Callable[[], None]]:
    x, kept = Tensor(start).realize(), start.copy()
    index, v = Tensor(places).realize(), Tensor(values).realize()

    @TinyJit
    def step(index: Tensor, v: Tensor) -> None:
        if added:
            x.assign(x.index_add(0, index, v))
        else:
            x[index] = v

    def mine() -> None:
        step(index, v)
        Device["CPU"].synchronize()

    def other() -> None:
        if added:
            np.add.at(kept, places, values)
        else:
            kept[places] = values

    return mine, other


def _embeddings() -> list[Case]:
    if importlib.util.find_spec("torch") is None:
        return []
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)
    rng = np.random.default_rng(2)
    start = rng.standard_normal((50_000, 256), dtype=np.float32)
    places = rng.integers(0, 50_000, 4_096)
    x, index = Tensor(start, requires_grad=True).realize(), Tensor(places).cast("int32").realize()
    other = torch.from_numpy(start.copy()).requires_grad_()
    named = torch.from_numpy(places)

    @TinyJit
    def step(index: Tensor) -> Tensor:
        (grad,) = x[index].square().sum().gradient(x)
        return grad.realize()

    def mine() -> None:
        step(index)
        Device["CPU"].synchronize()

    def theirs() -> None:
        other.grad = None
        torch.nn.functional.embedding(named, other).square().sum().backward()

    return [("gradient of an embedding, 4,096 rows of 50,000 x 256", mine, theirs, "PyTorch")]
