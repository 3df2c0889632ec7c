"""mma.sync: a product of small matrices by the threads of a warp; ldmatrix: such matrices from
shared memory.

Products are exact, and their sum with C is rounded once to the type of D: GPUs round in an order
that they do not tell. Layouts are written here from the manual's formulas and not taken from the
table that the compiler uses, so that one checks the other.
Source: NVIDIA, "Parallel Thread Execution ISA", "Matrix Fragments for mma" and
"ldmatrix".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from core.dtype import dtypes
from core.runtime.emulator.alu import floats
from core.runtime.emulator.program import Instruction, MatrixLoad, Reg, Space, Warp
from core.runtime.emulator.ptx.forms import Form
from core.runtime.emulator.ptx.moving import address_of
from core.runtime.emulator.ptx.text import Item, Vector
from core.runtime.emulator.ptx.types import KINDS
from core.runtime.numeric import Array, from_memory

_LANE: Final = np.arange(32)
_GROUP, _THREAD = _LANE // 4, _LANE % 4
_SHAPES: Final[dict[str, frozenset[tuple[int, int, int]]]] = {
    "f16": frozenset({(16, 8, 8), (16, 8, 16)}),
    "bf16": frozenset({(16, 8, 8), (16, 8, 16)}),
    "tf32": frozenset({(16, 8, 4), (16, 8, 8)}),
    "f64": frozenset({(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)}),
    **dict.fromkeys(("s8", "u8"), frozenset({(8, 8, 16), (16, 8, 16), (16, 8, 32)})),
    **dict.fromkeys(("e4m3", "e5m2"), frozenset({(16, 8, 16), (16, 8, 32)})),
}
"""(m, n, k) of each type of A and B."""
_SUMS: Final = {
    **dict.fromkeys(("f16", "e4m3", "e5m2"), ("f16", "f32")),
    **dict.fromkeys(("bf16", "tf32"), ("f32",)),
    **dict.fromkeys(("s8", "u8"), ("s32",)),
    "f64": ("f64",),
}
"""The types of C and D for each of A and B."""
_COUNTS: Final = {"x1": 1, "x2": 2, "x4": 4}
"""Matrices that ldmatrix loads."""


def multiply(form: Form) -> list[Instruction]:
    """D = A * B + C."""
    shapes = [m for m in form.modifiers if re.fullmatch(r"m\d+n\d+k\d+", m)]
    form.only("sync", "aligned", "row", "col", *shapes)
    if len(shapes) != 1 or len(form.types) != 4 or form.modifiers[-2:] != ["row", "col"]:
        raise form.unknown()
    of_d, of_a, of_b, of_c = form.types
    m, n, k = map(int, re.findall(r"\d+", shapes[0]))
    mixed = {of_a, of_b} <= {"s8", "u8"} or {of_a, of_b} <= {"e4m3", "e5m2"}
    if of_d != of_c or of_c not in _SUMS.get(of_a, ()) or not (of_a == of_b or mixed):
        raise form.unknown()
    if (m, n, k) not in _SHAPES[of_a]:
        raise form.unknown()
    form.count(4)
    d, a, b, c = (_registers(form, i, t) for i, t in zip(form.items, form.types, strict=True))
    left, right, outer = _Part(of_a, m, k), _Part(of_b, n, k), _Product(of_c, m)
    for registers, part in ((a, left), (b, right), (c, outer), (d, outer)):
        if len(registers) != part.registers:
            raise form.error(f"{len(registers)} registers instead of {part.registers}")

    def product(_: Array, *values: Array) -> tuple[Array, ...]:
        of_left, of_right = values[: len(a)], values[len(a) : len(a) + len(b)]
        columns = right.matrix(of_right).transpose(0, 2, 1)
        start = outer.matrix(values[len(a) + len(b) :])
        return outer.split(np.matmul(left.matrix(of_left), columns) + start)

    return [
        Warp(
            line=form.line,
            name=form.opcode,
            guard=form.guard,
            function=product,
            operands=(*a, *b, *c),
            results=tuple(d),
            whole=True,
        )
    ]


def load(form: Form) -> list[Instruction]:
    """ldmatrix: 1, 2 or 4 matrices of 8 x 8 elements of 16 bits, or what they are transposed."""
    counts = [m for m in form.modifiers if m in _COUNTS]
    form.only("sync", "aligned", "m8n8", "trans", "shared", "shared::cta", *counts)
    shared = {"shared", "shared::cta"} & set(form.modifiers)
    wanted = {"sync", "aligned", "m8n8"} <= set(form.modifiers)
    if len(counts) != 1 or not (shared and wanted) or form.types != ["b16"]:
        raise form.unknown()
    form.count(2)
    registers = _registers(form, form.items[0], "b32")
    if len(registers) != _COUNTS[counts[0]]:
        raise form.error(f"{len(registers)} registers for {_COUNTS[counts[0]]} matrices")
    address, offset = address_of(form, form.items[1], Space.SHARED)
    return [
        MatrixLoad(
            line=form.line,
            name=form.opcode,
            guard=form.guard,
            address=address,
            offset=offset,
            results=tuple(registers),
            transposed="trans" in form.modifiers,
        )
    ]


def _registers(form: Form, item: Item, kind: str) -> list[Reg]:
    items: Sequence[Item] = item.items if isinstance(item, Vector) else (item,)
    held = kind if kind in ("f64", "f32", "s32") else "b32"
    return [form.reg(i, held) for i in items]


_decoders: Final[dict[str, Callable[[Array], Array]]] = {
    "f16": lambda words: words.view(np.float16),
    "bf16": lambda words: floats.widen_bf16(words.view(np.uint16)),
    "tf32": lambda words: (words.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32),
    "e4m3": lambda words: from_memory(words.view(np.uint8), dtypes.fp8e4m3),
    "e5m2": lambda words: from_memory(words.view(np.uint8), dtypes.fp8e5m2),
}


def _decoded(words: Array, kind: str) -> Array:
    """(warps, lanes, elements) of registers (warps, lanes), as float64 or int64."""
    decode = _decoders.get(kind)
    flat = np.ascontiguousarray(words)
    found = decode(flat) if decode is not None else flat.view(KINDS[kind])
    wide = np.int64 if KINDS[kind].kind in "iu" and decode is None else np.float64
    return found.reshape(*words.shape, -1).astype(wide)


class _Part:
    """A (rows of m) or B (rows of n, which is B transposed): of register j, thread t of group g
    holds the row g, or 8 below it, and neighbours along k."""

    def __init__(self, kind: str, rows: int, k: int) -> None:
        self.kind, self.rows, self.k = kind, rows, k
        self.each = max(1, 4 // KINDS[kind].itemsize)
        self.registers = rows // 8 * (k // (4 * self.each))

    def matrix(self, registers: Sequence[Array]) -> Array:
        """The whole matrix of each warp."""
        halves = self.rows // 8
        found: Array | None = None
        for j, words in enumerate(registers):
            values = _decoded(words, self.kind)
            if found is None:
                found = np.zeros((len(words), self.rows, self.k), values.dtype)
            for i in range(self.each):
                column = _THREAD * self.each + i + j // halves * 4 * self.each
                found[:, _GROUP + 8 * (j % halves), column] = values[:, :, i]
        assert found is not None
        return found


class _Product:
    """C and D: thread t of group g holds two neighbours of row g, and of the one 8 below it."""

    def __init__(self, kind: str, rows: int) -> None:
        self.kind, self.rows = kind, rows
        self.each = max(1, 4 // KINDS[kind].itemsize)
        self.registers = rows // 8 * 2 // self.each

    def _place(self, at: int) -> tuple[Any, Any]:
        return _GROUP + 8 * (at // 2), _THREAD * 2 + at % 2

    def matrix(self, registers: Sequence[Array]) -> Array:
        """The whole matrix of each warp."""
        values = [_decoded(words, self.kind) for words in registers]
        found = np.zeros((len(registers[0]), self.rows, 8), values[0].dtype)
        for at in range(self.rows // 4):
            row, column = self._place(at)
            found[:, row, column] = values[at // self.each][:, :, at % self.each]
        return found

    def split(self, total: Array) -> tuple[Array, ...]:
        """What each lane holds of the product, rounded to its type."""
        held = total.astype(KINDS[self.kind])
        parts = [held[:, *self._place(at)] for at in range(self.rows // 4)]
        if self.each == 1:
            return tuple(parts)
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return tuple(np.stack(pair, axis=-1).view(np.uint32)[..., 0] for pair in pairs)
