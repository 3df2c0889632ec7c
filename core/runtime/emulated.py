"""Emulated devices by name: which GPUs each kind emulates. Never imports the emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.errors import DeviceError
from core.target import Family, targets


@dataclass(frozen=True)
class Emulated:
    """A kind of emulated device: what it emulates, and its target where its name says none."""

    family: Family
    default: str


EMULATED: Final[Mapping[str, Emulated]] = {
    "PTX:EMU": Emulated("nvidia", "sm_90"),
    "AMD:EMU": Emulated("amd", "gfx942"),
}
"""Every kind of emulated device by name."""


def is_emulated(device: str) -> bool:
    """Whether a device of that name is an emulated one."""
    return any(device == kind or device.startswith(f"{kind}:") for kind in EMULATED)


def emulated_target(kind: str, suffix: str) -> str:
    """The target of `PTX:EMU:sm_75`, by what follows its kind; "" is the default. Raises
    DeviceError for one that the kind does not have."""
    row = EMULATED[kind]
    name = suffix.lower() or row.default
    fitting = [t.name for t in targets.values() if t.family == row.family]
    if name not in fitting:
        raise DeviceError(f"{kind} emulates no {name!r}", hint="one of " + ", ".join(fitting))
    return name
