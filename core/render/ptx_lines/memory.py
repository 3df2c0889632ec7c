"""Addresses, loads, stores and registers of a thread in PTX: tables of lines.

A DEFINE_REG that no ADDRESS is built on is plain registers. Decides nothing: what is moved at once,
and as what, is decided in `core/passes/ptx/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from core.dtype import AddrSpace, DType, PtrDType, dtypes
from core.render.listing import resolve
from core.render.ptx_lines.writer import Writer, class_of, register_type
from core.uop.ops import Ops
from core.uop.pointer import address_space, pointer_of
from core.uop.uop import UOp

SPACES: Final = {
    AddrSpace.GLOBAL: "global",
    AddrSpace.LOCAL: "shared",
    AddrSpace.REG: "local",
}
_memory_types: Final = {"int8": "s8", "uint8": "u8", "fp8e4m3": "u8", "fp8e5m2": "u8"}
_GROUPS: Final = {1: "{0}", 2: "{{{0}, {1}}}", 4: "{{{0}, {1}, {2}, {3}}}"}
_VECTORS: Final = {1: "", 2: ".v2", 4: ".v4"}
_BASES: Final = {
    AddrSpace.GLOBAL: ("rd", "cvta.to.global.u64 {d}, {a}"),
    AddrSpace.LOCAL: ("r", "mov.u32 {d}, {a}"),
    AddrSpace.REG: ("rd", "mov.u64 {d}, {a}"),
}
"""The class of the register with an address, and the line that brings the start of memory there."""

COPIES: Final = {
    4: "cp.async.ca.shared.global",
    8: "cp.async.ca.shared.global",
    16: "cp.async.cg.shared.global",
}
"""The instruction that copies so many bytes asynchronously."""


def memory_type(dtype: DType) -> str:
    """The PTX type that loads and stores one element of `dtype`."""
    return _memory_types.get(dtype.name, register_type(dtype))


def _addresses() -> Mapping[tuple[AddrSpace, DType], str]:
    """a * size + b, where b is the start and a the offset."""
    found: dict[tuple[AddrSpace, DType], str] = {}
    for dtype, text in (
        (dtypes.int32, "mad.wide.s32"),
        (dtypes.uint32, "mad.wide.u32"),
        (dtypes.int64, "mad.lo.s64"),
        (dtypes.uint64, "mad.lo.s64"),
    ):
        for space in (AddrSpace.GLOBAL, AddrSpace.REG):
            found[space, dtype] = f"{text} {{d}}, {{a}}, {{size}}, {{b}}"
    for dtype in (dtypes.int32, dtypes.uint32):
        found[AddrSpace.LOCAL, dtype] = "mad.lo.s32 {d}, {a}, {size}, {b}"
    return found


ADDRESSES: Final[Mapping[tuple[AddrSpace, DType], str]] = MappingProxyType(_addresses())
"""The line of an ADDRESS of two sources, by its space and the dtype of the offset."""


class Memory:
    """Where every pointer is: registers, or an address in one and the bytes beyond it."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.arrays: dict[UOp, list[str]] = {}
        self._addresses: dict[UOp, tuple[str, int]] = {}
        nodes = w.listing.uops
        self._in_memory = {pointer_of(u) for u in nodes if u.op is Ops.ADDRESS}
        self._in_memory |= {resolve(u.src[0]) for u in nodes if u.op in (Ops.LOAD, Ops.STORE)}

    def define(self, u: UOp) -> None:
        """A DEFINE_GLOBAL, DEFINE_LOCAL or DEFINE_REG. Raises RenderError without a size."""
        assert isinstance(u.dtype, PtrDType)
        space, item = u.dtype.addrspace, u.dtype.base
        if space is AddrSpace.GLOBAL:
            given = self.w.named(f"param{u.arg}", "rd")
            self.w.do(f"ld.param.u64 {given}, [data{u.arg}]")
            self._start(u, f"data{u.arg}", given)
            return
        if u.dtype.size < 0:
            raise self.w.listing.error("memory of unknown size", u, "give its pointer a size")
        if u.op is Ops.DEFINE_REG and u not in self._in_memory:
            self.arrays[u] = [self.w.of(item) for _ in range(u.dtype.size)]
            return
        name = f"{SPACES[space]}{u.arg}"
        size = u.dtype.size * item.itemsize
        self.w.do(f".{SPACES[space]} .align 16 .b8 {name}[{size}]")
        self._start(u, name, name)

    def _start(self, u: UOp, name: str, given: str) -> None:
        """The start of memory in a register."""
        kind, text = _BASES[address_space(u)]
        register = self.w.named(name, kind)
        self.w.do(text.format(d=register, a=given))
        self._addresses[u] = register, 0

    def address(self, u: UOp) -> None:
        """An ADDRESS: in a register, or a number of bytes beyond one."""
        base, bytes_ = self._addresses[resolve(u.src[0])]
        if len(u.src) == 1:
            self._addresses[u] = base, bytes_ + u.arg
            return
        space = address_space(u)
        text = ADDRESSES.get((space, u.src[1].dtype))
        if text is None:
            raise self.w.listing.unsupported(u)
        offset = self.w.register(u.src[1], 0)
        line = text.format(d="{}", a=offset, size=u.arg, b=base)
        self._addresses[u] = self.w.let(_BASES[space][0], line), 0

    def _operand(self, place: UOp) -> str:
        register, bytes_ = self._addresses[resolve(place)]
        return f"[{register}+{bytes_}]" if bytes_ else f"[{register}]"

    def _register(self, place: UOp) -> str | None:
        """The register of a place in a register array, if it is one."""
        array = self.arrays.get(pointer_of(place))
        return None if array is None else array[resolve(place).src[1].arg]

    def _move(self, u: UOp, place: UOp, dtype: DType) -> str:
        """The instruction up to its type. Raises RenderError for a width that none has."""
        if dtype.count not in _VECTORS:
            raise self.w.listing.unsupported(u)
        name = "st" if u.op is Ops.STORE else "ld"
        cached = ".nc" if name == "ld" and u.arg is not None else ""
        space = SPACES[address_space(place)]
        return f"{name}.{space}{cached}{_VECTORS[dtype.count]}.{memory_type(dtype.scalar())}"

    def load(self, u: UOp) -> None:
        """A LOAD; under a predicate, of registers that hold the alternative.

        Raises RenderError for an address that the passes for PTX did not make.
        """
        w, place, dtype = self.w, u.src[0], u.dtype.scalar()
        register = self._register(place)
        if register is not None:
            if u.dtype.count != 1:
                raise w.listing.unsupported(u)
            kind = class_of(dtype)
            w.bind(u, (w.let(kind, f"mov.{register_type(dtype)} {{}}, {register}"),))
            return
        self._check(u, place)
        move = self._move(u, place, u.dtype)
        registers = [w.of(dtype) for _ in range(u.dtype.count)]
        guard = ""
        if len(u.src) > 1:
            for lane, to in enumerate(registers):
                w.do(f"mov.{register_type(dtype)} {to}, {w.lane(u.src[1], lane)}")
            guard = f"@{w.register(u.src[2], 0)} "
        group = _GROUPS[len(registers)].format(*registers)
        w.do(f"{guard}{move} {group}, {self._operand(place)}")
        w.bind(u, tuple(registers))

    def store(self, u: UOp) -> None:
        """A STORE. Raises RenderError for one with a gate, which passes turn into an IF."""
        w, place, value = self.w, u.src[0], u.src[1]
        array = self._register(place)
        if array is not None:
            if value.dtype.count != 1:
                raise w.listing.unsupported(u)
            w.do(f"mov.{register_type(value.dtype)} {array}, {w.lane(value, 0)}")
            return
        registers = [w.register(value, lane) for lane in range(value.dtype.count)]
        self._check(u, place)
        group = _GROUPS.get(len(registers), "").format(*registers)
        w.do(f"{self._move(u, place, value.dtype)} {self._operand(place)}, {group}")

    def matrices(self, u: UOp) -> None:
        """An LDMATRIX of words. Raises RenderError for one of halves."""
        count, transposed = u.arg
        if u.dtype.count != count:
            raise self.w.listing.unsupported(u)
        registers = [self.w.of(u.dtype.scalar()) for _ in range(count)]
        turned = ".trans" if transposed else ""
        group = "{" + ", ".join(registers) + "}"
        line = f"ldmatrix.sync.aligned.m8n8.x{count}{turned}.shared.b16 {group}"
        self.w.do(f"{line}, {self._operand(u.src[0])}")
        self.w.bind(u, tuple(registers))

    def copy(self, u: UOp) -> None:
        """A COPY_ASYNC: past the first cache where it is of 16 bytes, as is only possible then.

        Raises RenderError for one that no instruction has, or with a gate."""
        to, source, taken = u.src[:3]
        kind = COPIES.get(u.arg)
        if kind is None or len(u.src) > 3:
            raise self.w.listing.unsupported(u)
        line = f"{kind} {self._operand(to)}, {self._operand(source)}, {u.arg}"
        whole = taken.op is Ops.CONST and taken.arg == u.arg
        self.w.do(line if whole else f"{line}, {self.w.lane(taken, 0)}")

    def _check(self, u: UOp, place: UOp) -> None:
        if resolve(place).op is Ops.INDEX or (u.op is Ops.STORE and len(u.src) > 2):
            hint = "run the passes of TEXT_PASSES in core/passes/pipeline.py first"
            raise self.w.listing.error(f"a {u.op.name} that is not lowered to PTX", u, hint)
