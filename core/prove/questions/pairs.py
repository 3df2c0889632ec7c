"""What has to be equal for a replacement to be right: pairs of terms.

Of values, each lane; of shaped values, any element; of addresses, the memory, the gate, and the
element where it is accessed; of stores, what is written where. Never decides whether they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.dtype import PtrDType, dtypes
from core.prove.questions.outside import inside, leaving
from core.prove.terms.axes import Point, axes_of, loops_bound
from core.prove.terms.index import Index, root_index
from core.prove.terms.node import conjuncts
from core.prove.terms.term import Kind, Term, Terms, postorder
from core.prove.terms.value import (
    Address,
    Axes,
    Translation,
    UnknownMeaningError,
    Value,
    Write,
    points,
)
from core.uop import Ops, UOp
from core.uop.pointer import plain_memory_of

OTHER_LOOPS: Final = "other loops: their whole pass has to be run"
_INT: Final = dtypes.int64


Pair = tuple[Term, Term, Term | None]
"""Two terms, and the condition under which they count; None: always. Where it does not hold they
may still be equal, and do not count as different."""


@dataclass
class Question:
    """Pairs of terms, each to be equal; `memories`: memory that is assumed to correspond to other
    memory."""

    terms: Terms
    pairs: list[Pair] = field(default_factory=lambda: list[Pair]())
    stores: list[tuple[list[Write], list[Write]]] = field(
        default_factory=lambda: list[tuple[list[Write], list[Write]]]()
    )
    memories: list[tuple[UOp, UOp]] = field(default_factory=lambda: list[tuple[UOp, UOp]]())
    unknown: frozenset[UOp] = frozenset()
    """Nodes of one side that count as inputs although they compute something."""
    allowed: Term | None = None
    """That nothing of the first side lies outside of memory; None: always."""
    leaves: list[Term] = field(default_factory=lambda: list[Term]())
    """Conditions that must never hold: the second side leaves memory where the first does not."""


def question(before: UOp, after: UOp, cut: frozenset[UOp], unaware: bool = False) -> Question:
    """What is asked of two nodes. `unaware`: a reduce that comes after has to be right without the
    lengths below it. Raises UnknownMeaningError where terms cannot express it."""
    terms = Terms()
    asked = Question(terms)
    read = Translation(terms, cut - {before, after}, Ops.REDUCE in (before.op, after.op))
    read.unaware = (after,) if unaware else ()
    read.bound = loops_bound((before, after), read.cut)
    near = [u for s in (after, *after.src) for u in (s, *s.src) if u.op is Ops.AFTER]
    old = before.toposort() if near else {}
    read.made = {u for u in near if u not in old}
    _ask(asked, read, before, after)
    if read.waiting and _awaited(read, before) != _awaited(read, after):
        raise UnknownMeaningError("values that wait for other work")
    if read.read_at:
        sides = _reads(read, before), _reads(read, after)
        asked.leaves = leaving(terms, *sides)
        asked.allowed = inside(terms, sides[0])
    if inputs := read.opaque | read.cut_values:
        old = old or before.toposort()
        new = after.toposort()
        asked.unknown = frozenset(u for u in inputs if u not in old or u not in new)
    return asked


def _reads(read: Translation, root: UOp) -> list[Address]:
    """The places that are read for a node, above the cut, in the iterations that there are."""
    above = [u for u in root.toposort(lambda u: u not in read.cut) if u in read.read_at]
    found: list[Address] = []
    for u in above:
        taken = read.iterates(u)
        for place in read.read_at[u]:
            gate = place.gate if taken is None else read.terms.both(place.gate, taken)
            found.append(place._replace(gate=gate))
    return found


def _awaited(read: Translation, root: UOp) -> set[UOp]:
    """What the values of a node wait for, above the cut."""
    above = root.toposort(lambda u: u not in read.cut)
    return {dep for u in above if u in read.waiting for dep in u.src[1:]}


def _ask(asked: Question, read: Translation, before: UOp, after: UOp) -> None:
    terms = asked.terms
    if before.op is Ops.STORE and before.src[0].op is Ops.VIEW:
        _stored_in_loops(asked, read, before, after)
        return
    values = all(_is_shaped(s, s) for u in (before, after) for s in u.src)
    if before.op is after.op is Ops.SINK and values and len(before.src) == len(after.src):
        for pair in zip(before.src, after.src, strict=True):
            _ask(asked, read, *pair)
        return
    if _is_shaped(before, after):
        shape = before.shape or after.shape or ()
        if any(u.shape not in (None, (), shape) for u in (before, after)):
            raise UnknownMeaningError("a value of another shape")
        if before.size == 0 and after.size == 0:
            return  # there is no element to be equal
        index = root_index(terms, shape)
        a, b = (read.element(u, _of(terms, index, u)) for u in (before, after))
        if before.op is Ops.LENGTH:  # what lies behind is left open
            counts = read.before(index.axes[before.arg], before.src[1])
            a, b = _given(terms, counts, (a, b))
            _add(asked, (a,), (b,), counts)
        else:
            _add(asked, (a,), (b,))
        _renamed(asked)
        return
    axes: Axes = tuple(sorted({*axes_of(before), *axes_of(after)}))
    if len(dict(axes)) < len(axes):
        raise UnknownMeaningError("lanes of a loop with two lengths")
    for point in points(axes):
        a, b = read.lanes(before, point), read.lanes(after, point)
        held = _gate_of_value(read, before, point)
        if held is not None:
            a, b = (_given(terms, held, [v for v in s if isinstance(v, Term)]) for s in (a, b))
        _add(asked, a, b, held)


def _is_shaped(before: UOp, after: UOp) -> bool:
    void = dtypes.void in (before.dtype, after.dtype)
    pointer = isinstance(before.dtype, PtrDType) or isinstance(after.dtype, PtrDType)
    if void or pointer or before.op is Ops.INDEX:
        return False
    return before.shape not in (None, ()) or after.shape not in (None, ())


def _of(terms: Terms, index: Index, u: UOp) -> Index:
    return index if u.shape == index.shape else Index(terms, (), ())


def _gate_of_value(read: Translation, u: UOp, point: Point) -> Term | None:
    """The gate of an INDEX of a value: its result where the gate does not hold is unspecified."""
    of_value = u.op is Ops.INDEX and not isinstance(u.src[0].dtype, PtrDType)
    if not of_value or u in read.cut or not dtypes.is_bool(u.src[-1].dtype):
        return None
    return read.values(u.src[-1], point)[0]


def _given(terms: Terms, condition: Term, values: Sequence[Term]) -> list[Term]:
    """Values as they are where a condition holds."""
    true = terms.const(dtypes.bool, True)
    return terms.substitute(values, dict.fromkeys(conjuncts(condition), true))


def _add(
    asked: Question, a: Sequence[Value], b: Sequence[Value], counts: Term | None = None
) -> None:
    writes_a = [v for v in a if isinstance(v, Write)]
    writes_b = [v for v in b if isinstance(v, Write)]
    if len(writes_a) == len(a) and len(writes_b) == len(b):
        asked.stores.append((writes_a, writes_b))
        return
    if len(a) != len(b):
        raise UnknownMeaningError(f"{len(a)} lanes and {len(b)} lanes")
    for x, y in zip(a, b, strict=True):
        if isinstance(x, Term) and isinstance(y, Term):
            asked.pairs.append((x, y, counts))
        elif isinstance(x, Address) and isinstance(y, Address) and x.memory == y.memory:
            asked.pairs += _same_place(asked.terms, x, y)
        else:
            raise UnknownMeaningError("another memory is accessed")


def _same_place(terms: Terms, x: Address, y: Address) -> list[Pair]:
    gates = [a.gate or terms.const(dtypes.bool, True) for a in (x, y)]
    zero = terms.const(_INT, 0)
    at = [terms.alu(Ops.WHERE, _INT, (gates[0], a.at, zero)) for a in (x, y)]
    return [(gates[0], gates[1], None), (at[0], at[1], None)]


def _stored_in_loops(asked: Question, read: Translation, before: UOp, after: UOp) -> None:
    """A store of a whole value, and loops that store each element: the loops are its axes."""
    place, value = before.src[0], before.src[1]
    if after.op is not Ops.END:
        raise UnknownMeaningError("a store of a whole value")
    terms, shape = asked.terms, place.arg.shape
    loops = iter(after.src[1:])
    axes: list[Term] = []
    for n in shape:
        if n == 1:
            axes.append(terms.const(_INT, 0))
            continue
        loop = next(loops, None)
        if loop is None or loop.vmax != n - 1 or loop.vmin != 0:
            raise UnknownMeaningError("loops that are not the axes of what is stored")
        axes.append(terms.alu(Ops.CAST, _INT, read.values(loop)))
    index = Index(terms, shape, axes)
    inner, valid = index.viewed(place.arg, place.src[0].shape or ())
    stored = read.element(value, _of(terms, index, value))
    memory = plain_memory_of(place.src[0])
    if any(_overwrites(memory, inner.flat, t) for t in postorder([stored])):
        raise UnknownMeaningError("a store over what other elements are made of")
    address = Address(memory, inner.flat, valid)
    writes = [v for v in read.lanes(after) if isinstance(v, Write)]
    if next(loops, None) is not None:
        raise UnknownMeaningError(OTHER_LOOPS)
    whole = Write(address, read.as_stored(address, stored), before)
    if writes:
        whole = whole._replace(loops=writes[0].loops, ends=writes[0].ends)
    asked.stores.append(([whole], writes))


def _overwrites(memory: UOp, at: Term, t: Term) -> bool:
    """Whether a term is another element of memory that is stored to, or may be made of one."""
    if t.op is Kind.READ and t.data is memory:
        return t.args[0] is not at
    below = t.data[0] if isinstance(t.data, tuple) else t.data
    inputs = t.op in (Kind.READ, Kind.INPUT) and isinstance(below, UOp)
    return inputs and memory in below.toposort()


def _of_one_side(asked: Question) -> list[set[UOp]]:
    """The memory that only `before` reads, and that which only `after` does."""
    sides = [_memories(side) for side in zip(*((a, b) for a, b, _ in asked.pairs), strict=True)]
    return [sides[0] - sides[1], sides[1] - sides[0]]


def _renamed(asked: Question) -> None:
    """The memory that only one side reads, where each side has exactly one: the two correspond."""
    if not asked.pairs:
        return
    only = _of_one_side(asked)
    if len(only[0]) != 1 or len(only[1]) != 1:
        return
    (old,), (new,) = only
    if new.op is not Ops.DEFINE_GLOBAL and old.op is not Ops.DEFINE_GLOBAL:
        return
    asked.memories.append((old, new))
    asked.pairs = [(a, _with_memory(asked.terms, b, new, old), c) for a, b, c in asked.pairs]


def _memories(roots: Iterable[Term]) -> set[UOp]:
    found: set[UOp] = set()
    stack, seen = list(roots), set[Term]()
    while stack:
        term = stack.pop()
        if term in seen:
            continue
        seen.add(term)
        if term.op is Kind.READ and isinstance(term.data, UOp):
            found.add(term.data)
        stack += term.args
    return found


def _with_memory(terms: Terms, root: Term, old: UOp, new: UOp) -> Term:
    """A term that is read from other memory; only where it is nothing but a read, or a choice of
    one."""
    if root.op is Kind.READ and root.data is old:
        return terms.read(new, root.dtype, root.args[0])
    if root.op is Ops.WHERE:
        args = [_with_memory(terms, a, old, new) for a in root.args]
        return terms.alu(Ops.WHERE, root.dtype, args)
    return root
