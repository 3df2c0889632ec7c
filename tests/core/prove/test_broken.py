"""A prover with one wrong line takes something wrong for equal: each of its lines counts.

The pairs of `wrong_pairs.py` are not equal; the prover proves none of them, and each breakage of
`broken.py` has it prove its own.
"""

from __future__ import annotations

import pytest

from core.prove import bitvector
from core.prove.decide import Checker, Options
from tests.core.prove.broken import BREAKAGES, Breakage
from tests.core.prove.wrong_pairs import FIRST, WRONG

PATIENT = 120_000
"""Milliseconds of z3: a slow machine changes no answer."""
FEW = Options(samples=4, timeout=PATIENT)
"""So few samples that proofs have to be wrong, not samples weak."""


def answer(key: tuple[str, str], options: Options) -> str:
    """The answer to a wrong pair, after what has to be asked before."""
    checker = Checker(options)
    if key in FIRST:
        assert checker.check(*FIRST[key]).kind == "proved"
    return checker.check(*WRONG[key]).kind


def test_each_breakage_has_a_pair() -> None:
    assert sorted((b.module, b.title) for b in BREAKAGES) == sorted(WRONG)
    assert len(BREAKAGES) >= 60


@pytest.mark.parametrize("key", WRONG, ids=": ".join)
def test_wrong_pairs_are_not_taken_for_equal(key: tuple[str, str]) -> None:
    assert answer(key, Options(timeout=PATIENT)) not in ("proved", "sampled")
    assert answer(key, FEW) != "proved"


@pytest.mark.parametrize("breakage", BREAKAGES, ids=str)
def test_a_broken_prover_is_noticed(breakage: Breakage) -> None:
    if breakage.module == "bitvector" and bitvector.solver_module() is None:
        pytest.skip("z3 is not installed")
    with breakage.applied():
        assert answer((breakage.module, breakage.title), FEW) == "proved"
    assert answer((breakage.module, breakage.title), FEW) != "proved"
