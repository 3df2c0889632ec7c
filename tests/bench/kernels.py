"""Kernel times on the CPU beside NumPy, and the time that compiling a kernel takes."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from core import Tensor, TinyJit
from core.compile import compile_kernel
from core.passes.schedule import ScheduleItem, create_schedule
from core.realize import capturing, run_schedule
from core.toolchain.processor import host_target
from core.uop import Ops, UOp
from tests.bench.measure import side_by_side, spread, table

RUNS = 7


def seconds(function: Callable[[], object], times: int) -> float:
    """Seconds of one call, over `times` of them."""
    start = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - start) / times


def replayed(build: Callable[[], Tensor]) -> Callable[[], object]:
    """The kernels of `build`, as a function that runs them again."""
    with capturing() as items:
        keep = build().realize()
    kernels = [i for i in items if isinstance(i, ScheduleItem) and i.ast.op is Ops.SINK]
    return lambda: (run_schedule(kernels), keep)


def array(*shape: int) -> tuple[Tensor, np.ndarray]:
    """The same random values as a Tensor and as an array."""
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    return Tensor(values).realize(), values


def figures() -> str:
    """The tables."""
    (a, na), (b, nb) = array(512, 512), array(512, 512)
    v, nv = array(4_000_000)
    cases: list[tuple[str, Callable[[], object], Callable[[], object], int]] = [
        ("matrix product 512", replayed(lambda: a @ b), lambda: na @ nb, 20),
        ("x * 2 + 1, 4M", replayed(lambda: v * 2 + 1), lambda: nv * 2 + 1, 10),
        ("sum, 4M", replayed(lambda: v.sum()), lambda: nv.sum(), 10),
        ("softmax 512", replayed(lambda: a.softmax(1)), lambda: softmax(na), 20),
    ]
    rows: list[list[object]] = []
    for name, ours, numpys, times in cases:
        mine = [seconds(ours, times) for _ in range(RUNS)]
        ratios = side_by_side(
            lambda f=numpys, n=times: seconds(f, n), lambda f=ours, n=times: seconds(f, n), RUNS
        )
        rows.append([name, spread([m * 1e3 for m in mine]), spread(ratios)])
    text = table("Kernels on the CPU", ["kernel", "ms", "speed beside NumPy (1: as fast)"], rows)
    return "\n".join((text, replaying(), compiling(a, b)))


def softmax(x: np.ndarray) -> np.ndarray:
    """Along the last axis."""
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def replaying() -> str:
    """Time of a call that runs one small kernel again, where nothing waits for its memory."""

    @TinyJit
    def step(x: Tensor) -> Tensor:
        return (x + 1).realize()

    inputs = [Tensor([1.0, 2.0]).realize() for _ in range(2)]
    rows: list[list[object]] = []
    for name, chosen in (("the same input", inputs[:1]), ("two inputs in turn", inputs)):
        seconds(lambda xs=chosen: [step(x) for x in xs], 10)
        times = [seconds(lambda xs=chosen: [step(x) for x in xs], 2000) for _ in range(RUNS)]
        rows.append([name, spread([t * 1e6 / len(chosen) for t in times])])
    return table("Replay of one small kernel", ["input", "us"], rows)


def compiling(a: Tensor, b: Tensor) -> str:
    """Time from AST to machine code of a few kernels."""
    rows: list[list[object]] = []
    for name, value in (("relu(a @ b)", (a @ b).relu()), ("a + b", a + b), ("sum", a.sum())):
        asts = [item.ast for item in create_schedule(UOp.sink(value.uop))[0]]
        start = time.perf_counter()
        for ast in asts:
            compile_kernel(ast, host_target())
        rows.append([name, len(asts), f"{(time.perf_counter() - start) * 1e3:.0f}"])
    return table("Compiling, once each, nothing cached", ["program", "kernels", "ms"], rows)
