"""What a kernel is run on to be judged: random numbers, then corner values, variables at several
values each.

A rule may be wrong for NaN, the largest integer, a tie of rounding or a length of 1 alone. Never
runs anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from core.dtype import DType, PtrDType, dtypes
from core.helpers import ceildiv
from core.prove.samples.hints import hints_of_kernel
from core.runtime.numeric import Array, from_memory, to_memory
from core.runtime.reference.inputs import Values, corner_floats, random_inputs
from core.runtime.reference.spans import index_spans
from core.trial.trial import arguments
from core.uop.facts.meaning_arrays import round_array
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp

FEW: Final = 256
"""Elements of the largest argument up to which corner values are tried several times."""
WANTED: Final = 48
"""Corner values that the shortest argument is to have in all of these sets."""
MOST: Final = 12
FIRST: Final = 4
"""The seed of the first set with corner values."""
_SHARE: Final = 0.7
"""Of the elements of such an argument, those that are corner values."""
_TAME: Final = 4.0
_DIVIDING: Final = frozenset({Ops.FDIV, Ops.RECIPROCAL, Ops.POW})
"""What makes large floats of small ones."""
_ADDING: Final = frozenset({Ops.ADD, Ops.SUB, Ops.MULACC})
_REDUCES: Final = frozenset(
    {Ops.REDUCE_AXIS, Ops.REDUCE, Ops.WMMA, Ops.DEFINE_REG, Ops.DEFINE_LOCAL}
)


class ArgumentSet(Protocol):
    """What a kernel is run on. `precise`: every element is compared by its own size, and zeros with
    their signs."""

    @property
    def precise(self) -> bool:
        """See above."""
        ...

    @property
    def said(self) -> str:
        """What the arguments are, in words."""
        ...

    def variables(self, ast: UOp) -> dict[str, int]:
        """The value of each variable."""
        ...

    def memory(self, ast: UOp, most_bytes: int) -> list[Array]:
        """The arguments in order. Raises RunError where they would take more bytes."""
        ...


@dataclass(frozen=True)
class Given:
    """One set of arguments. `part`: where variables are between their smallest value and their
    largest; `precise`: every element is compared by its own size, and zeros with their signs."""

    values: Values
    seed: int
    part: float
    precise: bool = False

    @property
    def said(self) -> str:
        """See ArgumentSet."""
        return "corner values" if self.values is Values.CORNERS else "random numbers"

    def variables(self, ast: UOp) -> dict[str, int]:
        """See ArgumentSet."""
        found: dict[str, int] = {}
        for u in ast.toposort():
            if u.op is Ops.DEFINE_VAR:
                name, low, high = u.arg
                found[name] = int(low) + round(self.part * (int(high) - int(low)))
        return found

    def memory(self, ast: UOp, most_bytes: int) -> list[Array]:
        """See ArgumentSet."""
        made = random_inputs(ast, seed=self.seed, values=self.values, most_bytes=most_bytes)
        held = [made.buffers[u.arg] for u in arguments(ast)]
        if self.values is not Values.CORNERS:
            return held
        order = ast.toposort()
        free = {u.arg for u in arguments(ast)} - index_spans(order).keys()
        divides = any(u.op in _DIVIDING for u in order)
        return [
            self._mixed(values, u.dtype.base, u.arg, divides)
            if dtypes.is_float(u.dtype.base) or (dtypes.is_int(u.dtype.base) and u.arg in free)
            else values
            for u, values in zip(arguments(ast), held, strict=True)
        ]

    def _mixed(self, values: Array, dtype: DType, number: int, divides: bool) -> Array:
        """Numbers of which many are corner values; where sums in another order may overflow, no
        large floats, and no tiny ones if these are divided by."""
        random = np.random.default_rng((self.seed, number, 1))
        found: Array = from_memory(values, dtype).copy()
        places = random.permutation(values.size)[: round(_SHARE * values.size)]
        half = len(places) // 2
        floats = dtypes.is_float(dtype)
        corners, hard = (corner_floats(dtype), ties(dtype)) if floats else hard_integers(dtype)
        with np.errstate(all="ignore"):
            for part, given in ((places[:half], corners), (places[half:], hard)):
                first = (self.seed - FIRST) * len(part)  # so that all are tried, if they are few
                kind = np.float64 if floats else found.dtype
                order = np.random.default_rng(number).permutation(np.array(given, kind))
                chosen = np.resize(np.roll(order, -first), len(part))
                found[part] = round_array(chosen, dtype) if floats else chosen
            if floats and not self.precise:
                size = np.abs(found)
                wild = np.isfinite(found) & (size > _TAME)
                if divides:
                    wild |= (size > 0) & (size < 1 / _TAME)
                found = np.where(wild, found.dtype.type(1), found)
        return to_memory(found, dtype)


@dataclass(frozen=True)
class Hinted:
    """Values for which rules are likely to be wrong, those of core/prove/samples/hints.py, in turn:
    of each argument those of its dtype, the first at `begin`. `precise`: see ArgumentSet."""

    hints: Mapping[DType, Array]
    begin: int
    precise: bool
    said: str = "ties of rounding and integers beside the constants"

    def variables(self, ast: UOp) -> dict[str, int]:
        """See ArgumentSet."""
        return RANDOM.variables(ast)

    def memory(self, ast: UOp, most_bytes: int) -> list[Array]:
        """See ArgumentSet."""
        held, used = RANDOM.memory(ast, most_bytes), index_spans(ast.toposort())
        for at, u in enumerate(arguments(ast)):
            given = self.hints.get(u.dtype.base)
            if given is None or u.arg in used:
                continue
            order = np.random.default_rng((u.arg, len(given))).permutation(given)
            order = given if u.arg <= 1 else order  # so that of two arguments all pairs are not one
            chosen = np.resize(np.roll(order, -self.begin), held[at].size)
            if dtypes.is_float(u.dtype.base) and not self.precise:
                tame = np.isfinite(chosen) & (np.abs(chosen) <= _TAME)
                chosen = np.where(tame, chosen, chosen.dtype.type(1))
            held[at] = to_memory(chosen, u.dtype.base)
        return held


@dataclass(frozen=True)
class Crossed:
    """Each special number of one float argument with each of the next one, from combination number
    `begin` on; integers as in random numbers. `precise`: see ArgumentSet."""

    begin: int
    precise: bool
    said: str = "infinities, NaN and zeros of both signs, each with each"

    def variables(self, ast: UOp) -> dict[str, int]:
        """See ArgumentSet."""
        return RANDOM.variables(ast)

    def memory(self, ast: UOp, most_bytes: int) -> list[Array]:
        """See ArgumentSet."""
        held, turn = Given(Values.UNIT, FIRST + self.begin, 1.0).memory(ast, most_bytes), 1
        for at, u in enumerate(arguments(ast)):
            if dtypes.is_float(u.dtype.base) and u.arg not in written_of(ast):
                place = (self.begin + np.arange(held[at].size)) // turn % len(_SPECIALS)
                held[at] = to_memory(np.array(_SPECIALS)[place], u.dtype.base)
                turn *= len(_SPECIALS)
        return held


_SPECIALS: Final = (0.0, -0.0, math.nan, math.inf, -math.inf, 1.0)
RANDOM: Final = Given(Values.UNIT, 1, 1.0)
"""What a kernel is run on first."""


def givens(ast: UOp) -> Iterator[ArgumentSet]:
    """What a kernel is run on, one after the other."""
    yield RANDOM
    order = ast.toposort()
    symbolic = any(u.op is Ops.DEFINE_VAR for u in order)
    if symbolic:
        yield Given(Values.UNIT, 2, 0.4)
    if any(u.op in (Ops.REDUCE_AXIS, Ops.REDUCE) and _op_of(u) is Ops.MUL for u in order):
        yield Given(Values.SPECIALS, 3, 0.0)  # products of tiny and huge ones depend on their order
        return
    precise = not any(_may_be_reordered(u) for u in order)
    times = times_of(ast)
    for time in range(times):
        yield Given(Values.CORNERS, FIRST + time, time / times, precise)
    hints, only_written = hints_of_kernel(ast), written_of(ast)
    read = [
        (u.dtype.base, u.dtype.size)
        for u in arguments(ast)
        if isinstance(u.dtype, PtrDType) and u.arg not in only_written
    ]
    floats = [size for dtype, size in read if dtypes.is_float(dtype)]
    if floats and times > 1:  # in large arguments corner values have met each other
        many = len(_SPECIALS) ** min(len(floats), 2)
        for time in range(min(times, ceildiv(many, max(1, min(floats))))):
            yield Crossed(time * min(floats), precise)
    if sizes := [size for dtype, size in read if dtype in hints]:
        many = max(map(len, hints.values()))
        for time in range(min(times, ceildiv(many, max(1, min(sizes))))):
            yield Hinted(hints, time * min(sizes), precise)


def written_of(ast: UOp) -> set[int]:
    """The numbers of the arguments that a kernel only writes."""
    read = {pointer_of(u.src[0]).arg for u in ast.toposort() if u.op is Ops.LOAD}
    return {u.arg for u in arguments(ast)} - read


def times_of(ast: UOp) -> int:
    """How often corner values are tried: until the shortest argument has had most of them."""
    sizes = [u.dtype.size for u in arguments(ast) if isinstance(u.dtype, PtrDType)]
    if not sizes or max(sizes) > FEW:
        return 1
    return min(MOST, max(2, ceildiv(WANTED, round(_SHARE * min(sizes)) // 2 or 1)))


def _op_of(u: UOp) -> object:
    return u.arg[0] if isinstance(u.arg, tuple) else u.arg


def _may_be_reordered(u: UOp) -> bool:
    """Whether a node computes floats whose last bits, or whose overflow, are left open: those that
    are combined in any order, or that may be fused."""
    if u.op in _REDUCES or u.op is Ops.MAX:
        return True
    if u.op not in _ADDING or u.op not in GroupOp.ALU or not dtypes.is_float(u.dtype.scalar()):
        return False
    return u.op is Ops.MULACC or any(_rounds(s) for s in u.src)


def _rounds(u: UOp) -> bool:
    """Whether a term of a sum is a sum or a product, which may be added in another order or without
    being rounded; a product with 1 or -1 is exact."""
    while u.op in (Ops.CAST, Ops.NEG, Ops.VIEW) or u.op in GroupOp.Movement:
        u = u.src[0]
    if u.op is Ops.MUL and any(s.base.op is Ops.CONST and abs(s.base.arg) == 1 for s in u.src):
        return any(_rounds(s) for s in u.src)
    return u.op in _ADDING or u.op is Ops.MUL


def ties(dtype: DType) -> tuple[float, ...]:
    """Numbers of a float dtype that rules treat in ways of their own: ties of every narrower dtype
    and what is next to them, large arguments of periodic functions, ends of exponential ones."""
    found = [0.5, 1.5, 2.5, -0.5, 3.0, 100.0, 1048576.0, 3e6, 1e15, -1e5, math.sqrt(2), math.pi]
    found += [127.0, 128.0, 127.5, -126.5, -149.0, -150.5, math.sqrt(0.5), 448.0, 465.0, 65519.0]
    eps = dtypes.finfo(dtype).eps
    for digits in (2, 3, 7, 10, 23):
        for whole in (1.0, -1.0 - 2.0**-digits):
            tie = whole + math.copysign(2.0 ** -(digits + 1), whole)
            found += [tie, tie * (1 + 2 * eps), tie * (1 - 2 * eps)]
    return tuple(found)


def hard_integers(dtype: DType) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(corner values of an integer dtype, those that floats round: ties, and next to them)"""
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    corners = (low, low + 1, high, high - 1, 0, 1, 2, -1, -2, 3, 7, 100)
    hard = [5, 8, -3, -7, 10, 31, 32, 33, 64, 1000]
    for digits in (2, 3, 7, 10, 23, 52):
        for more in (0, 3, 20, 31, 50):
            tie = (1 << (digits + 1 + more)) + (1 << more)
            hard += [tie, tie + 1, -tie - 1]
    return tuple(n for n in corners if low <= n <= high), tuple(n for n in hard if low <= n <= high)
