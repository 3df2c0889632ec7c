"""Texts of LLVM IR for tests: a body of instructions, with a kernel around it."""

from __future__ import annotations

HEAD = 'target triple = "amdgcn-amd-amdhsa"\n'
ARGUMENTS = "ptr addrspace(1) %out, ptr addrspace(1) %in"


def kernel(body: str, arguments: str = ARGUMENTS, before: str = "") -> str:
    """A module of one kernel called k. Instructions of `body` begin at line 4 plus those of
    `before`; a last `ret void` is added."""
    lines = [line.strip() for line in body.strip().splitlines()]
    inner = "\n".join(line if line.endswith(":") else f"  {line}" for line in lines)
    define = f"define amdgpu_kernel void @k({arguments}) {{"
    return f"{HEAD}{before}{define}\nentry:\n{inner}\n  ret void\n}}\n"
