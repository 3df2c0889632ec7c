"""Whenever a wrong rule makes a result wrong, bisect names that rule, and never another one; nor
does it where a graph breaks its rules.

`--fuzz N` tries N mutants instead of a few. `FUZZ_SEED=seed` runs those of one seed.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzzing import cases, seeds
from tests.viz.whatif.mutating import trials

FEW = 24


def test_wrong_rules_are_named(request: pytest.FixtureRequest) -> None:
    seed = seeds(request.config, 1, 11)[0]
    endings: Counter[str] = Counter()
    for one in trials(seed, cases(request.config, FEW)):
        endings[one.ending] += 1
        assert one.ending not in ("blamed wrongly", "not found"), f"seed {seed}: {one}"
        assert one.refused_by in (None, one.mutant.rule), f"seed {seed}: {one}"
        endings["refused by a rule"] += one.refused_by is not None
    assert endings["found"] and endings["refused by a rule"]
