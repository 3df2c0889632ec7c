"""What is written where, and in which order: pairs of terms for two sequences of writes.

A later write replaces an earlier one of the same place where it happens whenever that one does. The
order of writes counts where two of them may be of one element, or where one reads what another one
may write. Never decides whether terms are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from core.dtype import dtypes
from core.prove.questions.effects import apart, base_of, reads_of, same_order
from core.prove.questions.outside import inside
from core.prove.questions.pairs import OTHER_LOOPS
from core.prove.samples.sample import Samples
from core.prove.terms.node import conjuncts, postorder
from core.prove.terms.places import Write
from core.prove.terms.term import Term, Terms
from core.prove.terms.value import UnknownMeaningError
from core.uop import Ops, UOp

_Place = tuple[object, Term]
ORDER: Final = "what is read may be written before in another order"


def matched(
    terms: Terms, before: Sequence[Write], after: Sequence[Write]
) -> list[tuple[Term, Term, Term | None]]:
    """Pairs for what is written, and the condition under which each counts: by place where both
    have the same places, else in order. Raises UnknownMeaningError where neither is possible."""
    true = terms.const(dtypes.bool, True)
    left, right = _lasting(before), _lasting(after)
    if len(left) != len(right):
        raise UnknownMeaningError("other memory is written")
    order = _order([_place(w) for w in left], [_place(w) for w in right])
    if order is None and (sampled := _sampled_places(terms, left, right)) is not None:
        order = _order(*sampled)
    if order is not None:
        _moved_apart(terms, right, order)
        right = [right[at] for at in order]
    if not _ended_alike(left, right):
        raise UnknownMeaningError(OTHER_LOOPS)
    if not _read_alike(terms, (before, left), (after, right)):
        raise UnknownMeaningError(ORDER)
    found: list[tuple[Term, Term, Term | None]] = []
    for a, b in zip(left, right, strict=True):
        if a.address.memory != b.address.memory:
            raise UnknownMeaningError("other memory is written")
        gates = a.address.gate or true, b.address.gate or true
        given = dict.fromkeys(conjuncts(gates[0]), true)
        sides = [(w.address.at, w.value) for w in (a, b)]
        flat = terms.substitute([t for side in sides for t in side], given)
        last = _last_of_repeated(terms, a)
        counts = terms.both(last, gates[0])
        found.append((*gates, last))
        found += [(flat[0], flat[2], counts), (flat[1], flat[3], counts)]
    return found


def _last_of_repeated(terms: Terms, w: Write) -> Term:
    """That of the loops which write one element again and again, it is the last iteration."""
    gate = () if w.address.gate is None else (w.address.gate,)
    used = {*postorder((w.address.at, *gate))}
    again = [loop for loop in w.loops if loop not in used]
    last = [(loop, terms.const(loop.dtype, loop.high)) for loop in again]
    return terms.both(*(terms.alu(Ops.CMPEQ, dtypes.bool, pair) for pair in last))


def _order(left: Sequence[object], right: Sequence[object]) -> list[int] | None:
    """Which of the places on the right each on the left is; None where they are others, or one is
    there twice."""
    places = {place: at for at, place in enumerate(right)}
    if len(places) < len(right) or places.keys() != {*left}:
        return None
    return [places[place] for place in left]


def _sampled_places(
    terms: Terms, left: Sequence[Write], right: Sequence[Write]
) -> tuple[list[object], list[object]] | None:
    """The places of writes, as what samples inside of memory make of them: equal elements may be
    different terms. None where they are equal in order, or there is no such sample."""
    allowed = inside(terms, [w.address for w in left])
    roots = [w.address.at for w in (*left, *right)]
    try:
        found = Samples().run(roots if allowed is None else [*roots, allowed])
    except UnknownMeaningError:
        return None
    rows = slice(None) if allowed is None else np.flatnonzero(found.pop())
    kept = [values[rows].tobytes() for values in found]
    memories = [w.address.memory for w in (*left, *right)]
    places: list[object] = [*zip(memories, kept, strict=True)]
    a, b = places[: len(left)], places[len(left) :]
    return None if a == b or not any(kept) else (a, b)


def _place(w: Write) -> _Place:
    return w.address.memory, w.address.at


def _lasting(writes: Sequence[Write]) -> list[Write]:
    """The writes without those that a later one replaces for certain: the same place, in the same
    loops, and always or under the same condition."""
    kept: list[Write] = []
    later: dict[_Place, list[Write]] = {}
    for w in reversed(writes):
        following = later.setdefault(_place(w), [])
        if any(_replaces(other, w) for other in following):
            continue
        following.append(w)
        kept.insert(0, w)
    return kept


def _replaces(later: Write, earlier: Write) -> bool:
    gate = later.address.gate
    return later.loops == earlier.loops and (gate is None or gate is earlier.address.gate)


def _ended_alike(left: Sequence[Write], right: Sequence[Write]) -> bool:
    """Whether the writes are in the same loops, and those of one side share them as those of the
    other do."""
    pairs: dict[tuple[int, UOp], UOp] = {}
    back: dict[tuple[int, UOp], UOp] = {}
    for a, b in zip(left, right, strict=True):
        if a.loops != b.loops:
            return False
        for at, (x, y) in enumerate(zip(a.ends, b.ends, strict=True)):
            if pairs.setdefault((at, x), y) is not y or back.setdefault((at, y), x) is not x:
                return False
    return True


def _moved_apart(terms: Terms, writes: Sequence[Write], order: Sequence[int]) -> None:
    """Raises UnknownMeaningError where writes that change places may be of one element."""
    for n, later in enumerate(order):
        for earlier in order[n + 1 :]:
            if earlier < later and not _apart(terms, writes[earlier], writes[later]):
                raise UnknownMeaningError("writes in another order")


def _apart(terms: Terms, x: Write, y: Write) -> bool:
    """Whether two writes are certainly never of one element. In loops that both are in, iterations
    keep their order."""
    if base_of(x.address.memory) is not base_of(y.address.memory):
        return True
    if x.address.memory != y.address.memory or x.ends != y.ends:
        return False
    return apart(terms, x.address.at, y.address.at)


def _read_alike(
    terms: Terms,
    left: tuple[Sequence[Write], Sequence[Write]],
    right: tuple[Sequence[Write], Sequence[Write]],
) -> bool:
    """Whether each of the writes that last reads after the same writes on both sides. Of each side,
    all writes and those that last, which are matched in order."""
    sides = [reads_of(terms, writes, kept, _lasting) for writes, kept in (left, right)]
    return all(same_order(a, b) for a, b in zip(*sides, strict=True))
