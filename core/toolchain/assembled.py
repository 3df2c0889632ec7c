"""Assembly as an artifact: compiled from LLVM IR, its lines mapped back to nodes, its resources
read from the compiler's own metadata.

Renders nothing itself and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.toolchain import llvm_compiler
from core.toolchain.occupancy import amd_occupancy
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


def _mapped(
    kind: str, source: Artifact, text: str, name: str, uops: Sequence[UOp], facts: dict[str, str]
) -> Artifact:
    lines, numbers = llvm_compiler.instructions(text, name)
    nodes = tuple((uops[n - 1],) if 0 < n <= len(uops) else () for n in numbers)
    facts["instructions"] = str(sum(line[:1].isspace() for line in lines))
    return Artifact(kind, source.target, "\n".join(lines) + "\n", nodes, facts)
