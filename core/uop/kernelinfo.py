"""What a kernel's root carries, and the kinds of its loops. Plain data.

Nothing here computes; passes read and replace it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Literal

from core.tensor_cores import Fragment

KERNEL_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}")
"""Names go into source text as they are, so nothing else may pass: an AST may be a stranger's."""


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


TileKind = Literal["ST", "SV", "RT", "RV"]
"""A tile or vector in shared memory, a tile or vector in registers."""


@dataclass(frozen=True, slots=True)
class TileInfo:
    """What a memory of a kernel written with tiles holds: `rows` x `columns` elements (of a vector,
    one of them is 1), of which there are `stages`. `number` is the argument of its DEFINE_LOCAL
    (ST, SV) or DEFINE_REG (RT, RV).

    In registers each of `warps` warps has such a tile, a grid of equal base tiles that lie as
    `base` says (m: rows, n: columns); `layout` is its name. In shared memory it lies row by row,
    `swizzled` as `core/tile/memory/swizzle.py` says.
    """

    kind: TileKind
    number: int
    rows: int
    columns: int
    warps: int = 1
    layout: str = ""
    base: Fragment | None = None
    swizzled: bool = False
    stages: int = 1


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """Argument of a kernel's SINK: its name, the optimisations applied (None: not decided), and the
    tiles that its memory holds, where it was written with them. `found_for`: the name of the target
    that a search has found the optimisations for; they say nothing for others."""

    name: str = ""
    opts: tuple[Opt, ...] | None = None
    tiles: tuple[TileInfo, ...] = field(default=(), repr=False)
    found_for: str = field(default="", repr=False)

    def opts_for(self, target: str) -> tuple[Opt, ...] | None:
        """The optimisations to apply for the target of this name; None where the compiler is to
        choose them."""
        return self.opts if self.found_for in ("", target) else None
