"""Refuses IR that would make LLVM's code generator end the process.

A module that LLVM's verifier accepts can still do that: code generation aborts where the target has
no instruction for an intrinsic, and exits where a GPU has too little shared memory. So a module may
only call the intrinsics that the renderer writes, on types that the target supports, and of the
matrix instructions those that it has. Never changes
a module.
"""

from __future__ import annotations

import re
from typing import Any, Final

from core.errors import CompileError
from core.render.llvm_lines.amd_matrix import call_of
from core.target import Target

_SHARED: Final = (
    r"(fma|fabs|sqrt|trunc)\.(v\d+)?f(16|32|64)|(exp2|log2|sin)\.(v\d+)?f(16|32)|"
    r"fpto[su]i\.sat\.(v\d+)?i(8|16|32|64)\.(v\d+)?f(32|64)|"
    r"masked\.load\.v\d+(i\d+|f16|bf16|f32|f64)\.p\d"
)
_CPU: Final = re.compile(
    rf"llvm\.({_SHARED}|(exp2|log2|sin)\.(v\d+)?f64|pow\.(v\d+)?f(16|32|64)|"
    r"x86\.sse2\.pause|aarch64\.hint)"
)
"""The last two are of the launcher."""
_AMD: Final = re.compile(
    rf"llvm\.({_SHARED}|amdgcn\.(workgroup|workitem)\.id\.[xyz]|"
    r"amdgcn\.(s\.barrier|mbcnt\.(lo|hi)|ds\.bpermute))"
)
"""LLVM has no instructions for exp2, log2, sin of float64 and for pow on AMD's GPUs."""
_TYPES: Final = re.compile(r"(\.v\d+(i|f|bf)\d+)+")
"""What LLVM appends to the name of an intrinsic for vectors."""


def check_selectable(module: Any, name: str, target_data: Any, gpu: Target | None) -> None:
    """Raises CompileError where code generation for kernel `name` would end the process.

    `gpu` is the target, None for a CPU.
    """
    allowed = _CPU if gpu is None else _AMD
    products = {call_of(core).name for core in gpu.tensor_cores} if gpu is not None else set[str]()
    for function in module.functions:
        callee = function.name
        if (
            function.is_declaration
            and callee.startswith("llvm.")
            and not allowed.fullmatch(callee)
            and _TYPES.sub("", callee) not in products
        ):
            raise _refused(name, f"it calls {callee}, which the target has no instruction for")
    if gpu is None:
        return
    taken = sum(target_data.get_abi_size(v.global_value_type) for v in module.global_variables)
    if taken > gpu.shared_bytes:
        most = gpu.shared_bytes
        raise _refused(name, f"it takes {taken} bytes of shared memory, {most} at most")


def _refused(name: str, why: str) -> CompileError:
    return CompileError(
        f"llvm: no code can be generated for kernel {name}",
        why,
        "this is a fault of the renderer or of a pass; please report it",
    )
