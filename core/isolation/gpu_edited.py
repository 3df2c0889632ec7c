"""Texts for real GPUs that a user has edited, and C++ for either kind: of the parameters that the
kernel is started with, and compiled where a compiler of the vendor is needed.

Such a text runs on the user's own GPU, in a process of its own, apart from the memory of others.
What must be right is what the launch relies on: the kernel's name and parameters.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from core.errors import CompileError, RunError
from core.isolation.emulated_edited import same_sizes
from core.render.opencl import PREFIX
from core.runtime.hip import hiprtc
from core.toolchain import nvrtc
from core.toolchain.program import Artifact, Program

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER: Final = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.[busf](8|16|32|64|128)(?:\s+\.ptr[^,\]]*?)?\s+"
    r"[\w$%]+\s*(?:\[\s*(\d{1,9})\s*\])?"
)
_PLACE: Final = re.compile(r"[^\s():]+[(:](\d+)(?::\d+)?\)?:\s*(?:fatal )?error:\s*(.*)")
"""What NVRTC writes, "k.cu(3): error: ...", and what clang does, "k.hip:3:5: error: ..."."""
_HINT: Final = "correct the text, or discard the edits"
_SHOWN: Final = 300
_BINDING: Final = re.compile(r"@binding\((\d{1,4})\)")


def checked_loaded_ptx(text: str, own: str, name: str) -> str:
    """PTX for the driver's compiler, which says itself what is wrong inside of the kernel. Raises
    RunError where its parameters are others than those of the compiler's text `own`, and
    CompileError where there is no kernel `name`."""
    same_sizes(*(_sizes(one, name) for one in (text, own)))
    return text


def checked_cuda(text: str, program: Program) -> Artifact:
    """The PTX of CUDA C++. Raises as `checked_loaded_ptx`, and CompileError with the line for what
    NVRTC rejects."""
    try:
        made = nvrtc.ptx_of(text, program.name, program.target.arch)
    except CompileError as error:
        raise _at_line(error) from None
    checked = checked_loaded_ptx(made, program.source.text, program.name)
    return replace(program.source, text=checked, lines=())


def checked_hip(text: str, program: Program) -> Artifact:
    """HIP C++, which the device compiles again when it loads it. Raises CompileError with the line
    for what hiprtc rejects."""
    try:
        hiprtc.code_of(text, program.name, program.target.arch)
    except CompileError as error:
        raise _at_line(error) from None
    return Artifact("hip", program.target, text, ())


def _sizes(text: str, name: str) -> list[int]:
    """Bytes of each parameter of kernel `name` of PTX text."""
    bare = _COMMENT.sub(" ", text)
    found = re.search(rf"\.entry\s+{re.escape(name)}\s*(?:\(([^)]*)\))?", bare)
    if found is None:
        raise CompileError(
            f"there is no kernel {name!r} in the text", hint="leave its name as it is"
        )
    return [int(bits) // 8 * int(count or 1) for bits, count in _PARAMETER.findall(found[1] or "")]


def _at_line(error: CompileError) -> CompileError:
    """An error of a compiler of C++ as one of the user's text: the first mistake, with its line."""
    found = _PLACE.search(error.where)
    if found is None:
        return CompileError(error.what, error.where[:_SHOWN], error.hint or _HINT)
    return CompileError(found[2][:_SHOWN], f"line {found[1]}", _HINT)


def checked_opencl(text: str, own: str, name: str) -> str:
    """OpenCL C for the driver's compiler, which says itself what is wrong inside of the kernel.
    Raises RunError where its parameters are others than those of the compiler's text `own`, and
    CompileError where there is no kernel of its name."""
    found, wanted = (_parameters(one, PREFIX + name) for one in (text, own))
    if found != wanted:
        raise RunError(
            "the parameters are not those that the kernel is started with",
            f"{PREFIX}{name}({', '.join(wanted)})",
            "leave them as they are",
        )
    return text


def _parameters(text: str, name: str) -> list[str]:
    """The parameters of a kernel of OpenCL C."""
    found = re.search(rf"\b{re.escape(name)}\s*\(([^)]*)\)\s*\{{", _COMMENT.sub(" ", text))
    if found is None:
        raise CompileError(f"there is no kernel {name}", hint=_HINT)
    return [" ".join(one.split()) for one in found[1].split(",")]


def checked_wgsl(text: str, own: str, name: str) -> str:
    """WGSL for the device's compiler, which says itself what is wrong inside of the kernel, and
    which keeps a kernel in its memory. Raises CompileError where the function of the compiler's
    text `own` is not there, or bindings are others."""
    bare = _COMMENT.sub(" ", text)
    if not re.search(rf"\bfn\s+kernel_{re.escape(name)}\s*\(", bare):
        raise CompileError(f"there is no function kernel_{name}", hint=_HINT)
    found, wanted = (sorted(map(int, _BINDING.findall(t))) for t in (bare, own))
    if found != wanted:
        raise CompileError(
            f"the bindings are {found}, and the kernel is started with {wanted}", hint=_HINT
        )
    return text
