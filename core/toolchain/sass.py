"""SASS, the instructions of NVIDIA GPUs, as an artifact: PTX through ptxas and nvdisasm.

Both tools come from NVIDIA's wheels and need no GPU. PTX lines get `.loc` directives whose line is
the position of their node + 1, so that instructions map back to nodes. Runs nothing on a device.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from core.errors import CompileError
from core.helpers import prod
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.occupancy import nvidia_occupancy
from core.toolchain.program import Artifact
from core.toolchain.ptxas import assemble
from core.uop.uop import UOp

_TIMEOUT: Final = 60
_location: Final = re.compile(r"\s*//## File .*, line (\d+)")
_instruction: Final = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
_block: Final = re.compile(r"\.maxntid (\d+), (\d+), (\d+)")
_label: Final = re.compile(r"(\.L_\w+):")


def sass(source: Artifact, name: str, uops: Sequence[UOp]) -> Artifact:
    """The machine code of PTX `source`, with the registers and memory that it takes. Of a text that
    a user has edited, whose lines are of no nodes, no instruction has a node.

    Raises CompileError where a tool is missing or rejects the text.
    """
    made = assemble(_located(source, uops), source.target.arch, lines=True)
    lines, numbers = _instructions(_disassembled(made.cubin), name)
    nodes = tuple((uops[n - 1],) if 0 < n <= len(uops) else () for n in numbers)
    facts = {**made.facts, "instructions": str(sum(line.startswith(" ") for line in lines))}
    registers, shared = (int(made.facts.get(name, 0)) for name in ("registers", "shared bytes"))
    sizes = _block.search(source.text)
    threads = prod(map(int, sizes.groups())) if sizes else 0
    filled = nvidia_occupancy(source.target.arch, threads, registers, shared)
    facts |= {"occupancy": filled} if filled else {}
    return Artifact("sass", source.target, "\n".join(lines) + "\n", nodes, facts)


def _located(source: Artifact, uops: Sequence[UOp]) -> str:
    position = {u: i for i, u in enumerate(uops)}
    text: list[str] = []
    lines = source.text.splitlines()
    for line, nodes in zip(lines, source.lines or ((),) * len(lines), strict=True):
        if nodes and line.startswith("  ") and not line.lstrip().startswith("."):
            text.append(f"  .loc 1 {position[nodes[0]] + 1} 0")
        text.append(line)
    return "\n".join([*text, '.file 1 "kernel"', ""])


def _disassembled(cubin: bytes) -> str:
    tool = find_tool("nvdisasm")
    if tool is None:
        raise CompileError(
            "nvdisasm, NVIDIA's disassembler, is not installed",
            hint="pip install 'uopviz[test]' brings it (nvidia-cuda-nvdisasm)",
        )
    with tempfile.TemporaryDirectory(prefix="uopviz-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        try:
            done = subprocess.run(
                [str(tool), "-g", "-c", str(path)], capture_output=True, text=True, timeout=_TIMEOUT
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileError("nvdisasm did not finish", str(error)) from error
    if done.returncode != 0:
        raise CompileError("nvdisasm rejects the kernel", done.stderr.strip())
    return done.stdout


def _instructions(text: str, name: str) -> tuple[list[str], list[int]]:
    """The instructions and labels of kernel `name`, and the line number behind each (0: none)."""
    lines: list[str] = []
    numbers: list[int] = []
    here, inside = 0, False
    for line in text.splitlines():
        if line.startswith(f".text.{name}:"):
            inside = True
            lines.append(f"{name}:")
            numbers.append(0)
        elif not inside:
            continue
        elif found := _location.match(line):
            here = int(found[1])
        elif found := _instruction.match(line):
            lines.append(f"  {found[1]}")
            numbers.append(here)
        elif found := _label.match(line):
            lines.append(f"{found[1]}:")
            numbers.append(0)
    return lines, numbers
