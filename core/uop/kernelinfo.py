"""What a kernel's root carries, and the kinds of its loops. Plain data.

Nothing here computes; passes read and replace it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class AxisType(IntEnum):
    """How a RANGE is executed."""

    LOOP = 0
    """One after the other."""
    REDUCE = 1
    """One after the other, combined by a reduce."""
    GLOBAL = 2
    """One work group each."""
    LOCAL = 3
    """One thread of a work group each."""
    WARP = 4
    """One lane of a warp each."""
    THREAD = 5
    """One CPU core each."""
    GROUP_REDUCE = 6
    """Threads of a work group that reduce together through shared memory."""
    UPCAST = 7
    """All at once, as vector elements or separate registers."""
    UNROLL = 8
    """All at once, combined by a reduce."""

    @property
    def letter(self) -> str:
        """The letter that the explorer puts before the number of a range."""
        return "LRglwtGuU"[self]


class OptOps(IntEnum):
    """The kinds of optimisation; `core/passes/optimize` says what each does."""

    TC = 0
    UPCAST = 1
    UNROLL = 2
    LOCAL = 3
    GROUP = 4
    GROUPTOP = 5
    NOLOCALS = 6
    PADTO = 7
    SWAP = 8
    THREAD = 9


@dataclass(frozen=True, slots=True)
class Opt:
    """One optimisation: what, on which axis (by position among those of its kind), with which
    amount (0: the whole axis)."""

    op: OptOps
    axis: int | None = None
    arg: int | tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"{self.op.name}({self.axis}, {self.arg})"


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """Argument of a kernel's SINK: its name, and the optimisations applied (None: not decided)."""

    name: str = ""
    opts: tuple[Opt, ...] | None = None
