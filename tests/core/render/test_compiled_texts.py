"""CUDA C++ and HIP C++ of every kind of kernel, by the compilers that this machine has."""

from __future__ import annotations

import pytest

from core.compile import compile_kernel
from core.errors import CompileError
from core.render import cuda, hip
from core.render.llvm_lines.amd_matrix import call_of
from core.target import Target, targets
from core.toolchain import nvrtc
from tests.core.passes.matrices import ROWS, kernel_of, product, row_id, tc
from tests.core.render.compilers import clang_for, llvm_of_hip
from tests.core.runtime.asts import KERNELS, add

NVIDIA = [t.name for t in targets.values() if t.family == "nvidia"]
AMD = [t.name for t in targets.values() if t.family == "amd"]
needs_nvrtc = pytest.mark.skipif(
    nvrtc.library() is None, reason="no NVRTC: pip install 'uopviz[compilers]'"
)


@needs_nvrtc
@pytest.mark.parametrize("target", NVIDIA)
@pytest.mark.parametrize("kernel", KERNELS)
def test_cuda_by_nvrtc(kernel: str, target: str) -> None:
    program = compile_kernel(KERNELS[kernel](), targets[target])
    text = cuda.render(program.uops, program.name, program.target).text
    assert f".entry {program.name}(" in nvrtc.ptx_of(text, program.name, target)


@pytest.mark.parametrize("target", AMD)
@pytest.mark.parametrize("kernel", KERNELS)
def test_hip_by_clang(kernel: str, target: str) -> None:
    if clang_for(target) is None:
        pytest.skip(f"no clang that makes code for {target}")
    program = compile_kernel(KERNELS[kernel](), targets[target])
    text = hip.render(program.uops, program.name, program.target).text
    assert f"amdgpu_kernel void @{program.name}(" in llvm_of_hip(text, target)


@needs_nvrtc
@pytest.mark.parametrize("row", [r for r in ROWS if r[0].name in NVIDIA], ids=row_id)
def test_products_of_cuda_by_nvrtc(row: tuple[Target, int]) -> None:
    target, number = row
    core = target.tensor_cores[number]
    program = compile_kernel(kernel_of(product(core, *core.dims)), target, [tc(number)])
    text = cuda.render(program.uops, program.name, target).text
    assert core.name in nvrtc.ptx_of(text, program.name, target.name)


@pytest.mark.parametrize("row", [r for r in ROWS if r[0].name in AMD], ids=row_id)
def test_products_of_hip_by_clang(row: tuple[Target, int]) -> None:
    target, number = row
    if clang_for(target.name) is None:
        pytest.skip(f"no clang that makes code for {target.name}")
    core = target.tensor_cores[number]
    program = compile_kernel(kernel_of(product(core, *core.dims)), target, [tc(number)])
    text = hip.render(program.uops, program.name, target).text
    assert f"@{call_of(core).name}" in llvm_of_hip(text, target.name)


@needs_nvrtc
def test_nvrtc_says_where_a_text_is_wrong() -> None:
    with pytest.raises(CompileError, match=r"k\.cu\(2\): error: .*undeclared"):
        nvrtc.ptx_of('extern "C" __global__ void k() {\n  undeclared = 1;\n}', "k", "sm_90")


def test_a_machine_without_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "library", lambda: None)
    program = compile_kernel(add(), targets["sm_90"])
    with pytest.raises(CompileError, match=r"NVRTC, .* is not installed") as found:
        nvrtc.ptx_of(program.source.text, program.name, "sm_90")
    assert "pip install" in found.value.hint
