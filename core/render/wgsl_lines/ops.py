"""WGSL expressions for arithmetic, casts and helper functions, one element at a time.

The meaning is that of `core/uop/facts/meaning.py`. What WGSL rejects in constant expressions is
kept from them by the walk (`wgsl.py`), which names one operand where all are constants.
"""

from __future__ import annotations

from typing import Final

from core.dtype import DType, dtypes
from core.render.listing import Listing
from core.render.wgsl_lines.types import TYPES
from core.uop.ops import Ops
from core.uop.uop import UOp

_infix: Final = {
    Ops.ADD: "+", Ops.SUB: "-", Ops.MUL: "*", Ops.FDIV: "/", Ops.AND: "&", Ops.OR: "|",
    Ops.XOR: "^", Ops.SHL: "<<", Ops.SHR: ">>", Ops.CMPLT: "<", Ops.CMPNE: "!=", Ops.CMPEQ: "==",
    Ops.IDIV: "/", Ops.MOD: "%",
}  # fmt: skip
_on_bool: Final = {Ops.ADD: "|", Ops.MAX: "|", Ops.OR: "|", Ops.MUL: "&", Ops.AND: "&",
                   Ops.XOR: "!=", Ops.CMPNE: "!=", Ops.CMPEQ: "=="}  # fmt: skip
_functions: Final = {Ops.SQRT: "sqrt", Ops.TRUNC: "trunc", Ops.MULACC: "fma"}
_on_floats: Final = {Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}

DIVISION: Final = {Ops.IDIV: "divided_u64", Ops.MOD: "remainder_u64"}
"""Helper functions for numbers of 64 bits without a sign."""
_LONG_DIVISION: Final = """\
fn {name}(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {{
  var rest = vec2<u32>(0u, 0u);
  var found = vec2<u32>(0u, 0u);
  for (var i: u32 = 0u; i < 64u; i++) {{
    let word = select(a.y, a.x, i > 31u);
    let bit = (word >> (31u - (i & 31u))) & 1u;
    let over = rest.y >> 31u;
    rest = vec2<u32>((rest.x << 1u) | bit, (rest.y << 1u) | (rest.x >> 31u));
    found = vec2<u32>(found.x << 1u, (found.y << 1u) | (found.x >> 31u));
    if (over != 0u || rest.y > b.y || (rest.y == b.y && rest.x >= b.x)) {{
      rest = vec2<u32>(rest.x - b.x, rest.y - b.y - select(0u, 1u, rest.x < b.x));
      found.x |= 1u;
    }}
  }}
  return {result};
}}"""
HELPERS: Final = {
    DIVISION[Ops.IDIV]: _LONG_DIVISION.format(name=DIVISION[Ops.IDIV], result="found"),
    DIVISION[Ops.MOD]: _LONG_DIVISION.format(name=DIVISION[Ops.MOD], result="rest"),
}
"""Their definitions."""


def alu(u: UOp, operands: list[str], listing: Listing) -> str:
    """The expression of an ALU node. Raises RenderError where WGSL has none."""
    dtype, op = u.src[-1].dtype.scalar(), u.op
    a, b = operands[0], operands[-1]
    if op is Ops.WHERE:
        return f"select({b}, {operands[1]}, {a})"
    if dtypes.is_bool(dtype):
        if op is Ops.CMPLT:
            return f"(!{a} & {b})"
        if op not in _on_bool:
            raise listing.unsupported(u)
        return f"({a} {_on_bool[op]} {b})"
    if dtype.bits == 64 and op in DIVISION and dtypes.is_unsigned(dtype):
        return f"{DIVISION[op]}({a}, {b})"
    if dtype.bits == 64 or (dtypes.is_float(dtype) and dtype is not dtypes.float32):
        raise listing.unsupported(u)
    if op is Ops.NEG:
        return f"(-{a})" if not dtypes.is_unsigned(dtype) else f"(0u - {a})"
    if dtype is dtypes.float32:
        if op is Ops.RECIPROCAL:
            return f"(1.0f / {a})"
        if op in _functions:
            return f"{_functions[op]}({', '.join(operands)})"
        if op not in _on_floats:
            raise listing.unsupported(u)
    elif op is Ops.MAX:
        return f"max({a}, {b})"
    elif op is Ops.MULACC:
        return f"({a} * {operands[1]} + {b})"
    if op not in _infix:
        raise listing.unsupported(u)
    return f"({a} {_infix[op]} {b})"


def cast(u: UOp, x: str, listing: Listing) -> str:
    """The expression `x` of source 0 as u.dtype. Raises RenderError where WGSL has none."""
    source, target = u.src[0].dtype.scalar(), u.dtype.scalar()
    if 64 in (source.bits, target.bits) or _is_bits(source) or _is_bits(target):
        raise listing.unsupported(u)
    to = TYPES[target]
    if dtypes.is_bool(target):
        if dtypes.is_bool(source):
            return x
        return f"({x} != {'0u' if dtypes.is_unsigned(source) else '0'})"
    text = x if TYPES[source] == to else f"{to}({x})"
    if dtypes.is_int(target) and dtypes.is_int(source):
        return narrowed(target, source, text)
    return text


def _is_bits(dtype: DType) -> bool:
    return dtypes.is_float(dtype) and dtype is not dtypes.float32


def narrowed(target: DType, source: DType | None, text: str) -> str:
    """A word as an integer of `target`'s bits: the others are cut off, or copies of the sign.
    `source`: what it has been before; None where nothing is known."""
    if target.bits >= 32:
        return text
    unsigned = dtypes.is_unsigned(target)
    if source is not None:
        held = dtypes.min(target) <= dtypes.min(source) and dtypes.max(source) <= dtypes.max(target)
        if held:
            return text
    if unsigned:
        return f"({text} & {(1 << target.bits) - 1}u)"
    return f"(({text} << {32 - target.bits}u) >> {32 - target.bits}u)"


def bitcast(u: UOp, x: str, listing: Listing) -> str:
    """The bits of the expression `x` of source 0 as u.dtype. Raises RenderError where lanes do not
    match."""
    source, target = u.src[0].dtype.scalar(), u.dtype.scalar()
    if source.bits != target.bits:
        raise listing.unsupported(u)
    have, want = TYPES[source], TYPES[target]
    if target.bits == 64 or have == want:
        return x if have == want else f"bitcast<{want}>({x})"
    if target.bits == 32:
        return f"bitcast<{want}>({x})"
    return narrowed(target, None, f"{want}({x})")  # of narrow integers, another sign
