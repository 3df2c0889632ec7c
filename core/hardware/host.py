"""What is known of the processor that this runs on: its caches and usable cores, asked once.

What the system does not say has the values of a usual processor of that target; `CPU_MACHINE` has
the last word. Asks files of the system alone: nothing is measured, and nothing is ever awaited.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from core.hardware.cpu import Cpu, cpu_of
from core.helpers import CPU_MACHINE, CPU_THREADS, ceildiv, wrong_setting
from core.target import Target

USUAL: Final = "usual"
"""Where a setting begins with it, nothing is asked."""
_CACHES: Final = Path("/sys/devices/system/cpu/cpu0/cache")
_FLAGS: Final = Path("/proc/cpuinfo")
_QUOTAS: Final = Path("/sys/fs/cgroup")
_ARCH: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SETTABLE: Final = tuple(f.name for f in fields(Cpu))


@dataclass(frozen=True)
class Host:
    """A processor, and where each figure is from: "asked", "set" or "usual"."""

    cpu: Cpu
    sources: Mapping[str, str]


def cpu_for(target: Target) -> Cpu:
    """The processor that code of a CPU target is chosen for. Raises EnvError for a wrong
    CPU_MACHINE."""
    return host(target).cpu


def host(target: Target) -> Host:
    """The processor that code of a CPU target is chosen for, with the sources of its figures."""
    return _host(target.name, target.triple.partition("-")[0], CPU_MACHINE.value, usable_cores())


@lru_cache(maxsize=64)
def _host(target: str, arch: str, setting: str, cores: int) -> Host:
    usual = cpu_of(target)
    given = settings_of(setting)
    here = platform.machine().lower()
    asked: dict[str, float] = {}
    if setting.partition(",")[0] != USUAL and arch == _ARCH.get(here, here):
        asked = {"cores": cores, **caches_of(_CACHES), **registers_of(_FLAGS)}
    sources = dict.fromkeys(_SETTABLE, USUAL) | dict.fromkeys(asked, "asked")
    values = asked | given
    made = replace(usual, **{name: type(getattr(usual, name))(v) for name, v in values.items()})
    return Host(made, sources | dict.fromkeys(given, "set"))


def setting_for(target: Target) -> str:
    """The setting of CPU_MACHINE by which every machine chooses opts of a CPU target as this one
    does."""
    cpu, usual = cpu_for(target), cpu_of(target.name)
    values = {name: (getattr(cpu, name), getattr(usual, name)) for name in _SETTABLE}
    return ",".join((USUAL, *(f"{n}={a:.12g}" for n, (a, b) in values.items() if a != b)))


def settings_of(text: str) -> dict[str, float]:
    """The figures that CPU_MACHINE sets, as in "cores=8,l2=1M" or "usual,cores=8". Raises EnvError
    for others."""
    found: dict[str, float] = {}
    parts = text.split(",")
    for part in filter(None, parts[1:] if parts[0] == USUAL else parts):
        name, _, value = part.partition("=")
        number = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([KMG]?)", value)
        if name not in _SETTABLE or number is None or float(number[1]) <= 0:
            raise wrong_setting(
                f"CPU_MACHINE={text!r}: {part!r} is no figure of a processor",
                f"it takes {USUAL!r}, or figures such as cores=8,l2=1M of " + ", ".join(_SETTABLE),
            )
        found[name] = float(number[1]) * _UNITS[number[2]]
    return found


def caches_of(folder: Path) -> dict[str, float]:
    """The sizes of the caches that a folder of Linux describes, by level; without those that it
    does not say, or that cannot be."""
    found: dict[str, float] = {}
    for index in sorted(folder.glob("index*")):
        try:
            level, kind, size = (
                (index / name).read_text().strip() for name in ("level", "type", "size")
            )
        except (OSError, UnicodeDecodeError):
            continue
        number = re.fullmatch(r"(\d+)([KMG]?)", size)
        if kind in ("Data", "Unified") and level in ("1", "2", "3") and number is not None:
            found[f"l{level}"] = float(number[1]) * _UNITS[number[2]]
    sizes = [found[name] for name in ("l1", "l2", "l3") if name in found]
    if sizes != sorted(sizes) or any(n < 4 << 10 for n in sizes):
        return {}
    return found


def registers_of(file: Path) -> dict[str, float]:
    """Vector registers, where Linux lists an extension that has more of them."""
    try:
        flags = next(
            (line.split() for line in file.read_text().splitlines() if line.startswith("flags")), []
        )
    except (OSError, UnicodeDecodeError):
        return {}
    return {"registers": 32} if "avx512vl" in flags else {}


def usable_cores() -> int:
    """Cores that kernels may use: CPU_THREADS, or those that this process may run on, as far as the
    quota of its container goes."""
    if CPU_THREADS.value:
        return CPU_THREADS.value
    if hasattr(os, "sched_getaffinity"):
        found = len(os.sched_getaffinity(0))
    else:
        found = os.cpu_count() or 1
    return min(found, _quota())


@lru_cache(maxsize=1)
def _quota() -> int:
    return quota_of(_QUOTAS)


def quota_of(folder: Path) -> int:
    """Cores that the quota of a control group allows, rounded up; a large number without one."""
    try:
        quota, period = (folder / "cpu.max").read_text().split()
        return max(1, ceildiv(int(quota), int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        return 1 << 16
