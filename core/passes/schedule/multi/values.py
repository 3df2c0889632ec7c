"""Values on several devices taken apart: what is computed from them becomes what each device
computes from its parts.

Along which axis a result is cut is decided in `core/uop/facts/shards.py`; operands that are cut
otherwise are cut anew. Movement has rules of its own (`movement.py`).
"""

from __future__ import annotations

from core.errors import DeviceError
from core.passes.schedule.multi.regions import multi, on, operand, parts, region
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule
from core.uop.call.parts import parts_of
from core.uop.facts.shapes import shown
from core.uop.facts.shards import all_of

_multi = UPat(Ops.MULTI, name="x")


@rule(UPat(Ops.BUFFER, src=(UPat(Ops.UNIQUE), UPat(Ops.DEVICE, name="d")), name="b"))
def memory_in_parts(b: UOp, d: UOp) -> UOp | None:
    """buffer on d0, d1 -> multi(buffer on d0, buffer on d1)"""
    if not isinstance(d.arg, tuple):
        return None
    own = parts_of(b)
    if not isinstance(b.arg, tuple):
        return multi(own, None)
    rows, columns = b.arg
    return multi([u.reshape((rows, columns // len(own))) for u in own], 1)


@rule(UPat((Ops.CONST, Ops.IOTA), src=(UPat(Ops.DEVICE, name="d"),), name="c"))
def constant_everywhere(c: UOp, d: UOp) -> UOp | None:
    """c on d0, d1 -> multi(c on d0, c on d1)"""
    if not isinstance(d.arg, tuple):
        return None
    return multi([c.replace(src=(UOp(Ops.DEVICE, arg=name),)) for name in d.arg], None)


@rule(UPat(GroupOp.Elementwise, name="u"))
def elementwise_in_parts(u: UOp) -> UOp | None:
    """f(multi(a, b), multi(c, d)) -> multi(f(a, c), f(b, d)), cut where the first operand is"""
    first = next((s for s in u.src if s.op is Ops.MULTI), None)
    if first is None:
        return None
    if u.op is Ops.BITCAST and u.dtype.itemsize != first.dtype.itemsize:
        return None  # another shape: movement
    operands = (operand(s, u.axis, len(first.src)) for s in u.src)
    return multi([u.rebuild(src) for src in zip(*operands, strict=True)], u.axis)


@rule(UPat(Ops.CONTIGUOUS, src=(_multi,), name="u"))
def contiguous_in_parts(u: UOp, x: UOp) -> UOp:
    """contiguous(multi(a, b)) -> multi(contiguous(a), contiguous(b))"""
    return multi([u.rebuild((part,)) for part in x.src], x.arg)


@rule(UPat(Ops.FUSE, src=(_multi,)))
def fuse_in_parts(x: UOp) -> UOp:
    """fuse(multi(a, b)) -> multi(fuse(a), fuse(b)): each device fuses what it computes itself"""
    return multi([part.fuse() for part in x.src], x.arg)


@rule(UPat(Ops.LENGTH, src=(_multi, UPat.var("n")), name="u"))
def length_in_parts(u: UOp, x: UOp, n: UOp) -> UOp:
    """length(multi(a, b), n) -> multi(length(a, n), length(b, n)); all of it on each device where
    the axis is the one that is cut"""
    own = parts(x, None) if x.arg == u.arg else x.src
    return multi([part.length(u.arg, n) for part in own], u.axis)


@rule(
    UPat(
        (Ops.DETACH, Ops.CONTIGUOUS_BACKWARD, Ops.NOOP, Ops.DERIVATIVE),
        src=(_multi,),
        allow_any_len=True,
    )
)
def forget_marks(x: UOp) -> UOp:
    """detach(multi) -> multi; derivative(multi, ...) -> multi: gradients are taken by now"""
    return x


@rule(UPat(Ops.REDUCE_AXIS, src=(_multi,), name="r"))
def reduce_in_parts(r: UOp, x: UOp) -> UOp:
    """reduce(multi(a, b)) -> multi(reduce(a), reduce(b)); along the axis that is cut, these are
    combined: allreduce(reduce(a), reduce(b)) on each device"""
    own = [r.rebuild((part,)) for part in x.src]
    if x.arg not in r.arg[1]:
        return multi(own, x.arg)
    if own[0].size == x.src[0].size:
        # nothing is added here: a product would be rounded where it is copied, and not where it is
        # fused into the sum, so that devices would have other bits
        own = [part.contiguous() for part in own]
    combined = UOp(Ops.ALLREDUCE, r.dtype, tuple(own), r.arg[0])
    several = range(len(own))
    return multi([UOp(Ops.MSELECT, r.dtype, (combined,), (i, None)) for i in several], None)


@rule(UPat(Ops.ASSIGN, src=(UPat(Ops.MULTI, name="t"), UPat.var("x")), name="a"))
def assign_in_parts(a: UOp, t: UOp, x: UOp) -> UOp:
    """assign(multi(t, u), multi(a, b)) -> multi(assign(t, a), assign(u, b)), cut as the target"""
    pairs = zip(t.src, operand(x, t.arg, len(t.src)), strict=True)
    return multi([a.rebuild(pair) for pair in pairs], t.arg)


@rule(UPat(Ops.COPY, src=(_multi, UPat(Ops.DEVICE, name="d"))))
def copy_parts(x: UOp, d: UOp) -> UOp:
    """copy(multi(a, b), d) -> the parts copied to d, joined; to as many other devices: multi of
    copies; to more or fewer: all of it to each"""
    if isinstance(d.arg, str):
        return region(x, all_of(x.shaped), d.arg)
    if len(d.arg) != len(x.src) or x.arg is None:
        return multi([region(x, all_of(x.shaped), name) for name in d.arg], None)
    return multi([on(part, name) for part, name in zip(x.src, d.arg, strict=True)], x.arg)


@rule(UPat(Ops.COPY, src=(UPat.var("x"), UPat(Ops.DEVICE, name="d"))))
def copy_to_each(x: UOp, d: UOp) -> UOp | None:
    """copy(x, d0 and d1) -> multi(copy(x, d0), copy(x, d1))"""
    if not isinstance(d.arg, tuple) or x.op is Ops.MULTI:
        return None
    return multi([on(x, name) for name in d.arg], None)


@rule(UPat(Ops.MSELECT, src=(_multi,), name="s"))
def selected_part(s: UOp, x: UOp) -> UOp:
    """mselect(multi(a, b), 1) -> b"""
    number, axis = s.arg
    return parts(x, axis)[number]


@rule(UPat(Ops.KERNEL, src=UPat(), name="k"))
def refuse_kernels(k: UOp) -> UOp | None:
    """kernel(multi) is no kernel: those written by hand run on one device"""
    several = next((s for s in k.src if s.op is Ops.MULTI), None)
    if several is None:
        return None
    raise DeviceError(
        f"a kernel written by hand would run on {shown(several.device)} at once",
        where=k.origin or "",
        hint="call it on one device: move its inputs there with .to(device)",
    )


taking_apart = PatternMatcher(
    [
        memory_in_parts,
        constant_everywhere,
        elementwise_in_parts,
        contiguous_in_parts,
        fuse_in_parts,
        length_in_parts,
        forget_marks,
        reduce_in_parts,
        assign_in_parts,
        copy_parts,
        copy_to_each,
        selected_part,
        refuse_kernels,
    ],
    name="multi: values",
)
