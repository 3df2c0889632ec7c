"""What was looked for on this machine so that kernels can run or be checked, what was found, and
why not.

Opens what it finds only as far as needed to name it. Nothing here raises for what is missing.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from llvmlite import binding as llvm

from core.errors import UopvizError
from core.hardware.host import host, usable_cores
from core.runtime.cuda import api as cuda
from core.runtime.cuda.driver import CudaDriver
from core.runtime.gpu.driver import Driver
from core.runtime.hip import api as hip
from core.runtime.hip import hiprtc
from core.runtime.hip.driver import HipDriver
from core.runtime.opencl import platform as opencl
from core.runtime.webgpu import adapter as webgpu
from core.toolchain.amd_link import OLDEST, find_linker
from core.toolchain.llvm_compiler import objects
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.processor import host as cpu_processor


@dataclass(frozen=True)
class Finding:
    """`device`: what it is needed for; `looked_for`: a device, driver, package or tool; `found`:
    its name and version, "" where it is missing; `why`: then the reason, and `hint` what to do."""

    device: str
    looked_for: str
    found: str = ""
    why: str = ""
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def findings() -> list[Finding]:
    """Everything that was looked for, device by device."""
    return [*_cpu(), *_gpus("CUDA", cuda, CudaDriver), *_nvidia(), *_gpus("AMD", hip, HipDriver),
            *_amd(), *_webgpu(), *_opencl()]  # fmt: skip


def _cpu() -> Iterator[Finding]:
    machine = cpu_processor()
    found = f"{machine.target.title}, {usable_cores()} cores"
    yield Finding("CPU", "processor", found)
    yield Finding("CPU", "figures", _figures())
    version = ".".join(map(str, llvm.llvm_version_info))
    yield Finding("CPU", "LLVM", f"{version} (llvmlite {_version('llvmlite')})")
    yield _objects()
    yield Finding("REFERENCE", "NumPy", np.__version__)


def _figures() -> str:
    """What opts are chosen by, with where it is from."""
    known = host(cpu_processor().target)
    by_source: dict[str, list[str]] = {}
    for name in ("cores", "l1", "l2", "l3", "registers"):
        value = int(getattr(known.cpu, name))
        size = f"{value >> 10}K" if name.startswith("l") else str(value)
        by_source.setdefault(known.sources[name], []).append(f"{name} {size}")
    return "; ".join(f"{', '.join(figures)} ({source})" for source, figures in by_source.items())


def _objects() -> Finding:
    taken = objects.taken()
    if taken is None:
        hint = "set XDG_CACHE_HOME to a folder of your own"
        return Finding("CPU", "kept code", "", "nothing can be kept in your cache", hint)
    most = taken.most >> 20
    size = f"{taken.files} kernels, {taken.nbytes / 2**20:.1f} MiB of about {most} MiB"
    return Finding("CPU", "kept code", f"{size} at most, in {taken.folder}")


_packages: Final = {"CUDA": "cuda-bindings", "AMD": "hip-python"}


def _gpus(device: str, api: Any, open_gpu: Callable[[Any, int], Driver]) -> Iterator[Finding]:
    package = _packages[device]
    version = _version(package)
    if version:
        yield Finding(device, package, version)
    else:
        yield Finding(device, package, "", "not installed", api.BINDINGS.install)
    try:
        count = api.gpus()
    except UopvizError as error:
        if version:  # else that is why, and was said
            yield Finding(device, "driver", "", error.what, error.hint)
        return
    for number in range(count):
        name = device if number == 0 else f"{device}:{number}"
        try:
            limits = open_gpu(api.api(), number).limits
        except UopvizError as error:
            yield Finding(name, "GPU", "", error.what, error.hint)
            continue
        size = f"{limits.memory / 2**30:.0f} GiB, {limits.processors} processors"
        yield Finding(name, "GPU", f"{limits.title} ({limits.arch}), {size}, {limits.driver}")


def _nvidia() -> Iterator[Finding]:
    for tool, needed in (("ptxas", "nvidia-cuda-nvcc-cu12"), ("nvdisasm", "nvidia-cuda-nvdisasm")):
        path = find_tool(tool)
        if path is not None:
            yield Finding("CUDA", tool, str(path))
        else:
            missing = "neither in a wheel nor on PATH"
            yield Finding("CUDA", tool, "", missing, f"pip install {needed}")


def _amd() -> Iterator[Finding]:
    linker = find_linker()
    if linker is not None:
        yield Finding("AMD", "lld", str(linker))
    else:
        missing = f"no ld.lld of LLVM {OLDEST} or newer on PATH or in ROCm"
        yield Finding("AMD", "lld", "", missing, "install LLVM's lld, or ROCm")
    if hiprtc.present():
        yield Finding("AMD", "hiprtc", "present")
    else:
        yield Finding("AMD", "hiprtc", "", "there is no libhiprtc", "install ROCm")


def _webgpu() -> Iterator[Finding]:
    version = _version("wgpu")
    if not version:
        yield Finding("WEBGPU", "wgpu", "", "not installed", webgpu.INSTALL)
        return
    yield Finding("WEBGPU", "wgpu", version)
    try:
        found = webgpu.adapters()
    except UopvizError as error:
        yield Finding("WEBGPU", "adapter", "", error.what, error.hint)
        return
    if not found:
        yield Finding("WEBGPU", "adapter", "", "wgpu finds none", webgpu.NO_ADAPTER)
    for number, adapter in enumerate(found):
        name = "WEBGPU" if number == 0 else f"WEBGPU:{number}"
        timed = "its own clock" if webgpu.TIMESTAMPS in adapter.features else "the host's clock"
        kind = "adapter" if webgpu.on_cpu(adapter) else "GPU"
        yield Finding(name, kind, f"{webgpu.title(adapter)}, {timed}")


def _opencl() -> Iterator[Finding]:
    version = _version("pyopencl")
    if not version:
        yield Finding("OPENCL", "pyopencl", "", "not installed", opencl.INSTALL)
        return
    yield Finding("OPENCL", "pyopencl", version)
    try:
        found = opencl.devices()
    except UopvizError as error:
        yield Finding("OPENCL", "device", "", error.what, error.hint)
        return
    if not found:
        yield Finding("OPENCL", "device", "", "pyopencl finds none", opencl.NO_DEVICE)
    for number, device in enumerate(found):
        name = "OPENCL" if number == 0 else f"OPENCL:{number}"
        try:
            target = opencl.target_of(device)
        except UopvizError as error:
            yield Finding(name, "device", "", error.what, error.hint)
            continue
        kind = "GPU" if opencl.is_gpu(device) else "device"
        yield Finding(name, kind, f"{opencl.title(device)}, target {target.name}")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
