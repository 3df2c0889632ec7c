"""Runs tile kernels on the reference runtime, on emulated GPUs and on the CPU, in NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.emulator.counters import Counters, Profile
from core.runtime.emulator.device import EmulatorRunner, launch_of
from core.runtime.emulator.machine import execute
from core.runtime.numeric import from_memory, memory_dtype, to_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.uop.ops import Ops
from core.uop.uop import UOp

Array = np.ndarray[Any, Any]
DEVICES = {"nvidia": "PTX:EMU:{}", "amd": "AMD:EMU:{}", "cpu": "CPU"}
ON = ("reference", "device")
"""Where a kernel is run: by its graph, or by the text of its target."""


def dtypes_of(ast: UOp) -> list[DType]:
    """The dtypes of a kernel's arguments, by number."""
    found = {u.arg: u.dtype.base for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
    return [found[n] for n in sorted(found)]


def memory_of(values: Array, dtype: DType) -> Array:
    """Values as a flat argument of a kernel."""
    flat = np.ascontiguousarray(values).reshape(-1)
    exact = memory_dtype(dtype).kind in "iub" and not dtypes.is_float(dtype)
    return to_memory(flat if exact else flat.astype(np.float64), dtype)


def run(
    ast: UOp,
    arrays: Sequence[Array],
    target: str,
    on: str = "device",
    variables: Mapping[str, int] | None = None,
) -> list[Array]:
    """What the arguments hold after a run, as numbers that NumPy has."""
    kinds = dtypes_of(ast)
    memory = [memory_of(a, d) for a, d in zip(arrays, kinds, strict=True)]
    if on == "reference":
        evaluate_kernel(ast, memory, variables or {})
    else:
        name = DEVICES[targets[target].family].format(target)
        device = Device[name]
        runner = device.load(compile_kernel(ast, targets[target]))
        buffers = [Buffer(name, m.size, d).allocate() for m, d in zip(memory, kinds, strict=True)]
        for b, m in zip(buffers, memory, strict=True):
            b.copyin(m.data.cast("B"))
        runner(buffers, variables or {}, wait=True)
        device.synchronize()
        for b, m in zip(buffers, memory, strict=True):
            b.copyout(m.data.cast("B"))
    return [
        from_memory(m, d).reshape(a.shape) for m, d, a in zip(memory, kinds, arrays, strict=True)
    ]


def counted(
    ast: UOp, arrays: Sequence[Array], target: str, variables: Mapping[str, int] | None = None
) -> Counters:
    """What a run on an emulated GPU counted."""
    name = DEVICES[targets[target].family].format(target)
    program = compile_kernel(ast, targets[target])
    runner = Device[name].load(program)
    assert isinstance(runner, EmulatorRunner)
    kinds = dtypes_of(ast)
    buffers: list[Buffer] = []
    for a, d in zip(arrays, kinds, strict=True):
        memory = memory_of(a, d)
        buffers.append(Buffer(name, memory.size, d).allocate().copyin(memory.data.cast("B")))
    prepared = runner.prepared()
    profile = Profile(prepared)
    launch = launch_of(program, runner.code, buffers, variables or {})
    execute(prepared, launch, profile=profile)
    return profile.counters()


def conflicts(counters: Counters) -> int:
    """Turns of shared memory beyond the first, of all accesses together."""
    return sum(line.conflicts for line in counters.lines.values())
