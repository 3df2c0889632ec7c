"""Casts: each becomes conversions that PTX has one instruction for, exact for every pair of dtypes.

A bool is chosen by or compared; bfloat16 goes through float32, rounded once; 8-bit integers are cut
out of 16 bits. 8-bit floats are left to `decompose`. Keeps saturation, NaN to 0 and wraparound.
"""

from __future__ import annotations

from typing import Final

from core.dtype import dtypes
from core.passes.decompose.narrow import fewer_bits, narrow, round_to_odd, widen
from core.passes.ptx.bools import bools
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.facts.meaning import UNLESS_NAN

_x = UPat.var("x")
_half, _bf16, _single = dtypes.float16, dtypes.bfloat16, dtypes.float32
_bytes = (dtypes.int8, dtypes.uint8)


@rule(UPat(Ops.CAST, src=(UPat.var("x", dtypes.bool),), name="cast"))
def cast_from_bool(cast: UOp, x: UOp) -> UOp | None:
    """T(x: bool) -> x ? 1 : 0"""
    if dtypes.is_bool(cast.dtype):
        return x
    return x.where(UOp.const(cast.dtype, 1), UOp.const(cast.dtype, 0))


@rule(UPat(Ops.CAST, dtypes.bool, src=(_x,)))
def cast_to_bool(x: UOp) -> UOp:
    """bool(x) -> x != 0"""
    wide = x.cast(_single) if x.dtype in (_half, _bf16) else x
    return wide.ne(wide.const_like(0))


@rule(UPat(Ops.CAST, src=(UPat.var("x", _bf16),), name="cast"))
def cast_from_bfloat16(cast: UOp, x: UOp) -> UOp:
    """T(x: bfloat16) -> T(float32(x));  float32(x) -> bits of x << 16"""
    return widen(x) if cast.dtype is _single else x.cast(_single).cast(cast.dtype)


@rule(UPat(Ops.CAST, _bf16, src=(_x,), name="cast"))
def cast_to_bfloat16(ctx: Target, cast: UOp, x: UOp) -> UOp | None:
    """bfloat16(x) -> bfloat16(float32(x)), rounded to odd in between where float32 is inexact"""
    if x.dtype is _single:
        return None if ctx.converts(_bf16) else narrow(x, _bf16)
    if x.dtype is _half or (dtypes.is_int(x.dtype) and x.dtype.bits <= 16):
        return x.cast(_single).cast(_bf16)
    if x.dtype is dtypes.float64:
        return round_to_odd(x).cast(_bf16)
    if not dtypes.is_int(x.dtype):
        return None
    whole = fewer_bits(x) if x.dtype.bits == 64 else x
    return round_to_odd(whole.cast(dtypes.float64)).cast(_bf16)


@rule(UPat(Ops.CAST, dtypes.ints, src=(UPat.var("x", _half),), name="cast"))
def half_to_integer(cast: UOp, x: UOp) -> UOp:
    """int(x: float16) -> int(float32(x))"""
    return x.cast(_single).cast(cast.dtype)


@rule(UPat(Ops.CAST, dtypes.ints, src=(UPat.var("x", (_single, dtypes.float64)),), name="cast"))
def nan_to_zero(cast: UOp, x: UOp) -> UOp | None:
    """int(x) -> x is NaN ? 0 : int(x)  where float64 or 64 bits make NaN the largest or smallest"""
    if cast.arg is not None or (x.dtype.bits < 64 and cast.dtype.bits < 64):
        return None
    return x.ne(x).where(cast.const_like(0), cast.replace(arg=UNLESS_NAN))


@rule(UPat(Ops.CAST, _bytes, src=(UPat.var("x", dtypes.ints),), name="cast"))
def byte_of_16_bits(cast: UOp, x: UOp) -> UOp | None:
    """int8(x) -> int8(uint16(x))"""
    return x.cast(dtypes.uint16).cast(cast.dtype) if x.dtype.bits > 16 else None


@rule(UPat(Ops.BITCAST, src=(UPat.var("x", dtypes.bool),), name="cast"))
def bits_of_bool(cast: UOp, x: UOp) -> UOp:
    """bits of (x: bool) as T -> bits of uint8(x) as T"""
    return x.cast(dtypes.uint8).bitcast(cast.dtype)


@rule(UPat(Ops.BITCAST, dtypes.bool, src=(_x,)))
def bits_as_bool(x: UOp) -> UOp:
    """bits of x as bool -> bits of x as uint8 != 0"""
    byte = x if x.dtype is dtypes.uint8 else x.bitcast(dtypes.uint8)
    return byte.ne(byte.const_like(0))


@rule(UPat(Ops.BITCAST, src=(UPat.var("x", (*_bytes, *dtypes.fp8s)),), name="cast"))
def bits_of_byte(cast: UOp, x: UOp) -> UOp | None:
    """bits of (x: int8) as uint8 -> uint8(x), extended otherwise in its register"""
    if cast.dtype is x.dtype:
        return x
    if cast.dtype in _bytes and x.dtype in _bytes:
        return x.cast(cast.dtype)
    if dtypes.int8 not in (cast.dtype, x.dtype):
        return None
    return x.bitcast(dtypes.uint8).bitcast(cast.dtype)


casting = PatternMatcher(
    [
        cast_from_bool,
        cast_to_bool,
        cast_from_bfloat16,
        cast_to_bfloat16,
        half_to_integer,
        nan_to_zero,
        byte_of_16_bits,
        bits_of_bool,
        bits_as_bool,
        bits_of_byte,
    ],
    name="casts",
)

_casting: Final = casting + bools
"""What rounding to odd makes has choices of bools."""


def casts(sink: UOp, target: Target) -> UOp:
    """The kernel with conversions of PTX."""
    return graph_rewrite(sink, _casting, target, name="ptx: casts")
