"""No random rewrite that changes what a kernel stores is said to be equal, and none that is right
is said to differ.

`--fuzz N` tries N rewrites instead of a few. `FUZZ_SEED=seed` tries one.
"""

from __future__ import annotations

from collections import Counter

import pytest

from core.prove.decide import Checker
from tests.core.prove.rewriting import PER_KERNEL, answer, is_wrong, random_rewrite
from tests.fuzzing import seeds

FEW = 320


def test_answers_about_random_rewrites(request: pytest.FixtureRequest) -> None:
    checker = Checker()
    answers: Counter[str] = Counter()
    tried = seeds(request.config, FEW, 0)
    print(f"FUZZ_SEED={tried[0]} and those that follow")
    for seed in tried:
        rewrite = random_rewrite(seed)
        if rewrite is None:
            continue
        if seed % PER_KERNEL == 0:
            checker = Checker()
        found = answer(checker, rewrite)
        answers[found.kind] += 1
        why = is_wrong(rewrite, found)
        assert why is None, (
            f"FUZZ_SEED={seed}: the answer is {found}, but {why}; one who was asked nothing "
            f"before answers {answer(Checker(), rewrite)}\n{rewrite}"
        )
    if len(tried) >= FEW:
        assert min(answers[kind] for kind in ("proved", "sampled", "differs")) > 0, answers
