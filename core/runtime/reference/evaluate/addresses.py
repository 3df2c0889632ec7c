"""Addresses: which memory they are in, and which lanes they are still apart from the loops of.

While UPCAST and UNROLL loops become vectors, an address may be an UNROLL of a vector of addresses.
Evaluates nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp

aliases: Final = frozenset({Ops.AFTER, Ops.NOOP})
"""What stands for its first source."""


class Address(NamedTuple):
    """An INDEX, an ADDRESS or a DEFINE_*, and the (number, size) of the axes that elements of its
    offset are iterations of."""

    place: UOp
    lanes: tuple[tuple[int, int], ...]


def address_of(u: UOp) -> Address:
    """The address that a node is."""
    lanes: tuple[tuple[int, int], ...] = ()
    while u.op in aliases or u.op is Ops.UNROLL:
        lanes += u.arg if u.op is Ops.UNROLL else ()
        u = u.src[0]
    return Address(u, lanes)


def memory_of(u: UOp) -> UOp:
    """The DEFINE_* node that an address is built on."""
    return pointer_of(address_of(u).place)
