"""CAST and BITCAST as LLVM instructions, exact for every pair of dtypes.

Never calls a library: conversions that LLVM would turn into a call on some processors (to
bfloat16, and from double to half) are written out in integer arithmetic.
"""

from __future__ import annotations

from core.dtype import DType, dtypes
from core.render.llvm_types import constant, lanes, type_of
from core.render.llvm_writer import Operand, Writer
from core.uop.uop import UOp

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
        return w.let(type_of(u.dtype), f"icmp ne {x}, zeroinitializer")
    to = type_of(u.dtype)
    return x if x.type == to else w.let(to, f"bitcast {x} to {to}")


def convert(w: Writer, x: Operand, source: DType, target: DType) -> Operand:
    """`x`, which has dtype `source`, as `target`."""
    if source.name == target.name:
        return x
    to = type_of(target)
    if dtypes.is_bool(target):
        compare = "fcmp une" if dtypes.is_float(source) else "icmp ne"
        return w.let(to, f"{compare} {x}, {constant(source, 0)}")
    if dtypes.is_float(source):
        if dtypes.is_float(target):
            return _float_to_float(w, x, source, target)
        return _float_to_int(w, x, source, target)
    signed = not (dtypes.is_bool(source) or dtypes.is_unsigned(source))
    if dtypes.is_float(target):
        return _int_to_float(w, x, signed, target)
    if source.bits == target.bits:
        return x
    kind = "trunc" if source.bits > target.bits else "sext" if signed else "zext"
    return w.let(to, f"{kind} {x} to {to}")


def _float_to_float(w: Writer, x: Operand, source: DType, target: DType) -> Operand:
    single = dtypes.float32.vec(target.count)
    if source.bits == 16 and target.bits > 16:
        return w.let(type_of(target), f"fpext {x} to {type_of(target)}")
    if source.bits == 16:
        return _narrow(w, w.let(type_of(single), f"fpext {x} to {type_of(single)}"), target)
    if source.bits == 32 and target.bits == 64:
        return w.let(type_of(target), f"fpext {x} to {type_of(target)}")
    if source.bits == 64 and target.bits == 16:
        x = _round_to_odd(w, x, target.count)
    return _narrow(w, x, target)


def _narrow(w: Writer, x: Operand, target: DType) -> Operand:
    """float (or double for a float target) rounded to nearest, ties to even."""
    if target.name != "bfloat16":
        return w.let(type_of(target), f"fptrunc {x} to {type_of(target)}")
    word, half = lanes("i32", target.count), lanes("i16", target.count)

    def const(value: int) -> str:
        return constant(dtypes.int32.vec(target.count), value)

    bits = w.let(word, f"bitcast {x} to {word}")
    high = w.let(word, f"lshr {bits}, {const(16)}")
    even = w.let(word, f"and {high}, {const(1)}")
    bias = w.let(word, f"add {even}, {const(0x7FFF)}")
    up = w.let(word, f"add {bits}, {bias.text}")
    rounded = w.let(word, f"lshr {up}, {const(16)}")
    quiet = w.let(word, f"or {high}, {const(0x40)}")
    nan = w.let(lanes("i1", target.count), f"fcmp uno {x}, {x.text}")
    chosen = w.let(word, f"select {nan}, {quiet}, {rounded}")
    short = w.let(half, f"trunc {chosen} to {half}")
    return w.let(type_of(target), f"bitcast {short} to {type_of(target)}")


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
        return w.let(type_of(target), f"{kind} {x} to {type_of(target)}")
    wide = lanes("double", target.count)
    exact = w.let(wide, f"{kind} {x} to {wide}")
    return _narrow(w, _round_to_odd(w, exact, target.count), target)


def _float_to_int(w: Writer, x: Operand, source: DType, target: DType) -> Operand:
    """Toward zero; what is beyond `target` becomes its nearest integer, NaN becomes 0."""
    count, to = target.count, type_of(target)
    if source.bits == 16:
        x = w.let(lanes("float", count), f"fpext {x} to {lanes('float', count)}")
    name = "fptoui" if dtypes.is_unsigned(target) else "fptosi"
    vector = f"v{count}" if count > 1 else ""
    kinds = f"{vector}i{target.bits}.{vector}f{64 if 'double' in x.type else 32}"
    return w.call(to, f"llvm.{name}.sat.{kinds}", x)
