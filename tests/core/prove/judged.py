"""What the checker says of a random pair, and whether that is true: the pair is executed.

`proved` has to hold at all points that are tried, `differs` at the values that the answer gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from core.prove.decide import Checker, Options
from core.prove.verdict import Verdict
from core.uop import Ops
from core.uop.show import graph_text
from tests.core.prove.executed import differs_as_said, executed, signs_open
from tests.core.prove.graph_pairs import Pair, random_pair
from tests.core.prove.interpreter import NoMeaningError

PER_CHECKER: Final = 32
"""Neighbouring seeds that one checker is asked about: what it keeps has to be right, too."""
TIMEOUT: Final = 300
"""Milliseconds of z3 for one pair."""
NOT_RUN: Final = "not run"
REFUTED: Final = "sampled, but different"
MISSING: Final = "no pair"


@dataclass
class Judged:
    """How many answers there were of each kind, and those that are false."""

    counts: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])

    def add(self, other: Judged) -> None:
        """Takes others in."""
        self.counts += other.counts
        self.wrong += other.wrong

    @property
    def pairs(self) -> int:
        """How many pairs were asked about."""
        return sum(self.counts[kind] for kind in
                   ("proved", "sampled", "assumes", "differs", "unchecked"))  # fmt: skip


def judged(seeds: Iterable[int]) -> Judged:
    """The answers to the pairs of some seeds, each tried."""
    found, checker = Judged(), Checker(Options(timeout=TIMEOUT))
    for seed in seeds:
        if seed % PER_CHECKER == 0:
            checker = Checker(Options(timeout=TIMEOUT))
        pair = random_pair(seed)
        if pair is None:
            found.counts[MISSING] += 1
            continue
        answer = checker.check(pair.before, pair.after)
        found.counts[answer.kind] += 1
        try:
            why = false_answer(pair, answer, checker, seed)
        except NoMeaningError:
            found.counts[NOT_RUN] += 1
            continue
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            why = f"to run it raises {error!r}"
        if why is not None and answer.kind == "sampled" and "raises" not in why:
            found.counts[REFUTED] += 1
        elif why is not None:
            found.wrong.append(_told(seed, pair, answer, why))
    return found


def false_answer(pair: Pair, answer: Verdict, checker: Checker, seed: int) -> str | None:
    """Why an answer is false; None where it is not, or claims nothing."""
    before, after = pair.before, pair.after
    if answer.kind == "differs":
        shown = checker.counterexample
        if shown is None:
            return "no values are given"
        waits = any(u.op is Ops.AFTER for side in (before, after) for u in side.toposort())
        if waits or differs_as_said(before, after, shown):
            return None
        if signs_open(before) or signs_open(after):
            raise NoMeaningError("which zero it is may decide")
        return "the two are the same for the values that are given"
    if answer.kind == "proved" or (answer.kind == "sampled" and not answer.ulps):
        return executed(before, after, seed).wrong
    return None


def _told(seed: int, pair: Pair, answer: Verdict, why: str) -> str:
    texts = f"{graph_text(pair.before)}\nbecomes\n{graph_text(pair.after)}"
    return f"FUZZ_SEED={seed} ({pair.how}): {answer}, but {why}\n{texts}"
