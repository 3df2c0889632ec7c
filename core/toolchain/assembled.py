"""Assembly as an artifact: compiled from LLVM IR, its lines mapped back to nodes, its resources
read from the compiler's own metadata.

Renders nothing itself and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.helpers import ceildiv
from core.toolchain import llvm_compiler
from core.toolchain.program import Artifact
from core.uop.uop import UOp

_amd_facts: Final = (
    ("vgprs", r"\.vgpr_count:\s+(\d+)"),
    ("sgprs", r"\.sgpr_count:\s+(\d+)"),
    ("vgpr spills", r"\.vgpr_spill_count:\s+(\d+)"),
    ("sgpr spills", r"\.sgpr_spill_count:\s+(\d+)"),
    ("lds bytes", r"\.group_segment_fixed_size:\s+(\d+)"),
    ("scratch bytes", r"\.private_segment_fixed_size:\s+(\d+)"),
    ("wavefront", r"\.wavefront_size:\s+(\d+)"),
)
"""What LLVM's AMDGPU backend writes into the code object's metadata."""
# vector registers per lane of a SIMD, allocation granule, most waves of a SIMD (LLVM, "User Guide
# for AMDGPU Backend"; AMD RDNA3 and CDNA3 instruction set architecture guides)
_amd_simd: Final = {"gfx11": (1536, 24, 16), "gfx12": (1536, 24, 16), "gfx9": (512, 8, 8)}


def cpu_assembly(source: Artifact, name: str, uops: Sequence[UOp]) -> Artifact:
    """The processor's instructions for LLVM IR `source`. Raises CompileError."""
    text = llvm_compiler.assembly(source.text, name, source.target)
    return _mapped("cpu_asm", source, text, name, uops, {})


def amd_isa(source: Artifact, name: str, uops: Sequence[UOp]) -> Artifact:
    """The GPU's instructions for LLVM IR `source`, with registers, memory and occupancy. Raises
    CompileError."""
    text = llvm_compiler.assembly(source.text, name, source.target)
    facts: dict[str, str] = {}
    for fact, pattern in _amd_facts:
        found = re.search(pattern, text)
        if found:
            facts[fact] = found[1]
    if "vgprs" in facts:
        facts["occupancy"] = amd_occupancy(source.target.arch, int(facts["vgprs"]))
    return _mapped("amd_isa", source, text, name, uops, facts)


def amd_occupancy(arch: str, vgprs: int) -> str:
    """Waves of a SIMD that `vgprs` registers allow, such as "12 of 16 waves"."""
    registers, granule, most = next(v for k, v in _amd_simd.items() if arch.startswith(k))
    waves = min(most, registers // (ceildiv(max(1, vgprs), granule) * granule))
    return f"{waves} of {most} waves"


def _mapped(
    kind: str, source: Artifact, text: str, name: str, uops: Sequence[UOp], facts: dict[str, str]
) -> Artifact:
    lines, numbers = llvm_compiler.instructions(text, name)
    nodes = tuple((uops[n - 1],) if 0 < n <= len(uops) else () for n in numbers)
    facts["instructions"] = str(sum(line[:1].isspace() for line in lines))
    return Artifact(kind, source.target, "\n".join(lines) + "\n", nodes, facts)
