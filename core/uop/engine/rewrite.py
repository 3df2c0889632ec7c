"""`graph_rewrite`: applies a PatternMatcher to a graph until nothing matches any more.

One walk over the graph with an explicit stack, so depth is no limit. Every node that is reached is
rewritten once and its outcome remembered; what a rule makes is walked like the rest. The result
holds no node that a rule would still change. Never decides what to rewrite: rules do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import Any, Final, cast

from core.dtype import DType, PtrDType
from core.errors import RewriteLoopError, UopvizError
from core.helpers import REWRITE_LIMIT
from core.uop.engine.errors import Waiting, endless, loop_of, no_node, other_type, raised
from core.uop.engine.observe import Observer, attached
from core.uop.engine.settled import Known, know, known_now
from core.uop.engine.substitute import substituted
from core.uop.engine.visits import Visits, noting
from core.uop.facts.uses import Uses
from core.uop.frames import caller_place
from core.uop.kernels import is_lowered
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.policy import Applied, in_force
from core.uop.patterns.rule import Rule, Variant
from core.uop.uop import UOp, creating, nobody, program

Gate = Callable[[UOp], bool]
Attempt = Callable[[tuple[Variant, ...], UOp], "tuple[UOp, Rule] | None"]
_UNSEEN: Final[Any] = object()
Outcome = dict[UOp, Any]
"""The outcome of each node: a UOp, or None while it is being computed. `Any`, because a cast to UOp
in the inner loop costs as much as the lookup."""


def graph_rewrite(
    sink: UOp,
    matcher: PatternMatcher,
    ctx: Any = None,
    *,
    bottom_up: bool = False,
    before: PatternMatcher | None = None,
    gate: Gate | None = None,
    name: str | None = None,
    substituting: Mapping[UOp, UOp] | None = None,
) -> UOp:
    """`sink` with every node rewritten to a fixed point.

    Sources come first, then the node with its rewritten sources, then what the rule made of it, and
    so on. With `bottom_up`, a node is rewritten before its sources are, and again where a source
    changed. `before` does both in one walk: its rules go first, before the sources, those of
    `matcher` after them. Nodes where `gate` is false stay as they are, with all below them.
    Nodes in `substituting` are replaced first, as `UOp.substitute` does, each of them a step.
    `ctx` is handed to rules that have a parameter of that name. A policy in force (policy.py) may
    leave rules out, or end matching early.

    Raises RewriteLoopError where there is no fixed point, and RuleError where a rule raises or
    returns what cannot stand for its node; deliberate errors of rules pass through.
    """
    walk = _Walk(sink, matcher, before, bottom_up, ctx, gate, name)
    return walk.run({}, False, substituting)


def graph_rewrite_map(
    sink: UOp,
    matcher: PatternMatcher,
    ctx: Any = None,
    *,
    bottom_up: bool = False,
    before: PatternMatcher | None = None,
    gate: Gate | None = None,
    name: str | None = None,
    input_map: Mapping[UOp, UOp] | None = None,
) -> dict[UOp, UOp]:
    """The outcome of every node below `sink` in `graph_rewrite`.

    `input_map`, the map of an earlier rewrite that led to `sink`, is composed with this one: its
    keys are in the result, too.
    """
    walk = _Walk(sink, matcher, before, bottom_up, ctx, gate, name)
    outcome: Outcome = {}
    walk.run(outcome, whole_graph=True)
    found: dict[UOp, UOp] = {u: outcome[u] for u in sink.toposort()}
    for old, new in (input_map or {}).items():
        found[old] = found.get(new, new)
    return found


class _Walk:
    """One graph_rewrite: the rules in force, the observers, and where an error happened."""

    def __init__(
        self,
        sink: UOp,
        matcher: PatternMatcher,
        before: PatternMatcher | None,
        bottom_up: bool,
        ctx: Any,
        gate: Gate | None,
        name: str | None,
    ) -> None:
        self.sink, self.ctx, self.gate = sink, ctx, gate
        # a kernel of loops and single elements has no shape that a rule could change, and working
        # out that it has none would take a quarter of the time of all rewrites
        self.shaped = not is_lowered(sink)
        self.name = name or matcher.name or "rewrite"
        self.policy: Applied | None = None
        if (applied := in_force()) is not None:
            matcher = applied.rules(matcher, self.name)
            before = None if before is None else applied.rules(before, self.name)
            self.policy = applied if applied.counts(self.name) else None
        self.top = matcher if bottom_up else before
        self.bottom = None if bottom_up else matcher
        self.bottom_up = bottom_up
        self.observer = attached()
        self.roots = (0 if self.top is None else self.top.roots) | (
            0 if self.bottom is None else self.bottom.roots
        )
        """The bits of ops that rules may begin with: a graph with none of them stays as it is."""
        self.settled: set[UOp] = set()
        """Nodes that the rules are known to leave as they are."""
        plain = self.policy is None and ctx is None and self.top is None
        self.settles = plain and self.bottom is not None and self.bottom.settles
        """Whether those are kept for later rewrites, as far as they are the same for each."""
        self.asking: Uses[UOp] = nobody if creating.uses is program else creating.uses
        self.rule: Rule | None = None
        self.node: UOp | None = None
        self.kept: list[UOp] = []
        """While observed: nodes where the gate was false, or that are known to be settled."""
        self.top_visits: Visits | None = None
        self.bottom_visits: Visits | None = None
        self.shown = matcher
        if self.observer is not None:
            if before is not None and not bottom_up:
                self.shown = _sum(before, matcher)
            self.gate = None if gate is None else noting(gate, self.kept)
            decline = self.observer.decline
            self.top_visits = None if self.top is None else Visits(self.top, decline)
            self.bottom_visits = None if self.bottom is None else Visits(self.bottom, decline)

    def run(
        self, outcome: Outcome, whole_graph: bool, first: Mapping[UOp, UOp] | None = None
    ) -> UOp:
        """Rewrites `sink` (and, for `whole_graph`, whatever below it was not reached), after it has
        put the nodes of `first` in place."""
        observer, origin, asking = self.observer, creating.origin, creating.uses
        if observer is not None:
            place = caller_place(2)
            observer.rewrite_begin(self.name, self.sink, self.shown, self.bottom_up, place)
        creating.uses = self.asking
        known = known_now()
        try:
            self._use(known)
            if first:
                self.sink = substituted(observer, self.sink, first)
            self._fixed_point(self.sink, outcome)
            if whole_graph:
                for u in self.sink.toposort():
                    if u not in outcome:
                        self._fixed_point(u, outcome)
        except BaseException as error:
            if observer is not None:
                self._tell_visits(observer)
                observer.rewrite_end(None, error, self.rule, self.node)
            raise
        finally:
            creating.origin, creating.uses = origin, asking
            know(known)
        result: UOp = outcome[self.sink]
        if observer is not None:
            self._tell_visits(observer)
            observer.rewrite_end(result, None, None, None)
        return result

    def _use(self, known: Known | None) -> None:
        """Goes on with what is known; a rewrite outside of any other, and of contexts, begins."""
        if known is None:
            know(known := {})
        if self.settles and self.bottom is not None:
            self.settled = known.setdefault(self.bottom, set())

    def _tell_visits(self, observer: Observer) -> None:
        if self.gate is not None or self.kept:
            observer.gated(self.kept)
        for visits in (self.top_visits, self.bottom_visits):
            if visits is not None:
                observer.visited(self.name, visits)

    def _fixed_point(self, root: UOp, outcome: Outcome) -> None:
        """Fills `outcome` for `root` and all that is reached from it. While a node is being
        rewritten, its outcome is None; needing it then means that there is no fixed point."""
        top, bottom, gate, observer = self.top, self.bottom, self.gate, self.observer
        find_top = None if top is None else top.candidates
        find = None if bottom is None else bottom.candidates
        attempt: Attempt = self._attempt
        attempt_top: Attempt = self._attempt
        if self.top_visits is not None:
            find_top = self.top_visits.counting()
            attempt_top = functools.partial(self._attempt_observed, self.top_visits)
        if self.bottom_visits is not None:
            find = self.bottom_visits.counting()
            attempt = functools.partial(self._attempt_observed, self.bottom_visits)
        if self.policy is not None:
            attempt = functools.partial(self._attempt_limited, self.policy, attempt)
            attempt_top = functools.partial(self._attempt_limited, self.policy, attempt_top)
        roots, settled = self.roots, self.settled
        settles = self.settles and gate is None
        stack: list[Any] = [root]
        waiting, limit = 0, REWRITE_LIMIT.value
        while stack:
            entry = stack.pop()
            if entry.__class__ is tuple:
                n, m, r, _ = entry
                outcome[n] = outcome[m] = outcome[r]
                waiting -= 1
                continue
            n: UOp = entry
            seen = outcome.get(n, _UNSEEN)
            if seen is _UNSEEN:
                if not n.below & roots or not (gate is None or gate(n)):
                    outcome[n] = n
                    continue
                if n in settled:
                    outcome[n] = n
                    if observer is not None:
                        self.kept.append(n)
                    continue
                if (
                    find_top is not None
                    and (tried := find_top(n))
                    and (hit := attempt_top(tried, n)) is not None
                ):
                    outcome[n] = None
                    waiting += self._follow(stack, outcome, n, n, *hit)
                    if waiting > limit:
                        limit = self._check_depth(stack, waiting)
                    continue
                ready = True
                for s in n.src:
                    known = outcome.get(s, _UNSEEN)
                    if known is _UNSEEN:
                        if not s.below & roots:
                            outcome[s] = s
                        elif s in settled:
                            outcome[s] = s
                            if observer is not None:
                                self.kept.append(s)
                        else:
                            ready = False
                    elif known is None:
                        raise self._loop(stack, s, n)
                if not ready:
                    outcome[n] = None
                    stack.append(n)
                    stack.extend([s for s in reversed(n.src) if s not in outcome])
                    continue
            elif seen is not None:
                continue
            m = n
            for s in n.src:
                if outcome[s] is not s:
                    m = n.rebuild(tuple([outcome[s] for s in n.src]))
                    break
            if m is not n:
                if observer is not None:
                    observer.rebuild(n, m)
                if m in outcome:
                    outcome[n] = None
                    waiting += self._follow(stack, outcome, n, n, m, None)
                    if waiting > limit:
                        limit = self._check_depth(stack, waiting)
                    continue
                if find_top is not None:  # the sources of m are done: only m itself is left
                    if gate is not None and not gate(m):
                        outcome[n] = outcome[m] = m
                        continue
                    if (tried := find_top(m)) and (hit := attempt_top(tried, m)) is not None:
                        outcome[n] = outcome[m] = None
                        waiting += self._follow(stack, outcome, n, m, *hit)
                        if waiting > limit:
                            limit = self._check_depth(stack, waiting)
                        continue
            if find is not None and (tried := find(m)) and (hit := attempt(tried, m)) is not None:
                outcome[n] = outcome[m] = None
                waiting += self._follow(stack, outcome, n, m, *hit)
                if waiting > limit:
                    limit = self._check_depth(stack, waiting)
                continue
            outcome[n] = outcome[m] = m
            if settles:
                settled.add(m)

    def _follow(
        self,
        stack: list[Any],
        outcome: Outcome,
        n: UOp,
        m: UOp,
        r: UOp,
        rule: Rule | None,
    ) -> int:
        """The outcome of `n` and `m` is that of `r`: takes it where it is known, else pushes the
        work. Returns the number of entries that now wait."""
        known = outcome.get(r, _UNSEEN)
        if known is _UNSEEN:
            stack.append((n, m, r, rule))
            stack.append(r)
            return 1
        if known is None:
            stack.append((n, m, r, rule))
            raise self._loop(stack, r, m)
        if known is not r and self.observer is not None:
            self.observer.rebuild(r, known)
        outcome[n] = outcome[m] = known
        return 0

    def _attempt(self, tried: tuple[Variant, ...], node: UOp) -> tuple[UOp, Rule] | None:
        creating.origin = node.origin
        for variant in tried:
            try:
                result = variant.plain(node, self.ctx)
            except Exception as error:
                raise self._at(variant.rule, node, raised(variant.rule, node, error)) from error
            if result is not None:
                if self._exceeds():
                    return None
                return self._checked(variant.rule, node, result)
        return None

    def _attempt_limited(
        self, policy: Applied, attempt: Attempt, tried: tuple[Variant, ...], node: UOp
    ) -> tuple[UOp, Rule] | None:
        if not policy.allows(policy.depth):
            return None
        policy.depth += 1
        try:
            hit = attempt(tried, node)
        finally:
            policy.depth -= 1
        policy.matches += hit is not None
        return hit

    def _exceeds(self) -> bool:
        """Whether the limit was reached inside the match that is being tried."""
        policy = self.policy
        return policy is not None and not policy.allows(policy.depth - 1)

    def _attempt_observed(
        self, visits: Visits, tried: tuple[Variant, ...], node: UOp
    ) -> tuple[UOp, Rule] | None:
        creating.origin = node.origin if self.asking is nobody else self.asking.line(node)
        observer, declined = cast(Observer, self.observer), visits.declined
        ready, last, begun = visits.ready(tried), None, perf_counter_ns()
        for match, rule, spent in ready:
            try:
                found = match(node, self.ctx, declined)
            except Exception as error:
                visits.ended[rule, node.op] += 1
                raise self._at(rule, node, raised(rule, node, error)) from error
            finally:
                now = perf_counter_ns()
                spent.ns += now - begun
                spent.tries += rule is not last
                begun, last = now, rule
            if found is not None:
                spent.function_ns += found[2]
                visits.ended[rule, node.op] += 1
                if self._exceeds():
                    return None
                hit = self._checked(rule, node, found[0])
                observer.match(rule, node, hit[0], found[1], found[2])
                return hit
        return None

    def _checked(self, rule: Rule, node: UOp, result: object) -> tuple[UOp, Rule]:
        """The result, if it can stand for `node`. Raises RuleError."""
        if not isinstance(result, UOp):
            raise self._at(rule, node, no_node(rule, node, result))
        if rule.changes_type:
            return result, rule
        old, new = node.dtype, result.dtype
        if old is not new and old != new and _is_value(old) and _is_value(new):
            raise self._at(rule, node, other_type(rule, node, f"made {new} of {old}", result))
        if not self.shaped:
            return result, rule
        try:
            shape, was = result.shape, node.shape
        except UopvizError as error:
            made = f"made a node without a possible shape: {error.what}"
            raise self._at(rule, node, other_type(rule, node, made, result)) from error
        if shape != was and shape is not None and was is not None and shape != ():
            made = f"made shape {shape} of {was}"
            raise self._at(rule, node, other_type(rule, node, made, result))
        return result, rule

    def _at(self, rule: Rule, node: UOp, error: UopvizError) -> UopvizError:
        """The error, after observers will know where it happened."""
        self.rule, self.node = rule, node
        return error

    def _check_depth(self, stack: list[Any], waiting: int) -> int:
        """The new limit of waiting entries, after `waiting` passed the old one. A graph of n nodes
        may legitimately have n rewrites waiting for each other (pushing an op down a chain);
        endless growth has no bound. Raises RewriteLoopError."""
        limit = REWRITE_LIMIT.value + 4 * len(self.sink.toposort())
        if waiting <= limit:
            return limit
        entries = [e for e in stack[-200:] if e.__class__ is tuple]
        raise self._endless(entries, f"{waiting} rewrites wait for each other")

    def _loop(self, stack: list[Any], again: UOp, node: UOp) -> RewriteLoopError:
        """The error for a node that is needed while it is being rewritten."""
        entries: list[Waiting] = []
        for entry in reversed(stack):
            if entry.__class__ is tuple:
                entries.append(entry)
                if again in entry[:2]:
                    break
            elif entry is again:
                break
        self.node = node
        return self._endless(entries[::-1], f"{again.op.name} leads back to itself")

    def _endless(self, entries: list[Waiting], what: str) -> RewriteLoopError:
        error = endless(entries, what)
        if loop := loop_of(error):
            self.rule, self.node, _ = loop[-1]
        return error


@functools.lru_cache(maxsize=64)
def _sum(before: PatternMatcher, matcher: PatternMatcher) -> PatternMatcher:
    """The matcher that observers see for two; cached, because making one takes longer than most
    rewrites."""
    return before + matcher


def _is_value(dtype: DType) -> bool:
    return dtype.name != "void" and not isinstance(dtype, PtrDType)
