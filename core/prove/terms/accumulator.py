"""Finds the loop behind a load of registers: what they begin with, and what each iteration adds.

Only loops of the form that reductions have: registers that are combined by one op with values that
do not depend on them. Never translates anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import ConstType, DType, PtrDType, dtypes
from core.uop import Ops, UOp
from core.uop.pointer import pointer_of


@dataclass(frozen=True)
class Accumulator:
    """Registers that are `start`, and then `op` of themselves and each of the `bodies`, in every
    iteration of the `loops`."""

    op: Ops
    start: UOp
    bodies: tuple[UOp, ...]
    loops: tuple[UOp, ...]


def accumulator(load: UOp) -> Accumulator | None:
    """The loop that a LOAD waits for, where it is of that form. The registers have to be
    initialized before the loop, in each iteration of every outer loop that the values depend on."""
    match load:
        case UOp(
            op=Ops.LOAD, src=(UOp(op=Ops.INDEX, src=(UOp(op=Ops.AFTER, src=after), *loaded)),)
        ):
            pass
        case _:
            return None
    match after:
        case (UOp(op=Ops.DEFINE_REG) as memory, UOp(op=Ops.END, src=(stored, *loops))):
            pass
        case _:
            return None
    match stored:
        case UOp(op=Ops.STORE, src=(UOp(op=Ops.INDEX, src=(inside, *at)) as place, update)):
            pass
        case _:
            return None
    match inside:
        case UOp(op=Ops.AFTER, src=(kept, UOp(op=Ops.STORE, src=(begun, start)) as first, *_)) if (
            kept is memory
        ):
            pass
        case _:
            return None
    if begun.op is not Ops.INDEX or pointer_of(begun) is not memory:
        return None
    if len(at) != 1 or any(other != tuple(at) for other in (tuple(loaded), begun.src[1:])):
        return None  # the elements initialized, updated and read are not known to be the same
    size = memory.dtype.size if isinstance(memory.dtype, PtrDType) else -1
    if size >= 0 and not 0 <= at[0].vmin <= at[0].vmax <= size - load.dtype.count:
        return None
    if start.dtype != load.dtype or update.dtype != load.dtype:
        return None
    op, bodies = update.op, list[UOp]()
    while update.op is op and len(update.src) == 2:
        bodies.insert(0, update.src[1])
        update = update.src[0]
    if update.op is not Ops.LOAD or update.src != (place,) or op not in _REDUCES:
        return None
    if any(place in body.toposort() for body in bodies):
        return None
    around = start.ranges.union(*(body.ranges for body in bodies)) - {*loops}
    if not around <= first.ranges or not first.ranges.isdisjoint(loops):
        return None
    if not place.ranges.issuperset(loops) or any(not i.ranges.isdisjoint(loops) for i in at):
        return None  # every iteration has to update the same element
    return Accumulator(op, start, tuple(bodies), tuple(loops))


def waits_for_loop(load: UOp) -> bool:
    """Whether a LOAD reads registers that a loop has updated."""
    place = load.src[0]
    after = place.src[0] if place.op is Ops.INDEX else place
    ended = after.op is Ops.AFTER and any(s.op is Ops.END for s in after.src[1:])
    return ended and pointer_of(after).op is Ops.DEFINE_REG


def neutral(op: Ops, dtype: DType) -> ConstType:
    """The identity element of the op. Written for the checks alone: it is not the table that the
    passes use."""
    return dtypes.min(dtype) if op is Ops.MAX else int(op is Ops.MUL)


_REDUCES = frozenset({Ops.ADD, Ops.MUL, Ops.MAX})
