"""The graphs of one pass as it goes: at the boundaries of its rewrites, and after k of its matches.

The pass is run again for each of them, with a limit on matches (core/uop/patterns/policy.py), and
left where the wanted graph is there. Never judges a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from core.errors import UopvizError
from core.uop.engine.observe import NullObserver, observing
from core.uop.engine.substitute import substitution
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.policy import Applied, Policy, following
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp

Function = Callable[[UOp], UOp]
"""A pass: from graph to graph."""


@dataclass(frozen=True, eq=False)
class Match:
    """One match of a pass. `rewrite`: which rewrite of the pass it is in, in the order in which
    they begin; `step`: which match of that, from 1; `depth`: in how many other matches it is."""

    rule: Rule
    before: UOp
    after: UOp
    binds: Mapping[str, object]
    rewrite: int
    step: int
    depth: int


@dataclass(frozen=True, eq=False)
class Boundary:
    """A whole kernel between two rewrites: `matches` have happened. `ends`: the rewrite that has
    just ended, or is about to begin; None at the beginning and at the end of the pass."""

    graph: UOp
    matches: int
    rewrite: int | None
    ends: bool


@dataclass
class Rewritten:
    """A rewrite of a pass by name, with its matches, without those inside other rewrites."""

    name: str
    matches: int = 0


class _Reached(BaseException):  # no error: what a pass catches must not stop it
    """The wanted graph is there."""

    def __init__(self, graph: UOp) -> None:
        self.graph = graph


@dataclass
class _Watcher(NullObserver):
    """Keeps matches and boundaries, or leaves the pass at boundary number `leave`. What is
    substituted is code of the pass, and no match of a rule."""

    leave: int | None = None
    matches: list[Match] = field(default_factory=list[Match])
    boundaries: list[Boundary] = field(default_factory=list[Boundary])
    rewrites: list[Rewritten] = field(default_factory=list[Rewritten])
    open: list[int] = field(default_factory=list[int])
    whole: list[bool] = field(default_factory=list[bool])
    count: int = 0
    raised: Match | None = None

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        number = len(self.rewrites)
        if not self.open and sink.op is Ops.SINK:
            self._boundary(sink, number, False)
        self.rewrites.append(Rewritten(name))
        self.whole.append(sink.op is Ops.SINK)
        self.open.append(number)

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        rewrite = self.rewrites[self.open[-1]]
        rewrite.matches += 1
        if rule in substitution.rules:
            return  # a step of the trace, that no limit of a policy counts
        self.count += 1
        if self.leave is not None:
            return
        depth = len(self.open) - 1
        self.matches.append(
            Match(rule, before, after, dict(binds), self.open[-1], rewrite.matches, depth)
        )

    def rewrite_end(
        self,
        result: UOp | None,
        error: BaseException | None,
        rule: Rule | None,
        node: UOp | None,
    ) -> None:
        if error is not None and rule is not None and node is not None and self.raised is None:
            at, depth = self.open[-1], len(self.open) - 1
            step = self.rewrites[at].matches + 1
            self.raised = Match(rule, node, node, {}, at, step, depth)
        number = self.open.pop()
        if not self.open and result is not None and self.whole[number]:
            self._boundary(result, number, True)

    def _boundary(self, graph: UOp, rewrite: int, ends: bool) -> None:
        if self.leave == len(self.boundaries):
            raise _Reached(graph)
        self.boundaries.append(Boundary(graph, self.count, rewrite, ends))


class PassStates:
    """A pass that begins with `sink`, under a policy that has no limit. `boundaries`: the graph
    that it begins with, those at both ends of each rewrite of the whole kernel, and the one that it
    ends with, if it did not fail: then `error` says how, and `raised` is the match whose function
    raised it, which became nothing."""

    def __init__(self, function: Function, sink: UOp, policy: Policy) -> None:
        self._function, self._sink, self._policy = function, sink, policy
        watcher = _Watcher()
        self.result: UOp | None = None
        self.error: UopvizError | None = None
        with following(policy), observing(watcher):
            try:
                self.result = function(sink)
            except UopvizError as error:
                self.error = error
        self.matches, self.rewrites = watcher.matches, watcher.rewrites
        self.raised = watcher.raised
        self.boundaries = [Boundary(sink, 0, None, True), *watcher.boundaries]
        if self.result is not None:
            self.boundaries.append(Boundary(self.result, watcher.count, None, False))

    def after(self, matches: int, boundary: int, whole: int = 0) -> UOp | None:
        """The graph at a boundary, by its place in `boundaries`, where nothing matches after so
        many matches of the pass; `whole`: see Policy. None where the pass cannot go so far without
        the others."""
        policy = replace(self._policy, limit=matches, whole=whole)
        last = self.result is not None and boundary == len(self.boundaries) - 1
        watcher = _Watcher(leave=-1 if last else boundary - 1)
        with following(policy) as applied, observing(watcher):
            return self._run(applied)

    def _run(self, applied: Applied) -> UOp | None:
        with suppress(UopvizError):
            try:
                return self._function(self._sink)
            except _Reached as reached:
                return reached.graph
        return None

    def inside(self, match: int) -> int:
        """How many matches happened in the rewrites that the function of a match began, by its
        place in `matches`."""
        depth, at = self.matches[match].depth, match
        while at and self.matches[at - 1].depth > depth:
            at -= 1
        return match - at


def names_of(matches: list[Match]) -> list[str]:
    """The rules of matches, each once."""
    return list(dict.fromkeys(match.rule.name for match in matches))
