"""C expressions for arithmetic, casts and constants, one element at a time.

The meaning is that of `core/uop/facts/meaning.py`, so what C leaves undefined (division by zero,
long shifts) is guarded unless an operand is a constant that makes it harmless.
"""

from __future__ import annotations

import math
from typing import Final

from core.dtype import ConstType, DType, dtypes
from core.render.c_lines.dialect import Dialect
from core.render.listing import Listing, resolve
from core.uop.bits import to_bits
from core.uop.ops import Ops
from core.uop.uop import UOp

_infix: Final = {
    Ops.ADD: "+", Ops.SUB: "-", Ops.MUL: "*", Ops.FDIV: "/", Ops.AND: "&", Ops.OR: "|",
    Ops.XOR: "^", Ops.CMPLT: "<", Ops.CMPNE: "!=", Ops.CMPEQ: "==",
}  # fmt: skip
_on_bool: Final = {Ops.ADD: "||", Ops.MAX: "||", Ops.OR: "||", Ops.MUL: "&&", Ops.AND: "&&",
                   Ops.XOR: "!=", Ops.CMPNE: "!=", Ops.CMPEQ: "==", Ops.CMPLT: "<"}  # fmt: skip
_functions: Final = {
    Ops.SQRT: "sqrt", Ops.EXP2: "exp2", Ops.LOG2: "log2", Ops.SIN: "sin", Ops.TRUNC: "trunc",
    Ops.POW: "pow", Ops.MULACC: "fma",
}  # fmt: skip


def literal(dtype: DType, value: ConstType, dialect: Dialect) -> str:
    """The exact text of one constant element."""
    scalar = dtype.scalar()
    if dtypes.is_bool(scalar):
        return "true" if value else "false"
    if dtypes.is_float(scalar):
        return _float_literal(scalar, float(value), dialect)
    suffix, number = dialect.suffixes.get(scalar.name, ""), int(value)
    if number == dtypes.min(scalar) and number < 0:
        return f"({number + 1}{suffix} - 1)"
    return f"{number}{suffix}" if number >= 0 else f"({number}{suffix})"


def _float_literal(dtype: DType, value: float, dialect: Dialect) -> str:
    if dtype.name in dialect.bits:
        return f"{to_bits(value, dtype)}"
    if math.isfinite(value):
        text = repr(value) + ("" if dtype.bits == 64 else "f")
    else:
        infinity = dialect.infinity if value > 0 else f"-{dialect.infinity}"
        text = dialect.nan if math.isnan(value) else infinity
    if dtype.bits < 32:
        return f"({dialect.types[dtype.name]})({text})"
    return f"({text})" if text.startswith("-") else text


def cast(dialect: Dialect, u: UOp, x: str, listing: Listing) -> tuple[str, str]:
    """The expression `x` of source 0 as u.dtype, and the name of the helper function it needs or
    "". Raises RenderError for floats that are kept as their bits."""
    source, target = u.src[0].dtype.scalar(), u.dtype.scalar()
    if source is not target and not dialect.bits.isdisjoint((source.name, target.name)):
        raise listing.unsupported(u)
    to = dialect.types[target.name]
    if dtypes.is_bool(target):
        return f"({x} != 0)", ""
    if dtypes.is_float(source) and dtypes.is_int(target):
        if source.bits < 32:
            x, source = f"(float)({x})", dtypes.float32
        name = f"{target.name}_of_{source.name}"
        return f"{name}({x})", name
    if dtypes.is_float(target) and target.bits < 32 and source.bits != 64 and source.bits != 32:
        x = f"(float)({x})"
    return f"({to})({x})", ""


def bitcast(dialect: Dialect, u: UOp, x: str) -> str:
    """The bits of `x` as u.dtype."""
    source, target = u.src[0].dtype.scalar(), u.dtype.scalar()
    return dialect.bitcast.format(
        x=x, source=dialect.types[source.name], target=dialect.types[target.name]
    )


def alu(dialect: Dialect, u: UOp, operands: list[str], listing: Listing) -> tuple[str, str]:
    """The expression of an ALU node, and the name of the helper function it needs or "".

    Raises RenderError where C has no expression.
    """
    dtype = u.src[-1].dtype.scalar()
    op = u.op
    if op is Ops.WHERE:
        return f"({operands[0]} ? {operands[1]} : {operands[2]})", ""
    if dtype.name in dialect.bits:
        raise listing.unsupported(u)
    a, b = operands[0], operands[-1]
    if dtypes.is_bool(dtype):
        if op not in _on_bool:
            raise listing.unsupported(u)
        return f"({a} {_on_bool[op]} {b})", ""
    if dtypes.is_float(dtype):
        return _float_alu(dialect, u, dtype, operands, listing)
    to = dialect.types[dtype.name]
    if op in (Ops.IDIV, Ops.MOD):
        return _division(u, dtype, a, b)
    if op in (Ops.SHL, Ops.SHR):
        return _narrowed(to, dtype, _shift(dialect, u, dtype, a, b)), ""
    if op is Ops.MAX:
        return f"max_{dtype.name}({a}, {b})", f"max_{dtype.name}"
    if op is Ops.NEG:
        return _narrowed(to, dtype, f"(-{a})"), ""
    if op is Ops.MULACC:
        return _narrowed(to, dtype, f"({a} * {operands[1]} + {b})"), ""
    if op not in _infix:
        raise listing.unsupported(u)
    plain = f"({a} {_infix[op]} {b})"
    return (plain if op in _compares else _narrowed(to, dtype, plain)), ""


_compares: Final = frozenset({Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ})


def _narrowed(to: str, dtype: DType, text: str) -> str:
    """C computes narrow integers as int: back to the narrow type."""
    return f"({to}){text}" if dtype.bits < 32 else text


def _float_alu(
    dialect: Dialect, u: UOp, dtype: DType, operands: list[str], listing: Listing
) -> tuple[str, str]:
    op, a, b = u.op, operands[0], operands[-1]
    if op is Ops.MAX:
        return f"max_{dtype.name}({a}, {b})", f"max_{dtype.name}"
    if op in _infix:
        return f"({a} {_infix[op]} {b})", ""
    if op is Ops.NEG:
        return f"(-{a})", ""
    if op is Ops.RECIPROCAL:
        return f"({literal(dtype, 1.0, dialect)} / {a})", ""
    if op not in _functions:
        raise listing.unsupported(u)
    function = _functions[op] + ("" if dtype.bits == 64 else dialect.float_functions)
    if dtype.bits < 32:
        inner = ", ".join(f"(float)({x})" for x in operands)
        return f"({dialect.types[dtype.name]}){function}({inner})", ""
    return f"{function}({', '.join(operands)})", ""


def _division(u: UOp, dtype: DType, a: str, b: str) -> tuple[str, str]:
    """An expression, and the name of the helper function that it needs or ""."""
    sign = "/" if u.op is Ops.IDIV else "%"
    divisor = resolve(u.src[1])
    if divisor.op is Ops.CONST and divisor.arg not in (0, -1):
        return f"({a} {sign} {b})", ""
    name = f"{'div' if u.op is Ops.IDIV else 'mod'}_{dtype.name}"
    return f"{name}({a}, {b})", name


def _shift(dialect: Dialect, u: UOp, dtype: DType, a: str, b: str) -> str:
    """Left shifts are done on unsigned numbers, where C defines what is shifted out."""
    left, bits = u.op is Ops.SHL, dtype.bits
    unsigned = dialect.types["uint64" if bits == 64 else "uint32"]
    shifted = f"({dialect.types[dtype.name]})(({unsigned}){a} << {b})" if left else f"({a} >> {b})"
    amount = resolve(u.src[1])
    if amount.op is Ops.CONST and 0 <= amount.arg < bits:
        return shifted
    beyond = "0" if left or dtypes.is_unsigned(dtype) else f"({a} < 0 ? -1 : 0)"
    return f"(({unsigned}){b} < {bits}u ? {shifted} : {beyond})"


def helper(dialect: Dialect, name: str) -> str:
    """The definition of a helper function that `alu` or `cast` asked for. max is NaN where either
    is; a float beyond the integers of a dtype becomes the nearest of them, NaN becomes 0; x / 0 is
    0, x % 0 is x, and the smallest integer / -1 is itself."""
    if "_of_" in name:
        return _conversion(dialect, name, *map(dtypes.named, name.split("_of_")))
    kind, _, of = name.partition("_")
    dtype = dtypes.named(of)
    to = dialect.types[dtype.name]
    if kind in ("div", "mod"):
        return (
            f"{dialect.helper} {to} {name}({to} a, {to} b) {{ {_divided(dialect, kind, dtype)} }}"
        )
    test = "a > b || a != a" if dtypes.is_float(dtype) else "a > b"
    return f"{dialect.helper} {to} {name}({to} a, {to} b) {{ return {test} ? a : b; }}"


def _divided(dialect: Dialect, kind: str, dtype: DType) -> str:
    """What C leaves undefined never gets to a division: some processors trap."""
    zero, sign = ("0", "/") if kind == "div" else ("a", "%")
    if dtypes.is_unsigned(dtype):
        return f"return b == 0 ? {zero} : a {sign} b;"
    unsigned = dialect.types["uint64" if dtype.bits == 64 else "uint32"]
    minus = f"({dialect.types[dtype.name]})(0 - ({unsigned})a)" if kind == "div" else "0"
    return f"return b == 0 ? {zero} : b == -1 ? {minus} : a {sign} b;"


def _conversion(dialect: Dialect, name: str, target: DType, source: DType) -> str:
    """What C leaves undefined, a float that no integer of the type is next to, never gets to the
    conversion. The limits are powers of two, which every float has."""
    low, high = int(dtypes.min(target)), int(dtypes.max(target))
    least, limit = (literal(source, float(v), dialect) for v in (low, high + 1))
    inside = f"x < {limit} ? ({dialect.types[target.name]})x : {literal(target, high, dialect)}"
    below = "0" if low == 0 else f"x != x ? 0 : {literal(target, low, dialect)}"
    head = f"{dialect.helper} {dialect.types[target.name]} {name}({dialect.types[source.name]} x)"
    return f"{head} {{ return x >= {least} ? {inside} : {below}; }}"
