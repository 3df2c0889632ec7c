"""Runs any linear program op by op in NumPy: every work item in lockstep, whatever the target.

It shares no code with renderers, so it says whether a program is right before any text is made of
it. Loads and stores are checked against the memory's size, and memory that nothing has written is
poisoned. A matrix instruction takes what the lanes of each warp hold, and all of them must run it.
Slow. Never looks at the kernel AST.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from core.dtype import AddrSpace, DType, PtrDType
from core.errors import RunError
from core.helpers import prod
from core.runtime.matrices import multiply
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.tensor_cores import TensorCore
from core.uop.atlaunch import value_at_launch
from core.uop.ldmatrix import LANES, ROW, dealt
from core.uop.meaning_arrays import evaluate_arrays, numpy_dtype
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import address_space, parts_of_address, pointer_of
from core.uop.uop import UOp

MAX_LANES: Final = 1 << 16
"""Work items that are evaluated at once; groups beyond that follow."""
Handler = Callable[["_Machine", UOp], None]


def evaluate_linear(
    uops: Sequence[UOp],
    buffers: Mapping[int, Array] | Sequence[Array],
    variables: Mapping[str, int] | None = None,
) -> None:
    """Runs the program. `buffers[n]` is the flat memory of DEFINE_GLOBAL n, in the dtype that
    `numeric.memory_dtype` names; it is changed in place.

    Raises RunError for an access outside a buffer and for a node that it cannot run.
    """
    given = variables or {}
    bounds = {u.arg: u.src[0] for u in uops if u.op is Ops.SPECIAL}
    sizes = {name: max(0, value_at_launch(bound, given)) for name, bound in bounds.items()}
    local = tuple(sizes.get(f"lidx{i}", 1) for i in range(3))
    grid = tuple(sizes.get(f"gidx{i}", 1) for i in range(3))
    at_once = max(1, MAX_LANES // prod(local))
    for first in range(0, prod(grid), at_once):
        groups = np.arange(first, min(first + at_once, prod(grid)))
        _Machine(uops, buffers, given, groups, grid, local).run()


def _digit(number: Array, sizes: tuple[int, ...], axis: int) -> Array:
    return (number // prod(sizes[:axis]) % sizes[axis]).astype(np.int32)


class _Machine:
    """Work groups in lockstep. A value is an array of (lanes,) or, of a vector, (lanes, count);
    where all lanes agree, the first axis may have length 1."""

    def __init__(
        self,
        uops: Sequence[UOp],
        buffers: Mapping[int, Array] | Sequence[Array],
        variables: Mapping[str, int],
        groups: Array,
        grid: tuple[int, ...],
        local: tuple[int, ...],
    ) -> None:
        self.uops, self.buffers, self.variables = uops, buffers, variables
        self.position = {u: i for i, u in enumerate(uops)}
        items = prod(local)
        self.lanes = len(groups) * items
        self.group = np.repeat(np.arange(len(groups)), items)
        self.lane = np.arange(self.lanes)
        self.hardware: dict[str, Array] = {}
        for axis in range(3):
            self.hardware[f"gidx{axis}"] = _digit(np.repeat(groups, items), grid, axis)
            self.hardware[f"lidx{axis}"] = _digit(
                np.tile(np.arange(items), len(groups)), local, axis
            )
        self.values: dict[UOp, Array] = {}
        self.memory: dict[UOp, Array] = {}
        self.masks: list[Array] = [np.ones(self.lanes, np.bool_)]
        self.counters: dict[UOp, int] = {}
        self.closing = self._closing()
        self.at = 0

    def _closing(self) -> dict[UOp, int]:
        """Where the END of each RANGE and the ENDIF of each IF is."""
        found: dict[UOp, int] = {}
        for i, u in enumerate(self.uops):
            if u.op is Ops.END:
                found.update((loop, i) for loop in u.src[1:])
            elif u.op is Ops.ENDIF:
                found[u.src[0]] = i
        return found

    def run(self) -> None:
        """Runs to the end."""
        while self.at < len(self.uops):
            u = self.uops[self.at]
            self.at += 1
            if u.op in GroupOp.Elementwise:
                self.values[u] = self.elementwise(u)
            elif u.op not in _nothing:
                handler = _handlers.get(u.op)
                if handler is None:
                    raise RunError(f"{u.op.name} cannot be evaluated", self._where(u))
                handler(self, u)

    def _where(self, u: UOp) -> str:
        return f"u{self.position[u]} = {u.op.name}  {u.dtype}" + (
            f"  {u.origin}" if u.origin else ""
        )

    def of(self, u: UOp) -> Array:
        """The value of a node."""
        while u.op in (Ops.AFTER, Ops.NOOP):
            u = u.src[0]
        if u.op is Ops.CONST:
            shape = (1,) if u.dtype.count == 1 else (1, u.dtype.count)
            return np.full(shape, u.arg, numpy_dtype(u.dtype))
        if u.op is Ops.VCONST:
            return np.asarray([u.arg], numpy_dtype(u.dtype))
        return self.values[u]

    def elementwise(self, u: UOp) -> Array:
        """An ALU op, CAST or BITCAST."""
        values = [self.of(s) for s in u.src]
        if u.op is Ops.BITCAST and u.dtype.count != u.src[0].dtype.count:
            bits = _as_bits(values[0], u.src[0].dtype, u.dtype)
            return bits if u.dtype.count > 1 else bits[:, 0]
        if u.dtype.count > 1:
            values = [v if v.ndim == 2 else v[:, None] for v in values]
        return evaluate_arrays(u.op, u.dtype, values, u.src[-1].dtype)

    def vectorize(self, u: UOp) -> None:
        parts = np.broadcast_arrays(*(self.of(s) for s in u.src))
        self.values[u] = np.stack(parts, axis=1)

    def gep(self, u: UOp) -> None:
        x = self.of(u.src[0])
        self.values[u] = x[:, u.arg[0]] if u.dtype.count == 1 else x[:, list(u.arg)]

    def special(self, u: UOp) -> None:
        self.values[u] = self.hardware[u.arg]

    def variable(self, u: UOp) -> None:
        if u.arg[0] not in self.variables:
            raise RunError(f"the program needs a value for {u.arg[0]}", self._where(u), "bind it")
        self.values[u] = np.asarray([self.variables[u.arg[0]]], numpy_dtype(u.dtype))

    def shuffle(self, u: UOp) -> None:
        """A SHUFFLE: the value of the work item whose number is this one's XOR the argument; only
        lanes of a warp have such neighbours."""
        x = self.of(u.src[0])
        x = np.broadcast_to(x, (self.lanes, *x.shape[1:]))
        items = len(self.lane) // (int(self.group[-1]) + 1)
        if items % (1 << u.arg.bit_length()):
            raise RunError(
                f"SHUFFLE by {u.arg} in a work group of {items}",
                self._where(u),
                "lanes have no such neighbours",
            )
        other = self.lane ^ u.arg
        active = self.masks[-1]
        if (active & ~active[other]).any():
            raise RunError(
                "SHUFFLE where some lanes of a warp are not active",
                self._where(u),
                "a pass put it under a condition",
            )
        self.values[u] = x[other]

    def _whole_warps(self, u: UOp, what: str, lanes: int) -> None:
        """Raises RunError where work items are not warps of so many lanes, or some do not take
        part."""
        items = len(self.lane) // (int(self.group[-1]) + 1)
        if items % lanes:
            raise RunError(
                f"{what} needs {lanes} lanes, in a work group of {items}",
                self._where(u),
                "the opts of the kernel are wrong",
            )
        warps = self.masks[-1].reshape(-1, lanes)
        if (warps.any(axis=1) != warps.all(axis=1)).any():
            raise RunError(
                f"{what} where some lanes of a warp are not active",
                self._where(u),
                "a pass put it under a condition",
            )

    def matrices(self, u: UOp) -> None:
        """An LDMATRIX: each run of 32 work items is a warp."""
        count, transposed = u.arg
        address = _resolve(u.src[0])
        base = pointer_of(address).dtype.base
        self._whole_warps(u, "LDMATRIX", LANES)
        rows = self._read(u, address, base.vec(ROW), self._gate(address))
        found = dealt(rows.reshape(-1, LANES, ROW), count, transposed).reshape(self.lanes, -1)
        same = u.dtype.scalar() is base
        found = found if same else _as_bits(found, base, u.dtype)
        self.values[u] = found if u.dtype.count > 1 else found[:, 0]

    def multiply(self, u: UOp) -> None:
        """A WMMA: each run of as many work items as it has lanes is a warp. Of several tiles,
        element e of tile t lies at e * tiles + t."""
        core: TensorCore = u.arg
        tiles = u.dtype.itemsize // (core.c.count * core.dtype_out.itemsize)  # words: of halves
        self._whole_warps(u, str(core), core.threads)
        held: list[Array] = []
        kinds = (core.dtype_in, core.dtype_in, core.dtype_out)
        for s, part, kind in zip(u.src, core.fragments, kinds, strict=True):
            value = self.of(s)
            value = value if s.dtype.scalar() is kind else _as_bits(value, s.dtype, kind)
            value = value if value.ndim == 2 else value[:, None]
            full = np.broadcast_to(value, (self.lanes, part.count * tiles))
            apart = full.reshape(-1, core.threads, part.count, tiles).transpose(0, 3, 1, 2)
            held.append(apart.reshape(-1, core.threads, part.count))
        found = multiply(core, *held).reshape(-1, tiles, core.threads, core.c.count)
        found = found.transpose(0, 2, 3, 1).reshape(self.lanes, -1)
        out = core.dtype_out
        self.values[u] = found if u.dtype.scalar() is out else _as_bits(found, out, u.dtype)

    # memory

    def define(self, u: UOp) -> None:
        assert isinstance(u.dtype, PtrDType)
        if u.dtype.addrspace is AddrSpace.GLOBAL:
            self.memory[u] = self.buffers[u.arg]
            return
        rows = self.lanes
        if u.dtype.addrspace is AddrSpace.LOCAL:
            rows = int(self.group[-1]) + 1
        kind = numpy_dtype(u.dtype.base)
        poison = np.nan if kind.kind == "f" else False if kind.kind == "b" else np.iinfo(kind).max
        self.memory[u] = np.full((rows, max(u.dtype.size, 0)), poison, kind)

    def _place(self, address: UOp, dtype: DType, mask: Array, u: UOp) -> tuple[Array, Any]:
        """The memory, and the indices in it of (lanes, elements); checked where `mask` is."""
        pointer = pointer_of(address)
        memory, item = self.memory[pointer], pointer.dtype.base.itemsize
        offsets, constant = parts_of_address(address)
        start = np.full((self.lanes, 1), constant, np.int64)
        for offset, step in offsets:
            value = self.of(offset).astype(np.int64) * step
            start = start + (value if value.ndim == 2 else value[:, None])
        size, count = memory.shape[-1], dtype.itemsize // item
        elements = start // item
        if start.shape[1] == 1:  # neighbours; otherwise each element has an offset of its own
            elements = elements + np.arange(count)
        wanted = mask if mask.ndim == 2 else mask[:, None]
        outside = (wanted & ((elements < 0) | (elements >= size))).any(axis=1)
        outside |= wanted.any(axis=1) & (start % item != 0).any(axis=1)
        if outside.any():
            lane = int(np.argmax(outside))
            raise RunError(
                f"{u.op.name} of {count} elements at {int(elements[lane, 0])} in memory of {size}",
                f"{self._where(u)}\nwork item {lane}",
                "a pass or the kernel's AST is wrong",
            )
        elements = np.where(wanted, elements, 0).clip(0, max(size - 1, 0))
        space = address_space(pointer)
        if space is AddrSpace.GLOBAL:
            return memory, elements
        rows = self.group if space is AddrSpace.LOCAL else self.lane
        return memory, (np.broadcast_to(rows[:, None], elements.shape), elements)

    def _gate(self, address: UOp, gates: tuple[UOp, ...] = ()) -> Array:
        mask = self.masks[-1]
        if address.op is Ops.INDEX:
            gates = (*address.src[2:], *gates)
        for gate in gates:
            value = self.of(gate)
            mask = mask[:, None] & value if value.ndim == 2 else mask & value
        return mask

    def load(self, u: UOp) -> None:
        address = _resolve(u.src[0])
        mask = self._gate(address, u.src[2:])
        found = self._read(u, address, u.dtype, mask)
        if len(u.src) > 1:
            other = self.of(u.src[1])
            kept = mask if mask.ndim == 2 else mask[:, None]
            found = np.where(kept, found, other if other.ndim == 2 else other[:, None])
        self.values[u] = found if u.dtype.count > 1 else found[:, 0]

    def _read(self, u: UOp, address: UOp, dtype: DType, mask: Array) -> Array:
        """(lanes, elements) of memory, where `mask` is."""
        held = pointer_of(address).dtype.base
        memory, where = self._place(address, dtype, mask, u)
        if memory.shape[-1] == 0:
            return np.zeros((self.lanes, dtype.count), numpy_dtype(dtype))
        found = memory[where]
        if address_space(pointer_of(address)) is AddrSpace.GLOBAL:
            found = from_memory(found, held)
        return found if dtype.scalar() is held else _as_bits(found, held, dtype)

    def store(self, u: UOp) -> None:
        address = _resolve(u.src[0])
        mask = self._gate(address, u.src[2:])
        self._write(u, address, u.src[1].dtype, self.of(u.src[1]), mask)

    def copy(self, u: UOp) -> None:
        """A COPY_ASYNC: at once, which is one of the times when it may arrive."""
        to, source = _resolve(u.src[0]), _resolve(u.src[1])
        base = pointer_of(source).dtype.base
        dtype = base.vec(u.arg // base.itemsize)
        mask = self._gate(to, u.src[3:])
        taken = np.arange(dtype.count) * base.itemsize < self.of(u.src[2])[:, None]
        found = self._read(u, source, dtype, mask[:, None] & taken)
        self._write(u, to, dtype, np.where(taken, found, np.zeros_like(found)), mask)

    def _write(self, u: UOp, address: UOp, dtype: DType, value: Array, mask: Array) -> None:
        """Elements to memory, where `mask` is."""
        held = pointer_of(address).dtype.base
        memory, where = self._place(address, dtype, mask, u)
        value = value if value.ndim == 2 else value[:, None]
        value = np.broadcast_to(value, (self.lanes, dtype.count))[mask]
        if dtype.scalar() is not held:
            value = _as_bits(value, dtype, held)
        if isinstance(where, tuple):
            memory[where[0][mask], where[1][mask]] = value
        else:
            memory[where[mask]] = to_memory(value, held)

    # control

    def range(self, u: UOp) -> None:
        self.counters[u] = 0
        self._enter(u)

    def _enter(self, u: UOp) -> None:
        """Runs the body for the work items that have this iteration, or leaves the loop."""
        bound = self.of(u.src[0])
        mask = self.masks[-1] & (self.counters[u] < bound)
        if mask.any():
            self.masks.append(mask)
            self.values[u] = np.asarray([self.counters[u]], numpy_dtype(u.dtype))
            self.at = self.position[u] + 1
        else:
            self.at = self.closing[u] + 1

    def end(self, u: UOp) -> None:
        (loop,) = u.src[1:]
        self.masks.pop()
        self.counters[loop] += 1
        self._enter(loop)

    def condition(self, u: UOp) -> None:
        mask = self.masks[-1] & self.of(u.src[0])
        if mask.any():
            self.masks.append(mask)
        else:
            self.at = self.closing[u] + 1

    def endif(self, _: UOp) -> None:
        self.masks.pop()


def _resolve(u: UOp) -> UOp:
    while u.op in (Ops.AFTER, Ops.NOOP):
        u = u.src[0]
    return u


def _as_bits(values: Array, source: DType, dtype: DType) -> Array:
    """Elements of `source`, some for each work item, read as elements of `dtype`."""
    rows = values if values.ndim == 2 else values[:, None]
    raw = np.ascontiguousarray(to_memory(rows, source.scalar()))
    return from_memory(raw.view(memory_dtype(dtype.scalar())), dtype.scalar())


# lockstep makes every BARRIER happen by itself, and stores are not late
_nothing = frozenset({
    Ops.CONST, Ops.VCONST, Ops.INDEX, Ops.ADDRESS, Ops.AFTER, Ops.GROUP, Ops.NOOP, Ops.SINK,
    Ops.BARRIER, Ops.COMMIT, Ops.WAIT,
})  # fmt: skip
_handlers: dict[Ops, Handler] = {
    Ops.DEFINE_GLOBAL: _Machine.define,
    Ops.DEFINE_LOCAL: _Machine.define,
    Ops.DEFINE_REG: _Machine.define,
    Ops.DEFINE_VAR: _Machine.variable,
    Ops.SPECIAL: _Machine.special,
    Ops.VECTORIZE: _Machine.vectorize,
    Ops.GEP: _Machine.gep,
    Ops.WMMA: _Machine.multiply,
    Ops.SHUFFLE: _Machine.shuffle,
    Ops.LDMATRIX: _Machine.matrices,
    Ops.LOAD: _Machine.load,
    Ops.STORE: _Machine.store,
    Ops.COPY_ASYNC: _Machine.copy,
    Ops.RANGE: _Machine.range,
    Ops.END: _Machine.end,
    Ops.IF: _Machine.condition,
    Ops.ENDIF: _Machine.endif,
}
