"""ptxas, NVIDIA's assembler, from its wheel: checks PTX and reads the resources a kernel takes.

Needs no GPU and no driver. Never runs what it assembles.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.errors import CompileError
from core.toolchain.nvidia_tools import find_tool

_TIMEOUT: Final = 120
_facts: Final = (
    ("registers", r"Used (\d+) registers"),
    ("shared bytes", r"(\d+) bytes smem"),
    ("spill stores", r"(\d+) bytes spill stores"),
    ("spill loads", r"(\d+) bytes spill loads"),
    ("stack bytes", r"(\d+) bytes stack frame"),
    ("barriers", r"used (\d+) barriers"),
)


_entry: Final = re.compile(r"Compiling entry function '([^']+)'")


@dataclass(frozen=True)
class Assembled:
    """A cubin, and what `ptxas -v` says about each of its kernels, by their names."""

    cubin: bytes
    kernels: dict[str, dict[str, str]]

    @property
    def facts(self) -> dict[str, str]:
        """What it says about the first kernel."""
        return next(iter(self.kernels.values()), {})


def assemble(ptx: str, arch: str, lines: bool = False) -> Assembled:
    """Assembles PTX text for `arch` ("sm_90"); with `lines`, its .loc directives go into the cubin.

    Raises CompileError with the assembler's words where it rejects the text, or where there is no
    ptxas on this machine.
    """
    tool = find_tool("ptxas")
    if tool is None:
        raise CompileError(
            "ptxas, NVIDIA's assembler, is not installed",
            hint="pip install 'uopviz[test]' brings it (nvidia-cuda-nvcc-cu12)",
        )
    with tempfile.TemporaryDirectory(prefix="uopviz-") as folder:
        out = Path(folder) / "kernel.cubin"
        source = Path(folder) / "kernel.ptx"
        source.write_text(ptx)
        command = [str(tool), "-v", f"-arch={arch}", str(source), "-o", str(out)]
        command += ["-lineinfo"] if lines else []
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileError("ptxas did not finish", str(error)) from error
        said = done.stderr + done.stdout
        if done.returncode != 0:
            raise CompileError(
                f"ptxas rejects the kernel for {arch}",
                said.strip(),
                "this is a fault of the PTX renderer; please report it",
            )
        _, *parts = _entry.split(said)  # a name and its report, alternating
        kernels = {parts[at]: _facts_in(parts[at + 1]) for at in range(0, len(parts), 2)}
        return Assembled(out.read_bytes(), kernels)


def _facts_in(said: str) -> dict[str, str]:
    return {name: found[1] for name, pattern in _facts if (found := re.search(pattern, said))}
