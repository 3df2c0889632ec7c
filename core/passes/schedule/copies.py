"""Copies, contiguous and outputs, once movement ops are views: what exactly is stored and copied.

A copy moves whole runs of memory, so views go after it, or the part that is needed is made
contiguous before it. Never decides about fusion.
"""

from __future__ import annotations

from core.passes.schedule.disk import is_disk
from core.passes.schedule.simplify.simplify_tensors import contiguous_of_stored, copy_of_constant
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

MEMORY = frozenset(
    {
        Ops.BUFFER,
        Ops.BUFFER_VIEW,
        Ops.CONTIGUOUS,
        Ops.COPY,
        Ops.ASSIGN,
        Ops.AFTER,
        Ops.OUTPUT,
    }
)
"""Nodes whose value is in memory."""


@rule(UPat(Ops.COPY, src=(UPat(Ops.VIEW, src=(UPat.var("x"),), name="v"), UPat(name="device"))))
def copy_of_view(v: UOp, x: UOp, device: UOp) -> UOp | None:
    """copy(view(x)) -> view(copy(x)), or copy(contiguous(view(x))) where that copies less"""
    whole = v.arg.contiguous and v.size == x.size
    if x.op is Ops.BUFFER and v.arg.consecutive and not whole and v.size < x.size:
        part = UOp(Ops.BUFFER_VIEW, x.dtype, (x,), (v.size, v.arg.views[0].offset))
        return part.copy_to_device(device.arg).reshape(v.shaped)
    if not whole and v.size < x.size and not is_disk(x.device):
        return v.contiguous().copy_to_device(device.arg)
    return x.copy_to_device(device.arg).view(v.arg)


@rule(UPat(Ops.CONTIGUOUS, src=(UPat(Ops.VIEW, src=(UPat.var("x"),), name="v"),)))
def contiguous_view(v: UOp, x: UOp) -> UOp | None:
    """contiguous(view(x)) -> view(x) where all of x is row-major memory already"""
    stored = x.op in MEMORY - {Ops.ASSIGN} or (x.op is Ops.ASSIGN and x.src[0].op is not Ops.VIEW)
    return v if stored and v.arg.contiguous and v.size == x.size else None


@rule(UPat(Ops.CONTIGUOUS, src=(UPat(Ops.VIEW, src=(UPat.var("x"),), name="v"),)))
def contiguous_of_disk(v: UOp, x: UOp) -> UOp | None:
    """contiguous(view(file)) -> that part of the file, where it is one run"""
    if not (is_disk(x.device) and x.op is Ops.BUFFER and v.arg.consecutive):
        return None
    return UOp(Ops.BUFFER_VIEW, x.dtype, (x,), (v.size, v.arg.views[0].offset)).reshape(v.shaped)


@rule(UPat(Ops.BITCAST, src=(UPat.var("x"),), name="b"))
def bitcast_memory(b: UOp, x: UOp) -> UOp | None:
    """bitcast(x) to elements of another size -> the memory of x, seen as that dtype"""
    old, new = x.dtype.itemsize, b.dtype.itemsize
    if x.shape is None or (old == new and not is_disk(x.device)):
        return None
    memory, start = x.base, 0
    run = x is memory or x.arg.consecutive
    if run and memory.op in (Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN, Ops.OUTPUT):
        return None  # it becomes a buffer, and then this rule is asked again
    if run and x is not memory:
        start = x.arg.views[0].offset
    if memory.op is Ops.BUFFER_VIEW:
        memory, start = memory.src[0], start + memory.arg[1]
    if not run or memory.op not in (Ops.BUFFER, Ops.AFTER) or start * old % new:
        return None if is_disk(x.device) else b.rebuild((x.contiguous(),))
    part = (x.size * old // new, start * old // new)
    return UOp(Ops.BUFFER_VIEW, b.dtype, (memory,), part).reshape(b.shaped)


@rule(UPat(Ops.SINK, name="sink"))
def store_outputs(sink: UOp) -> UOp | None:
    """sink(view(x)) -> sink(contiguous(view(x))) where storing x would not give the output"""
    whole = {s.base for s in sink.src if s.op is not Ops.VIEW or s.arg.size >= s.base.size}
    return _changed(sink, tuple(_output(s, whole) for s in sink.src))


def _output(value: UOp, whole: set[UOp]) -> UOp:
    base = value.base
    if base.op in (Ops.CONST, Ops.IOTA, Ops.BIND, Ops.DEFINE_VAR):
        return value.contiguous() if value.size else value
    if value.op is not Ops.VIEW or base.op in MEMORY:
        return value
    part = value.arg.masked or (value.size < base.size and base not in whole)
    return value.contiguous() if part else value


def _changed(node: UOp, src: tuple[UOp, ...]) -> UOp | None:
    return None if src == node.src else node.rebuild(src)


storage = PatternMatcher(
    [
        copy_of_view,
        copy_of_constant,
        contiguous_of_stored,
        contiguous_view,
        contiguous_of_disk,
        bitcast_memory,
        store_outputs,
    ],
    name="storage",
)
