"""Which element of a shaped value: an index per axis, or a flat number, as terms.

Movement turns one index into another, as arithmetic. Written for the checks alone: it shares no
code with the passes that it checks. Never looks at what is indexed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import Any, Final

from core.dtype import dtypes
from core.prove.terms.term import Term, Terms
from core.shape import ShapeTracker
from core.uop.ops import Ops

Shape = tuple[int, ...]
_INT: Final = dtypes.int64


class Index:
    """One element of a value of some shape. Arithmetic is in 64 bits."""

    def __init__(
        self, terms: Terms, shape: Shape, axes: Sequence[Term] | None, flat: Term | None = None
    ) -> None:
        self.shape = shape
        self._terms, self._axes, self._flat = terms, axes, flat

    @property
    def key(self) -> Hashable:
        """Equal keys are equal indices."""
        return (self.shape, self._flat if self._axes is None else tuple(self._axes))

    @property
    def flat(self) -> Term:
        """Its number in row-major order."""
        if self._flat is None:
            self._flat = self._weighted(self.axes, strides(self.shape), 0)
        return self._flat

    @property
    def axes(self) -> Sequence[Term]:
        """An index per axis."""
        if self._axes is None:
            assert self._flat is not None, "an index has one of its two forms"
            return unravel(self._terms, self._flat, self.shape)
        return self._axes

    def moved(self, op: Ops, arg: Any, shape: Shape) -> tuple[Index, Term | None]:
        """The element of a value of `shape` that this one is after a movement op; and whether it is
        one at all, None where it always is."""
        match op:
            case Ops.RESHAPE:
                return self._reshaped(shape), None
            case Ops.PERMUTE:
                back = sorted(range(len(arg)), key=lambda axis: arg[axis])
                return self._at([self.axes[axis] for axis in back], shape), None
            case Ops.EXPAND:
                zero = self._const(0)
                pairs = zip(self.axes, shape, strict=True)
                return self._at([zero if n == 1 else a for a, n in pairs], shape), None
            case Ops.SHRINK:
                pairs = zip(self.axes, arg, strict=True)
                return self._at([self._plus(a, begin) for a, (begin, _) in pairs], shape), None
            case Ops.FLIP:
                rows = zip(self.axes, arg, shape, strict=True)
                return self._at([self._last(a, n) if f else a for a, f, n in rows], shape), None
            case _:
                rows = zip(self.axes, arg, shape, strict=True)
                inside = [(self._plus(a, -begin), n) for a, (begin, _), n in rows]
                valid = [self.within(a, 0, n) for a, n in inside]
                return self._at([a for a, _ in inside], shape), self._terms.both(*valid)

    def viewed(self, tracker: ShapeTracker, shape: Shape) -> tuple[Index, Term | None]:
        """The same for a chain of views over a value of `shape`, or over memory where that has one
        axis."""
        conditions: list[Term] = []
        axes, flat = self.axes, self._const(0)
        for at, view in enumerate(reversed(tracker.views)):
            if at:
                axes = unravel(self._terms, flat, view.shape)
            if view.mask is not None:
                limits = zip(axes, view.mask, strict=True)
                conditions += [self.within(a, begin, end) for a, (begin, end) in limits]
            flat = self._weighted(axes, view.strides, view.offset)
        valid = self._terms.both(*conditions) if conditions else None
        return Index(self._terms, shape, None, flat), valid

    def replaced(self, axes: Sequence[int], others: Sequence[Term], shape: Shape) -> Index:
        """The index with others at some axes, of a value of `shape`."""
        made = list(self.axes)
        for axis, other in zip(axes, others, strict=True):
            made[axis] = other
        return self._at(made, shape)

    def within(self, a: Term, begin: int, end: int) -> Term:
        """Whether begin <= a < end."""
        low = self._terms.alu(Ops.CMPLT, dtypes.bool, (a, self._const(begin)))
        high = self._terms.alu(Ops.CMPLT, dtypes.bool, (a, self._const(end)))
        true = self._terms.const(dtypes.bool, True)
        return self._terms.both(self._terms.alu(Ops.CMPNE, dtypes.bool, (low, true)), high)

    def _reshaped(self, shape: Shape) -> Index:
        """Axes that stay as they are keep their index; only the others are computed anew."""
        old = [(n, a) for n, a in zip(self.shape, self.axes, strict=True) if n != 1]
        wanted = [n for n in shape if n != 1]
        if [n for n, _ in old] == wanted:
            kept = iter([a for _, a in old])
            return self._at([self._const(0) if n == 1 else next(kept) for n in shape], shape)
        return Index(self._terms, shape, None, self.flat)

    def _weighted(self, axes: Sequence[Term], weights: Sequence[int], start: int) -> Term:
        made = self._const(start)
        for axis, weight in zip(axes, weights, strict=True):
            scaled = self._terms.alu(Ops.MUL, _INT, (axis, self._const(weight)))
            made = self._terms.alu(Ops.ADD, _INT, (made, scaled))
        return made

    def _at(self, axes: Sequence[Term], shape: Shape) -> Index:
        return Index(self._terms, shape, axes)

    def _const(self, value: int) -> Term:
        return self._terms.const(_INT, value)

    def _plus(self, a: Term, value: int) -> Term:
        return self._terms.alu(Ops.ADD, _INT, (a, self._const(value)))

    def _last(self, a: Term, size: int) -> Term:
        return self._terms.alu(Ops.SUB, _INT, (self._const(size - 1), a))


def strides(shape: Shape) -> list[int]:
    """The distance of neighbours along each axis, in row-major order."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def unravel(terms: Terms, flat: Term, shape: Shape) -> list[Term]:
    """An index per axis of a flat number of a value of `shape`."""
    made: list[Term] = []
    for axis, step in enumerate(strides(shape)):
        digit = terms.alu(Ops.IDIV, _INT, (flat, terms.const(_INT, max(step, 1))))
        if any(n != 1 for n in shape[:axis]):
            digit = terms.alu(Ops.MOD, _INT, (digit, terms.const(_INT, max(shape[axis], 1))))
        made.append(terms.const(_INT, 0) if shape[axis] == 1 else digit)
    return made


def root_index(terms: Terms, shape: Sequence[int]) -> Index:
    """Any element of a value of `shape`."""
    axes = [terms.input(("axis", at), _INT, 0, max(0, n - 1)) for at, n in enumerate(shape)]
    return Index(terms, tuple(shape), axes)
