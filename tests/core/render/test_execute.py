"""The hand-written programs: run on the CPU, assembled for NVIDIA, compiled for AMD."""

from __future__ import annotations

import numpy as np
import pytest

from core.dtype import dtypes
from core.errors import CompileError, RenderError, RunError
from core.render import c, llvm, ptx
from core.render.listing import Listing
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain import llvm_compiler
from core.toolchain.ptxas import assemble
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.render.lowered import lowered
from tests.core.render.programs import ON_ALL, ON_GPU, Build, const
from tests.core.render.running import memory_for, run_both


@pytest.mark.parametrize("name", ON_ALL)
def test_cpu_and_numpy_agree(name: str) -> None:
    uops = ON_ALL[name]()
    for n in (0, 7) if name == "variable_loop" else (0,):
        variables = {"n": n} if name == "variable_loop" else {}
        cpu, numpy = run_both(uops, memory_for(uops, seed=3), variables)
        for number in cpu:
            assert np.array_equal(cpu[number], numpy[number], equal_nan=True)


def test_a_loop_may_run_zero_times() -> None:
    uops = ON_ALL["variable_loop"]()
    for n, wanted in ((0, 5), (1, 5), (4, 11)):
        cpu, numpy = run_both(uops, {0: np.zeros(1, np.int32)}, {"n": n})
        assert (cpu[0][0], numpy[0][0]) == (wanted, wanted)


def test_what_the_programs_compute() -> None:
    memory = {0: np.zeros(40, np.float32), 1: np.arange(16, dtype=np.float32)}
    cpu, _ = run_both(ON_ALL["gated"](), memory)
    assert cpu[0][:16].tolist() == list(range(16))
    assert cpu[0][16:32].tolist() == [-1.0] * 16
    assert cpu[0][32:].tolist() == [0, 4, 0, 12, 0, 7, 0, 7]
    x = np.arange(128, dtype=np.float32)
    memory = {0: np.zeros(128, np.float32), 1: x}
    evaluate_kernel(ON_GPU["shared"](), memory)
    assert np.array_equal(memory[0].reshape(4, 32), x.reshape(4, 32)[:, ::-1])


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_ptxas_takes_every_program(arch: str) -> None:
    for name, make in ON_GPU.items():
        made = assemble(ptx.render(lowered(make(), arch), name, targets[arch]).text, arch)
        assert made.cubin.startswith(b"\x7fELF")
        assert int(made.facts["registers"]) > 0


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201", "gfx942", "gfx950"])
def test_amd_takes_every_program(arch: str) -> None:
    for name, make in ON_GPU.items():
        uops = make()
        text = llvm.render(uops, name, targets[arch]).text
        lines, numbers = llvm_compiler.instructions(
            llvm_compiler.assembly(text, name, targets[arch]), name
        )
        assert lines[0].startswith(f"{name}:")
        assert any("s_endpgm" in line for line in lines)
        for line, number in zip(lines, numbers, strict=True):
            if "global_store" in line:
                assert uops[number - 1].op is Ops.STORE, line


@pytest.mark.parametrize("target", ["x86-64", "x86-64-v4", "aarch64"])
def test_cpu_assembly_maps_back_to_nodes(target: str) -> None:
    uops = ON_ALL["elementwise"]()
    text = llvm.render(uops, "elementwise", targets[target]).text
    lines, numbers = llvm_compiler.instructions(
        llvm_compiler.assembly(text, "elementwise", targets[target]), "elementwise"
    )
    assert not any(".loc" in line or ".cfi" in line for line in lines)
    behind = {uops[n - 1].op for n in numbers if n}
    assert {Ops.LOAD, Ops.STORE, Ops.MUL, Ops.ADD} <= behind


def pow_program() -> list[UOp]:
    b = Build()
    out = b.pointer(0, dtypes.float64, 1)
    x = b.load(out, 0)
    b.store(out, 0, b.add(x.alu(Ops.EXP2)))
    return b.done()


def test_an_unsupported_op_is_named() -> None:
    with pytest.raises(RenderError, match="ptx: no instruction for EXP2 on float64") as caught:
        ptx.render(lowered(pow_program(), "sm_90"), "kernel", targets["sm_90"])
    assert "= EXP2(u" in str(caught.value)
    assert "hint: lower EXP2" in str(caught.value)


def test_a_gated_load_wants_an_alternative() -> None:
    b = Build()
    out = b.pointer(0, dtypes.float32, 1)
    b.store(out, 0, b.load(out, 0, gate=const(dtypes.bool, True)))
    for render, target in ((llvm.render, "x86-64"), (c.render, "x86-64")):
        with pytest.raises(RenderError, match="alternative"):
            render(b.done(), "kernel", targets[target])


@pytest.mark.parametrize("name", ["elementwise", "halves", "shared"])
def test_ptx_is_made_of_lowered_programs_only(name: str) -> None:
    with pytest.raises(RenderError, match="ptx: a LOAD that is not lowered to PTX") as caught:
        ptx.render(ON_GPU[name](), name, targets["sm_90"])
    assert "TEXT_PASSES" in str(caught.value)


def test_the_evaluator_finds_accesses_outside() -> None:
    b = Build()
    out = b.pointer(0, dtypes.float32, 4)
    i = b.loop(5, 0)
    b.end(i, b.store(out, i, const(dtypes.float32, 1.0)))
    with pytest.raises(RunError, match="STORE of 1 elements at 4 in memory of 4"):
        evaluate_kernel(b.done(), {0: np.zeros(4, np.float32)})


def test_ptxas_errors_are_passed_on() -> None:
    with pytest.raises(CompileError, match="ptxas rejects"):
        assemble(
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { nope; }", "sm_90"
        )


def test_bad_llvm_ir_is_a_compile_error() -> None:
    with pytest.raises(CompileError, match="not valid"):
        llvm_compiler.load("define void @k() { entry: ret i32 0 }", "k")


@pytest.mark.parametrize(("offset", "divisor"), [
    (lambda i: i * 4, 4), (lambda i: i * 4 + 2, 2), (lambda i: (i * 8 + 4) * 3, 12),
    (lambda i: i, 1), (lambda i: i << 3, 8), (lambda i: (i < 2).where(i * 16, i * 24), 8),
    (lambda i: UOp.const(dtypes.int32, 0), 0), (lambda i: i * 4 - 8, 4),
])  # fmt: skip
def test_known_divisors_of_offsets(offset: object, divisor: int) -> None:
    i = UOp.range(4, 0)
    assert callable(offset)
    assert Listing([i], "kernel", "c").divisor(offset(i)) == divisor
