"""Axes of which only a first part counts, because their length is a variable.

Memory and shapes are those of the largest value. What lies behind the length is anything: reduces
leave it out, and a movement that would mix it with the rest is not possible. Works on any object
with the fields of a UOp; never creates a node.
"""

from __future__ import annotations

from typing import TypeAlias

from core.errors import ShapeError
from core.helpers import prod
from core.uop.facts.shapes import gradient_source
from core.uop.node import N, Node, Shape
from core.uop.ops import GroupOp, Ops

Lengths: TypeAlias = tuple[tuple[int, N], ...]
"""(axis, its length) for each axis whose length is a variable, first axes first."""


def lengths_of(u: N) -> Lengths[N]:
    """Those of `u`, whose sources must know theirs. Raises ShapeError where two lengths meet in one
    axis, and for a movement that needs to know what lies behind a length."""
    if not u.src:
        return ()
    if u.op is Ops.LENGTH:
        return _with_length(u)
    if u.op is Ops.GRADIENT:
        return () if (source := gradient_source(u)) is None else source.lengths
    if u.op in GroupOp.ALU or u.op is Ops.ASSIGN:
        return _met(u)
    if u.op is Ops.KERNEL and any(s.lengths for s in u.src):
        raise _impossible(u, "hand a kernel")
    lengths = u.src[0].lengths
    if not lengths or u.shape is None or u.op in (Ops.KERNEL, Ops.OUTPUT, Ops.SINK):
        return ()
    if u.op is Ops.REDUCE_AXIS:
        return tuple(pair for pair in lengths if pair[0] not in u.arg[1])
    if u.op is Ops.BITCAST:
        return _bitcast(u, lengths)
    if u.op is Ops.RESHAPE:
        return _reshaped(u, lengths)
    if u.op in GroupOp.Movement:
        return _moved(u, lengths)
    return lengths


def _with_length(u: N) -> Lengths[N]:
    x, n = u.src
    shape, axis = x.shaped, u.arg
    if not 0 <= axis < len(shape):
        raise ShapeError(f"axis {axis} of a value with {len(shape)} axes", hint=f"shape {shape}")
    known = dict(x.lengths)
    if n.op is Ops.CONST and n.arg == shape[axis]:
        return tuple(pair for pair in x.lengths if pair[0] != axis)
    least, most = n.bounds
    if least < 0 or most > shape[axis]:
        raise ShapeError(
            f"a length of {least} to {most} of an axis of {shape[axis]} elements",
            where=u.origin or "",
            hint=f"use a variable of at least 0 and at most {shape[axis]}",
        )
    if known.get(axis, n) is not n:
        raise _impossible(u, "give another length to")
    return tuple(sorted({**known, axis: n}.items(), key=lambda pair: pair[0]))


def _met(u: N) -> Lengths[N]:
    """Operands are shaped alike: a length of one holds for the result."""
    found: dict[int, N] = {}
    for s in u.src:
        for axis, n in s.lengths:
            if found.setdefault(axis, n) is not n:
                raise ShapeError(
                    f"{u.op.name} of values whose axis {axis} has two lengths",
                    where=u.origin or "",
                    hint="operands share the variable that an axis has as its length",
                )
    return tuple(sorted(found.items(), key=lambda pair: pair[0]))


def _bitcast(u: N, lengths: Lengths[N]) -> Lengths[N]:
    last = len(u.shaped) - 1
    if u.dtype.itemsize != u.src[0].dtype.itemsize and any(axis == last for axis, _ in lengths):
        raise _impossible(u, "bitcast to another size")
    return lengths


def _reshaped(u: N, lengths: Lengths[N]) -> Lengths[N]:
    """An axis stays where the same number of elements is before it and behind it."""
    old, new = u.src[0].shaped, u.shaped
    return tuple((_place(u, old, axis, new), n) for axis, n in lengths)


def _place(u: Node, old: Shape, axis: int, new: Shape) -> int:
    before = prod(old[:axis])
    for k, size in enumerate(new):
        if size == old[axis] and prod(new[:k]) == before:
            return k
    raise _impossible(u, "reshape")


def _moved(u: N, lengths: Lengths[N]) -> Lengths[N]:
    arg, shape = u.arg, u.src[0].shaped
    if u.op is Ops.PERMUTE:
        place = {old: new for new, old in enumerate(arg)}
        return tuple(sorted(((place[axis], n) for axis, n in lengths), key=lambda pair: pair[0]))
    kept: list[tuple[int, N]] = []
    for axis, n in lengths:
        if u.op is Ops.SHRINK and arg[axis][1] <= n.bounds[0]:
            continue  # all of it is there, whatever the length
        n_all = shape[axis]
        whole = {Ops.PAD: (0, 0), Ops.SHRINK: (0, n_all), Ops.FLIP: False, Ops.EXPAND: n_all}
        if u.op in whole and arg[axis] != whole[u.op]:
            raise _impossible(u, u.op.name.lower())
        kept.append((axis, n))
    return tuple(kept)


def _impossible(u: Node, what: str) -> ShapeError:
    return ShapeError(
        f"cannot {what} an axis whose length is a variable",
        where=u.origin or "",
        hint="elementwise operations, reduces, products and new orders of axes can be used on it",
    )
