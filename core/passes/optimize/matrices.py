"""Opts for products of matrices on tensor cores: tiles of registers, several warps to a group.

Picks among the products that the opt TC can do (products.py); says no where padding would waste too
much of the work.
"""

from __future__ import annotations

from core.helpers import TC, TC_OPT, prod
from core.passes.optimize.products import Product, products
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
    choice = next((i for i, p in enumerate(found) if p.work <= MOST_WORK), None)
    if choice is None:
        return False
    p = found[choice]
    places = kernel.path[p.m], kernel.path[p.n]
    if not t.attempt(Opt(OptOps.TC, choice, (-1, TC_OPT.value, TC.value))):
        return False
    down, across = ((*place, 0) for place in places)
    tile(t, p, down, across)
    for place in (down, across):
        if (loop := at(t, place)) is not None:
            t.apply_largest(OptOps.LOCAL, loop, (2,))
    return True


def tile(t: Tuner, p: Product, down: tuple[int, ...], across: tuple[int, ...]) -> None:
    """Upcasts rows and columns of tiles as far as registers and the number of warps allow; where
    there are few warps, lets several share a sum."""
    held = p.core.c.count
    warps = prod(size(r) for r in t.outer)
    if warps * 2 <= FEW_WARPS:
        sums = [r for r in t.inner if size(r) >= SPLIT_SUM]
        if sums and t.apply_largest(OptOps.GROUP, sums[-1], halves(SPLIT_SUM, 2)) > 1:
            return
    for place in (across, down):
        if (loop := at(t, place)) is None:
            continue
        room = min(t.kernel.target.registers // 2 // held, warps // FEW_WARPS)
        amount = t.apply_largest(OptOps.UPCAST, loop, (n for n in (4, 2) if n <= room))
        held, warps = held * amount, warps // amount


def at(t: Tuner, place: tuple[int, ...]) -> UOp | None:
    """The loop over outputs that is left of the one with this place in the nest, if any is."""
    return next((r for r in t.outer if t.kernel.path[r][: len(place)] == place), None)
