"""Evaluates a kernel in the order of its plan, each node on arrays over all axes at once.

What an op computes is in `core/uop/facts/meaning_arrays.py`. Accesses to memory are checked against
its size. Barriers and waits for copies happen by themselves: a node is evaluated for all threads
before the next one is, and stores are not late. Knows no target and no pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from core.dtype import PtrDType, dtypes
from core.errors import RunError
from core.runtime.numeric import Array
from core.runtime.reference.evaluate.addresses import Address, address_of, aliases, memory_of
from core.runtime.reference.evaluate.axes import Role
from core.runtime.reference.evaluate.memories import Memories
from core.runtime.reference.evaluate.memory import Owners
from core.runtime.reference.evaluate.order import Do
from core.runtime.reference.evaluate.plan import Piece, Plan
from core.runtime.reference.evaluate.shaped import evaluate_shaped, store_shaped
from core.runtime.reference.evaluate.vectors import (
    as_bits,
    combined,
    contract,
    fold,
    unroll,
    vectorize,
)
from core.runtime.reference.evaluate.warps import Threads
from core.tensor_cores import TensorCore
from core.uop.facts.meaning import UNLESS_NAN, UNLESS_ZERO
from core.uop.facts.meaning_arrays import evaluate_arrays, numpy_dtype, round_array
from core.uop.ops import GroupOp, Ops
from core.uop.spec.ldmatrix import LANES, ROW
from core.uop.uop import UOp

Buffers = Mapping[int, Array] | Sequence[Array]
_consts: Final = frozenset({Ops.CONST, Ops.VCONST})


class Machine:
    """A piece of a kernel. A value is an array with the axes of the plan and, last, elements."""

    def __init__(
        self,
        plan: Plan,
        piece: Piece,
        buffers: Buffers,
        variables: Mapping[str, int],
        owners: Mapping[UOp, Owners],
    ) -> None:
        self.plan, self.piece = plan, piece
        self.buffers, self.variables, self.owners = buffers, variables, owners
        self.lengths = tuple(end - first for first, end in piece)
        self.ones = (1,) * len(piece)
        self.threads = Threads(plan.axes.with_role(Role.THREAD), self.lengths)
        self.values: dict[UOp, Array] = {}
        self.memories = Memories(plan, piece, buffers, owners, self.of, self.described)
        self.masks: list[Array] = [np.ones((*self.ones, 1), np.bool_)]
        self.loops: list[tuple[int, UOp, int]] = []
        """Of the loops in sequence that are open: where in the order, which, which iteration."""
        self.partial: dict[UOp, Array] = {}
        self.at = 0

    def run(self) -> None:
        """Runs to the end."""
        while self.at < len(self.plan.order):
            what, u = self.plan.order[self.at]
            self.at += 1
            if what is Do.EVALUATE:
                self.evaluate(u)
            else:
                _steps[what](self, u)

    def evaluate(self, u: UOp) -> None:
        """One node."""
        if u in self.plan.shaped:
            self.values[u] = evaluate_shaped(u, self.shaped, self.buffers, self.variables)
        elif u.op in GroupOp.Elementwise:
            self.values[u] = self.elementwise(u)
        elif u.op not in _nothing:
            handler = _handlers.get(u.op)
            if handler is None:
                raise RunError(
                    f"{u.op.name} cannot be evaluated",
                    self.described(u),
                    "it has no meaning in a kernel",
                )
            handler(self, u)

    def described(self, u: UOp, point: Sequence[int] = ()) -> str:
        """A node and the iteration in which something happened, for messages."""
        number = self.plan.number[u]
        shown = f"u{number} = {u.op.name}  {u.dtype}" + (f"  {u.origin}" if u.origin else "")
        if not point:
            return shown
        named: list[str] = []
        for axis, at, (first, _) in zip(self.plan.axes.all, point, self.piece, strict=False):
            named.append(f"{axis.name} = {at + first}")
        named += [f"loop {u.arg[0]} = {count}" for _, u, count in self.loops]
        return f"{shown}\n{', '.join(named) or 'the only iteration'}"

    # values

    def of(self, u: UOp) -> Array:
        """The value of a node."""
        while u.op in aliases:
            u = u.src[0]
        if u.op in _consts and u not in self.values:
            count = max(1, u.dtype.count)
            value = np.full((*self.ones, count), u.arg, numpy_dtype(u.dtype))
            self.values[u] = value
        return self.values[u]

    def shaped(self, u: UOp) -> Array:
        """The value of a node as one of a shape: of a node without one, it is a scalar."""
        return self.values[u] if u in self.plan.shaped else self.of(u).reshape(())

    def elementwise(self, u: UOp) -> Array:
        """An ALU op, CAST or BITCAST."""
        if u.op is Ops.BITCAST and u.dtype.count != u.src[0].dtype.count:
            return as_bits(self.of(u.src[0]), u.src[0].dtype, u.dtype)
        sources = [self.of(s) for s in u.src]
        found = evaluate_arrays(u.op, u.dtype, sources, u.src[-1].dtype)
        return found if u.arg is None else _where_promised(u, sources, found)

    def vectorize(self, u: UOp) -> None:
        self.values[u] = vectorize([self.of(s) for s in u.src])

    def gep(self, u: UOp) -> None:
        self.values[u] = self.of(u.src[0])[..., list(u.arg)]

    def _lanes(self, u: UOp) -> list[tuple[int, int]]:
        position = self.plan.axes.position
        return [(position[number, size], size) for number, size in u.arg]

    def unroll(self, u: UOp) -> None:
        if u.dtype is not dtypes.void and not isinstance(u.dtype, PtrDType):
            self.values[u] = unroll(self.of(u.src[0]), self._lanes(u))

    def contract(self, u: UOp) -> None:
        if u.dtype is not dtypes.void:
            self.values[u] = contract(self.of(u.src[0]), self._lanes(u))

    def index(self, u: UOp) -> None:
        """An element of a shaped value; an address has no value."""
        value, *indices = u.src
        if isinstance(u.dtype, PtrDType):
            return
        if value not in self.plan.shaped:
            self.values[u] = self.of(value)
            return
        gate = self.masks[-1]
        if indices and dtypes.is_bool(indices[-1].dtype):
            gate = self.of(indices.pop())
        held = np.broadcast_to(self.values[value], value.shaped)
        places: list[Array] = []
        for i, size in zip(indices, value.shaped, strict=True):
            at = self.of(i).astype(np.int64)
            self.memories.check(u, at, 1, size, gate)
            places.append(np.where(gate, at, 0))
        found = held[tuple(places)]
        self.values[u] = found if places else found.reshape(*self.ones, 1)

    def counter(self, u: UOp) -> None:
        """A RANGE or SPECIAL that is an axis."""
        at = self.plan.axes.of(u)
        assert at is not None, "what is no axis runs in sequence"
        first, end = self.piece[at]
        shape = [end - first if i == at else 1 for i in range(len(self.ones))]
        self.values[u] = np.arange(first, end, dtype=numpy_dtype(u.dtype)).reshape(*shape, 1)

    def variable(self, u: UOp) -> None:
        if u.arg[0] not in self.variables:
            raise RunError(
                f"the program needs a value for {u.arg[0]}", self.described(u), "bind it"
            )
        self.values[u] = np.full((*self.ones, 1), self.variables[u.arg[0]], numpy_dtype(u.dtype))

    def bind(self, u: UOp) -> None:
        self.values[u] = self.of(u.src[1])

    def reduce(self, u: UOp) -> None:
        if u in self.partial:
            self.values[u] = round_array(self.partial.pop(u), u.dtype)
            return
        axes = sorted(frozenset().union(*(self.plan.spans[s] for s in u.src[1:])))
        over = [(at, self.lengths[at]) for at in axes]
        self.values[u] = fold(u.arg, self.of(u.src[0]), over, u.dtype)

    # warps

    def active(self) -> Array:
        """Where threads take part."""
        return self.masks[-1]

    def shuffle(self, u: UOp) -> None:
        found = self.threads.shuffle(self.of(u.src[0]), u.arg, self.described(u), self.active())
        self.values[u] = found

    def matrices(self, u: UOp) -> None:
        count, transposed = u.arg
        address = address_of(u.src[0])
        base = memory_of(u.src[0]).dtype.base
        self.threads.whole_warps(LANES, "LDMATRIX", self.described(u), self.active())
        rows = self.memories.read(u, address, base.vec(ROW), self._gate(address))
        found = self.threads.matrices(rows, count, transposed)
        same = u.dtype.scalar() is base
        self.values[u] = found if same else as_bits(found, base, u.dtype)

    def multiply(self, u: UOp) -> None:
        """A WMMA. Before its loops became vectors, they are its last sources."""
        core: TensorCore = u.arg
        self.threads.whole_warps(core.threads, str(core), self.described(u), self.active())
        operands = [self.of(s) for s in u.src]
        result: list[tuple[int, int]] | None = None
        if len(u.src) == 2 or u.src[2].op is Ops.RANGE:
            operands, result = self._operands(u, core)
        kinds = (core.dtype_in, core.dtype_in, core.dtype_out)
        held = [
            value if s.dtype.scalar() is kind else as_bits(value, s.dtype, kind)
            for value, s, kind in zip(operands, (*u.src[:2], u), kinds, strict=True)
        ]
        found = self.threads.multiply(core, held)
        out = core.dtype_out
        found = found if u.dtype.scalar() is out else as_bits(found, out, u.dtype)
        self.values[u] = found if result is None else unroll(found, result)

    def _operands(self, u: UOp, core: TensorCore) -> tuple[list[Array], list[tuple[int, int]]]:
        """A, B and a C of zeros, as vectors, of a WMMA over loops; and the axes of its elements."""
        loops = iter(u.src[2:])
        axes: list[list[tuple[int, int]]] = []
        for part in core.fragments:
            at = self.plan.axes.of(next(loops)) if part.count > 1 else None
            axes.append([] if at is None else [(at, self.lengths[at])])
        a, b = (contract(self.of(s), of) for s, of in zip(u.src[:2], axes[:2], strict=True))
        zero = np.zeros((*self.ones, core.c.count), numpy_dtype(u.dtype))
        return [a, b, zero], axes[2]

    # memory

    def define(self, u: UOp) -> None:
        self.memories.of(u)

    def _gate(self, address: Address, gates: tuple[UOp, ...] = ()) -> Array:
        mask = self.masks[-1]
        if address.place.op is Ops.INDEX:
            for gate in address.place.src[2:]:
                mask = mask & self.memories.spread(self.of(gate), address)
        for gate in gates:
            mask = mask & self.of(gate)
        return mask

    def load(self, u: UOp) -> None:
        address = address_of(u.src[0])
        mask = self._gate(address, u.src[2:])
        found = self.memories.read(u, address, u.dtype, mask)
        if len(u.src) > 1:
            found = np.where(mask, found, self.of(u.src[1]))
        self.values[u] = found

    def store(self, u: UOp) -> None:
        if u.src[0].op is Ops.VIEW:
            store_shaped(u, self.shaped(u.src[1]), self.buffers)
            return
        address = address_of(u.src[0])
        mask = self._gate(address, u.src[2:])
        self.memories.write(u, address, u.src[1].dtype, self.of(u.src[1]), mask)

    def copy(self, u: UOp) -> None:
        """A COPY_ASYNC: at once, which is one of the times when it may arrive."""
        to, source = address_of(u.src[0]), address_of(u.src[1])
        base = memory_of(source.place).dtype.base
        dtype = base.vec(u.arg // base.itemsize)
        mask = self._gate(to, u.src[3:])
        taken = np.arange(dtype.count) * base.itemsize < self.of(u.src[2])
        found = self.memories.read(u, source, dtype, mask & taken)
        self.memories.write(u, to, dtype, np.where(taken, found, np.zeros_like(found)), mask)

    # control

    def begin(self, u: UOp) -> None:
        """A loop in sequence begins: where it ends is the END with as many others between."""
        self.loops.append((self.at, u, 0))
        self.masks.append(self.masks[-1])
        self._iteration()

    def _iteration(self) -> None:
        """Runs the body for the points that have this iteration, or leaves the loop."""
        first, loop, count = self.loops[-1]
        self.masks.pop()
        mask = self.masks[-1] & (count < self.of(loop.src[0]))
        if bool(mask.any()):
            self.masks.append(mask)
            self.values[loop] = np.full((*self.ones, 1), count, numpy_dtype(loop.dtype))
            self.at = first
            return
        self.loops.pop()
        depth = 1
        self.at = first
        while depth:
            what, _ = self.plan.order[self.at]
            depth += (what is Do.BEGIN) - (what is Do.END)
            self.at += 1

    def end(self, _: UOp) -> None:
        first, loop, count = self.loops[-1]
        self.loops[-1] = first, loop, count + 1
        self._iteration()

    def clear(self, u: UOp) -> None:
        """The reduce of nothing."""
        nothing = np.zeros((*self.ones, 0), numpy_dtype(u.dtype))
        found = combined(u.arg, nothing.reshape(*self.ones, 0, 1), (len(self.ones),), u.dtype)
        shape = (*self.ones, u.dtype.count)
        self.partial[u] = np.broadcast_to(found.reshape(*self.ones, 1), shape)

    def fold(self, u: UOp) -> None:
        """One more iteration of a REDUCE, at the points that have it."""
        at_once = [r for r in u.src[1:] if r not in {loop for _, loop, _ in self.loops}]
        axes = sorted(frozenset().union(*(self.plan.spans[s] for s in at_once)))
        over = [(at, self.lengths[at]) for at in axes]
        value = fold(u.arg, self.of(u.src[0]), over, u.dtype, rounded=False)
        before = self.partial[u]
        pair = np.stack(np.broadcast_arrays(before, value), axis=-1)
        after = combined(u.arg, pair, (pair.ndim - 1,), u.dtype)[..., 0]
        self.partial[u] = np.where(self.masks[-1], after, before)

    def condition(self, u: UOp) -> None:
        self.masks.append(self.masks[-1] & self.of(u.src[0]))

    def endif(self, _: UOp) -> None:
        self.masks.pop()


# what is evaluated for all threads before the next node needs no barrier, and stores are not late
_nothing: Final = frozenset({
    Ops.CONST, Ops.VCONST, Ops.ADDRESS, Ops.AFTER, Ops.GROUP, Ops.NOOP, Ops.SINK, Ops.END,
    Ops.BARRIER, Ops.COMMIT, Ops.WAIT, Ops.VIEW,
})  # fmt: skip
_handlers: Final[dict[Ops, Callable[[Machine, UOp], None]]] = {
    Ops.DEFINE_GLOBAL: Machine.define,
    Ops.DEFINE_LOCAL: Machine.define,
    Ops.DEFINE_REG: Machine.define,
    Ops.DEFINE_VAR: Machine.variable,
    Ops.BIND: Machine.bind,
    Ops.SPECIAL: Machine.counter,
    Ops.RANGE: Machine.counter,
    Ops.INDEX: Machine.index,
    Ops.VECTORIZE: Machine.vectorize,
    Ops.GEP: Machine.gep,
    Ops.UNROLL: Machine.unroll,
    Ops.CONTRACT: Machine.contract,
    Ops.REDUCE: Machine.reduce,
    Ops.WMMA: Machine.multiply,
    Ops.SHUFFLE: Machine.shuffle,
    Ops.LDMATRIX: Machine.matrices,
    Ops.LOAD: Machine.load,
    Ops.STORE: Machine.store,
    Ops.COPY_ASYNC: Machine.copy,
    Ops.IF: Machine.condition,
    Ops.ENDIF: Machine.endif,
}
_steps: Final[dict[Do, Callable[[Machine, UOp], None]]] = {
    Do.BEGIN: Machine.begin,
    Do.END: Machine.end,
    Do.CLEAR: Machine.clear,
    Do.FOLD: Machine.fold,
}


def _where_promised(u: UOp, sources: Sequence[Array], found: Array) -> Array:
    """The value of an op that promises that nothing uses it where it has none: there it is all
    ones, which no code may rely on."""
    if u.arg == UNLESS_ZERO:
        return np.where(sources[1] == 0, np.asarray(-1).astype(found.dtype), found)
    if u.arg == UNLESS_NAN:
        return np.where(sources[0] != sources[0], np.asarray(-1).astype(found.dtype), found)
    return found
