"""PTX that LLVM makes: its NVPTX back end compiles our LLVM IR, and the emulator runs that. Neither
the text nor the order of its instructions is ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import llvmlite.binding as llvm_binding
import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.render import llvm
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.ptx.front import read
from core.runtime.numeric import from_memory, memory_dtype
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp
from tests.core.render.programs import ON_ALL
from tests.core.render.running import memory_for
from tests.core.render.test_ops import all_ops, edge_memory, ops_of, same
from tests.core.runtime.emulator.running import Array, launch


@pytest.fixture(scope="module", autouse=True)
def nvptx() -> None:
    llvm_binding.initialize_all_targets()
    llvm_binding.initialize_all_asmprinters()


def compiled(uops: Sequence[UOp], level: int) -> str:
    """The program, written for one thread of a CPU, as LLVM's PTX."""
    text = llvm.render(uops, "k", targets["x86-64"]).text
    text = text.replace("x86_64-unknown-linux-gnu", "nvptx64-nvidia-cuda")
    text = re.sub(r'"target-(cpu|features)"="[^"]*"', "", text)
    text = text.replace("define void @k", "define ptx_kernel void @k")
    module = llvm_binding.parse_assembly(text)
    target = llvm_binding.Target.from_triple("nvptx64-nvidia-cuda")
    machine = target.create_target_machine(cpu="sm_90", features="+ptx80", opt=level)
    return machine.emit_assembly(module)


def run(uops: Sequence[UOp], memory: Mapping[int, Array], level: int, n: int | None) -> None:
    code = read(compiled(uops, level), "k")
    started = launch(memory, (1, 1, 1), (1, 1, 1), () if n is None else [(n, 4)])
    execute(prepare(code), started)


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("name", ON_ALL)
def test_hand_written_programs(name: str, level: int) -> None:
    uops = ON_ALL[name]()
    for n in (0, 7) if name == "variable_loop" else (None,):
        memory = memory_for(uops, seed=3)
        wanted = {k: a.copy() for k, a in memory.items()}
        evaluate_kernel(uops, wanted, {} if n is None else {"n": n})
        run(uops, memory, level, n)
        for number in memory:
            assert np.array_equal(memory[number], wanted[number], equal_nan=True)


DTYPES = (*dtypes.ints, dtypes.bool, dtypes.float32, dtypes.float64)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_op(dtype: DType, lanes: int) -> None:
    ops = tuple(op for op in ops_of(dtype) if op is not Ops.MULACC)
    count, memory = edge_memory(dtype, len(ops))
    for k, op in enumerate(ops):
        kind = dtypes.bool if op in GroupOp.Comparison else dtype
        memory[k] = np.zeros(count, memory_dtype(kind))
    wanted = {k: a.copy() for k, a in memory.items()}
    uops = all_ops(dtype, ops, lanes, count)
    evaluate_kernel(uops, wanted)
    run(uops, memory, 2, None)
    for k, op in enumerate(ops):
        kind = dtypes.bool if op in GroupOp.Comparison else dtype
        found, right = from_memory(memory[k], kind), from_memory(wanted[k], kind)
        assert same(found, right), (op, [
            (*(memory[len(ops) + j][i] for j in range(3)), found[i], right[i])
            for i in range(count) if not same(found[i : i + 1], right[i : i + 1])
        ][:5])  # fmt: skip
