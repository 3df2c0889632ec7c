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
    """One kind of processor.

    `cores`: those that kernels may use; `ghz`: cycles of a nanosecond; `l1`, `l2`, `l3`: bytes of
    the caches that one core reaches; `l2_rate`, `l3_rate`, `memory_rate`: bytes a cycle from
    there; `shared_rate`: bytes a cycle from memory to all cores together; `alu`, `loads`,
    `stores`: instructions on vectors a cycle; `latency`: cycles from a sum to the next that needs
    it; `registers`: of vectors; `start`: cycles that a launch takes; `share`: more cycles where it
    is shared out between cores.

    The others are factors that were fitted to times of programs (`python -m tests.bench choice`):
    `issue`: instructions a cycle; `shuffle`, `gather`, `turn`, `cross`: instructions that it takes
    to move a vector's lanes, to put an element into one, to turn an element of a square of lanes,
    and to put a vector together from the ends of two rows; `gate`: what a gate adds to a move;
    `combine`: cycles to halve a vector's lanes by a reduce; `leave`: cycles to leave a loop;
    `window`: instructions that are looked at ahead; `held`, `beside`: registers that a sum takes
    besides its vectors, and for each of them where several are added at once; `spill`: moves of a
    vector that has no register; `apart`: the part of shorter bounds that does not overlap with the
    longest; `long`: what each vector of a turn adds, as code grows; `streams`, `stream`: runs of
    memory that are read ahead well, and what each further one adds; `jump`: how much slower bytes
    are that are far from the last ones, at most 1, where whole lines are moved for them; `crowd`:
    where lines of several lanes share a set of a cache.
    """

    cores: int = 2
    ghz: float = 3.7
    l1: int = 32 << 10
    l2: int = 512 << 10
    l3: int = 8 << 20
    l2_rate: float = 32.0
    l3_rate: float = 12.0
    memory_rate: float = 6.0
    shared_rate: float = 16.0
    alu: float = 2.7
    loads: float = 1.6
    stores: float = 1.1
    latency: float = 4.3
    registers: int = 16
    start: float = 3000.0
    share: float = 6000.0
    issue: float = 4.2
    shuffle: float = 0.83
    gather: float = 1.9
    turn: float = 0.51
    cross: float = 1.4
    gate: float = 0.055
    combine: float = 0.4
    leave: float = 21.0
    window: float = 1300.0
    held: float = 1.7
    beside: float = 0.55
    spill: float = 4.2
    apart: float = 0.22
    long: float = 0.0046
    streams: float = 1.6
    stream: float = 0.049
    jump: float = 0.29
    crowd: float = 1.0


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
