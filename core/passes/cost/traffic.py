"""Bytes that move between caches, predicted.

Memory moves between two caches as often as what is used in between does not fit the nearer one
(Gannon, Jalby, Gallivan: "Strategies for cache and local memory management by global program
transformation", 1988). Never measures.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from core.helpers import prod
from core.passes.cost.nest import Access
from core.passes.cost.way import Way

LINE: Final = 64
"""Bytes of a line of a cache."""
PAGE: Final = 4096
"""Bytes after which lines share a set of the first cache, of which there are WAYS in each."""
WAYS: Final = 8
PANEL: Final = 1 << 18
"""Bytes of memory that is copied close together at most: half of the second-level cache of the
smaller processors in use."""
FAR: Final = 512
"""Bytes of a step that is too long for the prefetchers of most processors to follow well."""
REPEATS: Final = 8
"""Passes of the inner loop from which a copy pays."""
_UNKNOWN: Final = 1 << 40
"""Bytes of a step that changes: as far as a step may be."""


def traffic(way: Way, sizes: tuple[int, ...]) -> list[float]:
    """Bytes that come from beyond caches of these sizes, the smallest first."""
    accesses = way.nest.accesses
    order = [i for i in (*way.plan.order, *way.inner) if way.rest[i] > 1]
    touched = [[_footprint(way, a, order[at:]) for a in accesses] for at in range(len(order) + 1)]
    weights = [_weight(way, a, order) for a in accesses]
    found: list[float] = []
    for size in sizes:
        period = size // WAYS
        if sum(lines for lines, _ in touched[0]) <= size:
            found.append(0.0)
            continue
        taken = (sum(lines * _crowding(step, period) for lines, step in row) for row in touched)
        fits = next((at for at, room in enumerate(taken) if room <= size), len(order))
        # a loop around what fits brings what it touches once, those around that again each time
        outside = max(0, fits - 1)
        again = 1.0
        for i in order[:outside]:
            again *= way.rest[i]
        moved = sum(lines * w for (lines, _), w in zip(touched[outside], weights, strict=True))
        found.append(again * moved)
    return found


def is_staged(way: Way, access: Access) -> bool:
    """Whether what an access reads far apart, or by a gate, is first copied close together (see
    `stage`)."""
    last = way.plan.order[-1] if way.plan.order else -1
    if last < 0 or access.store or (access.loops | access.gated) >> last & 1:
        return False
    steps = [access.strides[i] for i in way.inner if way.rest[i] > 1 and access.strides[i] != 0]
    size = access.itemsize
    for i, stride in enumerate(access.strides):
        if stride != 0:
            size *= way.lanes[i] * (way.rest[i] if i in way.inner else 1)
    least = 0 if access.gated else FAR
    far = all(s is not None and abs(s) * access.itemsize >= least for s in steps)
    return bool(steps) and far and way.rest[last] >= REPEATS and size <= PANEL


def _footprint(way: Way, access: Access, inner: list[int]) -> tuple[float, int]:
    """(bytes of the lines that an access touches in the loops `inner` and all lanes, bytes from one
    run of neighbours to the next, 0 where there is one)."""
    steps: list[tuple[int, int]] = []
    for i, stride in enumerate(access.strides):
        n = way.lanes[i] * (way.rest[i] if i in inner else 1)
        if n == 1 or stride == 0:
            continue
        steps.append((_UNKNOWN if stride is None else abs(stride) * access.itemsize, n))
    if access.gated and is_staged(way, access):
        return float(access.itemsize * prod(n for _, n in steps)), 0
    steps.sort()
    run, count, apart = access.itemsize, 1, 0
    for step, n in steps:
        if step <= max(run, LINE):
            run += (n - 1) * step
        else:
            count *= n
            apart = apart or step
    lines = count * max(LINE, run)
    if run > LINE or (apart and is_staged(way, access)):
        apart = 0
    return float(min(lines, max(access.bytes, LINE))), apart if count > WAYS else 0


def _crowding(step: int, period: int) -> float:
    """How much more room lines take that are `step` bytes apart in a cache whose sets repeat after
    `period` bytes: those of a power of two share few sets."""
    return 1.0 if step <= LINE else max(1.0, min(step, gcd(step, period)) / LINE)


def _weight(way: Way, access: Access, order: list[int]) -> float:
    """What a byte that is moved costs: more where it is written, where it is not next to the last
    one, and where lanes are so far apart that their lines share a set of the first cache."""
    weight = 2.0 if access.store else 1.0  # a line that is written to is read before
    steps = [(abs(access.strides[i] or 0) * access.itemsize, n) for i, n in way.fastest]
    run = visited = access.itemsize
    for near, n in sorted(steps):
        if near:
            visited *= n
        if 0 < near <= run:
            run += near * (n - 1)
    if is_staged(way, access):
        return weight
    for step, n in steps:
        crowded = n * gcd(step, PAGE) / (PAGE * WAYS) if step >= LINE else 0.0
        if crowded >= 0.5:
            weight *= way.cpu.crowd if crowded <= 1.0 else max(way.cpu.crowd, LINE / run)
    last = next((i for i in reversed(order) if access.strides[i] != 0), None)
    if last is None:
        return weight
    step = access.strides[last]
    if step is None or abs(step) * access.itemsize > max(run, 2 * LINE):
        weight *= max(1.0, 4 * LINE / max(LINE, visited)) ** min(1.0, way.cpu.jump)
    return weight
