"""Source texts that a user has edited: which a device can run, and the program with such a text.

A text stands in for the compiler's own. It may compute anything; what it must not hold is refused
before any of it is compiled. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from core.errors import DeviceError, RunError, UopvizError
from core.isolation.emulated_edited import checked_llvm, checked_ptx
from core.isolation.gpu_edited import (
    checked_cuda,
    checked_hip,
    checked_loaded_ptx,
    checked_opencl,
    checked_wgsl,
)
from core.isolation.isolate import MAX_TEXT
from core.isolation.llvm_edited import checked_ir
from core.runtime.device import Device
from core.runtime.hip import hiprtc
from core.runtime.opencl.device import OpenClDevice
from core.target import Target
from core.toolchain import nvrtc
from core.toolchain.processor import host_target
from core.toolchain.program import Artifact, Program


@dataclass(frozen=True)
class Editable:
    """A kind of text that a kind of device runs once it is edited.

    `checked(text, program)` is the source for the device to load in place of the program's. It
    raises CompileError, with "line 3" as its place, where `text` is not of its language, and
    RunError where it holds what an edited text must not hold. `missing(device)`: what is not
    there that it needs, and how to get it; "" for nothing.
    """

    kind: str
    checked: Callable[[str, Program], Artifact]
    missing: Callable[[str], str] = lambda _: ""


def _as_text(checked: Callable[[str, str, str], str]) -> Callable[[str, Program], Artifact]:
    """Of a check of a text of the program's own kind."""

    def check(text: str, program: Program) -> Artifact:
        made = checked(text, program.source.text, program.name)
        return replace(program.source, text=made, lines=())

    return check


def _llvm_of_a_gpu(text: str, program: Program) -> Artifact:
    return _as_text(checked_llvm(program.target))(text, program)


def _no_nvrtc(_: str) -> str:
    if nvrtc.library() is not None:
        return ""
    return "NVRTC, NVIDIA's compiler of CUDA C++, is not installed: pip install 'uopviz[compilers]'"


def _no_hiprtc(_: str) -> str:
    if hiprtc.present():
        return ""
    return f"hiprtc, ROCm's compiler of HIP C++, is not installed: {hiprtc.INSTALL}"


def _no_gpu(device: str) -> str:
    found = Device[device]
    if isinstance(found, OpenClDevice) and found.queue.opened.is_gpu:
        return ""
    return "edited OpenCL C runs on GPUs only: on the CPU it could do whatever you can"


EDITABLE: Final[Mapping[str, tuple[Editable, ...]]] = {
    "CPU": (Editable("llvm", _as_text(checked_ir)),),
    "CUDA": (
        Editable("ptx", _as_text(checked_loaded_ptx)),
        Editable("cuda", checked_cuda, _no_nvrtc),
    ),
    "AMD": (Editable("llvm", _llvm_of_a_gpu), Editable("hip", checked_hip, _no_hiprtc)),
    "WEBGPU": (Editable("wgsl", _as_text(checked_wgsl)),),
    "OPENCL": (Editable("opencl", _as_text(checked_opencl), _no_gpu),),
    "PTX:EMU": (
        Editable("ptx", _as_text(checked_ptx)),
        Editable("cuda", checked_cuda, _no_nvrtc),
    ),
    "AMD:EMU": (Editable("llvm", _llvm_of_a_gpu),),
}
"""By kind of device. Other devices run no text that was edited."""
RUNS: Final[Mapping[str, str]] = {
    text.kind: device for device, texts in reversed(EDITABLE.items()) for text in texts
}
"""By the kind of an edited text, the kind of device that runs it; the first of several."""
_NEEDS: Final = {"hip": "HIP C++ is edited and run on AMD GPUs only, and none was found here"}
"""What is said of kinds of text where no device that runs them is there."""


@dataclass(frozen=True)
class Edited:
    """A text that a user asks to run; `kind` as in `Artifact`."""

    kind: str
    text: str


def editable_on(devices: Iterable[str]) -> list[dict[str, str]]:
    """The kinds of text that can be run once they are edited: of which target, on which device, and
    what is missing for that. Without a device, and of any target, where no device is there."""
    found: list[dict[str, str]] = []
    for name in devices:
        for text in _texts_of(name):
            with suppress(DeviceError):  # not on this kind of machine
                row = {"device": name, "kind": text.kind, "target": _target_of(name).name}
                found.append({**row, "missing": text.missing(name)})
    for kind, why in _NEEDS.items():
        if all(row["kind"] != kind for row in found):
            found.append({"device": "", "kind": kind, "target": "", "missing": why})
    return found


def with_text(program: Program, device: str, source: Edited) -> Program:
    """The program with the edited text in place of its own. Raises RunError and CompileError."""
    texts = _texts_of(device)
    found = next((text for text in texts if text.kind == source.kind), None)
    if found is None:
        known = "; ".join(
            f"{n} runs {', '.join(e.kind for e in all_)}" for n, all_ in EDITABLE.items()
        )
        raise RunError(f"{device} cannot run an edited {source.kind!r} text", hint=known)
    if missing := found.missing(device):
        raise RunError(f"{device} cannot run an edited {source.kind!r} text: {missing}")
    if len(source.text) > MAX_TEXT:
        raise RunError(
            f"the edited text is too long: {len(source.text):,} characters",
            hint=f"at most {MAX_TEXT:,}",
        )
    return replace(program, source=found.checked(source.text, program))


def _texts_of(device: str) -> tuple[Editable, ...]:
    """Those of the kind of a device such as "CUDA:1"."""
    kinds = [kind for kind in EDITABLE if device == kind or device.startswith(f"{kind}:")]
    return EDITABLE[max(kinds, key=len)] if kinds else ()


def _target_of(device: str) -> Target:
    """What is compiled for a device. Raises DeviceError where it is not there."""
    if device == "CPU":
        return host_target()
    try:
        target = Device[device].target
    except UopvizError as error:
        raise DeviceError(error.what, error.where, error.hint) from None
    if target is None:
        raise DeviceError(f"{device} runs no texts")
    return target
