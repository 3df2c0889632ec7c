"""One term, what bounds it, and the terms below it. Made by `Terms` (term.py) alone."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.dtype import DType, dtypes
from core.uop.facts.meaning import divide
from core.uop.ops import Ops


class Kind(enum.Enum):
    """Terms that are no op on values."""

    INPUT = "input"
    """Any value within its bounds; data is what it is of."""
    READ = "read"
    """An element of some memory or tensor (data), by its number: an unknown function."""
    SUM = "sum"
    """An integer: a constant plus multiples of the arguments; data is (constant, coefficients)."""
    REDUCE = "reduce"
    """The arguments combined by an op, over all values of bound inputs; data is (op, inputs)."""


class Term:
    """One term; made by `Terms`. `low` and `high` bound it: numbers for integers and bools, None
    for floats."""

    __slots__ = ("args", "data", "dtype", "high", "low", "number", "op")

    def __init__(
        self,
        op: Ops | Kind,
        dtype: DType,
        args: tuple[Term, ...],
        data: Any,
        bounds: tuple[int, int] | None,
        number: int,
    ) -> None:
        self.op, self.dtype, self.args, self.data = op, dtype, args, data
        self.low, self.high = bounds if bounds is not None else (0, 0)
        self.number = number

    def __repr__(self) -> str:
        return f"Term({self.op.name}, {self.dtype}, {self.data!r}, {len(self.args)} args)"

    @property
    def constant(self) -> bool:
        """Whether it is a constant, whose value is `data`."""
        return self.op is Ops.CONST


def postorder(roots: Iterable[Term], known: Mapping[Term, Any] | None = None) -> list[Term]:
    """The roots and all below them, arguments first; what is in `known` is left out."""
    done: dict[Term, None] = {}
    stack = list(roots)
    while stack:
        term = stack[-1]
        if term in done or (known is not None and term in known):
            stack.pop()
            continue
        todo = [a for a in term.args if a not in done and (known is None or a not in known)]
        if todo:
            stack += todo
        else:
            done[term] = None
            stack.pop()
    return list(done)


def conjuncts(condition: Term) -> Iterator[Term]:
    """The conditions that have to hold together."""
    stack = [condition]
    while stack:
        term = stack.pop()
        if term.op is Ops.AND and dtypes.is_bool(term.dtype):
            stack += term.args
        elif not term.constant:
            yield term


def whole(dtype: DType) -> tuple[int, int] | None:
    """The bounds of a dtype; None of floats."""
    if dtypes.is_float(dtype):
        return None
    return int(dtypes.min(dtype)), int(dtypes.max(dtype))


def within(x: Term, dtype: DType) -> bool:
    """Whether an integer or bool is in the range of a dtype of integers or bools."""
    if dtypes.is_float(x.dtype) or dtypes.is_float(dtype):
        return False
    return int(dtypes.min(dtype)) <= x.low and x.high <= int(dtypes.max(dtype))


def signed(factor: int, dtype: DType) -> int:
    """A factor as the number of least magnitude that is equal to it modulo the width."""
    half = 1 << (dtype.bits - 1)
    factor &= (1 << dtype.bits) - 1
    return factor - (1 << dtype.bits) if factor >= half else factor


def bounds_of_sum(
    constant: int, parts: Iterable[tuple[Term, int]], dtype: DType
) -> tuple[int, int]:
    """The bounds of a constant plus multiples of terms, as if nothing wrapped around: the constant
    and each factor as the number of least magnitude."""
    low = high = signed(constant, dtype)
    for term, factor in parts:
        ends = sorted(v * signed(factor, dtype) for v in (term.low, term.high))
        low, high = low + ends[0], high + ends[1]
    return low, high


def exact(x: Term) -> bool:
    """Whether a sum never wraps around: its constant and factors taken as `bounds_of_sum` does."""
    constant, factors = x.data
    low, high = bounds_of_sum(constant, zip(x.args, factors, strict=True), x.dtype)
    return int(dtypes.min(x.dtype)) <= low and high <= int(dtypes.max(x.dtype))


def compared(op: Ops, x: Term, y: Term) -> bool | None:
    """A comparison of integers or bools that their bounds decide."""
    if dtypes.is_float(x.dtype):
        return None
    if x is y:
        return op is Ops.CMPEQ
    apart = x.high < y.low or y.high < x.low
    if op is Ops.CMPLT:
        return True if x.high < y.low else False if x.low >= y.high else None
    return (op is Ops.CMPNE) if apart else None


def bounds_of(op: Ops, dtype: DType, args: tuple[Term, ...]) -> tuple[int, int] | None:
    """Bounds of an op: tight for those of index arithmetic only."""
    if dtypes.is_int(dtype) and len(args) == 2 and not dtypes.is_float(args[0].dtype):
        (x, y) = args
        if op is Ops.IDIV and y.low > 0:
            ends = [divide(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
            return min(ends), max(ends)
        if op is Ops.MOD and y.low > 0 and x.low >= 0:
            return 0, min(x.high, y.high - 1)
        if op is Ops.MAX:
            return max(x.low, y.low), max(x.high, y.high)
        if op is Ops.MUL:
            ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
            if int(dtypes.min(dtype)) <= min(ends) and max(ends) <= int(dtypes.max(dtype)):
                return min(ends), max(ends)
        if op is Ops.AND and x.low >= 0 and y.low >= 0:
            return 0, min(x.high, y.high)
    return whole(dtype)


def depth_of(body: Term) -> int:
    """How many reductions are nested in a term."""
    known: dict[Term, int] = {}
    for term in postorder([body]):
        inner = max((known[a] for a in term.args), default=0)
        known[term] = inner + (term.op is Kind.REDUCE)
    return known[body]
