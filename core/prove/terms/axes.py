"""Loops that become lanes: a node means something for a point of them. Never translates."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import product
from typing import Final
from weakref import WeakKeyDictionary

from core.dtype import PtrDType, dtypes
from core.errors import UopvizError
from core.uop import GroupOp, Ops, UOp
from core.uop.kernelinfo import AxisType

Axes = tuple[tuple[int, int], ...]
"""(number of a loop, iterations), in the order of the numbers."""
Point = tuple[tuple[int, int], ...]
"""(number of a loop, the iteration), in the order of the numbers."""
MAX_LANES: Final = 1024
LANES: Final = frozenset({AxisType.UPCAST, AxisType.UNROLL})
"""Loops that become lanes."""
_known: WeakKeyDictionary[UOp, Axes] = WeakKeyDictionary()
_partial: WeakKeyDictionary[UOp, bool] = WeakKeyDictionary()


class UnknownMeaningError(UopvizError):
    """A node that terms cannot say."""


def points(axes: Axes, point: Point = ()) -> list[Point]:
    """Every point of some axes, the last one changing fastest, joined with another point."""
    size = 1
    for _, n in axes:
        size *= n
    if size > MAX_LANES:
        raise UnknownMeaningError(f"{size} lanes")
    rest = [pair for pair in point if pair[0] not in dict(axes)]
    numbers = [number for number, _ in axes]
    spread = product(*(range(n) for _, n in axes))
    return [tuple(sorted([*rest, *zip(numbers, at, strict=True)])) for at in spread]


def loops_bound(roots: Iterable[UOp], cut: Collection[UOp]) -> frozenset[UOp]:
    """The loops that are reduced over between some nodes and the cut below them: what lies in the
    cut may have another value in each iteration."""
    found: set[UOp] = set()
    seen: set[UOp] = set()
    stack = list(roots)
    while stack:
        u = stack.pop()
        if u in seen or u in cut:
            continue
        seen.add(u)
        if u.op is Ops.REDUCE:
            found.update(r for r in u.src[1:] if r.op is Ops.RANGE and not own_axes(r))
        stack += u.src
    return frozenset(found)


def is_gated(u: UOp) -> bool:
    """Whether an address has a condition under which it is accessed."""
    while u.op in (Ops.INDEX, Ops.AFTER, Ops.CAST, Ops.NOOP):
        below, *rest = u.src
        if u.op is Ops.INDEX and rest and dtypes.is_bool(rest[-1].dtype.scalar()):
            return True
        u = below
    return False


def own_axes(u: UOp) -> Axes:
    """The axes that a node itself stands for."""
    if u.op is Ops.UNROLL:
        return u.arg
    if u.op is Ops.RANGE and u.arg[-1] in LANES and u.src[0].op is Ops.CONST:
        return ((u.arg[0], u.src[0].arg),)
    return ()


def axes_of(u: UOp) -> Axes:
    """The axes that what a node means depends on: of the loops that become lanes and the UNROLLs
    below it, those that no CONTRACT, REDUCE or END gathers."""
    stack = [u]
    while stack:
        node = stack[-1]
        todo = [s for s in node.src if s not in _known] if node not in _known else []
        if todo:
            stack += todo
            continue
        stack.pop()
        if node not in _known:
            own = {*own_axes(node)}.union(*(_known[s] for s in node.src))
            if node.op is Ops.CONTRACT:
                own -= set(node.arg)
            elif node.op in (Ops.REDUCE, Ops.END):
                own -= {axis for r in node.src[1:] for axis in own_axes(r)}
            _known[node] = tuple(sorted(own))
    return _known[u]


def is_partial(u: UOp) -> bool:
    """Whether a node, or one below it, may be undefined: its bounds say nothing of it then."""
    stack = [u]
    while stack:
        node = stack[-1]
        todo = [s for s in node.src if s not in _partial] if node not in _partial else []
        if todo:
            stack += todo
            continue
        stack.pop()
        if node not in _partial:
            _partial[node] = _is_open(node) or any(_partial[s] for s in node.src)
    return _partial[u]


def _is_open(u: UOp) -> bool:
    if u.op is Ops.INDEX and not isinstance(u.src[0].dtype, PtrDType):
        return dtypes.is_bool(u.src[-1].dtype.scalar())
    return u.op is Ops.LENGTH or (u.arg is not None and u.op in GroupOp.Elementwise)


def inwards(loop: UOp) -> tuple[bool, int]:
    """Loops that are ended together, in this order from the outermost to the innermost: those that
    are shared out between threads, then by their numbers."""
    shared = loop.op is Ops.RANGE and loop.arg[-1] is AxisType.THREAD
    return not shared, loop.arg[0] if loop.op is Ops.RANGE else -1
