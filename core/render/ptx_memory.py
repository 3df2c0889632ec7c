"""Addresses, loads, stores and register arrays in PTX.

An access is vectorized as far as the offset's known divisor and the 16 bytes of one instruction
allow. A register array whose every index is a constant becomes plain registers.
"""

from __future__ import annotations

from typing import Final

from core.dtype import AddrSpace, DType, PtrDType, dtypes
from core.render.listing import resolve
from core.render.ptx_writer import Writer, class_of, register_type
from core.uop.ops import Ops
from core.uop.pointer import address_space, pointer_of
from core.uop.uop import UOp

SPACES: Final = {
    AddrSpace.GLOBAL: "global",
    AddrSpace.LOCAL: "shared",
    AddrSpace.REG: "local",
}
_WIDEST: Final = 16
_memory_types: Final = {"bool": "u8", "int8": "s8", "uint8": "u8", "fp8e4m3": "u8", "fp8e5m2": "u8"}


def memory_type(dtype: DType) -> str:
    """The PTX type that loads and stores one element of `dtype`."""
    return _memory_types.get(dtype.name, register_type(dtype))


class Memory:
    """Where every pointer is, and which addresses are known in the scopes that are open."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.arrays: dict[UOp, list[str]] = {}
        self._bases: dict[UOp, str] = {}
        self._scopes: list[dict[tuple[UOp, UOp], str]] = [{}]
        self._scattered = {
            pointer_of(u)
            for u in w.listing.uops
            if u.op is Ops.INDEX
            and address_space(u) is AddrSpace.REG
            and resolve(u.src[1]).op is not Ops.CONST
        }

    def open(self) -> None:
        """A loop or a branch begins."""
        self._scopes.append({})

    def close(self) -> None:
        """The innermost loop or branch ends, and what was computed in it is gone."""
        self._scopes.pop()

    def define(self, u: UOp) -> None:
        """A DEFINE_GLOBAL, DEFINE_LOCAL or DEFINE_REG. Raises RenderError without a size."""
        assert isinstance(u.dtype, PtrDType)
        space, item = u.dtype.addrspace, u.dtype.base
        if space is AddrSpace.GLOBAL:
            generic = self.w.let("rd", f"ld.param.u64 {{}}, [data{u.arg}]")
            self._bases[u] = self.w.let("rd", f"cvta.to.global.u64 {{}}, {generic}")
            return
        if u.dtype.size < 0:
            raise self.w.listing.error("memory of unknown size", u, "give its pointer a size")
        if space is AddrSpace.REG and u not in self._scattered:
            self.arrays[u] = [self.w.of(item) for _ in range(u.dtype.size)]
            return
        name = f"{SPACES[space]}{self.w.listing.position[u]}"
        size = u.dtype.size * item.itemsize
        self.w.do(f".{SPACES[space]} .align 16 .b8 {name}[{size}]")
        kind = "r" if space is AddrSpace.LOCAL else "rd"
        self._bases[u] = self.w.let(kind, f"mov.{'u32' if kind == 'r' else 'u64'} {{}}, {name}")

    def address(self, index: UOp, extra: int = 0) -> str:
        """The operand [register+bytes] of the element `extra` after the one at `index`."""
        pointer, offset = pointer_of(index), resolve(index.src[1])
        item = pointer.dtype.base.itemsize
        base, constant = offset, 0
        if offset.op is Ops.CONST:
            return self._operand(self._bases[pointer], (offset.arg + extra) * item)
        if offset.op is Ops.ADD and resolve(offset.src[1]).op is Ops.CONST:
            base, constant = resolve(offset.src[0]), resolve(offset.src[1]).arg
        key = (pointer, base)
        register = next((s[key] for s in reversed(self._scopes) if key in s), None)
        if register is None:
            register = self._scopes[-1][key] = self._compute(pointer, base, item)
        return self._operand(register, (constant + extra) * item)

    def _operand(self, register: str, displacement: int) -> str:
        if not -(1 << 31) <= displacement < 1 << 31:
            register = self.w.let("rd", f"add.s64 {{}}, {register}, {displacement}")
            displacement = 0
        return f"[{register}+{displacement}]" if displacement else f"[{register}]"

    def _compute(self, pointer: UOp, offset: UOp, item: int) -> str:
        x, base = self.w.register(offset, 0), self._bases[pointer]
        wide = offset.dtype.bits == 64
        if address_space(pointer) is AddrSpace.LOCAL:
            if wide:
                x = self.w.let("r", f"cvt.u32.u64 {{}}, {x}")
            return self.w.let("r", f"mad.lo.s32 {{}}, {x}, {item}, {base}")
        if wide:
            return self.w.let("rd", f"mad.lo.s64 {{}}, {x}, {item}, {base}")
        sign = "u" if dtypes.is_unsigned(offset.dtype) else "s"
        return self.w.let("rd", f"mad.wide.{sign}32 {{}}, {x}, {item}, {base}")

    def array(self, index: UOp, lane: int) -> tuple[list[str], int] | None:
        """The registers and the position in them of a register array's element, if it is one."""
        pointer = pointer_of(index)
        if pointer not in self.arrays:
            return None
        start = resolve(index.src[1]).arg if index.op is Ops.INDEX else 0
        return self.arrays[pointer], start + lane

    def load(self, u: UOp) -> None:
        """A LOAD, with or without a gate. Raises RenderError for a gate without alternative."""
        w, index, dtype = self.w, resolve(u.src[0]), u.dtype.scalar()
        lanes = u.dtype.count
        if self.array(index, 0) is not None:
            found: list[str] = []
            for lane in range(lanes):
                place = self.array(index, lane)
                assert place is not None
                kind = class_of(dtype)
                found.append(w.let(kind, f"mov.{register_type(dtype)} {{}}, {place[0][place[1]]}"))
            w.bind(u, tuple(found))
            return
        gate: UOp | None = None
        other: UOp | None = None
        if index.op is Ops.INDEX and len(index.src) > 2:
            if len(u.src) < 2:
                raise w.listing.error(
                    "a gated load without an alternative value", u, "give LOAD a second source"
                )
            gate, other = index.src[2], u.src[1]
        by_lane = gate is not None and gate.dtype.count > 1
        parts = [(k, 1) for k in range(lanes)] if by_lane else self._pieces(index, dtype, lanes)
        registers: list[str] = []
        for at, count in parts:
            guard = "" if gate is None else f"@{w.register(gate, at if by_lane else 0)} "
            # packing two halves into a word wants registers
            take = w.register if dtype.itemsize == 2 else w.lane
            alternative = None if other is None else [take(other, at + i) for i in range(count)]
            registers += self._load_piece(index, dtype, at, count, guard, alternative)
        w.bind(u, tuple(registers))

    def _pieces(self, index: UOp, dtype: DType, lanes: int) -> list[tuple[int, int]]:
        """(first element, elements) of each instruction that an access of `lanes` takes."""
        most = {1: 4, 2: 8, 4: 4, 8: 2}[dtype.itemsize]
        offset = resolve(index.src[1])
        together = self.w.listing.lanes_together(
            offset, dtype.itemsize, lanes, min(_WIDEST, most * dtype.itemsize)
        )
        return [(at, together) for at in range(0, lanes, together)]

    def _load_piece(
        self, index: UOp, dtype: DType, at: int, count: int, guard: str, other: list[str] | None
    ) -> list[str]:
        w, space = self.w, address_space(index)
        address = self.address(index, at)
        pointer = pointer_of(index)
        read_only = space is AddrSpace.GLOBAL and pointer not in w.listing.stored
        name = f"ld.{SPACES[space]}" + (".nc" if read_only else "")
        if dtype.itemsize == 2 and count > 1:
            return self._load_packed(name, dtype, address, count, guard, other)
        kind = "h" if dtypes.is_bool(dtype) else class_of(dtype)
        registers = [w.fresh(kind) for _ in range(count)]
        if other is not None:
            for register, value in zip(registers, other, strict=True):
                if dtypes.is_bool(dtype):
                    w.do(f"selp.b16 {register}, 1, 0, {value}")
                else:
                    w.do(f"mov.{register_type(dtype)} {register}, {value}")
        w.do(f"{guard}{name}{_vector(count)}.{memory_type(dtype)} {_group(registers)}, {address}")
        if dtypes.is_bool(dtype):
            return [w.let("p", f"setp.ne.u16 {{}}, {r}, 0") for r in registers]
        return registers

    def _load_packed(
        self, name: str, dtype: DType, address: str, count: int, guard: str, other: list[str] | None
    ) -> list[str]:
        """16-bit elements, two to a 32-bit register."""
        w = self.w
        words = [w.fresh("r") for _ in range(count // 2)]
        if other is not None:
            for i, word in enumerate(words):
                w.do(f"mov.b32 {word}, {{{other[2 * i]}, {other[2 * i + 1]}}}")
        w.do(f"{guard}{name}{_vector(len(words))}.b32 {_group(words)}, {address}")
        halves = [w.of(dtype) for _ in range(count)]
        for i, word in enumerate(words):
            w.do(f"mov.b32 {{{halves[2 * i]}, {halves[2 * i + 1]}}}, {word}")
        return halves

    def store(self, u: UOp) -> None:
        """A STORE. Raises RenderError for one with a gate, which passes turn into an IF."""
        w, index, value = self.w, resolve(u.src[0]), u.src[1]
        dtype, lanes = value.dtype.scalar(), value.dtype.count
        if index.op is Ops.INDEX and len(index.src) > 2:
            raise w.listing.error("a gated store", u, "turn the gate into an IF first")
        registers = [w.register(value, lane) for lane in range(lanes)]
        if self.array(index, 0) is not None:
            for lane, register in enumerate(registers):
                place = self.array(index, lane)
                assert place is not None
                w.do(f"mov.{register_type(dtype)} {place[0][place[1]]}, {register}")
            return
        name = f"st.{SPACES[address_space(index)]}"
        if dtypes.is_bool(dtype):
            registers = [w.let("h", f"selp.b16 {{}}, 1, 0, {r}") for r in registers]
        for at, count in self._pieces(index, dtype, lanes):
            piece, address = registers[at : at + count], self.address(index, at)
            if dtype.itemsize == 2 and count > 1:
                words = [w.fresh("r") for _ in range(count // 2)]
                for i, word in enumerate(words):
                    w.do(f"mov.b32 {word}, {{{piece[2 * i]}, {piece[2 * i + 1]}}}")
                w.do(f"{name}{_vector(len(words))}.b32 {address}, {_group(words)}")
            else:
                w.do(f"{name}{_vector(count)}.{memory_type(dtype)} {address}, {_group(piece)}")


def _vector(count: int) -> str:
    return f".v{count}" if count > 1 else ""


def _group(registers: list[str]) -> str:
    return registers[0] if len(registers) == 1 else "{" + ", ".join(registers) + "}"
