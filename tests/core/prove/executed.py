"""Runs pairs of graphs on chosen and random values, to try what the checker says of them.

A replacement refines what it replaces: where the first is undefined, or leaves its memory, the
second may give anything; elsewhere both have to give the same, whatever a machine leaves where an
op of the second is undefined. Never asks the checker.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from core.dtype import DType, PtrDType, dtypes, truncate
from core.errors import UopvizError
from core.prove.counterexample import Counterexample
from core.uop import Ops, UOp
from core.uop.facts.meaning import UNLESS_NAN, UNLESS_ZERO
from core.uop.kernelinfo import AxisType
from tests.core.prove.interpreter import (
    UNDEFINED,
    Choice,
    Interpreter,
    Memory,
    NoMeaningError,
    OutsideError,
)

LANES: Final = (AxisType.UPCAST, AxisType.UNROLL)
POINTS: Final = 14
"""Values of the inputs that are tried."""
TURNS: Final = 3
"""What a machine may leave where a value is undefined: so many answers are tried."""


@dataclass(frozen=True)
class Found:
    """What came of running a pair: the first point at which the two differ, and how many points
    were tried at which the first has a value."""

    wrong: str | None
    tried: int


class Point:
    """Values of all inputs: of variables, of loops around, and of memory."""

    def __init__(self, seed: int, number: int) -> None:
        self._seed, self.number = seed, number

    def of(self, name: str, dtype: DType, low: Any, high: Any) -> Any:
        """The value of an input."""
        h = zlib.crc32(f"{self._seed} {self.number} {name} {dtype}".encode())
        if dtypes.is_bool(dtype):
            return bool(h & 1)
        kind, pick = self.number % 4, h >> 8
        if dtypes.is_float(dtype):
            return _float(dtype, kind, pick)
        low, high = int(low), int(high)
        ends = [
            v for v in (low, high, 0, 1, -1, 2, low + 1, high - 1, high >> 1) if low <= v <= high
        ]
        if kind == 0:
            return ends[pick % len(ends)]
        if kind == 1 and low <= 0 <= high:
            return max(low, min(high, pick % 9 - (4 if low < 0 else 0)))
        wide = zlib.crc32(f"{h} again".encode()) << 32 | h
        return low + wide % (high - low + 1)

    def initial(self, memory: UOp, at: int) -> Any:
        """What an element of memory holds before anything is written."""
        base = memory.dtype.base.scalar() if isinstance(memory.dtype, PtrDType) else memory.dtype
        low, high = (0, 0) if dtypes.is_float(base) else (dtypes.min(base), dtypes.max(base))
        return self.of(f"{memory.op.name} {memory.arg} {at}", base, low, high)

    def left(self, turn: int) -> Choice:
        """What a machine leaves where a value is undefined: another thing in each turn."""

        def choose(u: UOp, args: tuple[Any, ...]) -> Any:
            dtype = u.dtype.scalar()
            low, high = (0, 0) if dtypes.is_float(dtype) else (dtypes.min(dtype), dtypes.max(dtype))
            return self.of(f"{u.op} {args} {turn}", dtype, low, high)

        return choose


def _float(dtype: DType, kind: int, pick: int) -> float:
    info = dtypes.finfo(dtype)
    corners = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, info.max, -info.max,
               info.smallest_normal, info.smallest_normal * info.eps, 0.5)  # fmt: skip
    if kind == 0:
        return truncate(corners[pick % len(corners)], dtype)
    if kind == 1:
        return float(pick % 17 - 8)
    return truncate((pick % 4096 - 2048) / 37.0 * 2.0 ** (pick // 4096 % 9 - 4), dtype)


def inputs(before: UOp, after: UOp) -> list[UOp]:
    """The variables and free loops of both graphs."""
    nodes = dict.fromkeys((*before.toposort(), *after.toposort()))
    free = before.ranges | after.ranges
    return [u for u in nodes if u.op is Ops.DEFINE_VAR or u in free]


def environment(point: Point, leaves: Sequence[UOp]) -> dict[Any, Any]:
    """The values of the inputs; of loops that are lanes by number, too."""
    env: dict[Any, Any] = {}
    for u in leaves:
        if u.op is Ops.DEFINE_VAR:
            env[u] = point.of(u.arg[0], u.dtype, u.arg[1], u.arg[2])
        else:
            key = u.arg[0] if u.arg[-1] in LANES else u
            env[key] = point.of(f"loop {u.arg[0]}", u.dtype, 0, max(0, u.vmax))
    return env


def points(seed: int, count: int = POINTS) -> Iterator[Point]:
    return (Point(seed, number) for number in range(count))


def executed(before: UOp, after: UOp, seed: int, count: int = POINTS) -> Found:
    """Runs both at some points. Raises NoMeaningError where one of them cannot be run."""
    leaves = inputs(before, after)
    either = signs_open(before) or signs_open(after)
    tried = 0
    for point in points(seed, count):
        env = environment(point, leaves)
        if not _within_loops(leaves, env, point):
            continue
        wrong = differs_at(before, after, env, point, either)
        if wrong is None:
            continue
        tried += 1
        if wrong:
            return Found(f"{wrong} at {shown(env)}", tried)
    return Found(None, tried)


def differs_at(
    before: UOp,
    after: UOp,
    env: dict[Any, Any],
    point: Point,
    either: bool,
) -> str | None:
    """How two graphs differ at a point: "" where they do not, None where nothing is asked."""
    try:
        wanted = outcome(before, env, Memory(point.initial), None)
    except OutsideError:
        return None
    for turn in range(TURNS if is_partial(after) else 1):
        try:
            given = outcome(after, env, Memory(point.initial), point.left(turn))
        except OutsideError:
            return "the second leaves its memory"
        given = _spread(wanted, given, after)
        if before.dtype is not dtypes.void and wanted.keys() != given.keys():
            return f"{len(wanted)} and {len(given)} elements"
        for at in dict.fromkeys((*wanted, *given)):
            x, y = (side[at] if at in side else point.initial(*at) for side in (wanted, given))
            if x is not UNDEFINED and not same(x, y, either):
                return f"{x!r} and {y!r}{'' if at[0] is None else f' in {at[0].arg}[{at[1]}]'}"
    return ""


def _spread(wanted: dict[Any, Any], given: dict[Any, Any], after: UOp) -> dict[Any, Any]:
    """What a graph gives; a scalar stands for all elements of a value."""
    scalar = len(given) == 1 and after.dtype is not dtypes.void and after.shape in (None, ())
    return dict.fromkeys(wanted, *given.values()) if scalar else given


def outcome(u: UOp, env: dict[Any, Any], memory: Memory, choose: Choice | None) -> dict[Any, Any]:
    """What a graph gives: its elements by number, or what it writes by memory and element."""
    run = Interpreter(env, memory, choose)
    if u.dtype is dtypes.void:
        run.run(u)
        return memory.written
    value = run.value(u)
    if hasattr(value, "reshape"):
        value = tuple(value.reshape(-1).tolist())
    elif u.dtype.count == 1:
        value = (value,)
    return {(None, k): x for k, x in enumerate(value)}


def same(x: Any, y: Any, either: bool) -> bool:
    """Equal: NaN is NaN, zeros have signs unless they are open."""
    if x is UNDEFINED or y is UNDEFINED:
        return x is y
    if isinstance(x, float) and isinstance(y, float):
        if x != x or y != y:
            return x != x and y != y
        return x == y and (either or bool(x) or math.copysign(1, x) == math.copysign(1, y))
    return x == y and isinstance(x, bool) == isinstance(y, bool)


def is_partial(u: UOp) -> bool:
    """Whether an op of a graph may be undefined."""
    return any(
        n.op in (Ops.LENGTH, Ops.BITCAST)
        or n.arg in (UNLESS_ZERO, UNLESS_NAN)
        or (n.op is Ops.INDEX and dtypes.is_bool(n.src[-1].dtype.scalar()))
        for n in u.toposort()
    )


def signs_open(u: UOp) -> bool:
    """Whether which zero a graph gives is left open: of a MAX, and of a sum or product of many."""
    return any(
        n.op in (Ops.MAX, Ops.REDUCE, Ops.REDUCE_AXIS) and dtypes.is_float(n.dtype.scalar())
        for n in u.toposort()
    )


def shown(env: dict[Any, Any]) -> str:
    return ", ".join(f"{u.op.name} {u.arg} = {v!r}" for u, v in env.items() if isinstance(u, UOp))


def _within_loops(leaves: Sequence[UOp], env: dict[Any, Any], point: Point) -> bool:
    """Whether the loops around are in an iteration that they have."""
    for r in leaves:
        if r in env and r.op is Ops.RANGE:
            length = Interpreter(env, Memory(point.initial)).value(r.src[0])
            if isinstance(length, np.ndarray):
                raise NoMeaningError("a loop of no length")
            if length is UNDEFINED or not env[r] < length:
                return False
    return True


Problem = (UopvizError, NoMeaningError)


class Given:
    """The values of an answer that says "differs", as a `Point` gives those of its own."""

    def __init__(self, found: Counterexample) -> None:
        self._found = found

    def environment(self, leaves: Sequence[UOp]) -> dict[Any, Any]:
        """The values of the inputs."""
        return {u: self._found.value(u) for u in leaves}

    def initial(self, memory: UOp, at: int) -> Any:
        """What an element of memory holds before anything is written."""
        return self._found.element(memory, memory.dtype.base.scalar(), at)

    def left(self, turn: int) -> Choice:
        """What a machine leaves where a value is undefined."""

        def choose(u: UOp, args: tuple[Any, ...]) -> Any:
            key, dtype = u, u.dtype.scalar()
            given = [(dtypes.int64, a) for a in args]
            if u.op is Ops.LENGTH:
                given = [(dtypes.int64, int(np.ravel_multi_index(args, u.shaped)))]
            elif u.op is not Ops.INDEX:
                key = u.op, u.arg
                given = [(s.dtype.scalar(), a) for s, a in zip(u.src, args, strict=True)]
            return self._found.undefined(key, dtype, given)

        return choose


def differs_as_said(before: UOp, after: UOp, found: Counterexample) -> bool:
    """Whether two graphs differ for the values of an answer that says so: in some of the lanes, of
    loops that are lanes; of writes, in which ones there are. Raises NoMeaningError where one of
    them cannot be run, and where the order of a sum decides which zero it gives."""
    if any(u.op is Ops.AFTER for side in (before, after) for u in side.toposort()):
        raise NoMeaningError("memory after other work")
    point, leaves = Given(found), inputs(before, after)
    lanes = [u for u in leaves if u.op is Ops.RANGE and u.arg[-1] in LANES]
    env = point.environment([u for u in leaves if u not in lanes])
    if (
        any(r.src[0].op is not Ops.CONST for r in lanes)
        or prod(int(r.vmax) + 1 for r in lanes) > 64
    ):
        raise NoMeaningError("too many lanes")
    only_signs = False
    for at in product(*(range(int(r.vmax) + 1) for r in lanes)):
        here = env | {r.arg[0]: k for r, k in zip(lanes, at, strict=True)}
        memories = Memory(point.initial), Memory(point.initial)
        try:
            wanted = _settled(before, here, point, memories[0])
        except OutsideError as error:
            looped = any(u.op in (Ops.REDUCE, Ops.REDUCE_AXIS) for u in before.toposort())
            if before.dtype is dtypes.void or looped:
                raise NoMeaningError("another iteration leaves memory") from error
            continue
        try:
            given = outcome(after, here, memories[1], point.left(0))
        except OutsideError:
            return True
        given = _spread(wanted, given, after)
        if memories[0].log != memories[1].log or wanted.keys() != given.keys():
            return True
        pairs = [(x, given[at]) for at, x in wanted.items() if x is not UNDEFINED]
        if any(not same(x, y, True) for x, y in pairs):
            return True
        only_signs |= any(not same(x, y, False) for x, y in pairs)
    if only_signs and (signs_open(before) or signs_open(after)):
        raise NoMeaningError("which zero it is")
    return only_signs


def _settled(u: UOp, env: dict[Any, Any], point: Given, memory: Memory) -> dict[Any, Any]:
    """What a graph gives, also where something that is undefined has no effect on it."""
    wanted = outcome(u, env, memory, None)
    if UNDEFINED in wanted.values():
        more = [outcome(u, env, Memory(point.initial), Point(0, k).left(k)) for k in range(12)]
        for at in wanted:
            if all(same(m[at], more[0][at], False) for m in more):
                wanted[at] = more[0][at]
    return wanted
