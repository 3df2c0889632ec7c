"""Whether a replacement reads outside of memory where what it replaces does not.

What is read where a gate is dropped may be thrown away again: the values are equal then, but the
read is not allowed. The same holds for an element of a value beyond its shape. A place below a cut
is unknown, and is taken to be allowed. Never decides whether values are equal.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from core.dtype import PtrDType, dtypes
from core.prove.terms.accumulator import accumulator
from core.prove.terms.places import MEMORIES, Address, Axis
from core.prove.terms.term import Term, Terms
from core.uop import Ops, UOp

OUTSIDE: Final = "reads outside of memory where the other does not"
BELOW: Final = "new reads lie too deep to be looked into"
ANEW: Final = "something is written for the value"
_INT: Final = dtypes.int64
_READS: Final = frozenset({Ops.LOAD, Ops.INDEX})


def leaving(terms: Terms, before: Sequence[Address], after: Sequence[Address]) -> list[Term]:
    """Conditions that must never hold: a place of `after` lies outside of its memory, and no place
    of `before` does. What surely never holds is left out."""
    own = [_outside(terms, place) for place in after if place not in before]
    wrong = [condition for condition in own if condition is not None]
    if not wrong:
        return []
    false = allowed = terms.const(dtypes.bool, False)
    for place in before:
        if (condition := _outside(terms, place)) is not None:
            allowed = terms.alu(Ops.OR, dtypes.bool, (allowed, condition))
    found = [terms.both(condition, terms.negated(allowed)) for condition in dict.fromkeys(wrong)]
    return [condition for condition in found if condition is not false]


def writes_anew(before: UOp, after: UOp) -> bool:
    """Whether something is written for the value of the second node alone. Registers that a loop
    updates are part of the value; a kernel that is called stores in memory of its own."""
    nodes = after.toposort(lambda u: u.op is not Ops.KERNEL)
    stores = {u for u in nodes if u.op is Ops.STORE}
    if stores:
        stores -= {*before.toposort()}
    if stores:
        loads = [u for u in nodes if u.op is Ops.LOAD and accumulator(u) is not None]
        stores -= {s for u in loads for s in u.toposort() if s.op is Ops.STORE}
    return bool(stores)


def inside(terms: Terms, places: Sequence[Address]) -> Term | None:
    """That no place is accessed outside of its memory; None where none ever is."""
    found = [out for place in places if (out := _outside(terms, place)) is not None]
    return terms.both(*map(terms.negated, dict.fromkeys(found))) if found else None


def new_reads(before: UOp, after: UOp) -> set[UOp]:
    """What only the second of two nodes reads, and the addresses of that."""
    return {u for u in after.toposort() if u.op in _READS} - {*before.toposort()}


def below(reads: set[UOp], after: UOp, cut: Collection[UOp]) -> bool:
    """Whether some of the reads of a node lie below a cut."""
    return bool(reads) and not reads <= {*after.toposort(lambda u: u not in cut)}


def _outside(terms: Terms, place: Address) -> Term | None:
    """The condition that a place is accessed and lies outside of its memory; None: it never
    does."""
    size = _size(place.memory)
    if size is None or (place.at.low >= 0 and place.at.high < size):
        return None
    low = terms.alu(Ops.CMPLT, dtypes.bool, (place.at, terms.const(_INT, 0)))
    high = terms.alu(Ops.CMPLT, dtypes.bool, (terms.const(_INT, size - 1), place.at))
    out = terms.alu(Ops.OR, dtypes.bool, (low, high))
    return terms.both(out, place.gate)


def _size(memory: object) -> int | None:
    """The elements of memory, or of an axis; None where that is not known."""
    if isinstance(memory, Axis):
        return memory.size
    while isinstance(memory, UOp) and memory.op is Ops.AFTER:
        memory = memory.src[0]
    if not isinstance(memory, UOp) or memory.op not in MEMORIES:
        return None
    size = memory.dtype.size if isinstance(memory.dtype, PtrDType) else -1
    return size if size >= 0 else None
