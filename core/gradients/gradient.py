"""Derivatives by reverse mode: one rule per op says how a gradient goes from a node to its sources.

`gradients` walks a Tensor graph from the root down and adds up what the rules give. A rule gets the
gradient of the node as `ctx` and returns one gradient per source, None for a source that has none.
Observers are told of each as a step of the pass `gradient` (gradientsteps.py). Never evaluates
anything: a gradient is a graph like any other, so it has gradients too.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from core.dtype import dtypes, sum_acc_dtype
from core.errors import GradientError
from core.gradients.gradientsteps import Steps, rules_in_force, tell
from core.gradients.kernelgradient import call_gradients, gradient_of_call
from core.helpers import argsort, ceildiv, prod
from core.uop.call.kernelcall import inputs_of_call
from core.uop.engine.errors import raised
from core.uop.engine.observe import attached
from core.uop.engine.origin import backward_of
from core.uop.ops import GroupOp, Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp, creating, line_of

Grads: TypeAlias = "tuple[UOp | None, ...]"

x, y, c, ret = UPat.var("x"), UPat.var("y"), UPat.var("c"), "ret"


def gradients(root: UOp, seed: UOp, targets: Iterable[UOp]) -> dict[UOp, UOp]:
    """The gradient of each target that `root` depends on differentiably, when that of `root` is
    `seed`. Raises GradientError for a node on the way that has no rule."""
    wanted = dict.fromkeys(targets)
    graph = root.toposort()
    leads: set[UOp] = set()  # nodes with a target among what they are differentiable functions of
    for u in graph:
        if u in wanted or any(s in leads for s in ways(u)):
            leads.add(u)
    found: dict[UOp, UOp] = {root: seed}
    observer = attached()
    if observer is not None and root in leads:  # where a gradient is stopped is a step, too
        leads |= {u for u in graph if u.op is Ops.DETACH and u.src[0] in leads}
    flow = partial(_flow_down, [*reversed(graph)], leads, wanted, found)
    if observer is None:
        flow(None)
    else:
        flows = partial(_flows_to, leads=leads)
        steps = Steps(observer, derivatives, (root, seed), reversed(graph), flows)
        tell(steps, wanted, found, flow)
    return {u: found[u] for u in wanted if u in found}


def _flow_down(
    users_first: Iterable[UOp],
    leads: Collection[UOp],
    wanted: Collection[UOp],
    found: dict[UOp, UOp],
    told: Steps | None,
) -> None:
    """Adds to `found` the gradients of nodes that lead to those that are wanted; only the latter
    stay."""
    outputs: dict[UOp, dict[UOp, UOp]] = {}  # gradients of the OUTPUTs of kernels written by hand
    saved = creating.origin
    try:
        for u in users_first:
            if u.op is Ops.OUTPUT and u in found and u in leads:
                kept = found[u] if u in wanted else found.pop(u)
                outputs.setdefault(u.src[0], {})[u] = kept
            elif u in outputs and u in leads:
                creating.origin = backward_of(line) if (line := line_of(u)) else saved
                _flow_through_call(u, outputs.pop(u), leads, found, told)
            elif u in found and any(s in leads for s in u.src):
                creating.origin = backward_of(line) if (line := line_of(u)) else saved
                grad = found[u] if u in wanted else found.pop(u)
                _flow(u, grad, leads, found, told)
    finally:
        creating.origin = saved


def ways(u: UOp) -> tuple[UOp, ...]:
    """The sources that the gradient of a node may flow on to."""
    if u.op is Ops.ASSIGN:
        return u.src[1:]
    flows = u.op is Ops.KERNEL or (dtypes.is_float(u.dtype) and u.op not in _FLAT)
    return u.src if flows else ()


def _flows_to(u: UOp, leads: Collection[UOp]) -> list[int]:
    """The numbers of the sources of `u` that its gradient flows on to."""
    if u.op in _FLAT and u.op is not Ops.DETACH:
        return []
    if u.op is Ops.DERIVATIVE:
        step = 2 if u.arg is None else 1
        return [at for at in range(1, len(u.src), step) if u.src[at] in leads]
    first = u.op is Ops.ASSIGN
    return [at for at, s in enumerate(u.src) if at >= first and s in leads]


def _flow(
    u: UOp, grad: UOp, leads: Collection[UOp], found: dict[UOp, UOp], told: Steps | None
) -> None:
    """Adds what `u` hands to its sources to what they already have."""
    for axis, n in u.lengths:
        if (axis, n) not in grad.lengths:
            grad = grad.length(axis, n)
    grads = _applied(u, grad) if told is None else told.rewrite(u, grad)
    if grads is None:
        raise GradientError(
            f"{u.op.name} has no gradient rule",
            where=u.origin or "",
            hint="detach() it, or add a rule to core/gradients/gradient.py",
        )
    _add(zip(u.src, grads, strict=False), leads, found)


def _applied(u: UOp, grad: UOp) -> Grads | None:
    """What the first rule gives that answers. Raises RuleError where its function fails."""
    for variant in rules_in_force(derivatives).candidates(u):
        try:
            made: Grads | None = variant.plain(u, grad)
        except Exception as error:
            raise raised(variant.rule, u, error) from error
        if made is not None:
            return made
    return None


def _flow_through_call(
    kernel: UOp,
    grads: Mapping[UOp, UOp],
    leads: Collection[UOp],
    found: dict[UOp, UOp],
    told: Steps | None,
) -> None:
    """The same for a kernel written by hand, of the gradients of its OUTPUTs."""
    made = [*zip(inputs_of_call(kernel), call_gradients(kernel, grads), strict=True)]
    if told is not None:
        told.called(gradient_of_call, kernel, grads, dict(made))
    _add(made, leads, found)


def _add(
    grads: Iterable[tuple[UOp, UOp | None]], leads: Collection[UOp], found: dict[UOp, UOp]
) -> None:
    """Adds gradients of nodes that lead to a target to what these already have."""
    for source, g in grads:
        if g is not None and source in leads:
            found[source] = found[source] + g if source in found else g


def summed(g: UOp, axes: tuple[int, ...]) -> UOp:
    """The sum over `axes`, accumulated as wide as sums of its dtype are. Signs are changed after
    it: so a sum that picks one element is seen to be one."""
    if g.op is Ops.NEG:
        return -summed(g.src[0], axes)
    return g.cast(sum_acc_dtype(g.dtype)).r(Ops.ADD, axes).cast(g.dtype)


_FLAT = frozenset(
    {
        Ops.DETACH,
        Ops.BITCAST,
        Ops.IDIV,
        Ops.MOD,
        Ops.AND,
        Ops.OR,
        Ops.XOR,
        Ops.SHL,
        Ops.SHR,
        Ops.THREEFRY,
        *GroupOp.Comparison,
    }
)
"""What no gradient flows through."""


@rule(UPat(_FLAT))
def no_gradient() -> Grads:
    """d(comparisons, integers, bits, detached) is not defined"""
    return ()


@rule(UPat(Ops.TRUNC))
def trunc(ctx: UOp) -> Grads:
    """d trunc(x) = 0"""
    return (ctx.const_like(0),)


@rule(UPat(Ops.CAST, src=(x,)))
def cast(ctx: UOp, x: UOp) -> Grads:
    """d cast(x) = cast(dx), where x is a float"""
    return (
        ctx.cast(x.dtype.base) if dtypes.is_float(x.dtype) and dtypes.is_float(ctx.dtype) else None,
    )


@rule(UPat(Ops.NEG))
def neg(ctx: UOp) -> Grads:
    """d(-x) = -dx"""
    return (-ctx,)


@rule(UPat(Ops.RECIPROCAL, name=ret))
def reciprocal(ctx: UOp, ret: UOp) -> Grads:
    """d(1/x) = -dx / x^2"""
    return (-ctx * ret * ret,)


@rule(UPat(Ops.SQRT, name=ret))
def sqrt(ctx: UOp, ret: UOp) -> Grads:
    """d sqrt(x) = dx / (2 sqrt(x))"""
    return (ctx / (ret * 2),)


@rule(UPat(Ops.EXP2, name=ret))
def exp2(ctx: UOp, ret: UOp) -> Grads:
    """d 2^x = 2^x ln(2) dx"""
    return (ctx * ret * math.log(2),)


@rule(UPat(Ops.LOG2, src=(x,)))
def log2(ctx: UOp, x: UOp) -> Grads:
    """d log2(x) = dx / (x ln(2))"""
    return (ctx * (1 / math.log(2)) / x,)


@rule(UPat(Ops.SIN, src=(x,)))
def sin(ctx: UOp, x: UOp) -> Grads:
    """d sin(x) = cos(x) dx"""
    return (ctx * x.cos(),)


@rule(UPat(Ops.COS, src=(x,)))
def cos(ctx: UOp, x: UOp) -> Grads:
    """d cos(x) = -sin(x) dx"""
    return (-ctx * x.sin(),)


@rule(UPat(Ops.ADD))
def add(ctx: UOp) -> Grads:
    """d(x + y) = dx + dy"""
    return ctx, ctx


@rule(UPat(Ops.SUB))
def sub(ctx: UOp) -> Grads:
    """d(x - y) = dx - dy"""
    return ctx, -ctx


@rule(UPat(Ops.MUL, src=(x, y)))
def mul(ctx: UOp, x: UOp, y: UOp) -> Grads:
    """d(x y) = y dx + x dy"""
    return ctx * y, ctx * x


@rule(UPat(Ops.MULACC, src=(x, y, c)))
def mulacc(ctx: UOp, x: UOp, y: UOp, c: UOp) -> Grads:
    """d(x y + c) = y dx + x dy + dc"""
    return ctx * y, ctx * x, ctx


@rule(UPat(Ops.FDIV, src=(x, y), name=ret))
def fdiv(ctx: UOp, x: UOp, y: UOp, ret: UOp) -> Grads:
    """d(x / y) = dx / y - x/y dy / y"""
    return ctx / y, -ctx * ret / y


@rule(UPat(Ops.POW, src=(x, y), name=ret))
def power(ctx: UOp, x: UOp, y: UOp, ret: UOp) -> Grads:
    """d(x^y) = y x^(y-1) dx + x^y ln(x) dy, with 0 dx for y = 0 and 0 dy for x = 0, y >= 0"""
    zero = ctx.const_like(0)
    base = y.eq(0).where(zero, ctx * y * x.alu(Ops.POW, y - 1))
    flat = x.eq(0) & ((y > 0) | y.eq(0))
    return base, flat.where(zero, ctx * ret * x.log2() * math.log(2))


@rule(UPat(Ops.MAX, src=(x, y)))
def maximum(ctx: UOp, x: UOp, y: UOp) -> Grads:
    """d max(x, y) = dx where x > y, dy where y > x, half of each where x = y, both where one is
    NaN"""
    shared, zero = x.eq(y).where(ctx * 0.5, ctx), ctx.const_like(0)
    return (x < y).where(zero, shared), (y < x).where(zero, shared)


@rule(UPat(Ops.WHERE, src=(c, x, y)))
def where(ctx: UOp, c: UOp) -> Grads:
    """d where(c, x, y) = where(c, dx, 0) + where(c, 0, dy)"""
    zero = ctx.const_like(0)
    return None, c.where(ctx, zero), c.where(zero, ctx)


@rule(UPat(Ops.REDUCE_AXIS, src=(x,), name=ret))
def reduce_axis(ctx: UOp, x: UOp, ret: UOp) -> Grads:
    """d sum(x) = sum(dx). d max(x): the mean of dx over the largest. d prod(x): the product of the
    other elements times dx, also where elements are 0."""
    op, axes = ret.arg
    wide = ctx.expand(x.shaped)
    if op is Ops.ADD:
        return (wide,)
    if op is Ops.MAX:
        largest = (x.eq(ret.expand(x.shaped)) | x.ne(x)).cast(ctx.dtype)
        return (largest * (ctx / summed(largest, axes)).expand(x.shaped),)
    return (wide * product_of_others(x, axes),)


_BLOCK = 32
"""Elements that are multiplied with a mask for each; longer products go in blocks of as many."""


def product_of_others(x: UOp, axes: tuple[int, ...]) -> UOp:
    """For each element, the product of those beside it along `axes`.

    No quotient: it is right beside zeros, and where the product of all overflows or underflows.
    """
    kept = [axis for axis in range(len(x.shaped)) if axis not in axes]
    order = (*kept, *axes)
    last = x.permute(order)
    flat = last.reshape((*(x.shaped[axis] for axis in kept), prod(x.shaped[axis] for axis in axes)))
    return _others(flat).reshape(last.shaped).permute(argsort(order))


def _others(x: UOp) -> UOp:
    """`product_of_others` along the last axis: in blocks, then of the products of blocks."""
    *rest, n = x.shaped
    if n <= _BLOCK:
        assert x.device is not None, "what has a gradient is somewhere"
        shape, places = (*rest, n, n), UOp.iota(n, dtypes.int32, x.device)
        rows, columns = places.reshape((n, 1)), places.reshape((1, n))
        itself = rows.expand((n, n)).eq(columns.expand((n, n)))
        square = x.reshape((*rest, 1, n)).expand(shape)
        mask = itself.reshape((*(1 for _ in rest), n, n)).expand(shape)
        others = mask.where(square.const_like(1), square).r(Ops.MUL, (len(shape) - 1,))
        return others.reshape(x.shaped)
    count = ceildiv(n, _BLOCK)
    widths = [(0, 0)] * len(rest) + [(0, count * _BLOCK - n)]
    there = x.const_like(1).pad(widths)
    padded = there.eq(0).where(there.const_like(1), x.pad(widths))
    blocks = padded.reshape((*rest, count, _BLOCK))
    beside = _others(blocks.r(Ops.MUL, (len(rest) + 1,)).reshape((*rest, count)))
    found = _others(blocks) * beside.reshape((*rest, count, 1)).expand(blocks.shaped)
    return found.reshape(padded.shaped).shrink((0, length) for length in x.shaped)


@rule(UPat(Ops.RESHAPE, src=(x,)))
def reshape(ctx: UOp, x: UOp) -> Grads:
    """d reshape(x, s) = reshape(dx, s)"""
    return (ctx.reshape(x.shaped),)


@rule(UPat(Ops.PERMUTE, name=ret))
def permute(ctx: UOp, ret: UOp) -> Grads:
    """d permute(x, p) = permute(dx, p)"""
    return (ctx.permute(argsort(ret.arg)),)


@rule(UPat(Ops.EXPAND, src=(x,), name=ret))
def expand(ctx: UOp, x: UOp, ret: UOp) -> Grads:
    """d expand(x, s) = the sum of dx over the repeated axes"""
    pairs = enumerate(zip(x.shaped, ret.shaped, strict=True))
    return (summed(ctx, tuple(axis for axis, (have, want) in pairs if have != want)),)


@rule(UPat(Ops.PAD, src=(x,), name=ret))
def pad(ctx: UOp, x: UOp, ret: UOp) -> Grads:
    """d pad(x, w) = the part of dx that is not padding"""
    sizes = zip(x.shaped, ret.arg, strict=True)
    return (ctx.shrink((before, before + n) for n, (before, _) in sizes),)


@rule(UPat(Ops.SHRINK, src=(x,), name=ret))
def shrink(ctx: UOp, x: UOp, ret: UOp) -> Grads:
    """d shrink(x, part) = dx with zeros around the part"""
    return (ctx.pad((start, n - end) for n, (start, end) in zip(x.shaped, ret.arg, strict=True)),)


@rule(UPat(Ops.FLIP, name=ret))
def flip(ctx: UOp, ret: UOp) -> Grads:
    """d flip(x, axes) = flip(dx, axes)"""
    return (ctx.flip(ret.arg),)


@rule(UPat(Ops.COPY, src=(x,), allow_any_len=True))
def copy(ctx: UOp, x: UOp) -> Grads:
    """d copy(x, device) = dx on the device of x"""
    device = x.device
    return (ctx if device is None else ctx.copy_to_device(device),)


@rule(UPat(Ops.MULTI, name=ret))
def multi(ctx: UOp, ret: UOp) -> Grads:
    """d multi(x, y) = the part of dx that belongs to each; where each is the whole value, it goes
    to the first one"""
    count = len(ret.src) if ret.arg is not None else 1
    return tuple(UOp(Ops.MSELECT, ctx.dtype, (ctx,), (i, ret.arg)) for i in range(count))


@rule(UPat(Ops.MSELECT, src=(x,), name=ret))
def mselect(ctx: UOp, x: UOp, ret: UOp) -> Grads:
    """d mselect(x, i) = dx as part i, and zeros in all others; of the whole value, dx everywhere"""
    number, axis = ret.arg
    assert isinstance(x.device, tuple), "a part is selected of several"
    if axis is None:
        known = ctx.op is Ops.MSELECT and ctx.arg == ret.arg and ctx.src[0].device == x.device
        return (ctx.src[0] if known else ctx.copy_to_device(x.device),)
    zeros = (UOp.full(ctx.shaped, 0, ctx.dtype, name) for name in x.device)
    return (UOp(Ops.MULTI, x.dtype, tuple(ctx if i == number else z for i, z in enumerate(zeros)),
                axis),)  # fmt: skip


@rule(UPat(Ops.DERIVATIVE, name=ret))
def derivative(ctx: UOp, ret: UOp) -> Grads:
    """d derivative(f, x, df/dx, ...) = df/dx dx + ...; with a function, what that makes of it"""
    if ret.arg is not None:
        return None, *ret.arg(ctx, ret.src[1:])
    grads: list[UOp | None] = [None]
    for slope in ret.src[2::2]:
        grads += [ctx * slope, None]
    return tuple(grads)


@rule(UPat(Ops.LENGTH, src=(x, UPat.var("n")), name=ret))
def length(ctx: UOp, x: UOp, n: UOp, ret: UOp) -> Grads:
    """d x of length n = i < n ? dx : 0"""
    inside = x.before(ret.arg, n).where(ctx, ctx.const_like(0))
    return inside.length(ret.arg, UOp.const(dtypes.index, x.shaped[ret.arg])), None


@rule(UPat(Ops.FUSE))
def fuse(ctx: UOp) -> Grads:
    """d fuse(x) = dx"""
    return (ctx,)


@rule(UPat(Ops.CONTIGUOUS))
def contiguous(ctx: UOp) -> Grads:
    """d contiguous(x) = dx"""
    return (ctx,)


@rule(UPat(Ops.CONTIGUOUS_BACKWARD))
def contiguous_backward(ctx: UOp) -> Grads:
    """d x = dx, stored"""
    return (ctx.contiguous(),)


@rule(UPat(Ops.ASSIGN))
def assign(ctx: UOp) -> Grads:
    """The memory's old values have no part in the result, the stored value has all of it."""
    return None, ctx


derivatives = PatternMatcher(
    [
        no_gradient,
        trunc,
        cast,
        neg,
        reciprocal,
        sqrt,
        exp2,
        log2,
        sin,
        cos,
        add,
        sub,
        mul,
        mulacc,
        fdiv,
        power,
        maximum,
        where,
        reduce_axis,
        reshape,
        permute,
        expand,
        pad,
        shrink,
        flip,
        copy,
        multi,
        mselect,
        derivative,
        length,
        fuse,
        contiguous,
        contiguous_backward,
        assign,
        gradient_of_call,
    ],
    name="derivatives",
)
