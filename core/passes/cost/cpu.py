"""The time of a nest on a processor with vector units and caches, predicted.

Instructions are counted where they stand: in the innermost loop that they need. Memory moves
between two caches as often as what is used in between does not fit the nearer one (Gannon, Jalby,
Gallivan: "Strategies for cache and local memory management by global program transformation",
1988); the slowest of arithmetic, moves and the chain of a reduce decides (Williams, Waterman,
Patterson: "Roofline", 2009). Never measures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Final

from core.hardware.cpu import Cpu
from core.helpers import ceildiv, prod
from core.passes.cost.nest import Access, Nest, bits
from core.passes.cost.plan import Plan
from core.target import Target

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


@dataclass(frozen=True, slots=True)
class Predicted:
    """Cycles of a launch, and of each of its parts. `bound` names the part that decides."""

    cycles: float
    parts: dict[str, float]
    bound: str


@dataclass(frozen=True, slots=True)
class _Way:
    """A plan, taken apart once: `rest` iterations of each loop, `lanes` of each; `inner`: those
    inside of the loops over outputs."""

    nest: Nest
    plan: Plan
    cpu: Cpu
    rest: list[int]
    lanes: list[int]
    inner: list[int]
    fastest: list[tuple[int, int]]

    def times(self, loops: int) -> float:
        """How often what depends on `loops` is done."""
        inside = 0
        for r in self.nest.reduces:
            if r.own & loops:
                inside |= r.outer
        loops |= inside
        n, pending = 1.0, 1.0
        for i in self.plan.order:
            pending *= self.rest[i]
            if loops >> i & 1:
                n, pending = n * pending, 1.0
        for i in self.inner:
            if loops >> i & 1:
                n *= self.rest[i]
        return n

    def width(self, loops: int) -> int:
        """Lanes of a value that depends on `loops`."""
        n = 1
        for i, lanes in enumerate(self.lanes):
            if lanes > 1 and loops >> i & 1:
                n *= lanes
        return n


def predicted(nest: Nest, plan: Plan, target: Target, cpu: Cpu) -> Predicted:
    """What a launch takes."""
    if plan.lanes == 1 and (lanes := _found_by_compiler(nest, plan, target)):
        plan = replace(plan, upcast=lanes)
    if plan.pad >= 0:
        nest = _padded(nest, plan.pad)
    rest = plan.rest(nest)
    lanes = [a * b * c for a, b, c in zip(plan.upcast, plan.unroll, plan.group, strict=True)]
    inner = [i for i in range(len(nest.loops)) if i not in plan.order]
    way = _Way(nest, plan, cpu, rest, lanes, inner, plan.lane_order())
    simd = target.simd_bytes
    alu = _arithmetic(way, simd)
    loads = stores = shuffles = streams = 0.0
    for access in nest.accesses:
        times = way.times(access.loops)
        if access.gated and _staged(way, access):  # its gate is looked at where it is copied
            copied = times / rest[plan.order[-1]]
            loads += copied * _moves(way, access, simd)[0]
            stores += copied * ceildiv(way.width(access.loops) * access.itemsize, simd)
            access = replace(access, gated=0)
        moved, shuffled, apart = _moves(way, access, simd)
        shuffles += times * shuffled
        streams += apart
        if access.store:
            stores += times * moved
        else:
            loads += times * moved
    turns, left = _turns(way)
    instructions = alu + loads + stores + shuffles + 2 * turns
    chain, combined, spilled = _chains(way, simd, instructions)
    l2, l3, memory = _traffic(way, (cpu.l1, cpu.l2, cpu.l3))
    far = 1.0 + cpu.stream * max(0.0, streams - cpu.streams)
    parts = {
        "arithmetic": (alu + cpu.shuffle * shuffles) / cpu.alu + combined,
        "instructions": (instructions + 2 * spilled) / cpu.issue,
        "loads": (loads + cpu.spill * spilled) / cpu.loads,
        "stores": (stores + cpu.spill * spilled) / cpu.stores,
        "chain": chain + combined,
        "L2": l2 / cpu.l2_rate,
        "L3": far * l3 / cpu.l3_rate,
        "memory": far * memory / cpu.memory_rate,
    }
    # what one core does; parts overlap, though never wholly
    values = list(parts.values())
    most = max(values)
    core = most + cpu.apart * (sum(values) - most) + cpu.leave * left
    core *= 1.0 + cpu.long * ceildiv(4 * plan.lanes, simd)  # long programs
    parts["loops"] = cpu.leave * left
    total = core
    if plan.thread:
        first = rest[plan.order[0]] if plan.order else 1
        used = min(cpu.cores, first)
        if used > 1:
            piece = ceildiv(first, used * 4)
            share = ceildiv(ceildiv(first, piece), used) * piece / first
            parts["threads"] = cpu.share
            total = max(core * share, memory / cpu.shared_rate) + cpu.share
    bound = max(parts, key=parts.__getitem__)
    return Predicted(total + cpu.start, parts, bound)


def _padded(nest: Nest, loop: int) -> Nest:
    """A nest in which addresses are gated that depend on a loop that becomes longer."""
    one = 1 << loop
    gated = tuple(
        replace(a, gated=a.gated | one) if a.strides[loop] != 0 else a for a in nest.accesses
    )
    return replace(nest, accesses=gated)


def _found_by_compiler(nest: Nest, plan: Plan, target: Target) -> tuple[int, ...] | None:
    """The lanes that LLVM makes of a loop over outputs whose memory lies side by side."""
    if nest.reduces or not plan.order:
        return None
    last = plan.order[-1]
    near = all(a.strides[last] in (0, 1) and not a.gated >> last & 1 for a in nest.accesses)
    wide = 2 * target.simd_bytes // 4
    if not near or nest.loops[last].size < 2 * wide:
        return None
    return tuple(wide if i == last else 1 for i in range(len(nest.loops)))


def _arithmetic(way: _Way, simd: int) -> float:
    """Instructions of arithmetic."""
    total = 0.0
    for w in way.nest.work:
        width = way.width(w.loops)
        count = width if w.scalar else _vectors(width, max(1, simd // w.itemsize))
        total += way.times(w.loops) * w.cost * count
    return total


def _vectors(lanes: int, per: int) -> int:
    """Vectors of at most `per` lanes that hold so many, each of a power of two."""
    return lanes // per + (lanes % per).bit_count()


def _moves(way: _Way, access: Access, simd: int) -> tuple[float, float, float]:
    """(moves, instructions that put lanes in place, runs of memory) of an access, each time."""
    per = max(1, simd // access.itemsize)
    strides = access.strides
    chunk, run, segments, spread = 1, 1, 1, 1
    inside = True
    distinct = 1
    for i, n in way.fastest:
        stride = strides[i]
        reaches = access.loops >> i & 1
        if inside and chunk < per:
            taken = n
            if segments == 1 and stride == run and run == chunk:
                run *= n
            elif segments == 1 and run == 1 and not reaches:
                pass  # the same for all
            else:
                segments *= min(n, ceildiv(per, chunk))
            chunk *= taken
            if reaches:
                distinct *= n
            inside = chunk < per
        elif segments == 1 and stride == run and run == chunk:
            run, chunk = run * n, chunk * n
            distinct *= n
        elif reaches:
            spread *= n
            distinct *= n
    gate, by_lanes = 1.0, any(access.gated >> i & 1 for i, _ in way.fastest)
    if access.gated:
        gate += way.cpu.gate * (
            0.5 if not by_lanes else 1.0 if segments == 1 and not access.store else 3.0
        )
    # rows of lanes that vectors begin and end amid are put together from two
    first = way.fastest[0][1] if way.fastest else 1
    crossing = 0.0
    if len(way.fastest) > 1 and first % per and per % first:
        crossing = way.cpu.cross * way.plan.lanes / per * (2.5 if first < per else 1.0)
    if by_lanes and not access.store and segments == 1:
        crossing += 1.5 * spread * ceildiv(run, per)
    if segments > 1:
        # a square of lanes that is read along one side is turned round in registers
        beside = max((n for i, n in way.fastest if strides[i] == 1), default=1)
        if min(beside, per) >= per // 2 > 1:
            turned = distinct * way.cpu.turn
            return distinct / min(beside, per) * gate, max(crossing, turned), distinct / beside
        moves = float(distinct)
        spread_out = distinct / min(per, max(1, run))
        return moves * gate, max(crossing, moves * way.cpu.gather), spread_out
    if run > 1:
        return spread * ceildiv(run, per) * gate, crossing, spread
    return spread * gate, crossing, spread


def _chains(way: _Way, simd: int, instructions: float) -> tuple[float, float, float]:
    """(cycles of the chains of reduces, cycles of putting lanes together, vectors that do not fit
    the registers, in all)."""
    cycles = combined = spilled = 0.0
    for r in way.nest.reduces:
        own = bits(r.own)
        grouped = turned = 1
        once = steps = way.times(r.own | r.outer)
        for i in own:
            grouped *= way.plan.group[i]
            turned *= way.plan.unroll[i]
            once /= way.rest[i]
        outputs = way.width(r.outer)
        if grouped > 1:  # lanes of sums are put together in the end
            even = grouped & -grouped
            combined += (
                once * outputs * way.cpu.combine * (even.bit_length() + 8 * (grouped // even - 1))
            )
        if once == steps:
            if grouped > 1 and turned > 1:  # nothing is left to be added lane by lane
                combined += once * outputs * grouped * turned / 2
            continue
        vectors = ceildiv(outputs * grouped * r.itemsize, simd)
        # a processor begins the next sum while it waits for a short one
        beside = max(1.0, way.cpu.window / max(1.0, instructions / once))
        if turned > 1 and outputs * grouped == 1:
            cycles += steps * way.cpu.latency * 3 * (turned.bit_length() - 1) / beside
        cycles += steps * (turned if outputs > 1 else 1) * way.cpu.latency / beside
        amid = len(way.fastest) > 1 and vectors > 1 and way.fastest[0][1] * r.itemsize % simd
        live = vectors * (1 + way.cpu.beside * ((turned > 1) + bool(amid))) + way.cpu.held
        if live > way.cpu.registers:
            spilled += steps * turned * (live - way.cpu.registers)
    return cycles, combined, spilled


def _turns(way: _Way) -> tuple[float, float]:
    """(turns of loops, how often loops are left)"""
    turns, left, outside = 0.0, 0.0, 1.0
    for i in way.plan.order:
        if way.rest[i] > 1:
            left += outside
            outside *= way.rest[i]
            turns += outside
    for r in way.nest.reduces:
        inside = way.times(r.outer) if r.outer else 1.0
        for i in bits(r.own):
            if way.rest[i] > 1:
                left += inside
                inside *= way.rest[i]
                turns += inside
    return turns, left


def _traffic(way: _Way, sizes: tuple[int, ...]) -> list[float]:
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


def _crowding(step: int, period: int) -> float:
    """How much more room lines take that are `step` bytes apart in a cache whose sets repeat after
    `period` bytes: those of a power of two share few sets."""
    return 1.0 if step <= LINE else max(1.0, min(step, gcd(step, period)) / LINE)


def _weight(way: _Way, access: Access, order: list[int]) -> float:
    """What a byte that is moved costs: more where it is written, where it is not next to the last
    one, and where lanes are so far apart that their lines share a set of the first cache."""
    weight = 2.0 if access.store else 1.0
    steps = [(abs(access.strides[i] or 0) * access.itemsize, n) for i, n in way.fastest]
    run = visited = access.itemsize
    for near, n in sorted(steps):
        if near:
            visited *= n
        if 0 < near <= run:
            run += near * (n - 1)
    if _staged(way, access):
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


def _staged(way: _Way, access: Access) -> bool:
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
    long = 0 if access.gated else FAR
    far = all(s is not None and abs(s) * access.itemsize >= long for s in steps)
    return bool(steps) and far and way.rest[last] >= REPEATS and size <= PANEL


def _footprint(way: _Way, access: Access, inner: list[int]) -> tuple[float, int]:
    """(bytes of the lines that an access touches in the loops `inner` and all lanes, bytes from one
    run of neighbours to the next, 0 where there is one)."""
    steps: list[tuple[int, int]] = []
    for i, stride in enumerate(access.strides):
        n = way.lanes[i] * (way.rest[i] if i in inner else 1)
        if n == 1 or stride == 0:
            continue
        steps.append((1 << 40 if stride is None else abs(stride) * access.itemsize, n))
    if access.gated and _staged(way, access):
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
    if run > LINE or (apart and _staged(way, access)):
        apart = 0
    return float(min(lines, max(access.bytes, LINE))), apart if count > WAYS else 0
