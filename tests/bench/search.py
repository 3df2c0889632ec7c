"""Kernels of the CPU with the opts of a beam search beside those chosen by default, in turn."""

from __future__ import annotations

import time
from typing import Final

from core import Tensor
from core.beam import searched
from core.runtime.reference.inputs import random_inputs
from core.uop import UOp
from core.uop.kernelinfo import Opt
from tests.bench.measure import table
from viz.whatif.results.inturn import in_turn
from viz.work.change import Change
from viz.workbench.sides import Side

WIDTH: Final = 4
SECONDS: Final = 60.0
"""Of each search."""


def figures() -> str:
    """The table."""
    e = Tensor.empty
    image = e(8, 16, 32, 32)
    cases: tuple[tuple[str, Tensor], ...] = (
        ("matrix product 64 x 96 x 80", e(64, 96) @ e(96, 80)),
        ("matrix product 512", e(512, 512) @ e(512, 512)),
        ("matrix times vector 1024", e(1024, 1024) @ e(1024)),
        ("sum of rows, 512 x 4096", e(512, 4096).sum(1)),
        ("sum of columns, 4096 x 512", e(4096, 512).sum(0)),
        ("transposed copy 1024", e(1024, 1024).transpose(0, 1).contiguous()),
        ("convolution 3 x 3, 16 to 32 channels", image.conv2d(e(32, 16, 3, 3))),
        ("x * 2 + 1, 1M", e(1 << 20) * 2 + 1),
    )
    rows = [_row(name, value.schedule()[-1].ast) for name, value in cases]
    head = ["kernel", "chosen, us", "searched, us", "time, searched over chosen",
            "programs", "search, s"]  # fmt: skip
    return table(f"Beam search, width {WIDTH}, on the CPU", head, rows)


def _row(name: str, ast: UOp) -> list[object]:
    begun = time.perf_counter()
    found, chosen = searched(ast, "CPU", WIDTH, SECONDS)
    took = time.perf_counter() - begun
    ratio = in_turn(_Launch(ast, chosen), _Launch(ast, found.opts))
    return [
        name,
        f"{ratio.old:,.1f}",
        f"{ratio.new:,.1f}",
        f"{ratio.ratio:.2f} ({ratio.low:.2f}..{ratio.high:.2f})",
        found.tried,
        f"{took:.0f}" + ("" if found.in_time else " (limit)"),
    ]


class _Launch:
    """Runs a kernel with opts once; seconds."""

    def __init__(self, ast: UOp, opts: tuple[Opt, ...]) -> None:
        self._side = Side(ast, "CPU", Change(opts))
        inputs = random_inputs(ast, most_bytes=1 << 30)
        self._side.fill([inputs.buffers[n] for n in sorted(inputs.buffers)])

    def __call__(self) -> float:
        begun = time.perf_counter()
        seconds = self._side.launch({})
        return time.perf_counter() - begun if seconds is None else seconds
