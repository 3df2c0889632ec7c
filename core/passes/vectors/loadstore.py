"""Load/store: vectors of addresses become runs of neighbours, as wide as the target can move.

A LOAD or STORE of many lanes is cut by offset and gate: lanes whose offsets differ by a constant
and that share a gate are sorted, and each run of consecutive ones is moved in the largest pieces
that the target has and that the alignment of the offset allows. Lanes alike are loaded once; a
lane whose gate is always false is its alternative, and is not stored. Where the target can gate
each lane of a load, neighbours may have different gates. Of an image, whole texels are moved.
Afterwards every INDEX has a scalar offset. Never moves another lane that was not moved before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.dtype import AddrSpace, DType, dtypes
from core.helpers import UNSAFE_DISABLE_MASK, notice
from core.passes.address import Lane, Run, gate_of, lane_at, pieces, runs
from core.passes.images import check_texels, is_whole, texel_element, without_images
from core.passes.lanes import sink_lanes
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.facts.derive import fold
from core.uop.pointer import address_space, image_of
from core.uop.symbolic import symbolic_index

Affine = tuple[UOp | None, tuple[int, ...]]


@dataclass
class Access:
    """The target, and the lanes of every vector address seen so far."""

    target: Target
    known: dict[tuple[UOp, int], tuple[Lane, ...]] = field(
        default_factory=lambda: dict[tuple[UOp, int], tuple[Lane, ...]]()
    )

    def lanes(self, place: UOp, count: int) -> tuple[Lane, ...]:
        """The lanes of an INDEX that `count` elements go through: one offset each, or one offset
        that the others follow."""
        if (place, count) not in self.known:
            self.known[place, count] = _lanes(place, count)
        return self.known[place, count]

    def widest(self, dtype: DType) -> int:
        """Elements of one move."""
        lanes = self.target.vector_lanes(dtype)
        return min(lanes, self.target.alu_lanes(dtype)) if self.target.simd_bytes else lanes

    @property
    def aligned(self) -> bool:
        """Whether a move must be at a multiple of its size."""
        return not self.target.simd_bytes


def _lanes(place: UOp, count: int) -> tuple[Lane, ...]:
    offset, gate = place.src[1], gate_of(place)
    if offset.dtype.count == 1:
        offsets, more = [offset], tuple(range(count))
    elif (known := affine(offset)) is not None:
        base, more = known
        offsets = [UOp.const(offset.dtype.scalar(), 0) if base is None else base]
    else:
        offsets, more = [offset.gep(i) for i in range(count)], (0,) * count
    gates: list[UOp] = []
    if gate is not None:
        gates = [gate] if gate.dtype.count == 1 else [gate.gep(i) for i in range(count)]
    wanted = UOp.sink(*offsets, *gates)
    name = "loadstore: offsets of lanes"
    found = graph_rewrite(wanted, symbolic_index, before=sink_lanes, name=name).src
    held = found[len(offsets) :]
    return tuple(
        lane_at(
            found[i if len(offsets) > 1 else 0],
            held[i if len(held) > 1 else 0] if held else None,
            more[i],
        )
        for i in range(count)
    )


def affine(offset: UOp) -> Affine | None:
    """(base, constants) where lane i of a vector is base + constants[i]; None if it is not so."""

    def parts(u: UOp) -> Sequence[UOp]:
        moved = u.dtype.count > 1 and u.op in (Ops.ADD, Ops.MUL, Ops.GEP, Ops.CAST)
        return u.src if moved else ()

    return fold(offset, parts, _lane_constants)


def _lane_constants(u: UOp, parts: Sequence[Affine | None]) -> Affine | None:
    """`affine` of a node, given that of its sources where it is made of vectors."""
    count = u.dtype.count
    if u.op is Ops.CONST:
        return None, (u.arg,) * count
    if u.op is Ops.VCONST:
        return None, u.arg
    if u.op is Ops.VECTORIZE or count == 1:
        first = u.src[0] if count > 1 else u
        same = count == 1 or all(s is first for s in u.src)
        return (first, (0,) * count) if same else None
    if not parts or parts[0] is None or parts[-1] is None:
        return None
    (base, constants), (other, more) = parts[0], parts[-1]
    if u.op is Ops.CAST:
        if base is None or not _within(base, constants):
            return None
        return base.cast(u.dtype.scalar()), constants
    if u.op is Ops.GEP:
        return base, tuple(constants[i] for i in u.arg)
    if u.op is Ops.ADD:
        total = other if base is None else base if other is None else base + other
        return total, tuple(a + b for a, b in zip(constants, more, strict=True))
    if other is not None or (base is not None and len(set(more)) > 1):
        return None
    scaled = None if base is None else base * more[0]
    return scaled, tuple(a * b for a, b in zip(constants, more, strict=True))


def _within(base: UOp, constants: Sequence[int]) -> bool:
    """Whether base + constant stays in the dtype, so that a cast of the sum is a sum of casts."""
    low, high = base.vmin + min(constants), base.vmax + max(constants)
    return dtypes.min(base.dtype) <= low and high <= dtypes.max(base.dtype)


def _address(pointer: UOp, run: Run, at: int, gate: UOp | None) -> UOp:
    start = run.start + at
    offset = run.base
    if offset is None:
        offset = UOp.const(dtypes.index, start)
    elif start:
        offset = offset + start
    return pointer.index(offset, gate=gate)


def _settled(ctx: Access, place: UOp, dtype: DType, lane_gates: bool = False) -> bool:
    """Whether the target can move this as it is."""
    gate = gate_of(place)
    gates = 1 if gate is None else gate.dtype.count
    held = gates == 1 or (lane_gates and gates == dtype.count)
    count = dtype.count
    possible = count <= ctx.widest(dtype) and (not ctx.aligned or count & (count - 1) == 0)
    return place.src[1].dtype.count == 1 and held and possible


@rule(UPat(Ops.LOAD, src=(UPat(Ops.INDEX, name="place"),), allow_any_len=True, name="load"))
def load_texels(ctx: Access, load: UOp, place: UOp) -> UOp | None:
    """load(image[i, j, ...]) -> vectorize of one of the four of load(image[i // 4 * 4 ...]), ..."""
    count = load.dtype.count
    if image_of(place) is None or is_whole(place, count):
        return None
    others = [load.src[1].gep(i) if len(load.src) > 1 else None for i in range(count)]
    lanes: list[UOp] = []
    for lane, other in zip(ctx.lanes(place, count), others, strict=True):
        if lane.never:
            lanes.append(UOp.const(load.dtype.scalar(), 0) if other is None else other)
        else:
            lanes.append(texel_element(place.src[0], lane, other))
    return UOp.vectorize(*lanes)


@rule(UPat(Ops.LOAD, src=(UPat(Ops.INDEX, name="place"),), allow_any_len=True, name="load"))
def load_runs(ctx: Access, load: UOp, place: UOp) -> UOp | None:
    """load(p[i0, i0 + 1, ..., j0]) -> vectorize of load(p[i0 ...]), load(p[j0]), ..."""
    dtype, count = load.dtype.scalar(), load.dtype.count
    if address_space(place) is AddrSpace.REG:
        return None
    if _settled(ctx, place, load.dtype, ctx.target.lane_gates):
        return _settled_gate(load, place)
    known = ctx.lanes(place, count)
    gate = gate_of(place)
    together = _without_gates(known) if ctx.target.lane_gates else known
    lanes: list[UOp | None] = [None] * count
    for run in runs(together):
        for at, width in pieces(run, ctx.widest(dtype), ctx.aligned):
            chosen = tuple(same[0] for same in run.lanes[at : at + width])
            held = _gate_of_lanes(known, gate, chosen)
            other = () if held is None else (load.src[1].gep(chosen),)
            address = _address(place.src[0], run, at, held)
            made = address.load(*other, dtype=dtype.vec(width))
            for k in range(width):
                for lane in run.lanes[at + k]:
                    lanes[lane] = made.gep(k)
    return UOp.vectorize(
        *(lane if lane is not None else load.src[1].gep(i) for i, lane in enumerate(lanes))
    )


def _without_gates(lanes: Sequence[Lane]) -> Sequence[Lane]:
    """The lanes as if they had no gates, unless lanes of one address have different gates."""
    gates: dict[tuple[UOp | None, int], UOp | None] = {}
    for lane in lanes:
        if not lane.never and gates.setdefault((lane.base, lane.constant), lane.gate) != lane.gate:
            return lanes
    return [replace(lane, gate=None) for lane in lanes]


def _gate_of_lanes(known: Sequence[Lane], gate: UOp | None, chosen: tuple[int, ...]) -> UOp | None:
    """One gate for all the chosen lanes where they have the same, else one for each."""
    found = {known[i].gate for i in chosen}
    if len(found) == 1:
        return found.pop()
    assert gate is not None, "lanes have gates of their own only where there is one"
    return gate.gep(chosen)


def _settled_gate(load: UOp, place: UOp) -> UOp | None:
    """A load whose gate is a constant: the alternative, or a load without a gate."""
    gate = gate_of(place)
    if gate is None or gate.op is not Ops.CONST:
        return None
    if not gate.arg:
        return load.src[1]
    return place.src[0].index(place.src[1]).load(dtype=load.dtype)


@rule(UPat(Ops.STORE, src=(UPat(Ops.INDEX, name="place"), UPat.var("value"))))
def store_of_no_texel(ctx: Access, place: UOp, value: UOp) -> None:
    """store(image[i], x) is an error, unless it is whole texels"""
    if image_of(place) is not None:
        check_texels(place, ctx.lanes(place, value.dtype.count))


@rule(UPat(Ops.STORE, src=(UPat(Ops.INDEX, name="place"), UPat.var("value")), name="store"))
def store_runs(ctx: Access, store: UOp, place: UOp, value: UOp) -> UOp | None:
    """store(p[i0, i0 + 1, ..., j0], v) -> store(p[i0 ...], v[0 ...]), store(p[j0], v[j]), ..."""
    dtype, count = value.dtype.scalar(), value.dtype.count
    if address_space(place) is AddrSpace.REG:
        return None
    if _settled(ctx, place, value.dtype):
        gate = gate_of(place)
        if gate is None or gate.op is not Ops.CONST:
            return None
        plain = place.src[0].index(place.src[1])
        return store.rebuild((plain, value)) if gate.arg else UOp(Ops.GROUP)
    stores: list[UOp] = []
    for run in runs(ctx.lanes(place, count)):
        for at, width in pieces(run, ctx.widest(dtype), ctx.aligned):
            picks = tuple(run.lanes[at + k][-1] for k in range(width))
            address = _address(place.src[0], run, at, run.gate)
            stores.append(store.rebuild((address, value.gep(picks))))
    return stores[0] if len(stores) == 1 else UOp(Ops.GROUP, dtypes.void, tuple(stores))


@rule(UPat(Ops.INDEX, src=(UPat.var("p"), UPat.var("i"), UPat.var("gate"))))
def no_gate(p: UOp, i: UOp, gate: UOp) -> UOp | None:
    """p[i] if gate -> p[i]  with UNSAFE_DISABLE_MASK=1, whatever is there"""
    return p.index(i) if UNSAFE_DISABLE_MASK and gate.op is not Ops.CONST else None


moving = PatternMatcher(
    [load_texels, load_runs, store_of_no_texel, store_runs, no_gate], name="loadstore"
)


def loadstore(sink: UOp, target: Target) -> UOp:
    """The kernel with loads and stores that the target has."""
    if UNSAFE_DISABLE_MASK:
        notice(f"UNSAFE_DISABLE_MASK={UNSAFE_DISABLE_MASK.value}: {UNSAFE_DISABLE_MASK.doc}")
    sink = without_images(sink, target)
    return graph_rewrite(sink, moving, Access(target), name="loadstore")
