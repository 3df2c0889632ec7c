"""Whether a step of the pass `gradient` is right: what a rule gives for a source, against
differences of the operation itself, in float64.

The operation is computed by its definition at points beside each other. Of elements: many points,
one element each. Of shapes: what flows to an element of the source is what the result changes by
there, times the gradient of the result, and so along a random direction of all elements. Points
where the operation has no derivative (a kink, the end of its domain, an overflow) say nothing: a
rule may choose there. Reads no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from core.dtype import dtypes
from core.errors import UopvizError
from core.prove.cut import key_of
from core.prove.rounding import units
from core.prove.verdict import Verdict
from core.runtime.numeric import Array
from core.uop import GroupOp, Ops, UOp
from core.uop.meaning_arrays import numpy_dtype
from viz.check.wide import ITSELF, NO_VALUE, Wide

SAME: Final = "what differences of the operation give, in float64"
OTHER: Final = "differences of the operation give another derivative"
BY_HAND: Final = "the gradient of a kernel written by hand is made by a function of the program"
LARGE: Final = "its values are too large to be computed here"
FEW: Final = "it has a derivative at too few of the points that were tried"
LEFT_OUT: Final = "but for points where it has none"
POINTS: Final = 512
FEW_ELEMENTS: Final = 1 << 14
"""Of all values of a step together. Where there are more, it is tried with fewer."""
MAX_ELEMENTS: Final = 1 << 23
MAX_PLACES: Final = 48
"""Elements of a source that are looked at one by one."""
MAX_OPENED: Final = 3
"""Levels of nodes below the inputs."""
_STEP: Final = 1e-6
_CLOSE: Final = 1e-5
"""Of a derivative, what differences may be off by."""
_LINEAR: Final = 1e-9
"""The same of operations whose differences are exact."""
_KINK: Final = 1e-2
"""Derivatives to the left and to the right that are further apart than this are two."""
_ROUNDED: Final = 16 * 2.0**-52
_CORNERS: Final = np.asarray([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, 10.0, 0.01, -0.01])
_POINTWISE: Final = (GroupOp.Elementwise | ITSELF | {Ops.ASSIGN}) - {Ops.BITCAST}
_OPENED: Final = (
    _POINTWISE | GroupOp.Movement | {Ops.REDUCE_AXIS, Ops.LENGTH, Ops.MULTI, Ops.MSELECT}
)
"""Nodes whose values are made of those of their sources."""
_SAID: Final = frozenset({Ops.CONST, Ops.IOTA, Ops.BIND, Ops.DEFINE_VAR, *NO_VALUE})
"""Nodes whose values are known."""
_NONE: Final = np.zeros(0)
_ALONG_AXES: Final = (
    _POINTWISE
    | {Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.FLIP, Ops.REDUCE_AXIS, Ops.CONST, Ops.SINK}
    | NO_VALUE
)
"""Nodes that treat all elements along an axis alike."""
_SHORT: Final = (3, 4, 5, 6, 7)
"""Lengths of axes in place of longer ones."""
_CURVED: Final = frozenset({Ops.MUL, Ops.MAX})
"""Of reduces, those whose differences depend on the point."""


@dataclass(frozen=True)
class _Share:
    """What source `at` of `node` gets of `grad`, as a rule gave it: `after`."""

    node: UOp
    grad: UOp
    at: int
    after: UOp

    @property
    def source(self) -> UOp:
        """The source."""
        return self.node.src[self.at]

    @property
    def roots(self) -> tuple[UOp, ...]:
        """What has to be computed."""
        return self.after, self.node, self.grad, *self.node.src

    def size(self, inputs: Collection[UOp]) -> int:
        """The number of elements of all values between the roots and the inputs."""
        nodes = UOp.sink(*self.roots).toposort(lambda u: u not in inputs)
        return sum(prod(u.shape or ()) for u in (*nodes, *inputs) if u.op is not Ops.SINK)


class Gradients:
    """Answers for steps, and keeps what it has answered."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Verdict] = {}

    def judge(self, before: UOp, after: UOp) -> Verdict:
        """What is known of `after` in place of `before`, a GRADIENT. Never raises for graphs that
        it cannot compute: then the answer is "unchecked"."""
        node = before.src[0]
        if node.op is Ops.KERNEL:
            return Verdict("unchecked", BY_HAND)
        share = _Share(node, before.src[1], before.arg, after)
        try:
            have, want = (f"{u.dtype} of shape {u.shape}" for u in (after, share.source))
            if have != want:
                return Verdict("differs", "a gradient is like its source", 0, 0.0, (), want, have)
            return self._judge(share)
        except _FAILURES as error:
            return _uncomputed(error)

    def _judge(self, share: _Share) -> Verdict:
        """A difference is believed only where it is still there when the inputs are opened: what a
        rule gives may depend on what they are made of."""
        inputs = frozenset(s for s in (share.grad, *share.node.src) if _is_input(s))
        inputs |= {share.grad}
        found = self._compared(share, inputs)
        for _ in range(MAX_OPENED):
            opened = frozenset(s for u in inputs for s in _below(u, _is_flat(share, inputs)))
            if found.kind not in ("differs", "unchecked") or opened == inputs:
                break
            inputs, deeper = opened, self._compared(share, opened)
            if deeper.kind != "unchecked":
                if deeper.kind == found.kind:
                    break
                found = deeper
        return found

    def _compared(self, share: _Share, inputs: frozenset[UOp]) -> Verdict:
        both = UOp.sink(share.node, share.grad)
        key = (*key_of(both, share.after, inputs), share.at)
        if (answer := self._known.get(key)) is None:
            try:
                with np.errstate(all="ignore"):
                    flat = _is_flat(share, inputs)
                    answer = _of_points(share, inputs) if flat else _of_shapes(share, inputs)
            except _FAILURES as error:
                answer = _uncomputed(error)
            self._known[key] = answer
        return answer


_FAILURES: Final = (UopvizError, ArithmeticError, LookupError, TypeError, ValueError)


def _uncomputed(error: Exception) -> Verdict:
    said = error.what if isinstance(error, UopvizError) else type(error).__name__
    return Verdict("unchecked", f"cannot be computed: {said}"[:300])


def _is_input(u: UOp) -> bool:
    """Whether any value may be tried for a node: it does not say its value itself."""
    while u.op in (Ops.RESHAPE, Ops.EXPAND):
        u = u.src[0]
    return u.op not in _SAID


def _below(u: UOp, flat: bool) -> list[UOp]:
    """What a node that is an input is made of; itself, where that is not known."""
    if u.op not in (_POINTWISE if flat else _OPENED):
        return [u]
    return [s for s in u.src if _is_input(s)]


def _walk(share: _Share, inputs: Collection[UOp]) -> Collection[UOp]:
    """The nodes between what the rule gave and the inputs."""
    return share.after.toposort(lambda u: u not in inputs)


def _is_flat(share: _Share, inputs: Collection[UOp]) -> bool:
    """Whether each element of what the rule gave is made of one element of each input."""
    pointwise = all(u.op in _POINTWISE or not _is_input(u) for u in _walk(share, inputs))
    moved = any(u.op is Ops.IOTA for u in _walk(share, inputs))
    return share.node.op in _POINTWISE and pointwise and not moved


def _tolerance(share: _Share, inputs: Collection[UOp], exact: bool) -> float:
    """What constants in narrow dtypes, and differences, may be off by."""
    floats = [u.dtype for u in _walk(share, inputs) if dtypes.is_float(u.dtype)]
    rounding = max((8 * units(dtype)[0] for dtype in floats), default=0.0)
    return _LINEAR if exact else max(_CLOSE, rounding)


def _of_points(share: _Share, inputs: frozenset[UOp]) -> Verdict:
    """Many points, each one element."""
    random = np.random.default_rng(1)
    values = Wide({u: _points(u, random) for u in _ordered(inputs)}, flat=True)
    node, at = share.node, share.at
    sources = [_NONE if s.op in NO_VALUE else values.value(s) for s in node.src]
    x, w, given = (
        np.broadcast_to(values.value(u), (POINTS,)).astype(np.float64)
        for u in (share.source, share.grad, share.after)
    )

    def f(value: Array) -> Array:
        if node.op is Ops.DERIVATIVE:  # its derivatives are given
            return value * sources[at + 1]
        return values.of(node, [*sources[:at], value, *sources[at + 1 :]])

    h = _STEP * np.maximum(1.0, np.abs(x))
    middle, ahead, behind, far, back = (f(x + k * h) for k in (0, 1, -1, 2, -2))
    right, left = (ahead - middle) / h, (middle - behind) / h
    slope, wider = (ahead - behind) / (2 * h), (far - back) / (4 * h)
    apart, size = np.abs(right - left), np.maximum(np.abs(right), np.abs(left))
    there = np.isfinite(right) & np.isfinite(left) & np.isfinite(wider) & np.isfinite(w)
    there &= apart <= _KINK * size + 1e-4
    if there.sum() < POINTS // 16:
        return Verdict("unchecked", FEW)
    wanted = w * slope
    allowed = _tolerance(share, inputs, False) * (np.abs(wanted) + np.abs(w))
    allowed += np.abs(w) * (apart + 2 * np.abs(slope - wider) + _ROUNDED * np.abs(middle) / h)
    wrong = there & ~(np.abs(given - wanted) <= allowed)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        shown = [
            (f"source {n}", np.broadcast_to(v, (POINTS,))[k])
            for n, v in enumerate(sources)
            if v is not _NONE
        ]
        return _differs([*shown, ("gradient", w[k])], wanted[k], given[k])
    return _agrees(int(there.sum()), bool(there.all()))


def _of_shapes(share: _Share, inputs: frozenset[UOp]) -> Verdict:
    """Some elements of the source one by one, and a random direction of all."""
    if share.size(inputs) > FEW_ELEMENTS and (smaller := _smaller(share, inputs)) is not None:
        share, inputs = smaller
    if (size := share.size(inputs)) > MAX_ELEMENTS:
        return Verdict("unchecked", LARGE)
    random = np.random.default_rng(2)
    values = Wide({u: _array(u, random) for u in _ordered(inputs)})
    w = np.where(values.counts(share.grad), values.value(share.grad), 0.0)
    given = np.broadcast_to(values.value(share.after), share.source.shaped)
    counts = values.counts(share.source) & values.counts(share.after)
    change = _Change(share, values)
    tolerance = _tolerance(share, inputs, change.exact)

    def error(v: Array) -> tuple[float, float, bool] | None:
        """What the result changes by in a direction, what that should be, and whether these differ;
        None where there is no derivative."""
        if (moved := change.along(v)) is None:
            return None
        wanted, got = float((moved * w).sum()), float((given * v)[v != 0].sum())
        size = float(np.abs(moved * w).sum() + np.abs(given * v)[v != 0].sum())
        return wanted, got, not abs(wanted - got) <= tolerance * max(size, 1e-3)

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
            return _differs([("element", index)], wanted, got)
    if 2 * left_out > tried:
        return Verdict("unchecked", FEW)
    return _agrees(tried, not left_out)


def _smaller(share: _Share, inputs: frozenset[UOp]) -> tuple[_Share, frozenset[UOp]] | None:
    """The same step on fewer elements along each axis, where it treats all elements of an axis
    alike: what is right there is right for any number of them. None where it does not."""
    nodes = UOp.sink(*share.roots).toposort(lambda u: u not in inputs)
    if any(u.op not in _ALONG_AXES for u in nodes):
        return None
    long = sorted({n for u in (*nodes, *inputs) for n in u.shape or () if n > _SHORT[-1]})
    short = dict(zip(long, _SHORT * len(long), strict=False))
    new: dict[UOp, UOp] = {}
    for u in _ordered(inputs):
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
    return _Share(node, grad, share.at, after), frozenset(new[u] for u in inputs)


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


class _Change:
    """What an operation changes by when one of its sources changes."""

    def __init__(self, share: _Share, values: Wide) -> None:
        self._values, self._node, self._at = values, share.node, share.at
        self._sources = [_NONE if s.op in NO_VALUE else values.value(s) for s in share.node.src]
        self._x = np.broadcast_to(self._sources[self._at], share.source.shaped)
        node = share.node
        reduces = node.op is Ops.REDUCE_AXIS and node.arg[0] in _CURVED
        self.exact = not reduces and (node.op not in GroupOp.Elementwise or node.op is Ops.CAST)
        """Whether it is linear."""
        if self.exact and node.op is not Ops.LENGTH:
            self._sources = [np.zeros_like(v) if v is not _NONE else v for v in self._sources]

    def _of(self, value: Array) -> Array:
        before, after = self._sources[: self._at], self._sources[self._at + 1 :]
        made = self._values.of(self._node, [*before, value, *after])
        return np.broadcast_to(made, self._node.shaped)

    def along(self, v: Array) -> Array | None:
        """In one direction; None where it has no derivative there."""
        if self.exact:
            return self._of(v)
        middle, ahead, behind = (self._of(self._x + k * _STEP * v) for k in (0, 1, -1))
        right, left = (ahead - middle) / _STEP, (middle - behind) / _STEP
        apart, size = np.abs(right - left), np.maximum(np.abs(right), np.abs(left))
        smooth = np.isfinite(apart) & (apart <= _KINK * size + 1e-4)
        return (ahead - behind) / (2 * _STEP) if smooth.all() else None


def _ordered(inputs: Collection[UOp]) -> list[UOp]:
    """Inputs in an order that is the same each time."""
    return [u for u in UOp.sink(*inputs).toposort() if u in inputs]


def _points(u: UOp, random: np.random.Generator) -> Array:
    """Values of an input: corner values and others."""
    if not dtypes.is_float(u.dtype):
        return _integers(u, (POINTS,), random)
    values = 2 * random.standard_normal(POINTS)
    return np.where(random.random(POINTS) < 0.5, random.choice(_CORNERS, POINTS), values)


def _array(u: UOp, random: np.random.Generator) -> Array:
    """Values of an input, no two alike, whose products are not too large."""
    if not dtypes.is_float(u.dtype):
        return _integers(u, u.shaped, random)
    return random.uniform(0.5, 1.5, u.shaped) * random.choice([-1.0, 1.0], u.shaped)


def _integers(u: UOp, shape: Sequence[int], random: np.random.Generator) -> Array:
    if dtypes.is_bool(u.dtype):
        return random.integers(0, 2, shape).astype(np.bool_)
    return random.integers(0, 8, shape).astype(numpy_dtype(u.dtype))


def _agrees(samples: int, everywhere: bool) -> Verdict:
    return Verdict("sampled", SAME if everywhere else f"{SAME}, {LEFT_OUT}", samples)


def _differs(values: Sequence[tuple[str, object]], wanted: object, got: object) -> Verdict:
    shown = tuple((name, _text(value)) for name, value in values)
    return Verdict("differs", OTHER, 1, 0.0, shown, _text(wanted), _text(got))


def _text(value: object) -> str:
    return f"{float(value):.6g}" if isinstance(value, float | np.floating) else str(value)
