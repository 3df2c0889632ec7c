"""Memory: what one load or store moves, and under which predicate.

Bools are bytes; elements of 16 bits are moved in words of 32; a move is at most 4 registers and 16
bytes; the gate of a load is its last source, a predicate. Loads from read-only memory are marked.
Matrix instructions and LDMATRIX take and give words. Registers of a thread (DEFINE_REG) stay as
they are, as do addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.dtype import AddrSpace, DType, dtypes
from core.passes.lanes import gep_of_const, gep_of_vectorize, vectorize_of_consts
from core.passes.ptx.integers import converted
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.bits import to_bits
from core.uop.pointer import address_space, pointer_of

READ_ONLY: Final = "read only"
"""The argument of a LOAD from memory that the kernel does not write."""
_MOST: Final = 4
"""Registers of one move."""
_BYTES: Final = 16
"""Bytes of one move."""
_word = dtypes.uint32


@dataclass(frozen=True, slots=True)
class Pointers:
    """`written`: what the kernel stores to; `indexed`: DEFINE_REGs that are memory, because some
    index of theirs is no constant."""

    written: frozenset[UOp]
    indexed: frozenset[UOp]

    @classmethod
    def of(cls, sink: UOp) -> Pointers:
        """Those of a kernel."""
        nodes = sink.toposort()
        written = (pointer_of(u.src[0]) for u in nodes if u.op is Ops.STORE)
        moving = (
            pointer_of(u) for u in nodes if u.op is Ops.INDEX and u.src[1].op is not Ops.CONST
        )
        return cls(frozenset(written), frozenset(p for p in moving if p.op is Ops.DEFINE_REG))

    def in_registers(self, place: UOp) -> bool:
        """Whether a place is a register and no memory."""
        return address_space(place) is AddrSpace.REG and pointer_of(place) not in self.indexed


def lanes_of(v: UOp) -> tuple[UOp, ...]:
    """The elements of a vector."""
    if v.op is Ops.VECTORIZE:
        return v.src
    if v.op is Ops.VCONST:
        return tuple([UOp.const(v.dtype.scalar(), value) for value in v.arg])
    if v.op is Ops.CONST:
        return (UOp.const(v.dtype.scalar(), v.arg),) * v.dtype.count
    return tuple([v.gep(i) for i in range(v.dtype.count)])


def moved_by(place: UOp, elements: int) -> UOp:
    """The place a number of elements further, under the same gate."""
    if not elements:
        return place
    base, offset, *gate = place.src
    if offset.op is Ops.CONST:
        offset = offset.const_like(offset.arg + elements)
    elif offset.op is Ops.ADD and offset.src[1].op is Ops.CONST:
        offset = offset.src[0] + (offset.src[1].arg + elements)
    else:
        offset = offset + elements
    return place.rebuild((base, offset, *gate))


def _most(dtype: DType) -> int:
    """Elements of one move."""
    return min(_BYTES // dtype.itemsize, _MOST * (2 if dtype.itemsize == 2 else 1))


def _packed(lanes: Sequence[UOp]) -> UOp:
    """Elements in a word, the first in the lowest bits."""
    dtype = lanes[0].dtype
    if all(u.op is Ops.CONST for u in lanes):
        bits = (to_bits(u.arg, dtype) << i * dtype.bits for i, u in enumerate(lanes))
        return UOp.const(_word, sum(bits))
    return UOp.vectorize(*lanes).bitcast(_word)


def _words(v: UOp) -> UOp:
    """A vector of elements of up to 32 bits as words."""
    lanes, each = lanes_of(v), _word.itemsize // v.dtype.scalar().itemsize
    parts = [lanes[i : i + each] for i in range(0, len(lanes), each)]
    return UOp.vectorize(*(_packed(part) for part in parts))


def _unpacked(words: UOp, dtype: DType) -> UOp:
    halves = [word.bitcast(dtype.vec(2)) for word in lanes_of(words)]
    return UOp.vectorize(*(half.gep(i) for half in halves for i in range(2)))


def _alternatives(load: UOp) -> tuple[UOp, ...]:
    """What is loaded where the gate does not hold, for each element; empty without a gate."""
    return lanes_of(load.src[1]) if len(load.src) > 1 else ()


_place = UPat(Ops.INDEX, name="place")
_load = UPat(Ops.LOAD, src=(_place,), allow_any_len=True, name="load")
_store = UPat(Ops.STORE, src=(_place, UPat.var("value")), allow_any_len=True, name="store")


@rule(_load)
def load_of_registers(ctx: Pointers, load: UOp, place: UOp) -> UOp | None:
    """load(registers[i], n) -> vectorize(load(registers[i]), load(registers[i + 1]), ...)"""
    dtype, count = load.dtype.scalar(), load.dtype.count
    if count == 1 or not ctx.in_registers(place):
        return None
    return UOp.vectorize(*(moved_by(place, i).load(dtype=dtype) for i in range(count)))


@rule(_load)
def load_of_bools(ctx: Pointers, load: UOp, place: UOp) -> UOp | None:
    """load(p: bool) -> load(p: uint8) != 0"""
    if not dtypes.is_bool(load.dtype) or ctx.in_registers(place):
        return None
    count = load.dtype.count
    other = [_as_byte(lane) for lane in _alternatives(load)]
    byte = dtypes.uint8.vec(count)
    loaded = UOp(Ops.LOAD, byte, (place, *([UOp.vectorize(*other)] if other else [])))
    zero = UOp.const(dtypes.uint8, 0)
    return UOp.vectorize(*(loaded.gep(i).ne(zero) for i in range(count)))


def _as_byte(x: UOp) -> UOp:
    if x.op is Ops.CONST:
        return converted(x, dtypes.uint8)
    return x.where(UOp.const(dtypes.uint8, 1), UOp.const(dtypes.uint8, 0))


@rule(_store)
def store_of_bools(ctx: Pointers, store: UOp, place: UOp, value: UOp) -> UOp | None:
    """store(p, v: bool) -> store(p, v ? 1 : 0 as uint8)"""
    if not dtypes.is_bool(value.dtype) or ctx.in_registers(place):
        return None
    bytes_ = UOp.vectorize(*(_as_byte(lane) for lane in lanes_of(value)))
    return store.rebuild((place, bytes_, *store.src[2:]))


@rule(_load)
def narrower_loads(load: UOp, place: UOp) -> UOp | None:
    """load(p[i], 8 floats) -> vectorize(load(p[i], 4 floats), load(p[i + 4], 4 floats))"""
    dtype, count = load.dtype.scalar(), load.dtype.count
    most = _most(dtype)
    if count <= most:
        return None
    other, lanes = _alternatives(load), list[UOp]()
    for at in range(0, count, most):
        width = min(most, count - at)
        piece = [UOp.vectorize(*other[at : at + width])] if other else []
        made = UOp(Ops.LOAD, dtype.vec(width), (moved_by(place, at), *piece), load.arg)
        lanes += lanes_of(made)
    return UOp.vectorize(*lanes)


@rule(_store)
def narrower_stores(store: UOp, place: UOp, value: UOp) -> UOp | None:
    """store(p[i], 8 floats) -> store(p[i], 4 floats), store(p[i + 4], 4 floats)"""
    most, lanes = _most(value.dtype.scalar()), lanes_of(value)
    if len(lanes) <= most:
        return None
    return UOp.group(
        *(
            store.rebuild(
                (moved_by(place, at), UOp.vectorize(*lanes[at : at + most]), *store.src[2:])
            )
            for at in range(0, len(lanes), most)
        )
    )


@rule(_load)
def load_of_words(load: UOp, place: UOp) -> UOp | None:
    """load(p, 2 n halves) -> halves of load(p, n words)"""
    dtype, count = load.dtype.scalar(), load.dtype.count
    if count == 1 or dtype.itemsize != 2:
        return None
    other = [_words(s) for s in load.src[1:]]
    return _unpacked(UOp(Ops.LOAD, _word.vec(count // 2), (place, *other), load.arg), dtype)


@rule(_store)
def store_of_words(store: UOp, place: UOp, value: UOp) -> UOp | None:
    """store(p, 2 n halves) -> store(p, n words of two halves)"""
    if value.dtype.count == 1 or value.dtype.scalar().itemsize != 2:
        return None
    return store.rebuild((place, _words(value), *store.src[2:]))


@rule(UPat(Ops.BITCAST, _word, src=(UPat(Ops.VECTORIZE, src=(
    UPat(Ops.GEP, src=(UPat(Ops.BITCAST, src=(UPat.var("word"),)),), name="low"),
    UPat(Ops.GEP, name="high"))),)))  # fmt: skip
def word_of_its_halves(word: UOp, low: UOp, high: UOp) -> UOp | None:
    """word(half 0 of w, half 1 of w) -> w"""
    whole = low.src[0] is high.src[0] and (low.arg, high.arg) == ((0,), (1,))
    return word if whole and word.dtype is _word else None


@rule(UPat(Ops.LOAD, src=(UPat(Ops.INDEX, src=(UPat(), UPat(), UPat.var("gate")), name="place"),
                          UPat.var("other")), name="load"))  # fmt: skip
def predicated_load(load: UOp, place: UOp, gate: UOp, other: UOp) -> UOp:
    """load(p[i] if g, a) -> load(p[i], a, g):  the register is a, and loaded where g holds"""
    return load.rebuild((place.rebuild(place.src[:2]), other, gate))


@rule(UPat(Ops.LOAD, name="load"))
def read_only_load(ctx: Pointers, load: UOp) -> UOp | None:
    """load(p) -> load(p) as read only  where nothing stores to p, in global memory"""
    pointer = pointer_of(load.src[0])
    if load.arg is not None or pointer.op is not Ops.DEFINE_GLOBAL or pointer in ctx.written:
        return None
    return load.replace(arg=READ_ONLY)


@rule(UPat(Ops.WMMA, src=(UPat.var("a"), UPat.var("b"), UPat.var("c")), name="product"))
def product_of_words(product: UOp, a: UOp, b: UOp, c: UOp) -> UOp | None:
    """wmma(a, b, c) -> wmma(words of a, words of b, c);  so for a c, and a result, of 16 bits"""
    if a.dtype.scalar() is _word:
        return None
    if c.dtype.scalar().itemsize > 2:
        return product.rebuild((_words(a), _words(b), c))
    src = (_words(a), _words(b), _words(c))
    return _unpacked(UOp(Ops.WMMA, src[2].dtype, src, product.arg), product.dtype.scalar())


@rule(UPat(Ops.LDMATRIX, name="matrices"))
def matrices_of_words(matrices: UOp) -> UOp | None:
    """ldmatrix(p) of 2 n halves -> halves of ldmatrix(p) of n words"""
    dtype = matrices.dtype.scalar()
    if dtype is _word:
        return None
    return _unpacked(matrices.replace(dtype=_word.vec(matrices.dtype.count // 2)), dtype)


moves = PatternMatcher(
    [
        load_of_registers,
        load_of_bools,
        store_of_bools,
        narrower_loads,
        narrower_stores,
        load_of_words,
        store_of_words,
        word_of_its_halves,
        predicated_load,
        read_only_load,
        product_of_words,
        matrices_of_words,
        gep_of_vectorize,
        gep_of_const,
        vectorize_of_consts,
    ],
    name="memory",
)


def memory(sink: UOp, target: Target) -> UOp:
    """The kernel with loads and stores of PTX."""
    return graph_rewrite(sink, moves, Pointers.of(sink), name="ptx: memory")
