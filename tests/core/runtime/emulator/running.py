"""Runs PTX text, linear programs and whole kernels on the emulator, in memory of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.compile import compile_kernel
from core.render import ptx
from core.render.listing import Listing
from core.runtime.emulator.machine import execute
from core.runtime.emulator.memory.globalmemory import Region
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.program import Code
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.state import Checks, Launch
from core.target import targets
from core.uop.uop import UOp
from tests.core.render.lowered import lowered

Array = np.ndarray[Any, Any]

REGISTERS = """
  .reg .pred %p<32>;
  .reg .b16 %h<32>;
  .reg .b32 %r<64>;
  .reg .b64 %rd<64>;
  .reg .f32 %f<32>;
  .reg .f64 %fd<32>;
"""


def kernel(body: str, pointers: int = 1, declarations: str = "") -> str:
    """A kernel `k` around instructions. Pointer n is in %rd(50 + n), the thread's number in its
    block in %r60, in the grid in %r61."""
    params = ",\n".join(f"  .param .u64 data{n}" for n in range(pointers))
    loads = "".join(f"  ld.param.u64 %rd{50 + n}, [data{n}];\n" for n in range(pointers))
    return (
        f".version 8.6\n.target sm_100\n.address_size 64\n{declarations}"
        f".visible .entry k(\n{params}\n)\n{{{REGISTERS}{loads}"
        "  mov.u32 %r60, %tid.x;\n  mov.u32 %r62, %ctaid.x;\n  mov.u32 %r63, %ntid.x;\n"
        f"  mad.lo.u32 %r61, %r62, %r63, %r60;\n{body}\n  ret;\n}}\n"
    )


def line_of(text: str, part: str) -> int:
    """The number of the only line with `part`."""
    (found,) = [i for i, line in enumerate(text.splitlines(), 1) if part in line]
    return found


def launch(
    memory: Mapping[int, Array] | Sequence[Array],
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    variables: Sequence[tuple[int, int]] = (),
    unwritten: Sequence[int] = (),
) -> Launch:
    """A launch with each array as a region `data<n>`; `variables` are (value, bytes)."""
    arrays = dict(enumerate(memory)) if isinstance(memory, Sequence) else memory
    regions: list[Region] = []
    params = b""
    for n in sorted(arrays):
        address = (1 << 40) + (n << 24)
        content = arrays[n].reshape(-1).view(np.uint8)
        written = np.zeros(content.size, np.uint8) if n in unwritten else None
        regions.append(Region(f"data{n}", address, content, written))
        params += address.to_bytes(8, "little")
    for value, nbytes in variables:
        params += bytes(-len(params) % nbytes) + (value % (1 << 8 * nbytes)).to_bytes(
            nbytes, "little"
        )
    return Launch(grid, block, params, tuple(regions))


def run_text(
    text: str,
    memory: Sequence[Array],
    threads: int = 1,
    blocks: int = 1,
    checks: Checks | None = None,
    limit: int | None = 100_000,
    unwritten: Sequence[int] = (),
) -> Code:
    """Runs the kernel `k` of a text."""
    code = read(text, "k")
    started = launch(memory, (blocks, 1, 1), (threads, 1, 1), unwritten=unwritten)
    execute(prepare(code, checks), started, limit)
    return code


def run_linear(
    uops: Sequence[UOp],
    memory: Mapping[int, Array],
    target: str = "sm_90",
    variables: Mapping[str, int] | None = None,
) -> None:
    """Renders a linear program as PTX and runs that in `memory`."""
    listing = Listing(uops, "k", "ptx")
    code = read(ptx.render(lowered(uops, target), "k", targets[target]).text, "k")
    values = [((variables or {})[v.arg[0]], v.dtype.itemsize) for v in listing.variables]
    grid, block = tuple(int(n.arg) for n in listing.grid), listing.local_size
    execute(prepare(code), launch(memory, grid, block, values))


def run_ast(
    ast: UOp, memory: Sequence[Array], target: str, variables: Mapping[str, int] | None = None
) -> None:
    """Compiles a kernel AST for a target and runs it in `memory`."""
    program = compile_kernel(ast, targets[target])
    values = [((variables or {})[v.arg[0]], v.dtype.itemsize) for v in program.variables]
    arrays = {a.number: memory[a.number] for a in program.arguments}
    code = read(program.source.text, program.name)
    execute(prepare(code), launch(arrays, program.global_size, program.local_size, values))
