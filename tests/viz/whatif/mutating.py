"""Mutants of the rules that kernels need, and what bisect says of each.

Kernels are those of the test programs (tests/core/passes/kernels.py), for a processor and a GPU.
"""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from types import FrameType
from typing import Literal

from core.helpers import Context
from core.passes.pipeline import lower_kernel
from core.uop import Rule, UOp
from core.uop.engine.observe import recording
from core.uop.patterns.policy import Policy
from tests.core.passes.kernels import CASES, CPU, GPU
from tests.mutants import Mutant, one_mutant
from viz.whatif.narrowing.culprit import Kernel, Verdict

Ending = Literal[
    "same result", "refused", "found", "not found", "blamed wrongly", "not run", "endless"
]
"""Of a mutant: the kernel's result is the same; a pass or the verifier refuses it; the result is
wrong and bisect names the mutated rule, or only where, or another rule; what was compiled cannot be
run; a function does not come to an end."""
SECONDS = 30
"""That one mutant may take."""
REWRITES = 2000
"""Rewrites that may wait for each other: a mutant may have no fixed point."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A mutant in one kernel, and how it ended."""

    mutant: Mutant
    kernel: str
    ending: Ending
    verdict: Verdict | None
    case: int
    gpu: bool

    @property
    def refused_by(self) -> Rule | None:
        """The rule that is named for a graph that breaks its rules, or for an error."""
        illegal = None if self.verdict is None else self.verdict.illegal
        return None if illegal is None or illegal.match is None else illegal.match.rule

    def __str__(self) -> str:
        said = f"{self.mutant}, in {self.kernel}: {self.ending}"
        culprit = None if self.verdict is None else self.verdict.culprit
        if culprit is None:
            return said
        rule = culprit.match.rule.name if culprit.match is not None else culprit.candidates
        return f"{said}: pass {culprit.place}, {rule}"


class EndlessError(Exception):
    """A mutant takes too long."""


def trials(seed: int, count: int) -> Iterator[Trial]:
    """So many mutants, each once, each in a kernel whose compilation uses its rule."""
    rng = Random(seed)
    seen: set[tuple[str, str, str]] = set()
    while count:
        case, gpu = rng.randrange(len(CASES)), rng.random() < 0.5
        mutant = one_mutant(rng.choice(rules_of(case, gpu)), rng)
        if mutant is None:
            continue
        key = mutant.original.name, mutant.kind, mutant.line
        if key in seen:
            continue
        seen.add(key)
        count -= 1
        yield trial(mutant, case, gpu)


@lru_cache(maxsize=256)
def rules_of(case: int, gpu: bool) -> list[Rule]:
    """The rules that match on the way of a kernel through the passes, apart from those whose name
    others have, too."""
    with recording() as seen:
        lower_kernel(ast_of(case), GPU if gpu else CPU)
    by_name: dict[str, set[Rule]] = {}
    for step in seen.matches:
        assert step.rule is not None
        by_name.setdefault(step.rule.name, set()).add(step.rule)
    return [next(iter(rules)) for _, rules in sorted(by_name.items()) if len(rules) == 1]


@lru_cache(maxsize=64)
def ast_of(case: int) -> UOp:
    """The kernel of a case."""
    return CASES[case]().ast


def trial(mutant: Mutant, case: int, gpu: bool) -> Trial:
    """Compiles a kernel with a mutant in place of its rule, and looks for what made it wrong."""
    target = GPU if gpu else CPU
    kernel = f"{CASES[case]().name} for {target.name}"
    policy = Policy(replace={mutant.rule.name: mutant.rule})
    try:
        with limited(), Context(REWRITE_LIMIT=REWRITES):
            verdict = Kernel(ast_of(case), target, policy=policy).find()
    except EndlessError:
        return Trial(mutant, kernel, "endless", None, case, gpu)
    return Trial(mutant, kernel, _ending(verdict, mutant), verdict, case, gpu)


def _ending(verdict: Verdict, mutant: Mutant) -> Ending:
    culprit = verdict.culprit
    if culprit is None:
        if verdict.error is not None:
            return "refused"
        return "not run" if verdict.outcome is None else "same result"
    if culprit.match is not None:
        return "found" if culprit.match.rule is mutant.rule else "blamed wrongly"
    return "not found"


@contextmanager
def limited() -> Generator[None]:
    """Ends the block after SECONDS, where the system can."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise EndlessError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
