"""Images in kernels: loads and stores of texels at two coordinates, or plain memory where the
target has no images.

Where reading outside of an image gives 0, a gate that only keeps a load inside goes. A load of less
than a texel chooses from it; a store of less is an error. Never changes which values are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import gcd
from operator import and_

from core.dtype import TEXEL, ImageDType, dtypes
from core.errors import CompileError
from core.passes.address import Lane, factor, gate_of, runs
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.pointer import (
    coordinates_of,
    image_of,
    is_texel,
    plain_memory_of,
    pointer_of,
    texel_at,
)
from core.uop.symbolic import symbolic_index
from core.uop.symbolic.linear import Sum, exact, make
from core.uop.symbolic.valid import clauses, implied, limits

_place = UPat(Ops.INDEX, name="place")


def has_images(sink: UOp) -> bool:
    """Whether a kernel reads or writes an image."""
    return any(u.op is Ops.DEFINE_GLOBAL and image_of(u) is not None for u in sink.toposort())


# images that are plain memory

Plain = frozenset[int]
"""Numbers of the arguments whose images are plain memory."""


def _plain(place: UOp) -> UOp:
    memory = plain_memory_of(pointer_of(place))
    return memory.index(place.src[1], gate=gate_of(place))


@rule(UPat(Ops.LOAD, src=(_place,), allow_any_len=True, name="load"))
def load_of_plain_memory(ctx: Plain, load: UOp, place: UOp) -> UOp | None:
    """load(image[i]) -> cast(load(memory[i]), float)  for images that the target cannot have"""
    if image_of(place) is None or pointer_of(place).arg not in ctx:
        return None
    plain = _plain(place)
    kept = plain.dtype.base.vec(load.dtype.count)
    others = (other.cast(kept) for other in load.src[1:])
    return plain.load(*others, dtype=kept).cast(load.dtype)


@rule(UPat(Ops.STORE, src=(_place, UPat.var("value")), name="store"))
def store_to_plain_memory(ctx: Plain, store: UOp, place: UOp, value: UOp) -> UOp | None:
    """store(image[i], x) -> store(memory[i], cast(x))  for images that the target cannot have"""
    if image_of(place) is None or pointer_of(place).arg not in ctx:
        return None
    plain = _plain(place)
    return store.rebuild((plain, value.cast(plain.dtype.base.vec(value.dtype.count))))


plain_memory = PatternMatcher([load_of_plain_memory, store_to_plain_memory], name="plain memory")


def without_images(sink: UOp, target: Target) -> UOp:
    """The kernel with buffers in place of images that are larger than the target has them, that it
    both reads and writes, and that are more than a kernel may have."""
    images: dict[int, ImageDType] = {}
    moved: dict[Ops, set[int]] = {Ops.LOAD: set(), Ops.STORE: set()}
    for u in sink.toposort():
        if u.op in moved and (image := image_of(u.src[0])) is not None:
            number = pointer_of(u.src[0]).arg
            images[number] = image
            moved[u.op].add(number)
    large = {number for number, image in images.items() if image.side > target.image_side}
    both = moved[Ops.LOAD] & moved[Ops.STORE]
    read = sorted(moved[Ops.LOAD] - large - both)[target.images_read :]
    written = sorted(moved[Ops.STORE] - large - both)[target.images_written :]
    if not (plain := frozenset((*large, *both, *read, *written))):
        return sink
    return graph_rewrite(sink, plain_memory, plain, name="images: plain memory")


# texels


def is_whole(place: UOp, count: int) -> bool:
    """Whether `count` elements at an address are a texel."""
    offset = place.src[1]
    return count == TEXEL and offset.dtype.count == 1 and factor(offset) % TEXEL == 0


def _choice(texel: UOp, which: UOp) -> UOp:
    """One of the four numbers of a texel."""
    found = texel.gep(TEXEL - 1)
    for i in reversed(range(TEXEL - 1)):
        found = which.eq(i).where(texel.gep(i), found)
    return found


def texel_element(pointer: UOp, lane: Lane, other: UOp | None) -> UOp:
    """What a load of one number is: an element of its texel, chosen by the rest of its offset where
    that is not known."""
    base = UOp.const(dtypes.index, 0) if lane.base is None else lane.base
    known = factor(lane.base) % TEXEL == 0
    within = lane.constant % TEXEL
    offset = base + lane.constant
    start = base + (lane.constant - within) if known else offset // TEXEL * TEXEL
    place = pointer.index(start.simplify(), gate=lane.gate)
    others = () if other is None or lane.gate is None else (other.broadcast(TEXEL),)
    texel = place.load(*others, dtype=dtypes.float32.vec(TEXEL))
    return texel.gep(within) if known else _choice(texel, (offset % TEXEL).simplify())


def _no_texel(place: UOp) -> CompileError:
    return CompileError(
        f"a store to {image_of(place)} that is not all of a texel",
        where=place.origin or "",
        hint="let the last axis be a multiple of four, and keep its four lanes together",
    )


def check_texels(place: UOp, lanes: tuple[Lane, ...]) -> None:
    """Raises CompileError where lanes that are stored to an image are not whole texels."""
    for run in runs(lanes):
        if len(run.lanes) % TEXEL or gcd(factor(run.base), run.start) % TEXEL:
            raise _no_texel(place)


# two coordinates


@rule(UPat(Ops.INDEX, src=(UPat(), UPat.var("offset")), allow_any_len=True, name="place"))
def coordinates(place: UOp, offset: UOp) -> UOp | None:
    """image[i] -> image[i // 4 % width, i // 4 // width]"""
    image = image_of(place)
    if image is None or is_texel(place):
        return None
    gate = gate_of(place)
    held = _element_of(offset)
    held, sums = (held, {}) if gate is None else _with_variables(held, gate)
    texel = held // TEXEL
    wanted = UOp.sink(texel % image.width, texel // image.width)
    wanted = graph_rewrite(wanted, symbolic_index, name="images: one coordinate")
    if sums:
        name = "images: where the gate holds"
        wanted = graph_rewrite(wanted, symbolic_index, name=name, substituting=sums)
    pair = UOp.vectorize(*(u.cast(dtypes.index) for u in wanted.src))
    return texel_at(place.src[0], pair, gate)


def _element_of(offset: UOp) -> UOp:
    """x, of the offset x // 4 * 4 of its texel."""
    four = offset.const_like(TEXEL)
    whole = offset.op is Ops.MUL and offset.src[1] is four and offset.src[0].op is Ops.IDIV
    return offset.src[0].src[0] if whole and offset.src[0].src[1] is four else offset


def _with_variables(offset: UOp, gate: UOp) -> tuple[UOp, Mapping[UOp, UOp]]:
    """An offset where a variable stands for each sum that its gate bounds, so that coordinates are
    worked out with these bounds; and what each variable stands for."""
    total, sums = exact(offset), dict[UOp, UOp]()
    for x, (low, high) in (implied(gate) or {}).items():
        bounded = _bounded(total, exact(x), low, high)
        if bounded is None or x.dtype is not offset.dtype:
            continue
        number = UOp.variable(f"_sum{len(sums)}", bounded.low, bounded.high, x.dtype)
        sums[number] = bounded.sum.node(x)
        rest = ((u, -bounded.times * f) for u, f in bounded.sum.terms.items())
        constant = total.constant - bounded.times * bounded.sum.constant
        total = make((*total.terms.items(), *rest, (number, bounded.times)), constant)
    return total.node(offset), sums


@dataclass(frozen=True, slots=True)
class _Bounded:
    """A sum with its bounds, and how many times another one has it."""

    sum: Sum
    low: int
    high: int
    times: int


def _bounded(total: Sum, part: Sum, low: int, high: int) -> _Bounded | None:
    """The sum in `total` that is bounded because `part` is in low..high; None where none is."""
    if times := _times(total, part.terms):
        return _Bounded(part, low, high, times)
    if low != 1 or not _is_positive(part):
        return None
    # at least one term is at least 1: so is a sum of them that counts each more often
    counted = make(((u, total.terms.get(u, 0)) for u in part.terms), 0)
    if len(counted.terms) < len(part.terms) or min(counted.terms.values()) < 0:
        return None
    times = counted.gcd
    counted = make(((u, f // times) for u, f in counted.terms.items()), 0)
    return _Bounded(counted, min(counted.terms.values()), counted.high, times)


def _is_positive(total: Sum) -> bool:
    """Whether a sum has no constant, and no term that may be negative."""
    terms = total.terms.items()
    return bool(terms) and not total.constant and all(f > 0 and u.vmin >= 0 for u, f in terms)


def _times(total: Sum, terms: Mapping[UOp, int]) -> int:
    """How many times a sum has all of `terms`; 0 where it has other factors of them."""
    found = {divmod(total.terms.get(u, 0), f) for u, f in terms.items()}
    times, rest = found.pop() if len(found) == 1 else (0, 0)
    return 0 if rest else times


_gated_texel = UPat(
    Ops.LOAD,
    src=(
        UPat(
            Ops.INDEX,
            src=(UPat(), UPat.var("at"), UPat.var("gate", dtypes.bool)),
            name="place",
        ),
    ),
    allow_any_len=True,
    name="load",
)


def _is_outside(at: UOp, image: ImageDType, where: Callable[[Sum], tuple[int, int]]) -> bool:
    """Whether a coordinate is outside of the image, given its smallest and its largest value."""
    for u, side in zip(coordinates_of(at), (image.width, image.height), strict=True):
        low, high = where(exact(u))
        if high < 0 or low >= side:
            return True
    return False


def _between(x: Sum, low: int, high: int) -> Callable[[Sum], tuple[int, int]]:
    """The bounds of a sum where the sum `x`, of which it may have a multiple, is in low..high."""

    def bounds(total: Sum) -> tuple[int, int]:
        term, factor_ = next(iter(x.terms.items()))
        k = total.terms.get(term, 0) // factor_
        rest = make(
            (*total.terms.items(), *((u, -k * f) for u, f in x.terms.items())),
            total.constant - k * x.constant,
        )
        ends = k * low, k * high
        return rest.low + min(ends), rest.high + max(ends)

    return bounds


def _without_terms(x: Sum) -> Callable[[Sum], tuple[int, int]]:
    """The bounds of a sum where each term of the sum `x` is 0."""

    def bounds(total: Sum) -> tuple[int, int]:
        rest = make(((u, f) for u, f in total.terms.items() if u not in x.terms), total.constant)
        return rest.low, rest.high

    return bounds


def _without(load: UOp, place: UOp, gate: UOp, dropped: list[UOp]) -> UOp | None:
    """A load of a texel without some clauses of its gate."""
    zero = all(o.op is Ops.CONST and repr(o.arg) == "0.0" for o in load.src[1:])
    if not dropped or not zero:
        return None
    kept = [c for c in clauses(gate) if c not in dropped]
    held = reduce(and_, kept) if kept else None
    other = load.src[1:] if kept else ()
    return texel_at(place.src[0], place.src[1], held).load(*other, dtype=load.dtype)


@rule(_gated_texel)
def gate_of_bound(load: UOp, place: UOp, at: UOp, gate: UOp) -> UOp | None:
    """load(image[x, y] if a < c) -> load(image[x, y])  where that is outside for all a from c on"""
    if (image := image_of(place)) is None or not is_texel(place):
        return None
    found: list[UOp] = []
    for clause in clauses(gate):
        limit = limits(clause)
        if limit is None or not (total := exact(limit[0])).terms:
            continue
        x, low, high = limit
        sides = [(int(x.vmin), low - 1), (high + 1, int(x.vmax))]
        if all(a > b or _is_outside(at, image, _between(total, a, b)) for a, b in sides):
            found.append(clause)
    return _without(load, place, gate, found)


@rule(_gated_texel)
def gate_of_sum(load: UOp, place: UOp, at: UOp, gate: UOp) -> UOp | None:
    """load(image[x, y] if a + b >= 1) -> load(image[x, y])  where that is outside for a = b = 0,
    and neither is negative"""
    if (image := image_of(place)) is None or not is_texel(place):
        return None
    found: list[UOp] = []
    for clause in clauses(gate):
        limit = limits(clause)
        if limit is None or limit[1] != 1 or limit[2] < limit[0].vmax:
            continue
        total = exact(limit[0])
        if _is_positive(total) and _is_outside(at, image, _without_terms(total)):
            found.append(clause)
    return _without(load, place, gate, found)


in_two_coordinates = PatternMatcher([coordinates, gate_of_bound, gate_of_sum], name="images")
with_gates = PatternMatcher([coordinates], name="images with gates")


def at_coordinates(sink: UOp, target: Target) -> UOp:
    """The kernel with texels at two coordinates; where the target reads 0 outside of an image,
    without the gates that only keep a load inside."""
    if not target.image_side or not has_images(sink):
        return sink
    rules = in_two_coordinates if target.zero_outside else with_gates
    return graph_rewrite(sink, rules, name="images: coordinates")
