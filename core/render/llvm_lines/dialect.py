"""What differs between LLVM IR for a CPU and for an AMD GPU, as data.

Holds no instruction selection for arithmetic: that is the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from core.dtype import AddrSpace, dtypes
from core.errors import RenderError
from core.render.llvm_lines.types import SOFT
from core.target import Target


@dataclass(frozen=True)
class Dialect:
    """A target's triple and data layout come from LLVM itself; this is the rest.

    `spaces` maps address spaces to LLVM's numbers, `special` the prefix of a hardware index to the
    intrinsic that reads it (x, y or z is appended), `permute` the intrinsic that reads a register
    of the lane at an address in bytes, `lanes_before` those that count the lanes below one's own,
    `barrier` is the instructions of a barrier,
    `half_fma` whether there is a fused multiply-add of float16,
    `soft` the names of the dtypes that are integers of their bits (see `llvm_types`),
    `aligned` the bytes that every buffer's address is a multiple of (0: those of its elements; a
    CPU's buffers may be parts of arrays, and it reads unaligned vectors as fast).
    """

    triple: str
    convention: str
    spaces: Mapping[AddrSpace, int]
    special: Mapping[str, str] = field(default_factory=dict[str, str])
    permute: str | None = None
    lanes_before: tuple[str, ...] = ()
    barrier: tuple[str, ...] = ()
    shared_global: bool = False
    half_fma: bool = False
    soft: frozenset[str] = SOFT
    aligned: int = 0

    def pointer(self, space: AddrSpace) -> str:
        """The pointer type for an address space."""
        number = self.spaces[space]
        return f"ptr addrspace({number})" if number else "ptr"


_flat = {AddrSpace.GLOBAL: 0, AddrSpace.LOCAL: 0, AddrSpace.REG: 0}
# Address spaces, intrinsics and calling convention: LLVM, "User Guide for AMDGPU Backend".
_amd = partial(
    Dialect,
    convention="amdgpu_kernel ",
    spaces={AddrSpace.GLOBAL: 1, AddrSpace.LOCAL: 3, AddrSpace.REG: 5},
    special={"gidx": "llvm.amdgcn.workgroup.id.", "lidx": "llvm.amdgcn.workitem.id."},
    permute="llvm.amdgcn.ds.bpermute",
    barrier=(
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
        counting = ("llvm.amdgcn.mbcnt.lo", "llvm.amdgcn.mbcnt.hi")
        return _amd(target.triple, lanes_before=counting[: target.wave // 32])
    if target.family == "cpu":
        narrow = () if target.converts(dtypes.float16) else (dtypes.float16.name,)
        return Dialect(target.triple, "", _flat, soft=SOFT.union(narrow))
    raise RenderError(f"llvm: no dialect for {target.name}", hint="use ptx for NVIDIA targets")
