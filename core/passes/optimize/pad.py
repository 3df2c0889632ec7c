"""Padding a loop: it runs longer, and the iterations beyond its end have no effect.

Loads whose address depends on the loop get a gate, reduces over it take their identity, stores
under it get a gate. Never changes a value that the loop had before.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.passes.address import gate_of
from core.passes.identities import identity
from core.passes.optimize.kernel import Kernel
from core.passes.optimize.tensorcores.products import before, operands
from core.passes.view_index import all_of
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.patterns.rule import Assumes


@dataclass(frozen=True)
class Padding:
    """The loop to pad and the longer one."""

    loop: UOp
    padded: UOp

    @property
    def inside(self) -> UOp:
        """Whether an iteration is one that the loop had before."""
        return self.padded < self.loop.src[0].arg

    def zero_beyond(self, x: UOp) -> UOp:
        """A value that is 0 in the iterations beyond the end, below its casts."""
        if (inner := before(x)) is not x:
            return x.rebuild((self.zero_beyond(x.src[0]),))
        loaded = inner.op is Ops.LOAD and self.loop in inner.src[0].src[1].ranges
        if loaded and (len(inner.src) == 1 or inner.src[1] is UOp.const(inner.dtype, 0)):
            return x  # its address gets a gate
        return self.inside.where(x, UOp.const(x.dtype, 0))


@rule(UPat(Ops.RANGE, name="r"), assumes=(Assumes.CONTEXT,))
def pad_range(ctx: Padding, r: UOp) -> UOp | None:
    """range(n) -> range(n rounded up)"""
    return ctx.padded if r is ctx.loop else None


@rule(UPat(Ops.INDEX, name="place"), assumes=(Assumes.CONTEXT,))
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


@rule(
    UPat(Ops.REDUCE, src=(UPat.var("x"),), allow_any_len=True, name="red"),
    assumes=(Assumes.CONTEXT,),
)
def pad_reduce(ctx: Padding, red: UOp, x: UOp) -> UOp | None:
    """reduce(x, r) -> reduce(x if r < n else identity, r)"""
    if ctx.loop not in red.src[1:]:
        return None
    ranges = (ctx.padded if r is ctx.loop else r for r in red.src[1:])
    return ctx.inside.where(x, identity(red.arg, x.dtype)).reduce(red.arg, *ranges)


@rule(UPat(Ops.REDUCE, name="red"), assumes=(Assumes.CONTEXT,))
def pad_product(ctx: Padding, red: UOp) -> UOp | None:
    """reduce(a * b, r) -> reduce((a if r < n else 0) * (b if r < n else 0), r)"""
    if ctx.loop not in red.src[1:] or not any(operands(red)):
        return None
    product = red.src[0] if red.src[0].op is Ops.MUL else red.src[0].src[0]
    made = product.rebuild(tuple(ctx.zero_beyond(x) for x in product.src))
    made = made if product is red.src[0] else red.src[0].rebuild((made,))
    ranges = (ctx.padded if r is ctx.loop else r for r in red.src[1:])
    return made.reduce(red.arg, *ranges)


padding = PatternMatcher(
    [pad_range, pad_address, pad_load, pad_reduce], name="optimize: pad a loop"
)
padding_products = PatternMatcher(
    [pad_range, pad_address, pad_load, pad_product, pad_reduce], name="optimize: pad a product"
)


def pad_loop(kernel: Kernel, loop: UOp, size: int, name: str, products: bool = False) -> UOp:
    """Makes `loop` one of `size` iterations, and returns that. With `products`, what a reduce
    multiplies is 0 beyond the end, rather than the product: it stays a product."""
    made = kernel.new_loop(size, loop.arg[1], kernel.path.pop(loop))
    ctx = Padding(loop, made)
    matcher = padding_products if products else padding
    kernel.sink = graph_rewrite(kernel.sink, matcher, ctx, bottom_up=True, name=name)
    return made
