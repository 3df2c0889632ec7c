"""What the scheduler decided outside of rewrites, as texts for those who watch: which values became
memory, and which results share it. Nothing reads them back. Never decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from core.passes.schedule.group import Decisions
from core.passes.schedule.item import ScheduleItem
from core.passes.schedule.memory import lifetimes, memory_of
from core.uop import UOp
from core.uop.show import node_line

Report = tuple[str, tuple[tuple[UOp, ...], ...]]
"""A text, and the nodes behind each of its lines."""


def grouping_report(sink: UOp, decisions: Decisions) -> Report:
    """A line for each value that grouping decided about, sources first: the node, and why it is
    stored or computed where it is used."""
    order = list(sink.toposort())
    number = {u: k for k, u in enumerate(order)}
    decided = [u for u in order if u in decisions]
    stored = sum(decisions[u].startswith("stored") for u in decided)
    lines = [f"{stored} of {len(decided)} values stored"]
    for u in decided:
        shown = node_line(u, f"u{number[u]}", [f"u{number[s]}" for s in u.src])
        lines.append(f"{shown}  ; {decisions[u]}" + (f"  ({u.origin})" if u.origin else ""))
    return "\n".join(lines) + "\n", ((), *((u,) for u in decided))


def memory_report(
    before: Sequence[ScheduleItem], after: Sequence[ScheduleItem], temporary: Iterable[UOp]
) -> Report:
    """A line for each intermediate result: its size, the items of the schedule between which it is
    alive, and the memory that it shares. `before` and `after` planning, item by item."""
    alive = lifetimes(before, set(temporary))
    place: dict[UOp, UOp] = {}
    for old, new in zip(before, after, strict=True):
        place.update((memory_of(a), memory_of(b)) for a, b in zip(old.bufs, new.bufs, strict=True))
    number = {buf: k for k, buf in enumerate(alive)}
    users = Counter(place[buf] for buf in alive)
    needed = sum(_bytes(buf) for buf in alive)
    taken = sum(_bytes(buf) for buf in users)
    lines = [f"{len(alive)} intermediate results of {needed:,} bytes in {taken:,} bytes"]
    for buf, (first, last) in alive.items():
        own = place[buf]
        shares = f"in the memory of t{number[own]}" if own is not buf else "in memory of its own"
        if own is buf and users[buf] > 1:
            shares += f", which {users[buf] - 1} later ones reuse"
        lines.append(
            f"t{number[buf]} = {buf.dtype}[{buf.size}] {buf.device}  items {first} to {last}"
            f"  ; {shares}"
        )
    return "\n".join(lines) + "\n", ((), *(((buf,) if place[buf] is buf else (buf, place[buf]))
                                           for buf in alive))  # fmt: skip


def _bytes(buf: UOp) -> int:
    return buf.size * buf.dtype.itemsize
