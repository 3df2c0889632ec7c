"""Whether a kernel reads the memory that it writes elsewhere than where it writes it.

A kernel's elements are computed in any order and stored as they come. Reading what it overwrites is
right only at the place that the same element is written to, however the value gets there: straight,
or by way of views above what is computed. Looks at one finished kernel AST and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, UOp

_VISITS_PER_NODE = 8
"""Views of one node to follow, on average, before giving up."""


def reads_elsewhere(store: UOp, pointers: Collection[UOp]) -> bool:
    """Whether some element of what `store` stores is computed from an element of the memory behind
    `pointers` other than the one at its own place."""
    place = store.src[0].arg
    return any(
        read is None or not same_elements(read, place) for read in places_read(store, pointers)
    )


def same_elements(read: ShapeTracker, place: ShapeTracker) -> bool:
    """Whether `read` is the element at `place` or padding, at every index."""
    if read == place:
        return True
    mask = read.views[-1].mask
    if mask is None:
        return False
    return read.shrink(mask).simplify() == place.shrink(mask).simplify()


def places_read(store: UOp, pointers: Collection[UOp]) -> Iterator[ShapeTracker | None]:
    """What `store` reads of the memory behind `pointers`, by the index of what it stores.

    None stands for a read that no such view describes: more than one element, or too many views.
    """
    value = store.src[1]
    order = value.toposort()
    reading: set[UOp] = set()
    for u in order:
        if (u.op is Ops.LOAD and u.src[0].src[0] in pointers) or not reading.isdisjoint(u.src):
            reading.add(u)
    if value not in reading:
        return
    start = (value, ShapeTracker.from_shape(store.src[0].shaped))
    stack, seen = [start], {start}
    while stack:
        u, through = stack.pop()
        if u.op is Ops.LOAD:
            yield u.src[0].arg + through
            continue
        whole = u.op in GroupOp.Elementwise and all(
            s.shape == u.shape for s in u.src if s in reading
        )
        if not (whole or u.op is Ops.VIEW) or len(seen) > _VISITS_PER_NODE * len(order):
            yield None
            return
        inner = u.arg + through if u.op is Ops.VIEW else through
        found = [(s, inner) for s in u.src if s in reading and (s, inner) not in seen]
        seen.update(found)
        stack += found
