"""`Device`: the devices of this machine by name, opened when first used.

`Device["CPU"]`, `Device.DEFAULT`. Names are canonical: upper case, without ":0" and without the
target that an emulated device has anyway. Never imports a device, nor a
vendor's library, before it is asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final, TypeAlias

from core.errors import DeviceError
from core.helpers import DEV, wrong_setting
from core.runtime.allocator import Allocator
from core.runtime.allocators import Allocators
from core.runtime.base import ComputeDevice
from core.runtime.disk.device import KIND as DISK
from core.runtime.disk.device import disk_name
from core.runtime.emulated import EMULATED, emulated_target
from core.uop.node import DeviceName

DeviceLike: TypeAlias = str | Sequence[str] | None
"""What users pass: the name of a device, the names of several, or None for the default one."""

HOMES: Final[Mapping[str, tuple[str, str]]] = {
    "CPU": ("core.runtime.cpu.device", "CpuDevice"),
    "REFERENCE": ("core.runtime.reference.device", "ReferenceDevice"),
    "NULL": ("core.runtime.null", "NullDevice"),
    "CUDA": ("core.runtime.cuda.device", "cuda_device"),
    "AMD": ("core.runtime.hip.device", "amd_device"),
    "WEBGPU": ("core.runtime.webgpu.device", "WebGpuDevice"),
    "OPENCL": ("core.runtime.opencl.device", "OpenClDevice"),
    DISK: ("core.runtime.disk.device", "DiskDevice"),
    **dict.fromkeys(EMULATED, ("core.runtime.emulator.device", "EmulatorDevice")),
}
"""(module, name) of what opens each kind of device, given its canonical name. Behind the kind a
name may have a number or, of an emulated device, a target: CPU:1, PTX:EMU:SM_75; DISK is followed
by a file. The module is imported when the first device of the kind is opened."""

ALIASES: Final[Mapping[str, str]] = {
    "PYTHON": "REFERENCE",
    "LLVM": "CPU",
    "NUMPY": "REFERENCE",
    "GPU": "CUDA",
}


class Devices:
    """The registry. There is one, `Device`."""

    def __init__(self) -> None:
        self._open: dict[str, ComputeDevice] = {}
        self._default: str | None = None
        self._lock = threading.Lock()

    def canonicalize(self, name: str | None) -> str:
        """The one spelling of a device's name; of None, the default device. Raises DeviceError
        for a kind of device that does not exist."""
        if name is None:
            return self.DEFAULT
        kind, suffix = _split(name)
        if kind == DISK:
            return disk_name(suffix)
        if kind in EMULATED:
            target = emulated_target(kind, suffix)
            return kind if target == EMULATED[kind].default else f"{kind}:{target.upper()}"
        if kind not in HOMES or (suffix and not suffix.isdigit()):
            raise DeviceError(f"there is no device {name!r}", hint="one of " + ", ".join(HOMES))
        return kind if int(suffix or 0) == 0 else f"{kind}:{int(suffix)}"

    def names(self, device: DeviceLike) -> DeviceName:
        """The one spelling of a device's name, or of the names of several; of None, the default
        device. A list of one name is that device. Raises DeviceError for a kind of device that does
        not exist, for no names, and for a device that is named twice."""
        if device is None or isinstance(device, str):
            return self.canonicalize(device)
        names = [self.canonicalize(name) for name in device]
        if not names:
            raise DeviceError("a list of no devices", hint="give the name of each")
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise DeviceError(
                f"{twice[0]} is named {names.count(twice[0])} times",
                hint="each device has one part of a value: name different devices, such as CPU and "
                "CPU:1",
            )
        return tuple(names) if len(names) > 1 else names[0]

    def __getitem__(self, name: str | None) -> ComputeDevice:
        """The open device. Raises DeviceError where it is not present."""
        found = self._open.get(name) if name is not None else None
        if found is not None:
            return found
        key = self.canonicalize(name)
        with self._lock:
            if key not in self._open:
                self._open[key] = _maker(_split(key)[0])(key)
            return self._open[key]

    @property
    def DEFAULT(self) -> str:
        """The device of Tensors for which none is given: DEV in the environment, or CPU. Raises
        EnvError for a DEV that is no device."""
        if self._default is not None:
            return self._default
        try:
            return self.canonicalize(DEV.value)
        except DeviceError as error:
            raise wrong_setting(
                f"DEV={DEV.value!r} is not a device", "DEV takes " + ", ".join(HOMES)
            ) from error

    @DEFAULT.setter
    def DEFAULT(self, name: str) -> None:
        self._default = self.canonicalize(name)

    def allocator(self, name: str) -> Allocator:
        """The memory of a device."""
        return self[name].allocator


def _maker(kind: str) -> Callable[[str], ComputeDevice]:
    module, name = HOMES[kind]
    return getattr(import_module(module), name)


def _split(name: object) -> tuple[str, str]:
    """(kind, what follows it) of a name in any spelling. Raises DeviceError for what is no text."""
    if not isinstance(name, str):
        raise DeviceError(
            f"{name!r} is not the name of a device",
            hint="a device is named by text: one of " + ", ".join(HOMES),
        )
    if name[: len(DISK) + 1].upper() == DISK + ":":
        return DISK, name[len(DISK) + 1 :]  # a path, whose letters are what they are
    first, _, rest = name.upper().partition(":")
    second, _, further = rest.partition(":")
    if f"{first}:{second}" in HOMES:
        return f"{first}:{second}", further
    return ALIASES.get(first, first), rest


Device: Final = Devices()
Allocators.find = Device.allocator
