"""A chain of proved steps is equal end to end: in each rewrite of a whole kernel of which every
step is proved, the kernel stores the same before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from core.prove.decide import Checker
from core.prove.samples.rounding import signs_open
from core.runtime.reference.inputs import Values
from core.runtime.reference.states import kernel_states
from core.target import Target
from core.uop import Ops, PatternMatcher, Rule, UOp
from core.uop.engine.observe import NullObserver, observing
from tests.core.passes.kernels import CASES, CPU, GPU, Case
from tests.core.prove.mutations import RIGHT
from tests.core.prove.rewriting import INPUTS, Rewrite, difference

CHOSEN = ("add", "sum_rows", "softmax", "matmul", "padded", "gather", "transposed", "where")
"""Parts of the names of kernels that are taken first; then others until there are enough."""
MANY = 8


class Rewrites(NullObserver):
    """The rewrites of whole kernels, with their steps."""

    def __init__(self) -> None:
        self._open: list[tuple[UOp, list[tuple[UOp, UOp]]]] = []
        self.done: list[tuple[UOp, UOp, list[tuple[UOp, UOp]]]] = []

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        """See Observer."""
        self._open.append((sink, []))

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """See Observer."""
        self._open[-1][1].append((before, after))

    def rewrite_end(
        self,
        result: UOp | None,
        error: BaseException | None,
        rule: Rule | None,
        node: UOp | None,
    ) -> None:
        """See Observer."""
        sink, steps = self._open.pop()
        if result is not None and sink.op is result.op is Ops.SINK and steps:
            self.done.append((sink, result, steps))


def kernels() -> list[Case]:
    """Some kernels, of several kinds."""
    made = [case for make in CASES if (case := make()).expected[0].size > 1]
    first = [found for name in CHOSEN if (found := next((c for c in made if name in c.name), None))]
    return [*first, *(c for c in made if c not in first)][:MANY]


KERNELS = kernels()


@pytest.mark.parametrize("target", [CPU, GPU], ids=("CPU", "GPU"))
@pytest.mark.parametrize("case", KERNELS, ids=[case.name for case in KERNELS])
def test_proved_steps_make_a_kernel_that_is_equal(case: Case, target: Target) -> None:
    seen = Rewrites()
    with observing(seen):
        for _ in kernel_states(case.ast, target):
            pass
    checker, chains = Checker(), Counter[bool]()
    for sink, result, steps in seen.done:
        proved = all(checker.check(*step).kind == "proved" for step in steps)
        chains[proved] += 1
        if proved:
            kinds = (Values.EXACT,) if signs_open(sink) else INPUTS  # sums have no order
            rewrite = Rewrite(case.name, RIGHT[0], sink, result, sink, result)
            wrong = difference(rewrite, kinds)
            assert wrong is None, wrong
    assert chains[True] > 0, chains
