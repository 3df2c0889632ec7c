"""Which earlier writes each read of a sequence of writes comes after.

A term names what memory holds, not when. Two sequences of writes mean the same only if what each
write reads (for its value, its element or its condition) was written before by the same writes. A
write counts for a read unless it is certainly of another element. Writes of one STORE happen at
once: all of its reads come first. Never decides whether terms are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeGuard

from core.dtype import PtrDType, dtypes
from core.prove.terms.node import Kind, Term, postorder
from core.prove.terms.places import Write
from core.prove.terms.term import Terms
from core.uop import Ops, UOp
from core.uop.pointer import pointer_of

Version = tuple[object, ...]
"""The writes that a read comes after."""
Reads = Mapping[object, Version]
"""By term, or by memory whose address is an input."""
_LOADS = frozenset({Ops.LOAD, Ops.LDMATRIX})


def reads_of(
    terms: Terms,
    writes: Sequence[Write],
    kept: Sequence[Write],
    lasting: Callable[[Sequence[Write]], Sequence[Write]],
) -> list[Reads]:
    """Of each of the writes that are kept, what it reads that others of the sequence may write, and
    which of the earlier ones do: by their number in `kept`. `lasting` leaves out those that a later
    one replaces."""
    written = {base_of(w.address.memory) for w in writes}
    places = {id(w): at for at, w in enumerate(writes)}
    numbers = {id(w): at for at, w in enumerate(kept)}
    known: dict[UOp, frozenset[object]] = {}
    found: list[Reads] = []
    for w in kept:
        gate = () if w.address.gate is None else (w.address.gate,)
        roots = (w.value, w.address.at, *gate)
        read = {t: _read_by(t, known) for t in postorder(roots)}
        hidden = {w.address.memory: _computed_from(w.address.memory, known)}
        reads: dict[object, Version] = {}
        for what, memories in (*read.items(), *hidden.items()):
            if bases := memories & written:
                before = writes[: places[id(w)]]
                earlier = [e for e in before if _may_change(terms, e, what, w, bases)]
                reads[what] = tuple(numbers.get(id(e), _key(e)) for e in lasting(earlier))
        found.append(reads)
    return found


def same_order(left: Reads, right: Reads) -> bool:
    """Whether two writes read after the same writes. What only one of them reads has to come after
    the same writes as all else."""
    if left.keys() == right.keys():
        return left == right
    return len({*left.values(), *right.values()}) <= 1


def reads_any(roots: Iterable[Term], writes: Iterable[Write]) -> bool:
    """Whether terms read memory that some writes are to, also where it was not looked into."""
    known: dict[UOp, frozenset[object]] = {}
    written = {base_of(w.address.memory) for w in writes}
    return any(_read_by(t, known) & written for t in postorder(roots))


def base_of(memory: object) -> object:
    """The memory that an address is in, also where it is built on an input."""
    while isinstance(memory, tuple):
        memory = memory[0]
    return pointer_of(memory) if isinstance(memory, UOp) else memory


def apart(terms: Terms, x: Term, y: Term) -> bool:
    """Whether two elements of one memory are certainly different ones."""
    far = terms.alu(Ops.SUB, dtypes.int64, (x, y))
    return far.low > 0 or far.high < 0


def _key(w: Write) -> object:
    return w.address, w.value, w.loops


def _may_change(terms: Terms, e: Write, what: object, w: Write, bases: frozenset[object]) -> bool:
    """Whether an earlier write may be of what `w` reads, in an order that only the sequence
    gives."""
    if e.store is w.store or base_of(e.address.memory) not in bases:
        return False
    if not isinstance(what, Term) or what.op is not Kind.READ or not _is_memory(what.data):
        return True
    if e.store in what.data.toposort():
        return False  # the read waits for it wherever it stands
    if _unordered(what.data) is not _unordered(e.address.memory) or e.ends != w.ends:
        return True
    return not apart(terms, what.args[0], e.address.at)


def _is_memory(data: object) -> TypeGuard[UOp]:
    return isinstance(data, UOp) and isinstance(data.dtype, PtrDType)


def _unordered(memory: object) -> object:
    """Memory without what an access waits for."""
    while isinstance(memory, UOp) and memory.op in (Ops.AFTER, Ops.NOOP):
        memory = memory.src[0]
    return memory


def _read_by(t: Term, known: dict[UOp, frozenset[object]]) -> frozenset[object]:
    """The memories that a term itself reads, also where it is an input that was not looked into."""
    if t.op not in (Kind.READ, Kind.INPUT):
        return frozenset()
    found = _computed_from(t.data, known)
    return found | {base_of(t.data)} if t.op is Kind.READ else found


def _computed_from(data: object, known: dict[UOp, frozenset[object]]) -> frozenset[object]:
    """The memories that are loaded from to compute a node that is an input. What only has to happen
    before it does not count."""
    while isinstance(data, tuple) and data:
        data = data[0]
    if not isinstance(data, UOp):
        return frozenset()
    found = known.get(data)
    if found is None:
        seen: set[UOp] = set()
        stack = [data]
        while stack:
            u = stack.pop()
            if u not in seen:
                seen.add(u)
                stack += u.src[:1] if u.op is Ops.AFTER else u.src
        found = frozenset(pointer_of(u.src[0]) for u in seen if u.op in _LOADS)
        known[data] = found
    return found
