"""Whether a kernel reads elements of what it overwrites elsewhere than where it stores them: in
another iteration they are there as they were, or overwritten.

Found out element by element on arrays of their numbers. Shares nothing with the scheduler, which
gives such a kernel new memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import prod
from typing import Final

import numpy as np

from core.dtype import PtrDType
from core.errors import RunError, UopvizError
from core.runtime.numeric import Array
from core.runtime.reference.evaluate.shaped import read_view
from core.uop import GroupOp, Ops, UOp
from core.uop.kernels import is_lowered

KERNELIZE: Final = "kernelize"
SELF_READS: Final = "a kernel reads what it overwrites only where it stores it"
"""What that pass guarantees."""
MAX_ELEMENTS: Final = 1 << 20
"""Of what a kernel stores."""
MAX_READS: Final = 64
"""Of one value."""
_OUTSIDE: Final = -1


def misread(ast: UOp, memory: Mapping[int, UOp] | None = None) -> int | None:
    """The argument whose elements a kernel reads elsewhere than where it stores them; None for
    none, and for kernels of loops or too large to be looked at. `memory`: what arguments are, where
    that is known; without it, each is of its own."""
    stores = ast.op is Ops.SINK and not is_lowered(ast)
    if not stores or not all(s.op is Ops.STORE and s.src[0].op is Ops.VIEW for s in ast.src):
        return None
    try:
        return _misread(ast, memory)
    except (UopvizError, ArithmeticError, LookupError, ValueError, AttributeError):
        return None


def _misread(ast: UOp, memory: Mapping[int, UOp] | None) -> int | None:
    def held(argument: int) -> object:
        return argument if memory is None else memory.get(argument, argument)

    written: dict[object, Array] = {}
    for store in ast.src:
        place = store.src[0]
        if prod(place.shaped) > MAX_ELEMENTS:
            return None
        written[held(place.src[0].arg)] = _numbers(place).reshape(-1)
    for store in ast.src:
        count = prod(store.src[0].shaped)
        for load, read in _reads(store.src[1], frozenset(written), held):
            argument = load.src[0].src[0].arg
            here = written[held(argument)]
            if read is None or here.size != count or not _is_same(read.reshape(-1), here):
                return argument
    return None


def _is_same(read: Array, written: Array) -> bool:
    return bool(((read == written) | (read == _OUTSIDE)).all())


def _numbers(place: UOp) -> Array:
    """For each element of a place, its number in memory; _OUTSIDE for those that are masked."""
    dtype = place.src[0].dtype
    assert isinstance(dtype, PtrDType)
    return read_view(np.arange(1, dtype.size + 1), place.arg) - 1


def _reads(
    value: UOp, written: Collection[object], held: Callable[[int], object]
) -> list[tuple[UOp, Array | None]]:
    """The loads of memory that is written, each with the numbers of the elements that the elements
    of `value` are computed from; None where that is more than one each."""
    found: dict[UOp, list[tuple[UOp, Array | None]]] = {}
    for u in value.toposort():
        if u.op is Ops.LOAD:
            place = u.src[0]
            own = held(place.src[0].arg) in written
            found[u] = [(u, _numbers(place))] if own else []
            continue
        below = [(s, one) for s in u.src for one in found.get(s, ())]
        if len(below) > MAX_READS:
            raise RunError("too many reads of one value to be looked at")
        found[u] = [(load, _through(u, s, read)) for s, (load, read) in below]
    return found[value]


def _through(u: UOp, source: UOp, read: Array | None) -> Array | None:
    """What an element of `u` is computed from, given that of a source of it."""
    if read is None:
        return None
    if u.op is Ops.VIEW:
        return read_view(read.reshape(-1) + 1, u.arg) - 1
    return read if u.op in GroupOp.Elementwise and u.shape == source.shape else None
