"""CAST and BITCAST in PTX, one element at a time, exact for every pair of dtypes.

8-bit floats are left to passes. bfloat16 is converted through float32, rounded once.
Source of the instruction forms: NVIDIA, "Parallel Thread Execution ISA", section cvt.
"""

from __future__ import annotations

from core.dtype import DType, dtypes
from core.render.ptx_writer import Writer, bits_of, class_of, immediate, register_type
from core.uop.uop import UOp


def type_of(dtype: DType) -> str:
    """The PTX arithmetic type of one element; 8-bit integers compute in 16 bits."""
    if dtypes.is_float(dtype):
        return f"f{dtype.bits}"
    return ("u" if dtypes.is_unsigned(dtype) else "s") + str(max(16, dtype.bits))


def extended(w: Writer, x: str, dtype: DType) -> str:
    """`x`, of which only the low bits count, as an element of an 8-bit dtype; others unchanged."""
    if dtype.name == "int8":
        return w.let("h", f"cvt.s16.s8 {{}}, {x}")
    if dtype.bits == 8:
        return w.let("h", f"and.b16 {{}}, {x}, 255")
    return x


def write_cast(w: Writer, u: UOp, lane: int) -> str:
    """Element `lane` of source 0 as u.dtype. Raises RenderError for 8-bit floats."""
    source, target = u.src[0].dtype.scalar(), u.dtype.scalar()
    if source is not target and ("fp8" in source.name or "fp8" in target.name):
        raise w.listing.unsupported(u)
    return convert(w, w.register(u.src[0], lane), source, target)


def convert(w: Writer, x: str, source: DType, target: DType) -> str:
    """Register `x`, an element of `source`, as an element of `target`."""
    if source is target:
        return x
    if dtypes.is_bool(source):
        one, zero = immediate(target, 1), immediate(target, 0)
        return w.let(class_of(target), f"selp.{register_type(target)} {{}}, {one}, {zero}, {x}")
    if source.name == "bfloat16":
        return convert(w, widen_bf16(w, x), dtypes.float32, target)
    if dtypes.is_bool(target):
        if source.name == "float16":
            x, source = w.let("f", f"cvt.f32.f16 {{}}, {x}"), dtypes.float32
        compare = "neu" if dtypes.is_float(source) else "ne"
        return w.let("p", f"setp.{compare}.{type_of(source)} {{}}, {x}, {immediate(source, 0)}")
    if target.name == "bfloat16":
        return _to_bf16(w, x, source)
    if dtypes.is_float(target):
        exact = dtypes.is_float(source) and source.bits < target.bits
        rounding = "" if exact else "rn."
        return w.let(
            class_of(target), f"cvt.{rounding}{type_of(target)}.{type_of(source)} {{}}, {x}"
        )
    if dtypes.is_float(source):
        return _float_to_int(w, x, source, target)
    return _int_to_int(w, x, source, target)


def _int_to_int(w: Writer, x: str, source: DType, target: DType) -> str:
    if target.bits == 8:
        if source.bits > 16:
            x = w.let("h", f"cvt.u16.u{source.bits} {{}}, {x}")
        return extended(w, x, target)
    if source.bits == target.bits:
        return x
    if source.bits == 8 and target.bits == 16:
        return x
    wide = target.bits > source.bits
    to = type_of(source)[0] + str(target.bits) if wide else f"u{target.bits}"
    origin = type_of(source) if wide else f"u{source.bits}"
    return w.let(class_of(target), f"cvt.{to}.{origin} {{}}, {x}")


def _float_to_int(w: Writer, x: str, source: DType, target: DType) -> str:
    """Toward zero. The instruction saturates to the integers of its type, and NaN becomes 0 except
    from .f64 and to 64 bits, where it has to be told apart."""
    if source.name == "float16":
        x, source = w.let("f", f"cvt.f32.f16 {{}}, {x}"), dtypes.float32
    kind = ("u" if dtypes.is_unsigned(target) else "s") + str(target.bits)
    found = w.let(class_of(target), f"cvt.rzi.{kind}.{type_of(source)} {{}}, {x}")
    if source.bits < 64 and target.bits < 64:
        return found
    nan = w.let("p", f"setp.nan.{type_of(source)} {{}}, {x}, {x}")
    suffix = register_type(target)
    return w.let(class_of(target), f"selp.{suffix} {{}}, {immediate(target, 0)}, {found}, {nan}")


def widen_bf16(w: Writer, x: str) -> str:
    """A bfloat16 as float32, exactly: its bits are the upper half."""
    low = w.let("r", f"cvt.u32.u16 {{}}, {x}")
    high = w.let("r", f"shl.b32 {{}}, {low}, 16")
    return w.let("f", f"mov.b32 {{}}, {high}")


def narrow_bf16(w: Writer, x: str) -> str:
    """A float32 as bfloat16, to nearest, ties to even."""
    if w.arch >= 80:
        return w.let("h", f"cvt.rn.bf16.f32 {{}}, {x}")
    bits = w.let("r", f"mov.b32 {{}}, {x}")
    high = w.let("r", f"shr.u32 {{}}, {bits}, 16")
    even = w.let("r", f"and.b32 {{}}, {high}, 1")
    bias = w.let("r", f"add.u32 {{}}, {even}, 32767")
    up = w.let("r", f"add.u32 {{}}, {bits}, {bias}")
    rounded = w.let("r", f"shr.u32 {{}}, {up}, 16")
    quiet = w.let("r", f"or.b32 {{}}, {high}, 64")
    nan = w.let("p", f"setp.nan.f32 {{}}, {x}, {x}")
    chosen = w.let("r", f"selp.b32 {{}}, {quiet}, {rounded}, {nan}")
    return w.let("h", f"cvt.u16.u32 {{}}, {chosen}")


def _to_bf16(w: Writer, x: str, source: DType) -> str:
    if source.name == "float16":
        return narrow_bf16(w, w.let("f", f"cvt.f32.f16 {{}}, {x}"))
    if source.name == "float32":
        return narrow_bf16(w, x)
    if dtypes.is_int(source) and source.bits <= 16:
        return narrow_bf16(w, w.let("f", f"cvt.rn.f32.{type_of(source)} {{}}, {x}"))
    # rounding toward zero with the last bit set where inexact, then once more to nearest, is one
    # correct rounding (S. Boldo, G. Melquiond, IEEE Transactions on Computers 57(4), 2008)
    kind = type_of(source)
    near = w.let("f", f"cvt.rz.f32.{kind} {{}}, {x}")
    back = w.let(class_of(source), f"cvt{'.rzi' * dtypes.is_int(source)}.{kind}.f32 {{}}, {near}")
    compare = "ne" if dtypes.is_int(source) else "neu"
    inexact = w.let("p", f"setp.{compare}.{kind} {{}}, {back}, {x}")
    bits = w.let("r", f"mov.b32 {{}}, {near}")
    odd = w.let("r", f"or.b32 {{}}, {bits}, 1")
    chosen = w.let("r", f"selp.b32 {{}}, {odd}, {bits}, {inexact}")
    return narrow_bf16(w, w.let("f", f"mov.b32 {{}}, {chosen}"))


def write_bitcast(w: Writer, u: UOp, lane: int) -> str:
    """The bits of element `lane` of source 0 as u.dtype, which must be as wide."""
    source, target = u.src[0].dtype.scalar(), u.dtype.scalar()
    if u.src[0].dtype.count != u.dtype.count:
        raise w.listing.unsupported(u)
    x = w.register(u.src[0], lane)
    if dtypes.is_bool(source) or dtypes.is_bool(target):
        byte = convert(w, x, source, dtypes.uint8) if dtypes.is_bool(source) else x
        return convert(w, byte, dtypes.uint8, dtypes.bool) if dtypes.is_bool(target) else byte
    if class_of(source) == class_of(target):
        return extended(w, x, target) if source.name != target.name else x
    return w.let(class_of(target), f"mov.{bits_of(target)} {{}}, {x}")
