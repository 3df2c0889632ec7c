"""A plain interpreter of linear programs: one work item at a time, op by op. Slow and obvious.
An op computes what `core/uop/meaning_arrays.py` says; order, memory and barriers are here.

Vectors are NumPy arrays of `count` elements. Work items of a group run as generators that stop at
each BARRIER and each WMMA until all of the group have come to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

from core.dtype import DType
from core.uop import GroupOp, Ops, UOp
from core.uop.meaning_arrays import evaluate_arrays
from core.uop.pointer import pointer_of

NUMPY: dict[str, Any] = {
    "bool": np.bool_,
    "bfloat16": ml_dtypes.bfloat16,
    "fp8e4m3": ml_dtypes.float8_e4m3fn,
    "fp8e5m2": ml_dtypes.float8_e5m2,
}


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    return np.dtype(NUMPY.get(dtype.scalar().name, dtype.scalar().name))


ALIASES = (Ops.AFTER, Ops.GROUP, Ops.NOOP)


class Item:
    """One work item: the values of its ops so far."""

    def __init__(self, uops: Sequence[UOp], env: dict[UOp, Any], memory: dict[UOp, Any]) -> None:
        self.uops, self.env, self.memory = uops, env, memory
        self.position = {u: i for i, u in enumerate(uops)}
        self.skip_to = _skips(uops)
        self.product: UOp | None = None
        """The WMMA that it waits for."""

    def run(self) -> Iterator[None]:
        at, env = 0, self.env
        with np.errstate(all="ignore"):
            while at < len(self.uops):
                u = self.uops[at]
                at += 1
                if u.op is Ops.RANGE:
                    env[u] = np.array([0], numpy_dtype(u.dtype))
                    if env[u.src[0]][0] <= 0:
                        at = self.skip_to[u]
                elif u.op is Ops.END:
                    loop = u.src[1]
                    env[loop] = env[loop] + 1
                    if env[loop][0] < env[loop.src[0]][0]:
                        at = self.position[loop] + 1
                elif u.op is Ops.IF:
                    if not env[u.src[0]][0]:
                        at = self.skip_to[u]
                elif u.op is Ops.BARRIER:
                    yield
                elif u.op is Ops.WMMA:
                    self.product = u
                    yield
                    self.product = None
                elif u.op not in env or u.op is not Ops.SPECIAL:
                    self.step(u)

    def step(self, u: UOp) -> None:
        env, src = self.env, u.src
        if u.op is Ops.CONST or u.op is Ops.VCONST:
            values = u.arg if u.op is Ops.VCONST else (u.arg,) * u.dtype.count
            env[u] = np.array(values).astype(numpy_dtype(u.dtype))
        elif u.op in GroupOp.ALU:
            value = evaluate_arrays(u.op, u.dtype, [env[s] for s in src], src[-1].dtype)
            assert value.shape == (u.dtype.count,), f"{u} gave {value.shape}"
            env[u] = value.astype(numpy_dtype(u.dtype))
        elif u.op is Ops.CAST:
            env[u] = env[src[0]].astype(numpy_dtype(u.dtype))
        elif u.op is Ops.BITCAST:
            env[u] = env[src[0]].view(numpy_dtype(u.dtype))
        elif u.op is Ops.VECTORIZE:
            env[u] = np.concatenate([env[s] for s in src])
        elif u.op is Ops.GEP:
            env[u] = env[src[0]][list(u.arg)]
        elif u.op is Ops.INDEX:
            gate = env[src[2]] if len(src) > 2 else None
            assert env[src[1]].shape == (1,), f"vector offset in {u}"
            env[u] = (int(env[src[1]][0]), gate)
        elif u.op is Ops.LOAD:
            at, gate = env[src[0]]
            if gate is not None and len(gate) > 1:
                lanes = [self.part(src[0], at + i, 1)[0] if g else env[src[1]][i]
                         for i, g in enumerate(gate)]  # fmt: skip
                env[u] = np.array(lanes, numpy_dtype(u.dtype))
            elif gate is not None and not gate[0]:
                env[u] = env[src[1]]
            else:
                env[u] = self.part(src[0], at, u.dtype.count).copy()
        elif u.op is Ops.STORE:
            at, gate = env[src[0]]
            assert gate is None, f"gated store {u}"
            part = self.part(src[0], at, src[1].dtype.count)
            assert part.dtype == env[src[1]].dtype, f"{u} stores {env[src[1]].dtype}"
            part[:] = env[src[1]]
        elif u.op in ALIASES:
            env[u] = env.get(src[0]) if src else None

    def part(self, index: UOp, at: int, n: int) -> Any:
        memory = self.memory[pointer_of(index)]
        assert 0 <= at <= len(memory) - n, f"{index} reads {at}+{n} of {len(memory)}"
        return memory[at : at + n]


def multiply(warp: Sequence[Item]) -> None:
    """What each of the items waits for, one element of the product at a time."""
    u = warp[0].product
    assert u is not None
    assert all(item.product is u for item in warp), "lanes of a warp wait for different products"
    core = u.arg
    assert len(warp) == core.threads
    a, b = dict[tuple[int, int], float](), dict[tuple[int, int], float]()
    for lane, item in enumerate(warp):
        for place, part, held, letters in (
            (a, core.a, u.src[0], "mk"),
            (b, core.b, u.src[1], "kn"),
        ):
            for i, value in enumerate(item.env[held]):
                row, column = (part.coordinate(letter, lane, i) for letter in letters)
                if core.bits:
                    bits = np.float32(value).view(np.uint32) >> (32 - core.bits) << (32 - core.bits)
                    value = bits.astype(np.uint32).view(np.float32)
                assert place.setdefault((row, column), float(value)) == float(value), (
                    "copies differ"
                )
    for lane, item in enumerate(warp):
        found: list[float] = []
        for i, start in enumerate(item.env[u.src[2]]):
            row, column = (core.c.coordinate(letter, lane, i) for letter in "mn")
            found.append(float(start) + sum(a[row, k] * b[k, column] for k in range(core.k)))
        item.env[u] = np.array(found).astype(numpy_dtype(u.dtype))


def _skips(uops: Sequence[UOp]) -> dict[UOp, int]:
    found: dict[UOp, int] = {}
    for i, u in enumerate(uops):
        if u.op is Ops.END:
            found[u.src[1]] = i + 1
        elif u.op is Ops.ENDIF:
            found[u.src[0]] = i + 1
    return found


def run_linear(
    uops: Sequence[UOp],
    buffers: Sequence[np.ndarray[Any, Any]],
    variables: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Executes the program for every work group; buffers are flat and are changed in place."""
    check_order(uops)
    specials = [u for u in uops if u.op is Ops.SPECIAL]
    groups = [u for u in specials if u.arg[0] == "g"]
    items = sorted((u for u in specials if u.arg[0] == "l"), key=lambda u: u.arg, reverse=True)
    fixed: dict[UOp, Any] = {}
    for u in uops:
        if u.op is Ops.DEFINE_VAR:
            fixed[u] = np.array([variables[u.arg[0]]], numpy_dtype(u.dtype))

    def sizes(us: list[UOp]) -> Iterator[tuple[int, ...]]:
        return itertools.product(*(range(u.src[0].arg) for u in us))

    for group in sizes(groups):
        shared = {u: _fresh(u) for u in uops if u.op is Ops.DEFINE_LOCAL}
        threads: list[Item] = []
        for item in sizes(items):
            memory = {u: buffers[u.arg] for u in uops if u.op is Ops.DEFINE_GLOBAL}
            memory |= shared | {u: _fresh(u) for u in uops if u.op is Ops.DEFINE_REG}
            env = dict(fixed)
            for u, value in zip((*groups, *items), (*group, *item), strict=True):
                env[u] = np.array([value], np.int32)
            threads.append(Item(uops, env, memory))
        running = [thread.run() for thread in threads]
        while running:
            waiting = [r for r in running if next(r, "done") is None]
            assert len(waiting) in (0, len(running)), "not all work items came to the barrier"
            running = waiting
            if running and (product := threads[0].product) is not None:
                size = product.arg.threads
                for first in range(0, len(threads), size):
                    multiply(threads[first : first + size])


def _fresh(u: UOp) -> np.ndarray[Any, Any]:
    size = u.dtype.size
    memory = np.empty(size, numpy_dtype(u.dtype.base))
    memory.view(np.uint8)[:] = 0xA5
    return memory


def check_order(uops: Sequence[UOp]) -> None:
    """Sources come first, loops nest, a value is used inside the loop that it is made in."""
    open_loops: list[UOp] = []
    where: dict[UOp, tuple[UOp, ...]] = {}
    for u in uops:
        assert u not in where, f"{u} twice"
        for s in u.src:
            assert s in where, f"{u} before its source {s}"
            visible = where[s] == tuple(open_loops[: len(where[s])])
            assert (
                visible or s.op in (Ops.STORE, Ops.END, Ops.RANGE, Ops.GROUP) or u.op in ALIASES
            ), f"{u} uses {s} outside its loop"
        if u.op in (Ops.RANGE, Ops.IF):
            where[u] = tuple(open_loops)
            open_loops.append(u)
            where[u] = tuple(open_loops)
        elif u.op in (Ops.END, Ops.ENDIF):
            begun = u.src[1] if u.op is Ops.END else u.src[0]
            assert open_loops[-1:] == [begun], f"{u} ends the wrong loop"
            open_loops.pop()
            where[u] = tuple(open_loops)
        else:
            where[u] = tuple(open_loops)
    assert not open_loops
    assert uops[-1].op is Ops.SINK
