"""What the scheduler decided outside of rewrites, as texts for those who watch: which values became
memory, in which order kernels run, and which results share memory. Nothing reads them back. Never
decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from core.passes.schedule.grouping.group import Decisions
from core.passes.schedule.item import ScheduleItem
from core.passes.schedule.kernels.kernelize import Kernels, buffer_of, version_of
from core.passes.schedule.linearize import Edges, memory_of, outputs_of
from core.passes.schedule.memoryplan import lifetimes, whole_of
from core.uop import Ops, UOp
from core.uop.kernels import is_lowered
from core.uop.show import node_line

Report = tuple[str, tuple[tuple[UOp, ...], ...]]
"""A text, and the nodes behind each of its lines."""
_ORDER: Final = (
    "; an item runs after those that it needs; of several that could be next, the first one in a "
    "depth-first walk from the outputs"
)


def grouping_report(sink: UOp, decisions: Decisions) -> Report:
    """A line for each value of the graph, sources first: the node, and why it is stored or computed
    where it is used."""
    order = list(sink.toposort())
    number = {u: k for k, u in enumerate(order)}
    decided = [u for u in order if u in decisions]
    stored = sum(decisions[u].startswith("stored") for u in decided)
    lines = [f"{stored} of {len(decided)} values stored"]
    for u in decided:
        shown = node_line(u, f"u{number[u]}", [f"u{number[s]}" for s in u.src])
        lines.append(f"{shown}  ; {decisions[u]}" + (f"  ({u.origin})" if u.origin else ""))
    return "\n".join(lines) + "\n", ((), *((u,) for u in decided))


def order_report(
    kernels: Sequence[UOp], before: Edges, notes: Kernels, items: Sequence[ScheduleItem]
) -> Report:
    """A line for each item of the schedule: what it stores, from how many buffers, and which items
    have to run before it. Behind a line are the KERNEL, and the memory that it is given."""
    number = {k: n for n, k in enumerate(kernels)}
    lines = [_ORDER]
    for k in kernels:
        outputs = outputs_of(k)
        made = {m.src[1] for m in map(version_of, memory_of(k)) if m.op is Ops.AFTER}
        makers = [number[o] for o in before[k] if o in made]
        readers = [number[o] for o in before[k] if o not in made]
        why = [f"uses what {_items(makers)} made"] if makers else []
        why += [f"overwrites what {_items(readers)} used"] if readers else []
        what = f"copy from {memory_of(k)[1].one_device}" if k.src[0].op is Ops.COPY else "kernel"
        what += " written by hand" if is_lowered(k.src[0]) else ""
        stored = ", ".join(f"{_shown(buffer_of(m))} {m.one_device}" for m in outputs)
        sources = len(memory_of(k)) - len(outputs)
        used = f"{sources} more buffer{'' if sources == 1 else 's'}"
        asked = ", ".join(notes.origins_of(k))
        lines.append(
            f"item {number[k]} = {what} stores {stored}, {used}"
            f"  ; {'; '.join(why) or 'needs no other item'}" + (f"  ({asked})" if asked else "")
        )
    behind = ((k, *item.bufs) for k, item in zip(kernels, items, strict=True))
    return "\n".join(lines) + "\n", ((), *behind)


def memory_report(
    before: Sequence[ScheduleItem], after: Sequence[ScheduleItem], temporary: Iterable[UOp]
) -> Report:
    """A line for each intermediate result: its size, the items of the schedule between which it is
    alive, and the memory that it shares. `before` and `after` planning, item by item."""
    alive = lifetimes(before, set(temporary))
    place: dict[UOp, UOp] = {}
    for old, new in zip(before, after, strict=True):
        place.update((whole_of(a), whole_of(b)) for a, b in zip(old.bufs, new.bufs, strict=True))
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
            f"t{number[buf]} = {_shown(buf)} {buf.device}, {_bytes(buf):,} bytes, "
            f"items {first} to {last}  ; {shares}"
        )
    return "\n".join(lines) + "\n", ((), *(((buf,) if place[buf] is buf else (buf, place[buf]))
                                           for buf in alive))  # fmt: skip


def _items(numbers: Sequence[int]) -> str:
    return ("item " if len(numbers) == 1 else "items ") + ", ".join(map(str, sorted(numbers)))


def _shown(buf: UOp) -> str:
    return f"{buf.dtype}[{buf.size}]"


def _bytes(buf: UOp) -> int:
    return buf.size * buf.dtype.itemsize
