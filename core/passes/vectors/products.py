"""Rules for products of matrices (WMMA) whose vectors hold several tiles.

A WMMA of n tiles has operands n times as long as those of the instruction, its tiles side by side:
element e of tile t lies at e * n + t. Keeps every value, up to the order of a sum.
"""

from __future__ import annotations

from core.passes.lanes import gep_of_const, gep_of_gep
from core.tensor_cores import TensorCore
from core.uop import Ops, PatternMatcher, UOp, UPat, rule


def tiles_of(u: UOp) -> int:
    """How many tiles a WMMA multiplies."""
    return u.dtype.count // u.arg.c.count


def some_tiles(u: UOp, tiles: tuple[int, ...]) -> UOp:
    """The WMMA of some of the tiles."""
    have = tiles_of(u)
    core: TensorCore = u.arg
    counts = (part.count for part in core.fragments)
    src = tuple(
        s.gep(tuple(e * have + t for e in range(count) for t in tiles))
        for s, count in zip(u.src, counts, strict=True)
    )
    return UOp(Ops.WMMA, src[2].dtype, src, core, u.tag)


@rule(UPat(Ops.GEP, src=(UPat(Ops.WMMA, src=(UPat(), UPat(), UPat()), name="w"),), name="gep"))
def gep_of_products(gep: UOp, w: UOp) -> UOp | None:
    """gep(wmma(a, b, c), i) -> gep(wmma of the tiles that i is of, j)"""
    have = tiles_of(w)
    tiles = tuple(sorted({i % have for i in gep.arg}))
    if len(tiles) == have:
        return None
    place = {t: at for at, t in enumerate(tiles)}
    picks = tuple(i // have * len(tiles) + place[i % have] for i in gep.arg)
    return some_tiles(w, tiles).gep(picks)


@rule(UPat(Ops.ADD, src=[UPat.var("x"), UPat((Ops.WMMA, Ops.GEP), name="y")], name="total"))
def product_takes_sum(total: UOp, x: UOp, y: UOp) -> UOp | None:
    """x + wmma(a, b, c) -> wmma(a, b, c + x)"""
    w = y.src[0] if y.op is Ops.GEP else y
    count = w.dtype.count
    if w.op is not Ops.WMMA or len(w.src) != 3:
        return None
    picks = y.arg if y.op is Ops.GEP else tuple(range(count))
    if sorted(picks) != [*range(count)]:
        return None
    back = sorted(range(count), key=picks.__getitem__)
    c = w.src[2]
    more = x.gep(tuple(back))
    more = more if c.op is Ops.CONST and not c.arg else c + more
    return w.rebuild((*w.src[:2], more)).gep(picks)


absorbing = PatternMatcher(
    [gep_of_gep, gep_of_const, gep_of_products, product_takes_sum], name="products absorb sums"
)


@rule(UPat(Ops.WMMA, src=(UPat(), UPat(), UPat()), name="w"))
def one_tile_each(w: UOp) -> UOp | None:
    """wmma of n tiles -> vectorize(elements of n wmma of one tile)"""
    have = tiles_of(w)
    if have == 1:
        return None
    made = [some_tiles(w, (t,)) for t in range(have)]
    return UOp.vectorize(*(made[i % have].gep(i // have) for i in range(w.dtype.count)))
