"""Arithmetic, comparisons and selection in PTX, one element at a time.

Every float operation names its rounding, so that ptxas never fuses a product and a sum by itself.
EXP2, LOG2 and SIN use the approximate forms, which exist for float32 only; half and bfloat16 go
through float32, and float64 is left to passes. Source of the instruction forms: NVIDIA, "Parallel
Thread Execution ISA".
"""

from __future__ import annotations

from typing import Final

from core.dtype import DType, dtypes
from core.render.listing import resolve
from core.render.ptx_cast import convert, extended, type_of
from core.render.ptx_writer import Writer, bits_of, class_of, immediate, register_type
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

_floats: Final = {
    Ops.ADD: "add.rn.{t} {{}}, {a}, {b}",
    Ops.SUB: "sub.rn.{t} {{}}, {a}, {b}",
    Ops.MUL: "mul.rn.{t} {{}}, {a}, {b}",
    Ops.MULACC: "fma.rn.{t} {{}}, {a}, {b}, {c}",
    Ops.FDIV: "div.rn.{t} {{}}, {a}, {b}",
    Ops.RECIPROCAL: "rcp.rn.{t} {{}}, {a}",
    Ops.SQRT: "sqrt.rn.{t} {{}}, {a}",
    Ops.TRUNC: "cvt.rzi.{t}.{t} {{}}, {a}",
    Ops.NEG: "neg.{t} {{}}, {a}",
    Ops.EXP2: "ex2.approx.{t} {{}}, {a}",
    Ops.LOG2: "lg2.approx.{t} {{}}, {a}",
    Ops.SIN: "sin.approx.{t} {{}}, {a}",
}
_native_half: Final = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.NEG, Ops.TRUNC})
_single_only: Final = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN})
_ints: Final = {
    Ops.ADD: "add.{t} {{}}, {a}, {b}",
    Ops.SUB: "sub.{t} {{}}, {a}, {b}",
    Ops.MUL: "mul.lo.{t} {{}}, {a}, {b}",
    Ops.MULACC: "mad.lo.{t} {{}}, {a}, {b}, {c}",
    Ops.MAX: "max.{t} {{}}, {a}, {b}",
    Ops.AND: "and.{bits} {{}}, {a}, {b}",
    Ops.OR: "or.{bits} {{}}, {a}, {b}",
    Ops.XOR: "xor.{bits} {{}}, {a}, {b}",
    Ops.NEG: "neg.{signed} {{}}, {a}",
}
_bools: Final = {
    Ops.ADD: "or.pred {{}}, {a}, {b}",
    Ops.MAX: "or.pred {{}}, {a}, {b}",
    Ops.OR: "or.pred {{}}, {a}, {b}",
    Ops.MUL: "and.pred {{}}, {a}, {b}",
    Ops.AND: "and.pred {{}}, {a}, {b}",
    Ops.XOR: "xor.pred {{}}, {a}, {b}",
    Ops.CMPNE: "xor.pred {{}}, {a}, {b}",
}
_compare: Final = {Ops.CMPLT: ("lt", "lt"), Ops.CMPNE: ("neu", "ne"), Ops.CMPEQ: ("eq", "eq")}


def write_alu(w: Writer, u: UOp, lane: int) -> str:
    """Element `lane` of the ALU node `u`. Raises RenderError where there is no instruction."""
    dtype = u.src[-1].dtype.scalar()
    if u.op is Ops.WHERE:
        return _where(w, u, lane, dtype)
    if dtype.bits == 8 and dtypes.is_float(dtype):
        raise w.listing.unsupported(u)
    if dtypes.is_bool(dtype):
        return _bool_op(w, u, lane)
    if dtypes.is_float(dtype):
        if u.op is Ops.MULACC and dtype.name == "bfloat16" and w.arch >= 80:  # rounds once
            a, b, c = (w.register(s, lane) for s in u.src)
            return w.let("h", f"fma.rn.bf16 {{}}, {a}, {b}, {c}")
        if dtype.name == "bfloat16" or (dtype.name == "float16" and not _has_half(w, u.op)):
            operands = [convert(w, w.register(s, lane), dtype, dtypes.float32) for s in u.src]
            found = _float_op(w, u, dtypes.float32, operands)
            narrow = u.op not in GroupOp.Comparison
            return convert(w, found, dtypes.float32, dtype) if narrow else found
        return _float_op(w, u, dtype, [w.lane(s, lane) for s in u.src])
    return _int_op(w, u, lane, dtype)


def _has_half(w: Writer, op: Ops) -> bool:
    return op in _native_half or op in GroupOp.Comparison or (op is Ops.MAX and w.arch >= 80)


def _float_op(w: Writer, u: UOp, dtype: DType, operands: list[str]) -> str:
    op, t, kind = u.op, type_of(dtype), class_of(dtype)
    a, b, c = (*operands, *([""] * (3 - len(operands))))
    if op in _compare:
        return w.let("p", f"setp.{_compare[op][0]}.{t} {{}}, {a}, {b}")
    if op is Ops.MAX:
        if w.arch >= 80 and dtype.bits < 64:
            return w.let(kind, f"max.NaN.{t} {{}}, {a}, {b}")
        larger = w.let(kind, f"max.{t} {{}}, {a}, {b}")
        nan = w.let("p", f"setp.nan.{t} {{}}, {a}, {b}")
        return w.let(kind, f"selp.{t} {{}}, {immediate(dtype, float('nan'))}, {larger}, {nan}")
    if op not in _floats or (op in _single_only and dtype.bits != 32):
        raise w.listing.unsupported(u)
    return w.let(kind, _floats[op].format(t=t, a=a, b=b, c=c))


def _int_op(w: Writer, u: UOp, lane: int, dtype: DType) -> str:
    op, t, kind = u.op, type_of(dtype), class_of(dtype)
    first = w.register(u.src[0], lane)
    rest = [w.lane(s, lane) for s in u.src[1:]]
    if op in _compare:
        return w.let("p", f"setp.{_compare[op][1]}.{t} {{}}, {first}, {rest[0]}")
    if op in (Ops.IDIV, Ops.MOD):
        return _division(w, u, lane, dtype)
    if op in (Ops.SHL, Ops.SHR):
        return _shift(w, u, lane, dtype)
    if op not in _ints:
        raise w.listing.unsupported(u)
    b, c = (*rest, *([""] * (2 - len(rest))))
    text = _ints[op].format(t=t, bits=bits_of(dtype), signed="s" + t[1:], a=first, b=b, c=c)
    return extended(w, w.let(kind, text), dtype)


def _division(w: Writer, u: UOp, lane: int, dtype: DType) -> str:
    """x / 0 is 0 and x % 0 is x, which PTX leaves open."""
    x, y, t, kind = (
        w.register(u.src[0], lane),
        w.lane(u.src[1], lane),
        type_of(dtype),
        class_of(dtype),
    )
    name = "div" if u.op is Ops.IDIV else "rem"
    found = extended(w, w.let(kind, f"{name}.{t} {{}}, {x}, {y}"), dtype)
    divisor = resolve(u.src[1])
    if divisor.op is Ops.CONST and divisor.arg != 0:
        return found
    zero = w.let("p", f"setp.eq.{t} {{}}, {w.register(u.src[1], lane)}, 0")
    instead = "0" if u.op is Ops.IDIV else x
    return w.let(kind, f"selp.{bits_of(dtype)} {{}}, {instead}, {found}, {zero}")


def _shift(w: Writer, u: UOp, lane: int, dtype: DType) -> str:
    """PTX clamps the amount, an unsigned 32-bit number, to the register's width: what lies beyond
    shifts everything out."""
    x, amount = w.register(u.src[0], lane), resolve(u.src[1])
    if amount.op is Ops.CONST:
        count = str(amount.arg if 0 <= amount.arg < 64 else 64)
    else:
        count = w.register(amount, lane)
        if dtype.bits == 64:  # what a conversion to 32 bits would lose
            count = w.let("rd", f"min.u64 {{}}, {count}, 64")
        if dtype.bits != 32:
            count = w.let("r", f"cvt.u32.{type_of(dtype)} {{}}, {count}")
    form = f"shl.{bits_of(dtype)}" if u.op is Ops.SHL else f"shr.{type_of(dtype)}"
    return extended(w, w.let(class_of(dtype), f"{form} {{}}, {x}, {count}"), dtype)


def _bool_op(w: Writer, u: UOp, lane: int) -> str:
    a, b = w.register(u.src[0], lane), w.register(u.src[-1], lane)
    if u.op is Ops.CMPEQ:
        return w.let("p", f"not.pred {{}}, {w.let('p', f'xor.pred {{}}, {a}, {b}')}")
    if u.op is Ops.CMPLT:
        return w.let("p", f"and.pred {{}}, {w.let('p', f'not.pred {{}}, {a}')}, {b}")
    if u.op not in _bools:
        raise w.listing.unsupported(u)
    return w.let("p", _bools[u.op].format(a=a, b=b))


def _where(w: Writer, u: UOp, lane: int, dtype: DType) -> str:
    test = w.register(u.src[0], lane)
    if dtypes.is_bool(dtype):
        yes, no = w.register(u.src[1], lane), w.register(u.src[2], lane)
        found = w.fresh("p")
        w.do(f"@{test} mov.pred {found}, {yes}")
        w.do(f"@!{test} mov.pred {found}, {no}")
        return found
    yes, no = w.lane(u.src[1], lane), w.lane(u.src[2], lane)
    return w.let(class_of(dtype), f"selp.{register_type(dtype)} {{}}, {yes}, {no}, {test}")
