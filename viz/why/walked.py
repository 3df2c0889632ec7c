"""At which nodes of a pass its rules were tried, and when: the walk of the engine, gone again.

A trace of `core` has what the walk changed, and not where it went without changing anything. But
where it goes follows from that (`core/uop/engine/rewrite.py`): sources before the node or after it,
what a rule made after that, each node once, and no graph without an op that a rule may begin with.
So the walk is repeated on numbers, with the steps of the trace in place of rules. Where the two do
not agree there is no answer. Never runs a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from viz.budget import take
from viz.read.nodes import Sources
from viz.read.records import Rewrite
from viz.read.steps import Match, RewriteSteps
from viz.read.tracefile import TraceFile
from viz.replay.failures import Failure

_NODE: Final = 600
"""Bytes of a node while it is walked, and of what is kept of it."""
SUBSTITUTIONS: Final = frozenset({"substitute_node", "substitute_together"})
"""Rules whose steps are replacements that were told beforehand: no walk led to them."""
_UNSEEN: Final = -1
_OPEN: Final = 0
"""In place of what becomes of a node: it was not reached; it is being worked out."""


@dataclass(frozen=True)
class Hit:
    """A match: its step (from 1), its rule and what the node became."""

    step: int
    rule: int
    before: int
    after: int


@dataclass
class Walked:
    """Where rules were tried: by node, after how many steps. `first`: by the rules that go before
    the sources; `then`: by those that go after them. `became`: what a node was rebuilt to before
    rules that go after its sources were tried. `stopped`: the pass ended before its walk did."""

    first: dict[int, int] = field(default_factory=dict[int, int])
    then: dict[int, int] = field(default_factory=dict[int, int])
    became: dict[int, int] = field(default_factory=dict[int, int])
    gated: set[int] = field(default_factory=set[int])
    """Nodes that were kept as they were: those that the trace names, or, where it names none for
    the pass, those that stayed although their sources did not."""
    begins: dict[int, bool] = field(default_factory=dict[int, bool])
    """Whether the graph of a node has an op that a rule may begin with, where that was asked."""
    stopped: bool = False


def hits_of(events: RewriteSteps) -> dict[int, Hit]:
    """The match at each node; of several, the first."""
    found: dict[int, Hit] = {}
    for step, (match, _) in enumerate(events.steps, 1):
        found.setdefault(match.before, Hit(step, match.rule, match.before, match.after))
    return found


def walk(
    file: TraceFile,
    rewrite: Rewrite,
    events: RewriteSteps,
    first: Collection[int],
    bottom: bool,
    roots: frozenset[str] | None,
) -> Walked | None:
    """Repeats the engine's walk. `first`: the rules that are tried before the sources; `bottom`:
    whether others are tried after these; `roots`: the ops that all of them may begin with (None:
    any). None where the trace shows another way. Raises BudgetError."""
    return _Walk(file, rewrite, events, first, bottom, roots).run()


class _StoppedError(Exception):
    """The pass ended here."""


class _OtherWayError(Exception):
    """The trace shows that the engine went another way."""


class _Walk:
    def __init__(
        self,
        file: TraceFile,
        rewrite: Rewrite,
        events: RewriteSteps,
        first: Collection[int],
        bottom: bool,
        roots: frozenset[str] | None,
    ) -> None:
        self._sources: Callable[[int], Sequence[int]] = Sources(file.nodes).__getitem__
        self._first, self._bottom = frozenset(first), bottom
        self._ended = rewrite.us is not None and rewrite.error is None and not events.more
        failure = None if rewrite.error is None else Failure(rewrite.error, file.nodes.count)
        self._failed = set() if failure is None else {*failure.nodes[:1]}
        self._rebuilt: dict[int, list[int]] = {}
        for old, new in events.leading:
            self._rebuilt.setdefault(old, []).append(new)
        for _, rebuilds in events.steps:
            for old, new in rebuilds:
                self._rebuilt.setdefault(old, []).append(new)
        take(len(events.steps), _NODE * len(events.steps))
        self._hits = hits_of(events)
        self._done = 0
        """Steps that the walk has reached so far."""
        self._steps = len(events.steps)
        self._walked = Walked()
        self._kept = file.gated.get(rewrite.id)
        self._text, self._ops = file.text, file.nodes.field("op")
        self._roots = roots
        self._outcome: dict[int, int] = {}
        self._root = rewrite.sink
        self._substituted(file, [match for match, _ in events.steps])

    def run(self) -> Walked | None:
        if len(self._hits) != self._steps:
            return None
        try:
            self._walk(self._root)
        except _StoppedError:
            self._walked.stopped = True
        except _OtherWayError:
            return None
        return self._walked if self._done == self._steps else None

    def _substituted(self, file: TraceFile, matches: Sequence[Match]) -> None:
        """The walk begins after what was replaced beforehand."""
        for match in matches:
            rule = file.rules.get(match.rule)
            if rule is None or rule.name not in SUBSTITUTIONS:
                break
            self._done += 1
            if match.before == self._root:
                self._root = match.after
                return
        if self._done and (rebuilt := self._rebuilt.get(self._root)):
            self._root = rebuilt[0]

    def _walk(self, root: int) -> None:
        outcome, walked, sources = self._outcome, self._walked, self._sources
        stack: list[int | tuple[int, int, int]] = [root]
        while stack:
            entry = stack.pop()
            if isinstance(entry, tuple):
                n, m, r = entry
                outcome[n] = outcome[m] = outcome[r]
                continue
            n, below = entry, sources(entry)
            take(1 + len(below), _NODE)
            seen = outcome.get(n, _UNSEEN)
            if seen > _OPEN:
                continue
            if seen == _UNSEEN:
                if self._keeps(n) or not self._has_roots(n):
                    outcome[n] = n
                    continue
                if self._first and (hit := self._tried(n, walked.first, True)) is not None:
                    outcome[n] = _OPEN
                    self._follow(stack, n, n, hit.after)
                    continue
                missing = [s for s in reversed(below) if s not in outcome]
                if any(outcome.get(s) == _OPEN for s in below):
                    raise _OtherWayError
                if missing:
                    outcome[n] = _OPEN
                    stack.append(n)
                    stack += missing
                    continue
            m = self._rebuild(n, below)
            if m != n:
                walked.became[n] = m
                if m in outcome:
                    outcome[n] = _OPEN
                    self._follow(stack, n, n, m)
                    continue
                if self._first and self._keeps(m):
                    outcome[n] = outcome[m] = m
                    continue
                if self._first and (hit := self._tried(m, walked.first, True)) is not None:
                    outcome[n] = outcome[m] = _OPEN
                    self._follow(stack, n, m, hit.after)
                    continue
            if self._bottom and n not in walked.gated:
                hit = self._tried(m, walked.then, False)
                if hit is not None:
                    outcome[n] = outcome[m] = _OPEN
                    self._follow(stack, n, m, hit.after)
                    continue
            outcome[n] = outcome[m] = m

    def _has_roots(self, node: int) -> bool:
        """Whether the graph of a node has an op that a rule may begin with."""
        if self._roots is None:
            return True
        begins, stack = self._walked.begins, [node]
        while stack:
            last = stack[-1]
            below = self._sources(last)
            if new := [s for s in below if s not in begins]:
                take(len(new), _NODE)
                stack += new
                continue
            stack.pop()
            begins[last] = self._text(int(self._ops[last])) in self._roots or any(
                map(begins.__getitem__, below)
            )
        return begins[node]

    def _keeps(self, node: int) -> bool:
        """Whether the trace says that the pass kept a node."""
        if self._kept is None or node not in self._kept:
            return False
        self._walked.gated.add(node)
        return True

    def _tried(self, node: int, came: dict[int, int], before: bool) -> Hit | None:
        """The match at a node to which rules come."""
        came[node] = self._done
        hit = self._hits.get(node)
        if hit is None or hit.step <= self._done or (hit.rule in self._first) is not before:
            if node in self._failed and self._done == self._steps:
                raise _StoppedError
            return None
        if hit.step != self._done + 1:
            raise _OtherWayError
        self._done += 1
        return hit

    def _follow(self, stack: list[int | tuple[int, int, int]], n: int, m: int, result: int) -> None:
        known = self._outcome.get(result, _UNSEEN)
        if known == _UNSEEN:
            stack += [(n, m, result), result]
        elif known == _OPEN:
            raise _StoppedError if not self._ended else _OtherWayError
        else:
            self._outcome[n] = self._outcome[m] = known

    def _rebuild(self, node: int, sources: Sequence[int]) -> int:
        """The node with what became of its sources; itself where a gate kept it."""
        wanted = [self._outcome[s] for s in sources]
        if wanted == [*sources]:
            return node
        for new in self._rebuilt.get(node, ()):
            if [*self._sources(new)] == wanted:
                return new
        if not self._ended:
            raise _StoppedError
        self._walked.gated.add(node)
        return node
