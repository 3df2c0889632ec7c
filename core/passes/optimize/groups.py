"""Opts for devices with work groups: tensor cores, wide loads, register tiles, threads.

Reads how addresses move and never looks at what a value is computed from.
"""

from __future__ import annotations

from core.dtype import TEXEL
from core.helpers import prod
from core.passes.optimize.access import Access
from core.passes.optimize.tensorcores.matrices import for_tensor_cores
from core.passes.optimize.tuner import (
    Tuner,
    contiguous,
    halves,
    register_tile,
    reusable,
    size,
    unroll_small,
)
from core.uop import UOp
from core.uop.kernelinfo import OptOps


def for_groups(t: Tuner) -> None:
    """Tensor cores, else wide loads, register tiles and threads that are next to each other."""
    stores, loads = t.seen()
    if not stores or for_tensor_cores(t):
        return
    whole_texels(t, loads)
    outputs = prod(size(r) for r in t.outer)
    reduced = prod(size(r) for r in t.inner)
    few = outputs <= 4096 and reduced >= 64
    rows = reduced >= 32 and not reusable(t, loads) and any(contiguous(r, loads) for r in t.inner)
    if (few or rows) and group_reduce(t, loads, 256 if outputs <= 4096 else 32):
        return
    tile = bool(t.inner and reusable(t, loads))
    if t.inner:
        register_tile(t, loads, 1, 16)
        if t.inner and size(t.inner[-1]) % 4 == 0:
            t.apply(OptOps.UNROLL, t.inner[-1], 4)
        else:
            unroll_small(t)
    elif outputs >= 1 << 14:
        wide = t.kernel.target.vector_lanes(
            max((s.dtype for s in stores), key=lambda d: d.itemsize)
        )
        for loop in t.outer[::-1]:
            if all(s.stride(loop) == 1 for s in stores) and contiguous(loop, stores + loads):
                t.apply_largest(OptOps.UPCAST, loop, (n for n in (8, 4, 2) if n <= wide))
                break
    threads(t, stores, 256, 16 if tile else 256)


def whole_texels(t: Tuner, loads: list[Access]) -> None:
    """Loads texels as a whole: what goes along those of an image is four lanes."""
    for image in (a for a in loads if a.image):
        for op, loops in ((OptOps.UNROLL, t.inner), (OptOps.UPCAST, t.outer)):
            along = [r for r in loops if image.stride(r) == 1 and size(r) % TEXEL == 0]
            if along and t.apply(op, along[-1], TEXEL):
                break


def group_reduce(t: Tuner, loads: list[Access], most: int) -> bool:
    """Lets up to `most` threads of a work group reduce together; whether they could."""
    along = [r for r in t.inner if contiguous(r, loads)]
    loop = along[-1] if along else max(t.inner, key=size)
    top = not along
    if along and size(loop) >= 128 and size(loop) % 4 == 0:
        at = t.inner.index(loop)
        t.apply(OptOps.UNROLL, loop, 4)
        loop = t.inner[at]
    amounts = (16, 8) if top else halves(most, 8)
    grouped = t.apply_largest(OptOps.GROUPTOP if top else OptOps.GROUP, loop, amounts)
    if grouped > 1 and grouped < 256:
        stores, _ = t.seen()
        threads(t, stores, 256 // grouped)
    return grouped > 1


def threads(t: Tuner, stores: list[Access], most: int, along: int = 256) -> None:
    """Makes up to `most` threads a group: first up to `along` where stores are neighbours, then of
    the other loops."""
    order = sorted(t.outer, key=lambda r: (stores[0].stride(r) != 1, -t.outer.index(r)))
    for place, loop in enumerate(order):
        if place == 0 or (place == 1 and along < 64):
            loop = padded(t, loop, most if len(order) == 1 else 32)
        limit = min(most, along if place or len(order) == 1 else min(along, 64))
        amounts = [*halves(limit, 2), 3]
        most //= t.apply_largest(OptOps.LOCAL, loop, (n for n in amounts if n <= most))


def padded(t: Tuner, loop: UOp, to: int) -> UOp:
    """The loop, or a longer one where its length divides badly into threads."""
    if to < 32 or size(loop) <= 64 or any(size(loop) % n == 0 for n in (4, 8, 16, 32)):
        return loop
    at = t.outer.index(loop)
    return t.outer[at] if t.apply(OptOps.PADTO, loop, to if size(loop) > 16 * to else 32) else loop
