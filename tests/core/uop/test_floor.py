"""The floor form of division and remainder."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.uop import UOp
from core.uop.symbolic import floor_divide, floor_remainder
from tests.core.uop.evaluator import value


@pytest.mark.parametrize("low", [-20, 0])
@pytest.mark.parametrize("n", [1, 3, 4])
def test_rounds_down(low: int, n: int) -> None:
    x = UOp.variable("x", low, 20)
    for number in range(low, 21):
        for simple in (False, True):
            quotient, rest = floor_divide(x, n), floor_remainder(x, n)
            if simple:
                quotient, rest = quotient.simplify(), rest.simplify()
            assert (value(quotient, {x: number}), value(rest, {x: number})) == divmod(number, n)


def test_needs_nothing_extra_for_what_is_never_negative() -> None:
    x = UOp.variable("x", 0, 9, dtypes.int32)
    assert floor_divide(x, 4) is x // 4
    assert floor_remainder(x, 4) is x % 4
