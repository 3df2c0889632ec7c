"""What an address is built on, and where it points.

Looks down the sources of an address; never makes a node.
"""

from __future__ import annotations

from core.dtype import AddrSpace, PtrDType
from core.errors import DTypeError
from core.uop.ops import Ops
from core.uop.uop import UOp


def pointer_of(u: UOp) -> UOp:
    """The DEFINE_* node that an address is built on."""
    while u.op in (Ops.INDEX, Ops.AFTER, Ops.CAST, Ops.VIEW, Ops.NOOP):
        u = u.src[0]
    return u


def address_space(u: UOp) -> AddrSpace:
    """Where an address points. Raises DTypeError where `u` is none."""
    if not isinstance(u.dtype, PtrDType):
        raise DTypeError(f"{u.op.name} of {u.dtype} is not an address")
    return u.dtype.addrspace
