"""Speeds of the shipped tile kernels on GPUs that have matrix instructions: products beside the
vendor's library and attention, forward and backward, beside PyTorch's (where PyTorch is installed
and has the GPU), all in one run.

`python -m tests.bench.tiles [DEVICE]`, or `python -m tests.bench tiles`. Says plainly where there
is no GPU. Figures are rates of the operations that the formulas count: attention is two products
forward and five backward, causal attention half of them.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.compile import compile_kernel
from core.dtype import PtrDType, dtypes
from core.runtime.base import ComputeDevice
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.discover import findings
from core.runtime.numeric import to_memory
from core.target import Target
from core.tile import kernels
from core.tile.kernels import AttentionShape
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.bench.gpu import RUNS, library_speed
from tests.bench.measure import machine, table
from tests.gpu.__main__ import gpus, missing, name_of

PRODUCTS = (2048, 4096, 8192)
TILES = ((64, 64, 32), (128, 128, 32))
ATTENTION = [(size, length, causal) for size in (64, 128) for length in (1024, 4096)
             for causal in (False, True)]  # fmt: skip
BATCH, HEADS = 4, 16


def seconds(ast: UOp, device: ComputeDevice, name: str) -> float:
    """Of one kernel on random numbers, by the GPU's clock: the median of RUNS."""
    assert device.target is not None
    arguments = sorted(
        (u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg
    )
    runner = device.load(compile_kernel(ast, device.target))
    buffers = [_filled(u, name) for u in arguments]
    found = [runner(buffers, {}, wait=True) or 0.0 for _ in range(RUNS + 3)]
    return statistics.median(found[3:])


def _filled(argument: UOp, name: str) -> Buffer:
    assert isinstance(argument.dtype, PtrDType)
    size, dtype = argument.dtype.size, argument.dtype.base
    memory = to_memory(np.random.default_rng(argument.arg).standard_normal(size), dtype)
    return Buffer(name, size, dtype).allocate().copyin(memory.data.cast("B"))


def product_rows(name: str, device: ComputeDevice) -> list[list[object]]:
    """Square products of float16, by the better of two sizes of tiles."""
    rows: list[list[object]] = []
    for n in PRODUCTS:
        ours = max(
            2 * n**3 / seconds(kernels.matmul(n, n, n, _target(device), tile=t), device, name)
            for t in TILES
        )
        rows.append([f"float16 {n}", *compared(ours, library_speed(name, n, dtypes.float16))])
    return rows


def attention_rows(name: str, device: ComputeDevice) -> list[list[object]]:
    """Forward, and forward and backward."""
    rows: list[list[object]] = []
    for size, length, causal in ATTENTION:
        shape = AttentionShape(BATCH, HEADS, length, size, causal)
        products = 4 * BATCH * HEADS * length * length * size / (2 if causal else 1)
        forward = seconds(kernels.attention(shape, _target(device)), device, name)
        parts = kernels.attention_backward(shape, _target(device))
        backward = sum(seconds(k, device, name) for k in (parts.delta, parts.queries))
        backward += min(seconds(k, device, name) for k in keys_kernels(shape, _target(device)))
        title = f"{size}, {length}{', causal' if causal else ''}"
        theirs = torch_attention(name, shape)
        for what, took, of, their in (
            ("forward", forward, 1.0, theirs and theirs[0]),
            ("backward", backward, 2.5, theirs and theirs[1]),
        ):
            rate = None if their is None else of * products / their
            rows.append([f"{title}, {what}", *compared(of * products / took, rate)])
    return rows


def keys_kernels(shape: AttentionShape, target: Target) -> list[UOp]:
    """That of the gradients of keys and values, with as many queries at once as there are by
    default and, where a warp has 32 lanes, with 16. The better counts."""
    columns = (shape.columns, 16) if target.wave <= 32 else (shape.columns,)
    return [kernels.attention_keys(replace(shape, columns=n), target) for n in columns]


def compared(ours: float, theirs: float | None) -> list[object]:
    """Both rates and their ratio."""
    if theirs is None:
        return [f"{ours / 1e12:.1f}", "", "no library here"]
    return [f"{ours / 1e12:.1f}", f"{theirs / 1e12:.1f}", f"{ours / theirs:.2f}"]


def torch_attention(name: str, shape: AttentionShape) -> tuple[float, float] | None:
    """Seconds of PyTorch's attention, forward and backward; None where it has no GPU."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch
    import torch.nn.functional as F

    if not torch.cuda.is_available():
        return None
    where = f"cuda:{int(name.partition(':')[2] or 0)}"
    sizes = shape.of_queries()
    q, k, v = (
        torch.randn(sizes, device=where, dtype=torch.float16, requires_grad=True) for _ in range(3)
    )
    grad = torch.randn(sizes, device=where, dtype=torch.float16)

    def forward() -> Any:
        return F.scaled_dot_product_attention(q, k, v, is_causal=shape.causal)

    out = forward()
    both = (forward, lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True))
    first, second = (_events(torch, f) for f in both)
    return first, second


def _events(torch: Any, function: Callable[[], object]) -> float:
    found: list[float] = []
    for _ in range(RUNS + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        function()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(found[3:])


def _target(device: ComputeDevice) -> Target:
    assert device.target is not None
    return device.target


def figures(chosen: Sequence[str] = ()) -> str:
    """The tables, of the devices named or of all GPUs that have matrix instructions; or why there
    are none."""
    return "\n".join(tables(chosen))


def tables(chosen: Sequence[str]) -> Iterator[str]:
    """The same, each as soon as it is measured."""
    found = findings()
    names = list(chosen) or gpus(found)
    if not names:
        yield "Tile kernels. " + missing(found).replace("checked", "measured")
    columns = ["TFLOP/s", "library's", "ratio"]
    for name in names:
        device = Device[name]
        yield f"{name} {name_of(name, found)}"
        if not _target(device).tensor_cores:
            yield "Tile kernels: not measured, it has no matrix instructions"
            continue
        products = product_rows(name, device)
        yield table("Tile kernels: matrix products", ["product", *columns], products)
        yield table(
            f"Tile kernels: attention of {BATCH} x {HEADS} matrices, float16",
            ["size of heads, length", *columns],
            attention_rows(name, device),
        )


def main(chosen: list[str]) -> int:
    """The exit status: 0 without a GPU, too."""
    print(machine() + "\n", flush=True)
    for text in tables(chosen):
        print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
