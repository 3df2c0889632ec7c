"""Matrix instructions in PTX: elements packed into registers of 32 bits, and unpacked.

Source: NVIDIA, "Parallel Thread Execution ISA", "Multiply-and-Accumulate Instruction: mma": A and B
are in .b32 registers, the first element in the lowest bits, as are C and D of float16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.render.ptx_writer import Writer
from core.tensor_cores import TensorCore
from core.uop.uop import UOp

_SINCE: Final = {"m8n8k16": "6.5", "m16n8k8": "6.5", "e4m3": "8.4", "e5m2": "8.4"}
"""The versions of the language that brought forms of the instruction later than their targets."""


def version_of(core: TensorCore) -> str:
    """The version of the language that an instruction needs, "0.0" where any target's will do."""
    return max((_SINCE.get(part, "0.0") for part in core.name.split(".")), key=float)


def write_product(w: Writer, u: UOp) -> tuple[str, ...]:
    """The instruction of a WMMA; the registers of its elements."""
    dtype = u.dtype.scalar()
    a, b = (_packed(w, s) for s in u.src[:2])
    if dtype.bits == 32:
        c = [w.register(u.src[2], i) for i in range(u.dtype.count)]
        found = [w.of(dtype) for _ in range(u.dtype.count)]
        _multiply(w, u.arg.name, found, a, b, c)
        return tuple(found)
    c = _packed(w, u.src[2])
    pairs = [w.fresh("r") for _ in c]
    _multiply(w, u.arg.name, pairs, a, b, c)
    halves: list[str] = []
    for pair in pairs:
        low, high = w.of(dtype), w.of(dtype)
        w.do(f"mov.b32 {{{low}, {high}}}, {pair}")
        halves += [low, high]
    return tuple(halves)


def _multiply(w: Writer, name: str, *operands: Sequence[str]) -> None:
    w.do(f"{name} " + ", ".join("{" + ", ".join(part) + "}" for part in operands))


def _packed(w: Writer, s: UOp) -> list[str]:
    """A vector in registers of 32 bits."""
    lanes = [w.register(s, i) for i in range(s.dtype.count)]
    bits = s.dtype.bits
    if bits == 32:
        return [w.let("r", f"mov.b32 {{}}, {x}") for x in lanes]
    pairs = [
        w.let("r", f"mov.b32 {{}}, {{{{{low}, {high}}}}}")
        for low, high in zip(lanes[::2], lanes[1::2], strict=True)
    ]
    if bits == 16:
        return pairs
    # of each register of 16 bits, the lower byte
    return [
        w.let("r", f"prmt.b32 {{}}, {low}, {high}, 0x6420")
        for low, high in zip(pairs[::2], pairs[1::2], strict=True)
    ]
