"""Runs a linear program on the CPU through LLVM, and by the NumPy evaluator, on the same memory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.render import llvm
from core.runtime.numeric import memory_dtype
from core.runtime.reference.kernel import evaluate_kernel
from core.toolchain import llvm_compiler
from core.toolchain.processor import host_target
from core.uop.ops import Ops
from core.uop.uop import UOp

Memory = dict[int, np.ndarray[Any, Any]]


def memory_for(uops: Sequence[UOp], seed: int) -> Memory:
    """Random content for every pointer; small numbers, so that all dtypes hold them."""
    rng = np.random.default_rng(seed)
    found: Memory = {}
    for u in uops:
        if u.op is Ops.DEFINE_GLOBAL:
            size, kind = u.dtype.size, memory_dtype(u.dtype.base)
            if u.dtype.base.name == "bfloat16":
                values = rng.integers(0x3F80, 0x4080, size)
            elif kind.kind == "f":
                values = rng.standard_normal(size)
            elif kind.kind == "b":
                values = rng.integers(0, 2, size)
            else:
                values = rng.integers(0, 100, size)
            found[u.arg] = values.astype(kind)
    return found


def run_cpu(
    uops: Sequence[UOp], memory: Memory, variables: Mapping[str, int] | None = None
) -> None:
    """Runs `uops` in machine code."""
    text = llvm.render(uops, "kernel", host_target()).text
    loaded = llvm_compiler.load(text, "kernel")
    pointers = sorted(memory)
    names = sorted(variables or {})
    kind = ctypes.CFUNCTYPE(
        None, *[ctypes.c_void_p] * len(pointers), *[ctypes.c_int32] * len(names)
    )
    values = [(variables or {})[n] for n in names]
    kind(loaded.address)(*(memory[n].ctypes.data for n in pointers), *values)


def run_both(
    uops: Sequence[UOp], memory: Memory, variables: Mapping[str, int] | None = None
) -> tuple[Memory, Memory]:
    """The memory after the program, (by the CPU, by NumPy); `memory` stays as it is."""
    first, second = ({n: a.copy() for n, a in memory.items()} for _ in range(2))
    run_cpu(uops, first, variables)
    evaluate_kernel(uops, second, variables)
    return first, second
