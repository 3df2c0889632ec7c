"""CAST and BITCAST as LLVM instructions, exact for every pair of dtypes.

Never calls a library: conversions that LLVM would turn into a call (of bfloat16; of float16 where
the target cannot convert it; from double to half) are written out in integer arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

from core.dtype import DType, dtypes
from core.render.llvm_lines.types import constant, lanes
from core.render.llvm_lines.writer import Operand, Writer
from core.uop.uop import UOp

INTRINSICS = frozenset({"fabs", "fptosi.sat", "fptoui.sat"})
"""The LLVM intrinsics that conversions call."""
_soft = frozenset({"fp8e4m3", "fp8e5m2"})


def write_cast(w: Writer, u: UOp) -> Operand:
    """The value of source 0 as u.dtype. Raises RenderError for 8-bit floats, which passes lower."""
    source = u.src[0].dtype
    if source.name in _soft or u.dtype.name in _soft:
        raise w.listing.unsupported(u)
    return convert(w, w.value(u.src[0]), source, u.dtype)


def write_bitcast(w: Writer, u: UOp) -> Operand:
    """The bits of source 0 as u.dtype."""
    x, source = w.value(u.src[0]), u.src[0].dtype
    if dtypes.is_bool(source):
        x = w.let(lanes("i8", source.count), f"zext {x} to {lanes('i8', source.count)}")
    if dtypes.is_bool(u.dtype):
        return w.let(w.type(u.dtype), f"icmp ne {x}, zeroinitializer")
    to = w.type(u.dtype)
    return x if x.type == to else w.let(to, f"bitcast {x} to {to}")


def convert(w: Writer, x: Operand, source: DType, target: DType) -> Operand:
    """`x`, which has dtype `source`, as `target`."""
    if source.name == target.name:
        return x
    if dtypes.is_float(source) and source.bits == 16:
        single = dtypes.float32.vec(source.count)
        return convert(w, _widen(w, x, source), single, target)
    to = w.type(target)
    if dtypes.is_bool(target):
        compare = "fcmp une" if dtypes.is_float(source) else "icmp ne"
        return w.let(to, f"{compare} {x}, {constant(source, 0)}")
    if dtypes.is_float(source):
        if dtypes.is_float(target):
            return _float_to_float(w, x, source, target)
        return _float_to_int(w, x, target)
    signed = not (dtypes.is_bool(source) or dtypes.is_unsigned(source))
    if dtypes.is_float(target):
        return _int_to_float(w, x, signed, target)
    if source.bits == target.bits:
        return x
    kind = "trunc" if source.bits > target.bits else "sext" if signed else "zext"
    return w.let(to, f"{kind} {x} to {to}")


def _float_to_float(w: Writer, x: Operand, source: DType, target: DType) -> Operand:
    if source.bits == 32 and target.bits == 64:
        return w.let(w.type(target), f"fpext {x} to {w.type(target)}")
    if source.bits == 64 and target.bits == 16:
        x = _round_to_odd(w, x, target.count)
    return _narrow(w, x, target)


def _widen(w: Writer, x: Operand, source: DType) -> Operand:
    """A 16-bit float as float, exactly. `_round_half` explains the layout of halves."""
    single, word = lanes("float", source.count), lanes("i32", source.count)
    if source.name not in w.dialect.soft:
        return w.let(single, f"fpext {x} to {single}")
    const = _integers(source.count)
    bits = w.let(word, f"zext {x} to {word}")
    if source.name == "bfloat16":
        high = w.let(word, f"shl {bits}, {const(16)}")
        return w.let(single, f"bitcast {high} to {single}")
    flag = lanes("i1", source.count)
    size = w.let(word, f"and {bits}, {const(0x7FFF)}")
    moved = w.let(word, f"shl {size}, {const(13)}")
    normal = w.let(word, f"add {moved}, {const(112 << 23)}")
    special = w.let(word, f"or {moved}, {const(0xFF << 23)}")
    integer = w.let(single, f"uitofp {size} to {single}")
    unit = constant(dtypes.float32.vec(source.count), 2.0**-24)
    tiny = w.let(word, f"bitcast {w.let(single, f'fmul {integer}, {unit}')} to {word}")
    is_tiny = w.let(flag, f"icmp ult {size}, {const(0x400)}")
    is_special = w.let(flag, f"icmp uge {size}, {const(0x7C00)}")
    found = w.let(word, f"select {is_tiny}, {tiny}, {normal}")
    found = w.let(word, f"select {is_special}, {special}, {found}")
    sign = w.let(word, f"and {bits}, {const(0x8000)}")
    sign = w.let(word, f"shl {sign}, {const(16)}")
    found = w.let(word, f"or {found}, {sign.text}")
    return w.let(single, f"bitcast {found} to {single}")


def _integers(count: int) -> Callable[[int], str]:
    return lambda value: constant(dtypes.int32.vec(count), value)


def _round_half(w: Writer, x: Operand, count: int) -> Operand:
    """The bits of the float16 nearest to a float, ties to even.

    The half's fraction is the float's without 13 bits, its exponent is less by 112. Adding 1/2 to
    less than 2 ** -14 rounds to multiples of 2 ** -24, which are the halves of that size.
    """
    const, flag = _integers(count), lanes("i1", count)
    single, word = lanes("float", count), lanes("i32", count)
    bits = w.let(word, f"bitcast {x} to {word}")
    size = w.let(word, f"and {bits}, {const(0x7FFFFFFF)}")
    even = w.let(word, f"lshr {size}, {const(13)}")
    even = w.let(word, f"and {even}, {const(1)}")
    up = w.let(word, f"add {size}, {const(0xFFF)}")
    up = w.let(word, f"add {up}, {even.text}")
    normal = w.let(word, f"lshr {up}, {const(13)}")
    normal = w.let(word, f"sub {normal}, {const(112 << 10)}")
    half = constant(dtypes.float32.vec(count), 0.5)
    positive = w.let(single, f"bitcast {size} to {single}")
    tiny = w.let(word, f"bitcast {w.let(single, f'fadd {positive}, {half}')} to {word}")
    tiny = w.let(word, f"sub {tiny}, {const(0x3F000000)}")
    is_tiny = w.let(flag, f"icmp ult {size}, {const(113 << 23)}")
    is_large = w.let(flag, f"icmp uge {size}, {const(0x477FF000)}")
    is_nan = w.let(flag, f"icmp ugt {size}, {const(0x7F800000)}")
    found = w.let(word, f"select {is_tiny}, {tiny}, {normal}")
    found = w.let(word, f"select {is_large}, {word} {const(0x7C00)}, {found}")
    found = w.let(word, f"select {is_nan}, {word} {const(0x7E00)}, {found}")
    sign = w.let(word, f"lshr {bits}, {const(16)}")
    sign = w.let(word, f"and {sign}, {const(0x8000)}")
    found = w.let(word, f"or {found}, {sign.text}")
    return w.let(lanes("i16", count), f"trunc {found} to {lanes('i16', count)}")


def _narrow(w: Writer, x: Operand, target: DType) -> Operand:
    """float (or double for a float target) rounded to nearest, ties to even."""
    if target.name not in w.dialect.soft:
        return w.let(w.type(target), f"fptrunc {x} to {w.type(target)}")
    if target.name == "float16":
        return _round_half(w, x, target.count)
    word, half = lanes("i32", target.count), lanes("i16", target.count)
    const = _integers(target.count)
    bits = w.let(word, f"bitcast {x} to {word}")
    high = w.let(word, f"lshr {bits}, {const(16)}")
    even = w.let(word, f"and {high}, {const(1)}")
    bias = w.let(word, f"add {even}, {const(0x7FFF)}")
    up = w.let(word, f"add {bits}, {bias.text}")
    rounded = w.let(word, f"lshr {up}, {const(16)}")
    quiet = w.let(word, f"or {high}, {const(0x40)}")
    nan = w.let(lanes("i1", target.count), f"fcmp uno {x}, {x.text}")
    chosen = w.let(word, f"select {nan}, {quiet}, {rounded}")
    return w.let(half, f"trunc {chosen} to {half}")


def _round_to_odd(w: Writer, x: Operand, count: int) -> Operand:
    """double to float such that rounding the float once more gives the correctly rounded result.

    Rounding to odd, S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums:
    proved algorithms using rounding to odd", IEEE Transactions on Computers 57(4), 2008.
    """
    single, word = lanes("float", count), lanes("i32", count)
    wide, flag = x.type, lanes("i1", count)
    near = w.let(single, f"fptrunc {x} to {single}")
    back = w.let(wide, f"fpext {near} to {wide}")
    inexact = w.let(flag, f"fcmp one {back}, {x.text}")
    suffix = f"v{count}f64" if count > 1 else "f64"
    above = w.let(
        flag,
        f"fcmp ogt {w.call(wide, f'llvm.fabs.{suffix}', back)}, "
        f"{w.call(wide, f'llvm.fabs.{suffix}', x).text}",
    )
    bits = w.let(word, f"bitcast {near} to {word}")
    step = w.let(word, f"zext {above} to {word}")
    toward_zero = w.let(word, f"sub {bits}, {step.text}")
    odd = w.let(word, f"or {toward_zero}, {constant(dtypes.int32.vec(count), 1)}")
    chosen = w.let(word, f"select {inexact}, {odd}, {bits}")
    return w.let(single, f"bitcast {chosen} to {single}")


def _int_to_float(w: Writer, x: Operand, signed: bool, target: DType) -> Operand:
    kind = "sitofp" if signed else "uitofp"
    if target.bits > 16:
        return w.let(w.type(target), f"{kind} {x} to {w.type(target)}")
    if x.type == lanes("i64", target.count) and target.name == "bfloat16":
        x = _fewer_bits(w, x, signed, target.count)
    wide = lanes("double", target.count)
    exact = w.let(wide, f"{kind} {x} to {wide}")
    return _narrow(w, _round_to_odd(w, exact, target.count), target)


def _fewer_bits(w: Writer, x: Operand, signed: bool, count: int) -> Operand:
    """An i64 as one that double holds and that bfloat16 rounds alike: from 2 ** 53 on, the last 12
    bits are replaced by one that says whether any of them is set."""
    word, flag = lanes("i64", count), lanes("i1", count)

    def const(value: int) -> str:
        return constant(dtypes.int64.vec(count), value)

    last = w.let(word, f"and {x}, {const(0xFFF)}")
    any_set = w.let(flag, f"icmp ne {last}, {const(0)}")
    sticky = w.let(word, f"select {any_set}, {word} {const(0x800)}, {word} {const(0)}")
    whole = w.let(word, f"sub {x}, {last.text}")
    large = w.let(word, f"or {whole}, {sticky.text}")
    least = -(1 << 53) if signed else 0
    above = w.let(word, f"sub {x}, {const(least)}")
    small = w.let(flag, f"icmp ult {above}, {const((1 << 53) - least)}")
    return w.let(word, f"select {small}, {x}, {large}")


def _float_to_int(w: Writer, x: Operand, target: DType) -> Operand:
    """Toward zero; what is beyond `target` becomes its nearest integer, NaN becomes 0."""
    count, to = target.count, w.type(target)
    name = "fptoui" if dtypes.is_unsigned(target) else "fptosi"
    vector = f"v{count}" if count > 1 else ""
    kinds = f"{vector}i{target.bits}.{vector}f{64 if 'double' in x.type else 32}"
    return w.call(to, f"llvm.{name}.sat.{kinds}", x)
