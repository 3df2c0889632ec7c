"""Memory planner: intermediate results share memory when they are not alive at the same time.

Works on a finished schedule. Only memory that the schedule made for itself takes part, never an
output. Never changes the order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from core.passes.schedule.item import ScheduleItem
from core.uop import Ops, UOp


def whole_of(buf: UOp) -> UOp:
    """The whole BUFFER that an argument of an item is, or is a part of."""
    return buf.src[0] if buf.op is Ops.BUFFER_VIEW else buf


def lifetimes(items: Sequence[ScheduleItem], own: Collection[UOp]) -> dict[UOp, tuple[int, int]]:
    """For each BUFFER in `own` that is used, the first and the last item that use it."""
    found: dict[UOp, tuple[int, int]] = {}
    for n, item in enumerate(items):
        for buf in map(whole_of, item.bufs):
            if buf in own:
                found[buf] = (found[buf][0] if buf in found else n, n)
    return found


def plan_memory(items: Sequence[ScheduleItem], temporary: Iterable[UOp]) -> list[ScheduleItem]:
    """The schedule with each temporary BUFFER replaced by an earlier one of the same device, dtype
    and size whose last use is over."""
    own = set(temporary)
    alive = lifetimes(items, own)
    free: dict[tuple[object, object, int], list[UOp]] = {}
    shared: dict[UOp, UOp] = {}
    planned: list[ScheduleItem] = []
    for n, item in enumerate(items):
        used = [buf for buf in dict.fromkeys(map(whole_of, item.bufs)) if buf in own]
        for buf in used:
            if buf not in shared:
                same = free.get((buf.device, buf.dtype, buf.size))
                shared[buf] = same.pop() if same else buf
        planned.append(replace(item, bufs=tuple(b.substitute(shared) for b in item.bufs)))
        for buf in used:
            if alive[buf][1] == n:
                kind = (buf.device, buf.dtype, buf.size)
                free.setdefault(kind, []).append(shared[buf])
    return planned
