"""Proofs of integer expressions, with the prover of the product (`core/prove/`)."""

from __future__ import annotations

from core.prove.bitvector import compare
from core.prove.decide import Checker
from core.prove.terms.term import Terms
from core.prove.terms.value import Translation
from core.uop import UOp

TIMEOUT = 20_000
"""Milliseconds."""


def counterexample(before: UOp, after: UOp) -> dict[str, str] | None:
    """Values of the variables, within their bounds, for which the two differ; None if proved."""
    read = Translation(Terms())
    (a,), (b,) = (read.values(u) for u in (before, after))
    found = compare(a, b, None, TIMEOUT)
    assert found != "unknown", f"not decided in time: {before.render()} = {after.render()}"
    if found == "equal":
        return None
    return dict(Checker().check(before, after).values) or {"": "found by z3 alone"}
