"""Arithmetic, comparisons and selections in PTX: a table of lines by op and dtype.

Every float operation names its rounding, so that ptxas never fuses a product and a sum by itself.
EXP2, LOG2 and SIN are the approximate forms, which exist for float32 only. Decides nothing: what
has no row here is made of what has one in `core/passes/ptx/`. Source of the instruction forms:
NVIDIA, "Parallel Thread Execution ISA".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.dtype import DType, dtypes
from core.render.ptx_lines.writer import Writer, bits_of, class_of, register_type, type_of
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp


@dataclass(frozen=True, slots=True)
class Row:
    """A line of text with {d} for its result and {a}, {b}, {c} for its operands. Those named in
    `immediates` may be constants; the others are in registers."""

    text: str
    immediates: str = ""


_FLOAT: Final = {
    Ops.ADD: "add.rn.{t} {d}, {a}, {b}",
    Ops.SUB: "sub.rn.{t} {d}, {a}, {b}",
    Ops.MUL: "mul.rn.{t} {d}, {a}, {b}",
    Ops.MULACC: "fma.rn.{t} {d}, {a}, {b}, {c}",
    Ops.NEG: "neg.{t} {d}, {a}",
    Ops.TRUNC: "cvt.rzi.{t}.{t} {d}, {a}",
    Ops.CMPLT: "setp.lt.{t} {d}, {a}, {b}",
    Ops.CMPNE: "setp.neu.{t} {d}, {a}, {b}",
    Ops.CMPEQ: "setp.eq.{t} {d}, {a}, {b}",
}
_NOT_HALF: Final = {
    Ops.FDIV: "div.rn.{t} {d}, {a}, {b}",
    Ops.RECIPROCAL: "rcp.rn.{t} {d}, {a}",
    Ops.SQRT: "sqrt.rn.{t} {d}, {a}",
}
_NOT_DOUBLE: Final = {Ops.MAX: "max.NaN.{t} {d}, {a}, {b}"}
_SINGLE: Final = {
    Ops.EXP2: "ex2.approx.{t} {d}, {a}",
    Ops.LOG2: "lg2.approx.{t} {d}, {a}",
    Ops.SIN: "sin.approx.{t} {d}, {a}",
}
_INT: Final = {
    Ops.SHR: "shr.{t} {d}, {a}, {b}",
    Ops.MAX: "max.{t} {d}, {a}, {b}",
    Ops.MOD: "rem.{t} {d}, {a}, {b}",
    Ops.AND: "and.{bits} {d}, {a}, {b}",
    Ops.OR: "or.{bits} {d}, {a}, {b}",
    Ops.XOR: "xor.{bits} {d}, {a}, {b}",
    Ops.CMPLT: "setp.lt.{t} {d}, {a}, {b}",
    Ops.CMPNE: "setp.ne.{t} {d}, {a}, {b}",
    Ops.CMPEQ: "setp.eq.{t} {d}, {a}, {b}",
}
_NOT_BYTE: Final = {
    Ops.ADD: "add.{t} {d}, {a}, {b}",
    Ops.SUB: "sub.{t} {d}, {a}, {b}",
    Ops.MUL: "mul.lo.{t} {d}, {a}, {b}",
    Ops.MULACC: "mad.lo.{t} {d}, {a}, {b}, {c}",
    Ops.IDIV: "div.{t} {d}, {a}, {b}",
    Ops.SHL: "shl.{bits} {d}, {a}, {b}",
    Ops.NEG: "neg.{signed} {d}, {a}",
}
_BOOL: Final = {
    Ops.AND: "and.pred {d}, {a}, {b}",
    Ops.OR: "or.pred {d}, {a}, {b}",
    Ops.XOR: "xor.pred {d}, {a}, {b}",
}
NOT: Final = Row("not.pred {d}, {a}")
"""XOR of a bool with true."""


def _rows_of(dtype: DType) -> Mapping[Ops, str]:
    """The texts of a dtype's operations, by the dtype of the first operand (WHERE: of the last)."""
    select = {Ops.WHERE: "selp.{register} {d}, {b}, {c}, {a}"}
    if dtypes.is_bool(dtype):
        return _BOOL
    if dtypes.is_int(dtype):
        return select | _INT | (_NOT_BYTE if dtype.bits > 8 else {})
    if dtype is dtypes.float16:
        return select | _FLOAT | _NOT_DOUBLE
    if dtype is dtypes.bfloat16:
        return select | {Ops.MULACC: _FLOAT[Ops.MULACC].replace("{t}", "bf16")}
    if dtype is dtypes.float32:
        return select | _FLOAT | _NOT_HALF | _NOT_DOUBLE | _SINGLE
    return select | (_FLOAT | _NOT_HALF if dtype is dtypes.float64 else {})


def _filled(text: str, dtype: DType) -> str:
    t = type_of(dtype)
    kinds = {"t": t, "signed": "s" + t[1:], "bits": bits_of(dtype)}
    kinds["register"] = register_type(dtype)
    for name, kind in kinds.items():
        text = text.replace("{" + name + "}", kind)
    return text


def _immediates(op: Ops, dtype: DType) -> str:
    """Integers have theirs after the first operand, wide floats anywhere."""
    if op is Ops.WHERE or dtypes.is_int(dtype):
        return "bc"
    return "abc" if dtype.bits >= 32 else ""


ROWS: Final[Mapping[tuple[Ops, DType], Row]] = MappingProxyType(
    {
        (op, dtype): Row(_filled(text, dtype), _immediates(op, dtype))
        for dtype in dtypes.all
        for op, text in _rows_of(dtype).items()
    }
)
"""By op and dtype of the first operand, of a WHERE that of its values."""


def write_alu(w: Writer, u: UOp, lane: int) -> str:
    """Element `lane` of the ALU node `u`. Raises RenderError where there is no row."""
    dtype = u.src[-1 if u.op is Ops.WHERE else 0].dtype.scalar()
    row = ROWS.get((u.op, dtype))
    if row is None:
        raise w.listing.unsupported(u)
    if u.op is Ops.XOR and dtypes.is_bool(dtype) and u.src[1].arg is True:
        row = NOT
    return write_row(w, u, row, lane)


def write_row(w: Writer, u: UOp, row: Row, lane: int = 0) -> str:
    """The line of a node, its operands in registers or as constants; the register of its result."""
    operands = {
        letter: w.lane(s, lane) if letter in row.immediates else w.register(s, lane)
        for letter, s in zip("abc", u.src, strict=False)
        if "{" + letter + "}" in row.text
    }
    kind = "p" if u.op in GroupOp.Comparison else class_of(u.dtype)
    return w.let(kind, row.text.format(d="{}", **operands))
