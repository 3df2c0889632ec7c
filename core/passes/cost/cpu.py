"""The time of a nest on a processor with vector units and caches, predicted.

Instructions are counted where they stand: in the innermost loop that they need. The slowest of
arithmetic, moves and the chain of a reduce decides (Williams, Waterman, Patterson: "Roofline",
2009). Never measures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from core.hardware.cpu import Cpu
from core.helpers import ceildiv
from core.passes.cost.moves import moves_of
from core.passes.cost.nest import Nest, bits
from core.passes.cost.plan import Plan
from core.passes.cost.traffic import is_staged, traffic
from core.passes.cost.way import Way, way_of
from core.target import Target

ODD: Final = 8
"""Halvings of lanes that adding up a number of lanes takes that is no power of two, each."""
DEEP: Final = 3
"""Times the latency of a sum for each halving of what is added up in one turn without lanes."""


PIECES: Final = 4
"""Pieces of a launch for each core that shares it."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a launch takes."""

    cycles: float
    parts: dict[str, float]
    """Cycles of each part, were it alone."""
    bound: str
    """The part that decides."""


def predicted(nest: Nest, plan: Plan, target: Target, cpu: Cpu) -> Predicted:
    """What a launch takes."""
    simd = target.simd_bytes
    if plan.lanes == 1 and (lanes := _found_by_compiler(nest, plan, target)):
        plan = replace(plan, upcast=lanes)
    if plan.pad >= 0:
        nest = _padded(nest, plan.pad)
    way = way_of(nest, plan, cpu, simd)
    alu = _arithmetic(way)
    loads, stores, shuffles, runs = _moved(way)
    turns, left = _turns(way)
    instructions = alu + loads + stores + shuffles + 2 * turns
    chain, combined, spilled = _chains(way, instructions)
    l2, l3, memory = traffic(way, (cpu.l1, cpu.l2, cpu.l3))
    far = 1.0 + cpu.stream * max(0.0, runs - cpu.streams)
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
    # parts overlap, though never wholly
    most = max(parts.values())
    core = most + cpu.apart * (sum(parts.values()) - most) + cpu.leave * left
    core *= 1.0 + cpu.long * ceildiv(4 * plan.lanes, simd)
    parts["loops"] = cpu.leave * left
    total = core
    if (share := _share(way)) < 1.0:
        parts["threads"] = cpu.share
        total = max(core * share, memory / cpu.shared_rate) + cpu.share
    bound = max(parts, key=parts.__getitem__)
    return Predicted(total + cpu.start, parts, bound)


def _share(way: Way) -> float:
    """The part of a launch that the core does that has most to do."""
    if not way.plan.thread:
        return 1.0
    first = way.rest[way.plan.order[0]] if way.plan.order else 1
    used = min(way.cpu.cores, first)
    piece = ceildiv(first, used * PIECES)
    return ceildiv(ceildiv(first, piece), used) * piece / first if used > 1 else 1.0


def _moved(way: Way) -> tuple[float, float, float, float]:
    """(loads, stores, instructions that put lanes in place, runs of memory)"""
    loads = stores = shuffles = runs = 0.0
    for access in way.nest.accesses:
        times = way.times(access.loops)
        if access.gated and is_staged(way, access):  # its gate is looked at where it is copied
            copied = times / way.rest[way.plan.order[-1]]
            loads += copied * moves_of(way, access).moves
            stores += copied * ceildiv(way.width(access.loops) * access.itemsize, way.simd)
            access = replace(access, gated=0)
        one = moves_of(way, access)
        shuffles += times * one.placing
        runs += one.runs
        if access.store:
            stores += times * one.moves
        else:
            loads += times * one.moves
    return loads, stores, shuffles, runs


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


def _arithmetic(way: Way) -> float:
    """Instructions of arithmetic."""
    total = 0.0
    for w in way.nest.work:
        width = way.width(w.loops)
        count = width if w.scalar else _vectors(width, max(1, way.simd // w.itemsize))
        total += way.times(w.loops) * w.cost * count
    return total


def _vectors(lanes: int, per: int) -> int:
    """Vectors of at most `per` lanes that hold so many, each of a power of two."""
    return lanes // per + (lanes % per).bit_count()


def _chains(way: Way, instructions: float) -> tuple[float, float, float]:
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
                once * outputs * way.cpu.combine * (even.bit_length() + ODD * (grouped // even - 1))
            )
        if once == steps:
            if grouped > 1 and turned > 1:  # nothing is left to be added lane by lane
                combined += once * outputs * grouped * turned / 2
            continue
        vectors = ceildiv(outputs * grouped * r.itemsize, way.simd)
        # a processor begins the next sum while it waits for a short one
        beside = max(1.0, way.cpu.window / max(1.0, instructions / once))
        if turned > 1 and outputs * grouped == 1:
            cycles += steps * way.cpu.latency * DEEP * (turned.bit_length() - 1) / beside
        cycles += steps * (turned if outputs > 1 else 1) * way.cpu.latency / beside
        amid = len(way.fastest) > 1 and vectors > 1 and way.fastest[0][1] * r.itemsize % way.simd
        live = vectors * (1 + way.cpu.beside * ((turned > 1) + bool(amid))) + way.cpu.held
        if live > way.cpu.registers:
            spilled += steps * turned * (live - way.cpu.registers)
    return cycles, combined, spilled


def _turns(way: Way) -> tuple[float, float]:
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
