"""Compilers of CUDA C++ and HIP C++ that a machine may have; None of them needs a GPU."""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

HEADERS = Path(__file__).parent / "hip_headers"
"""What kernels use of HIP's own header."""
_NAMES = ("clang", *(f"clang-{version}" for version in range(25, 16, -1)))


@lru_cache(maxsize=8)
def clang_for(arch: str) -> str | None:
    """A clang that makes code for an AMD architecture."""
    for found in filter(None, map(shutil.which, _NAMES)):
        if _compile(found, "", arch).returncode == 0:
            return found
    return None


def llvm_of_hip(text: str, arch: str) -> str:
    """LLVM IR of HIP C++. Fails the test with the compiler's words."""
    compiler = clang_for(arch)
    assert compiler is not None
    done = _compile(compiler, text, arch)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _compile(compiler: str, text: str, arch: str) -> subprocess.CompletedProcess[str]:
    command = [compiler, "-x", "hip", f"--offload-arch={arch}", "--offload-device-only"]
    command += ["-nogpulib", "-nogpuinc", f"-I{HEADERS}", "-std=c++20", "-O1", "-Werror"]
    command += ["-ffp-contract=off", "-fwrapv", "-S", "-emit-llvm", "-o", "-", "-"]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=120, check=False
    )
