"""Matrix instructions of AMD GPUs: WMMA and MFMA, which all work items of a wave run together.

Which instructions a target has and where each lane's elements lie is `core/tensor_cores`; how they
are called, `core/render/llvm_lines/amd_matrix.py`. Products are exact and their sum with C is
rounded once: GPUs round in an order that they do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from core.dtype import DType
from core.render.llvm_lines.amd_matrix import call_of
from core.runtime.emulator.llvm.builder import Builder
from core.runtime.emulator.llvm.compute.meaning import kind_of
from core.runtime.emulator.llvm.registers import Registers
from core.runtime.emulator.llvm.text.lexer import refuse
from core.runtime.emulator.llvm.text.module import Constant, Instruction, Value
from core.runtime.emulator.llvm.text.types import I1, Int, count_of, scalar_of
from core.runtime.emulator.program import Warp
from core.runtime.matrices import multiply
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.target import Target
from core.tensor_cores import TensorCore


def matrix_calls(target: Target) -> Mapping[str, TensorCore]:
    """The matrix instructions of a target, by the names of their functions."""
    return {call_of(core).name: core for core in target.tensor_cores}


def product(r: Registers, b: Builder, i: Instruction, core: TensorCore) -> None:
    """Translates a call of a matrix instruction. Raises CompileError for operands that it does not
    have, and for constants other than those that the compiler writes."""
    how = call_of(core)
    order = [*how.before, "a", *how.before, "b", "c", *how.after]
    if len(i.operands) != len(order):
        refuse(f"{core} takes {len(order)} operands", r.text, i.line)
    matrices: list[Value] = []
    for operand, wanted in zip(i.operands, order, strict=True):
        if len(wanted) == 1:
            matrices.append(operand)
        elif _shown(operand) != wanted:
            refuse(f"{core} is emulated with {wanted} here only", r.text, i.line)
    a, c = core.a.count * core.dtype_in.bits, core.c.count * core.dtype_out.bits
    for value, bits in zip(matrices, (a, a, c), strict=True):
        if _bits(value) != bits:
            refuse(f"{core} does not take {value.type}", r.text, i.line)
    if i.type != matrices[2].type:
        refuse(f"{core} gives {matrices[2].type}", r.text, i.line)
    operands = [r.operands(m, i.line) for m in matrices]
    results = r.new(i.result, i.type)
    scalar = scalar_of(i.type)
    assert scalar is not None
    b.add(
        Warp(
            line=i.line,
            name=str(core),
            function=_product(core, [len(o) for o in operands], kind_of(scalar)),
            operands=tuple(o for lanes in operands for o in lanes),
            results=results,
            whole=True,
        )
    )


def _shown(value: Value) -> str:
    """A constant as `Call` writes it."""
    if not isinstance(value, Constant) or not isinstance(value.type, Int):
        return str(value.type)
    (bits,) = value.bits
    if value.type == I1:
        return "i1 true" if bits else "i1 false"
    return f"{value.type} {bits}"


def _bits(value: Value) -> int:
    scalar = scalar_of(value.type)
    return 0 if scalar is None else scalar.bits * count_of(value.type)


def _product(
    core: TensorCore, counts: Sequence[int], kind: np.dtype[Any]
) -> Callable[..., tuple[Array, ...]]:
    """The function of a `Warp`: registers of A, B and C, each of (warps, lanes), to those of D."""
    first, second = counts[0], counts[0] + counts[1]

    def function(_: Array, *registers: Array) -> tuple[Array, ...]:
        a = _elements(registers[:first], core.dtype_in)
        b = _elements(registers[first:second], core.dtype_in)
        found = multiply(core, a, b, _elements(registers[second:], core.dtype_out))
        words = np.ascontiguousarray(to_memory(found, core.dtype_out)).view(kind)
        return tuple(words[..., n] for n in range(words.shape[-1]))

    return function


def _elements(registers: Sequence[Array], dtype: DType) -> Array:
    """(warps, lanes, elements) of the registers that hold them, lowest bits first."""
    words = np.ascontiguousarray(np.stack(registers, axis=-1))
    return from_memory(words.view(memory_dtype(dtype)), dtype)
