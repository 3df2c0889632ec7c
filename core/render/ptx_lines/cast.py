"""CAST and BITCAST in PTX: a table of lines by the two dtypes.

An empty line is no instruction: the register holds both. Decides nothing:
`core/passes/ptx/casts.py` expresses casts without a row by casts that have one. Source of the
instruction forms: NVIDIA, "Parallel Thread Execution ISA", section cvt.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from core.dtype import DType, dtypes
from core.render.ptx_lines.writer import Writer, bits_of, class_of, type_of
from core.uop.ops import Ops
from core.uop.uop import UOp

_FLOATS: Final = (dtypes.float16, dtypes.float32, dtypes.float64)
_CUT: Final = {dtypes.int8: "cvt.s16.s8 {d}, {a}", dtypes.uint8: "and.b16 {d}, {a}, 255"}
"""An 8-bit integer, extended, of the low bits of a register of 16."""


def _integer(source: DType, target: DType) -> str:
    if target in _CUT:
        return _CUT[target]
    if source.bits == target.bits or max(source.bits, target.bits) == 16:
        return ""
    if target.bits < source.bits:
        return f"cvt.u{target.bits}.u{source.bits} {{d}}, {{a}}"
    sign = type_of(source)[0]
    return f"cvt.{sign}{target.bits}.{type_of(source)} {{d}}, {{a}}"


def _from_float(source: DType, target: DType) -> str:
    if dtypes.is_float(target):
        rounding = "" if source.bits < target.bits else "rn."
        return f"cvt.{rounding}{type_of(target)}.{type_of(source)} {{d}}, {{a}}"
    sign = "u" if dtypes.is_unsigned(target) else "s"
    return f"cvt.rzi.{sign}{target.bits}.{type_of(source)} {{d}}, {{a}}"


def _casts() -> Mapping[tuple[DType, DType], str]:
    found = {(dtypes.float32, dtypes.bfloat16): "cvt.rn.bf16.f32 {d}, {a}"}
    for source in dtypes.ints:
        for target in dtypes.ints:
            if source.bits <= 16 or target.bits > 8:
                found[source, target] = _integer(source, target)
        for target in _FLOATS:
            found[source, target] = f"cvt.rn.{type_of(target)}.{type_of(source)} {{d}}, {{a}}"
    for source in _FLOATS:
        for target in _FLOATS + (() if source is dtypes.float16 else dtypes.ints):
            found[source, target] = _from_float(source, target)
    return found | {(dtype, dtype): "" for dtype in dtypes.all}


def _bitcasts() -> Mapping[tuple[DType, DType], str]:
    found: dict[tuple[DType, DType], str] = {}
    for source in dtypes.all:
        for target in dtypes.all:
            if source is target or (
                source.bits == target.bits and dtypes.int8 not in (source, target)
            ):
                same = class_of(source) == class_of(target)
                found[source, target] = "" if same else f"mov.{bits_of(target)} {{d}}, {{a}}"
    return found


CASTS: Final[Mapping[tuple[DType, DType], str]] = MappingProxyType(_casts())
"""By the dtypes of the operand and of the result."""
BITCASTS: Final[Mapping[tuple[DType, DType], str]] = MappingProxyType(_bitcasts())
"""By the dtypes of the operand and of the result."""


def write_cast(w: Writer, u: UOp, lane: int) -> str:
    """Element `lane` of a CAST or BITCAST between vectors of one length. Raises RenderError where
    there is no row."""
    table = CASTS if u.op is Ops.CAST else BITCASTS
    text = table.get((u.src[0].dtype.scalar(), u.dtype.scalar()))
    if text is None or u.src[0].dtype.count != u.dtype.count:
        raise w.listing.unsupported(u)
    x = w.register(u.src[0], lane)
    return w.let(class_of(u.dtype), text.format(d="{}", a=x)) if text else x


_BYTES: Final = "prmt.b32 {{}}, {a}, {b}, 0x6420"
"""Of each register of 16 bits in two words, the lower byte."""


def write_word(w: Writer, u: UOp) -> tuple[str, ...]:
    """A BITCAST between a word and its two halves, or of four bytes to a word. Raises RenderError
    for other counts."""
    source, target = u.src[0].dtype, u.dtype
    shape = source.count, target.count
    if shape == (1, 2):
        low, high = w.of(target.scalar()), w.of(target.scalar())
        w.do(f"mov.b32 {{{low}, {high}}}, {w.register(u.src[0], 0)}")
        return low, high
    if shape not in ((2, 1), (4, 1)):
        raise w.listing.unsupported(u)
    parts = [w.register(u.src[0], lane) for lane in range(source.count)]
    pairs = [
        w.let("r", f"mov.b32 {{}}, {{{{{a}, {b}}}}}")
        for a, b in zip(parts[::2], parts[1::2], strict=True)
    ]
    if len(pairs) == 1:
        return (pairs[0],)
    return (w.let("r", _BYTES.format(a=pairs[0], b=pairs[1])),)
