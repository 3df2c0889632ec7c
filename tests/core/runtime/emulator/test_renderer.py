"""Every op on every dtype and edge value, through the PTX renderer and the emulator, against the
meaning table; and the hand-written programs."""

from __future__ import annotations

import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.runtime.numeric import from_memory, memory_dtype, to_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.uop.facts.meaning import evaluate
from core.uop.facts.meaning_arrays import numpy_dtype
from core.uop.ops import GroupOp, Ops
from tests.core.render.programs import ON_GPU
from tests.core.render.running import memory_for
from tests.core.render.test_ops import (
    APPROXIMATE,
    NVIDIA,
    PLAIN,
    all_ops,
    casts_from,
    edge_memory,
    edges,
    ops_of,
    same,
)
from tests.core.runtime.emulator.running import run_linear


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("name", ON_GPU)
def test_hand_written_programs(name: str, target: str) -> None:
    uops = ON_GPU[name]()
    for n in (0, 7) if name == "variable_loop" else (0,):
        variables = {"n": n} if name == "variable_loop" else {}
        memory = memory_for(uops, seed=3)
        wanted = {k: a.copy() for k, a in memory.items()}
        evaluate_kernel(uops, wanted, variables)
        run_linear(uops, memory, target, variables)
        for number in memory:
            assert np.array_equal(memory[number], wanted[number], equal_nan=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize(("dtype", "target"), NVIDIA, ids=str)
def test_every_op_has_its_meaning(dtype: DType, target: str, lanes: int) -> None:
    # sm_75 has no bfloat16: passes leave it no fused one
    fuses = dtypes.is_float(dtype) and (dtype, target) != (dtypes.bfloat16, "sm_75")
    ops = (*ops_of(dtype), *([Ops.MULACC] if fuses else []))
    count, memory = edge_memory(dtype, len(ops))
    for k, op in enumerate(ops):
        kind = dtypes.bool if op in GroupOp.Comparison else dtype
        memory[k] = np.zeros(count, memory_dtype(kind))
    wanted = {k: a.copy() for k, a in memory.items()}
    uops = all_ops(dtype, ops, lanes, count)
    evaluate_kernel(uops, wanted)
    if fuses:  # that evaluator rounds it twice
        operands = [from_memory(memory[len(ops) + j], dtype).tolist() for j in range(3)]
        fused = [evaluate(Ops.MULACC, dtype, v) for v in zip(*operands, strict=True)]
        wanted[len(ops) - 1] = to_memory(np.array(fused, numpy_dtype(dtype)), dtype)
    run_linear(uops, memory, target)
    for k, op in enumerate(ops):
        kind = dtypes.bool if op in GroupOp.Comparison else dtype
        found, right = from_memory(memory[k], kind), from_memory(wanted[k], kind)
        assert same(found, right), (op, [
            (*(memory[len(ops) + j][i] for j in range(3)), found[i], right[i])
            for i in range(count) if not same(found[i : i + 1], right[i : i + 1])
        ][:5])  # fmt: skip


@pytest.mark.parametrize("bitcast", [False, True], ids=["cast", "bitcast"])
@pytest.mark.parametrize("target", ["sm_75", "sm_90"])
@pytest.mark.parametrize("source", PLAIN, ids=str)
def test_every_conversion_has_its_meaning(source: DType, target: str, bitcast: bool) -> None:
    wanted, uops = casts_from(source, bitcast)
    values = np.array(edges(source)[: len(edges(source)) // 2 * 2], numpy_dtype(source))
    memory = {k: np.zeros(len(values), memory_dtype(d)) for k, d in enumerate(wanted)}
    memory[len(wanted)] = to_memory(values, source)
    right = {k: a.copy() for k, a in memory.items()}
    evaluate_kernel(uops, right)
    run_linear(uops, memory, target)
    for k, d in enumerate(wanted):
        found, meant = from_memory(memory[k], d), from_memory(right[k], d)
        assert same(found, meant), (source, d, list(zip(values, found, meant, strict=False)))


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float32], ids=str)
def test_approximations_are_rounded_correctly(dtype: DType) -> None:
    values = to_memory(np.linspace(0.01, 9, 64).astype(numpy_dtype(dtype)), dtype)
    memory = {k: np.zeros(64, memory_dtype(dtype)) for k in range(3)}
    memory |= dict.fromkeys((3, 4, 5), values)
    exact = from_memory(values, dtype).astype(np.float64)
    uops = all_ops(dtype, APPROXIMATE, 1, 64)
    run_linear(uops, memory)
    for k, function in enumerate((np.exp2, np.log2, np.sin)):
        found = from_memory(memory[k], dtype).astype(np.float64)
        step = 2.0 ** -{"float16": 11, "bfloat16": 8, "float32": 24}[dtype.name]
        np.testing.assert_allclose(found, function(exact), rtol=step * 1.001, atol=1e-12)
