"""Values of terms on samples: corner values first, then random ones; all samples at once.

Memory is a random function of the sample and the element: nothing is stored. Floats may come with a
bound of the rounding errors that were made on the way (`errors`), so that a difference can be told
from rounding: a first-order forward error analysis (N. Higham, "Accuracy and Stability of Numerical
Algorithms", chapter 3). Never decides.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtype import DType, dtypes
from core.prove.samples.rounding import units
from core.prove.terms.term import Kind, Term, postorder
from core.prove.terms.value import UnknownMeaningError
from core.uop.facts.meaning_arrays import evaluate_arrays, numpy_dtype, round_array
from core.uop.ops import GroupOp, Ops

Array = npt.NDArray[Any]
SAMPLES: Final = 192
MAX_WORK: Final = 1 << 21
"""Samples times iterations of reductions, unless a caller says otherwise."""
SMALL: Final = 8
"""The largest of the integers that are small: gates often hold for these alone."""
TINY: Final = 5e-324
"""An error that is none, but for the sign of a zero."""
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_COMBINE: Final = {Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.MAX: np.maximum}


class Samples:
    """`count` samples; every input and memory has a value in each. `fixed`: terms of integers that
    have the same one in all. `hints`: by dtype, values that every other input or element takes."""

    def __init__(
        self,
        count: int = SAMPLES,
        seed: int = 1,
        work: int = MAX_WORK,
        fixed: Mapping[Term, int] | None = None,
        hints: Mapping[DType, Array] | None = None,
    ) -> None:
        self.count, self.work, self.fixed = count, work, fixed or {}
        self.hints = hints or {}
        self.seed = np.uint64(seed)
        self._names: dict[Any, int] = {}
        self._rows = np.arange(count, dtype=np.uint64)
        self.given: dict[Term, Array] = {}
        """Terms that have these values instead: all bit patterns of a narrow float, say."""
        self.errors: dict[Term, Array] = {}
        """Of float terms, a bound of the rounding errors; of others, infinity where it is open."""

    def run(
        self, roots: Sequence[Term], errors: bool = False, exact: Iterable[Term] = ()
    ) -> list[Array]:
        """The value of each root in each sample; `exact`: terms whose errors do not count. Raises
        UnknownMeaningError where reductions are too long."""
        errs = {t: np.zeros(self.count) for t in (*self.given, *exact)}
        return _Run(self, self._rows, self.given, errs, errors).run(roots)

    def exhaust(self, inputs: Sequence[Term]) -> dict[Term, Array]:
        """Every value of some inputs, as a grid; `count` has to be their number."""
        sizes = [t.high - t.low + 1 for t in inputs]
        places = np.unravel_index(np.arange(self.count), sizes) if sizes else ()
        pairs = zip(inputs, places, strict=True)
        return {t: (t.low + at).astype(numpy_dtype(t.dtype)) for t, at in pairs}

    def every_value(self, t: Term) -> Array:
        """Every value of a term of at most 16 bits; `count` has to be their number."""
        if not dtypes.is_float(t.dtype):
            return self.exhaust([t])[t] if t.op is Kind.INPUT else self._every(t, t.dtype)
        return self._every(t, dtypes.uint8 if t.dtype.bits == 8 else dtypes.uint16)

    def _every(self, t: Term, bits: DType) -> Array:
        patterns = np.arange(self.count).astype(numpy_dtype(bits))
        if bits == t.dtype:
            return patterns
        return evaluate_arrays(Ops.BITCAST, t.dtype, [patterns], bits)

    def run_given(self, roots: Sequence[Term], given: dict[Term, Array]) -> list[Array]:
        """The same with the values of inputs."""
        return _Run(self, self._rows, given, {}, False).run(roots)

    def name(self, key: Any) -> np.uint64:
        """A number for an input or memory, the same in every run of these samples."""
        made = self._names.setdefault(key, len(self._names) + 1)
        return np.uint64(zlib.crc32(made.to_bytes(4, "little"))) * _MIX


class _Run:
    """One evaluation: of samples, or of iterations of a reduction in each of them."""

    def __init__(
        self,
        samples: Samples,
        rows: npt.NDArray[np.uint64],
        values: dict[Term, Array],
        errs: dict[Term, Array],
        errors: bool,
    ) -> None:
        self.samples, self.rows, self.values = samples, rows, dict(values)
        self.errs, self.errors = dict(errs), errors
        self._exact = dict(errs)

    def run(self, roots: Sequence[Term]) -> list[Array]:
        with np.errstate(all="ignore"):
            for term in _outside(roots, self.values):
                self.values[term] = self._value(term)
                if self.errors:
                    found = self._exact.get(term)
                    self.errs[term] = self._error(term) if found is None else found
        if self.errors:
            self.samples.errors.update({root: self.errs[root] for root in roots})
        return [self.values[root] for root in roots]

    def _value(self, t: Term) -> Array:
        size = len(self.rows)
        if t in self.samples.fixed:
            return np.full(size, self.samples.fixed[t]).astype(numpy_dtype(t.dtype))
        match t.op:
            case Ops.CONST:
                return np.full(size, t.data, numpy_dtype(t.dtype))
            case Kind.INPUT:
                key = self.samples.name(t.data) + self.samples.seed
                mixed = _mixed(self.rows, key)
                turn = np.full(size, key >> np.uint64(32), np.uint64)
                return self._hinted(
                    t, mixed, _any(t.dtype, mixed, turn, self.rows, (t.low, t.high))
                )
            case Kind.READ:
                key = self.samples.name(t.data) + self.samples.seed
                element = np.zeros(size, np.uint64)
                for a in t.args:
                    at = self.values[a].astype(np.int64).view(np.uint64)
                    element = _mixed(at ^ element, key)
                mixed = _mixed(element, self.rows * _MIX)
                turn = element >> np.uint64(32)
                return self._hinted(
                    t, mixed, _any(t.dtype, mixed, turn, self.rows, (t.low, t.high))
                )
            case Kind.SUM:
                constant, factors = t.data
                made = np.full(size, constant % (1 << 64), np.uint64)
                for factor, arg in zip(factors, t.args, strict=True):
                    made = made + np.uint64(factor) * _wide(self.values[arg])
                return made.astype(numpy_dtype(t.dtype))
            case Kind.REDUCE:
                return self._reduced(t)
            case _:
                arrays = [self.values[a] for a in t.args]
                source = t.args[-1].dtype if t.op is Ops.WHERE else t.args[0].dtype
                return evaluate_arrays(t.op, t.dtype, arrays, source)

    def _hinted(self, t: Term, mixed: npt.NDArray[np.uint64], values: Array) -> Array:
        """The values of an input or memory, every other one a hint that lies in its bounds."""
        hints = self.samples.hints.get(t.dtype)
        if hints is None:
            return values
        if not dtypes.is_float(t.dtype):
            hints = hints[(hints >= t.low) & (hints <= t.high)]
        if not len(hints):
            return values
        turns = self.rows % np.uint64(2) == 0  # so that each has a sample, with others for the rest
        at = np.where(turns, self.rows // np.uint64(2), mixed >> np.uint64(33))
        taken = turns | ((mixed >> np.uint64(17)) % np.uint64(4) == 0)
        return np.where(taken, hints[(at % np.uint64(len(hints))).astype(np.intp)], values)

    def _reduced(self, t: Term) -> Array:
        op, bound = t.data
        sizes = [b.high - b.low + 1 for b in bound]
        many = prod(sizes)
        if many * len(self.rows) > self.samples.work:
            raise UnknownMeaningError(f"a reduction of {many:,} elements")
        at = np.tile(np.arange(many), len(self.rows))
        rows = np.repeat(self.rows, many)
        inner = _Run(
            self.samples,
            rows,
            {u: np.repeat(v, many) for u, v in self.values.items() if u.op is Kind.INPUT},
            {u: np.repeat(v, many) for u, v in self.errs.items() if u.op is Kind.INPUT},
            self.errors,
        )
        for b, place in zip(bound, np.unravel_index(at, sizes), strict=True):
            inner.values[b] = (b.low + place).astype(numpy_dtype(b.dtype))
            inner.errs[b] = np.zeros(len(rows))
        for outer in _inputs_of(t, bound):
            if outer not in inner.values:
                self.values[outer], self.errs[outer] = self._value(outer), np.zeros(len(self.rows))
                inner.values[outer] = np.repeat(self.values[outer], many)
                inner.errs[outer] = np.zeros(len(rows))
        parts = [a.reshape(len(self.rows), many) for a in inner.run(t.args)]
        lanes = np.concatenate(parts, axis=1)
        if self.errors:
            errs = [inner.errs[a].reshape(len(self.rows), many) for a in t.args]
            found = _reduce_error(op, t.dtype, lanes, np.concatenate(errs, axis=1))
            open_ = np.isnan(found) & np.isinf(np.concatenate(errs, axis=1)).any(axis=1)
            self.errs[t] = np.where(np.isnan(found), np.where(open_, np.inf, 0.0), found)
        if dtypes.is_bool(t.dtype):
            return np.asarray(lanes.all(axis=1) if op is Ops.MUL else lanes.any(axis=1))
        combine: np.ufunc = _COMBINE[op]
        made = combine.reduce(lanes.astype(np.float64) if t.dtype.fmt is None else lanes, axis=1,
                              dtype=None if t.dtype.fmt is None else lanes.dtype)  # fmt: skip
        made = round_array(np.asarray(made), t.dtype)
        if self.errors and dtypes.is_float(t.dtype):
            finite = np.isfinite(np.asarray(lanes, np.float64)).all(axis=1)
            self.errs[t] = np.where(finite & ~np.isfinite(made), np.inf, self.errs[t])
        return made

    def _error(self, t: Term) -> Array:
        if t in self.errs:
            return self.errs[t]
        nothing = np.zeros(len(self.rows))
        if not t.args or t.op is Kind.READ:
            return nothing
        errs = [self.errs[a] for a in t.args]
        some = np.maximum.reduce(errs) > 0
        if not dtypes.is_float(t.dtype):
            return self._open(t, errs, some)
        xs = [np.asarray(self.values[a], np.float64) for a in t.args]
        value = np.asarray(self.values[t], np.float64)
        found = _propagated(t.op, xs, errs, value, some)
        if t.op in (Ops.NEG, Ops.MAX, Ops.WHERE, Ops.TRUNC):
            return found
        if t.op is Ops.BITCAST or (t.op is Ops.CAST and t.dtype == t.args[0].dtype):
            return found
        unit, tiny = units(t.dtype)
        exact_below = t.op in (Ops.ADD, Ops.SUB)  # what is not normal is added exactly
        own = unit * np.abs(value) + (0.0 if exact_below else tiny)
        found = found + np.where(_of_zero(t.op, xs), 0.0, own)
        return _of_special(t.op, value, xs, errs, found)

    def _open(self, t: Term, errs: list[Array], some: Array) -> Array:
        """Where errors may change an integer or bool."""
        if t.op in GroupOp.Comparison and dtypes.is_float(t.args[0].dtype):
            x, y = (np.asarray(self.values[a], np.float64) for a in t.args)
            some = some & ~(np.abs(x - y) > errs[0] + errs[1])
        if t.op is Ops.CAST and dtypes.is_int(t.dtype) and dtypes.is_float(t.args[0].dtype):
            x = np.asarray(self.values[t.args[0]], np.float64)
            some = some & (np.trunc(x - errs[0]) != np.trunc(x + errs[0]))
        return np.where(some, np.inf, 0.0)


def _propagated(
    op: Ops | Kind, xs: list[Array], errs: list[Array], value: Array, some: Array
) -> Array:
    """The error of an op on values with errors, without that of its own rounding."""
    match op:
        case Ops.ADD | Ops.SUB:
            return errs[0] + errs[1]
        case Ops.MUL | Ops.MULACC:
            x, y = np.abs(xs[0]), np.abs(xs[1])
            made = _times(x, errs[1]) + _times(y, errs[0]) + errs[0] * errs[1]
            return made + errs[2] if op is Ops.MULACC else made
        case Ops.NEG | Ops.CAST:
            return errs[0]
        case Ops.MAX:  # which of two zeros it gives is left open
            either = (value == 0) & (xs[0] == xs[1]) & (np.signbit(xs[0]) != np.signbit(xs[1]))
            return np.maximum(errs[0], errs[1]) + np.where(either, TINY, 0.0)
        case Ops.WHERE:
            chosen = np.where(xs[0] != 0, errs[1], errs[2])
            return np.where(errs[0] > 0, np.inf, chosen)
        case Ops.FDIV:
            left = np.maximum(np.abs(xs[1]) - errs[1], 0.0)
            return np.where(some, (errs[0] + np.abs(value) * errs[1]) / left, 0.0)
        case Ops.RECIPROCAL:
            left = np.maximum(np.abs(xs[0]) - errs[0], 0.0)
            return np.where(some, np.abs(value) * errs[0] / left, 0.0)
        case Ops.SQRT:
            return np.where(some, np.sqrt(np.abs(xs[0]) + errs[0]) - np.abs(value), 0.0)
        case Ops.EXP2:
            return np.where(some, np.abs(value) * np.expm1(errs[0] * np.log(2.0)), 0.0)
        case Ops.LOG2:
            left = np.maximum(np.abs(xs[0]) - errs[0], 0.0)
            return np.where(some, errs[0] / left / np.log(2.0), 0.0)
        case Ops.TRUNC:
            kept = np.trunc(xs[0] - errs[0]) == np.trunc(xs[0] + errs[0])
            return np.where(some & ~kept, 1 + errs[0], 0.0)
        case Ops.SIN | Ops.COS:
            return errs[0]
        case _:
            return np.where(some, np.inf, 0.0)


def _of_zero(op: Ops | Kind, xs: list[Array]) -> Any:
    """Where an op on a zero is exact, so that the sign of its result is no matter of rounding."""
    if op in (Ops.MUL, Ops.MULACC):
        return (xs[0] == 0) | (xs[1] == 0)
    return xs[0] == 0 if op in (Ops.FDIV, Ops.CAST, Ops.SQRT, Ops.SIN) else False


def _of_special(
    op: Ops | Kind, value: Array, xs: list[Array], errs: list[Array], found: Array
) -> Array:
    """The error where a value is not finite: of what has overflowed, or is made of that, nothing is
    known, nor of infinity times what may be zero; any other is what it is."""
    special = np.logical_or.reduce([~np.isfinite(x) for x in xs])
    divided = np.logical_or.reduce([x == 0 for x in xs])
    overflowed = np.isinf(value) & ~special & ~divided
    lost = overflowed | np.logical_or.reduce([np.isinf(err) for err in errs])
    if op in (Ops.MUL, Ops.MULACC):
        for x, y, err in ((xs[0], xs[1], errs[1]), (xs[1], xs[0], errs[0])):
            lost |= np.isinf(x) & (np.abs(y) <= err) & (err > 0)
    return np.where(np.isfinite(value) & ~np.isnan(found), found, np.where(lost, np.inf, 0.0))


def _reduce_error(op: Ops, dtype: DType, lanes: Array, errs: Array) -> Array:
    if not dtypes.is_float(dtype):
        return np.where(errs.any(axis=1), np.inf, 0.0)
    unit, tiny = units(dtype)
    values = np.abs(np.asarray(lanes, np.float64))
    many = lanes.shape[1]
    if op is Ops.MAX:  # as of two
        zero, negative = values == 0, np.signbit(np.asarray(lanes, np.float64))
        either = (zero & negative).any(axis=1) & (zero & ~negative).any(axis=1)
        return errs.max(axis=1) + np.where(either, tiny, 0.0)
    plain = np.isfinite(values)
    info = dtypes.finfo(dtype.scalar())
    if op is Ops.ADD:
        found = errs.sum(axis=1) + many * (unit * values.sum(axis=1) + tiny)
        settled = values.sum(axis=1, where=plain) < info.max
    else:
        total = values.prod(axis=1)
        grown = np.where(errs > 0, errs / np.where(values > 0, values, 1.0), 0.0).sum(axis=1)
        found = total * np.expm1(grown + many * unit) + many * tiny
        sizes = np.abs(np.log2(np.where(plain & (values > 0), values, 1.0))).sum(axis=1)
        settled = sizes < -np.log2(info.smallest_normal)
        settled &= ~((values <= errs) & (errs > 0)).any(axis=1)  # what may be zero
    # what is infinite or NaN by itself decides, whatever the order
    special = ~plain.all(axis=1) & settled & np.isfinite(errs).all(axis=1)
    return np.where(special, 0.0, found)


def _times(x: Array, err: Array) -> Array:
    """x * err, where infinity times nothing is nothing."""
    return np.where(err > 0, x * err, 0.0)


def _outside(roots: Sequence[Term], known: Mapping[Term, Any]) -> list[Term]:
    """What has to be computed, arguments first, without the insides of reductions."""
    done: dict[Term, None] = {}
    stack = list(roots)
    while stack:
        term = stack[-1]
        if term in done or term in known:
            stack.pop()
            continue
        args = () if term.op is Kind.REDUCE else term.args
        todo = [a for a in args if a not in done and a not in known]
        if todo:
            stack += todo
        else:
            done[term] = None
            stack.pop()
    return list(done)


def _inputs_of(t: Term, bound: Sequence[Term]) -> list[Term]:
    return [u for u in postorder(t.args) if u.op is Kind.INPUT and u not in bound]


def _wide(a: Array) -> npt.NDArray[np.uint64]:
    return a.astype(np.uint64) if a.dtype.kind in "ub" else a.astype(np.int64).view(np.uint64)


def _mixed(x: npt.NDArray[np.uint64], key: Any) -> npt.NDArray[np.uint64]:
    """A hash of each number: the finaliser of splitmix64 (G. Steele and others, "Fast splittable
    pseudorandom number generators", 2014)."""
    with np.errstate(over="ignore"):
        z = (x + np.uint64(1)) * _MIX + key
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _any(
    dtype: DType,
    mixed: npt.NDArray[np.uint64],
    turn: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.uint64],
    bounds: tuple[int, int],
) -> Array:
    """A value of a dtype for each hash: in some samples mostly corner values, in others none. In
    every fourth one, corner values take turns, so that each has its samples in which other inputs
    are plain; integers there have any length in bits, or are at most `SMALL`, so that each corner
    value of a float has a sample with such an integer. `turn`: a hash of the input alone."""
    kinds = rows % np.uint64(4)
    wild = (mixed >> np.uint64(8)) % np.uint64(4) < np.array([0, 1, 3, 0], np.uint64)[kinds]
    if not dtypes.is_float(dtype):
        low, high = bounds
        span = high - low + 1
        plain = mixed % np.uint64(span) if span < 1 << 64 else mixed
        near = (mixed >> np.uint64(40)) % np.uint64(min(span, 9))
        near = np.where((mixed >> np.uint64(13)) % np.uint64(2) == 0, near, np.uint64(0))
        last = np.uint64(span - 1) - near
        ends = np.where((mixed >> np.uint64(12)) % np.uint64(2) == 0, near, last)
        offset = np.where(wild, ends, plain)
        if low <= 0 and span > 1 << 8:
            shift = (mixed >> np.uint64(3)) % np.uint64(max(1, int(high).bit_length()))
            short = (mixed >> np.uint64(9)) % (np.uint64(high) >> shift) if high > 0 else offset
            small = mixed % np.uint64(min(max(high, 0), SMALL) + 1)
            block = rows // np.uint64(8 * len(_corners(dtypes.float32)))
            short = np.where((block + turn) % np.uint64(2) == 0, small, short)
            offset = np.where(kinds == 3, short + np.uint64(-low % (1 << 64)), offset)
        return (np.uint64(low % (1 << 64)) + offset).astype(numpy_dtype(dtype))
    corners = _corners(dtype)
    count = np.uint64(len(corners))
    unit = (mixed >> np.uint64(11)).astype(np.float64) / (1 << 53)
    scale = np.exp2(((mixed >> np.uint64(3)) % np.uint64(9)).astype(np.float64) - 4)
    plain = (2 * unit - 1) * scale
    number = rows // np.uint64(4)
    taken = (kinds == 3) & ((number // count + turn) % np.uint64(2) == 0)
    chosen = np.where(taken, (number + turn) % count, (mixed >> np.uint64(20)) % count)
    found = np.where(wild | taken, corners[chosen], plain)
    return round_array(found, dtype)


def _corners(dtype: DType) -> npt.NDArray[np.float64]:
    """NaN, infinities, zeros of both signs, the smallest and the largest numbers, plain ones."""
    largest, (_, tiny) = dtypes.finfo(dtype.scalar()).max, units(dtype)
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, tiny, -tiny, largest, -largest, 1.0, -1.0, 0.5]
    return np.array(values, np.float64)
