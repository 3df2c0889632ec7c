"""Matrix instructions of AMD GPUs: the LLVM intrinsic of each, and the types that it takes.

Source: LLVM, "User Guide for AMDGPU Backend", intrinsics llvm.amdgcn.wmma.* and llvm.amdgcn.mfma.*;
the signatures are those of include/llvm/IR/IntrinsicsAMDGPU.td, and clang's builtins those of
include/clang/Basic/BuiltinsAMDGPU.def. Writes no text of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.tensor_cores import COPY, TensorCore

_OLDER: Final = {
    "v_mfma_f32_16x16x16_f16": "16x16x16f16",
    "v_mfma_f32_16x16x16_bf16": "16x16x16bf16.1k",
    "v_mfma_f32_16x16x4_f32": "16x16x4f32",
    "v_mfma_f32_32x32x8_f16": "32x32x8f16",
    "v_mfma_f32_32x32x8_bf16": "32x32x8bf16.1k",
}
"""Those whose names are put together in another way."""
_LATER_BF16: Final = ("v_mfma_f32_16x16x32_bf16", "v_mfma_f32_32x32x16_bf16")
"""Those that take bfloat16 as such; others take integers of 16 bits."""
_NO_BROADCAST: Final = ("i32 0", "i32 0", "i32 0")
"""cbsz, abid, blgp: no block of A or B is repeated or moved."""


@dataclass(frozen=True, slots=True)
class Call:
    """An intrinsic: its name, the type that A and B are given as ("" for vectors of their
    elements), and the constants before A, before B and after C."""

    name: str
    operand: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def call_of(core: TensorCore) -> Call:
    """The intrinsic of one of AMD's instructions."""
    kind, to, rest = core.name.removeprefix("v_").split("_", 2)
    name = f"llvm.amdgcn.{kind}.{to}." + _OLDER.get(core.name, rest.replace("_", "."))
    bits = core.a.count * core.dtype_in.bits
    if kind == "mfma":
        operand = ""
        if core.dtype_in.bits == 8:
            operand = "i64" if bits == 64 else f"<{bits // 32} x i32>"
        elif core.name in _LATER_BF16:
            operand = f"<{core.a.count} x bfloat>"
        return Call(name, operand, (), _NO_BROADCAST)
    operand = f"<{bits // 32} x i32>" if core.dtype_in.bits == 8 else ""
    if rest.endswith("iu8"):  # both are signed; sums wrap around
        return Call(name, operand, ("i1 true",), ("i1 false",))
    # op_sel of the forms that sum in 16 bits: results are packed
    return Call(name, operand, (), ("i1 false",) if to == "f16" else ())


def builtin_of(core: TensorCore) -> str:
    """Clang's builtin for one of AMD's instructions. RDNA4, whose lanes hold no copies, has some
    of its own for what RDNA3 has, too."""
    name = "__builtin_amdgcn_" + call_of(core).name.removeprefix("llvm.amdgcn.").replace(".", "_")
    if "wmma" not in name:
        return name
    return name + ("_w32" if COPY in core.a.lanes else "_w32_gfx12")
