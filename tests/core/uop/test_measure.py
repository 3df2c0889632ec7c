"""The measure: what it orders, and that it grows with its parts."""

from __future__ import annotations

import random

import pytest

from core.dtype import dtypes
from core.uop import Ops, UOp
from core.uop.symbolic.measure import measure
from tests.core.uop.fuzz import Cases, simplified
from tests.core.uop.symbols import i, num, p, q, var, x, y, z
from tests.core.uop.test_symbolic_rules import EXACT


@pytest.mark.parametrize(("name", "before", "wanted"), EXACT)
def test_every_rule_makes_it_smaller(name: str, before: UOp, wanted: UOp | None) -> None:
    assert wanted is None or measure(wanted) < measure(before)


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (x + y, y + x),
        ((x + y) + z, x + (y + z)),
        (x * 3 + y * 3, (x + y) * 3),
        (x // 4 % 3, x % 12 // 4),
        ((x // 4) * -1, (x * -1) // 4),
        (x + y * -1, x - y),
        (p & q, p.where(q, p)),
    ],
)
def test_order_of_forms(smaller: UOp, larger: UOp) -> None:
    assert measure(smaller) < measure(larger)


def test_a_smaller_part_makes_the_whole_smaller() -> None:
    """In every place of every op: what makes a rule safe wherever it matches."""
    seed = random.randrange(1 << 30)
    for at in range(300):
        rng = random.Random(f"{seed} {at}")
        cases = Cases(rng)
        part = cases.linear()
        less = simplified(part)
        if less is part or less.op is Ops.CONST:
            continue
        assert measure(less) < measure(part)
        other = cases.term()
        hole = UOp.variable("hole", int(part.vmin), int(part.vmax), part.dtype)
        around = rng.choice(
            (
                hole * 3 + other,
                other + hole,
                (hole + other) // 4,
                hole % num(6, hole.dtype),
                other * hole,
                (hole < 5).where(other, hole),
                hole < other,
                hole.eq(other),
            )
        )
        big, small = around.substitute({hole: part}), around.substitute({hole: less})
        assert measure(small) < measure(big), f"{part.render()} in {around.render()} ({seed} {at})"


def test_loads_are_leaves() -> None:
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(64), (), 0)
    near, far = pointer.index(i).load(), pointer.index(i * 4 + var("k") // 3).load()
    assert measure(near + 1) == measure(far + 1)
