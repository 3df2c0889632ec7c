"""Every op on every dtype, on edge values: machine code against the meaning table; and the same
programs assembled for NVIDIA by ptxas and compiled to AMD's instructions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from core.dtype import DType, dtypes, truncate
from core.render import c, cuda, hip, llvm, ptx
from core.runtime.numeric import from_memory, memory_dtype, to_memory
from core.target import targets
from core.toolchain import llvm_compiler
from core.toolchain.ptxas import assemble
from core.uop.facts.meaning_arrays import numpy_dtype
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp
from tests.core.render.lowered import lowered
from tests.core.render.programs import Build
from tests.core.render.running import Memory, run_both

BINARY = (Ops.ADD, Ops.MUL, Ops.MAX, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ)
INTS = (
    *BINARY,
    Ops.SUB,
    Ops.IDIV,
    Ops.MOD,
    Ops.AND,
    Ops.OR,
    Ops.XOR,
    Ops.SHL,
    Ops.SHR,
    Ops.NEG,
    Ops.WHERE,
    Ops.MULACC,
)
FLOATS = (*BINARY, Ops.SUB, Ops.FDIV, Ops.NEG, Ops.RECIPROCAL, Ops.SQRT, Ops.TRUNC, Ops.WHERE)
APPROXIMATE = (Ops.EXP2, Ops.LOG2, Ops.SIN)
BOOLS = (*BINARY, Ops.AND, Ops.OR, Ops.XOR, Ops.WHERE)
PLAIN = tuple(d for d in dtypes.all if d not in dtypes.fp8s)
NVIDIA = [
    *((d, arch) for d in PLAIN for arch in ("sm_75", "sm_90")),
    *((d, arch) for d in (dtypes.float16, dtypes.bfloat16) for arch in ("sm_80", "sm_100")),
]
"""sm_75 lacks bfloat16 and NaN-keeping max, sm_90 has all that is used; the rest between."""
AMD = ("gfx1100", "gfx942")


def ops_of(dtype: DType) -> tuple[Ops, ...]:
    if dtypes.is_bool(dtype):
        return BOOLS
    return FLOATS if dtypes.is_float(dtype) else INTS


def edges(dtype: DType) -> list[Any]:
    """Values where conversions and arithmetic go wrong."""
    if dtypes.is_bool(dtype):
        return [False, True]
    if dtypes.is_int(dtype):
        low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
        found = [0, 1, 2, 3, 7, dtype.bits - 1, dtype.bits, dtype.bits + 1, low, low + 1, high]
        if dtype.bits == 64:  # half way between two bfloat16, nearly
            found += [(1 << 62) + (1 << 54) + d for d in (-1, 0, 1)]
        return found if dtypes.is_unsigned(dtype) else [*found, -1, -2, -3, -7]
    raw = [0.0, -0.0, 1.0, -1.0, 0.5, -2.75, 3.0, 1e-3, 1e30, -1e30, 5e-8, 65504.0, 3.4e38, 1e-42,
           math.inf, -math.inf, math.nan, 0.1, 255.5, 257.0]  # fmt: skip
    return [truncate(v, dtype) for v in raw]


def all_ops(dtype: DType, ops: tuple[Ops, ...], lanes: int, count: int) -> list[UOp]:
    """out_k[i] = op_k(x[i], y[i], z[i]) for each op."""
    b = Build()
    results: list[UOp] = []
    outs = [
        b.pointer(k, dtypes.bool if op in GroupOp.Comparison else dtype, count)
        for k, op in enumerate(ops)
    ]
    x, y, z = (b.pointer(len(ops) + k, dtype, count) for k in range(3))
    i = b.loop(count // lanes, 0)
    at = b.add(i * lanes)
    a, c_, d = (b.load(p, at, lanes) for p in (x, y, z))
    for op, out in zip(ops, outs, strict=True):
        if op is Ops.WHERE:
            value = b.add(a.cast(dtypes.bool)) if not dtypes.is_bool(dtype) else a
            value = b.add(value.where(c_, d))
        elif op in GroupOp.Unary:
            value = b.add(a.alu(op))
        else:
            value = b.add(a.alu(op, *((c_, d) if op in GroupOp.Ternary else (c_,))))
        results.append(b.store(out, at, value))
    b.end(i, results[-1])
    return b.done()


def edge_memory(dtype: DType, ops: int) -> tuple[int, Memory]:
    """Every pair of edge values, filled up to a multiple of 4."""
    pairs = list(itertools.product(edges(dtype), repeat=2))
    pairs += [pairs[0]] * (-len(pairs) % 4)
    columns = (*zip(*pairs, strict=True), [q for _, q in reversed(pairs)])
    held = numpy_dtype(dtype)
    inputs = [to_memory(np.array(col, held), dtype) for col in columns]
    return len(pairs), {ops + k: a for k, a in enumerate(inputs)}


def same(found: Any, wanted: Any) -> bool:
    """Equal bits, but any NaN for NaN and any zero for zero."""
    return bool(np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f"))


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_cpu_agrees_with_the_meaning(dtype: DType, lanes: int) -> None:
    ops = ops_of(dtype)
    count, memory = edge_memory(dtype, len(ops))
    for k, op in enumerate(ops):
        kind = dtypes.bool if op in GroupOp.Comparison else dtype
        memory[k] = np.zeros(count, memory_dtype(kind))
    cpu, numpy = run_both(all_ops(dtype, ops, lanes, count), memory)
    for k, op in enumerate(ops):
        kind = dtypes.bool if op in GroupOp.Comparison else dtype
        found, wanted = from_memory(cpu[k], kind), from_memory(numpy[k], kind)
        assert same(found, wanted), (op, [
            (memory[len(ops)][i], memory[len(ops) + 1][i], found[i], wanted[i])
            for i in range(count) if not same(found[i : i + 1], wanted[i : i + 1])
        ][:5])  # fmt: skip


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.float32, dtypes.float64], ids=str)
def test_cpu_library_functions_are_close(dtype: DType) -> None:
    values = np.linspace(0.01, 9, 64).astype(dtype.name)
    memory = {k: np.zeros(64, dtype.name) for k in range(3)} | dict.fromkeys((3, 4, 5), values)
    cpu, numpy = run_both(all_ops(dtype, APPROXIMATE, 1, 64), memory)
    for k in range(3):
        np.testing.assert_allclose(cpu[k], numpy[k], rtol=4 * float(np.finfo(dtype.name).eps))


@pytest.mark.parametrize("dtype", dtypes.floats[2:], ids=str)
def test_fused_multiply_add_rounds_once(dtype: DType) -> None:
    rng = np.random.default_rng(11)
    held = numpy_dtype(dtype)
    exact = (rng.integers(-16, 16, (3, 64)) * 0.25).astype(held)  # products are exact: no doubt
    memory = {0: np.zeros(64, memory_dtype(dtype))}
    memory |= {k + 1: to_memory(exact[k], dtype) for k in range(3)}
    cpu, numpy = run_both(all_ops(dtype, (Ops.MULACC,), 1, 64), memory)
    assert np.array_equal(cpu[0], numpy[0])


def casts_from(source: DType, bitcast: bool) -> tuple[list[DType], list[UOp]]:
    """A program that converts a vector of `source` to every other dtype."""
    wanted = [d for d in PLAIN if d is not source and (not bitcast or d.bits == source.bits)]
    count = len(edges(source)) // 2 * 2
    b = Build()
    outs = [b.pointer(k, d, count) for k, d in enumerate(wanted)]
    x = b.pointer(len(wanted), source, count)
    i = b.loop(count // 2, 0)
    at = b.add(i * 2)
    a = b.load(x, at, 2)
    last = a
    for out, d in zip(outs, wanted, strict=True):
        last = b.store(out, at, b.add(a.bitcast(d.vec(2)) if bitcast else a.cast(d.vec(2))))
    b.end(i, last)
    return wanted, b.done()


@pytest.mark.parametrize("bitcast", [False, True], ids=["cast", "bitcast"])
@pytest.mark.parametrize("source", PLAIN, ids=str)
def test_cpu_conversions(source: DType, bitcast: bool) -> None:
    wanted, uops = casts_from(source, bitcast)
    values = np.array(edges(source)[: len(edges(source)) // 2 * 2], numpy_dtype(source))
    memory = {k: np.zeros(len(values), memory_dtype(d)) for k, d in enumerate(wanted)}
    memory[len(wanted)] = to_memory(values, source)
    cpu, numpy = run_both(uops, memory)
    for k, d in enumerate(wanted):
        found, right = from_memory(cpu[k], d), from_memory(numpy[k], d)
        assert same(found, right), (source, d, list(zip(values, found, right, strict=False)))


@pytest.mark.parametrize(("dtype", "arch"), NVIDIA, ids=str)
def test_ptxas_takes_every_op(dtype: DType, arch: str) -> None:
    ops = ops_of(dtype)
    if dtypes.is_float(dtype):
        ops = (*ops, Ops.MULACC, *(() if dtype.bits == 64 else APPROXIMATE))
    for uops in (
        all_ops(dtype, ops, 4, 64),
        casts_from(dtype, False)[1],
        casts_from(dtype, True)[1],
    ):
        assemble(ptx.render(lowered(uops, arch), "kernel", targets[arch]).text, arch)


@pytest.mark.parametrize("arch", AMD)
@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_amd_compiles_every_op(dtype: DType, arch: str) -> None:
    ops = ops_of(dtype)
    if dtypes.is_float(dtype):
        ops = (*ops, Ops.MULACC)
    if dtype.name in ("float16", "float32"):
        ops = (*ops, *APPROXIMATE)
    for uops in (
        all_ops(dtype, ops, 4, 64),
        casts_from(dtype, False)[1],
        casts_from(dtype, True)[1],
    ):
        text = llvm_compiler.assembly(
            llvm.render(uops, "kernel", targets[arch]).text, "kernel", targets[arch]
        )
        assert "s_endpgm" in text


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_c_like_languages_have_every_op(dtype: DType) -> None:
    for render in (c.render, cuda.render, hip.render):
        for uops in (all_ops(dtype, ops_of(dtype), 4, 64), casts_from(dtype, True)[1]):
            text = render(uops, "kernel", targets["x86-64"]).text
            assert text.count("{") == text.count("}")
