"""Operands: addresses are a register and a constant, in bytes; halves that are constant are bits.

`pointer + i * size` is one instruction, shared by all elements at a constant distance from each
other. An address that waits for something (AFTER) is computed before, and waited for where it is
used. Registers of a thread have no address.
"""

from __future__ import annotations

from typing import Final

from core.dtype import AddrSpace, dtypes
from core.passes.ptx.memory import Pointers
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.bits import to_bits
from core.uop.pointer import address_space, pointer_of

_LIMIT: Final = 1 << 31
"""Of the bytes that an instruction adds to a register."""
_codes: Final = {1: dtypes.uint8, 2: dtypes.uint16}


@rule(UPat(Ops.INDEX, src=(UPat.var("pointer"), UPat.var("i")), name="place"))
def address_in_bytes(ctx: Pointers, place: UOp, pointer: UOp, i: UOp) -> UOp | None:
    """p[i + c] -> (p + i * size) + c * size"""
    if ctx.in_registers(place):
        return None
    start = pointer_of(place)
    size = start.dtype.base.itemsize
    offset, constant = _parts(i)
    if not -_LIMIT <= constant * size < _LIMIT:
        offset, constant = i, 0
    address = start
    if offset is not None:
        # shared memory has addresses of 32 bits
        short = address_space(place) is AddrSpace.LOCAL and offset.dtype.bits == 64
        offset = offset.cast(dtypes.int32) if short else offset
        address = UOp(Ops.ADDRESS, start.dtype, (start, offset), size)
    waits = list[UOp]()
    while pointer is not start:  # an AFTER may stand on another one
        waits[:0] = pointer.src[1:]
        pointer = pointer.src[0]
    address = address.after(*dict.fromkeys(waits))
    if constant:
        address = UOp(Ops.ADDRESS, start.dtype, (address,), constant * size)
    return address


def _parts(i: UOp) -> tuple[UOp | None, int]:
    """(offset, constant) whose sum is `i`; None for an offset of 0."""
    if i.op is Ops.CONST:
        return None, i.arg
    if i.op is Ops.ADD and i.src[1].op is Ops.CONST:
        return i.src[0], i.src[1].arg
    return i, 0


@rule(UPat(Ops.CONST, (dtypes.float16, dtypes.bfloat16, *dtypes.fp8s), name="c"))
def half_as_bits(c: UOp) -> UOp | None:
    """the constant c: float16 -> its bits as uint16, moved to a register"""
    if c.dtype.count > 1:
        return None
    code = UOp.const(_codes[c.dtype.itemsize], to_bits(c.arg, c.dtype))
    return code.bitcast(c.dtype)


addressing = PatternMatcher([address_in_bytes, half_as_bits], name="operands")


def operands(sink: UOp, target: Target) -> UOp:
    """The kernel with operands of PTX."""
    return graph_rewrite(sink, addressing, Pointers.of(sink), name="ptx: operands")
