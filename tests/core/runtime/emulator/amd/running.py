"""Runs texts of LLVM IR on arrays: in the emulator, and as machine code of this processor."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from llvmlite import binding as llvm

from core.errors import CompileError
from core.helpers import prod
from core.runtime.emulator.llvm.translate import translate
from core.runtime.emulator.machine import execute
from core.runtime.emulator.memory.globalmemory import Region
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.program import Dim
from core.runtime.emulator.state import Launch
from core.target import targets
from core.toolchain import llvm_compiler
from core.toolchain.processor import Processor, processor
from core.toolchain.program import Program
from tests.core.runtime.emulator.amd.kernels import HEAD

Array = np.ndarray[Any, Any]
FIRST = 1 << 20
"""Where the memory of the first argument begins."""


def regions_of(arrays: Sequence[Array], written: Sequence[bool] | None = None) -> list[Region]:
    """The memory of arguments, with room between them."""
    found: list[Region] = []
    at = FIRST
    for number, array in enumerate(arrays):
        writable = written[number] if written else True
        found.append(Region(f"data{number}", at, array.view(np.uint8), None, writable))
        at += -(-array.nbytes // 256) * 256 + 4096
    return found


def run(
    text: str,
    arrays: Sequence[Array],
    blocks: Dim = (1, 1, 1),
    threads: Dim = (1, 1, 1),
    values: Sequence[int] = (),
    target: str = "gfx1100",
) -> None:
    """Runs the kernel k in the emulator: its arguments are the arrays, changed in place, then i32
    values."""
    regions = regions_of(arrays)
    params = b"".join(r.address.to_bytes(8, "little") for r in regions)
    params += b"".join(v.to_bytes(4, "little", signed=True) for v in values)
    launch = Launch(blocks, threads, params, tuple(regions))
    execute(prepare(translate(text, "k", targets[target])), launch, 100_000)


def run_program(program: Program, arrays: Sequence[Array]) -> None:
    """Runs a compiled kernel in the emulator; its arguments are `arrays` by number."""
    chosen = [arrays[a.number] for a in program.arguments]
    regions = regions_of(chosen, [a.written for a in program.arguments])
    params = b"".join(r.address.to_bytes(8, "little") for r in regions)
    launch = Launch(program.global_size, program.local_size, params, tuple(regions))
    execute(prepare(translate(program.source.text, program.name, program.target)), launch)


ID = "call i32 @llvm.amdgcn.workgroup.id.x()"


def elementwise(result: str, types: Sequence[str], body: str) -> str:
    """A kernel that computes %r of %x0, %x1, ... for one element of each argument, by `body`."""
    arguments = ", ".join(f"ptr addrspace(1) %p{n}" for n in range(len(types) + 1))
    lines = [f"%id = {ID}"]
    for n, type_ in enumerate(types):
        lines.append(f"%at{n} = getelementptr {type_}, ptr addrspace(1) %p{n + 1}, i32 %id")
        lines.append(f"%x{n} = load {type_}, ptr addrspace(1) %at{n}, align 1")
    lines.append(body)
    lines.append(f"%to = getelementptr {result}, ptr addrspace(1) %p0, i32 %id")
    lines.append(f"store {result} %r, ptr addrspace(1) %to, align 1")
    head = f"{HEAD}define amdgpu_kernel void @k({arguments}) {{\n"
    return head + "\n".join(lines) + "\nret void\n}\n"


def own() -> Processor:
    """This machine's processor, whatever CPU says."""
    features = frozenset(name for name, has in llvm.get_host_cpu_features().items() if has)
    triple, name = llvm.get_process_triple(), llvm.get_host_cpu_name()
    return processor("native", triple, name, features)


def on_this_processor(text: str, count: int, arrays: Sequence[Array]) -> None:
    """Runs `elementwise` text as machine code, for each of `count` elements: of what is there, even
    where CPU asks for less. Skips the test where that lacks what the text computes with."""
    text = text.removeprefix(HEAD).replace("amdgpu_kernel ", "").replace(" addrspace(1)", "")
    text = text.replace(f"%id = {ID}\n", "").replace(") {", ", i32 %id) {")
    # the guard refuses what may become a call of a library, which here it may
    with patch.object(llvm_compiler, "check_selectable"), patch.object(llvm_compiler, "host", own):
        try:
            loaded = llvm_compiler.load(text, "k")
        except CompileError as error:
            pytest.skip(f"this processor has no such arithmetic: {error}")
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays), ctypes.c_int32)
    function = kind(loaded.address)
    for number in range(count):
        function(*(a.ctypes.data for a in arrays), number)


def both(
    result: str, kind: Any, types: Sequence[str], body: str, inputs: Sequence[Array], lanes: int = 1
) -> tuple[Array, Array]:
    """(what the emulator computes, what this processor does) for all elements of the inputs."""
    text = elementwise(result, types, body)
    count = prod(inputs[0].shape) // lanes
    found, right = (np.zeros(count * lanes, kind) for _ in range(2))
    run(text, [found, *inputs], (count, 1, 1))
    on_this_processor(text, count, [right, *inputs])
    return found, right
