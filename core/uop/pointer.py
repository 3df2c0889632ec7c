"""What an address is built on, and where it points.

Looks down the sources of an address; never makes a node.
"""

from __future__ import annotations

from typing import Final

from core.dtype import AddrSpace, PtrDType
from core.errors import DTypeError
from core.uop.ops import Ops
from core.uop.uop import UOp

_on_pointers: Final = frozenset({Ops.INDEX, Ops.ADDRESS, Ops.AFTER, Ops.CAST, Ops.VIEW, Ops.NOOP})


def pointer_of(u: UOp) -> UOp:
    """The DEFINE_* node that an address is built on."""
    while u.op in _on_pointers:
        u = u.src[0]
    return u


def address_space(u: UOp) -> AddrSpace:
    """Where an address points. Raises DTypeError where `u` is none."""
    if not isinstance(u.dtype, PtrDType):
        raise DTypeError(f"{u.op.name} of {u.dtype} is not an address")
    return u.dtype.addrspace


def parts_of_address(u: UOp) -> tuple[list[tuple[UOp, int]], int]:
    """(offsets and the bytes of one step of each, constant bytes) of an address: together they are
    how far it is from the start of its memory."""
    offsets: list[tuple[UOp, int]] = []
    constant = 0
    while u.op in _on_pointers:
        below = u.src[0]
        if u.op is Ops.INDEX:
            offsets.append((u.src[1], u.dtype.base.itemsize))
        elif u.op is Ops.ADDRESS:
            offsets += [(offset, u.arg) for offset in u.src[1:]]
            constant += 0 if len(u.src) > 1 else u.arg
        u = below
    return offsets, constant
