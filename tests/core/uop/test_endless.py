"""No simplification is endless or wrong: random conditions, choices and gates.

Each match must make the measure smaller, and values at points must stay.
"""

from __future__ import annotations

import random

import pytest

from tests.core.uop.fuzz import Cases, check_gate, check_value
from tests.fuzzing import cases


def run(kind: str, seed: str) -> None:
    cases = Cases(random.Random(seed))
    if kind == "conditions":
        check_value(cases.condition(), cases)
    elif kind == "choices":
        check_value(cases.choice(), cases)
    else:
        check_gate(cases.linear(), cases.condition(), cases.points(12))


@pytest.mark.parametrize("kind", ["conditions", "choices", "gates"])
def test_every_match_makes_it_smaller_and_keeps_the_value(
    kind: str, pytestconfig: pytest.Config
) -> None:
    seed = random.randrange(1 << 30)
    for at in range(cases(pytestconfig, 300)):
        try:
            run(kind, f"{seed} {at}")
        except Exception as error:
            raise AssertionError(f'seed "{seed} {at}": {error}') from error
