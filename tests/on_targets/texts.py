"""The texts of many kernels through the compilers that a machine has: ptxas, LLVM, NVRTC, clang and
the system's compiler of C.

Texts are handed over in batches, since starting a compiler takes longer than a kernel; where a
batch is refused, its texts are tried one by one. Each function gives, for every text, what the
compiler says against it, "" for nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from core.errors import UopvizError
from core.render import c
from core.target import Target
from core.toolchain import llvm_compiler, nvrtc
from core.toolchain.program import Program
from core.toolchain.ptxas import assemble
from tests.core.render.compilers import clang_for, llvm_of_hip

BATCH: Final = 40
SAID: Final = 600
"""Characters of a compiler's words that are kept."""
_HEADER: Final = re.compile(r"^\.(?:version|target|address_size) .*\n", re.MULTILINE)
_INCLUDE: Final = re.compile(r"^#include .*\n", re.MULTILINE)
C_COMPILERS: Final = ("clang", *(f"clang-{n}" for n in range(25, 16, -1)), "cc", "gcc")


def said_of(error: UopvizError | AssertionError) -> str:
    """An error in a few lines."""
    return str(error).strip()[:SAID]


def in_batches(
    texts: Sequence[str], names: Sequence[str], compile_all: Callable[[Sequence[int]], str]
) -> list[str]:
    """For each text what `compile_all` says against it. It is given positions of texts whose names
    differ."""
    said = [""] * len(texts)
    left = list(range(len(texts)))
    while left:
        batch: list[int] = []
        for position in left:
            if len(batch) < BATCH and names[position] not in {names[p] for p in batch}:
                batch.append(position)
        left = [p for p in left if p not in batch]
        if compile_all(batch):
            for position in batch:
                said[position] = compile_all([position])
    return said


def ptxas(texts: Sequence[str], names: Sequence[str], target: Target) -> list[str]:
    """Assembles PTX for one target."""

    def compile_all(batch: Sequence[int]) -> str:
        head = max("".join(_HEADER.findall(texts[p])) for p in batch)
        try:
            assemble(head + "".join(_HEADER.sub("", texts[p]) for p in batch), target.arch)
        except UopvizError as error:
            return said_of(error)
        return ""

    return in_batches(texts, names, compile_all)


def amd_object(program: Program) -> str:
    """Compiles LLVM IR to an object file for its target."""
    machine = llvm_compiler.machine_of(program.target)
    try:
        llvm_compiler.object_code(program.source.text, program.name, machine)
    except UopvizError as error:
        return said_of(error)
    return ""


def cuda(texts: Sequence[str], names: Sequence[str], target: Target) -> list[str]:
    """Compiles CUDA C++ for one target by NVRTC, which has to be there."""

    def compile_all(batch: Sequence[int]) -> str:
        try:
            nvrtc.ptx_of(_together([texts[p] for p in batch]), names[batch[0]], target.arch)
        except UopvizError as error:
            return said_of(error)
        return ""

    return in_batches(texts, names, compile_all)


def hip(texts: Sequence[str], names: Sequence[str], target: Target) -> list[str]:
    """Compiles HIP C++ for one target by clang, which has to be there."""
    assert clang_for(target.arch) is not None

    def compile_all(batch: Sequence[int]) -> str:
        try:
            llvm_of_hip(_together([texts[p] for p in batch]), target.arch)
        except AssertionError as error:
            return said_of(error)
        return ""

    return in_batches(texts, names, compile_all)


def _together(texts: Sequence[str]) -> str:
    """One text of C++: each kernel in a namespace, since they declare the same types."""
    heads = dict.fromkeys(head for text in texts for head in _INCLUDE.findall(text))
    bodies = (f"namespace n{i} {{\n{_INCLUDE.sub('', t)}\n}}\n" for i, t in enumerate(texts))
    return "".join([*heads, *bodies])


@lru_cache(maxsize=1)
def c_compiler() -> str | None:
    """The system's compiler of C; clang where it is there, which knows __bf16 longer than GCC."""
    return next(filter(None, map(shutil.which, C_COMPILERS)), None)


@lru_cache(maxsize=1)
def c_lacks() -> tuple[str, ...]:
    """The types of C texts that the system's compiler does not compute with."""
    compiler = c_compiler()
    assert compiler is not None

    def works(dtype: str) -> bool:
        name, lines = c.DIALECT.types[dtype], (*c.DIALECT.header, *c.DIALECT.needs[dtype])
        text = "\n".join((*lines, f"{name} f(float x) {{ return ({name})x + ({name})1; }}\n"))
        command = [compiler, "-std=c11", "-fsyntax-only", "-x", "c", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
        return done.returncode == 0

    return tuple(c.DIALECT.types[dtype] for dtype in c.DIALECT.needs if not works(dtype))


def c_libraries(texts: Sequence[str], names: Sequence[str], folder: Path) -> list[tuple[Path, str]]:
    """Compiles C texts; for each the library that has its function, and what was said against
    it."""
    libraries: list[Path] = [folder] * len(texts)

    def compile_all(batch: Sequence[int]) -> str:
        sources: list[str] = []
        for position in batch:
            source = folder / f"k{position}.c"
            source.write_text(texts[position], encoding="utf-8")
            sources.append(str(source))
        library = folder / f"l{batch[0]}_{len(batch)}.so"
        flags = ["-std=c11", "-O1", "-shared", "-fPIC", "-march=native", "-w"]
        flags += ["-ffp-contract=off", "-fwrapv"]  # floats and integers as the renderer means them
        compiler = c_compiler()
        assert compiler is not None
        command = [compiler, *flags, "-o", str(library), *sources, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        for position in batch:
            libraries[position] = library
        return done.stderr.strip()[:SAID] or "refused" if done.returncode else ""

    said = in_batches(texts, names, compile_all)
    return list(zip(libraries, said, strict=True))
