"""WMMA and MFMA: products of the compiler's kernels, and single instructions lane by lane."""

from __future__ import annotations

import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import CompileError, FaultError
from core.runtime.numeric import from_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target, targets
from core.uop.pointer import pointer_of
from tests.core.passes.matrices import ROWS, kernel_of, product, row_id, tc
from tests.core.runtime.emulator.amd.kernels import kernel
from tests.core.runtime.emulator.amd.running import run, run_program
from tests.core.runtime.test_agreement import memory_of

AMD = [row for row in ROWS if row[0].family == "amd"]


@pytest.mark.parametrize("row", AMD, ids=row_id)
def test_products_equal_the_reference(row: tuple[Target, int]) -> None:
    target, number = row
    core = target.tensor_cores[number]
    ast = kernel_of(product(core, 2 * core.m, core.n, 3 * core.k))
    program = compile_kernel(ast, target, [tc(number)])
    assert "llvm.amdgcn." + ("wmma" if "wmma" in core.name else "mfma") in program.source.text
    found, right = memory_of(ast), memory_of(ast)
    evaluate_kernel(ast, right, {})
    run_program(program, found)
    for store in ast.src:
        at, dtype = pointer_of(store.src[0]).arg, store.src[1].dtype
        a, b = from_memory(found[at], dtype), from_memory(right[at], dtype)
        near = 2e-2 if dtype is dtypes.float16 else 2e-5
        np.testing.assert_allclose(a, b, rtol=near, atol=near)


def one(operands: str, of_a: str, of_c: str, name: str, target: str, a_bytes: int, c_bytes: int,
        threads: int) -> str:  # fmt: skip
    """A kernel of one instruction: A, B and C by lane in %in, and D by lane in %out."""
    assert target in targets
    return kernel(
        f"""%l = call i32 @llvm.amdgcn.workitem.id.x()
        %oa = mul i32 %l, {a_bytes}
        %ob = add i32 %oa, {a_bytes * threads}
        %oc0 = mul i32 %l, {c_bytes}
        %oc = add i32 %oc0, {2 * a_bytes * threads}
        %pa = getelementptr i8, ptr addrspace(1) %in, i32 %oa
        %pb = getelementptr i8, ptr addrspace(1) %in, i32 %ob
        %pc = getelementptr i8, ptr addrspace(1) %in, i32 %oc
        %pd = getelementptr i8, ptr addrspace(1) %out, i32 %oc0
        %a = load {of_a}, ptr addrspace(1) %pa
        %b = load {of_a}, ptr addrspace(1) %pb
        %c = load {of_c}, ptr addrspace(1) %pc
        %d = call {of_c} @{name}({operands})
        store {of_c} %d, ptr addrspace(1) %pd"""
    )


def test_each_lane_of_wmma_on_rdna3() -> None:
    """RDNA3: lane l has row l % 16 of A and column l % 16 of B; position i of C is row 2 * i +
    l // 16, column l % 16."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 8, (16, 16)).astype(np.float16) for _ in range(2))
    c = rng.integers(-8, 8, (16, 16)).astype(np.float32)
    lanes = np.arange(32)
    of_c = [[c[2 * i + lane // 16, lane % 16] for i in range(8)] for lane in lanes]
    memory = np.concatenate(
        [a[lanes % 16].view(np.uint8).ravel(), b.T[lanes % 16].copy().view(np.uint8).ravel(),
         np.array(of_c, np.float32).view(np.uint8).ravel()]
    )  # fmt: skip
    text = one("<16 x half> %a, <16 x half> %b, <8 x float> %c", "<16 x half>", "<8 x float>",
               "llvm.amdgcn.wmma.f32.16x16x16.f16", "gfx1100", 32, 32, 32)  # fmt: skip
    out = np.zeros(32 * 8, np.float32)
    run(text, [out, memory], (1, 1, 1), (32, 1, 1))
    right = a.astype(np.float32) @ b.astype(np.float32) + c
    for lane in lanes:
        for i in range(8):
            assert out[lane * 8 + i] == right[2 * i + lane // 16, lane % 16]


def test_each_lane_of_mfma() -> None:
    """MFMA of 16 x 16: lane l has elements 4 * (l // 16) + i along k of row l % 16; position i of C
    is row 4 * (l // 16) + i, column l % 16."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-8, 8, (16, 16)).astype(np.float16) for _ in range(2))
    c = rng.integers(-8, 8, (16, 16)).astype(np.float32)
    lanes = range(64)
    part = [[a[lane % 16, 4 * (lane // 16) + i] for i in range(4)] for lane in lanes]
    other = [[b[4 * (lane // 16) + i, lane % 16] for i in range(4)] for lane in lanes]
    of_c = [[c[4 * (lane // 16) + i, lane % 16] for i in range(4)] for lane in lanes]
    memory = np.concatenate(
        [np.array(part, np.float16).view(np.uint8).ravel(),
         np.array(other, np.float16).view(np.uint8).ravel(),
         np.array(of_c, np.float32).view(np.uint8).ravel()]
    )  # fmt: skip
    text = one("<4 x half> %a, <4 x half> %b, <4 x float> %c, i32 0, i32 0, i32 0", "<4 x half>",
               "<4 x float>", "llvm.amdgcn.mfma.f32.16x16x16f16", "gfx942", 8, 16, 64)  # fmt: skip
    out = np.zeros(64 * 4, np.float32)
    run(text, [out, memory], (1, 1, 1), (64, 1, 1), target="gfx942")
    right = a.astype(np.float32) @ b.astype(np.float32) + c
    for lane in lanes:
        for i in range(4):
            assert out[lane * 4 + i] == right[4 * (lane // 16) + i, lane % 16]


MFMA = ("<4 x half> zeroinitializer, <4 x half> zeroinitializer, <4 x float> zeroinitializer, "
        "i32 0, i32 0, i32 0")  # fmt: skip
CALL = f"%d = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16({MFMA})"


@pytest.mark.parametrize(
    ("body", "target", "what"),
    [
        (CALL, "gfx1100", "is not emulated"),
        (CALL.replace(", i32 0, i32 0, i32 0", ""), "gfx942", "takes 6 operands"),
        (CALL.replace("i32 0)", "i32 1)"), "gfx942", "with i32 0 here only"),
        (CALL.replace("4 x half", "8 x half"), "gfx942", "does not take <8 x half>"),
        (CALL.replace("call <4 x float>", "call <2 x double>"), "gfx942", "gives <4 x float>"),
    ],
)
def test_other_forms_are_refused(body: str, target: str, what: str) -> None:
    with pytest.raises(CompileError, match=what):
        run(kernel(body), [np.zeros(4, np.int32)] * 2, (1, 1, 1), (64, 1, 1), target=target)


def test_a_wave_that_is_not_whole_is_a_fault() -> None:
    body = """%i = call i32 @llvm.amdgcn.workitem.id.x()
    %c = icmp slt i32 %i, 3
    br i1 %c, label %some, label %all
    some:
    CALL
    br label %all
    all:"""
    with pytest.raises(FaultError) as caught:
        run(kernel(body.replace("CALL", CALL)), [np.zeros(4, np.int32)] * 2, (1, 1, 1), (64, 1, 1),
            target="gfx942")  # fmt: skip
    assert caught.value.kind == "collective"
