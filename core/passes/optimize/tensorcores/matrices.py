"""Opts for products of matrices on tensor cores: tiles of registers, several warps to a group.

Loops are upcast and unrolled before the instruction takes its part of them, so that the lanes of a
vector are neighbours in memory: which row, column or step of the sum a place of the instruction
stands for is free. Picks among the products that the opt TC can do (products.py); says no where
padding would waste too much of the work.
"""

from __future__ import annotations

from core.helpers import TC, TC_OPT, ceildiv, prod
from core.passes.optimize.kernel import Path
from core.passes.optimize.tensorcores.products import Product, products
from core.passes.optimize.tuner import Tuner, halves, size
from core.uop import UOp
from core.uop.kernelinfo import Opt, OptOps

MOST_WORK = 2.0
"""Multiplications that padding may make of one: tensor cores are several times as fast."""
FEW_WARPS = 256
"""Warps that keep the larger processors busy; below, a tile for each is worth more than a larger
tile for some."""
SPLIT_SUM = 8
"""Instructions of one sum from which several warps share it, where there are few warps."""


def for_tensor_cores(t: Tuner) -> bool:
    """Gives a product of matrices to tensor cores, if there is one and it is allowed; whether it
    was."""
    kernel = t.kernel
    if not TC or not kernel.target.tensor_cores:
        return False
    found = products(kernel, level=TC_OPT.value)
    p = next((p for p in found if p.work <= MOST_WORK), None)
    if p is None:
        return False
    places = kernel.path[p.m], kernel.path[p.n], kernel.path[p.k]
    warps = prod(ceildiv(size(r), dict(p.tiles).get(r, 1)) for r in t.outer)
    tile(t, p, warps)
    if not multiply(t, p, places):
        return False
    sums = [r for r in t.inner if size(r) >= SPLIT_SUM]
    if warps * 2 <= FEW_WARPS and sums:
        t.apply_largest(OptOps.GROUP, sums[-1], halves(SPLIT_SUM, 2))
    for place in places[:2]:
        loop = next((r for r in t.outer if part_of(t, r, place)), None)
        if loop is not None:
            t.apply_largest(OptOps.LOCAL, loop, (2,))
    return True


def tile(t: Tuner, p: Product, warps: int) -> None:
    """Upcasts columns and rows as far as registers and the number of warps allow, and unrolls the
    sum where that makes loads wider."""
    held = p.core.c.count
    for op, loop, amount in (
        (OptOps.UPCAST, p.n, p.core.n),
        (OptOps.UPCAST, p.m, p.core.m),
    ):
        room = min(t.kernel.target.registers // 2 // held, warps // FEW_WARPS)
        most = [n for n in (4, 2) if n <= room and fits(loop, n, amount)]
        taken = t.apply_largest(op, loop, most)
        held, warps = held * taken, warps // taken
    neighbours = 1 << sum(bit[0] == "k" for bit in p.core.a.elements)
    widest = t.kernel.target.vector_lanes(p.core.dtype_in)
    if 2 * neighbours <= widest and fits(p.k, 2, p.core.k):
        t.apply(OptOps.UNROLL, p.k, 2)


def multiply(t: Tuner, p: Product, places: tuple[Path, ...]) -> bool:
    """Applies TC to what is left of the loops of a product; whether that was allowed."""
    level, use = TC_OPT.value, TC.value
    for choice, found in enumerate(products(t.kernel, level=level)):
        loops = zip((found.m, found.n, found.k), places, strict=True)
        if found.core == p.core and all(part_of(t, loop, place) for loop, place in loops):
            return t.attempt(Opt(OptOps.TC, choice, (-1, level, use)))
    return False


def part_of(t: Tuner, loop: UOp, place: Path) -> bool:
    """Whether a loop is what is left of the one that had this place in the nest."""
    return t.kernel.path[loop][: len(place)] == place


def fits(loop: UOp, amount: int, tile: int) -> bool:
    """Whether taking `amount` iterations leaves as much work as before."""
    count = size(loop)
    return count % amount == 0 and count // amount % tile == 0
