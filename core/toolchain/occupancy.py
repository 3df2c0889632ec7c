"""How much of a GPU's processor the compiled code of a kernel can fill, by the resources it takes.

Sources: NVIDIA, "CUDA C++ Programming Guide", technical specifications per compute capability;
LLVM, "User Guide for AMDGPU Backend"; AMD, RDNA3 and CDNA3 instruction set architecture guides.
Upper bounds: nothing is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.helpers import ceildiv

_WARP: Final = 32
_REGISTERS: Final = 65536
"""Registers of an NVIDIA processor, in _PARTS; a warp gets a multiple of _GRANULE of a part."""
_GRANULE: Final = 256
_PARTS: Final = 4
_RESERVED: Final = 1024
"""Bytes of shared memory that each block takes besides its own, from compute capability 8.0 on."""


@dataclass(frozen=True)
class _Processor:
    """What one NVIDIA processor holds at once; `shared` in bytes."""

    warps: int
    blocks: int
    shared: int


_nvidia: Final = {
    75: _Processor(32, 16, 64 << 10),
    80: _Processor(64, 32, 164 << 10),
    86: _Processor(48, 16, 100 << 10),
    87: _Processor(48, 16, 164 << 10),
    89: _Processor(48, 24, 100 << 10),
    90: _Processor(64, 32, 228 << 10),
    100: _Processor(64, 32, 228 << 10),
    103: _Processor(64, 32, 228 << 10),
    120: _Processor(48, 24, 100 << 10),
}
"""By compute capability."""
# vector registers per lane of a SIMD, allocation granule, most waves of a SIMD
_amd_simd: Final = {"gfx11": (1536, 24, 16), "gfx12": (1536, 24, 16), "gfx9": (512, 8, 8)}


def nvidia_occupancy(arch: str, threads: int, registers: int, shared: int) -> str:
    """Warps of a processor of `arch` ("sm_90") that blocks of `threads` threads fill, such as
    "48 of 64 warps", where a thread takes `registers` and a block `shared` bytes; "" for an
    architecture that is not known, or no threads."""
    capability = int("".join(c for c in arch if c.isdigit()) or 0)
    processor = _nvidia.get(capability)
    if processor is None or threads <= 0:
        return ""
    warps = ceildiv(threads, _WARP)
    taken = ceildiv(max(1, registers) * _WARP, _GRANULE) * _GRANULE
    by_registers = _REGISTERS // taken // _PARTS * _PARTS // warps
    reserved = _RESERVED if capability >= 80 else 0
    by_shared = processor.shared // (shared + reserved) if shared + reserved else processor.blocks
    blocks = min(processor.blocks, processor.warps // warps, by_registers, by_shared)
    return f"{blocks * warps} of {processor.warps} warps"


def amd_occupancy(arch: str, vgprs: int) -> str:
    """Waves of a SIMD that `vgprs` registers allow, such as "12 of 16 waves"."""
    registers, granule, most = next(v for k, v in _amd_simd.items() if arch.startswith(k))
    waves = min(most, registers // (ceildiv(max(1, vgprs), granule) * granule))
    return f"{waves} of {most} waves"
