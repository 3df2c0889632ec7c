"""Expand: UPCAST and UNROLL loops become lanes of vectors.

Such a range turns into an UNROLL of the constant 0, 1, ..., n - 1, and UNROLL moves up: an op with
an unrolled source is done on all lanes at once, its other sources repeated to fit. A value is only
as wide as the loops it depends on. CONTRACT, put where a reduce or store ends such a loop, takes
the lanes back. No UNROLL, CONTRACT, UPCAST or UNROLL range remains. Never changes a value; vectors
may be wider than any machine's (devectorize splits them).

A product of matrices (WMMA) over the loops of its operands' elements takes them as vectors and
gives its own elements as lanes. Lanes of its operands by other loops are further products.

Lanes lie in the order of the range numbers, the last one changing fastest. CONTRACT puts the lanes
of its axes first, so lane j of n of a result belongs with lanes j, j + n, ... of a reduce's source.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from core.dtype import dtypes
from core.helpers import prod
from core.target import Target
from core.tensor_cores import TensorCore
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.kernelinfo import AxisType

Axes = tuple[tuple[int, int], ...]
"""(range number, size), outermost first."""

_unrolled_kinds = (AxisType.UPCAST, AxisType.UNROLL)
_expandable = GroupOp.Elementwise | {Ops.INDEX, Ops.LOAD, Ops.STORE, Ops.REDUCE, Ops.GROUP}


def size_of(axes: Axes) -> int:
    """Lanes of all the axes together."""
    return prod(n for _, n in axes)


def lanes_of(wanted: Axes, have: Axes) -> tuple[int, ...]:
    """For each lane of `wanted`, the lane of a vector over `have` with the same coordinates."""
    out: list[int] = []
    for point in product(*(range(n) for _, n in wanted)):
        at: Mapping[int, int] = {number: i for (number, _), i in zip(wanted, point, strict=True)}
        lane = 0
        for number, n in have:
            lane = lane * n + at[number]
        out.append(lane)
    return tuple(out)


@rule(UPat((Ops.REDUCE, Ops.END), name="x"))
def contract_ended(x: UOp) -> UOp | None:
    """reduce(a, r, lanes l) -> reduce(contract(a, l), r)"""
    lanes = [r for r in x.src[1:] if r.op is Ops.RANGE and r.arg[1] in _unrolled_kinds]
    if not lanes:
        return None
    axes = tuple(sorted((r.arg[0], r.src[0].arg) for r in lanes))
    dtype = x.src[0].dtype
    wide = dtype if dtype is dtypes.void else dtype.vec(size_of(axes))
    body = UOp(Ops.CONTRACT, wide, (x.src[0],), axes)
    rest = tuple(r for r in x.src[1:] if r not in lanes)
    return body.end(*rest) if x.op is Ops.END else x.rebuild((body, *rest))


@rule(UPat(Ops.WMMA, name="w"))
def gather_operands(w: UOp) -> UOp | None:
    """wmma(a, b, lanes i, j, k) -> unroll(wmma(contract(a, i), contract(b, j), 0), k)"""
    core: TensorCore = w.arg
    if len(w.src) == 3 and w.src[2].op is not Ops.RANGE:
        return None
    loops = iter(w.src[2:])
    axes: list[Axes] = []
    for part in core.fragments:
        r = next(loops) if part.count > 1 else None
        axes.append(() if r is None else ((r.arg[0], r.src[0].arg),))
    src = [
        UOp(Ops.CONTRACT, s.dtype.vec(size_of(of)), (s,), of) if of else s
        for s, of in zip(w.src[:2], axes[:2], strict=True)
    ]
    held = w.dtype.vec(core.c.count)
    made = UOp(Ops.WMMA, held, (*src, UOp.const(held, 0)), core)
    return UOp(Ops.UNROLL, w.dtype, (made,), axes[2])


@rule(UPat(Ops.RANGE, name="r"))
def unroll_range(r: UOp) -> UOp | None:
    """range(n) as lanes -> unroll(0, 1, ..., n - 1)"""
    if r.arg[1] not in _unrolled_kinds:
        return None
    n = r.src[0].arg
    lanes = UOp.const(r.dtype.vec(n), tuple(range(n)))
    return UOp(Ops.UNROLL, r.dtype, (lanes,), ((r.arg[0], n),))


@rule(UPat(_expandable, name="x", early_reject=(Ops.UNROLL,)))
def expand_op(x: UOp) -> UOp | None:
    """f(unroll(a), b) -> unroll(f(a, b for each lane))"""
    unrolled = [s for s in x.src if s.op is Ops.UNROLL]
    if not unrolled:
        return None
    axes: Axes = tuple(sorted(set().union(*(s.arg for s in unrolled))))
    lanes = size_of(axes)
    src: list[UOp] = []
    for at, s in enumerate(x.src):
        if s.op is Ops.UNROLL:
            src.append(s.src[0] if s.dtype is dtypes.void else _lanes(s, axes))
        elif (
            s.dtype is dtypes.void
            or (s.op is Ops.RANGE and x.op is Ops.REDUCE and at > 0)
            or (x.op is Ops.INDEX and at == 0)
        ):
            src.append(s)
        else:
            src.append(s.broadcast(lanes))
    dtype = x.dtype
    if x.op is not Ops.INDEX and dtype is not dtypes.void:
        dtype = dtype.scalar().vec(dtype.count * lanes)
    return UOp(Ops.UNROLL, x.dtype, (UOp(x.op, dtype, tuple(src), x.arg, x.tag),), axes)


def _lanes(s: UOp, axes: Axes) -> UOp:
    """The vector under an UNROLL, its lanes repeated and ordered for `axes`; a lane may itself be
    a vector, whose elements then lie `lanes` apart."""
    inner, per_lane = s.src[0], s.dtype.count
    if s.arg == axes:
        return inner
    have, picks = size_of(s.arg), lanes_of(axes, s.arg)
    return inner.gep(tuple(k * have + pick for k in range(per_lane) for pick in picks))


@rule(UPat(Ops.WMMA, name="w", early_reject=(Ops.UNROLL,)))
def expand_product(w: UOp) -> UOp | None:
    """wmma(unroll(a), b, c) -> unroll(wmma(a, b for each lane, c for each lane))"""
    unrolled = [s for s in w.src if s.op is Ops.UNROLL]
    if not unrolled:
        return None
    axes: Axes = tuple(sorted(set().union(*(s.arg for s in unrolled))))
    lanes = size_of(axes)
    src = tuple(_lanes(s, axes) if s.op is Ops.UNROLL else _repeated(s, lanes) for s in w.src)
    return UOp(Ops.UNROLL, w.dtype, (w.replace(dtype=src[2].dtype, src=src),), axes)


def _repeated(s: UOp, lanes: int) -> UOp:
    """A vector with each element `lanes` times."""
    if s.op is Ops.CONST or s.dtype.count == 1:
        scalar = s if s.op is not Ops.CONST else UOp.const(s.dtype.scalar(), s.arg)
        return scalar.broadcast(lanes * s.dtype.count)
    return s.gep(tuple(i for i in range(s.dtype.count) for _ in range(lanes)))


@rule(UPat(Ops.UNROLL, src=(UPat(Ops.UNROLL, name="inner"),), name="outer"))
def unroll_unrolled(outer: UOp, inner: UOp) -> UOp:
    """unroll(unroll(x, r), l) -> unroll(x, l and r)"""
    return UOp(Ops.UNROLL, outer.dtype, inner.src, outer.arg + inner.arg)


@rule(UPat(Ops.CONTRACT, name="c"))
def contract_lanes(c: UOp) -> UOp:
    """contract(unroll(a, r and l), l) -> unroll(a, r)"""
    x = c.src[0]
    if c.dtype is dtypes.void:
        return _contract_order(c, x)
    if x.op is not Ops.UNROLL:
        return x.broadcast(size_of(c.arg))
    ended = dict(c.arg)
    rest: Axes = tuple(axis for axis in x.arg if axis[0] not in ended)
    known: Axes = tuple(axis for axis in c.arg if axis in x.arg)
    picks = lanes_of(known + rest, x.arg)
    if known != c.arg:  # the value is the same for every lane of an axis that it does not know
        spread = lanes_of(c.arg + rest, known + rest)
        picks = tuple(picks[i] for i in spread)
    inner = x.src[0].gep(picks) if picks != tuple(range(x.src[0].dtype.count)) else x.src[0]
    return UOp(Ops.UNROLL, c.dtype, (inner,), rest) if rest else inner


def _contract_order(c: UOp, x: UOp) -> UOp:
    if x.op is not Ops.UNROLL:
        return x
    rest = tuple(axis for axis in x.arg if axis not in c.arg)
    return UOp(Ops.UNROLL, dtypes.void, x.src, rest) if rest else x.src[0]


ending = PatternMatcher([contract_ended, gather_operands], name="expand: contract ended lanes")
expanding = PatternMatcher(
    [unroll_range, expand_op, expand_product, unroll_unrolled, contract_lanes], name="expand"
)


def expand(sink: UOp, target: Target) -> UOp:
    """The kernel with vectors in place of UPCAST and UNROLL loops."""
    sink = graph_rewrite(sink, ending, name="expand: contract ended lanes")
    return graph_rewrite(sink, expanding, name="expand")
