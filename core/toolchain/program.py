"""What compiling a kernel gives: texts with line maps, arguments, launch sizes, estimates.

Plain data. Compiles nothing and runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.dtype import DType
from core.target import Target
from core.uop.call.atlaunch import value_at_launch
from core.uop.uop import UOp


@dataclass(frozen=True)
class Artifact:
    """One text made of a kernel: `kind` is one of `core/render/kinds.py`. `lines` has, for each
    line of `text`, the nodes of the linear program behind it. `facts` is what the compiler says
    about it ("vgprs": "24")."""

    kind: str
    target: Target
    text: str
    lines: tuple[tuple[UOp, ...], ...]
    facts: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Argument:
    """A pointer argument: the number of its DEFINE_GLOBAL, its elements, whether it is written."""

    number: int
    dtype: DType
    size: int
    written: bool


@dataclass(frozen=True, eq=False)
class Program:
    """A compiled kernel. `source` is the artifact that a device loads; the function in it takes
    `arguments` in order and then `variables` in order. `uops` is the linear program, of which texts
    in other languages can be made; `lowered` is what `source` was made of: the same program after
    the passes for that language, where it has any.

    A launch has `grid` work groups along x, y and z: integers of constants and `variables`.

    `flops` counts arithmetic on floats and `bytes` the memory that must be touched at least, both
    for one launch and at the upper bounds of all variables.
    """

    name: str
    ast: UOp
    target: Target
    uops: tuple[UOp, ...]
    lowered: tuple[UOp, ...]
    source: Artifact
    arguments: tuple[Argument, ...]
    variables: tuple[UOp, ...]
    grid: tuple[UOp, UOp, UOp]
    local_size: tuple[int, int, int]
    threads: int
    flops: int
    bytes: int

    @property
    def globals(self) -> tuple[tuple[DType, int], ...]:
        """(dtype, elements) of each pointer argument."""
        return tuple((a.dtype, a.size) for a in self.arguments)

    @property
    def global_size(self) -> tuple[int, int, int]:
        """The most work groups that a launch may have along x, y and z."""
        x, y, z = (int(n.vmax) for n in self.grid)
        return x, y, z

    def groups(self, variables: Mapping[str, int]) -> tuple[int, int, int]:
        """How many work groups a launch with these values has along x, y and z; nothing runs where
        there are none. Raises RunError for a variable without a value or with one that is outside
        of its bounds."""
        x, y, z = (max(0, value_at_launch(n, variables)) for n in self.grid)
        return x, y, z
