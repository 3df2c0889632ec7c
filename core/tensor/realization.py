"""From lazy graphs to memory: which nodes to schedule, and which live Tensors get the result.

Schedules and runs through `create_schedule` and `run_schedule`; knows no kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ScheduleError
from core.passes.schedule import ScheduleItem, create_schedule
from core.realize import run_schedule
from core.tensor.base import TensorBase, live, placed
from core.tensor.live import KEEPS_ALL, is_stored
from core.tensor.origin import origin
from core.uop.ops import Ops
from core.uop.uop import UOp

_stored_anyway = frozenset({Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN})


def storage_root(uop: UOp) -> UOp:
    """The node to store for `uop`: below the movements that lose no element."""
    while uop.op in KEEPS_ALL:
        uop = uop.src[0]
    return uop


def plan(tensors: Sequence[TensorBase]) -> list[ScheduleItem]:
    """The kernels and copies that would store `tensors`; no Tensor changes and nothing runs."""
    roots = {storage_root(placed(t)): None for t in tensors if not is_stored(t.uop)}
    with origin(None):
        return create_schedule(UOp.sink(*roots))[0] if roots else []


def schedule(tensors: Sequence[TensorBase]) -> list[ScheduleItem]:
    """The kernels and copies that store `tensors`, in order; live Tensors now name the memory.

    Also stores what an assignment among them would overwrite while another live Tensor, not yet
    computed, still reads it: laziness never changes a value. An assignment that cannot be done is
    forgotten with its error: its target keeps its values.
    """
    roots = {storage_root(placed(t)): None for t in tensors if not is_stored(t.uop)}
    if not roots:
        return []
    graph = UOp.sink(*roots).toposort()
    done: list[UOp] = []
    assigns = [u for u in graph if u.op is Ops.ASSIGN]
    while len(assigns) > len(done):
        done = assigns
        roots |= dict.fromkeys(assigns)
        roots |= dict.fromkeys(_overwritten_readers(assigns))
        graph = UOp.sink(*roots).toposort()
        assigns = [u for u in graph if u.op is Ops.ASSIGN]  # a reader may assign in its turn
    roots |= dict.fromkeys(u for u in graph if u.op in _stored_anyway and live.is_wanted(u))
    try:
        with origin(None):
            items, realized = create_schedule(UOp.sink(*roots))
    except ScheduleError as error:
        failed = [u for u in graph if u.op is Ops.ASSIGN and u.src[0].base in error.targets]
        replace_in_live({u: u.src[0] for u in failed})
        raise
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
    above, tensors = live.above(replacements)
    tensors = [t for t in tensors if t is not but]
    graphs = UOp.sink(*(t.uop for t in tensors))
    for u in graphs.toposort(lambda u: u in above or u is graphs):
        if u is not graphs:
            touched[u] = u.rebuild(tuple(touched.get(s, s) for s in u.src))
    for t in tensors:
        t.uop = touched[t.uop]


def _overwritten_readers(assigns: Sequence[UOp]) -> list[UOp]:
    """Roots of uncomputed live Tensors that read, as it is now, memory that `assigns` overwrite."""
    scheduled = set(assigns)

    def reads(user: UOp, source: UOp) -> bool:
        if user in scheduled:
            return False
        return user.op is not Ops.ASSIGN or source in user.src[1:]

    _, tensors = live.above({u.src[0].base: None for u in assigns}, reads)
    return [storage_root(t.uop) for t in tensors]
