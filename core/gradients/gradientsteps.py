"""The pass `gradient`: what observers are told of the derivatives of a graph, step by step.

Its graph has a sum for each target: of what flows to it from each of its users, a GRADIENT that is
not worked out. A step puts what a rule gives in place of one GRADIENT; a rule that gives something
to two sources makes two steps. In the end no GRADIENT is left. Made only while an observer is
attached. Never differentiates: `core/gradients/gradient.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Final

from core.uop.engine.errors import raised
from core.uop.engine.observe import Observer
from core.uop.engine.origin import backward_of
from core.uop.engine.visits import Visits
from core.uop.frames import caller_place
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.policy import in_force
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp, creating, line_of, nobody

NAME: Final = "gradient"
"""Of the pass."""

Flows = Callable[[UOp], Sequence[int]]
"""The numbers of the sources of a node that its gradient flows on to."""


def rules_in_force(matcher: PatternMatcher) -> PatternMatcher:
    """The rules of a matcher, as the policy in force has them."""
    applied = in_force()
    return matcher if applied is None else applied.rules(matcher, matcher.name)


class Steps:
    """The steps of one pass, told to `observer` as they are made. `order`: the nodes of the graph
    that gradients flow through, users first."""

    def __init__(
        self,
        observer: Observer,
        matcher: PatternMatcher,
        start: tuple[UOp, UOp],
        order: Iterable[UOp],
        flows: Flows,
    ) -> None:
        self.observer, self._flows = observer, flows
        self.visits = Visits(rules_in_force(matcher), observer.decline)
        self._find = self.visits.counting()
        self._pending: dict[UOp, UOp] = dict((start,))
        """The gradient of each node as it was before the first step."""
        self._waiting: dict[UOp, tuple[UOp, ...]] = {}
        """Of the nodes whose gradient has not flowed on yet, the sources 1, 2, ... of GRADIENT."""
        self._shares: dict[UOp, list[tuple[UOp, UOp | None]]] = {}
        """What each node gets: as it was, and as it is."""
        self._told: set[UOp] = set()
        self.failed: tuple[Rule, UOp] | tuple[None, None] = None, None
        """The rule that raised an error, and where."""
        with _unasked(start[0]):
            self._declare(order)

    def _declare(self, order: Iterable[UOp]) -> None:
        """The graph before the first step."""
        outputs: dict[UOp, list[UOp]] = {}
        origin = creating.origin
        for u in order:
            if u.op is Ops.OUTPUT and u in self._pending:
                outputs.setdefault(u.src[0], []).append(self._pending[u])
                continue
            if u.op is Ops.KERNEL:
                grads = tuple(outputs.get(u, ()))
            else:
                grads = (self._pending[u],) if u in self._pending else ()
            if not grads or not (places := self._flows(u)):
                continue
            self._waiting[u] = grads
            creating.origin = backward_of(line) if (line := line_of(u)) else origin
            for at in places:
                source, share = u.src[at], _share(u, grads, at)
                known = self._pending.get(source)
                self._pending[source] = share if known is None else known + share

    def before(self, targets: Iterable[UOp]) -> UOp:
        """The graph before the first step."""
        return UOp.sink(*(self._pending[t] for t in targets if t in self._pending))

    def rewrite(self, u: UOp, grad: UOp) -> tuple[UOp | None, ...] | None:
        """What the first rule gives that answers, told as steps. Raises RuleError where its
        function fails."""
        for match, rule, spent in self.visits.ready(self._find(u)):
            begun = perf_counter_ns()
            try:
                found = match(u, grad, self.visits.declined)
            except Exception as error:
                self.failed = rule, u
                raise raised(rule, u, error) from error
            spent.ns += perf_counter_ns() - begun
            spent.tries += 1
            if found is not None:
                made, binds, ns = found
                spent.function_ns += ns
                self.visits.ended[rule, u.op] += 1
                with _unasked(u):
                    self._settle(u, grad)
                    self._flow(u, (grad,), dict(enumerate(made)), (rule, binds, ns))
                return made
        return None

    def called(
        self, rule: Rule, kernel: UOp, grads: Mapping[UOp, UOp], made: Mapping[UOp, UOp | None]
    ) -> None:
        """The gradients of the inputs of a kernel written by hand."""
        with _unasked(kernel):
            for output, grad in grads.items():
                self._settle(output, grad)
            given = {at: made.get(source) for at, source in enumerate(kernel.src)}
            self._flow(kernel, tuple(grads.values()), given, (rule, {}, 0))

    def _flow(
        self,
        u: UOp,
        grads: tuple[UOp, ...],
        made: Mapping[int, UOp | None],
        how: tuple[Rule, Mapping[str, object], int],
    ) -> None:
        rule, binds, ns = how
        if u not in self._waiting:
            return
        for at in self._flows(u):
            pending, before = _share(u, self._waiting[u], at), _share(u, grads, at)
            self._rebuild(pending, before)
            source, grad = u.src[at], made.get(at)
            after = source.const_like(0) if grad is None else grad
            self.observer.match(rule, before, after, {**binds, "ctx": grads[0]}, ns)
            self._shares.setdefault(source, []).append((pending, grad))
            ns = 0
        del self._waiting[u]

    def _settle(self, u: UOp, grad: UOp) -> None:
        """All that flows to a node is known: its sums are sums of that."""
        if u in self._told:
            return
        self._told.add(u)
        pending: UOp | None = None
        known: UOp | None = None
        for share, made in self._shares.pop(u, ()):
            first = pending is None
            pending = share if pending is None else pending + share
            if made is not None:
                known = made if known is None else known + made
            if not first:
                self._rebuild(pending, grad if known is None else known)

    def _rebuild(self, old: UOp, new: UOp) -> None:
        if old is not new:
            self.observer.rebuild(old, new)

    def after(self, targets: Iterable[UOp], found: Mapping[UOp, UOp]) -> UOp:
        """The graph after the last step, where the gradients are `found`. What is left until then
        flows from nodes that got no gradient."""
        results: list[UOp] = []
        for u, grads in self._waiting.items():
            for at in self._flows(u):
                self._rebuild(_share(u, grads, at), u.src[at].const_like(0))
        for target in targets:
            if target in self._pending:
                grad = found.get(target)
                results.append(target.const_like(0) if grad is None else grad)
                self._settle(target, results[-1])
        result = UOp.sink(*results)
        self._rebuild(self.before(targets), result)
        return result


def tell(
    steps: Steps,
    targets: Collection[UOp],
    found: Mapping[UOp, UOp],
    flow: Callable[[Steps], None],
) -> None:
    """Has `flow` make the gradients, and tells of that as a pass."""
    observer, matcher = steps.observer, steps.visits.matcher
    observer.rewrite_begin(NAME, steps.before(targets), matcher, False, caller_place(1))
    try:
        flow(steps)
        result = steps.after(targets, found)
    except BaseException as error:
        observer.visited(NAME, steps.visits)
        observer.rewrite_end(None, error, *steps.failed)
        raise
    observer.visited(NAME, steps.visits)
    observer.rewrite_end(result, None, None, None)


def _share(u: UOp, grads: tuple[UOp, ...], at: int) -> UOp:
    """What source `at` of a node gets of its gradient, not worked out."""
    return UOp(Ops.GRADIENT, u.src[at].dtype, (u, *grads), at)


@contextmanager
def _unasked(u: UOp) -> Generator[None]:
    """For nodes that show how gradients are made: no line asks for them. They belong to the line of
    `u`."""
    origin, uses = creating.origin, creating.uses
    creating.origin = backward_of(line) if (line := line_of(u)) else origin
    creating.uses = nobody
    try:
        yield
    finally:
        creating.origin, creating.uses = origin, uses
