"""The prover against execution: what it proves of random pairs of graphs holds wherever it is
tried, and what it says to differ does, for the values that it gives.

`--fuzz N` tries N pairs from a new seed, FUZZ_SEED one, `python -m tests.core.prove.night` a
million.
"""

from __future__ import annotations

import pytest

from tests.core.prove.judged import judged
from tests.fuzzing import seeds

FEW = 300


def test_answers_about_random_pairs_are_true(request: pytest.FixtureRequest) -> None:
    tried = seeds(request.config, FEW, 0)
    print(f"FUZZ_SEED={tried[0]} and those that follow")
    found = judged(tried)
    print(dict(found.counts))
    assert not found.wrong, "\n\n".join(found.wrong[:3])
    if len(tried) >= FEW:
        assert min(found.counts[kind] for kind in ("proved", "differs")) > len(tried) // 10
