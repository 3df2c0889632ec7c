"""What each pass for WGSL guarantees, as predicates over the graph that it leaves.

They are written apart from the rules of the passes: a rule that declines where it must not is found
by what it leaves. Never changes a graph.
"""

from __future__ import annotations

from typing import Final

from core.dtype import PtrDType, dtypes
from core.passes.contract import each
from core.target import Target
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning import UNLESS_NAN

_NARROW: Final = (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16)
_WIDE: Final = (dtypes.int64, dtypes.uint64)
_LEAVING: Final = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.NEG, Ops.IDIV, Ops.SHL})
"""Whose result may leave the bits of its operands."""


def _is_in_32_bits(u: UOp, target: Target) -> bool:
    return u.op not in _LEAVING or u.dtype.scalar() not in _NARROW


def _shifts_within(u: UOp, target: Target) -> bool:
    if u.op not in (Ops.SHL, Ops.SHR) or u.dtype.scalar() in _WIDE:
        return True
    return u.src[1].dtype is dtypes.uint32 and u.src[1].vmax < 32


def _divides(u: UOp, target: Target) -> bool:
    if u.op not in (Ops.IDIV, Ops.MOD) or not dtypes.is_int(u.dtype):
        return True
    return u.arg is not None or u.src[1].vmin > 0 or u.src[1].vmax < 0


def _has_no_sign(u: UOp, target: Target) -> bool:
    if u.op is not Ops.MOD or u.dtype.scalar() in _WIDE or not dtypes.is_int(u.dtype):
        return True
    return dtypes.is_unsigned(u.dtype) or all(s.vmin >= 0 for s in u.src)


def _keeps_nan(u: UOp, target: Target) -> bool:
    if u.op is Ops.MAX:
        return not dtypes.is_float(u.dtype)
    if u.op is Ops.CAST and u.src[0].dtype.scalar() is dtypes.float32:
        if u.dtype.scalar() in (dtypes.int32, dtypes.uint32):
            return u.arg == UNLESS_NAN
        return not dtypes.is_bool(u.dtype)
    compares = u.op in (Ops.CMPNE, Ops.CMPEQ) and dtypes.is_float(u.src[0].dtype)
    return not (compares and u.src[0] is u.src[1])


def _is_known(u: UOp, target: Target) -> bool:
    return u.dtype.base.scalar() is not dtypes.float64


def _is_of_pairs(u: UOp, target: Target) -> bool:
    if u.op not in GroupOp.ALU and u.op is not Ops.CAST:
        return True
    if isinstance(u.dtype, PtrDType) or not any(s.dtype.scalar() in _WIDE for s in (u, *u.src)):
        return True
    return u.op in (Ops.IDIV, Ops.MOD) and u.dtype is dtypes.uint64


def _has_near_index(u: UOp, target: Target) -> bool:
    return u.op is not Ops.INDEX or u.src[1].dtype.scalar() not in _WIDE


IN_32_BITS: Final = each("narrow integers are computed with in 32 bits", _is_in_32_bits)
SHIFTS: Final = each("a shift is by fewer than 32 bits, without a sign", _shifts_within)
DIVISIONS: Final = each("what divides is not 0", _divides)
REMAINDERS: Final = each("a remainder is of operands without a sign", _has_no_sign)
NANS: Final = each("what asks for a NaN looks at bits", _keeps_nan)
NO_FLOAT64: Final = each("no float64", _is_known)
PAIRS: Final = each("no arithmetic of 64 bits but a division without a sign", _is_of_pairs)
INDICES: Final = each("an index has 32 bits", _has_near_index)
