"""Kernels and warm steps beside PyTorch's eager mode: the same arrays, in one process, in turn.

PyTorch is in the environment of the conformance tests (`make .venv/.conformance`), where this
starts itself. With one thread, and with as many as there are cores.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench import torch_models
from tests.bench.measure import table

SECONDS = float(os.environ.get("BENCH_SECONDS", "0.4"))
"""For each side of a row."""
ROWS = os.environ.get("BENCH_ROWS", "")
"""Text that the names of the measured rows contain."""

Function = Callable[..., Any]
Row = tuple[str, list[tuple[int, ...]], Function, Function]


def figures() -> str:
    """The table."""
    python = Path(sys.prefix) / "conformance" / "bin" / "python"
    if importlib.util.find_spec("torch") is not None:
        python = Path(sys.executable)
    elif not python.exists():
        return "torch: not installed (`make .venv/.conformance` installs it)\n"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    columns = [_measured_apart(str(python), threads) for threads in (1, cores)]
    rows: list[list[object]] = []
    for name, (ours, theirs) in columns[0].items():
        more, others = columns[1][name]
        rows.append([
            name, f"{ours:.1f}", f"{theirs:.1f}", f"**{ours / theirs:.2f}**",
            f"{more:.1f}", f"{others:.1f}", f"**{more / others:.2f}**",
        ])  # fmt: skip
    means = [
        math.exp(sum(math.log(a / b) for a, b in column.values()) / len(column))
        for column in columns
    ]
    rows.append(["geometric mean", "", "", f"{means[0]:.2f}", "", "", f"{means[1]:.2f}"])
    header = ["float32", "us, one thread", "PyTorch", "ratio", f"us, {cores} threads", "PyTorch",
              "ratio"]  # fmt: skip
    return table("Beside PyTorch, captured against eager", header, rows)


def _measured_apart(python: str, threads: int) -> dict[str, tuple[float, float]]:
    done = subprocess.run(
        [python, "-m", "tests.bench.torch"],
        env={**os.environ, "CPU_THREADS": str(threads), "VIZ": "0"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return {name: tuple(both) for name, both in json.loads(done.stdout.splitlines()[-1])}


def _rows(F: Any) -> list[Row]:
    """By name: shapes of the inputs, what is measured here, and there."""

    def linear(x: Any, w: Any, b: Any) -> Any:
        return (x @ w.transpose(0, 1) + b).relu()

    def conv(stride: int = 1, padding: int = 1, groups: int = 1) -> tuple[Function, Function]:
        return (
            lambda x, w: x.conv2d(w, stride=stride, padding=padding, groups=groups),
            lambda x, w: F.conv2d(x, w, stride=stride, padding=padding, groups=groups),
        )

    both: Callable[[Function], tuple[Function, Function]] = lambda f: (f, f)
    named: list[tuple[str, list[tuple[int, ...]], tuple[Function, Function]]] = [
        ("matmul 64", [(64, 64), (64, 64)], both(lambda a, b: a @ b)),
        ("matmul 256", [(256, 256), (256, 256)], both(lambda a, b: a @ b)),
        ("matmul 1024", [(1024, 1024), (1024, 1024)], both(lambda a, b: a @ b)),
        ("matvec 1024", [(1024, 1024), (1024,)], both(lambda a, b: a @ b)),
        ("linear 32x512 by 512x512, bias, relu", [(32, 512), (512, 512), (512,)], both(linear)),
        ("conv 3x3 16 to 32, 8x16x32x32", [(8, 16, 32, 32), (32, 16, 3, 3)], conv()),
        ("conv 3x3 64 to 64, 2x64x56x56", [(2, 64, 56, 56), (64, 64, 3, 3)], conv()),
        ("conv 1x1 256 to 64, 2x256x28x28", [(2, 256, 28, 28), (64, 256, 1, 1)], conv(padding=0)),
        ("depthwise 3x3 64, 2x64x56x56", [(2, 64, 56, 56), (64, 1, 3, 3)], conv(groups=64)),
        (
            "attention 2x4x256x64",
            [(2, 4, 256, 64)] * 3,
            (
                lambda q, k, v: q.scaled_dot_product_attention(k, v),
                lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
            ),
        ),
        ("softmax 512x1024", [(512, 1024)], both(lambda x: x.softmax(-1))),
        (
            "layernorm 512x1024",
            [(512, 1024)],
            (lambda x: x.layernorm(), lambda x: F.layer_norm(x, (1024,))),
        ),
        ("gelu 1M", [(1 << 20,)], (lambda x: x.gelu(), lambda x: F.gelu(x, approximate="tanh"))),
        ("x*2+1, 4M", [(1 << 22,)], both(lambda x: x * 2 + 1)),
        ("sum of all, 4M", [(1 << 22,)], both(lambda x: x.sum())),
        ("sum of rows 4096x512", [(4096, 512)], both(lambda x: x.sum(1))),
        ("sum of columns 4096x512", [(4096, 512)], both(lambda x: x.sum(0))),
        (
            "transpose copy 2048",
            [(2048, 2048)],
            both(lambda x: x.transpose(0, 1).contiguous()),
        ),
        (
            "max_pool2d 2, 8x16x64x64",
            [(8, 16, 64, 64)],
            (lambda x: x.max_pool2d((2, 2)), lambda x: F.max_pool2d(x, 2)),
        ),
        ("small elementwise, 1000", [(1000,)], both(lambda x: x * 2 + 1)),
    ]
    return [(name, shapes, *functions) for name, shapes, functions in named if ROWS in name]


def _least(call: Callable[[], Any], seconds: float) -> float:
    """Seconds of the fastest call, several together where one is short."""
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    turns = max(1, min(1000, int(0.002 / max(once, 1e-7))))
    best, until = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        for _ in range(turns):
            call()
        best = min(best, (time.perf_counter() - start) / turns)
    return best


def _measured() -> list[tuple[str, tuple[float, float]]]:
    torch: Any = importlib.import_module("torch")
    core: Any = importlib.import_module("core")
    torch.set_num_threads(int(os.environ["CPU_THREADS"]))
    generator, found = np.random.default_rng(1), list[tuple[str, tuple[float, float]]]()
    with torch.no_grad():
        for name, shapes, ours, theirs in _rows(torch.nn.functional):
            arrays = [generator.standard_normal(s, dtype=np.float32) for s in shapes]
            mine = [core.Tensor(a).realize() for a in arrays]
            other = [torch.from_numpy(a) for a in arrays]
            jit = core.TinyJit(lambda *given, f=ours: f(*given).realize())
            for _ in range(4):
                result = jit(*mine)
            wanted = theirs(*other).numpy()
            np.testing.assert_allclose(result.numpy(), wanted, rtol=2e-3, atol=2e-3)
            times = [math.inf, math.inf]
            for _ in range(4):  # in turn
                times[0] = min(times[0], _least(partial(jit, *mine), SECONDS / 4))
                times[1] = min(times[1], _least(partial(theirs, *other), SECONDS / 4))
            found.append((name, (1e6 * times[0], 1e6 * times[1])))
    for name, here, there in torch_models.steps(torch) if ROWS in "step token" else ():
        for _ in range(4):
            here()
        times = [min(_least(step, SECONDS / 2) for _ in range(2)) for step in (here, there)]
        found.append((name, (1e6 * times[0], 1e6 * times[1])))
    return found


if __name__ == "__main__":
    print(json.dumps(_measured()))
