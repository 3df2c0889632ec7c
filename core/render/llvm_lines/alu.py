"""Arithmetic, comparisons and selection as LLVM instructions.

Never assumes fast math: NaN, infinities and signed zeros are kept, and a product and a sum are
fused only where the node is MULACC. Integer division by zero gives zero instead of a trap.
"""

from __future__ import annotations

from core.dtype import DType, dtypes
from core.render.llvm_lines.cast import convert
from core.render.llvm_lines.types import constant, lanes
from core.render.llvm_lines.writer import Operand, Writer
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

_float = {Ops.ADD: "fadd", Ops.SUB: "fsub", Ops.MUL: "fmul", Ops.FDIV: "fdiv"}
_int = {
    Ops.ADD: "add",
    Ops.SUB: "sub",
    Ops.MUL: "mul",
    Ops.AND: "and",
    Ops.OR: "or",
    Ops.XOR: "xor",
}
_bool = {
    Ops.ADD: "or",
    Ops.MUL: "and",
    Ops.MAX: "or",
    Ops.AND: "and",
    Ops.OR: "or",
    Ops.XOR: "xor",
}
_intrinsic = {
    Ops.SQRT: "sqrt",
    Ops.EXP2: "exp2",
    Ops.LOG2: "log2",
    Ops.SIN: "sin",
    Ops.TRUNC: "trunc",
    Ops.POW: "pow",
    Ops.MULACC: "fma",
}
INTRINSICS = frozenset(_intrinsic.values())
"""The LLVM intrinsics that arithmetic calls."""
_compare = {
    Ops.CMPLT: ("olt", "slt", "ult"),
    Ops.CMPNE: ("une", "ne", "ne"),
    Ops.CMPEQ: ("oeq", "eq", "eq"),
}
_suffix = {"float16": "f16", "float32": "f32", "float64": "f64"}


def intrinsic(name: str, dtype: DType) -> str:
    """The overloaded LLVM intrinsic `name` for a float dtype, such as llvm.sqrt.v4f32."""
    lane = f"v{dtype.count}" if dtype.count > 1 else ""
    return f"llvm.{name}.{lane}{_suffix[dtype.name]}"


def write_alu(w: Writer, u: UOp) -> Operand:
    """The value of the ALU node `u`. Raises RenderError where there is no instruction."""
    operands = [w.value(s) for s in u.src]
    dtype = u.src[-1].dtype
    if u.op is Ops.WHERE:
        return w.let(w.type(u.dtype), f"select {operands[0]}, {operands[1]}, {operands[2]}")
    if dtype.name in ("fp8e4m3", "fp8e5m2"):
        raise w.listing.unsupported(u)
    short = dtypes.is_float(dtype) and dtype.bits == 16 and not w.dialect.half_fma
    if u.op is Ops.MULACC and (short or dtype.name in w.dialect.soft):
        return _short_fma(w, dtype, operands)
    if dtype.name in w.dialect.soft:
        single = dtypes.float32.vec(dtype.count)
        operands = [convert(w, x, dtype, single) for x in operands]
        found = _arithmetic(w, u, single, operands)
        narrow = u.op not in GroupOp.Comparison
        return convert(w, found, single, dtype) if narrow else found
    return _arithmetic(w, u, dtype, operands)


def _arithmetic(w: Writer, u: UOp, dtype: DType, operands: list[Operand]) -> Operand:
    """`u.op` of operands that all have `dtype`."""
    x, y = operands[0], operands[-1]
    to, op = x.type, u.op
    if op in GroupOp.Comparison:
        kind = 0 if dtypes.is_float(dtype) else 2 if _unsigned(dtype) else 1
        name = ("fcmp " if kind == 0 else "icmp ") + _compare[op][kind]
        return w.let(lanes("i1", dtype.count), f"{name} {x}, {y.text}")
    if dtypes.is_float(dtype):
        return _float_op(w, u, dtype, operands)
    if dtypes.is_bool(dtype):
        if op not in _bool:
            raise w.listing.unsupported(u)
        return w.let(to, f"{_bool[op]} {x}, {y.text}")
    if op in _int:
        return w.let(to, f"{_int[op]} {x}, {y.text}")
    if op in (Ops.SHL, Ops.SHR):
        return _shift(w, u, dtype, x, y)
    if op is Ops.NEG:
        return w.let(to, f"sub {to} {constant(dtype, 0)}, {x.text}")
    if op is Ops.MAX:
        greater = w.let(
            lanes("i1", dtype.count), f"icmp {'ugt' if _unsigned(dtype) else 'sgt'} {x}, {y.text}"
        )
        return w.let(to, f"select {greater}, {x}, {y}")
    if op in (Ops.IDIV, Ops.MOD):
        return _division(w, u, dtype, x, y)
    if op is Ops.MULACC:
        product = w.let(to, f"mul {x}, {operands[1].text}")
        return w.let(to, f"add {product}, {y.text}")
    raise w.listing.unsupported(u)


def _float_op(w: Writer, u: UOp, dtype: DType, operands: list[Operand]) -> Operand:
    x, y = operands[0], operands[-1]
    to, op = x.type, u.op
    if op in _float:
        return w.let(to, f"{_float[op]} {x}, {y.text}")
    if op in _intrinsic:
        return w.call(to, intrinsic(_intrinsic[op], dtype), *operands)
    if op is Ops.NEG:
        return w.let(to, f"fneg {x}")
    if op is Ops.RECIPROCAL:
        return w.let(to, f"fdiv {to} {constant(dtype, 1.0)}, {x.text}")
    if op is Ops.MAX:
        return _float_max(w, u, dtype, x, y)
    raise w.listing.unsupported(u)


def _short_fma(w: Writer, dtype: DType, operands: list[Operand]) -> Operand:
    """a * b + c of 16-bit floats by way of double, where LLVM would call a library."""
    wide = dtypes.float64.vec(dtype.count)
    a, b, c = (convert(w, x, dtype, wide) for x in operands)
    product = w.let(a.type, f"fmul {a}, {b.text}")
    return convert(w, w.let(a.type, f"fadd {product}, {c.text}"), wide, dtype)


def _float_max(w: Writer, u: UOp, dtype: DType, x: Operand, y: Operand) -> Operand:
    """NaN where either is NaN. `a > b ? a : b` is one x86 instruction and gives b where either is
    NaN, so only a NaN in `a` needs a second look; a constant is never NaN and goes there."""
    first, second = u.src
    if _is_number(second):
        first, x, y = second, y, x
    flag = lanes("i1", dtype.count)
    greater = w.let(flag, f"fcmp ogt {x}, {y.text}")
    larger = w.let(x.type, f"select {greater}, {x}, {y}")
    if _is_number(first):
        return larger
    nan = w.let(flag, f"fcmp uno {x}, {x.text}")
    return w.let(x.type, f"select {nan}, {x}, {larger}")


def _is_number(u: UOp) -> bool:
    return u.op is Ops.CONST and u.arg == u.arg


def _shift(w: Writer, u: UOp, dtype: DType, x: Operand, y: Operand) -> Operand:
    """0 for amounts of the dtype's width or more (all sign bits for SHR of a signed number), which
    LLVM leaves undefined."""
    signed = not _unsigned(dtype)
    name = "shl" if u.op is Ops.SHL else "ashr" if signed else "lshr"
    amount = u.src[1]
    if amount.op is Ops.CONST and 0 <= amount.arg < dtype.bits:
        return w.let(x.type, f"{name} {x}, {y.text}")
    fits = w.let(lanes("i1", dtype.count), f"icmp ult {y}, {constant(dtype, dtype.bits)}")
    most = f"{x.type} {constant(dtype, dtype.bits - 1)}"
    safe = w.let(x.type, f"select {fits}, {y}, {most}")
    found = w.let(x.type, f"{name} {x}, {safe.text}")
    if name == "ashr":
        return found
    return w.let(x.type, f"select {fits}, {found}, {x.type} {constant(dtype, 0)}")


def _division(w: Writer, u: UOp, dtype: DType, x: Operand, y: Operand) -> Operand:
    """Truncating division and remainder that trap for no operand: x / 0 is 0 and x % 0 is x, and
    the smallest number / -1 wraps around."""
    to, name = x.type, "div" if u.op is Ops.IDIV else "rem"
    unsigned = _unsigned(dtype)
    instruction = ("u" if unsigned else "s") + name
    divisor = u.src[1]
    if divisor.op is Ops.CONST and divisor.arg not in (0, -1):
        return w.let(to, f"{instruction} {x}, {y.text}")
    flag, one, zero = lanes("i1", dtype.count), constant(dtype, 1), constant(dtype, 0)
    is_zero = w.let(flag, f"icmp eq {y}, {zero}")
    bad = is_zero
    if not unsigned:
        minus = w.let(flag, f"icmp eq {y}, {constant(dtype, -1)}")
        lowest = w.let(flag, f"icmp eq {x}, {constant(dtype, dtypes.min(dtype))}")
        overflow = w.let(flag, f"and {minus}, {lowest.text}")
        bad = w.let(flag, f"or {is_zero}, {overflow.text}")
    safe = w.let(to, f"select {bad}, {to} {one}, {y}")
    found = w.let(to, f"{instruction} {x}, {safe.text}")
    instead = f"{to} {zero}" if u.op is Ops.IDIV else str(x)
    return w.let(to, f"select {is_zero}, {instead}, {found}")


def _unsigned(dtype: DType) -> bool:
    return dtypes.is_unsigned(dtype) or dtypes.is_bool(dtype)
