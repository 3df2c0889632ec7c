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
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.bench import torch_models
from tests.bench.measure import table

SECONDS = float(os.environ.get("BENCH_SECONDS", "0.4"))
"""For each side of a row."""
ROWS = os.environ.get("BENCH_ROWS", "")
"""Text that the names of the measured rows contain."""

CHANCE = int(os.environ.get("BENCH_CHANCE", "0"))
"""Rows of shapes picked by chance, besides the others; 50 are enough for a mean."""
CHANCE_SEED = 27

Function = Callable[..., Any]
Row = tuple[str, list[tuple[int, ...]], Function, Function]
Named = tuple[str, list[tuple[int, ...]], tuple[Function, Function]]


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


def both(f: Function) -> tuple[Function, Function]:
    """What is written alike here and there."""
    return f, f


def _rows(F: Any) -> list[Row]:
    """By name: shapes of the inputs, what is measured here, and there."""

    def linear(x: Any, w: Any, b: Any) -> Any:
        return (x @ w.transpose(0, 1) + b).relu()

    def conv(stride: int = 1, padding: int = 1, groups: int = 1) -> tuple[Function, Function]:
        return (
            lambda x, w: x.conv2d(w, stride=stride, padding=padding, groups=groups),
            lambda x, w: F.conv2d(x, w, stride=stride, padding=padding, groups=groups),
        )

    named: list[Named] = [
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
        *_of_models(F, conv, linear),
        *_by_chance(Random(CHANCE_SEED), CHANCE, conv, linear),
    ]
    return [(name, shapes, *functions) for name, shapes, functions in named if ROWS in name]


def _of_models(
    F: Any, conv: Callable[..., tuple[Function, Function]], linear: Function
) -> list[Named]:
    """Layers of ResNet-18, ResNet-50 and GPT-2 small."""
    convolutions = (  # channels, size of the image, of the filter, stride
        (3, 64, 224, 7, 2), (64, 128, 56, 3, 2), (128, 128, 28, 3, 1), (256, 256, 14, 3, 1),
        (512, 512, 7, 3, 1), (64, 256, 56, 1, 1), (256, 512, 56, 1, 2), (1024, 256, 14, 1, 1),
        (512, 2048, 7, 1, 1),
    )  # fmt: skip
    named: list[Named] = [
        (
            f"conv {k}x{k} {i} to {o}, 1x{i}x{size}x{size}, stride {stride}",
            [(1, i, size, size), (o, i, k, k)],
            conv(stride, k // 2),
        )
        for i, o, size, k, stride in convolutions
    ]
    for m, n, k in (
        (128, 2304, 768), (128, 768, 768), (128, 3072, 768), (128, 768, 3072), (1, 50257, 768),
        (4, 1000, 2048),
    ):  # fmt: skip
        named.append((f"linear {m}x{k} by {n}x{k}", [(m, k), (n, k), (n,)], both(linear)))
    return [
        *named,
        (
            "attention 1x12x128x64, causal",
            [(1, 12, 128, 64)] * 3,
            (
                lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True),
                lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            ),
        ),
        (
            "layernorm 128x768",
            [(128, 768)],
            (lambda x: x.layernorm(), lambda x: F.layer_norm(x, (768,))),
        ),
        ("softmax 1536x128", [(1536, 128)], both(lambda x: x.softmax(-1))),
        (
            "max_pool2d 3, stride 2, 1x64x112x112",
            [(1, 64, 112, 112)],
            (lambda x: x.max_pool2d((3, 3), stride=2), lambda x: F.max_pool2d(x, 3, 2)),
        ),
        ("mean of images, 4x2048x7x7", [(4, 2048, 7, 7)], both(lambda x: x.mean((2, 3)))),
    ]


def _by_chance(
    rng: Random, count: int, conv: Callable[..., tuple[Function, Function]], linear: Function
) -> Iterator[Named]:
    """Rows of shapes picked by chance, of each kind as many."""

    def size(low: int, high: int) -> int:
        return round(low * (high / low) ** rng.random())

    for at in range(count):
        a, b, c = (size(8, 600) for _ in range(3))
        i, o, s, k = size(3, 128), size(8, 128), size(8, 64), rng.choice((1, 3, 5))
        rows: list[Named] = [
            (f"{a}x{c} by {c}x{b}", [(a, c), (c, b)], both(lambda x, y: x @ y)),
            (f"linear {a}x{c} by {b}x{c}", [(a, c), (b, c), (b,)], both(linear)),
            (f"conv {k}x{k} {i} to {o}, {s}x{s}", [(1, i, s, s), (o, i, k, k)], conv(1, k // 2)),
            (f"softmax {a}x{b}", [(a, b)], both(lambda x: x.softmax(-1))),
            (f"sum of rows {a}x{b}", [(a, b)], both(lambda x: x.sum(1))),
        ]
        name, shapes, functions = rows[at % len(rows)]
        yield f"chance {at}: {name}", shapes, functions


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
