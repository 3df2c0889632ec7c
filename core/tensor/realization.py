"""From lazy graphs to memory: which nodes to schedule, and which live Tensors get the result.

Schedules and runs through `create_schedule` and `run_schedule`; knows no kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.passes.schedule import ScheduleItem, create_schedule
from core.realize import run_schedule
from core.tensor.base import TensorBase, alive
from core.tensor.origin import origin
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

_keeps_all = GroupOp.Movement - {Ops.SHRINK}
_stored_anyway = frozenset({Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN})


def storage_root(uop: UOp) -> UOp:
    """The node to store for `uop`: below the movements that lose no element."""
    while uop.op in _keeps_all:
        uop = uop.src[0]
    return uop


def is_stored(uop: UOp) -> bool:
    """Whether nothing needs to run: memory or a constant, perhaps moved, or no elements at all."""
    return uop.base.op in (Ops.BUFFER, Ops.CONST) or uop.size == 0


def plan(tensors: Sequence[TensorBase]) -> list[ScheduleItem]:
    """The kernels and copies that would store `tensors`; no Tensor changes and nothing runs."""
    roots = {storage_root(t.uop): None for t in tensors if not is_stored(t.uop)}
    with origin(None):
        return create_schedule(UOp.sink(*roots))[0] if roots else []


def schedule(tensors: Sequence[TensorBase]) -> list[ScheduleItem]:
    """The kernels and copies that store `tensors`, in order; live Tensors now name the memory.

    Also stores what an assignment among them would overwrite while another live Tensor, not yet
    computed, still reads it: laziness never changes a value.
    """
    roots = {storage_root(t.uop): None for t in tensors if not is_stored(t.uop)}
    if not roots:
        return []
    waiting = [t for t in alive() if not is_stored(t.uop)]
    graph = UOp.sink(*roots).toposort()
    done: list[UOp] = []
    assigns = [u for u in graph if u.op is Ops.ASSIGN]
    while len(assigns) > len(done):
        done = assigns
        roots |= dict.fromkeys(assigns)
        roots |= dict.fromkeys(_overwritten_readers(waiting, assigns))
        graph = UOp.sink(*roots).toposort()
        assigns = [u for u in graph if u.op is Ops.ASSIGN]  # a reader may assign in its turn
    for t in waiting:
        root = storage_root(t.uop)
        if root.op in _stored_anyway and root in graph:
            roots[root] = None
    with origin(None):
        items, realized = create_schedule(UOp.sink(*roots))
    replace_in_live({root: realized[root] for root in roots if root in realized})
    return items


def realize(tensors: Sequence[TensorBase]) -> None:
    """Computes `tensors` and stores them; the graphs that made them are released."""
    items = schedule(tensors)
    if items:
        with origin(None):
            run_schedule(items)


def replace_in_live(replacements: dict[UOp, UOp], but: TensorBase | None = None) -> None:
    """Puts new nodes for old in the graph of every live Tensor that contains them."""
    if not replacements:
        return
    touched: dict[UOp, UOp] = dict(replacements)
    tensors = [t for t in alive() if t is not but and not is_stored(t.uop)]
    for u in UOp.sink(*(t.uop for t in tensors)).toposort(lambda u: u not in replacements):
        if u.op is not Ops.SINK and any(s in touched for s in u.src):
            touched[u] = u.rebuild(tuple(touched.get(s, s) for s in u.src))
    for t in tensors:
        t.uop = touched.get(t.uop, t.uop)


def _overwritten_readers(waiting: Iterable[TensorBase], assigns: Iterable[UOp]) -> list[UOp]:
    """Roots of uncomputed live Tensors that read, as it is now, memory that `assigns` overwrite."""
    scheduled = set(assigns)
    overwritten = {u.src[0].base for u in scheduled}
    tensors = list(waiting)
    reads: set[UOp] = set()
    for u in UOp.sink(*(t.uop for t in tensors)).toposort(lambda u: u not in scheduled):
        values = u.src[1:] if u.op is Ops.ASSIGN else u.src
        if u in overwritten or any(s in reads for s in values):
            reads.add(u)
    return [storage_root(t.uop) for t in tensors if t.uop in reads]
