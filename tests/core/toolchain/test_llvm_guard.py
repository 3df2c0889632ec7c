"""IR that would end the process is refused with an error. Each text is tried in a process of its
own, for where the guard fails nothing is left that could report it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from core.target import targets
from core.toolchain import llvm_compiler

METADATA = """!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "f", directory: "")
!2 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!10 = !DILocation(line: 1, scope: !2)
"""  # noqa: E501
UNDOMINATED = f"""define void @f(ptr %a, i1 %c) !dbg !2 {{
  br i1 %c, label %t, label %d, !dbg !10
t:
  %x = getelementptr float, ptr %a, i32 4, !dbg !10
  br label %d, !dbg !10
d:
  store float 0.0, ptr %x, !dbg !10
  ret void, !dbg !10
}}
{METADATA}"""
"""The parser verifies what has debug information, and aborts."""


def calling(function: str, type_: str, operands: int, convention: str = "", space: str = "") -> str:
    """A kernel that applies `function` to an element."""
    return f"""define {convention}void @f(ptr{space} %a) {{
  %x = load {type_}, ptr{space} %a
  %y = call {type_} @{function}({", ".join([f"{type_} %x"] * operands)})
  store {type_} %y, ptr{space} %a
  ret void
}}
declare {type_} @{function}({", ".join([type_] * operands)})
"""


def shared(elements: int) -> str:
    return f"""@local0 = internal addrspace(3) global [{elements} x float] poison, align 16
define amdgpu_kernel void @f(ptr addrspace(1) %a, i32 %i) {{
  %p = getelementptr float, ptr addrspace(3) @local0, i32 %i
  store float 1.0, ptr addrspace(3) %p
  %q = getelementptr float, ptr addrspace(3) @local0, i32 3
  %w = load float, ptr addrspace(3) %q
  store float %w, ptr addrspace(1) %a
  ret void
}}
"""


GPU = ("amdgpu_kernel ", " addrspace(1)")
CASES = {
    "undominated": (UNDOMINATED, "x86-64", "Instruction does not dominate all uses!"),
    "foreign": (calling("llvm.amdgcn.workitem.id.x", "i32", 0), "x86-64", "has no instruction"),
    "double": (calling("llvm.sin.f64", "double", 1, *GPU), "gfx1100", "llvm.sin.f64"),
    "memory": (shared(1 << 15), "gfx942", "131072 bytes of shared memory, 65536 at most"),
}
TRY = """
import sys
from core.errors import CompileError
from core.toolchain import llvm_compiler
from core.target import targets
for make in (lambda: llvm_compiler.assembly(sys.argv[1], "f", targets[sys.argv[2]]),
             lambda: llvm_compiler.load(sys.argv[1], "f")):
    try:
        make()
    except CompileError as error:
        print(error)
    if sys.argv[2].startswith("gfx"):
        break
"""


@pytest.mark.parametrize("case", CASES)
def test_what_would_abort_is_an_error(case: str) -> None:
    text, target, said = CASES[case]
    command = [sys.executable, "-c", TRY, text, target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.count(said) == (1 if target.startswith("gfx") else 2), done.stdout


def test_shared_memory_up_to_the_limit_is_taken() -> None:
    assert "ds_" in llvm_compiler.assembly(shared(1 << 14), "f", targets["gfx942"])


def test_every_function_that_is_allowed_has_instructions() -> None:
    """Else code generation would abort; so this runs in a process of its own, too."""
    texts: list[tuple[str, str]] = []
    bits = {"16": "half", "32": "float", "64": "double"}
    for target in ("x86-64", "aarch64", "gfx1100", "gfx942"):
        gpu = target.startswith("gfx")
        for function in ("fma", "fabs", "sqrt", "trunc", "exp2", "log2", "sin"):
            for suffix, type_ in bits.items():
                if function in ("exp2", "log2", "sin") and gpu and suffix == "64":
                    continue
                for lanes in ("", "v2"):
                    of = f"<2 x {type_}>" if lanes else type_
                    name = f"llvm.{function}.{lanes}f{suffix}"
                    operands = 3 if function == "fma" else 1
                    text = calling(name, of, operands, *(GPU if gpu else ()))
                    texts.append((text, target))
    script = (
        "from core.toolchain import llvm_compiler\nfrom core.target import targets\n"
        f"for text, target in {texts!r}:\n"
        "    llvm_compiler.assembly(text, 'f', targets[target])\nprint('all')"
    )
    done = subprocess.run(
        [sys.executable, "-"], input=script, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "all\n", done.stderr[-500:]
