"""Whether the bounds of an offset are tight: whether it reaches its minimum and its maximum.

A sum of independent loops does, because each loop reaches its ends whatever the others do. Where
one loop appears twice, bounds may be wider than the values. Never makes a node.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop import Ops, UOp

_nothing: frozenset[UOp] = frozenset()
_monotonic = frozenset({Ops.ADD, Ops.SUB, Ops.CAST, Ops.MUL, Ops.IDIV, Ops.SHL, Ops.SHR})
_by_constant = frozenset({Ops.MUL, Ops.IDIV, Ops.SHL, Ops.SHR})


class Exactness:
    """Which values of one program reach both of their bounds; each is computed once."""

    def __init__(self) -> None:
        self._needs: dict[UOp, frozenset[UOp] | None] = {}
        """The loops and indices that a value depends on; None where it may not reach its bounds."""

    def holds(self, u: UOp) -> bool:
        """Whether there are iterations in which `u` is `u.vmin` and `u.vmax`."""
        stack = [u]
        while stack:
            node = stack[-1]
            parts = node.src if node.op in _monotonic and node not in self._needs else ()
            missing = [s for s in parts if s not in self._needs]
            stack.extend(missing)
            if not missing:
                stack.pop()
                if node not in self._needs:
                    self._needs[node] = self._of(node)
        return self._needs[u] is not None

    def outside(self, offset: UOp, lanes: int, size: int, first: int = 0) -> bool:
        """Whether some access to `lanes` elements from `offset` + `first` on, in memory of `size`
        elements, must be outside of it. Bounds may be wider than the values, so others may be,
        too."""
        low, high = int(offset.vmin) + first, int(offset.vmax) + first
        if low >= 0 and high + lanes <= size:
            return False
        return self.holds(offset) or high < 0 or low + lanes > size

    def _of(self, u: UOp) -> frozenset[UOp] | None:
        if u.op is Ops.CONST:
            return _nothing
        if u.op in (Ops.RANGE, Ops.SPECIAL):
            counts = u.src[0].op is Ops.CONST and u.src[0].arg > 0
            return frozenset((u,)) if counts else None
        constant = u.op not in _by_constant or u.src[1].op is Ops.CONST
        wraps = u.bounds == (dtypes.min(u.dtype), dtypes.max(u.dtype))
        if u.op not in _monotonic or not constant or wraps or not dtypes.is_int(u.dtype):
            return None
        on = _nothing
        for s in u.src:
            more = self._needs[s]
            if more is None or not on.isdisjoint(more):
                return None
            on |= more
        return on
