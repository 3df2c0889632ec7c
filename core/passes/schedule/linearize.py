"""Linear schedule: the kernels of a kernelized graph in an order in which they can run.

A kernel comes after those that fill its arguments, and a kernel that overwrites memory comes after
all that read what was there before. Among the possible orders it takes the one nearest to the
depth-first order of the graph, in which a result is used soon after it was made, so that little
memory is alive at a time. Never changes a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from core.errors import ScheduleError
from core.passes.schedule.item import ScheduleItem
from core.passes.schedule.kernels.kernelize import LEAVES, Kernels, buffer_of, version_of
from core.uop import Ops, UOp
from core.uop.kernels import output_count

Edges = dict[UOp, dict[UOp, None]]
_graph_ops = LEAVES | {Ops.VIEW, Ops.KERNEL}


def kernels_of(sink: UOp) -> list[UOp]:
    """All KERNELs that `sink` needs, sources first."""
    order = sink.toposort(lambda u: u is sink or u.op in _graph_ops)
    return [u for u in order if u.op is Ops.KERNEL]


def outputs_of(kernel: UOp) -> tuple[UOp, ...]:
    """The memory that a KERNEL overwrites, as it was before."""
    return kernel.src[1 : 1 + output_count(kernel.src[0])]


def memory_of(kernel: UOp) -> tuple[UOp, ...]:
    """The memory of a KERNEL, in the order of its arguments."""
    return tuple(m for m in kernel.src[1:] if m.op is not Ops.BIND)


def inputs_of(kernel: UOp) -> list[UOp]:
    """The memory that a KERNEL reads, besides what it overwrites."""
    return [version_of(m) for m in memory_of(kernel)[len(outputs_of(kernel)) :]]


class Overwrite(NamedTuple):
    """`reader` needs memory in the state `version`, which `writer` overwrites."""

    reader: UOp
    version: UOp
    writer: UOp


def overwrites(kernels: list[UOp]) -> Iterator[Overwrite]:
    """Each kernel that has to run before another because it reads what that one overwrites."""
    readers: dict[UOp, list[UOp]] = {}
    writers: dict[UOp, list[UOp]] = {}
    for k in kernels:
        for version in inputs_of(k):
            readers.setdefault(version, []).append(k)
        for memory in outputs_of(k):
            writers.setdefault(version_of(memory), []).append(k)
    for version, overwriting in writers.items():
        reading = [(r, version) for r in readers.get(version, [])]
        for writer in overwriting:
            yield from (Overwrite(r, v, writer) for r, v in reading if r is not writer)
            made = version.after(writer)
            reading = [(writer, version), *((r, made) for r in readers.get(made, []))]


def needs(kernels: list[UOp]) -> Edges:
    """For each kernel, those that must have run before it."""
    before: Edges = {k: {} for k in kernels}
    for k in kernels:
        for memory in memory_of(k):
            version = version_of(memory)
            if version.op is Ops.AFTER:
                before[k][version.src[1]] = None
    for reader, _, writer in overwrites(kernels):
        before[writer][reader] = None
    return before


def in_order(kernels: list[UOp], before: Edges) -> list[UOp]:
    """The kernels in an order in which they can run, near to the given one; without those that
    wait for each other, and what needs them."""
    place = {k: n for n, k in enumerate(kernels)}
    after: Edges = {k: {} for k in kernels}
    for k, needed in before.items():
        for other in needed:
            after[other][k] = None
    missing = {k: len(needed) for k, needed in before.items()}
    ready = [place[k] for k in kernels if not missing[k]]
    heapify(ready)
    order: list[UOp] = []
    while ready:
        k = kernels[heappop(ready)]
        order.append(k)
        for user in after[k]:
            missing[user] -= 1
            if not missing[user]:
                heappush(ready, place[user])
    return order


def ordered(sink: UOp, notes: Kernels) -> tuple[list[UOp], Edges]:
    """All kernels below `sink` in an order in which they can run, and those that each needs.

    Raises ScheduleError where kernels need each other, naming two of them.
    """
    kernels = kernels_of(sink)
    before = needs(kernels)
    order = in_order(kernels, before)
    if len(order) < len(kernels):
        done = set(order)
        raise _cycle([k for k in kernels if k not in done], before, notes)
    return order, before


def item_of(kernel: UOp, notes: Kernels) -> ScheduleItem:
    """A KERNEL as it will run."""
    bufs = tuple(buffer_of(m) for m in memory_of(kernel))
    binds = {b.src[0].arg[0]: b.src[1].arg for b in kernel.src if b.op is Ops.BIND}
    return ScheduleItem(kernel.src[0], bufs, notes.origins_of(kernel), binds)


def _cycle(left: list[UOp], before: Edges, notes: Kernels) -> ScheduleError:
    """The error for kernels that wait for each other: two neighbours on a way around."""
    waiting = set(left)
    seen: dict[UOp, None] = {}
    k = left[0]
    while k not in seen:
        seen[k] = None
        k = next(other for other in before[k] if other in waiting)
    other = next(o for o in before[k] if o in waiting)
    names = [
        f"{'copy' if x.src[0].op is Ops.COPY else 'kernel'} that stores {outputs_of(x)[0].size}"
        f" elements, from {', '.join(notes.origins_of(x)) or 'unknown lines'}"
        for x in (k, other)
    ]
    return ScheduleError(
        "two kernels need each other: each reads memory that the other overwrites",
        where="\n".join(names),
        hint="keep the old value in memory of its own before assigning: old = x.clone().realize()",
    )
