"""Whenever a wrong rule makes a result wrong, the check of the recorded steps names that rule; and
where a graph is legal, it never names another one.

`--fuzz N` tries N mutants instead of a few. `FUZZ_SEED=seed` runs those of one seed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.helpers import Context
from core.passes.pipeline import lower_kernel
from core.uop.engine.observe import context
from tests.core.passes.kernels import CASES, CPU, GPU
from tests.fuzzing import cases, seeds
from tests.viz.check.mutating import blamed, wrong
from tests.viz.whatif.mutating import ast_of, trials
from viz.trace import Recorder

FEW = 16


def test_wrong_rules_are_named(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    seed = seeds(request.config, 1, 2)[0]
    named = 0
    for at, one in enumerate(trials(seed, cases(request.config, FEW))):
        found = blamed(one, tmp_path / f"{at}.viz")
        name = one.mutant.rule.name
        if one.ending in ("found", "blamed wrongly", "not found") and found.recorded:
            assert name in found.rules, f"seed {seed}: {one}"
            named += 1
        if one.ending in ("same result", "found"):
            assert not found.rules.keys() - {name}, f"seed {seed}: {one}: {found.rules}"
    assert named


@pytest.mark.parametrize("case", [12, 17, 19, 26, 37])
@pytest.mark.parametrize("gpu", [False, True])
def test_no_rule_is_blamed_where_all_are_right(case: int, gpu: bool, tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    recorder = Recorder(path).start()
    with context("kernel", "kernel"), Context(NOOPT=0):
        lower_kernel(ast_of(case), GPU if gpu else CPU)
    recorder.close()
    assert wrong(path) == {}, CASES[case]().name
