"""What a graph computes: a direct interpreter on Python numbers, one value at a time.

It follows docs/semantics.md and takes what an op computes from `core.uop.facts.meaning.evaluate`.
It shares nothing with `core/prove` (no terms, no samples, no translation), so that what is proved
there can be tried here. A value that is undefined is `UNDEFINED`, or, for a replacement, what
`choose` says that a machine leaves there. Slow, and small enough to be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, Final

import numpy as np

from core.dtype import DType, PtrDType, dtypes, truncate
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning import UNLESS_NAN, UNLESS_ZERO, evaluate
from core.uop.kernelinfo import AxisType

Env = Mapping[Any, Any]
"""Values of variables by node, of loops by node, and of loops that are lanes by their number."""
Choice = Callable[[UOp, tuple[Any, ...]], Any]
"""What a machine leaves as the value of a node, by what it is made of."""
Shaped = np.ndarray[Any, np.dtype[np.object_]]

MAX_ITERATIONS: Final = 4096
_SAME: Final = frozenset({
    Ops.NOOP, Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.FUSE, Ops.DETACH, Ops.DERIVATIVE,
    Ops.COPY,
})  # fmt: skip
_LANES: Final = (AxisType.UPCAST, AxisType.UNROLL)
_MEMORIES: Final = GroupOp.Defines | {Ops.BUFFER}


class NoMeaningError(Exception):
    """A node that the interpreter does not know."""


class OutsideError(Exception):
    """An access outside of memory: anything may happen."""


class _Undefined:
    """The one value that is undefined."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = _Undefined()


class Memory:
    """What memory holds: `initial` of what nobody has written. Keeps what was written."""

    def __init__(self, initial: Callable[[UOp, int], Any]) -> None:
        self._initial = initial
        self.written: dict[tuple[UOp, int], Any] = {}
        self.log: list[tuple[UOp, int, Any]] = []
        """All that was written, in order."""

    def read(self, memory: UOp, at: int, dtype: DType) -> Any:
        self._check(memory, at)
        value = self.written.get((memory, at))
        value = self._initial(memory, at) if value is None else value
        base = memory.dtype.base.scalar() if isinstance(memory.dtype, PtrDType) else memory.dtype
        if base == dtype:
            return value
        if dtypes.is_bool(base) and dtype is dtypes.uint8:
            return int(value)
        raise NoMeaningError(f"{base} in memory, read as {dtype}")

    def write(self, memory: UOp, at: int, value: Any, dtype: DType) -> None:
        self._check(memory, at)
        base = memory.dtype.base.scalar() if isinstance(memory.dtype, PtrDType) else memory.dtype
        if dtypes.is_bool(base) and dtype is dtypes.uint8:
            value = bool(value)
        elif base != dtype:
            raise NoMeaningError(f"{dtype} is written to memory of {base}")
        self.written[memory, at] = value
        self.log.append((memory, at, repr(value)))

    def _check(self, memory: UOp, at: int) -> None:
        size = memory.dtype.size if isinstance(memory.dtype, PtrDType) else memory.size
        if at < 0 or 0 <= size <= at:
            raise OutsideError


class Interpreter:
    """Runs graphs with the variables `env` on `memory`. `choose`: what a machine gives where the
    value of an op is undefined; without it, all that is made of such a value is `UNDEFINED`."""

    def __init__(self, env: Env, memory: Memory, choose: Choice | None = None) -> None:
        self._env, self._memory, self._choose = env, memory, choose
        self._done: set[tuple[Any, ...]] = set()
        self._iterations = 0

    def value(self, u: UOp) -> Any:
        """The value of a node: a number, a tuple of the elements of a vector, an array of a shaped
        value."""
        if _is_shaped(u):
            return _Evaluation(self, self._env).array(u)
        lanes = _Evaluation(self, self._env).lanes(u)
        return lanes if u.dtype.count > 1 else lanes[0]

    def run(self, u: UOp) -> None:
        """What a void node does to memory."""
        self._run(u, self._env)

    def _run(self, u: UOp, env: Env, waited: bool = False) -> None:
        """What is waited for happens once for the loops that it is in, all else in each iteration
        of those that end around it."""
        loops = sorted(u.ranges, key=lambda r: r.arg[0])
        own = (u, *(env.get(r, env.get(r.arg[0])) for r in loops))
        full = (u, "in", frozenset(env.items()))
        if (own if waited else full) in self._done:
            return
        self._done |= {own, full}
        match u.op:
            case Ops.SINK | Ops.GROUP:
                for s in u.src:
                    self._run(s, env)
            case Ops.END:
                self._ended(u, env)
            case Ops.STORE:
                self._store(u, env)
            case _:
                raise NoMeaningError(u.op.name)

    def _ended(self, u: UOp, env: Env) -> None:
        body, *loops = u.src
        loops = [r for r in loops if r.op is not Ops.CONST]
        loops.sort(key=lambda r: (r.arg[-1] is not AxisType.THREAD, r.arg[0]))
        for waits in _waited_for(body):  # what happens before the loops happens once
            if waits.ranges.isdisjoint(loops):
                self._run(waits, env, waited=True)
        for at in iterations(self, loops, env):
            self._run(body, at)

    def _store(self, u: UOp, env: Env) -> None:
        for waits in _waited_for(u):
            self._run(waits, env, waited=True)
        now = _Evaluation(self, env)
        value = u.src[1]
        if u.src[0].op is Ops.VIEW:
            self._store_shaped(u, now)
            return
        stored = now.lanes(value)
        places = now.places(u.src[0], len(stored))
        gates = now.lanes(u.src[2]) if len(u.src) > 2 else (True,)
        for k, (memory, at, gate) in enumerate(places):
            if gate and gates[k % len(gates)]:
                self._memory.write(memory, at, stored[k], value.dtype.scalar())

    def _store_shaped(self, u: UOp, now: _Evaluation) -> None:
        place, value = u.src[:2]
        values = now.array(value)
        shape = place.shaped
        for at in np.ndindex(*shape):
            flat, valid = place.arg.index(list(at))
            if valid:
                self._memory.write(place.src[0], flat, values[at], value.dtype.scalar())

    def count(self) -> None:
        """One more iteration."""
        self._iterations += 1
        if self._iterations > MAX_ITERATIONS:
            raise NoMeaningError("too many iterations")

    def length(self, r: UOp, env: Env) -> int:
        """The iterations of a loop."""
        return int(_Evaluation(self, env).lanes(r.src[0])[0])

    def read(self, memory: UOp, at: int, dtype: DType) -> Any:
        return self._memory.read(memory, at, dtype)

    def waited(self, waits: Sequence[UOp], env: Env) -> None:
        for w in waits:
            self._run(w, env, waited=True)

    @property
    def leaves_open(self) -> bool:
        """Whether what is undefined stays so."""
        return self._choose is None

    def undefined(self, u: UOp, args: tuple[Any, ...]) -> Any:
        return UNDEFINED if self._choose is None else self._choose(u, args)


def iterations(run: Interpreter, loops: Sequence[UOp], env: Env) -> Iterator[Env]:
    """The environments of a nest of loops, the outermost first."""
    if not loops:
        yield env
        return
    r, *rest = loops
    if r.op is Ops.CONST:  # what has become a constant is one iteration
        yield from iterations(run, rest, env)
        return
    if r.op is not Ops.RANGE:
        raise NoMeaningError("a loop that is none")
    for k in range(run.length(r, env)):
        run.count()
        key = r.arg[0] if r.arg[-1] in _LANES else r
        yield from iterations(run, rest, {**env, key: k})


class _Evaluation:
    """Values at one moment, in one iteration of the loops around."""

    def __init__(self, run: Interpreter, env: Env) -> None:
        self._run, self._env = run, env
        self._known: dict[UOp, tuple[Any, ...]] = {}
        self._arrays: dict[UOp, Shaped] = {}

    def lanes(self, u: UOp) -> tuple[Any, ...]:
        """The elements of a node without a shape."""
        found = self._known.get(u)
        if found is None:
            found = self._known[u] = self._lanes(u)
        return found

    def at(self, extra: Env) -> _Evaluation:
        return _Evaluation(self._run, {**self._env, **extra})

    def _lanes(self, u: UOp) -> tuple[Any, ...]:
        if _is_shaped(u):
            raise NoMeaningError("a value of a shape in the place of a scalar")
        if u in self._env:
            value = self._env[u]
            return value if u.dtype.count > 1 else (value,)
        match u.op:
            case Ops.CONST:
                return (u.arg,) * u.dtype.count
            case Ops.VCONST:
                return u.arg
            case Ops.RANGE if u.arg[-1] in _LANES and u.src[0].op is not Ops.CONST:
                raise NoMeaningError("lanes of a number that is not known")
            case Ops.RANGE if u.arg[-1] in _LANES and u.arg[0] in self._env:
                return (self._env[u.arg[0]],)
            case Ops.BIND:
                return self.lanes(u.src[1])
            case Ops.VECTORIZE:
                return tuple(x for s in u.src for x in self.lanes(s))
            case Ops.GEP:
                lanes = self.lanes(u.src[0])
                return tuple(lanes[k] for k in u.arg)
            case Ops.UNROLL:
                return self._unrolled(u)
            case Ops.CONTRACT:
                spread = product(*(range(n) for _, n in u.arg))
                numbers = [number for number, _ in u.arg]
                points = [dict(zip(numbers, at, strict=True)) for at in spread]
                return tuple(x for point in points for x in self.at(point).lanes(u.src[0]))
            case Ops.REDUCE:
                return self._reduced(u)
            case Ops.INDEX if not isinstance(u.src[0].dtype, PtrDType):
                return (self._element(u),)
            case Ops.LOAD:
                return self._loaded(u)
            case Ops.AFTER:
                self._run.waited(u.src[1:], self._env)
                return self.lanes(u.src[0])
            case Ops.NOOP:
                return self.lanes(u.src[0])
            case _:
                pass
        if u.op not in GroupOp.Elementwise:
            raise NoMeaningError(u.op.name)
        operands = [self.lanes(s) for s in u.src]
        if any(len(x) != u.dtype.count for x in operands):
            raise NoMeaningError("vectors of several lengths")
        return tuple(self.computed(u, args) for args in zip(*operands, strict=True))

    def computed(self, u: UOp, args: tuple[Any, ...]) -> Any:
        """An op on numbers."""
        if u.op is Ops.WHERE and args[0] is not UNDEFINED:
            return args[1] if args[0] else args[2]
        if any(a is UNDEFINED for a in args):
            return UNDEFINED
        broken = (u.arg == UNLESS_ZERO and args[1] == 0) or (
            u.arg == UNLESS_NAN and args[0] != args[0]
        )
        if broken:
            return self._run.undefined(u, args)
        if u.op is Ops.BITCAST and args[0] != args[0] and self._run.leaves_open:
            return UNDEFINED  # a NaN has any of its bits
        if u.arg not in (None, UNLESS_ZERO, UNLESS_NAN):
            raise NoMeaningError(f"the argument {u.arg!r}")
        return computed(u.op, u.dtype.scalar(), args, u.src[-1 if u.op is Ops.WHERE else 0].dtype)

    def _unrolled(self, u: UOp) -> tuple[Any, ...]:
        size, lane = 1, 0
        for number, n in u.arg:
            if number not in self._env:
                raise NoMeaningError("an UNROLL of a loop that is not known here")
            size, lane = size * n, lane * n + self._env[number]
        return self.lanes(u.src[0])[lane::size]

    def _reduced(self, u: UOp) -> tuple[Any, ...]:
        count, parts = u.dtype.count, list[Any]()
        self._hoist(u.src[0], frozenset(u.src[1:]))
        for env in iterations(self._run, list(u.src[1:]), self._env):
            parts += _Evaluation(self._run, env).lanes(u.src[0])
        lanes = all(r.op is Ops.RANGE and r.arg[-1] in _LANES for r in u.src[1:])
        combine = _in_order if lanes else combined
        return tuple(combine(u.arg, u.dtype.scalar(), parts[j::count]) for j in range(count))

    def _hoist(self, body: UOp, loops: frozenset[UOp]) -> None:
        """Reads what is in none of some loops: that happens once, also if they take no
        iteration."""
        for n in body.toposort(lambda n: n.op is not Ops.AFTER):
            if n.op is Ops.LOAD and n.src[0].op is Ops.INDEX and n.ranges.isdisjoint(loops):
                inner = {*n.ranges} - {*self._env}
                if not any(r.arg[-1] not in _LANES or r.arg[0] not in self._env for r in inner):
                    self.lanes(n)

    def _loaded(self, u: UOp) -> tuple[Any, ...]:
        place, *rest = u.src
        if place.op is Ops.VIEW or not isinstance(place.dtype, PtrDType):
            raise NoMeaningError("a LOAD of a whole value")
        scalar, count = u.dtype.scalar(), u.dtype.count
        others = self.lanes(rest[0]) if rest else (truncate(0, scalar),) * count
        gates = self.lanes(rest[1]) if len(rest) > 1 else (True,)
        made: list[Any] = []
        for k, (memory, at, gate) in enumerate(self.places(place, count)):
            open_ = gate and gates[k % len(gates)]
            made.append(self._run.read(memory, at, scalar) if open_ else others[k])
        return tuple(made)

    def places(self, u: UOp, count: int) -> list[tuple[UOp, int, bool]]:
        """The memory, the element and the gate of each of `count` elements at an address."""
        base = self._addresses(u)
        if count % len(base):
            raise NoMeaningError("a vector at another number of addresses")
        if any(at is UNDEFINED or gate is UNDEFINED for _, at, gate in base):
            raise OutsideError
        vector = u.op is Ops.INDEX and len(u.src) > 1 and u.src[1].dtype.count > 1
        made: list[tuple[UOp, int, bool]] = []
        for k in range(count):
            memory, at, gate = base[k % len(base)]
            made.append((memory, at + (k // len(base) if vector else k), gate))
        return made

    def _addresses(self, u: UOp) -> list[tuple[UOp, Any, Any]]:
        if u.op in _MEMORIES:
            return [(u, 0, True)]
        if u.op is Ops.AFTER:
            self._run.waited(u.src[1:], self._env)
            return self._addresses(u.src[0])
        if u.op is not Ops.INDEX:
            raise NoMeaningError(f"an address that is a {u.op.name}")
        ((memory, start, held),) = self._addresses(u.src[0])
        indices = list(u.src[1:])
        gates: tuple[Any, ...] = (True,)
        offsets: tuple[Any, ...] = (0,)
        if indices and dtypes.is_bool(indices[-1].dtype.scalar()):
            gates = self.lanes(indices.pop())
        if indices:
            offsets = self.lanes(indices[0])
        many = max(len(offsets), len(gates))
        found: list[tuple[UOp, Any, Any]] = []
        for k in range(many):
            offset, gate = offsets[k % len(offsets)], gates[k % len(gates)]
            open_ = offset is UNDEFINED or start is UNDEFINED
            both = UNDEFINED if gate is UNDEFINED or held is UNDEFINED else gate and held
            found.append((memory, UNDEFINED if open_ else start + offset, both))
        return found

    # shaped values

    def _element(self, u: UOp) -> Any:
        """An INDEX of a value."""
        value, *indices = u.src
        gate = True
        if indices and dtypes.is_bool(indices[-1].dtype.scalar()):
            (gate,) = self.lanes(indices.pop())
        at = tuple(self.lanes(i)[0] for i in indices)
        if gate is UNDEFINED or UNDEFINED in at:
            raise OutsideError
        if not gate:
            return self._run.undefined(u, at)
        if not _is_shaped(value):
            return self.lanes(value)[0]
        array = self.array(value)
        if any(not 0 <= i < n for i, n in zip(at, array.shape, strict=True)):
            raise OutsideError
        return array[at]

    def array(self, u: UOp) -> Shaped:
        """All elements of a shaped value."""
        found = self._arrays.get(u)
        if found is None:
            found = self._arrays[u] = self._array(u)
        return found

    def _array(self, u: UOp) -> Shaped:
        if not _is_shaped(u):
            return _full((), self.lanes(u)[0])
        if u in self._env:
            return self._env[u]
        shape, op = u.shaped, u.op
        if u.size > MAX_ITERATIONS:
            raise NoMeaningError("too many elements")
        if op in GroupOp.Elementwise:
            args = [self.array(s) if _is_shaped(s) else _full(shape, self.array(s)[()])
                    for s in u.src]  # fmt: skip
            made = _full(shape, None)
            for at in np.ndindex(*shape):
                made[at] = self.computed(u, tuple(a[at] for a in args))
            return made
        if op in _SAME:
            return self.array(u.src[0])
        if op in GroupOp.Movement:
            return _moved(op, u.arg, self.array(u.src[0]), shape, u.dtype)
        match op:
            case Ops.VIEW | Ops.LOAD:
                return self._viewed(u)
            case Ops.REDUCE_AXIS:
                return self._reduced_axes(u)
            case Ops.LENGTH:
                (n,) = self.lanes(u.src[1])
                made = self.array(u.src[0]).copy()
                for at in np.ndindex(*shape):
                    if at[u.arg] >= n:
                        made[at] = self._run.undefined(u, at)
                return made
            case Ops.IOTA:
                made = _full(shape, 0)
                made[:] = range(u.arg)
                return made
            case Ops.BUFFER:
                made = _full(shape, 0)
                for (at,) in np.ndindex(*shape):
                    made[at] = self._run.read(u, at, u.dtype.scalar())
                return made
            case _:
                raise NoMeaningError(op.name)

    def _viewed(self, u: UOp) -> Shaped:
        place = u if u.op is Ops.VIEW else u.src[0]
        memory = isinstance(place.dtype, PtrDType)
        made = _full(u.shaped, truncate(0, u.dtype.scalar()))
        if memory and place.op in _MEMORIES:
            for at in range(made.size):
                made.reshape(-1)[at] = self._run.read(place, at, u.dtype.scalar())
            return made
        if place.op is not Ops.VIEW:
            raise NoMeaningError("a LOAD of no view")
        flat = None if memory else self.array(place.src[0]).reshape(-1)
        for at in np.ndindex(*u.shaped):
            element, valid = place.arg.index(list(at))
            if not valid:
                continue
            if flat is None:
                made[at] = self._run.read(place.src[0], element, u.dtype.scalar())
            else:
                element = element if _is_shaped(place.src[0]) else 0
                if not 0 <= element < flat.size:
                    raise NoMeaningError("a view of what is not there")
                made[at] = flat[element]
        return made

    def _reduced_axes(self, u: UOp) -> Shaped:
        op, axes = u.arg
        values = self.array(u.src[0])
        lengths = {axis: self.lanes(n)[0] for axis, n in u.src[0].lengths}
        parts: dict[tuple[int, ...], list[Any]] = {at: [] for at in np.ndindex(*u.shaped)}
        for at in np.ndindex(*values.shape):
            if all(at[axis] < n for axis, n in lengths.items() if axis in axes):
                parts[tuple(0 if k in axes else i for k, i in enumerate(at))].append(values[at])
        made = _full(u.shaped, None)
        for at, found in parts.items():
            made[at] = combined(op, u.dtype.scalar(), found)
        return made


def computed(op: Ops, dtype: DType, args: Sequence[Any], source: DType) -> Any:
    """An op on numbers; of two zeros of both signs, MAX takes 0.0."""
    if op is Ops.MAX and dtypes.is_float(dtype) and args[0] == args[1] == 0:
        return args[0] if math.copysign(1, args[0]) > 0 else args[1]
    return evaluate(op, dtype, args, source)


def combined(op: Ops, dtype: DType, values: Sequence[Any]) -> Any:
    """The values combined, of none the neutral element. Floats are added and multiplied exactly and
    rounded once: the order is left open, and so is which zero it gives (0.0 here)."""
    if any(v is UNDEFINED for v in values):
        return UNDEFINED
    nothing = {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dtypes.min(dtype)}[op]
    if len(values) == 1:
        return values[0]
    if dtypes.is_float(dtype) and op is not Ops.MAX:
        return _combined_exactly(op, dtype, values)
    made = truncate(nothing, dtype)
    for v in values:
        made = computed(op, dtype, (made, v), dtype)
    return made


def _in_order(op: Ops, dtype: DType, values: Sequence[Any]) -> Any:
    """The values of lanes combined, each step rounded."""
    made = values[0] if values else combined(op, dtype, ())
    for v in values[1:]:
        undefined = made is UNDEFINED or v is UNDEFINED
        made = UNDEFINED if undefined else computed(op, dtype, (made, v), dtype)
    return made


def _combined_exactly(op: Ops, dtype: DType, values: Sequence[float]) -> float:
    if not all(map(math.isfinite, values)):
        made = float(op is Ops.MUL)
        for v in values:
            made = made + v if op is Ops.ADD else made * v
        return made
    exact = Fraction(int(op is Ops.MUL))
    for v in values:
        exact = exact + Fraction(v) if op is Ops.ADD else exact * Fraction(v)
    try:
        return truncate(float(exact), dtype) + 0.0
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _waited_for(u: UOp) -> list[UOp]:
    """What the AFTERs of a statement wait for, the first ones first."""
    return [w for n in u.toposort() if n.op is Ops.AFTER for w in n.src[1:]]


def _is_shaped(u: UOp) -> bool:
    if isinstance(u.dtype, PtrDType) or u.op is Ops.INDEX:
        return False
    return u.shape not in (None, ())


def _full(shape: Sequence[int], value: Any) -> Shaped:
    made = np.empty(tuple(shape), np.object_)
    made.fill(value)
    return made


def _moved(op: Ops, arg: Any, a: Shaped, shape: Sequence[int], dtype: DType) -> Shaped:
    match op:
        case Ops.RESHAPE:
            return a.reshape(tuple(shape))
        case Ops.PERMUTE:
            return a.transpose(arg)
        case Ops.EXPAND:
            return np.broadcast_to(a, tuple(shape))
        case Ops.SHRINK:
            return a[tuple(slice(begin, end) for begin, end in arg)]
        case Ops.FLIP:
            return a[tuple(slice(None, None, -1 if f else 1) for f in arg)]
        case _:
            made = _full(shape, truncate(0, dtype.scalar()))
            inner = tuple(slice(begin, begin + n)
                          for (begin, _), n in zip(arg, a.shape, strict=True))  # fmt: skip
            made[inner] = a
            return made
