"""Whether a replacement reads outside of memory where what it replaces does not.

What is read where a gate is dropped may be thrown away again: the values are equal then, but the
read is not allowed. Samples tell: a place below a cut is unknown, and is taken to be allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtype import PtrDType, dtypes
from core.prove.places import MEMORIES, Address
from core.prove.sample import Samples
from core.prove.term import Term, Terms
from core.uop import Ops, UOp

OUTSIDE: Final = "reads outside of memory where the other does not"


def leaves_memory(
    terms: Terms, before: Sequence[Address], after: Sequence[Address], samples: Samples
) -> bool:
    """Whether in some sample a place of `after` lies outside of its memory, and none of `before`
    does. Raises UnknownMeaningError where the samples have no values for a place."""
    wrong = _outside(terms, [place for place in after if place not in before], samples)
    return bool(wrong.any() and (wrong & ~_outside(terms, before, samples)).any())


def _outside(terms: Terms, places: Sequence[Address], samples: Samples) -> npt.NDArray[np.bool_]:
    """The samples in which a place that is accessed lies outside of its memory."""
    found = np.zeros(samples.count, np.bool_)
    true = terms.const(dtypes.bool, True)
    for place in places:
        size = _size(place.memory)
        if size is None or (place.at.low >= 0 and place.at.high < size):
            continue
        roots: list[Term] = [place.at, place.gate or true]
        at, gate = samples.run(roots)
        found |= gate & ((at < 0) | (at >= size))
    return found


def _size(memory: object) -> int | None:
    """The elements of memory; None where that is not known."""
    while isinstance(memory, UOp) and memory.op is Ops.AFTER:
        memory = memory.src[0]
    if not isinstance(memory, UOp) or memory.op not in MEMORIES:
        return None
    size = memory.dtype.size if isinstance(memory.dtype, PtrDType) else -1
    return size if size >= 0 else None
