"""What a lane may be besides a value: a place in memory, or what is written to one. Only data."""

from __future__ import annotations

from typing import Final, NamedTuple

from core.prove.terms.node import Term
from core.uop import GroupOp, Ops, UOp

MEMORIES: Final = GroupOp.Defines | {Ops.BUFFER}
"""Nodes that are memory themselves, and not an address that is computed."""


class Axis(NamedTuple):
    """An axis of a shaped value, whose elements are accessed as those of memory are."""

    number: int
    size: int


class Address(NamedTuple):
    """A place in memory: the memory, the element, and whether it is accessed at all (None: it
    is)."""

    memory: object
    at: Term
    gate: Term | None


class Write(NamedTuple):
    """One element that is stored, for every iteration of some loops, the outermost first; `ends`:
    the END of each of them; `store`: the node that stores it, and others at once."""

    address: Address
    value: Term
    store: UOp
    loops: tuple[Term, ...] = ()
    ends: tuple[UOp, ...] = ()


Value = Term | Address | Write
