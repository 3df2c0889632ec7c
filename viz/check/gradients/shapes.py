"""What an operation on shapes hands on, by what its result changes by when its source does: at some
elements one by one, and along a random direction of all.

With J the derivative, w the gradient of the result and v a direction: w times J v is v times what
the source gets.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

import numpy as np

from core.errors import UopvizError
from core.prove.verdict import Verdict
from core.runtime.numeric import Array
from core.uop import GroupOp, Ops, UOp
from viz.check.gradients.share import (
    FEW,
    KINK,
    NONE,
    POINTWISE,
    STEP,
    Share,
    agrees,
    array,
    differs,
    is_by_function,
    ordered,
    tolerance,
)
from viz.check.gradients.wide import NO_VALUE, Wide

LARGE: Final = "its values are too large to be computed here"
FEW_ELEMENTS: Final = 1 << 14
"""Of all values of a step together. Where there are more, it is tried with fewer."""
MAX_ELEMENTS: Final = 1 << 23
MAX_PLACES: Final = 48
"""Elements of a source that are looked at one by one."""
_ALONG_AXES: Final = (
    POINTWISE
    | {Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.FLIP, Ops.REDUCE_AXIS, Ops.CONST, Ops.SINK}
    | NO_VALUE
)
"""Nodes that treat all elements along an axis alike."""
_SHORT: Final = (3, 4, 5, 6, 7)
"""Lengths of axes in place of longer ones."""
_CURVED: Final = frozenset({Ops.MUL, Ops.MAX})
"""Of reduces, those whose differences depend on the point."""


def of_shapes(share: Share, inputs: frozenset[UOp]) -> Verdict:
    """Some elements of the source one by one, and a random direction of all."""
    if share.size(inputs) > FEW_ELEMENTS and (smaller := _smaller(share, inputs)) is not None:
        share, inputs = smaller
    if (size := share.size(inputs)) > MAX_ELEMENTS:
        return Verdict("unchecked", LARGE)
    random = np.random.default_rng(2)
    values = Wide({u: array(u, random) for u in ordered(share, inputs)})
    w = np.where(values.counts(share.grad), values.value(share.grad), 0.0)
    given = np.broadcast_to(values.value(share.after), share.source.shaped)
    counts = values.counts(share.source) & values.counts(share.after)
    change = _Change(share, values)
    if not (np.isfinite(w).all() and change.is_finite):
        return Verdict("unchecked", FEW)
    close = tolerance(share, inputs, change.exact)

    def error(v: Array) -> tuple[float, float, bool] | None:
        """What the result changes by in a direction, what that should be, and whether these differ;
        None where there is no derivative."""
        if (moved := change.along(v)) is None:
            return None
        wanted, got = float((moved * w).sum()), float((given * v)[v != 0].sum())
        size = float(np.abs(moved * w).sum() + np.abs(given * v)[v != 0].sum())
        return wanted, got, not abs(wanted - got) <= close * max(size, 1e-3)

    places = np.flatnonzero(counts)
    if not len(places):
        return Verdict("unchecked", FEW)
    most = max(2, min(MAX_PLACES, MAX_ELEMENTS // size))
    chosen = places if len(places) <= most else np.sort(random.choice(places, most, replace=False))
    tried, left_out = 0, 0
    for place in [*chosen.tolist(), None]:
        v = np.zeros(given.shape)
        if place is None:
            v[counts] = random.uniform(-1, 1, int(counts.sum()))
        else:
            v.reshape(-1)[place] = 1.0
        found = error(v)
        if found is None:
            left_out += 1
            continue
        tried += 1
        if found[2]:
            at = place if place is not None else _place(places, v, error)
            v = np.zeros(given.shape)
            v.reshape(-1)[at] = 1.0
            wanted, got, _ = error(v) or found
            index = [int(k) for k in np.unravel_index(at, given.shape)]
            return differs([("element", index)], wanted, got)
    if 2 * left_out > tried:
        return Verdict("unchecked", FEW)
    return agrees(tried, not left_out)


def _place(
    places: Array, v: Array, error: Callable[[Array], tuple[float, float, bool] | None]
) -> int:
    """One of some elements for which the change of the result is wrong, by halving."""
    while len(places) > 1:
        half = np.zeros(v.size)
        first = places[: len(places) // 2]
        half[first] = v.reshape(-1)[first]
        found = error(half.reshape(v.shape))
        places = first if found is not None and found[2] else places[len(places) // 2 :]
    return int(places[0])


def _smaller(share: Share, inputs: frozenset[UOp]) -> tuple[Share, frozenset[UOp]] | None:
    """The same step on fewer elements along each axis, where it treats all elements of an axis
    alike: what is right there is right for any number of them. None where it does not."""
    nodes = UOp.sink(*share.roots).toposort(lambda u: u not in inputs)
    if any(u.op not in _ALONG_AXES for u in nodes):
        return None
    long = sorted({n for u in (*nodes, *inputs) for n in u.shape or () if n > _SHORT[-1]})
    short = dict(zip(long, _SHORT * len(long), strict=False))
    new: dict[UOp, UOp] = {}
    for u in ordered(share, inputs):
        shape = tuple(short.get(n, n) for n in u.shaped)
        new[u] = UOp.new_buffer("CPU", prod(shape), u.dtype).reshape(shape)
    for u in nodes:
        if u in new:
            continue
        arg = u.arg
        if u.op in (Ops.RESHAPE, Ops.EXPAND):
            arg = tuple(short.get(n, n) for n in arg)
        src = tuple(new[s] for s in u.src)
        new[u] = u.replace(src=src, arg=arg)
    node, grad, after = (new[u] for u in (share.node, share.grad, share.after))
    try:
        if after.shape != node.src[share.at].shape or grad.shape != node.shape:
            return None
    except UopvizError:  # a RESHAPE that splits or joins axes
        return None
    return Share(node, grad, share.at, after), frozenset(new[u] for u in inputs)


class _Change:
    """What an operation changes by when one of its sources changes."""

    def __init__(self, share: Share, values: Wide) -> None:
        self._values, self._node, self._at = values, share.node, share.at
        self._sources = [NONE if s.op in NO_VALUE else values.value(s) for s in share.node.src]
        self._x = np.broadcast_to(self._sources[self._at], share.source.shaped)
        node = share.node
        reduces = node.op is Ops.REDUCE_AXIS and node.arg[0] in _CURVED
        self._made_of: dict[UOp, Array] = {}
        """Values that the node is computed from by what is below it, where its gradient is made by
        a function."""
        if is_by_function(node):
            self._made_of = {s: values.value(s) for s in node.src[1:]}
        self.exact = (
            not reduces
            and not self._made_of
            and (node.op not in GroupOp.Elementwise or node.op is Ops.CAST)
        )
        """Whether it is linear."""
        if self.exact and node.op is not Ops.LENGTH:
            self._sources = [np.zeros_like(v) if v is not NONE else v for v in self._sources]

    @property
    def is_finite(self) -> bool:
        """Whether it is looked at where its source is finite."""
        return bool(np.isfinite(self._x).all())

    def _of(self, value: Array) -> Array:
        if self._made_of:
            made = Wide({**self._made_of, self._node.src[self._at]: value}).value(self._node.src[0])
            return np.broadcast_to(made, self._node.shaped)
        before, after = self._sources[: self._at], self._sources[self._at + 1 :]
        made = self._values.of(self._node, [*before, value, *after])
        return np.broadcast_to(made, self._node.shaped)

    def along(self, v: Array) -> Array | None:
        """In one direction; None where it has no derivative there."""
        if self.exact:
            return self._of(v)
        middle, ahead, behind = (self._of(self._x + k * STEP * v) for k in (0, 1, -1))
        right, left = (ahead - middle) / STEP, (middle - behind) / STEP
        apart, size = np.abs(right - left), np.maximum(np.abs(right), np.abs(left))
        smooth = np.isfinite(apart) & (apart <= KINK * size + 1e-4)
        return (ahead - behind) / (2 * STEP) if smooth.all() else None
