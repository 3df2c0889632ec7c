"""Whole kernels: the CPU, the evaluator of linear programs and the reference agree; and every
kernel assembles for NVIDIA and compiles for AMD."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.compile import compile_kernel, sources_for
from core.dtype import dtypes
from core.errors import CompileError
from core.helpers import Context
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.numeric import from_memory, memory_dtype, to_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain.processor import host_target
from core.toolchain.ptxas import assemble
from core.toolchain.sass import sass, sass_of
from core.uop.facts.meaning_arrays import numpy_dtype
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp
from tests.core.runtime.asts import KERNELS

SEED = 20
GPUS = ("sm_90", "gfx1100", "gfx942")


def memory_of(ast: UOp) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(SEED)
    found: dict[int, np.ndarray[Any, Any]] = {}
    for u in sorted((u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg):
        dtype, size = u.dtype.base, u.dtype.size
        if dtypes.is_float(dtype):
            # products of bfloat16 are exact: the reference rounds them, matrix instructions do not
            parts = 2 if dtype is dtypes.bfloat16 else 8
            values = (np.rint(rng.standard_normal(size) * parts) / parts).astype(numpy_dtype(dtype))
            found[u.arg] = to_memory(values, dtype)
        else:
            high = 2 if dtypes.is_bool(dtype) else 9
            found[u.arg] = rng.integers(0, high, size).astype(memory_dtype(dtype))
    return [found[n] for n in range(len(found))]


def check(ast: UOp, found: list[Any], right: list[Any]) -> None:
    for store in ast.src:
        number, dtype = pointer_of(store.src[0]).arg, store.src[1].dtype
        a, b = from_memory(found[number], dtype), from_memory(right[number], dtype)
        if dtypes.is_float(dtype):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", KERNELS)
def test_cpu_and_reference(name: str) -> None:
    ast, memory = KERNELS[name](), memory_of(KERNELS[name]())
    right = [a.copy() for a in memory]
    evaluate_kernel(ast, right, {})
    for opts in (None, ()):
        program = compile_kernel(ast, host_target(), opts)
        buffers = [
            Buffer("CPU", a.size, program.arguments[i].dtype).copyin(a.view(np.uint8).data)
            for i, a in enumerate(memory)
        ]
        Device["CPU"].load(program)(buffers, {}, wait=True)
        check(ast, [b.as_array() for b in buffers], right)


@pytest.mark.parametrize("target", [host_target().name, *GPUS])
@pytest.mark.parametrize("name", KERNELS)
def test_linear_programs_and_reference(name: str, target: str) -> None:
    """Without tensor cores, which do not round products of bfloat16: test_tensor_cores.py has
    those."""
    ast = KERNELS[name]()
    right = memory_of(ast)
    evaluate_kernel(ast, right, {})
    with Context(TC=0):
        program = compile_kernel(ast, targets[target])
    for uops in dict.fromkeys((program.uops, program.lowered)):
        found = memory_of(ast)
        evaluate_kernel(uops, found)
        check(ast, found, right)


@pytest.mark.parametrize("name", KERNELS)
def test_code_for_gpus(name: str) -> None:
    ast = KERNELS[name]()
    for arch in ("sm_80", "sm_90"):
        ptx = compile_kernel(ast, targets[arch]).source
        assert assemble(ptx.text, arch).facts["spill stores"] == "0"
    for arch in ("gfx1100", "gfx942"):
        kinds = {a.kind: a for a in sources_for(ast, targets[arch])}
        assert set(kinds) == {"llvm", "hip", "amd_isa"}
        assert int(kinds["amd_isa"].facts["vgprs"]) > 0
        assert kinds["amd_isa"].facts["vgpr spills"] == "0"
        assert kinds["amd_isa"].facts["occupancy"].endswith("waves")
        behind = {u.op for line in kinds["amd_isa"].lines for u in line}
        assert Ops.STORE in behind


@pytest.mark.parametrize("name", ["add", "matmul"])
def test_nvidia_machine_code_maps_back_to_nodes(name: str) -> None:
    kinds = {a.kind: a for a in sources_for(KERNELS[name](), targets["sm_90"])}
    assert set(kinds) == {"ptx", "cuda", "sass"}
    assert int(kinds["ptx"].facts["registers"]) > 0
    assert "EXIT" in kinds["sass"].text
    stores = [nodes for line, nodes in zip(kinds["sass"].text.splitlines(), kinds["sass"].lines,
                                           strict=True) if "STG" in line]  # fmt: skip
    assert stores
    assert {u.op for nodes in stores for u in nodes} == {Ops.STORE}


def test_machine_code_of_several_is_that_of_each() -> None:
    some = [*KERNELS.values()][8:12]  # two of them call functions that ptxas adds
    programs = [compile_kernel(make(), targets["sm_90"]) for make in some]
    assert sum("$__internal_0_" in sass(program).text for program in programs) == 2
    wrong = replace(programs[1], source=replace(programs[1].source, text="no PTX\n", lines=()))
    alone = [sass(program) for program in programs]
    assert sass_of([*programs, programs[0]]) == [*alone, alone[0]]
    first, failed, *others = sass_of([programs[0], wrong, *programs[2:]])
    assert [first, *others] == [alone[0], *alone[2:]]
    assert isinstance(failed, CompileError)
    assert sass_of([]) == []


@pytest.mark.parametrize("name", KERNELS)
def test_compiling_is_deterministic(name: str) -> None:
    ast = KERNELS[name]()
    first = compile_kernel(ast, targets["sm_80"])
    assert compile_kernel(KERNELS[name](), targets["sm_80"]) is first
    assert first.source.text.count(first.name) == 1
    for line, nodes in zip(first.source.text.splitlines(), first.source.lines, strict=True):
        if "st.global" in line:
            assert any(u.op is Ops.STORE for u in nodes)
