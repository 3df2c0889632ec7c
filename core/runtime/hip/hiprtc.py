"""hiprtc, ROCm's compiler of HIP C++ in the process."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any, Final

from core.errors import CompileError, DriverError
from core.render import hip
from core.runtime.gpu.api import Api, Codes
from core.toolchain.program import Program

MODULE: Final = "hip.hiprtc"
INSTALL: Final = "it comes with ROCm; pip install 'uopviz[amd]' brings what calls it"
_codes: Final = Codes("hiprtc", "hiprtcGetErrorString", "", frozenset())


@lru_cache(maxsize=1)
def _api() -> Api | None:
    try:
        found = Api(importlib.import_module(MODULE), _codes)
        found("hiprtcVersion")
    except (ImportError, RuntimeError, DriverError):  # no package, or it finds no libhiprtc
        return None
    return found


def present() -> bool:
    """Whether it can be called."""
    return _api() is not None


def compiled(program: Program) -> bytes:
    """The code object of a kernel's HIP C++: of the program's own text, where that is HIP C++.
    Raises CompileError with the compiler's log."""
    if program.source.kind == "hip":
        text = program.source.text
    else:
        text = hip.render(program.uops, program.name, program.target).text
    return code_of(text, program.name, program.target.arch)


def code_of(text: str, name: str, arch: str) -> bytes:
    """The code object of HIP C++ `text` with kernel `name`. Raises CompileError with the compiler's
    log, and where there is no hiprtc."""
    api = _api()
    if api is None:
        raise CompileError("hiprtc, ROCm's compiler of HIP C++, is not installed", hint=INSTALL)
    made = api("hiprtcCreateProgram", text.encode(), f"{name}.hip".encode(), 0, None, None)
    options = [f"--offload-arch={arch}".encode(), b"-O3", b"-ffp-contract=off"]
    options.append(b"-fwrapv")  # integers wrap around, as everywhere
    try:
        api("hiprtcCompileProgram", made, len(options), options)
    except DriverError as error:
        raise CompileError(
            f"hiprtc rejects kernel {name} for {arch}",
            _bytes(api, "hiprtcGetProgramLog", made).decode(errors="replace").strip(" \0\n"),
            "this is a fault of the HIP renderer; please report it",
        ) from error
    return _bytes(api, "hiprtcGetCode", made)


def _bytes(api: Api, what: str, made: Any) -> bytes:
    found = bytearray(int(api(f"{what}Size", made)))
    api(what, made, found)
    return bytes(found)
