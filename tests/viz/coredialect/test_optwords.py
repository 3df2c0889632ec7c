"""Optimisations in words: each name that there is, and what is no optimisation."""

from __future__ import annotations

from core.uop.kernelinfo import OptOps
from viz.coredialect.optwords import opt_words


def test_amounts_are_said() -> None:
    assert opt_words("UPCAST(0, 8)") == "computes 8 elements of loop 0 at once"
    assert opt_words("UNROLL(2, 0)") == "unrolls reduce loop 2 completely"
    assert opt_words("UNROLL(2, 4096)") == "unrolls reduce loop 2 by 4,096"
    assert opt_words("THREAD(0, 0)") == "splits loop 0 over threads"
    assert opt_words("TC(0, (-1, 2, 1))") == "multiplies matrices on tensor cores"
    lanes = "splits loops as for tensor cores and multiplies lane by lane"
    assert opt_words("TC(1, (0, 1, 2))") == lanes


def test_every_optimisation_has_words_and_nothing_else_has() -> None:
    for op in OptOps:
        assert opt_words(f"{op.name}(0, 4)") != f"{op.name}(0, 4)", op
    for text in ("NEW(1)", "", "UPCAST", "upcast(0, 4)"):
        assert opt_words(text) == text
