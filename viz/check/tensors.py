"""Values of Tensors: what two nodes of a schedule compute from the same random memory, compared.

For steps on values that are on several devices, on lengths that are variables, and whatever else
has no terms: movement, copies and reduces are done by NumPy as they are defined. A value on several
devices is what its parts are together. A KERNEL
is run by the reference: what is in memory after it. Never runs compiled code.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import Any, Final

import numpy as np

from core.dtype import dtypes
from core.errors import RunError, UopvizError
from core.passes.identities import identity
from core.passes.schedule.kernels.views import moved
from core.prove.samples.rounding import of_result
from core.prove.verdict import Verdict
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.runtime.reference.evaluate.shaped import evaluate_shaped, read_view
from core.runtime.reference.kernel import evaluate_kernel, evaluations
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning_arrays import evaluate_arrays, round_array
from core.uop.kernels import output_count, stored_in_part
from viz.check.gradients.wide import ITSELF, NO_VALUE

MAX_EVALUATIONS: Final = 1 << 13
"""Nodes of one kernel that are evaluated one after the other."""
MAX_ELEMENTS: Final = 1 << 22
"""Of all values of a step together."""
MAX_SCHEDULE: Final = 1 << 20
"""Of all values of a schedule, between its kernels."""
TIMES: Final = 3
SAME: Final = "both compute the same from random memory"
OTHER: Final = "they compute other values from the same memory"
FLAT: Final = "the parts of its values, in their order"
PARTS: Final = "memory on several devices stands for that of each of them"
LEFT: Final = "what is stored is the same, and nothing reads what is left as it was"
_ITSELF: Final = ITSELF | {Ops.LENGTH}
"""What changes no value: where it is, or what is known of it."""
_NOTHING: Final = np.zeros(0)


def compare(before: UOp, after: UOp) -> Verdict | None:
    """What is known of two nodes; None where one of them is no value of a Tensor, on a device:
    indices may be right for those values alone that the code around them knows."""
    if before.op is after.op is Ops.SINK and before.dtype is dtypes.void:
        parts = [p for s in before.src for p in (s.src if s.op is Ops.MULTI else (s,))]
        return Verdict("proved", FLAT) if tuple(parts) == after.src else None
    if before.dtype is dtypes.void or before.shape is None or before.shape != after.shape:
        return None
    if before.device is None:
        return None
    if is_in_parts(before, after):
        return Verdict("assumes", PARTS)
    if not _memory_read(after) <= {*before.toposort()}:
        return None  # what is in memory that the first does not have is not known
    nodes = UOp.sink(before, after).toposort()  # those of kernels, too
    if _size(nodes) > MAX_ELEMENTS:
        return None
    for time in range(TIMES):
        try:
            with np.errstate(all="ignore"):
                memory = _Memory(time, _copies(nodes))
                x, y = (memory.value(u) for u in (before, after))
        except (UopvizError, ArithmeticError, LookupError, TypeError, ValueError):
            return None
        if (found := _difference(before, memory, x, y)) is not None:
            return found
    known = {*before.toposort()}
    if any(u not in known and _in_part(u) for u in nodes):
        return Verdict("assumes", LEFT)
    return Verdict("sampled", SAME, TIMES)


def compare_states(before: UOp, after: UOp) -> Verdict | None:
    """The same of all outputs of a schedule, before a pass and after it."""
    if not before.op is after.op is Ops.SINK or len(before.src) != len(after.src):
        return None
    found = [compare(x, y) for x, y in zip(before.src, after.src, strict=True)]
    if wrong := [one for one in found if one is not None and one.kind == "differs"]:
        return wrong[0]
    return None if not found or None in found else found[0]


def compare_schedule(first: UOp, last: UOp, parts: Mapping[UOp, UOp]) -> Verdict | None:
    """What is known of the outputs of a schedule: of the Tensors before it was made, and of what
    its kernels store. `parts`: of memory on several devices, the MULTI of its parts. None where
    that cannot be computed. Floats that are chosen by others may turn with a rounding: a
    difference counts where it is there for most contents of memory."""
    outputs = _outputs(first, last)
    nodes = UOp.sink(first, last).toposort(lambda u: not _is_ast(u))
    if outputs is None or _size(nodes) > MAX_SCHEDULE:
        return None
    known = _memory_read(first).union(*(_memory_read(parts[u]) for u in parts))
    if not _memory_read(last) <= known:
        return None
    differing: list[Verdict] = []
    for time in range(TIMES):
        try:
            with np.errstate(all="ignore"):
                memory = _Memory(time, _copies((*nodes, *parts.values())), parts)
                for number, (value, stored) in enumerate(outputs):
                    x = np.broadcast_to(memory.value(value), value.shaped)
                    y = memory.value(stored).reshape(x.shape)
                    if (found := _difference(value, memory, x, y)) is not None:
                        place = (("output", str(number)), *found.values)
                        differing.append(replace(found, values=place))
                        break
        except (UopvizError, ArithmeticError, LookupError, TypeError, ValueError):
            return None
    if 2 * len(differing) > TIMES:
        return differing[0]
    return Verdict("sampled", SAME, TIMES)


def _outputs(first: UOp, last: UOp) -> list[tuple[UOp, UOp]] | None:
    """Each output of a schedule with what is stored of it, of several devices their MULTI; None
    where it is not known which are which."""
    if not first.op is last.op is Ops.SINK:
        return None
    found: list[tuple[UOp, UOp]] = []
    stored = list(last.src)
    for value in first.src:
        many = len(value.device) if isinstance(value.device, tuple) else 1
        own, stored = stored[:many], stored[many:]
        if len(own) < many or value.shape is None:
            return None
        whole = own[0] if many == 1 else UOp(Ops.MULTI, value.dtype, tuple(own), value.axis)
        found.append((value, whole))
    return None if stored else found


def _in_part(u: UOp) -> bool:
    """Whether this is a kernel that leaves some of its memory as it was."""
    return u.op is Ops.KERNEL and bool(stored_in_part(u.src[0]))


def _size(nodes: Iterable[UOp]) -> int:
    """The elements of all values together."""
    return sum(prod(u.shape or ()) for u in nodes if u.op is not Ops.SINK)


def _difference(u: UOp, memory: _Memory, x: Array, y: Array) -> Verdict | None:
    shape = u.shaped
    counts = np.ones(shape, np.bool_)
    for axis, length in u.lengths:  # what lies behind a length is anything
        places = np.arange(shape[axis]).reshape([-1 if k == axis else 1 for k in range(len(shape))])
        counts &= places < int(memory.value(length))
    x, y = (np.broadcast_to(v, shape) for v in (x, y))
    same = (x == y) | ((x != x) & (y != y))
    if dtypes.is_float(u.dtype):
        with np.errstate(all="ignore"):
            wide = [v.astype(np.float64) for v in (x, y)]
            largest = float(np.abs(wide[0][np.isfinite(wide[0])]).max(initial=0.0))
            same |= np.abs(wide[0] - wide[1]) <= of_result((u.dtype.name,), largest)
    wrong = np.flatnonzero(counts & ~same)
    if not len(wrong):
        return None
    at = int(wrong[0])
    place = ("element", str(list(map(int, np.unravel_index(at, shape)))))
    shown = (str(v.reshape(-1)[at].item()) for v in (x, y))
    return Verdict("differs", OTHER, 1, 0.0, (place,), *shown)


class _Memory:
    """Random contents of memory, values of variables, and what nodes compute from these."""

    def __init__(
        self, seed: int, copies: Mapping[UOp, UOp], parts: Mapping[UOp, UOp] | None = None
    ) -> None:
        self._seed, self._copies, self._parts = seed, copies, parts or {}
        self._values: dict[UOp, Array] = {}
        self._stored: dict[UOp, dict[UOp, Array]] = {}

    def value(self, root: UOp) -> Array:
        """The value of a node. Raises RunError for one that has none."""
        for u in root.toposort(lambda node: node not in self._values and not _is_ast(node)):
            if u not in self._values and u.op not in NO_VALUE:
                self._values[u] = self._of(u)
        return self._values[root]

    def _of(self, u: UOp) -> Array:
        sources = [self._values[s] for s in u.src if s in self._values]
        if u.op is Ops.BUFFER:
            whole = self._parts.get(u)
            return self._random(u).reshape(u.shaped) if whole is None else self.value(whole)
        if u.op in (Ops.DEFINE_VAR, Ops.BIND):
            name, low, high = (u if u.op is Ops.DEFINE_VAR else u.src[0]).arg
            random = np.random.default_rng((self._seed, *str(name).encode()))
            return np.asarray(int(random.integers(low, high, endpoint=True)))
        if u.op is Ops.KERNEL:
            return self._run(u)
        if u.op is Ops.AFTER:
            return self._after(u)
        if u.op in _ITSELF:
            return sources[0]
        if u.op is Ops.ASSIGN:
            return np.broadcast_to(sources[1], u.shaped)
        if u.op in GroupOp.Movement:
            inner = np.broadcast_to(sources[0], u.src[0].shaped).reshape(-1)
            return read_view(inner, moved(ShapeTracker.from_shape(u.src[0].shaped), u))
        if u.op is Ops.MULTI:
            whole = [np.broadcast_to(v, s.shaped) for v, s in zip(sources, u.src, strict=True)]
            return whole[0] if u.arg is None else np.concatenate(whole, u.arg)
        if u.op is Ops.MSELECT:
            return self._part(u, sources[0])
        if u.op is Ops.ALLREDUCE:
            combine = functools.partial(_combined, u)
            return functools.reduce(combine, sources)
        if u.op is Ops.BUFFER_VIEW:
            count, start = u.arg
            size = u.dtype.itemsize
            held = np.ascontiguousarray(to_memory(sources[0].reshape(-1), u.src[0].dtype))
            part = held.view(np.uint8)[start * size : (start + count) * size]
            return from_memory(part.view(memory_dtype(u.dtype)), u.dtype)
        if u.op is Ops.REDUCE_AXIS:
            sources[0] = self._before_lengths(u, sources[0])
            given: Mapping[UOp, Array] = {u.src[0]: sources[0]}
            return evaluate_shaped(u, given.__getitem__, [], {})
        return evaluate_shaped(u, self._values.__getitem__, [], {})

    def _after(self, u: UOp) -> Array:
        """Memory after a kernel."""
        memory, kernel = u.src
        stored = self._stored[kernel]
        if memory not in stored:
            raise RunError("memory after a kernel that does not store to it")
        return stored[memory].reshape(u.shaped)

    def _run(self, kernel: UOp) -> Array:
        """What a kernel leaves in its outputs, by what they were before; it has no value itself."""
        ast, arguments = kernel.src[0], [m for m in kernel.src[1:] if m.op is not Ops.BIND]
        outputs = arguments[: output_count(ast)]
        held = [np.broadcast_to(self._values[m], m.shaped).reshape(-1) for m in arguments]
        if ast.op is Ops.COPY:
            self._stored[kernel] = {arguments[0]: held[1]}
            return _NOTHING
        for n in stored_in_part(ast):
            held[n] = self._stored_whole(arguments[n], held[n])
        flat = [to_memory(v, m.dtype).copy() for v, m in zip(held, arguments, strict=True)]
        binds = {b.src[0].arg[0]: int(self._values[b]) for b in kernel.src if b.op is Ops.BIND}
        if evaluations(ast, binds) > MAX_EVALUATIONS:
            raise RunError("too long to be run")
        evaluate_kernel(ast, flat, binds)
        self._stored[kernel] = {m: from_memory(flat[n], m.dtype) for n, m in enumerate(outputs)}
        return _NOTHING

    def _stored_whole(self, memory: UOp, before: Array) -> Array:
        """What another kernel stored in all of the same memory; else what was there before."""
        for other, stored in self._stored.items():
            if memory in stored and not stored_in_part(other.src[0]):
                return stored[memory].reshape(-1)
        return before

    def _part(self, u: UOp, whole: Array) -> Array:
        number, axis = u.arg
        devices = u.src[0].device
        if axis is None:
            return whole
        if not isinstance(devices, tuple):
            raise RunError("a part of what is on one device")
        return np.split(np.broadcast_to(whole, u.src[0].shaped), len(devices), axis)[number]

    def _before_lengths(self, u: UOp, value: Array) -> Array:
        """What a reduce combines: nothing that lies behind a length."""
        x, (op, axes) = u.src[0], u.arg
        value = np.broadcast_to(value, x.shaped)
        for axis, length in x.lengths:
            if axis in axes:
                count = int(self.value(length))
                places = np.arange(x.shaped[axis])
                inside = places.reshape([-1 if k == axis else 1 for k in range(value.ndim)]) < count
                none = np.asarray(identity(op, x.dtype), value.dtype)
                value = np.where(inside, value, none)
        return value

    def _random(self, u: UOp) -> Array:
        size = prod(u.shaped)
        random = np.random.default_rng((self._seed, int(self._copies.get(u, u).src[0].arg)))
        if dtypes.is_float(u.dtype):
            return round_array(random.standard_normal(size) - 1.0, u.dtype)
        if dtypes.is_bool(u.dtype):
            return random.integers(0, 2, size).astype(np.bool_)
        low = 0 if dtypes.is_unsigned(u.dtype) else -9
        return random.integers(low, 100, size).astype(memory_dtype(u.dtype))


def _memory_read(root: UOp) -> set[UOp]:
    """The memory whose content of before a value is made of: not what is only written."""
    found, seen, left = set[UOp](), set[UOp](), [root]
    while left:
        u = left.pop()
        if u in seen or _is_ast(u):
            continue
        seen.add(u)
        if u.op is Ops.BUFFER:
            found.add(u)
        if u.op is Ops.KERNEL:
            left += [m for m in u.src[1 + output_count(u.src[0]) :] if m.op is not Ops.BIND]
        else:
            left += u.src[1:] if u.op in (Ops.AFTER, Ops.ASSIGN) else u.src
    return found


def _copies(nodes: Iterable[UOp]) -> dict[UOp, UOp]:
    """Of memory that holds the same as other memory, that: where each device has the whole of a
    value, and computes it alike."""
    found: dict[UOp, UOp] = {}
    for u in nodes:
        if u.op is Ops.MULTI and u.arg is None:
            for part in u.src[1:]:
                _pair_up(u.src[0], part, found)
    return found


def _pair_up(first: UOp, other: UOp, found: dict[UOp, UOp]) -> None:
    """Adds the memory of one value, with that in the same place of another one."""
    seen, left = set[tuple[UOp, UOp]](), [(first, other)]
    while left:
        a, b = pair = left.pop()
        if a is b or pair in seen or a.op is not b.op or len(a.src) != len(b.src):
            continue
        seen.add(pair)
        if a.op is Ops.BUFFER and a.dtype == b.dtype:
            found.setdefault(b, found.get(a, a))
        elif a.arg == b.arg:
            left += zip(a.src, b.src, strict=True)


def is_in_parts(before: UOp, after: UOp) -> bool:
    """Whether memory on several devices becomes that of its parts, in the order of the devices, and
    all of it: which names it gets is for the rule to say."""
    if before.op is not Ops.BUFFER or after.op is not Ops.MULTI:
        return False
    parts = [s.src[0] if s.op is Ops.RESHAPE else s for s in after.src]
    if len(set(parts)) < len(parts) or any(p.op is not Ops.BUFFER for p in parts):
        return False
    if before.device != tuple(p.device for p in parts):
        return False
    axis = None if not isinstance(before.arg, tuple) else 1
    return after.arg == axis and all(p.dtype == before.dtype for p in parts)


def _is_ast(u: UOp) -> bool:
    """Whether a node is the AST of a kernel, which is run as a whole."""
    return u.op is Ops.SINK or (u.op is Ops.COPY and u.src[0].op is Ops.DEFINE_GLOBAL)


def _combined(u: UOp, x: Any, y: Any) -> Array:
    return evaluate_arrays(u.arg, u.dtype, [x, y], u.dtype)
