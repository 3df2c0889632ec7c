"""Moves, loads, stores and address spaces of PTX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from core.runtime.emulator.program import (
    LOCAL_WINDOW,
    SHARED_WINDOW,
    Const,
    Instruction,
    Load,
    Operand,
    Reg,
    Space,
    Store,
)
from core.runtime.emulator.ptx.forms import Form, widened
from core.runtime.emulator.ptx.text import Address, Item, Name, Vector
from core.runtime.emulator.ptx.types import KINDS, bits_of
from core.runtime.numeric import Array

_SPACES: Final = {
    "global": Space.GLOBAL,
    "shared": Space.SHARED,
    "shared::cta": Space.SHARED,
    "local": Space.LOCAL,
    "param": Space.PARAM,
    "const": Space.CONSTANT,
}
_HINTS: Final = frozenset({
    "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "volatile", "relaxed", "weak", "acquire",
    "release", "cta", "cluster", "gpu", "sys", "L1::evict_normal", "L1::evict_unchanged",
    "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B",
})  # fmt: skip
"""Caches and the order between blocks, which change no value here."""


def _same(x: Array) -> Array:
    return x


def move(form: Form) -> list[Instruction]:
    """mov: a value, an address, or the parts of a register and back."""
    if len(form.types) != 1 or form.modifiers:
        raise form.unknown()
    form.count(2)
    kind, (target, source) = form.types[0], form.items
    if isinstance(target, Vector):
        return _unpack(form, kind, target, source)
    if isinstance(source, Vector):
        return _pack(form, kind, target, source)
    if kind == "pred" and isinstance(source, Name) and source.negated:
        raise form.unknown()
    return form.compute(_same, [form.operand(source, kind)], form.reg(target, kind))


def _part(form: Form, kind: str, count: int) -> str:
    bits = bits_of(kind) // count
    if kind[0] != "b" or count not in (2, 4) or bits < 8:
        raise form.unknown()
    return f"b{bits}"


def _unpack(form: Form, kind: str, target: Vector, source: Item) -> list[Instruction]:
    part = _part(form, kind, len(target.items))
    bits, piece = bits_of(part), KINDS[part]

    def split(x: Array) -> tuple[Array, ...]:
        return tuple((x >> x.dtype.type(bits * i)).astype(piece) for i in range(len(target.items)))

    results = [form.reg(item, part) for item in target.items]
    return form.compute(split, [form.operand(source, kind)], *results)


def _pack(form: Form, kind: str, target: Item, source: Vector) -> list[Instruction]:
    part = _part(form, kind, len(source.items))
    bits, whole = bits_of(part), KINDS[kind]

    def join(*parts: Array) -> Array:
        found = parts[0].astype(whole)
        for i, piece in enumerate(parts[1:], 1):
            found = found | piece.astype(whole) << whole.type(bits * i)
        return found

    operands = [form.operand(item, part) for item in source.items]
    return form.compute(join, operands, form.reg(target, kind))


_WINDOWS: Final = {"global": 0, "shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "const": 0}


def convert_address(form: Form) -> list[Instruction]:
    """cvta: between an address of a space and a generic one."""
    spaces = [m for m in form.modifiers if m in ("global", "shared", "local")]
    form.only("to", *spaces)
    if len(spaces) != 1 or form.types != ["u64"]:
        raise form.unknown()
    form.count(2)
    operand, result = form.operand(form.items[1], "u64"), form.reg(form.items[0], "u64")
    window = _WINDOWS[spaces[0]]
    if not window:
        return form.compute(_same, [operand], result)
    shift = _shifted(np.uint64(-window % (1 << 64) if "to" in form.modifiers else window))
    return form.compute(shift, [operand], result)


def _shifted(by: np.uint64) -> Callable[[Array], Array]:
    return lambda x: x + by


def _access(form: Form) -> tuple[Space, str, int]:
    """(space, type, elements) of a load or store."""
    spaces = [m for m in form.modifiers if m in _SPACES]
    vectors = [m for m in form.modifiers if m in ("v2", "v4", "v8")]
    form.only(*spaces, *vectors, *_HINTS)
    if len(spaces) > 1 or len(vectors) > 1 or len(form.types) != 1:
        raise form.unknown()
    space = _SPACES[spaces[0]] if spaces else Space.GENERIC
    kind, count = form.types[0], int(vectors[0][1:]) if vectors else 1
    if kind in ("pred", "f16x2", "bf16x2") or bits_of(kind) * count > 256:
        raise form.unknown()
    form.count(2)
    return space, kind, count


def address_of(form: Form, item: Item, space: Space) -> tuple[Operand, int]:
    """An address in brackets: (register or constant, offset). Raises CompileError for another."""
    if not isinstance(item, Address):
        raise form.error("an address in brackets is wanted here")
    if not item.base:
        return Const(np.array([item.offset % (1 << 64)], np.uint64)), 0
    variable = form.names.variables.get(item.base)
    if variable is not None:
        if variable.space is not space:
            raise form.error(f"{item.base} is in .{variable.space.value} memory")
        return Const(np.array([variable.address], np.uint64)), item.offset
    register = form.names.register(item.base)
    if register is None:
        raise form.error(f"{item.base} is not declared")
    if register.bits not in (32, 64):
        raise form.error(f"{item.base} has {register.bits} bits, which is no address")
    return Reg(register.number, np.dtype(f"u{register.bits // 8}")), item.offset


def _group(form: Form, item: Item, count: int) -> Sequence[Item]:
    items: Sequence[Item] = item.items if isinstance(item, Vector) else (item,)
    if len(items) != count:
        raise form.error(f"{len(items)} registers for {count} elements")
    return items


def load(form: Form) -> list[Instruction]:
    """ld, of one element or a vector."""
    space, kind, count = _access(form)
    item = KINDS[kind]
    results = tuple(form.reg(i, kind, True) for i in _group(form, form.items[0], count))
    address, offset = address_of(form, form.items[1], space)
    wide = results[0].kind
    if any(r.kind.itemsize != wide.itemsize for r in results):
        raise form.error("registers of different widths")
    extend: Callable[[Array], Array] | None = None
    if wide.itemsize > item.itemsize:
        extend = lambda x: widened(x, wide)
    return [
        Load(
            line=form.line,
            name=form.opcode,
            guard=form.guard,
            space=space,
            address=address,
            offset=offset,
            item=item,
            results=results,
            extend=extend,
        )
    ]


def store(form: Form) -> list[Instruction]:
    """st, of one element or a vector."""
    space, kind, count = _access(form)
    if space in (Space.PARAM, Space.CONSTANT):
        raise form.unknown()
    item = KINDS[kind]
    values = tuple(form.operand(i, kind, True) for i in _group(form, form.items[1], count))
    address, offset = address_of(form, form.items[0], space)
    return [
        Store(
            line=form.line,
            name=form.opcode,
            guard=form.guard,
            space=space,
            address=address,
            offset=offset,
            item=item,
            values=values,
            narrow=_narrowing(values, item),
        )
    ]


def _narrowing(values: Sequence[Operand], item: np.dtype[Any]) -> Callable[[Array], Array] | None:
    if any(isinstance(v, Reg) and v.kind.itemsize > item.itemsize for v in values):
        bits = np.dtype(f"u{item.itemsize}")
        return lambda x: x.astype(bits).view(item)
    return None
