"""Padding a loop: it runs longer, and the iterations beyond its end have no effect.

Loads whose address depends on the loop get a gate, reduces over it take their identity, stores
under it get a gate. Never changes a value that the loop had before.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.passes.address import gate_of
from core.passes.identities import identity
from core.passes.optimize.kernel import Kernel
from core.passes.view_index import all_of
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule


@dataclass(frozen=True)
class Padding:
    """The loop to pad and the longer one."""

    loop: UOp
    padded: UOp

    @property
    def inside(self) -> UOp:
        """Whether an iteration is one that the loop had before."""
        return self.padded < self.loop.src[0].arg


@rule(UPat(Ops.RANGE, name="r"))
def pad_range(ctx: Padding, r: UOp) -> UOp | None:
    """range(n) -> range(n rounded up)"""
    return ctx.padded if r is ctx.loop else None


@rule(UPat(Ops.INDEX, name="place"))
def pad_address(ctx: Padding, place: UOp) -> UOp | None:
    """p[i(r)] -> p[i(r)] if r < n"""
    gate = gate_of(place)
    if ctx.loop not in place.ranges or (gate is not None and ctx.padded in gate.ranges):
        return None
    return place.src[0].index(place.src[1], gate=all_of(gate, ctx.inside))


@rule(UPat(Ops.LOAD, src=(UPat(Ops.INDEX, src=(UPat(), UPat(), UPat())),), name="load"))
def pad_load(load: UOp) -> UOp:
    """load(p[i] if g) -> load(p[i] if g, else 0)"""
    return load.src[0].load(UOp.const(load.dtype, 0))


@rule(UPat(Ops.REDUCE, src=(UPat.var("x"),), allow_any_len=True, name="red"))
def pad_reduce(ctx: Padding, red: UOp, x: UOp) -> UOp | None:
    """reduce(x, r) -> reduce(x if r < n else identity, r)"""
    if ctx.loop not in red.src[1:]:
        return None
    ranges = (ctx.padded if r is ctx.loop else r for r in red.src[1:])
    return ctx.inside.where(x, identity(red.arg, x.dtype)).reduce(red.arg, *ranges)


padding = PatternMatcher(
    [pad_range, pad_address, pad_load, pad_reduce], name="optimize: pad a loop"
)


def pad_loop(kernel: Kernel, loop: UOp, size: int, name: str) -> None:
    """Makes `loop` one of `size` iterations."""
    made = kernel.new_loop(size, loop.arg[1], kernel.path.pop(loop))
    ctx = Padding(loop, made)
    kernel.sink = graph_rewrite(kernel.sink, padding, ctx, bottom_up=True, name=name)
