"""What each pass for PTX guarantees, as predicates over the graph that it leaves.

They are written apart from the rules of the passes: a rule that declines where it must not is found
by what it leaves. Never changes a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import PtrDType, dtypes
from core.passes.contract import Guarantee, each
from core.passes.ptx.memory import Pointers
from core.target import Target
from core.uop import GroupOp, Ops, UOp

_BYTES: Final = (dtypes.int8, dtypes.uint8)
_OF_BOOLS: Final = frozenset({Ops.AND, Ops.OR, Ops.XOR})
_WIDENED: Final = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.NEG, Ops.IDIV, Ops.SHL})
"""Whose result may leave the 8 bits of its operands."""
_OF_HALVES: Final = GroupOp.Comparison | {
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.NEG, Ops.TRUNC, Ops.WHERE
}  # fmt: skip
_MOST_BYTES: Final = 16
_MOST_REGISTERS: Final = 4
_SHORT: Final = (dtypes.float16, dtypes.bfloat16, *dtypes.fp8s)


def _is_of_predicates(u: UOp, target: Target) -> bool:
    if u.op not in GroupOp.ALU or not all(dtypes.is_bool(s.dtype) for s in u.src):
        return True
    return u.op in _OF_BOOLS


def _is_of_16_bits(u: UOp, target: Target) -> bool:
    return u.op not in _WIDENED or u.dtype.scalar() not in _BYTES


def _is_short_amount(u: UOp, target: Target) -> bool:
    return u.op not in (Ops.SHL, Ops.SHR) or u.src[1].dtype.scalar() is dtypes.uint32


def _divides(u: UOp, target: Target) -> bool:
    if u.op not in (Ops.IDIV, Ops.MOD) or not dtypes.is_int(u.dtype):
        return True
    return u.arg is not None or u.src[1].vmin > 0 or u.src[1].vmax < 0


def _is_of_halves(u: UOp, target: Target) -> bool:
    dtype = u.src[-1].dtype.scalar() if u.op in GroupOp.ALU else None
    if dtype is dtypes.float16:
        return u.op in _OF_HALVES or (u.op is Ops.MAX and target.nan_max)
    if dtype is dtypes.bfloat16:
        return u.op is Ops.WHERE or (u.op is Ops.MULACC and target.supports(dtypes.bfloat16))
    return True


def _keeps_nan(u: UOp, target: Target) -> bool:
    if u.op is not Ops.MAX or not dtypes.is_float(u.dtype):
        return True
    return target.nan_max and u.dtype.scalar().bits < 64


def _is_of_numbers(u: UOp, target: Target) -> bool:
    if u.op not in (Ops.CAST, Ops.BITCAST) or isinstance(u.dtype, PtrDType):
        return True
    return not dtypes.is_bool(u.dtype) and not dtypes.is_bool(u.src[0].dtype)


def _is_one_cast(u: UOp, target: Target) -> bool:
    if u.op is not Ops.CAST or isinstance(u.dtype, PtrDType):
        return True
    source, result = u.src[0].dtype.scalar(), u.dtype.scalar()
    if source is dtypes.bfloat16:
        return False
    if result is dtypes.bfloat16:
        return source is dtypes.float32 and target.converts(dtypes.bfloat16)
    if dtypes.is_int(result):
        if source is dtypes.float16:
            return False
        if dtypes.is_float(source) and 64 in (source.bits, result.bits):
            return u.arg is not None
        if result in _BYTES and dtypes.is_int(source):
            return source.bits <= 16
    return True


def _wide_move(nodes: Sequence[UOp], target: Target) -> UOp | None:
    """The first LOAD or STORE of what no one instruction moves."""
    pointers = _pointers(nodes)
    for u in nodes:
        if u.op not in (Ops.LOAD, Ops.STORE) or u.src[0].op is not Ops.INDEX:
            continue
        dtype = u.dtype if u.op is Ops.LOAD else u.src[1].dtype
        if pointers.in_registers(u.src[0]):
            if u.op is Ops.LOAD and dtype.count > 1:
                return u
            continue
        scalar = dtype.scalar()
        wide = dtype.itemsize > _MOST_BYTES or dtype.count > _MOST_REGISTERS
        packed = dtype.count > 1 and scalar.itemsize == 2
        if dtypes.is_bool(scalar) or wide or packed:
            return u
    return None


def _is_predicated(u: UOp, target: Target) -> bool:
    return u.op is not Ops.LOAD or u.src[0].op is not Ops.INDEX or len(u.src[0].src) == 2


def _takes_words(u: UOp, target: Target) -> bool:
    if u.op is Ops.WMMA:
        return u.src[0].dtype.scalar() is dtypes.uint32
    return u.op is not Ops.LDMATRIX or u.dtype.scalar() is dtypes.uint32


def _in_elements(nodes: Sequence[UOp], target: Target) -> UOp | None:
    """The first INDEX of memory: an address in elements."""
    pointers = _pointers(nodes)
    return next((u for u in nodes if u.op is Ops.INDEX and not pointers.in_registers(u)), None)


def _is_bits(u: UOp, target: Target) -> bool:
    return u.op is not Ops.CONST or u.dtype.count > 1 or u.dtype not in _SHORT


def _pointers(nodes: Sequence[UOp]) -> Pointers:
    return Pointers.of(nodes[-1])


PREDICATES: Final = each("what is done with two bools is AND, OR or XOR", _is_of_predicates)
IN_16_BITS: Final = each("integers of 8 bits are computed with in 16", _is_of_16_bits)
SHIFTS: Final = each("a shift is by an amount of 32 bits without a sign", _is_short_amount)
DIVISIONS: Final = each("what divides is not 0", _divides)
HALVES: Final = each("an operation on floats of 16 bits is one that PTX has", _is_of_halves)
MAXIMA: Final = each("a MAX gives NaN where an operand is", _keeps_nan)
NO_BOOLS: Final = each("no cast from or to bool", _is_of_numbers)
CASTS: Final = each("a cast is one instruction", _is_one_cast)
MOVES: Final[Guarantee[Target]] = Guarantee("a LOAD or STORE is one instruction", _wide_move)
GATES: Final = each("the gate of a LOAD is none of its address", _is_predicated)
WORDS: Final = each("products of matrices take words", _takes_words)
ADDRESSES: Final[Guarantee[Target]] = Guarantee("addresses in memory are in bytes", _in_elements)
BITS: Final = each("constants of 16 bits and fewer are bits", _is_bits)
