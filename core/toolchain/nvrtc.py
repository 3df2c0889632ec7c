"""NVRTC, NVIDIA's compiler of CUDA C++ as a library: from the wheel that brings it, or installed.

Needs no GPU and no driver. Source of its functions: NVIDIA, "NVRTC". Runs nothing that it compiles.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from core.errors import CompileError

MISTAKE: Final = "this is a fault of the CUDA renderer; please report it"


@lru_cache(maxsize=1)
def library() -> Any:
    """The loaded library, or None where there is none on this machine."""
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError:  # of another kind of machine
            continue
    return None


def _candidates() -> list[str]:
    found = _in_wheels("*/lib/libnvrtc.so.*")
    installed = ctypes.util.find_library("nvrtc")
    return [*found, installed] if installed else found


def _headers() -> list[str]:
    """Folders with the headers of CUDA's own types."""
    wheels = [str(Path(p).parent) for p in _in_wheels("*/include/cuda_fp16.h")]
    return [*wheels, str(Path(os.environ.get("CUDA_PATH", "/usr/local/cuda")) / "include")]


def _in_wheels(pattern: str) -> list[str]:
    spec = importlib.util.find_spec("nvidia")
    roots = (spec.submodule_search_locations or []) if spec is not None else []
    return [str(path) for root in roots for path in sorted(Path(root).glob(pattern))]


def ptx_of(text: str, name: str, arch: str) -> str:
    """PTX for `arch` ("sm_90") of CUDA C++ `text`. Raises CompileError with the compiler's log
    where it rejects the text, and where there is no NVRTC."""
    nvrtc = library()
    if nvrtc is None:
        raise CompileError(
            "NVRTC, NVIDIA's compiler of CUDA C++, is not installed",
            hint="pip install 'uopviz[compilers]' brings it",
        )
    program = ctypes.c_void_p()
    file = f"{name}.cu".encode()
    _done(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), file, 0, None, None))
    try:
        flags = [f"--gpu-architecture=compute_{arch.removeprefix('sm_')}", "--std=c++17"]
        flags += ["--fmad=false"]  # the text says itself where it multiplies and adds in one
        flags += [f"--include-path={folder}" for folder in _headers()]
        options = (ctypes.c_char_p * len(flags))(*map(str.encode, flags))
        if nvrtc.nvrtcCompileProgram(program, len(flags), options):
            raise CompileError(
                f"NVRTC rejects kernel {name} for {arch}",
                _text(nvrtc, "ProgramLog", program).strip(),
                MISTAKE,
            )
        return _text(nvrtc, "PTX", program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(nvrtc: Any, what: str, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _done(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _done(getattr(nvrtc, f"nvrtcGet{what}")(program, text))
    return text.value.decode(errors="replace")


def _done(code: int) -> None:
    if code:
        raise CompileError(f"NVRTC failed with code {code}", hint="its library may be damaged")
