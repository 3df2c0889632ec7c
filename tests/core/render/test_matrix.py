"""Matrix instructions: the text of each in every language, which the vendors' own tools take."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import CompileError, RenderError
from core.render import c
from core.render.kinds import KIND
from core.render.llvm_lines.amd_matrix import builtin_of, call_of
from core.render.rendered import Rendered
from core.render.renderers import renderer
from core.target import Target, targets
from core.toolchain.assembled import amd_isa
from core.toolchain.llvm_compiler import assembly
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.program import Program
from core.toolchain.ptxas import assemble
from core.uop import Ops, UOp
from core.uop.kernelinfo import Opt, OptOps
from tests.core.passes.matrices import kernel_of, product, row_id, tc

ALL = [
    (target, number) for target in targets.values() for number in range(len(target.tensor_cores))
]
NVIDIA = [row for row in ALL if row[0].family == "nvidia"]
AMD = [row for row in ALL if row[0].family == "amd"]
Row = tuple[Target, int]


@cache
def program(row: Row) -> Program:
    """Two tiles side by side, two steps deep."""
    target, number = row
    core = target.tensor_cores[number]
    ast = kernel_of(product(core, 2 * core.m, core.n, 2 * core.k))
    return compile_kernel(ast, target, [tc(number), Opt(OptOps.UPCAST, 0, 2)])


def rendered(row: Row, kind: str) -> Rendered:
    made = program(row)
    return renderer(kind)(uops_of(made, kind), made.name, made.target)


def uops_of(made: Program, kind: str) -> tuple[UOp, ...]:
    """What a text of `kind` is made of."""
    return made.lowered if kind == made.source.kind else made.uops


@pytest.mark.skipif(find_tool("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("row", NVIDIA, ids=row_id)
def test_ptxas_takes_every_instruction(row: Row) -> None:
    target, number = row
    text = program(row).source.text
    assert text.count(target.tensor_cores[number].name) == 2
    facts = assemble(text, target.arch).facts
    assert facts["spill stores"] == "0"


@pytest.mark.parametrize("row", AMD, ids=row_id)
def test_llvm_selects_every_instruction(row: Row) -> None:
    target, number = row
    core, made = target.tensor_cores[number], program(row)
    isa = amd_isa(made.source, made.name, made.uops)
    assert len(re.findall(rf"{core.name}(?:_e64)?\b", isa.text)) == 2
    assert isa.facts["wavefront"] == str(core.threads)
    assert made.source.text.count(f"@{call_of(core).name}(") == 2
    assert rendered(row, "hip").text.count(f"{builtin_of(core)}(") == 1


@pytest.mark.parametrize(
    ("target", "number", "kind"),
    [
        ("sm_75", 2, "ptx"),
        ("sm_80", 0, "ptx"),
        ("sm_80", 2, "ptx"),
        ("sm_80", 3, "cuda"),
        ("sm_90", 0, "cuda"),
        ("sm_90", 2, "cuda"),
        ("sm_90", 6, "ptx"),
        ("gfx1100", 0, "hip"),
        ("gfx1100", 2, "llvm"),
        ("gfx1201", 2, "hip"),
        ("gfx1201", 3, "llvm"),
        ("gfx942", 2, "hip"),
        ("gfx942", 4, "llvm"),
        ("gfx950", 1, "llvm"),
    ],
)
def test_golden_text(
    target: str, number: int, kind: str, golden: Callable[[str, str], None]
) -> None:
    row = targets[target], number
    found = rendered(row, kind)
    golden(f"product.{target}.{number}.{kind}{KIND[kind].ending}", found.text)
    uops = uops_of(program(row), kind)
    lines = [line for line in found.lines if any(uops[at].op is Ops.WMMA for at in line)]
    assert lines, "the instruction has its line"


@pytest.mark.sampled(3)
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
@pytest.mark.parametrize("number", range(len(targets["sm_90"].tensor_cores)))
def test_nvcc_takes_cuda(number: int, tmp_path: Path) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text(rendered((targets["sm_90"], number), "cuda").text)
    command = ["nvcc", "-arch=sm_90", "-cubin", "-o", str(tmp_path / "out"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_bytes_are_packed_first_in_the_lowest() -> None:
    """prmt.b32 takes bytes 0, 2, 4 and 6: the lower byte of each register of 16 bits."""
    text = program((targets["sm_90"], 4)).source.text
    assert "prmt.b32 %word" in text
    assert "0x6420" in text


def test_the_language_is_as_old_as_the_instruction_allows() -> None:
    def version(target: str, number: int) -> str:
        return program((targets[target], number)).source.text.split()[1]

    assert version("sm_75", 0) == "6.5"
    assert version("sm_80", 0) == "7.0"
    assert version("sm_89", 0) == "7.8"
    assert version("sm_89", 6) == "8.4", "8-bit floats came later"
    assert version("sm_100", 6) == "8.6"


def test_c_has_no_text_for_a_product() -> None:
    core = targets["sm_80"].tensor_cores[0]
    counts = [part.count for part in core.fragments]
    a, b = (UOp.const(dtypes.float16.vec(n), 1.0) for n in counts[:2])
    total = UOp.const(dtypes.float32.vec(counts[2]), 0.0)
    made = UOp(Ops.WMMA, total.dtype, (a, b, total), core)
    with pytest.raises(RenderError, match="WMMA"):
        c.render([a, b, total, made], "k", targets["x86-64"])


def test_an_instruction_of_another_processor_is_refused_before_llvm_aborts() -> None:
    text = program((targets["gfx942"], 3)).source.text
    assert targets["gfx942"].tensor_cores[3].dtype_in is dtypes.float32
    with pytest.raises(CompileError, match="xf32, which the target has no instruction for"):
        assembly(text, "kernel", targets["gfx950"])
