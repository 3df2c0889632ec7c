"""Running one kernel in memory of our own, and comparing what it wrote."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.compile import compile_kernel
from core.dtype import dtypes
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.numeric import from_memory
from core.uop import UOp
from core.uop.kernelinfo import Opt
from core.uop.pointer import pointer_of


def agree(ast: UOp, found: list[Any], right: list[Any], what: str) -> None:
    """Fails unless the outputs in the two memories are alike."""
    for output in ast.src:
        dtype, number = output.src[1].dtype, pointer_of(output.src[0]).arg
        a, b = (from_memory(m[number], dtype) for m in (found, right))
        if dtypes.is_float(dtype):
            near = 2e-2 if dtype.itemsize < 4 else 1e-4
            np.testing.assert_allclose(a, b, rtol=near, atol=near, err_msg=what)
        else:
            np.testing.assert_array_equal(a, b, err_msg=what)


def run_on(name: str, ast: UOp, opts: list[Opt] | None, memory: list[Any]) -> list[Any]:
    """The memory after the kernel, optimised that way, has run on a device in a copy of it."""
    device = Device[name]
    compiled = compile_kernel(ast, device.written_for, opts)
    sizes = {a.number: a for a in compiled.arguments}
    buffers = [
        Buffer(name, a.size, sizes[i].dtype) if i in sizes else Buffer(name, a.nbytes, dtypes.uint8)
        for i, a in enumerate(memory)
    ]
    for buffer, a in zip(buffers, memory, strict=True):
        buffer.copyin(a.view(np.uint8).data)
    device.load(compiled)(buffers, {}, wait=True)
    return [b.as_array() for b in buffers]
