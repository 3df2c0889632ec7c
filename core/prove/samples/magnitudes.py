"""How far a right result of a kernel may be off, element by element: a running error bound.

Of sums and products it is known what roundings may add up to, whatever their order: each element is
a sum of products, and is off by at most gamma times the same sum of the magnitudes of these, where
gamma = e / (1 - e), and e is how often a value is rounded on the way, times the unit roundoff
(N. Higham, "Accuracy and Stability of Numerical Algorithms", lemma 3.3 and section 3.1). `bound_of`
makes the kernel that computes these magnitudes, and e. Of other functions nothing is said.

Evaluates nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Final, cast

from core.dtype import DType, PtrDType, dtypes
from core.prove.samples.rounding import gamma, units
from core.uop import GroupOp, Ops, UOp
from core.uop.kernels import stores_of
from core.uop.pointer import pointer_of

_WIDE: Final = dtypes.float64
DIRECTED: Final = 2
"""Unit roundoffs of an operation: of that of the kernel, and of that of the reference. Of each
addition of a sum of products: tensor cores may round toward zero, the reference rounds once."""
DIVIDED: Final = 4
"""Of a quotient: fast ones are off by two units in the last place (NVIDIA, "PTX ISA", div.full)."""
_KEPT: Final = frozenset({Ops.NOOP, Ops.CONTIGUOUS, Ops.COPY, Ops.VIEW, *GroupOp.Movement})


@dataclass(frozen=True)
class Bound:
    """`ast`: the kernel of the magnitudes, which stores float64; `relative`: gamma, by the number
    of an output; `absolute`: what results below the smallest normal numbers may add."""

    ast: UOp
    relative: dict[int, float]
    absolute: float


class _UnknownError(Exception):
    """There is no bound."""


@dataclass(frozen=True)
class _Value:
    """The magnitudes of a value, how often it is rounded, and what is lost below normal numbers."""

    size: UOp
    rounded: float = 0.0
    lost: float = 0.0


def bound_of(ast: UOp) -> Bound | None:
    """The bound of a kernel of shaped values; None where it computes more than sums, products,
    quotients by what is given, choices and maxima, or is not rounded often enough to have one."""
    read = {pointer_of(u.src[0]) for u in ast.toposort() if u.op is Ops.LOAD}
    try:
        stores = [_stored(store, read) for store in stores_of(ast)]
    except _UnknownError:
        return None
    relative = {int(pointer_of(s.src[0]).arg): gamma(value.rounded) for s, value in stores}
    if any(found == float("inf") for found in relative.values()):
        return None
    lost = max((value.lost for _, value in stores), default=0.0)
    return Bound(ast.replace(src=tuple(store for store, _ in stores)), relative, lost)


def _stored(store: UOp, read: set[UOp]) -> tuple[UOp, _Value]:
    place, value = store.src[:2]
    memory = pointer_of(place)
    if memory in read or len(store.src) != 2 or not dtypes.is_float(value.dtype):
        raise _UnknownError
    found, kind = _magnitude(value), memory.dtype
    assert isinstance(kind, PtrDType)
    wide = {memory: memory.replace(dtype=_WIDE.ptr(kind.size))}
    for u in place.toposort():
        if u not in wide and memory in u.toposort():
            src = tuple(wide.get(s, s) for s in u.src)
            wide[u] = u.replace(dtype=_WIDE.ptr(cast("PtrDType", u.dtype).size), src=src)
    return store.replace(src=(wide[place], found.size)), found


@cache
def _unit(dtype: DType) -> float:
    """The unit roundoff of an operation: one of a narrow float is one of float32 that is rounded
    once more."""
    own, single = units(dtype)[0], units(dtypes.float32)[0]
    return own + single if own > single else own


def _magnitude(root: UOp) -> _Value:
    """The magnitudes of a float. Raises _UnknownError."""
    known: dict[UOp, _Value] = {}
    for u in root.toposort():
        if dtypes.is_float(u.dtype.scalar()) and not isinstance(u.dtype, PtrDType):
            known[u] = _of(u, known)
        elif any(s in known and (known[s].rounded or known[s].lost) for s in u.src):
            raise _UnknownError  # what is chosen, or becomes an integer, may turn with a rounding
    return known[root]


def _of(u: UOp, known: dict[UOp, _Value]) -> _Value:
    unit, tiny = _unit(u.dtype.scalar()), units(u.dtype.scalar())[1]
    own = DIRECTED * unit
    if u.op in (Ops.LOAD, Ops.CONST):
        return _Value(_absolute(u.cast(_WIDE)))
    if u.op is Ops.CAST and u.src[0] not in known:
        return _Value(_absolute(u.src[0].cast(_WIDE)), own)
    xs = [known[s] for s in u.src if s in known]
    if len(xs) + (u.op is Ops.WHERE) != len([s for s in u.src if s.op is not Ops.DEVICE]):
        raise _UnknownError
    rounded, lost = max(x.rounded for x in xs), sum(x.lost for x in xs)
    sizes = [x.size for x in xs]
    if u.op is Ops.CAST:
        narrower = unit > _unit(u.src[0].dtype.scalar())
        return _Value(sizes[0], rounded + own * narrower, lost + tiny * narrower)
    if u.op in _KEPT:
        return _Value(u.replace(dtype=_WIDE, src=(sizes[0], *u.src[1:])), rounded, lost)
    if u.op is Ops.NEG:
        return xs[0]
    if u.op in (Ops.ADD, Ops.SUB):
        return _Value(sizes[0] + sizes[1], rounded + own, lost)
    if u.op is Ops.MUL:
        return _Value(sizes[0] * sizes[1], xs[0].rounded + xs[1].rounded + own, lost + tiny)
    if u.op is Ops.MAX:
        return _Value(sizes[0].alu(Ops.MAX, sizes[1]), rounded, lost)
    if u.op is Ops.WHERE:
        return _Value(u.src[0].where(sizes[0], sizes[1]), rounded, lost)
    if u.op is Ops.FDIV and not xs[1].rounded:
        return _Value(sizes[0] / sizes[1], xs[0].rounded + DIVIDED * unit, lost + tiny)
    if u.op is Ops.REDUCE_AXIS and not u.src[0].lengths:
        op, axes = u.arg
        many = prod(u.src[0].shaped[axis] for axis in axes)
        size = u.replace(dtype=_WIDE, src=(sizes[0],))
        if op is Ops.ADD:
            each = own if _is_product(u.src[0]) else unit
            return _Value(size, rounded + many * each + own, many * lost)
        if op is Ops.MAX:
            return _Value(size, rounded, lost)
    raise _UnknownError


def _is_product(u: UOp) -> bool:
    while u.op is Ops.CAST or u.op in _KEPT:
        u = u.src[0]
    return u.op is Ops.MUL


def _absolute(x: UOp) -> UOp:
    return x.alu(Ops.MAX, x.alu(Ops.NEG))
