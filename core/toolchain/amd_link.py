"""AMD's code objects: an object of the LLVM at hand, linked by LLVM's lld where one is found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final

from core.errors import CompileError
from core.target import Target
from core.toolchain import llvm_compiler

ROCM: Final = "/opt/rocm"
OLDEST: Final = 18
"""The first version of LLVM whose lld knows the current version of code objects, 6 (LLVM, "User
Guide for AMDGPU Backend")."""
_NAMES: Final = ("ld.lld", *(f"ld.lld-{version}" for version in range(25, OLDEST - 1, -1)))
_TIMEOUT: Final = 60


@lru_cache(maxsize=1)
def find_linker() -> Path | None:
    """An lld that is new enough: on PATH, or in ROCm's own LLVM."""
    rocm = os.environ.get("ROCM_PATH", ROCM)
    places = (None, f"{rocm}/llvm/bin", f"{rocm}/lib/llvm/bin")
    for place in places:
        for name in _NAMES:
            found = shutil.which(name, path=place)
            if found and _version(found) >= OLDEST:
                return Path(found)
    return None


def _version(linker: str) -> int:
    try:
        said = subprocess.run([linker, "--version"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r"LLD (\d+)\.", said.stdout)
    return int(found[1]) if found else 0


def code_object(text: str, name: str, target: Target, linker: Path) -> bytes:
    """What the driver loads, of LLVM IR `text`. Raises CompileError."""
    made = llvm_compiler.object_code(text, name, llvm_compiler.machine_of(target))
    with tempfile.TemporaryDirectory(prefix="uopviz-") as folder:
        source, out = Path(folder) / "kernel.o", Path(folder) / "kernel.hsaco"
        source.write_bytes(made)
        command = [str(linker), "-shared", "--no-undefined", str(source), "-o", str(out)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileError("the linker did not finish", f"{linker}: {error}") from error
        if done.returncode != 0:
            raise CompileError(
                f"the linker rejects kernel {name} for {target.arch}",
                (done.stderr + done.stdout).strip(),
                f"it is {linker}; an older LLVM than the code's may be why",
            )
        return out.read_bytes()
