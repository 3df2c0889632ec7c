"""Allreduce: values of several devices combined element by element, the same on each of them.

Naive: every device copies those of all others, which is one step, and moves (n - 1) values to each
of n devices. Ring: the value is cut into n chunks; each goes around once, taking up what each
device has of it, and once more with the result. These are 2 (n - 1) steps, but to each device move
only 2 (n - 1) / n values, whatever n is. Either way all devices get the same bits.

P. Patarasuk and X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations
(Journal of Parallel and Distributed Computing 69, 2009).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from core.helpers import RING, ceildiv
from core.passes.schedule.multi.regions import joined, on
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

RING_FROM: Final = 1 << 18
"""Elements from which on RING=1 takes the ring, of three devices or more: for two, both move one
value to each device."""
Combined = dict[UOp, tuple[UOp, ...]]
"""What each device has of an ALLREDUCE."""


@rule(UPat(Ops.MSELECT, src=(UPat(Ops.ALLREDUCE, name="a"),), name="s"))
def combine(ctx: Combined, s: UOp, a: UOp) -> UOp:
    """mselect(allreduce(a, b), 0) -> a + copy(b), or chunks of it that went around a ring"""
    if a not in ctx:
        ctx[a] = ring(a.src, a.arg) if takes_ring(a) else naive(a.src, a.arg)
    return ctx[a][s.arg[0]]


def takes_ring(a: UOp) -> bool:
    """Whether an ALLREDUCE goes around a ring, by RING."""
    if RING.value == 1:
        return len(a.src) > 2 and a.size >= RING_FROM
    return RING.value == 2 and a.size >= len(a.src)


def naive(parts: Sequence[UOp], op: Ops) -> tuple[UOp, ...]:
    """Each device copies the parts of all others. They are combined in one order everywhere."""
    return tuple(
        functools.reduce(lambda x, y: x.alu(op, y), (on(p, name) for p in parts))
        for name in map(_device, parts)
    )


def ring(parts: Sequence[UOp], op: Ops) -> tuple[UOp, ...]:
    """Chunk c starts at device c and goes to the next one, which adds its own, until it has been
    everywhere; then the result goes on from there."""
    count, shape = len(parts), parts[0].shaped
    devices = [_device(part) for part in parts]
    flat = [part.reshape((part.size,)) for part in parts]
    length = ceildiv(flat[0].size, count)
    gathered: list[list[UOp]] = [[] for _ in parts]
    for c, start in enumerate(range(0, flat[0].size, length)):
        own = [part.shrink(((start, min(start + length, part.size)),)) for part in flat]
        order = [(c + step) % count for step in range(count)]
        chunk = own[c]
        for i in order[1:]:
            chunk = on(chunk, devices[i]).alu(op, own[i])
        gathered[order[-1]].append(chunk)
        for i in order[:-1]:
            chunk = on(chunk, devices[i])
            gathered[i].append(chunk)
    return tuple(joined(chunks, 0).reshape(shape) for chunks in gathered)


def _device(part: UOp) -> str:
    device = part.device
    assert isinstance(device, str), "a part is on a device"
    return device


combining = PatternMatcher([combine], name="allreduce")
