"""Two matrices of a view each, block by block through shared memory: what attention goes through.

Where the target copies asynchronously, the next block of both is on its way while a kernel computes
with the one before, and takes no registers; elsewhere a block is loaded when it is needed. Never
computes with what it loads.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.helpers import ceildiv
from core.tile.kernel import Kernel
from core.tile.sizes import Size, as_index, most
from core.tile.tiles import GL, ST
from core.uop.ops import Ops
from core.uop.uop import UOp

STAGES = 2
"""Blocks of each matrix that are in shared memory at once: one that is used, one on its way."""


def in_blocks(
    ker: Kernel, views: tuple[GL, GL], matrix: tuple[UOp, UOp], rows: int, count: Size,
    first: Size = 0,
) -> Iterator[tuple[UOp, ST, ST]]:  # fmt: skip
    """A loop over `count` blocks of `rows` rows of matrix (batch, depth) of both views, from block
    `first` on: (number of the block, its tile of the one, its tile of the other)."""
    start, later = as_index(first), _fits(ker, views, rows)
    held = [ker.st(v.dtype, (rows, most(v.shape[3])), STAGES if later else 1) for v in views]

    def tiles(step: UOp) -> tuple[ST, ST]:
        one, other = (tile[step % STAGES] if later else tile for tile in held)
        return one, other

    def fetch(step: UOp, block: UOp) -> None:
        for tile, view in zip(tiles(step), views, strict=True):
            ker.group.load(tile, view[*matrix, block, 0], asynchronous=later)

    if later:
        fetch(as_index(0), start)
    for step in ker.range(count):
        if later:
            ker.wait()
            fetch(step + 1, _after(step, count, start, views[0], rows))
        else:
            fetch(step, step + start)
        yield step + start, *tiles(step)


def _fits(ker: Kernel, views: tuple[GL, GL], rows: int) -> bool:
    """Whether blocks are copied asynchronously: of elements of 16 bits, since products of others
    need shared memory of their own, and where what is left has room for all stages."""
    wanted = sum(STAGES * rows * most(v.shape[3]) * v.dtype.itemsize for v in views)
    narrow = all(v.dtype.itemsize == 2 for v in views)
    return bool(ker.target.async_bytes) and narrow and wanted <= ker.shared_left


def _after(step: UOp, count: Size, first: UOp, view: GL, rows: int) -> UOp:
    """The block after that of a step. Behind the last one that is used, one that is outside of the
    view, so that nothing is read."""
    block = step + first + 1
    if as_index(count).simplify().op is Ops.CONST:
        return block
    return (step + 1 < count).where(block, block.const_like(ceildiv(most(view.shape[2]), rows)))
