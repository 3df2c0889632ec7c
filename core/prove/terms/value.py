"""From nodes to terms: what each lane of a node is, and what it writes.

Nodes in the `cut` are not looked into: they are inputs. UNROLL and the loops that become lanes
depend on axes: a node means something for one point of them, which is the `point` below. What has
no translation raises UnknownMeaningError. Never decides whether two things are equal.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Final, cast

from core.dtype import TEXEL, ConstType, DType, ImageDType, PtrDType, dtypes
from core.prove.terms.accumulator import Accumulator, accumulator, neutral, waits_for_loop
from core.prove.terms.axes import (
    LANES,
    Axes,
    Point,
    UnknownMeaningError,
    axes_of,
    inwards,
    is_gated,
    is_partial,
    own_axes,
    points,
)
from core.prove.terms.index import Index, Shape
from core.prove.terms.node import postorder
from core.prove.terms.places import MEMORIES, Address, Axis, Value, Write
from core.prove.terms.stored import stored_by
from core.prove.terms.term import Term, Terms
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning import UNLESS_NAN, UNLESS_ZERO
from core.uop.pointer import image_of, is_texel, plain_memory_of

_INT: Final = dtypes.int64
_LOOPS: Final = frozenset({Ops.RANGE, Ops.SPECIAL, Ops.CONST})
_SAME: Final = frozenset({
    Ops.NOOP, Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.FUSE, Ops.DETACH, Ops.DERIVATIVE,
    Ops.COPY,
})  # fmt: skip


class Translation:
    """The terms of nodes. `cut`: nodes that are inputs; `loops`: a loop that updates registers is
    the reduction that it computes."""

    def __init__(self, terms: Terms, cut: Collection[UOp] = (), loops: bool = False) -> None:
        self.terms = terms
        self.cut = cut
        self.opaque: set[UOp] = set()
        """Nodes that are inputs because what they compute has no translation."""
        self.cut_values: set[UOp] = set()
        """Nodes of the cut that were asked for."""
        self.waiting: set[UOp] = set()
        """AFTERs of values that were asked for: what they wait for is in no term."""
        self.read_at: dict[UOp, list[Address]] = {}
        """The places that each LOAD, and each INDEX of a value, reads, in all lanes."""
        self.bound: Collection[UOp] = ()
        """Loops that are reduced over: inputs that depend on them are functions of them."""
        self.made: Collection[UOp] = ()
        """Nodes that only the replacement has: kernels among them are looked into."""
        self.unaware: Collection[UOp] = ()
        """Reduces that are to be right once the lengths below them are forgotten."""
        self.arguments: tuple[Sequence[UOp], Translation] | None = None
        """Inside of a kernel that is called: its arguments, and how they are translated."""
        self._loops = loops
        self._lanes: dict[tuple[UOp, Point], tuple[Value, ...]] = {}
        self._elements: dict[tuple[UOp, Hashable], Term] = {}
        self._depth = 0

    def lanes(self, u: UOp, point: Point = ()) -> tuple[Value, ...]:
        """What each lane of a node without a shape is; of a void node, what it writes."""
        own = dict(axes_of(u))
        key = u, tuple(pair for pair in point if pair[0] in own)
        known = self._lanes.get(key)
        if known is None:
            self._depth += 1
            if self._depth > 120:
                raise UnknownMeaningError("the graph is too deep")
            try:
                known = self._lanes[key] = self._translate(u, key[1])
            finally:
                self._depth -= 1
        return known

    def values(self, u: UOp, point: Point = ()) -> tuple[Term, ...]:
        """The lanes of a node that has values."""
        return tuple(_term(lane, u) for lane in self.lanes(u, point))

    def element(self, u: UOp, index: Index) -> Term:
        """One element of a shaped value."""
        key = u, index.key
        known = self._elements.get(key)
        if known is None:
            known = self._elements[key] = self._element(u, index)
        return known

    def _element(self, u: UOp, index: Index) -> Term:
        terms, shape = self.terms, _shape(u)
        if u.op is Ops.CONST:
            return terms.const(u.dtype.scalar(), u.arg)
        if shape == () and index.shape != ():
            index = Index(terms, (), ())
        if u.op in (Ops.DEFINE_VAR, Ops.BIND):
            return self.values(u)[0]
        if u in self.cut:
            self.cut_values.add(u)
            return self._input(u, index)
        if u.op is Ops.IOTA:
            return terms.alu(Ops.CAST, u.dtype, (index.axes[0],))
        if u.op in GroupOp.Elementwise and not (u.op is Ops.BITCAST and _resized(u)):
            args = [self.element(s, index) for s in u.src]
            return self._promised(u, terms.alu(u.op, u.dtype, args), args)
        if u.op in _SAME:
            return self.element(u.src[0], index)
        if u.op is Ops.ASSIGN and len(u.src) == 2 and u.src[1].dtype is not dtypes.void:
            return self.element(u.src[1], index)
        if u.op in GroupOp.Movement:
            inner, valid = index.moved(u.op, u.arg, _shape(u.src[0]))
            return self._where(valid, self.element(u.src[0], inner))
        if u.op is Ops.VIEW:
            inner, valid = index.viewed(u.arg, _shape(u.src[0]))
            return self._where(valid, self.element(u.src[0], inner))
        if u.op is Ops.REDUCE_AXIS:
            return self._reduced_axes(u, index)
        if u.op is Ops.LENGTH:
            inside = self.before(index.axes[u.arg], u.src[1])
            found = self.element(u.src[0], index)
            behind = terms.undefined(u, terms.negated(inside), found, (index.flat,))
            return terms.alu(Ops.WHERE, u.dtype, (inside, found, behind))
        if u.op is Ops.LOAD and len(u.src) == 1:
            return self._loaded(u, index)
        if u.op is Ops.BUFFER_VIEW:
            at = terms.alu(Ops.ADD, _INT, (index.flat, terms.const(_INT, u.arg[1])))
            return terms.read(u.src[0], u.dtype, at)
        if u in self.made and (stored := stored_by(u)) is not None:
            return self._stored_value(*stored, index)
        if u.op is not Ops.BUFFER:
            self.opaque.add(u)
        return self._input(u, index)

    def _reduced_axes(self, u: UOp, index: Index) -> Term:
        """A REDUCE_AXIS takes what lies before the length of each axis that has one; of one that is
        `unaware` of lengths, all of it."""
        terms, dtype = self.terms, u.dtype.scalar()
        op, axes = u.arg
        shape = _shape(u.src[0])
        nothing = terms.const(dtype, neutral(op, dtype))
        if 0 in (shape[axis] for axis in axes):
            return nothing
        loops = [terms.input((u, axis), _INT, 0, shape[axis] - 1) for axis in axes]
        inner = index.replaced(axes, loops, shape)
        found = self.element(u.src[0], inner)
        for axis, length in u.src[0].lengths:
            if axis in axes and u not in self.unaware:
                inside = self.before(inner.axes[axis], length)
                found = terms.alu(Ops.WHERE, dtype, (inside, found, nothing))
        return terms.reduce(op, (found,), [loop for loop in loops if not loop.constant])

    def before(self, at: Term, length: UOp) -> Term:
        """Whether an index along an axis lies before its length."""
        n = self._wide(self.values(length)[0])
        return self.terms.alu(Ops.CMPLT, dtypes.bool, (at, n))

    def _stored_value(self, value: UOp, shape: Shape, kernel: UOp, index: Index) -> Term:
        """An element of memory that a kernel stored a value in."""
        inner = Translation(self.terms)
        inner.arguments = kernel.src[1:], self
        found = inner.element(value, Index(self.terms, shape, None, index.flat))
        self.opaque |= inner.opaque
        return found

    def _loaded(self, u: UOp, index: Index) -> Term:
        place = u.src[0]
        if place.op is not Ops.VIEW:
            return self._read(place, u.dtype, index)
        inner, valid = index.viewed(place.arg, _shape(place.src[0]))
        return self._where(valid, self._read(place.src[0], u.dtype, inner))

    def _read(self, memory: UOp, dtype: DType, index: Index) -> Term:
        if memory.op is Ops.DEFINE_GLOBAL and self.arguments is not None:
            buffers, outside = self.arguments
            held = buffers[memory.arg]
            return outside.element(held, Index(self.terms, _shape(held), None, index.flat))
        return self._element_of(Address(plain_memory_of(memory), index.flat, None), dtype)

    def _input(self, u: UOp, index: Index) -> Term:
        if index.shape == ():
            return self.terms.input((u, 0), u.dtype, *_bounds(u))
        return self.terms.read(u, u.dtype, index.flat)

    def _where(self, valid: Term | None, x: Term) -> Term:
        if valid is None:
            return x
        return self.terms.alu(Ops.WHERE, x.dtype, (valid, x, self.terms.const(x.dtype, 0)))

    def _translate(self, u: UOp, point: Point) -> tuple[Value, ...]:
        terms, dtype = self.terms, u.dtype
        if u.op in (Ops.CONST, Ops.VCONST):
            values = u.arg if u.op is Ops.VCONST else (u.arg,) * dtype.count
            return tuple(terms.const(dtype.scalar(), value) for value in values)
        at = dict(point)
        if u.op is Ops.RANGE and u.arg[-1] in LANES and u.arg[0] in at:
            if at[u.arg[0]] > u.vmax:
                raise UnknownMeaningError("lanes of a loop with two lengths")
            return (terms.const(dtype, at[u.arg[0]]),)
        if u.op is Ops.BIND:
            return self.lanes(u.src[0], point)
        if u in self.cut:
            self.cut_values.add(u)
        if u in self.cut or u.op in (Ops.RANGE, Ops.SPECIAL, Ops.DEFINE_VAR):
            return self._inputs(u, point)
        match u.op:
            case Ops.VECTORIZE:
                return tuple(lane for s in u.src for lane in self.lanes(s, point))
            case Ops.GEP:
                lanes = self.lanes(u.src[0], point)
                return tuple(lanes[i] for i in u.arg)
            case Ops.UNROLL:
                return self._unrolled(u, point)
            case Ops.CONTRACT:
                return self._contracted(u, u.arg, point)
            case Ops.INDEX:
                return self._indexed(u, point)
            case Ops.LOAD:
                return self._loads(u, point)
            case Ops.REDUCE:
                return self._reduced(u, point)
            case Ops.AFTER if dtype is dtypes.void:
                raise UnknownMeaningError("work that waits for other work")
            case Ops.NOOP | Ops.AFTER if not isinstance(dtype, PtrDType):
                if u.op is Ops.AFTER:
                    self.waiting.add(u)
                return self.lanes(u.src[0], point)
            case Ops.STORE:
                return self._stored(u, point)
            case Ops.GROUP | Ops.SINK:
                return tuple(lane for s in u.src for lane in self.lanes(s, point))
            case Ops.END:
                return self._ended(u, point)
            case _:
                pass
        if isinstance(dtype, PtrDType) or u.op not in GroupOp.Elementwise:
            if not isinstance(dtype, PtrDType) or u.op not in MEMORIES:
                self.opaque.add(u)
            return self._inputs(u, point)
        operands = [self.values(s, point) for s in u.src]
        if u.op is Ops.BITCAST and _resized(u):
            raise UnknownMeaningError("a bitcast to elements of another size")
        if any(len(lanes) != dtype.count for lanes in operands):
            raise UnknownMeaningError(f"{u.op.name} of vectors of several lengths")
        return tuple(
            self._promised(u, terms.alu(u.op, dtype.scalar(), lanes), lanes)
            for lanes in zip(*operands, strict=True)
        )

    def _promised(self, u: UOp, value: Term, args: Sequence[Term]) -> Term:
        """The value of an op; undefined where the promise that its argument makes is broken."""
        terms = self.terms
        if u.arg is None or u.op not in GroupOp.Elementwise:
            return value
        if u.arg == UNLESS_ZERO:
            broken = terms.alu(Ops.CMPEQ, dtypes.bool, (args[1], terms.const(args[1].dtype, 0)))
        elif u.arg == UNLESS_NAN:
            broken = terms.alu(Ops.CMPNE, dtypes.bool, (args[0], args[0]))
        else:
            raise UnknownMeaningError(f"the argument {u.arg!r} of {u.op.name}")
        undefined = terms.undefined((u.op, u.arg), broken, value, args)
        return terms.alu(Ops.WHERE, value.dtype, (broken, undefined, value))

    def _inputs(self, u: UOp, point: Point) -> tuple[Value, ...]:
        key = (u, *point) if point else u
        if isinstance(u.dtype, PtrDType):
            key = (plain_memory_of(u), *point) if point else plain_memory_of(u)
            zero = self._iteration(u) or self.terms.const(_INT, 0)
            count = u.src[1].dtype.count if u.op is Ops.INDEX and not is_texel(u) else 1
            keys = (key,) if count == 1 else tuple((key, lane) for lane in range(count))
            return tuple(Address(one, zero, self._unknown_gate(u, one)) for one in keys)
        if u.dtype is dtypes.void:
            raise UnknownMeaningError(f"{u.op.name} is no value")
        scalar = u.dtype.scalar()
        if (at := self._iteration(u)) is not None:
            return tuple(self.terms.read((key, n), scalar, at) for n in range(u.dtype.count))
        low, high = _bounds(u)
        return tuple(
            self.terms.input((key, lane), scalar, low, high) for lane in range(u.dtype.count)
        )

    def _unknown_gate(self, u: UOp, key: Hashable) -> Term | None:
        """Whether an address that is an input is accessed at all."""
        if not is_gated(u):
            return None
        at = self._iteration(u) or self.terms.const(_INT, 0)
        return self.terms.read((key, "gate"), dtypes.bool, at)

    def _iteration(self, u: UOp) -> Term | None:
        """A number for each iteration of the loops that are reduced over, where `u` is in any; far
        apart, as what `u` addresses may lie beside it."""
        loops = sorted((r for r in u.ranges if r in self.bound and r is not u), key=repr)
        at = self.terms.const(_INT, 0)
        for r in loops:
            step = self.terms.alu(Ops.MUL, _INT, (at, self.terms.const(_INT, r.vmax + 1)))
            at = self.terms.alu(Ops.ADD, _INT, (step, self._wide(self.values(r)[0])))
        far = self.terms.const(_INT, 1 << 24)
        return self.terms.alu(Ops.MUL, _INT, (at, far)) if loops else None

    def _unrolled(self, u: UOp, point: Point) -> tuple[Value, ...]:
        at, size, lane = dict(point), 1, 0
        for number, n in u.arg:
            if number not in at:
                raise UnknownMeaningError("an UNROLL of a loop that is not known here")
            size, lane = size * n, lane * n + at[number]
        lanes = self.lanes(u.src[0], tuple(p for p in point if p[0] not in dict(u.arg)))
        if len(lanes) % size:
            raise UnknownMeaningError("an UNROLL of another number of lanes")
        return lanes[lane::size]

    def _contracted(self, u: UOp, axes: Axes, point: Point) -> tuple[Value, ...]:
        found = [self.lanes(u.src[0], at) for at in points(axes, point)]
        if u.dtype is not dtypes.void and any(len(lanes) != 1 for lanes in found):
            raise UnknownMeaningError("a CONTRACT of vectors")
        return tuple(lane for lanes in found for lane in lanes)

    def _indexed(self, u: UOp, point: Point) -> tuple[Value, ...]:
        value, *idxs = u.src
        gated = len(idxs) > 0 and dtypes.is_bool(idxs[-1].dtype.scalar())
        gates = self.values(idxs.pop(), point) if gated else (None,)
        if not isinstance(value.dtype, PtrDType):
            axes = [self._wide(self.values(i, point)[0]) for i in idxs]
            for number, (at, size) in enumerate(zip(axes, _shape(value), strict=False)):
                place = Address(Axis(number, size), at, gates[0])
                self.read_at.setdefault(u, []).append(place)
            found = self.element(value, Index(self.terms, _shape(value), axes))
            if gates[0] is None:
                return (found,)
            terms, gate = self.terms, gates[0]
            undefined = terms.undefined(u, terms.negated(gate), found, axes)
            return (terms.alu(Ops.WHERE, found.dtype, (gate, found, undefined)),)
        (base,) = self.lanes(value, point)
        assert isinstance(base, Address)
        offsets = self.values(idxs[0], point) if idxs else (self.terms.const(_INT, 0),)
        if (image := image_of(u)) is not None and is_texel(u):
            return (self._texel(base, offsets, gates[0], image),)
        count = max(len(offsets), len(gates))
        if {len(offsets), len(gates)} - {1, count}:
            raise UnknownMeaningError("an INDEX with another number of gates than offsets")
        made: list[Address] = []
        for lane in range(count):
            offset = self._wide(offsets[lane % len(offsets)])
            at = self.terms.alu(Ops.ADD, _INT, (base.at, offset))
            gate = gates[lane % len(gates)]
            held = gate if base.gate is None else self.terms.both(base.gate, gate)
            made.append(Address(base.memory, at, held))
        return tuple(made)

    def _texel(
        self, base: Address, at: Sequence[Term], gate: Term | None, image: ImageDType
    ) -> Address:
        """The address of a texel at two coordinates, accessed where it is inside of the image."""
        terms = self.terms
        x, y = map(self._wide, at)
        held = gate if base.gate is None else terms.both(base.gate, gate)
        for u, side in ((x, image.width), (y, image.height)):
            below = terms.alu(Ops.CMPLT, dtypes.bool, (u, terms.const(_INT, 0)))
            inside = terms.alu(Ops.CMPLT, dtypes.bool, (u, terms.const(_INT, side)))
            inside = terms.both(terms.negated(below), inside)
            held = inside if held is None else terms.both(held, inside)
        row = terms.alu(Ops.MUL, _INT, (y, terms.const(_INT, image.width)))
        texel = terms.alu(Ops.ADD, _INT, (row, x))
        start = terms.alu(Ops.MUL, _INT, (texel, terms.const(_INT, TEXEL)))
        return Address(base.memory, terms.alu(Ops.ADD, _INT, (base.at, start)), held)

    def places(self, u: UOp, point: Point, count: int) -> list[Address]:
        """The address of each of `count` elements that are moved at an INDEX."""
        lanes = self.lanes(u, point)
        if count % len(lanes):
            raise UnknownMeaningError("a vector at another number of addresses")
        made: list[Address] = []
        offsets = u.src[1].dtype.count if u.op is Ops.INDEX and len(u.src) > 1 else 1
        for k in range(count):
            place = lanes[k % len(lanes)]
            if not isinstance(place, Address):
                raise UnknownMeaningError("memory that is no address")
            step = k if offsets == 1 else k // len(lanes)
            at = self.terms.alu(Ops.ADD, _INT, (place.at, self.terms.const(_INT, step)))
            made.append(place._replace(at=at))
        return made

    def _loads(self, u: UOp, point: Point) -> tuple[Value, ...]:
        if self._loops and (found := accumulator(u)) is not None and self._is_seen(u, found):
            return self._accumulated(found, point)
        if waits_for_loop(u):
            self.opaque.add(u)
        scalar = u.dtype.scalar()
        place, *rest = u.src
        others = self.values(rest[0], point) if rest else None
        if rest and is_texel(place) and any(repr(o.data) != "0.0" for o in others or ()):
            raise UnknownMeaningError("a texel with another alternative than 0")
        gates = self.values(rest[1], point) if len(rest) > 1 else ()
        made: list[Value] = []
        for k, at in enumerate(self.places(place, point, u.dtype.count)):
            read = self._element_of(at, scalar)
            gate = self.terms.both(at.gate, gates[k % len(gates)]) if gates else at.gate
            self.read_at.setdefault(u, []).append(at._replace(gate=gate))
            if gate is not None:
                other = self.terms.const(scalar, 0) if others is None else others[k]
                read = self.terms.alu(Ops.WHERE, scalar, (gate, read, other))
            made.append(read)
        return tuple(made)

    def _element_of(self, at: Address, dtype: DType) -> Term:
        """An element of memory. Memory of bools is bytes that are 0 or 1; what is read of an image
        of float16 is a float32."""
        if dtype is dtypes.uint8 and _is_of(at.memory, dtypes.bool):
            read = self.terms.read(at.memory, dtypes.bool, at.at)
            return self.terms.alu(Ops.CAST, dtype, (read,))
        if dtype is dtypes.float32 and _is_of(at.memory, dtypes.float16):
            read = self.terms.read(at.memory, dtypes.float16, at.at)
            return self.terms.alu(Ops.CAST, dtype, (read,))
        return self.terms.read(at.memory, dtype, at.at)

    def _is_seen(self, u: UOp, a: Accumulator) -> bool:
        """Whether all of a loop that updates registers lies above the cut."""
        ends = {a.start, *a.bodies}
        return not any(n in self.cut for n in u.toposort(lambda n: n not in ends))

    def _accumulated(self, a: Accumulator, point: Point) -> tuple[Value, ...]:
        """What is in registers after the loop that updates them."""
        starts = self.values(a.start, point)
        bound = self._bound(a.loops, point)
        taken = self._iterates(a.loops, point)
        bodies = [self.values(body, point) for body in a.bodies]
        made: list[Value] = []
        for lane, start in enumerate(starts):
            parts = [self._if_taken(taken, body[lane], a.op) for body in bodies]
            total = self.terms.reduce(a.op, parts, bound)
            nothing = start.constant and start.data == neutral(a.op, start.dtype)
            made.append(total if nothing else self.terms.alu(a.op, start.dtype, (start, total)))
        return tuple(made)

    def _reduced(self, u: UOp, point: Point) -> tuple[Value, ...]:
        count = u.dtype.count
        unrolled = tuple(sorted(axis for r in u.src[1:] for axis in own_axes(r)))
        loops = [r for r in u.src[1:] if not own_axes(r)]
        bound = self._bound(loops, point)
        taken = self._iterates(loops, point)
        lanes = [
            self._if_taken(taken, lane, u.arg)
            for at in points(unrolled, point)
            for lane in self.values(u.src[0], at)
        ]
        return tuple(self.terms.reduce(u.arg, lanes[j::count], bound) for j in range(count))

    def _bound(self, loops: Sequence[UOp], point: Point) -> list[Term]:
        """The inputs that loops are; what has become a constant is one iteration."""
        bound = [b for r in loops for b in self.values(r, point) if not b.constant]
        if any(r.op not in _LOOPS or _is_empty(r) for r in loops):
            raise UnknownMeaningError("a loop that is none")
        return bound

    def iterates(self, u: UOp) -> Term | None:
        """Whether the loops that a node is in take an iteration; None where they take all."""
        return self._iterates([r for r in u.ranges if not own_axes(r)], ())

    def _iterates(self, loops: Sequence[UOp], point: Point) -> Term | None:
        """Whether loops take an iteration: those whose length is no constant are inputs up to their
        largest one. None where they take all of them."""
        conditions: list[Term] = []
        for r in loops:
            if r.op is not Ops.RANGE or r.src[0].op is Ops.CONST:
                continue
            at, length = (self._wide(self.values(u, point)[0]) for u in (r, r.src[0]))
            if any(t in self.terms.open for t in postorder([length])):
                raise UnknownMeaningError("a loop whose length may be undefined")
            conditions.append(self.terms.alu(Ops.CMPLT, dtypes.bool, (at, length)))
        return self.terms.both(*conditions) if conditions else None

    def _if_taken(self, taken: Term | None, x: Term, op: Ops) -> Term:
        """What an iteration contributes to a reduction: nothing where it is not taken."""
        if taken is None:
            return x
        nothing = self.terms.const(x.dtype, neutral(op, x.dtype))
        return self.terms.alu(Ops.WHERE, x.dtype, (taken, x, nothing))

    def _stored(self, u: UOp, point: Point) -> tuple[Value, ...]:
        place, value = u.src[0], u.src[1]
        if place.op is Ops.VIEW:
            raise UnknownMeaningError("a store of a whole value")
        gates = self.values(u.src[2], point) if len(u.src) > 2 else ()
        if not gates and value not in self.cut and _keeps(place, value):
            # what is kept is not written: p[i] = c ? x : p[i] writes x where c holds
            gates, value = self.values(value.src[0], point), value.src[1]
        values = self.values(value, point)
        made: list[Value] = []
        for k, address in enumerate(self.places(place, point, len(values))):
            if gates:
                gate = self.terms.both(address.gate, gates[k % len(gates)])
                address = address._replace(gate=gate)
            made.append(Write(address, self.as_stored(address, values[k]), u))
        return tuple(made)

    def as_stored(self, at: Address, value: Term) -> Term:
        """A value as the element of memory that it is stored to."""
        if value.dtype is dtypes.float32 and _is_of(at.memory, dtypes.float16):
            return self.terms.alu(Ops.CAST, dtypes.float16, (value,))
        if value.dtype is not dtypes.uint8 or not _is_of(at.memory, dtypes.bool):
            return value
        if value.low < 0 or value.high > 1:
            raise UnknownMeaningError("a byte that may be no bool in memory of bools")
        return self.terms.alu(Ops.CAST, dtypes.bool, (value,))

    def _ended(self, u: UOp, point: Point) -> tuple[Value, ...]:
        unrolled = tuple(sorted(axis for r in u.src[1:] for axis in own_axes(r)))
        loops = [r for r in u.src[1:] if not own_axes(r)]
        nested = sorted(loops, key=inwards)
        ended = tuple(self._bound(nested, point))
        taken = self._iterates(nested, point)
        made: list[Value] = []
        for at in points(unrolled, point):
            for lane in self.lanes(u.src[0], at):
                if not isinstance(lane, Write):
                    raise UnknownMeaningError("the end of what writes nothing")
                if taken is not None:
                    gate = self.terms.both(taken, lane.address.gate)
                    lane = lane._replace(address=lane.address._replace(gate=gate))
                ends = (u,) * len(ended) + lane.ends
                made.append(lane._replace(loops=ended + lane.loops, ends=ends))
        return tuple(made)

    def _wide(self, x: Term) -> Term:
        return self.terms.alu(Ops.CAST, _INT, (x,))


def _term(lane: Value, u: UOp) -> Term:
    if not isinstance(lane, Term):
        raise UnknownMeaningError(f"{u.op.name} is no value")
    return lane


def _is_empty(r: UOp) -> bool:
    return r.op is Ops.RANGE and int(r.src[0].vmax) < 1


def _bounds(u: UOp) -> tuple[ConstType, ConstType]:
    """The bounds of a node that is an input; of floats, they do not matter."""
    scalar = u.dtype.scalar()
    if dtypes.is_float(scalar):
        return 0.0, 0.0
    known = u.op is Ops.RANGE or not is_partial(u)
    return u.bounds if known else (dtypes.min(scalar), dtypes.max(scalar))


def _shape(u: UOp) -> tuple[int, ...]:
    shape = u.shape
    if shape is None:
        raise UnknownMeaningError(f"{u.op.name} without a shape")
    return shape


def _is_of(memory: object, dtype: DType) -> bool:
    """Whether memory has elements of a dtype."""
    if isinstance(memory, tuple):  # of one lane
        memory = cast("tuple[object, ...]", memory)[0]
    if not isinstance(memory, UOp) or not isinstance(memory.dtype, PtrDType):
        return False
    return memory.dtype.base.scalar() is dtype


def _keeps(place: UOp, value: UOp) -> bool:
    """Whether a value is what its place holds, unless a condition holds."""
    return value.op is Ops.WHERE and value.src[2].op is Ops.LOAD and value.src[2].src[0] is place


def _resized(u: UOp) -> bool:
    return u.dtype.scalar().itemsize != u.src[0].dtype.scalar().itemsize
