"""Random arguments for a kernel at any stage: memory for each DEFINE_GLOBAL, values of variables.

Integers that are used as an index, or compared with one, are such that what they address exists;
spans.py finds these. One seed gives the same values for the same argument, whatever else the kernel
has. Runs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np

from core.dtype import DType, PtrDType, dtypes
from core.errors import RunError
from core.runtime.numeric import Array, memory_dtype, to_memory
from core.runtime.reference.spans import Span, index_spans
from core.uop.facts.meaning_arrays import round_array
from core.uop.ops import Ops
from core.uop.pointer import plain_memory_of
from core.uop.uop import UOp

MOST_BYTES: Final = 1 << 28
"""Bytes that all arguments of a kernel may take by default."""
_CORNERS: Final = 0.25
"""The share of elements that are corner values, where some are."""
_PIECE: Final = 1 << 20
"""Elements of an argument that are made at once, so that making it takes little further memory."""


class Values(Enum):
    """Which numbers the arguments hold."""

    EXACT = "exact"
    """Small integers and eighths: most sums and products are exact, whatever their order."""
    PLAIN = "plain"
    """Numbers of any size that is not extreme."""
    CORNERS = "corners"
    """Every fourth one a corner value. Floats: NaN, infinities, zeros of both signs, subnormals,
    the smallest normal numbers, the largest. Integers: the extremes of the dtype, 0, 1 and -1."""
    NORMAL = "normal"
    """Floats of the standard normal distribution. Integers, as for all below that are random: most
    are 0 to 9; every fourth one has any length up to 16 bits, and either sign if it has one."""
    UNIFORM = "uniform"
    """Floats from 0 to 1."""
    UNIT = "unit"
    """Floats from -1 to 1."""
    ZEROS = "zeros"
    ONES = "ones"
    SUBNORMALS = "subnormals"
    """Floats of both signs below the smallest normal number."""
    SPECIALS = "specials"
    """Normal floats, every fourth one an infinity, NaN, or zero of either sign."""


_CONSTANTS: Final[Mapping[Values, int]] = {Values.ZEROS: 0, Values.ONES: 1}
_DRAWN: Final = (Values.NORMAL, Values.UNIFORM, Values.UNIT, Values.SUBNORMALS, Values.SPECIALS)
"""Those whose integers are as NORMAL says."""
_LONG: Final = 0.25
"""The share of their integers that may be longer than 0 to 9."""
_LONGEST: Final = (1 << 16) - 1
"""The largest of these: sums and products of a few do not overflow, as floats either."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Arguments of a kernel: flat memory by the number of its DEFINE_GLOBAL, in the dtype that
    `numeric.memory_dtype` names; and the values of its variables by name."""

    buffers: Mapping[int, Array]
    variables: Mapping[str, int]

    def copied(self) -> dict[int, Array]:
        """The buffers once more, for a run that changes them."""
        return {number: values.copy() for number, values in self.buffers.items()}


def random_inputs(
    *roots: UOp | Sequence[UOp],
    seed: int = 0,
    values: Values = Values.CORNERS,
    variables: Mapping[str, int] | None = None,
    most_bytes: int = MOST_BYTES,
) -> Inputs:
    """Arguments that all of `roots`, states of one kernel, can be run with: SINKs of graphs or
    linear programs. `variables` has the values of those that are not to be random.

    Raises RunError for an argument whose size is not known, for one that two states describe
    differently, for a variable outside of its bounds, and where all arguments together would take
    more than `most_bytes`.
    """
    nodes = [u for root in roots for u in (root.toposort() if isinstance(root, UOp) else root)]
    kinds: dict[int, tuple[DType, int]] = {}
    bounds: dict[str, tuple[int, int]] = {}
    for u in nodes:
        if u.op is Ops.DEFINE_GLOBAL:
            dtype, size = _kind(u)
            before = kinds.setdefault(u.arg, (dtype, size))
            if before[0] is not dtype:
                raise RunError(f"argument {u.arg} is of {before[0]} and of {dtype}",
                               hint="give states of one kernel")  # fmt: skip
            kinds[u.arg] = dtype, max(size, before[1])
        elif u.op is Ops.DEFINE_VAR:
            name, low, high = u.arg
            bounds[name] = low, high
    total = sum(size * memory_dtype(dtype).itemsize for dtype, size in kinds.values())
    if total > most_bytes:
        raise RunError(
            f"the kernel's arguments take {total:,} bytes, of at most {most_bytes:,}",
            hint="check a kernel of smaller shapes",
        )
    spans = index_spans(nodes)
    buffers = {
        number: _memory(
            dtype, size, np.random.default_rng((seed, number)), values, spans.get(number)
        )
        for number, (dtype, size) in sorted(kinds.items())
    }
    return Inputs(buffers, _variables(bounds, variables or {}, seed, values))


def _kind(u: UOp) -> tuple[DType, int]:
    size = u.dtype.size if isinstance(u.dtype, PtrDType) else -1
    if size < 0:
        raise RunError(f"the size of argument {u.arg} is not known", u.origin or "",
                       "give its DEFINE_GLOBAL a size")  # fmt: skip
    return plain_memory_of(u).dtype.base, size


def _variables(
    bounds: Mapping[str, tuple[int, int]], given: Mapping[str, int], seed: int, values: Values
) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, (low, high) in sorted(bounds.items()):
        random = np.random.default_rng((seed, *name.encode()))
        chosen = given.get(name)
        if chosen is None and values is Values.CORNERS:
            chosen = int(random.choice((low, high)))
        elif chosen is None:
            chosen = int(random.integers(low, high, endpoint=True))
        if not low <= chosen <= high:
            raise RunError(f"{name} is {chosen}", hint=f"it is made for {low} to {high}")
        found[name] = chosen
    return found


def _memory(
    dtype: DType, size: int, random: np.random.Generator, values: Values, span: Span | None
) -> Array:
    if size <= _PIECE:
        return _piece(dtype, size, random, values, span)
    made = np.empty(size, memory_dtype(dtype))
    for begin in range(0, size, _PIECE):
        count = min(_PIECE, size - begin)
        made[begin : begin + count] = _piece(dtype, count, random, values, span)
    return made


def _piece(
    dtype: DType, size: int, random: np.random.Generator, values: Values, span: Span | None
) -> Array:
    corners = values is Values.CORNERS
    if dtypes.is_bool(dtype):
        if values in _CONSTANTS:
            return np.full(size, bool(_CONSTANTS[values]))
        return random.integers(0, 2, size).astype(np.bool_)
    if dtypes.is_float(dtype):
        return _floats(dtype, size, random, values)
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    kind = memory_dtype(dtype)
    if values in _CONSTANTS:
        least, most = (low, high) if span is None else (span.low, span.high)
        return np.full(size, min(max(_CONSTANTS[values], least), most), kind)
    if span is not None:
        first, last = max(span.low, low), min(span.high, high)
        found = random.integers(first, last, size, kind, endpoint=True)
        edges = [first, last]
        if not span.strict:
            edges += [low, high, max(first - 1, low), min(last + 1, high)]
    elif values in _DRAWN:
        short = random.integers(0, 10, size).astype(kind)
        bounds = max(-_LONGEST, low), min(_LONGEST, high)
        long = _of_any_length(random, *bounds, min(dtype.bits, _LONGEST.bit_length()), size, kind)
        found = np.where(random.random(size) < _LONG, long, short)
        edges = [0]
    elif values is Values.EXACT:
        found = random.integers(max(-4, low), 9, size).astype(kind)
        edges = [0]
    else:  # of every length in bits
        found = _of_any_length(random, low, high, dtype.bits, size, kind)
        edges = [low, high, 0, 1, max(-1, low), high - 1, min(low + 1, high)]
    return _mixed(found, np.array(edges, kind), random) if corners else found


def _of_any_length(
    random: np.random.Generator, low: int, high: int, bits: int, size: int, kind: np.dtype[Any]
) -> Array:
    """Integers from `low` to `high`, of each length up to `bits` about as many."""
    found = random.integers(low, high, size, kind, endpoint=True)
    found >>= random.integers(0, bits, size).astype(kind)
    return found


def _floats(dtype: DType, size: int, random: np.random.Generator, values: Values) -> Array:
    if values in _CONSTANTS:
        return to_memory(round_array(np.full(size, float(_CONSTANTS[values])), dtype), dtype)
    if values in _DRAWN:
        return to_memory(round_array(_drawn(dtype, size, random, values), dtype), dtype)
    if values is Values.EXACT:
        parts = 8 if dtype.bits >= 32 else 1
        found = np.clip(np.rint(random.standard_normal(size) * parts) / parts, -4, 4)
    else:
        found = random.standard_normal(size) * np.exp2(random.integers(-4, 5, size))
    found = round_array(found, dtype)
    if values is Values.CORNERS:
        found = _mixed(found, round_array(np.array(corner_floats(dtype)), dtype), random)
    return to_memory(found, dtype)


def _drawn(dtype: DType, size: int, random: np.random.Generator, values: Values) -> Array:
    if values is Values.UNIFORM:
        return random.random(size)
    if values is Values.UNIT:
        return random.uniform(-1, 1, size)
    if values is Values.SUBNORMALS:
        return random.uniform(-1, 1, size) * dtypes.finfo(dtype).smallest_normal
    found = random.standard_normal(size)
    special = np.array((math.inf, -math.inf, math.nan, 0.0, -0.0))
    return _mixed(found, special, random) if values is Values.SPECIALS else found


def corner_floats(dtype: DType) -> tuple[float, ...]:
    """The corner values of a float dtype."""
    info = dtypes.finfo(dtype)
    normal, least = info.smallest_normal, info.smallest_normal * info.eps
    positive = (0.0, least, normal - least, normal, 1.0 - info.eps / 2, 1.0, info.max, math.inf)
    return (*positive, *(-x for x in positive), math.nan)


def _mixed(found: Array, corners: Array, random: np.random.Generator) -> Array:
    """Some elements replaced by corner values."""
    chosen = random.random(found.size) < _CORNERS
    return np.where(chosen, random.choice(corners, found.size), found).astype(found.dtype)
