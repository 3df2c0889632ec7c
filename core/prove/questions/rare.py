"""Conditions that few samples meet: what is chosen under them was hardly compared.

The gate of a load from a table, say, holds for few of all integers. Where such a condition is on
both sides, the two are compared once more as if it held (or did not, where it mostly does); for
integers, one side is enough. They may differ then for values for which it cannot hold: a difference
there only says that the samples have not decided. Never proves anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from core.dtype import dtypes
from core.prove.questions.pairs import conjuncts
from core.prove.samples.sample import Samples
from core.prove.terms.term import Term, Terms, postorder
from core.prove.terms.value import UnknownMeaningError
from core.uop import Ops

HIDDEN: Final = "few samples meet a condition under which the two may differ"
FEW: Final = 4
"""A condition is rare where fewer than one in so many samples meets it."""
MAX_CONDITIONS: Final = 32

Pair = tuple[Term, Term]


def under_rare_conditions(
    terms: Terms, pairs: Sequence[Pair], samples: Samples
) -> Iterator[list[Pair]]:
    """For each rare condition that decides a choice, the pairs as they are when it is met. Those
    that are the same terms then are left out."""
    for condition in _conditions(pairs)[:MAX_CONDITIONS]:
        try:
            (held,) = samples.run([condition])
        except UnknownMeaningError:
            continue
        met = int(np.count_nonzero(held))
        if FEW * min(met, samples.count - met) >= samples.count:
            continue
        rare = terms.const(dtypes.bool, 2 * met < samples.count)
        given = {condition: rare}
        if rare.data:
            given |= dict.fromkeys(conjuncts(condition), rare)
        if rare.data and _is_nan(condition):
            x = condition.args[0]
            given[x] = terms.const(x.dtype, math.nan)
        changed = terms.substitute([t for pair in pairs for t in pair], given)
        yield [(a, b) for a, b in zip(changed[::2], changed[1::2], strict=True) if a is not b]


def _is_nan(condition: Term) -> bool:
    """Whether it is x != x of a float."""
    return condition.op is Ops.CMPNE and condition.args[0] is condition.args[1]


def _conditions(pairs: Sequence[Pair]) -> list[Term]:
    """What decides choices that both sides of a pair make; of integers, those of either side."""
    found: dict[Term, None] = {}
    for a, b in pairs:
        left, right = (
            {t.args[0]: None for t in postorder([side]) if t.op is Ops.WHERE} for side in (a, b)
        )
        either = not dtypes.is_float(a.dtype)
        chosen = left | right if either else {t: None for t in left if t in right}
        found |= {t: None for t in chosen if not t.constant}
    return list(found)
