"""Devectorize: vectors no wider than the target's arithmetic.

Where vectors are stored they are cut into pieces of the width that the target computes with, and
the choice of lanes moves down through the arithmetic to loads, registers and constants, so every
op is done piece by piece. A target with scalar arithmetic only keeps vectors where memory moves
them and where a matrix instruction takes them. Registers are read and written in the same pieces.
A product of several tiles of matrices is one product for each, and lanes of a warp exchange
single elements. Never changes what is loaded or
stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import AddrSpace, dtypes
from core.passes.address import gate_of
from core.passes.lanes import pick_of_elementwise, sink_lanes
from core.passes.vectors.products import one_tile_each
from core.target import Target
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.pointer import address_space


@dataclass(frozen=True)
class Width:
    """Lanes that arithmetic is done with in this kernel, for all dtypes alike."""

    lanes: int


def _part(place: UOp, at: int) -> UOp:
    """The address `at` elements after `place`."""
    if not at:
        return place
    offset = place.src[1]
    moved = offset.const_like(offset.arg + at) if offset.op is Ops.CONST else offset + at
    return place.src[0].index(moved, gate=gate_of(place))


@rule(UPat(Ops.STORE, src=(UPat(Ops.INDEX, name="place"), UPat.var("value")), name="store"))
def store_pieces(ctx: Width, store: UOp, place: UOp, value: UOp) -> UOp | None:
    """store(p, v) -> store(p, v[0 : w]), store(p + w, v[w : 2w]), ..."""
    count = value.dtype.count
    if count <= ctx.lanes:
        return None
    if ctx.lanes == 1 and address_space(place) is not AddrSpace.REG:
        if value.op not in GroupOp.Elementwise and not _from_registers(value):
            return None
        lanes = UOp.vectorize(*(value.gep(i) for i in range(count)))
        return store.rebuild((place, lanes))
    stores: list[UOp] = []
    for at in range(0, count, ctx.lanes):
        picks = tuple(range(at, min(at + ctx.lanes, count)))
        stores.append(store.rebuild((_part(place, at), value.gep(picks))))
    return UOp(Ops.GROUP, dtypes.void, tuple(stores))


@rule(UPat(Ops.GEP, src=(UPat(Ops.LOAD, src=(UPat(Ops.INDEX, name="place"),), name="load"),),
           name="gep"))  # fmt: skip
def register_pieces(ctx: Width, gep: UOp, load: UOp, place: UOp) -> UOp | None:
    """gep(load(registers), i) -> gep(load(the piece with i), i - start)"""
    if address_space(place) is not AddrSpace.REG or load.dtype.count <= ctx.lanes:
        return None
    starts = [i - i % ctx.lanes for i in gep.arg]
    found = {start: _piece(load, start, ctx.lanes) for start in starts}
    if len(found) == 1:
        return found[starts[0]].gep(tuple(i - starts[0] for i in gep.arg))
    return UOp.vectorize(
        *(found[start].gep(i - start) for i, start in zip(gep.arg, starts, strict=True))
    )


@rule(UPat(Ops.WMMA, src=(UPat(), UPat(), UPat()), name="w"))
def operand_lanes(ctx: Width, w: UOp) -> UOp | None:
    """wmma(f(a), b, c) -> wmma(vectorize(f(a[0]), f(a[1]), ...), b, c)"""
    return w.rebuild(tuple(_narrow(ctx, s) for s in w.src))


@rule(UPat(Ops.LOAD, src=(UPat.var("place"), UPat.var("other")), name="load"))
def alternative_lanes(ctx: Width, load: UOp, place: UOp, other: UOp) -> UOp:
    """load(p[i] if g, else f(a)) -> load(p[i] if g, else vectorize(f(a[0]), f(a[1]), ...))"""
    return load.rebuild((place, _narrow(ctx, other)))


def _narrow(ctx: Width, x: UOp) -> UOp:
    """What takes vectors of any width takes them of single lanes where arithmetic is narrower."""
    if x.op not in GroupOp.Elementwise or x.dtype.count <= ctx.lanes:
        return x
    return UOp.vectorize(*(x.gep(i) for i in range(x.dtype.count)))


@rule(UPat(Ops.SHUFFLE, src=(UPat.var("x"),), name="moved"))
def single_shuffles(moved: UOp, x: UOp) -> UOp | None:
    """shuffle(x) -> vectorize(shuffle(x[0]), shuffle(x[1]), ...)"""
    count = x.dtype.count
    if count == 1:
        return None
    dtype = x.dtype.scalar()
    return UOp.vectorize(
        *(UOp(Ops.SHUFFLE, dtype, (x.gep(i),), moved.arg, moved.tag) for i in range(count))
    )


@rule(UPat(Ops.GEP, src=(UPat(GroupOp.Elementwise, name="x"),), name="gep"))
def gep_of_wide(ctx: Width, gep: UOp, x: UOp) -> UOp | None:
    """gep(f(a, b), i) -> f(gep(a, i), gep(b, i)), but for half of what is one operation"""
    count = x.dtype.count
    if 1 < count <= ctx.lanes and 2 * len(gep.arg) == count:  # its lanes are being combined
        low = tuple(range(count // 2))
        if gep.arg == low or gep.arg == tuple(i + count // 2 for i in low):
            return None
    return pick_of_elementwise(gep, x)


def _from_registers(x: UOp) -> bool:
    return x.op is Ops.LOAD and address_space(x.src[0]) is AddrSpace.REG


def _piece(load: UOp, start: int, lanes: int) -> UOp:
    dtype = load.dtype.scalar().vec(min(lanes, load.dtype.count - start))
    return _part(load.src[0], start).load(dtype=dtype)


cutting = PatternMatcher(
    [
        one_tile_each,
        operand_lanes,
        alternative_lanes,
        store_pieces,
        register_pieces,
        single_shuffles,
    ],
    name="devectorize",
) + sink_lanes.changed((), {"gep_of_elementwise": gep_of_wide})


def devectorize(sink: UOp, target: Target) -> UOp:
    """The kernel with vectors that the target computes with."""
    vectors = [
        u.dtype for u in sink.toposort() if u.dtype.count > 1 and u.op in GroupOp.Elementwise
    ]
    vectors = [dtype for dtype in vectors if not dtypes.is_bool(dtype)]
    widest = max(vectors, key=lambda dtype: dtype.itemsize // dtype.count, default=dtypes.uint8)
    ctx = Width(target.alu_lanes(widest))
    return graph_rewrite(sink, cutting, ctx, bottom_up=True, name="devectorize")
