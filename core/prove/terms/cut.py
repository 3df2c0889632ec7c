"""Where two graphs are cut: what both have becomes an input of the question, and what lies deep.

A cut makes a question small and like others. What is proved of it holds; where it is wrong, the cut
has to lie deeper. Also the key of a question: equal keys have equal answers. Never translates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from core.dtype import PtrDType, dtypes
from core.prove.terms.axes import LANES, axes_of, is_gated, is_partial, loops_bound
from core.uop import Ops, UOp

DEPTHS: Final[tuple[int, ...]] = (3, 6, 12, 40)
"""Nodes between the roots and the cut, level by level."""
MAX_NODES: Final = 3000
_LEAVES: Final = frozenset(
    {
        Ops.CONST,
        Ops.VCONST,
        Ops.RANGE,
        Ops.SPECIAL,
        Ops.DEFINE_VAR,
        Ops.BIND,
        Ops.DEFINE_GLOBAL,
        Ops.DEFINE_LOCAL,
        Ops.DEFINE_REG,
        Ops.BUFFER,
        Ops.IOTA,
    }
)


def cut_at(before: UOp, after: UOp, depth: int) -> frozenset[UOp]:
    """The nodes that are inputs at one depth: the first ones on each way that both graphs have, and
    those that are as deep."""
    left, right = _within((before,), depth), _within((after,), depth)
    shared = {u for u in left.keys() & right.keys() if not _opened(u)}
    if (
        depth != DEPTHS[0] and len(depths(after)) > 1
    ):  # deeper down, what both have is looked into as well
        shared = {u for u in shared if max(left[u], right[u]) >= depth - DEPTHS[0]}
    deep = {u for found in (left, right) for u, at in found.items() if at >= depth}
    return frozenset(u for u in shared | deep if not _opened(u))


def depths(after: UOp) -> tuple[int, ...]:
    """The depths that are tried: kernels are looked into at once."""
    near = _within((after,), DEPTHS[0])
    return DEPTHS[-1:] if any(u.op is Ops.KERNEL for u in near) else DEPTHS


def _within(roots: Iterable[UOp], depth: int) -> dict[UOp, int]:
    """The nodes at most so far below the roots, with the least distance of each."""
    found = dict.fromkeys(roots, 0)
    level = list(found)
    for at in range(1, depth + 1):
        following: list[UOp] = []
        for u in level:
            for s in u.src:
                if s not in found:
                    found[s] = at
                    following.append(s)
        level = following
        if len(found) > MAX_NODES:
            break
    return found


def _opened(u: UOp) -> bool:
    """Whether a node is never an input: leaves say what they are, and void nodes have no value."""
    return u.op in _LEAVES or u.dtype is dtypes.void


def key_of(before: UOp, after: UOp, cut: frozenset[UOp]) -> tuple[Any, ...]:
    """What the answer depends on: the nodes down to the cut, and what is known of those in it. The
    two nodes themselves are looked into, even where one is a part of the other."""
    place: dict[UOp, int] = {}
    made: list[Any] = []
    cut = cut - {before, after}
    bound = loops_bound((before, after), cut)
    for root in (before, after):
        for u in _postorder(root, cut, place):
            place[u] = len(place)
            made.append(_described(u, cut, place, bound))
    return (*made, place[before], place[after])


def _postorder(root: UOp, cut: frozenset[UOp], known: dict[UOp, int]) -> list[UOp]:
    done: dict[UOp, None] = {}
    stack = [root]
    while stack:
        u = stack[-1]
        if u in done or u in known:
            stack.pop()
            continue
        todo = () if u in cut else [s for s in u.src if s not in done and s not in known]
        if todo:
            stack += todo
        else:
            done[u] = None
            stack.pop()
    return list(done)


def _described(
    u: UOp, cut: frozenset[UOp], place: dict[UOp, int], bound: frozenset[UOp]
) -> tuple[Any, ...]:
    shape = None if isinstance(u.dtype, PtrDType) or u.dtype is dtypes.void else u.shape
    if u in cut:
        lanes = tuple(sorted((r.arg, place.get(r, -1)) for r in u.ranges if r.arg[-1] in LANES))
        loops = tuple(sorted(r.arg[0] for r in u.ranges if r in bound))
        gated = isinstance(u.dtype, PtrDType) and is_gated(u)
        lengths = u.lengths if shape else ()
        bounds = None if is_partial(u) else repr(u.bounds)
        return ("cut", u.dtype, bounds, shape, lanes, axes_of(u), loops, gated, lengths)
    arg = repr(u.arg)
    if u.op in (Ops.BUFFER, Ops.DEFINE_GLOBAL, Ops.DEFINE_REG, Ops.DEFINE_LOCAL):
        arg = "" if u.op is not Ops.BUFFER else repr(u.arg)
    return (u.op, u.dtype, arg, tuple(place[s] for s in u.src), shape)
