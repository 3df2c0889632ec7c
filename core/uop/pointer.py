"""What an address is built on, and where it points.

Looks down the sources of an address; never makes a node.
"""

from __future__ import annotations

from typing import Final

from core.dtype import TEXEL, AddrSpace, ImageDType, PtrDType, dtypes
from core.errors import DTypeError
from core.uop.ops import Ops
from core.uop.uop import UOp

_on_pointers: Final = frozenset({Ops.INDEX, Ops.ADDRESS, Ops.AFTER, Ops.CAST, Ops.VIEW, Ops.NOOP})


def pointer_of(u: UOp) -> UOp:
    """The DEFINE_* node that an address is built on."""
    while u.op in _on_pointers:
        u = u.src[0]
    return u


def image_of(u: UOp) -> ImageDType | None:
    """The image that an address is in; None in other memory."""
    return u.dtype.image if isinstance(u.dtype, PtrDType) else None


def plain_memory_of(pointer: UOp) -> UOp:
    """The memory of an image as elements in a row, as targets without images have it; other memory
    itself."""
    image = image_of(pointer)
    if image is None or pointer.op is not Ops.DEFINE_GLOBAL:
        return pointer
    kept = dtypes.float16 if image.bits == 16 else dtypes.float32
    return UOp(Ops.DEFINE_GLOBAL, kept.ptr(image.size), (), pointer.arg)


def texel_at(pointer: UOp, at: UOp, gate: UOp | None = None) -> UOp:
    """The address of a texel of an image at two coordinates: an INDEX with the argument TEXEL."""
    src = (pointer, at) if gate is None else (pointer, at, gate)
    return UOp(Ops.INDEX, pointer.dtype, src, TEXEL)


def is_texel(u: UOp) -> bool:
    """Whether an address is that of a texel at two coordinates."""
    return u.op is Ops.INDEX and u.arg == TEXEL


def coordinates_of(at: UOp) -> tuple[UOp, ...]:
    """The two coordinates of a texel, which are the offset of its address."""
    if at.op is Ops.VECTORIZE:
        return at.src
    values = at.arg if at.op is Ops.VCONST else (at.arg, at.arg)
    return tuple(UOp.const(at.dtype.scalar(), v) for v in values)


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
