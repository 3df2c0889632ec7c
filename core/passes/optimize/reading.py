"""Reads a lowered kernel into what a cost model sees of it. Never changes the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from core.dtype import PtrDType, dtypes
from core.passes.address import gate_of
from core.passes.cost.nest import Access, Loop, Nest, Reduce, Work
from core.passes.cost.plan import Plan
from core.passes.optimize.access import strides_of
from core.passes.optimize.kernel import OUTER, Kernel
from core.uop import GroupOp, Ops, UOp
from core.uop.kernelinfo import AxisType
from core.uop.pointer import pointer_of

_COSTS: Final[Mapping[Ops, float]] = {
    Ops.EXP2: 14.0,
    Ops.LOG2: 18.0,
    Ops.SIN: 30.0,
    Ops.SQRT: 10.0,
    Ops.RECIPROCAL: 8.0,
    Ops.FDIV: 8.0,
    Ops.POW: 50.0,
    Ops.THREEFRY: 100.0,
    Ops.BITCAST: 0.0,
}
"""Instructions that arithmetic takes, 1 where nothing is said."""
_BY_LANE: Final = frozenset({Ops.IDIV, Ops.MOD})
"""What processors do one lane at a time, in as many instructions as LANE_COST."""
LANE_COST: Final = 8.0


def read(kernel: Kernel) -> Nest:
    """The nest of a kernel: its loops as they are, those that are lanes among them."""
    return _Reader(kernel).nest()


def as_run(kernel: Kernel) -> tuple[Nest, Plan]:
    """The nest of a kernel whose opts have been applied, and how it runs."""
    nest, path = read(kernel), _in_order(kernel)

    def lanes(*kinds: AxisType, fastest: bool = False) -> tuple[int, ...]:
        return tuple(
            loop.size if r.arg[1] in kinds and (r in kernel.fastest) == fastest else 1
            for r, loop in zip(path, nest.loops, strict=True)
        )

    outer = (*OUTER, AxisType.THREAD)
    return nest, Plan(
        lanes(AxisType.UPCAST),
        lanes(AxisType.UNROLL),
        lanes(AxisType.UNROLL, fastest=True),
        tuple(i for i, r in enumerate(path) if r.arg[1] in outer),
        any(r.arg[1] is AxisType.THREAD for r in path),
    )


def _in_order(kernel: Kernel) -> list[UOp]:
    return sorted(kernel.path, key=kernel.path.__getitem__)


class _Reader:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._path = _in_order(kernel)
        self._at = {r: i for i, r in enumerate(self._path)}
        self._order = kernel.sink.toposort()

    def nest(self) -> Nest:
        shareable = -1
        for u in self._order:
            if u.op is Ops.END:
                shareable &= self._set(u.src[1:])
        reduces = tuple(
            Reduce(self._set(u.src[1:]), self._set(u.ranges), u.dtype.itemsize)
            for u in self._order
            if u.op is Ops.REDUCE
        )
        loops = tuple(self._loop(r) for r in self._path)
        return Nest(loops, self._accesses(), self._work(), reduces, max(0, shareable))

    def _set(self, loops: Iterable[UOp]) -> int:
        return sum(1 << self._at[r] for r in loops if r in self._at)

    def _loop(self, r: UOp) -> Loop:
        reduce = r.arg[1] is AxisType.REDUCE
        size = r.src[0].arg if r.src[0].op is Ops.CONST else max(1, int(r.src[0].vmax))
        free = (reduce or r.arg[1] in OUTER) and r.arg not in self._kernel.as_written
        return Loop(size, reduce, not free)

    def _accesses(self) -> tuple[Access, ...]:
        stored = {u.src[0] for u in self._order if u.op is Ops.STORE}
        found: list[Access] = []
        for u in self._order:
            if u.op is Ops.INDEX:
                steps, gate = strides_of(u.src[1]), gate_of(u)
                memory, itemsize = pointer_of(u).dtype, u.dtype.base.itemsize
                size = memory.size if isinstance(memory, PtrDType) else -1
                found.append(
                    Access(
                        u in stored,
                        itemsize,
                        size * itemsize if size >= 0 else 1 << 62,
                        tuple(steps.get(r, 0) for r in self._path),
                        0 if gate is None else self._set(gate.ranges),
                        self._set(u.ranges),
                    )
                )
        return tuple(found)

    def _work(self) -> tuple[Work, ...]:
        """One item for all arithmetic that depends on the same loops."""
        addresses: set[UOp] = set()
        users: dict[UOp, list[UOp]] = {}
        for u in self._order:
            if u.op is Ops.INDEX:
                addresses.update(u.src[1].toposort())
            for s in u.src:
                users.setdefault(s, []).append(u)
        costs: dict[tuple[int, int, bool], float] = {}
        for u in self._order:
            by_lane = u.op in _BY_LANE
            if u.op is Ops.REDUCE:
                loops, size, cost = self._set((*u.src[1:], *u.ranges)), u.dtype.itemsize, 1.0
            elif u.op in GroupOp.ALU or u.op is Ops.CAST:
                if (u in addresses and not by_lane) or _fused(u, users.get(u, ())):
                    continue
                loops, size = self._set(u.ranges), max(x.dtype.itemsize for x in (u, *u.src))
                cost = LANE_COST if by_lane else _COSTS.get(u.op, 1.0)
            else:
                continue
            costs[loops, size, by_lane] = costs.get((loops, size, by_lane), 0.0) + cost
        return tuple(
            Work(loops, cost, size, by_lane) for (loops, size, by_lane), cost in costs.items()
        )


def _fused(u: UOp, users: Sequence[UOp]) -> bool:
    """Whether a product is part of the sum that it goes into."""
    if u.op is not Ops.MUL or not dtypes.is_float(u.dtype) or len(users) != 1:
        return False
    return users[0].op is Ops.ADD or (users[0].op is Ops.REDUCE and users[0].arg is Ops.ADD)
