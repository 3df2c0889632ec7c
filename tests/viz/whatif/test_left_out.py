"""Of random kernels with random rules left out, the result is that of the reference, or an error
names the pass that needed a rule, and the rule.

`--fuzz N` tries N kernels instead of a few. `FUZZ_SEED=seed` tries one.
"""

from __future__ import annotations

from random import Random

import pytest

from core.compile import compile_kernel
from core.errors import PolicyError
from core.passes.pipeline import PASSES, TEXT_PASSES, lower_kernel
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target
from core.uop import UOp
from core.uop.engine.observe import recording
from core.uop.patterns.policy import Policy, following
from tests.core.passes.kernels import CPU, GPU
from tests.core.passes.programs import kernels_of, program
from tests.fuzzing import seeds
from viz.whatif.results.outcome import Expected, Outcome

FEW = 8
NAMES = (
    *(f"pass {step.name}" for table in (PASSES, *TEXT_PASSES.values()) for step in table),
    "linearize",
    "the verifier of programs",
    "rendering",
)


def test_right_or_an_error_that_names_who_needed_it(request: pytest.FixtureRequest) -> None:
    for seed in seeds(request.config, FEW, 2_000_000):
        rng = Random(seed)
        for ast in kernels_of(rng, program(rng)):
            target = rng.choice((CPU, GPU))
            with recording() as seen:
                lower_kernel(ast, target)
            used = sorted(set(seen.rules))
            skip = frozenset(rng.sample(used, min(len(used), rng.randint(1, 3))))
            what = f"seed {seed}: without {sorted(skip)} for {target.name}"
            said = what_happens(ast, target, skip)
            if isinstance(said, Outcome):
                assert said.equal, f"{what}: {said}"
            else:
                assert said.startswith(NAMES), f"{what}: {said}"
                assert all(name in said for name in skip), f"{what}: {said}"


def what_happens(ast: UOp, target: Target, skip: frozenset[str]) -> Outcome | str:
    """What a kernel computes that is compiled without some rules, or why it cannot be compiled."""
    try:
        with following(Policy(skip=skip)):
            uops = compile_kernel(ast, target).uops
    except PolicyError as error:
        return error.what
    return Expected(ast).judge(lambda held, variables: evaluate_kernel(uops, held, variables))
