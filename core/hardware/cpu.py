"""Processors as data: what a kernel's time is predicted from.

Rates are of one core and per cycle, so that they hold for a family of processors. Sources: AMD,
"Software Optimization Guide for the Zen4 Microarchitecture" (2023); Intel, "64 and IA-32
Architectures Optimization Reference Manual"; Arm, "Neoverse N2 Software Optimization Guide".
Never asks the machine: `host.py` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Cpu:
    """One kind of processor. What `issue` and those after it say was fitted to times of programs
    (`python -m tests.bench choice`)."""

    cores: int = 2
    """Those that kernels may use."""
    ghz: float = 3.7
    """Cycles of a nanosecond."""
    l1: int = 32 << 10
    """Bytes of the first-level cache of a core."""
    l2: int = 512 << 10
    """Bytes of the second-level cache that a core reaches."""
    l3: int = 8 << 20
    """Bytes of the third-level cache that a core reaches."""
    l2_rate: float = 32.0
    """Bytes a cycle from the second-level cache."""
    l3_rate: float = 12.0
    """Bytes a cycle from the third-level cache."""
    memory_rate: float = 6.0
    """Bytes a cycle from memory to one core."""
    shared_rate: float = 16.0
    """Bytes a cycle from memory to all cores together."""
    alu: float = 2.7
    """Instructions of arithmetic on vectors a cycle."""
    loads: float = 1.6
    """Loads of vectors a cycle."""
    stores: float = 1.1
    """Stores of vectors a cycle."""
    latency: float = 4.3
    """Cycles from a sum to the next that needs it."""
    registers: int = 16
    """Registers of vectors."""
    start: float = 3000.0
    """Cycles that a launch takes."""
    share: float = 6000.0
    """Further cycles where cores share a launch."""
    issue: float = 4.2
    """Instructions a cycle."""
    shuffle: float = 0.83
    """Instructions that moving a lane of a vector takes."""
    gather: float = 1.9
    """Instructions that put an element into a lane."""
    turn: float = 0.51
    """Instructions that turn an element of a square of lanes round."""
    cross: float = 1.4
    """Instructions that put a vector together from the ends of two rows."""
    gate: float = 0.055
    """What a gate adds to a move."""
    combine: float = 0.4
    """Cycles to halve a vector's lanes by a reduce."""
    leave: float = 21.0
    """Cycles to leave a loop."""
    window: float = 1300.0
    """Instructions that are looked at ahead."""
    held: float = 1.7
    """Registers that a sum takes besides its vectors."""
    beside: float = 0.55
    """Registers that each vector of a sum takes besides where several are added at once."""
    spill: float = 4.2
    """Moves of a vector that has no register."""
    apart: float = 0.22
    """The part of shorter bounds that does not overlap with the longest."""
    long: float = 0.0046
    """What each vector of a turn adds, as code grows."""
    streams: float = 1.6
    """Runs of memory that are read ahead well."""
    stream: float = 0.049
    """What each further run of memory adds."""
    jump: float = 0.29
    """How much slower bytes are that are far from the last ones, at most 1, where whole lines are
    moved for them."""
    crowd: float = 1.0
    """How much slower bytes are whose lines share a set of a cache with those of other lanes."""


_BY_TARGET: Final[Mapping[str, Cpu]] = MappingProxyType(
    {
        "x86-64-v4": Cpu(l2=1 << 20, l3=32 << 20, alu=1.0, loads=1.0, stores=0.5, registers=32),
        "x86-64": Cpu(),
        "x86-64-v2": Cpu(l2=256 << 10, l2_rate=24.0),
        "x86-64-v1": Cpu(l2=256 << 10, l2_rate=24.0),
        "aarch64": Cpu(l1=64 << 10, l2=1 << 20, registers=32),
    }
)


def cpu_of(target: str) -> Cpu:
    """A usual processor that runs code of a target; for one that has no row, plain defaults."""
    return _BY_TARGET.get(target, Cpu())
