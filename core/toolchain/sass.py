"""SASS, the instructions of NVIDIA GPUs, as an artifact: PTX through ptxas and nvdisasm.

Both tools come from NVIDIA's wheels and need no GPU. PTX lines get `.loc` directives whose line is
the position of their node + 1, so that instructions map back to nodes. nvdisasm takes 0.3 s to
start: several kernels go through it as one module. Runs nothing on a device.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from core.errors import CompileError
from core.helpers import prod
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.occupancy import nvidia_occupancy
from core.toolchain.program import Artifact, Program
from core.toolchain.ptxas import assemble

_TIMEOUT: Final = 60
_FILE: Final = '.file 1 "kernel"\n'
_ENTRY: Final = ".visible .entry "
_name: Final = re.compile(r"\w+")
_section: Final = re.compile(r"\s*\.section\s")
_location: Final = re.compile(r"\s*//## File .*, line (\d+)")
_instruction: Final = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
_block: Final = re.compile(r"\.maxntid (\d+), (\d+), (\d+)")
_label: Final = re.compile(r"(\.L_\w+):")
_label_in_text: Final = re.compile(r"\.L_\w+")
_inner: Final = re.compile(r"(\$__internal_)\d+(?=_)")
"""A function that ptxas adds, numbered through the module."""


def sass(program: Program) -> Artifact:
    """The machine code of a program in PTX, with the registers and memory that it takes. Where a
    user has edited the text, its lines are of no nodes, and so are the instructions.

    Raises CompileError where a tool is missing or rejects the text.
    """
    made = assemble(_located(program, 0) + _FILE, program.source.target.arch, lines=True)
    return _artifact(program, _disassembled(made.cubin), program.name, 0, made.facts)


def sass_of(programs: Sequence[Program]) -> list[Artifact | CompileError]:
    """The same of several programs for one target: of each its machine code, or what `sass`
    raises."""
    if len(programs) > 1:
        with suppress(CompileError):  # whose fault it is shows one by one
            return [*_together(programs)]
    return [_alone(program) for program in programs]


def _alone(program: Program) -> Artifact | CompileError:
    try:
        return sass(program)
    except CompileError as error:
        return error


def _together(programs: Sequence[Program]) -> list[Artifact]:
    """The machine code of programs that share a module. Raises CompileError where they cannot."""
    firsts = [0]
    for program in programs:
        firsts.append(firsts[-1] + len(program.lowered))
    texts = [_located(program, first) for program, first in zip(programs, firsts, strict=False)]
    heads, _, bodies = zip(*(text.partition(_ENTRY) for text in texts), strict=True)
    names = [f"kernel_{at}" for at in range(len(programs))]
    if len({*heads}) > 1 or any(_ENTRY in body for body in bodies):
        raise CompileError("these texts cannot share a module")
    kernels = (_ENTRY + _name.sub(n, b, count=1) for n, b in zip(names, bodies, strict=True))
    module = "".join((heads[0], *kernels, _FILE))
    made = assemble(module, programs[0].source.target.arch, lines=True)
    if {*made.kernels} != {*names}:
        raise CompileError("ptxas does not say what each kernel takes")
    text = _disassembled(made.cubin)
    each = zip(programs, names, firsts, strict=False)
    return [_artifact(one, text, name, first, made.kernels[name]) for one, name, first in each]


def _located(program: Program, first: int) -> str:
    """The PTX with a `.loc` for each line of a node; the nodes are counted from `first` on."""
    source = program.source
    position = {u: i for i, u in enumerate(program.lowered)}
    text: list[str] = []
    lines = source.text.splitlines()
    for line, nodes in zip(lines, source.lines or ((),) * len(lines), strict=True):
        if nodes and line.startswith("  ") and not line.lstrip().startswith("."):
            text.append(f"  .loc 1 {first + position[nodes[0]] + 1} 0")
        text.append(line)
    return "\n".join([*text, ""])


def _artifact(
    program: Program, text: str, symbol: str, first: int, said: Mapping[str, str]
) -> Artifact:
    """What nvdisasm says about the program that is called `symbol` there. `said`: by ptxas."""
    source, uops = program.source, program.lowered
    lines, numbers = _instructions(text, symbol)
    own = re.compile(rf"\b{re.escape(symbol)}\b")
    lines = [own.sub(program.name, line) for line in lines]
    places = [number - 1 - first for number in numbers]
    nodes = tuple((uops[at],) if 0 <= at < len(uops) else () for at in places)
    facts = {**said, "instructions": str(sum(line.startswith(" ") for line in lines))}
    registers, shared = (int(facts.get(name, 0)) for name in ("registers", "shared bytes"))
    sizes = _block.search(source.text)
    threads = prod(map(int, sizes.groups())) if sizes else 0
    filled = nvidia_occupancy(source.target.arch, threads, registers, shared)
    facts |= {"occupancy": filled} if filled else {}
    return Artifact("sass", source.target, "\n".join(lines) + "\n", nodes, facts)


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
                [str(tool), "-g", "-c", "-ndf", str(path)],
                capture_output=True,
                text=True,
                timeout=_TIMEOUT,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileError("nvdisasm did not finish", str(error)) from error
    if done.returncode != 0:
        raise CompileError("nvdisasm rejects the kernel", done.stderr.strip())
    return done.stdout


def _instructions(text: str, symbol: str) -> tuple[list[str], list[int]]:
    """The instructions and labels of the kernel `symbol`, and the line number behind each (0:
    none). Labels and inner functions are numbered in the order in which they stand, whatever else
    is in the module."""
    lines: list[str] = []
    numbers: list[int] = []
    here, inside = 0, False
    labels: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith(f".text.{symbol}:"):
            inside = True
            lines.append(f"{symbol}:")
            numbers.append(0)
        elif not inside:
            continue
        elif _section.match(line):
            break
        elif found := _location.match(line):
            here = int(found[1])
        elif found := _instruction.match(line):
            lines.append(f"  {found[1]}")
            numbers.append(here)
        elif found := _label.match(line):
            labels[found[1]] = f".L_{len(labels)}"
            lines.append(f"{found[1]}:")
            numbers.append(0)
    inner: dict[str, str] = {}

    def renamed(line: str) -> str:
        line = _label_in_text.sub(lambda m: labels.get(m[0], m[0]), line)
        return _inner.sub(lambda m: inner.setdefault(m[0], f"{m[1]}{len(inner)}"), line)

    return [*map(renamed, lines)], numbers
