"""Which arguments of a kernel are indices, and within which bounds they address what is there.

An integer of memory is an index where it becomes part of an address, is compared with a position,
or is the length of a loop. Reads bounds of values; runs nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.dtype import AddrSpace, PtrDType, dtypes
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp

LONGEST: Final = 16
"""Iterations of a loop whose length is in memory."""
_through: Final = GroupOp.Elementwise | {
    Ops.VIEW, Ops.VECTORIZE, Ops.GEP, Ops.AFTER, Ops.NOOP, Ops.UNROLL, Ops.CONTRACT, Ops.INDEX,
}  # fmt: skip
_positions: Final = frozenset({Ops.IOTA, Ops.RANGE, Ops.SPECIAL})


@dataclass(frozen=True, slots=True)
class Span:
    """The bounds of the elements of an argument. `strict`: no other value may be in it, because an
    access outside of memory would follow; otherwise they are those that have an effect."""

    low: int
    high: int
    strict: bool

    def also(self, other: Span) -> Span:
        """What satisfies both, where something does; otherwise this one."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Span(low, high, self.strict or other.strict) if low <= high else self


def index_spans(nodes: Iterable[UOp]) -> dict[int, Span]:
    """By the number of its DEFINE_GLOBAL, the span of each argument that holds indices."""
    found: dict[int, set[Span]] = {}
    for u in nodes:
        for loads, span in _uses(u):
            for load in loads:
                found.setdefault(pointer_of(load.src[0]).arg, set()).add(span)
    return {number: _together(spans) for number, spans in found.items()}


def _together(spans: Iterable[Span]) -> Span:
    """What satisfies as many as can be, the strict ones first; in whichever order they come."""
    ordered = sorted(spans, key=lambda one: (not one.strict, one.low, one.high))
    return functools.reduce(Span.also, ordered)


def _uses(u: UOp) -> Iterator[tuple[Sequence[UOp], Span]]:
    """Integers of memory that a node uses as indices, and what it asks of them."""
    if u.op is Ops.INDEX and isinstance(u.dtype, PtrDType):
        size = pointer_of(u).dtype
        offset = u.src[1]
        loads = _loads(offset)
        if loads and isinstance(size, PtrDType) and size.size > 0:
            guarded = len(u.src) > 2 and bool(set(_loads(u.src[2])) & set(loads))
            yield loads, Span(*_reach(offset, loads, size.size), strict=not guarded)
    elif u.op is Ops.RANGE:
        loads = _loads(u.src[0])
        if loads:
            yield loads, Span(0, LONGEST, strict=True)
    elif u.op in GroupOp.Comparison:
        left, right = u.src[0], u.src[-1]
        for value, position in ((left, right), (right, left)):
            loads = _loads(value)
            if loads and dtypes.is_int(value.dtype) and _is_position(position):
                yield loads, Span(int(position.vmin), int(position.vmax), strict=False)


def _loads(u: UOp) -> list[UOp]:
    """The integers of global memory that a value is computed from."""
    return [n for n in _parts(u) if n.op is Ops.LOAD and _is_index(n)]


def _is_position(u: UOp) -> bool:
    """Whether a value is computed from a position, and not from memory."""
    parts = _parts(u)
    return any(n.op in _positions for n in parts) and not any(n.op is Ops.LOAD for n in parts)


def _is_index(load: UOp) -> bool:
    dtype = load.src[0].dtype
    return (
        isinstance(dtype, PtrDType)
        and dtype.addrspace is AddrSpace.GLOBAL
        and dtypes.is_int(load.dtype)
    )


def _parts(u: UOp) -> list[UOp]:
    """What a value is computed from, down to memory, in the order of sources."""
    found: dict[UOp, None] = {}
    stack = [u]
    while stack:
        n = stack.pop()
        if n in found:
            continue
        found[n] = None
        if n.op in _through:
            stack += n.src[:1] if n.op in (Ops.AFTER, Ops.INDEX) else n.src
    return list(found)


def _reach(offset: UOp, loads: Sequence[UOp], size: int) -> tuple[int, int]:
    """The largest bounds from 0 on for `loads` for which an offset stays within memory."""
    low, high = 0, size
    while low + 1 < high:
        middle = (low + high) // 2
        first, last = _bounds(offset, loads, middle)
        if first >= 0 and last < size:
            low = middle
        else:
            high = middle
    return 0, low


def _bounds(offset: UOp, loads: Sequence[UOp], high: int) -> tuple[int, int]:
    """The bounds of an offset whose loads are 0 to `high`."""
    new: dict[UOp, UOp] = {}
    for n in reversed(_sorted_parts(offset)):
        if n in loads:
            most = min(high, int(dtypes.max(n.dtype)))
            value = UOp.variable(f"index{loads.index(n)}", 0, most, n.dtype.scalar())
            new[n] = value if n.dtype.count == 1 else value.broadcast(n.dtype.count)
        elif n.op is Ops.WHERE and new[n.src[0]].vmin == new[n.src[0]].vmax:
            new[n] = new[n.src[1 if new[n.src[0]].vmin else 2]]
        else:
            new[n] = n.rebuild(tuple(new.get(s, s) for s in n.src))
    return int(new[offset].vmin), int(new[offset].vmax)


def _sorted_parts(u: UOp) -> list[UOp]:
    """`_parts`, users before sources."""
    wanted = set(_parts(u))
    return [n for n in reversed(list(u.toposort())) if n in wanted]
