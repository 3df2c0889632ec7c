"""Matrix instructions in PTX, whose elements are packed into registers of 32 bits.

Source: NVIDIA, "Parallel Thread Execution ISA", "Multiply-and-Accumulate Instruction: mma": A and B
are in .b32 registers, the first element in the lowest bits, as are C and D of float16.
"""

from __future__ import annotations

from typing import Final

from core.render.ptx_lines.writer import Writer
from core.tensor_cores import TensorCore
from core.uop.uop import UOp

_SINCE: Final = {"m8n8k16": "6.5", "m16n8k8": "6.5", "e4m3": "8.4", "e5m2": "8.4"}
"""The versions of the language that brought forms of the instruction later than their targets."""


def version_of(u: UOp) -> str:
    """The version of the language that a WMMA or LDMATRIX needs, "0.0" where any target's will
    do."""
    core = u.arg
    if not isinstance(core, TensorCore):
        return "6.5"
    return max((_SINCE.get(part, "0.0") for part in core.name.split(".")), key=float)


def write_product(w: Writer, u: UOp) -> tuple[str, ...]:
    """The line of a WMMA of words; the registers of its result."""
    found = tuple([w.of(u.dtype.scalar()) for _ in range(u.dtype.count)])
    operands = ([w.register(s, i) for i in range(s.dtype.count)] for s in u.src)
    groups = ("{" + ", ".join(part) + "}" for part in (found, *operands))
    w.do(f"{u.arg.name} " + ", ".join(groups))
    return found
