"""What differs between LLVM IR for a CPU and for an AMD GPU, as data.

Holds no instruction selection for arithmetic: that is the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.dtype import AddrSpace
from core.errors import RenderError
from core.target import Target


@dataclass(frozen=True)
class Dialect:
    """A target's triple and data layout come from LLVM itself; this is the rest.

    `spaces` maps address spaces to LLVM's numbers, `special` the prefix of a hardware index to the
    intrinsic that reads it (x, y or z is appended), `barrier` is the instructions of a barrier,
    `half_fma` whether there is a fused multiply-add of float16,
    `aligned` the bytes that every buffer's address is a multiple of (0: those of its elements; a
    CPU's buffers may be parts of arrays, and it reads unaligned vectors as fast).
    """

    triple: str
    convention: str
    spaces: Mapping[AddrSpace, int]
    special: Mapping[str, str] = field(default_factory=dict[str, str])
    barrier: tuple[str, ...] = ()
    shared_global: bool = False
    half_fma: bool = False
    aligned: int = 0

    def pointer(self, space: AddrSpace) -> str:
        """The pointer type for an address space."""
        number = self.spaces[space]
        return f"ptr addrspace({number})" if number else "ptr"


_flat = {AddrSpace.GLOBAL: 0, AddrSpace.LOCAL: 0, AddrSpace.REG: 0}
_x86 = Dialect("x86_64-unknown-linux-gnu", "", _flat)
_arm = Dialect("aarch64-unknown-linux-gnu", "", _flat)
# Address spaces, intrinsics and calling convention: LLVM, "User Guide for AMDGPU Backend".
_amd = Dialect(
    "amdgcn-amd-amdhsa",
    "amdgpu_kernel ",
    {AddrSpace.GLOBAL: 1, AddrSpace.LOCAL: 3, AddrSpace.REG: 5},
    {"gidx": "llvm.amdgcn.workgroup.id.", "lidx": "llvm.amdgcn.workitem.id."},
    (
        'fence syncscope("workgroup") release',
        "call void @llvm.amdgcn.s.barrier()",
        'fence syncscope("workgroup") acquire',
    ),
    shared_global=True,
    half_fma=True,
    aligned=16,
)


def dialect_of(target: Target) -> Dialect:
    """The dialect for a CPU or AMD target. Raises RenderError for other targets."""
    if target.family == "amd":
        return _amd
    if target.family == "cpu":
        return _arm if target.arch.startswith("aarch64") else _x86
    raise RenderError(f"llvm: no dialect for {target.name}", hint="use ptx for NVIDIA targets")
