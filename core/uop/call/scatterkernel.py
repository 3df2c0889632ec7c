"""The kernel that writes values to picked elements of memory: loops and single elements.

It goes over the values, not over the memory: it costs what is written. Of equal places the last one
wins, on every device and each time. Knows nothing of Tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.dtype import dtypes
from core.helpers import ceildiv, prod
from core.target import Target
from core.uop.call.kernelcall import Parameter
from core.uop.call.scatter import Scatter
from core.uop.kernelinfo import KernelInfo
from core.uop.uop import UOp

THREADS: Final = 1 << 14
"""Threads that a kernel of a GPU is cut into at most, unless it has more rows than that."""
WIDTH: Final = 64
"""Threads of a group."""


def scatter_kernel(
    how: Scatter, target: Target, out: Parameter, index: Parameter, source: Parameter
) -> UOp:
    """out[..., index, ...] = out[..., index, ...] op source for each element of `index` and
    `source`, which are repeated along axes of length 1, in their order. An index that is none is
    left out.

    On a GPU each thread has a part of the axis of its own, and goes over all indices for that.
    """
    lengths = [max(a, b) for a, b in zip(index.shape, source.shape, strict=True)]
    places = _Places.of(how.axis, lengths, out, target)
    last: UOp | None = None
    if how.anew:
        last = _over(how, places, out, index, source, start=True, before=None)
    last = _over(how, places, out, index, source, start=False, before=last)
    return UOp.sink(last, arg=KernelInfo(opts=()))


@dataclass(frozen=True)
class _Places:
    """Where a thread is on each axis, and which of the elements along the one that is written are
    its own."""

    at: list[UOp]
    inside: UOp | None
    first: UOp | None
    size: int
    lengths: list[int]
    axis: int

    @classmethod
    def of(cls, axis: int, lengths: list[int], out: Parameter, target: Target) -> _Places:
        if not target.has_local:
            return cls([], None, None, 0, lengths, axis)
        rest = [n for k, n in enumerate(lengths) if k != axis]
        rows, count = prod(rest), out.shape[axis]
        parts = max(1, min(count, THREADS // max(1, rows)))
        size = ceildiv(count, parts)
        total = rows * ceildiv(count, size)
        width = min(WIDTH, total)
        thread = UOp.special(ceildiv(total, width), "gidx0") * width + UOp.special(width, "lidx0")
        left, at = thread % rows, list[UOp]()
        for n in reversed(rest):
            at.insert(0, left % n)
            left = left // n
        at.insert(axis, thread)
        inside = None if total % width == 0 else thread < total
        return cls(at, inside, thread // rows * size, size, lengths, axis)

    def loops(self, number: int) -> tuple[list[UOp], list[UOp]]:
        """The place on each axis, and the loops among them, numbered from `number` on."""
        if self.first is None:
            made = [UOp.range(n, number + k) for k, n in enumerate(self.lengths)]
            return made, made
        loop = UOp.range(self.lengths[self.axis], number)
        return [loop if k == self.axis else i for k, i in enumerate(self.at)], [loop]


def _over(
    how: Scatter,
    places: _Places,
    out: Parameter,
    index: Parameter,
    source: Parameter,
    start: bool,
    before: UOp | None,
) -> UOp:
    """One way over all indices, after `before`: that writes what values start from, or that writes
    values."""
    at, loops = places.loops(0 if before is None else len(places.lengths))
    n = index[tuple(i if m > 1 else 0 for i, m in zip(at, index.shape, strict=True))].load()
    gate = n < out.shape[how.axis]
    if not dtypes.is_unsigned(n.dtype):
        gate = gate & (n < 0).logical_not()
    if places.first is not None:
        first = places.first.cast(n.dtype)
        gate = gate & (n < first).logical_not() & (n < first + places.size)
    if places.inside is not None:
        gate = gate & places.inside
    # the gate says so, too: but who has a kernel from a stranger believes no gate
    held = n.maximum(0).minimum(out.shape[how.axis] - 1)
    place = out.at(*(held if k == how.axis else i for k, i in enumerate(at)), gate=gate)
    memory = out.pointer if before is None else out.pointer.after(before)
    # each iteration finds what those before it have written: the loops run in sequence
    here = place.replace(src=(memory.after(*loops), *place.src[1:]))
    place = place.replace(src=(memory, *place.src[1:]))
    if start:
        value = UOp.const(out.dtype, how.start(out.dtype))
    else:
        value = source[tuple(i if m > 1 else 0 for i, m in zip(at, source.shape, strict=True))]
        value = value.load()
        if how.op is not None:
            value = how.combined(here.load(value.const_like(0)), value)
        else:
            place = here
    return place.store(value).end(*loops)
