"""Near misses of a rule in a pass: the nodes where its pattern got furthest without fitting.

Bounded in nodes and in what it may cost; how far it got is said. Never calls a function of a rule.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.errors import BudgetError
from viz.budget import part, take
from viz.read.visits import root_ops
from viz.why.fit import Fit
from viz.why.subject import Subject

MOST: Final = 50
"""Nodes that are kept."""
FITTING: Final = 10
"""Nodes where it fits that are kept."""
SECONDS: Final = 10.0
_NODE: Final = 20
"""Items that a try counts for."""


@dataclass(frozen=True)
class NearMiss:
    """A node where the pattern of `rule` does not fit, and how far it does; numbers of the file."""

    node: int
    rule: int
    fit: Fit


@dataclass(frozen=True)
class NearMisses:
    """Of `tried` nodes with an op that the pattern may begin with: at how many the pattern fits, at
    how many it does not (`missed`), those where it got furthest, and the first ones where it fits
    (`fits`). `nodes`: that the rules of the pass, or of its graph, have in all. `left_out`: what
    was not looked at, in a sentence."""

    rows: tuple[NearMiss, ...]
    fits: tuple[int, ...]
    tried: int
    fitting: int
    missed: int
    nodes: int
    known: bool
    left_out: str


def near_misses(subject: Subject, rules: Sequence[int]) -> NearMisses:
    """Where `rules` (one rule of the run, in the numbers of the file) nearly fit in a pass. Where
    the rule is not in the pass, or nothing says where it was tried: in all graphs of the pass."""
    rules = [rule for rule in rules if rule in subject.order] or list(rules)
    nodes = _nodes(subject, rules)
    found = _Found()
    try:
        with part(3 / 4, SECONDS):
            for node, able in _able(subject, rules, nodes):
                take(_NODE)
                found.add(subject, node, able)
    except BudgetError as error:
        found.left_out = f"looked at {found.tried:,} of up to {len(nodes):,} nodes: {error.what}"
    rows = sorted(found.best, reverse=True)
    return NearMisses(
        tuple(found.kept[-order] for _, order in rows),
        tuple(found.fits),
        found.tried,
        found.fitting,
        found.missed,
        len(nodes),
        subject.walked is not None and any(rule in subject.order for rule in rules),
        found.left_out,
    )


class _Found:
    """The best so far."""

    def __init__(self) -> None:
        self.best: list[tuple[int, int]] = []
        """Parts that fit, and minus the place of a try: of equal ones the first is better."""
        self.kept: dict[int, NearMiss] = {}
        self.fits: list[int] = []
        self.tried = self.fitting = self.missed = 0
        self.left_out = ""

    def add(self, subject: Subject, node: int, rules: Sequence[int]) -> None:
        """Tries rules at a node."""
        self.tried += 1
        furthest: NearMiss | None = None
        for rule in rules:
            fit = subject.fitter.fit(rule, node)
            if isinstance(fit, str):
                self.left_out = fit
                continue
            if fit.fits:
                self.fitting += 1
                if len(self.fits) < FITTING:
                    self.fits.append(node)
                return
            if furthest is None or len(fit.fitted) > len(furthest.fit.fitted):
                furthest = NearMiss(node, rule, fit)
        if furthest is None:
            return
        self.missed += 1
        parts = len(furthest.fit.fitted)
        if not parts:
            return
        self.kept[self.tried] = furthest
        heapq.heappush(self.best, (parts, -self.tried))
        if len(self.best) > MOST:
            _, order = heapq.heappop(self.best)
            del self.kept[-order]


def _nodes(subject: Subject, rules: Sequence[int]) -> list[int]:
    """The nodes at which a rule was tried, in the order of the engine; or all of the pass."""
    walked = subject.walked
    if walked is None or not any(rule in subject.order for rule in rules):
        return sorted(subject.members)
    before = any(rule in subject.first for rule in rules)
    return [*(walked.first if before else walked.then)]


def _able(
    subject: Subject, rules: Sequence[int], nodes: Sequence[int]
) -> Iterator[tuple[int, list[int]]]:
    """Nodes with those of the rules that were tried there: whose pattern may begin with its op, and
    before which no other rule had replaced it."""
    file, order = subject.file, subject.order
    roots = {
        rule: root_ops(record.texts.get("pattern"))
        for rule in rules
        if (record := file.rules.get(rule)) is not None
    }
    ops = file.nodes.field("op")
    for node in nodes:
        op = file.text(int(ops[node]))
        able = [rule for rule, first in roots.items() if first is None or op in first]
        hit = subject.hits.get(node)
        if hit is not None and hit.rule in order:
            able = [rule for rule in able if order.get(rule, -1) <= order[hit.rule]]
        if able:
            yield node, able
