"""What the axes of arrays stand for: the loops and hardware indices of a kernel that run at once.

Every value of a kernel is an array with one axis for each of these and a last one for the elements
of a vector; along an axis that a value does not depend on, its array has length 1. The order of the
axes is that of a nest: work groups, loops that the program runs in sequence, threads of a group
(the fastest last, so that neighbours are lanes of one warp), and what a thread does at once.
Evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.uop import UOp

Key = UOp | tuple[int, int]
"""A RANGE or SPECIAL; or the (number, size) of an axis that may be lanes of vectors (UNROLL)."""


class Role(IntEnum):
    """Which part of the nest an axis is."""

    GRID = 0
    """Work groups."""
    LOOP = 1
    """Iterations that the program runs one after the other, or shares out between cores."""
    THREAD = 2
    """Threads of a work group."""
    WITHIN = 3
    """What one thread does at once, or combines."""


_roles: Final[Mapping[AxisType, Role]] = {
    AxisType.GLOBAL: Role.GRID,
    AxisType.LOOP: Role.LOOP,
    AxisType.THREAD: Role.LOOP,
    AxisType.LOCAL: Role.THREAD,
    AxisType.WARP: Role.THREAD,
    AxisType.GROUP_REDUCE: Role.THREAD,
    AxisType.REDUCE: Role.WITHIN,
    AxisType.UPCAST: Role.WITHIN,
    AxisType.UNROLL: Role.WITHIN,
}
_vectors: Final = (AxisType.UPCAST, AxisType.UNROLL)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: what it stands for, and how many iterations it has."""

    key: Key
    role: Role
    size: int

    @property
    def name(self) -> str:
        """What messages call it."""
        if isinstance(self.key, tuple):
            return f"loop {self.key[0]}"
        return self.key.arg if self.key.op is Ops.SPECIAL else f"loop {self.key.arg[0]}"


class Axes:
    """The axes of one kernel, in order."""

    def __init__(self, nodes: Iterable[UOp], sizes: Mapping[UOp, int]) -> None:
        """`sizes` has how many iterations each RANGE and SPECIAL has that becomes an axis."""
        nodes = list(nodes)
        self._lanes = any(u.op in (Ops.UNROLL, Ops.CONTRACT) for u in nodes)
        found: dict[Key, tuple[tuple[object, ...], Axis]] = {}
        for u in nodes:
            if u.op is Ops.UNROLL or u.op is Ops.CONTRACT:
                for number, size in u.arg:
                    place = (Role.WITHIN, 0, (number,))
                    found[number, size] = place, Axis((number, size), Role.WITHIN, size)
            elif u in sizes:
                key, role, place = self.key(u), *_place(u)
                found[key] = (role, *place), Axis(key, role, sizes[u])
        ordered = sorted(found.values(), key=lambda item: item[0])
        self.all = tuple(axis for _, axis in ordered)
        self.position: dict[Key, int] = {axis.key: i for i, axis in enumerate(self.all)}

    def key(self, u: UOp) -> Key:
        """The key of the axis of a RANGE or SPECIAL."""
        if self._lanes and u.op is Ops.RANGE and u.arg[-1] in _vectors:
            return u.arg[0], int(u.src[0].arg)
        return u

    def of(self, u: UOp) -> int | None:
        """The axis of a RANGE or SPECIAL; None where it has none."""
        return self.position.get(self.key(u))

    def with_role(self, role: Role) -> tuple[int, ...]:
        """The axes with a role, in order; they are neighbours."""
        return tuple(i for i, axis in enumerate(self.all) if axis.role is role)


def role_of(u: UOp) -> Role:
    """The role of a RANGE or SPECIAL."""
    if u.op is Ops.SPECIAL:
        return Role.GRID if u.arg[0] == "g" else Role.THREAD
    return _roles[u.arg[-1]]


def _place(u: UOp) -> tuple[Role, tuple[object, ...]]:
    """The role, and the place among axes of that role: by number, the loops of a warp last; of
    hardware indices, the first dimension last."""
    role = role_of(u)
    if u.op is Ops.SPECIAL:
        return role, (0, (-int(u.arg.lstrip("glidx")),))
    return role, (int(u.arg[-1] is AxisType.WARP) + 1, tuple(u.arg[:-1]))
