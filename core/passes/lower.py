"""Lower: a kernel's shaped values become loops, index arithmetic and single elements.

From each STORE an INDEX with one loop variable per output axis is pushed down to the loads: through
elementwise ops, through views as arithmetic, through reduces as new loops. A view's mask becomes a
gate on the loads below it and a choice of 0 above. Afterwards no node has a shape: there is no
VIEW, REDUCE_AXIS or IOTA. Never simplifies the arithmetic and never chooses how loops are run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from core.dtype import dtypes
from core.errors import CompileError
from core.passes.identities import identity
from core.passes.view_index import all_of, ravel, unravel, view_index
from core.target import Target
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.kernelinfo import AxisType


@dataclass
class Loops:
    """Makes the loops of one kernel: one set per output shape, new ones for each reduce."""

    numbers: Iterator[int] = field(default_factory=count)
    outer: dict[tuple[int, ...], tuple[UOp, ...]] = field(
        default_factory=lambda: dict[tuple[int, ...], tuple[UOp, ...]]()
    )

    def of_output(self, shape: tuple[int, ...]) -> tuple[UOp, ...]:
        """An index per axis of an output: a loop, or 0 where the axis has one element."""
        if shape not in self.outer:
            self.outer[shape] = tuple(self.loop(n, AxisType.LOOP) for n in shape)
        return self.outer[shape]

    def loop(self, size: int, kind: AxisType) -> UOp:
        """A new loop variable, or 0 for a loop of one iteration."""
        return UOp.range(size, next(self.numbers), kind) if size != 1 else zero


zero = UOp.const(dtypes.index, 0)


def element(value: UOp, idxs: tuple[UOp, ...], gate: UOp | None) -> UOp:
    """One element of a shaped value; what is loaded for it is 0 where `gate` is false."""
    return value.index(*idxs, gate=gate)


def pieces(x: UOp) -> tuple[UOp, tuple[UOp, ...], UOp | None]:
    """The value, the index per axis and the gate (a bool, always last) of an `element`."""
    value, *idxs = x.src
    gate = idxs.pop() if idxs and idxs[-1].dtype is dtypes.bool else None
    return value, tuple(idxs), gate


def _index_of(value: UPat) -> UPat:
    return UPat(Ops.INDEX, src=(value,), allow_any_len=True, name="x")


@rule(UPat(Ops.STORE, src=(UPat(Ops.VIEW, name="place"), UPat.var("value"))))
def store_in_loops(ctx: Loops, place: UOp, value: UOp) -> UOp:
    """view[...] = value -> for each index i: pointer[offset(i)] = value[i]"""
    idxs = ctx.of_output(place.arg.shape)
    offset, valid = view_index(place.arg, idxs)
    target = place.src[0].index(offset, gate=valid)
    return target.store(element(value, idxs, valid)).end(*(i for i in idxs if i.op is Ops.RANGE))


@rule(_index_of(UPat(GroupOp.Elementwise)))
def index_elementwise(x: UOp) -> UOp:
    """f(a, b)[i] -> f(a[i], b[i])"""
    value, idxs, gate = pieces(x)
    if value.op is Ops.BITCAST and value.dtype.itemsize != value.src[0].dtype.itemsize:
        raise CompileError(
            f"a bitcast from {value.src[0].dtype} to {value.dtype} inside a kernel",
            where=value.origin or "",
            hint="make the operand contiguous: only bitcasts between dtypes of one size are fused",
        )
    return value.rebuild(tuple(element(s, idxs, gate) for s in value.src))


@rule(_index_of(UPat((Ops.CONST, Ops.VCONST, Ops.DEFINE_VAR))))
def index_scalar(x: UOp) -> UOp:
    """c[i] -> c"""
    return x.src[0]


@rule(_index_of(UPat(Ops.IOTA)))
def index_iota(x: UOp) -> UOp:
    """iota(n)[i] -> i"""
    value, idxs, _ = pieces(x)
    return idxs[0].cast(value.dtype)


@rule(_index_of(UPat(Ops.LOAD, src=(UPat((Ops.VIEW, Ops.DEFINE_GLOBAL)),))))
def index_load(x: UOp) -> UOp:
    """load(view(p))[i] -> load p[offset(i)], or 0 where the view is masked"""
    value, idxs, gate = pieces(x)
    place = value.src[0]
    if place.op is Ops.VIEW:
        offset, valid = view_index(place.arg, idxs)
        gate, place = all_of(gate, valid), place.src[0]
    else:
        offset = ravel(idxs, value.shaped)
    if gate is None:
        return place.index(offset).load()
    return place.index(offset, gate=gate).load(UOp.const(value.dtype, 0))


@rule(_index_of(UPat(Ops.VIEW, src=(UPat.var("base"),))))
def index_view(x: UOp, base: UOp) -> UOp:
    """view(a)[i] -> a[j(i)] where i is valid, else 0"""
    value, idxs, gate = pieces(x)
    flat, valid = view_index(value.arg, idxs)
    inner = element(base, tuple(unravel(flat, base.shaped)), all_of(gate, valid))
    return inner if valid is None else valid.where(inner, 0)


@rule(_index_of(UPat(Ops.REDUCE_AXIS)))
def index_reduce(ctx: Loops, x: UOp) -> UOp:
    """reduce(a, axes)[i] -> reduce over new loops r of a[i with r at axes]"""
    value, idxs, gate = pieces(x)
    op, axes = value.arg
    shape = value.src[0].shaped
    if 0 in (shape[axis] for axis in axes):
        return UOp.const(value.dtype, identity(op, value.dtype))
    loops = [ctx.loop(shape[axis], AxisType.REDUCE) for axis in axes]
    inner = list(idxs)
    for axis, loop in zip(axes, loops, strict=True):
        inner[axis] = loop
    ranges = [loop for loop in loops if loop.op is Ops.RANGE]
    return element(value.src[0], tuple(inner), gate).reduce(op, *ranges)


lowering = PatternMatcher(
    [
        store_in_loops,
        index_load,
        index_elementwise,
        index_scalar,
        index_iota,
        index_view,
        index_reduce,
    ],
    name="lower",
)


def lower(sink: UOp, target: Target) -> UOp:
    """The kernel with loops and single elements in place of shapes."""
    stores = tuple(s for s in sink.src if s.src[0].size)
    return graph_rewrite(sink.rebuild(stores), lowering, Loops(), bottom_up=True, name="lower")
