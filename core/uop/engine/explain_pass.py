"""Why a rule declines a node where it needs what its pass hands to it: the pass is run again, and
its function is watched there.

The context object of a pass holds what the pass has worked out, or what its rules have told each
other so far: only the pass itself can say what that is at one node. The rule is tried by the
engine, once, as in any run. Runs the code of the rule and of the pass: only for those that the
caller trusts.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import UopvizError
from core.uop.engine.explain import Declines, Explanation, Fires, Raises, Returns
from core.uop.engine.observe import NullObserver, observing
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.policy import Policy, following
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp


@dataclass(frozen=True)
class Place:
    """A rewrite of a kernel, or of a schedule: its name, and how many of this name began in the
    same kernel before it."""

    rewrite: str
    before: int


def explain_in_pass(
    rule: Rule, node: UOp, place: Place, run: Callable[[], object]
) -> Explanation | None:
    """What `rule` says of `node` in one of the rewrites of `run`, which compiles one kernel, or
    makes one schedule; None where it did not come to the node, or its pattern did not fit. An error
    of the rule is `Raises`; another error after it was tried makes no difference, and any before it
    is raised."""
    watch = _Watch(rule, node, place)
    policy = Policy(replace={rule.name: watch.rule}, inside=frozenset({place.rewrite}))
    try:
        with following(policy), observing(watch):
            run()
    except _EndedError:
        pass
    except UopvizError:
        if watch.found is None:
            raise
    return watch.found


class _EndedError(BaseException):  # what a pass catches must not stop it
    """The rewrite has ended."""


class _Watch(NullObserver):
    """Takes down what the rule says of the node. `rule`: the same one, with a function that is
    watched."""

    def __init__(self, rule: Rule, node: UOp, place: Place) -> None:
        self.found: Explanation | None = None
        self._node, self._place = node, place
        self._function = rule.function
        self._given: Mapping[str, Any] = {}
        self._tracer = Returns(None)
        self._seen: Counter[str] = Counter()
        self._open: list[bool] = []
        self._contexts = 0
        self._ways = 0
        self.rule = Rule(
            rule.pattern,
            self._watched(),
            rule.name,
            changes_type=rule.changes_type,
            assumes=rule.assumes,
        )

    def _watched(self) -> Callable[..., Any]:
        function = self._function
        code = getattr(inspect.unwrap(function), "__code__", None)

        @functools.wraps(function)
        def watched(**given: Any) -> Any:
            if not (self._open and self._open[-1]):
                return function(**given)
            self._given, self._tracer = given, Returns(code)
            return self._tracer.call(function, given)

        return watched

    def context_begin(self, name: str, kind: str, meta: Mapping[str, object]) -> None:
        self._contexts += 1

    def context_end(self, error: BaseException | None) -> None:
        self._contexts -= 1

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        own = self._contexts == 1
        here = own and name == self._place.rewrite and self._seen[name] == self._place.before
        self._seen[name] += own
        self._open.append(here)

    def decline(self, rule: Rule, node: UOp) -> None:
        if self._is_it(rule, node):
            self._ways += 1
            self.found = Declines(self._binds(), *self._tracer.where(self.rule), self._ways)

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        if self._is_it(rule, before):
            self.found = Fires(self._binds(), after)

    def rewrite_end(
        self,
        result: UOp | None,
        error: BaseException | None,
        rule: Rule | None,
        node: UOp | None,
    ) -> None:
        if error is not None and rule is not None and node is not None and self._is_it(rule, node):
            cause = error.__cause__ or error  # the engine says where it was
            said = f"{type(cause).__name__}: {cause}"
            self.found = Raises(self._binds(), *self._tracer.where(self.rule), said)
        if self._open.pop():
            raise _EndedError

    def _is_it(self, rule: Rule, node: UOp) -> bool:
        return rule is self.rule and bool(self._open) and self._open[-1] and self._same(node)

    def _same(self, node: UOp) -> bool:
        """Whether a node is the wanted one, but for the numbers of memory that a schedule makes
        anew each time."""
        if node is self._node or node.op is not self._node.op:
            return node is self._node
        return any(u.op is Ops.UNIQUE for u in node.toposort()) and _form(node) == self._form

    @functools.cached_property
    def _form(self) -> tuple[object, ...]:
        return _form(self._node)

    def _binds(self) -> dict[str, UOp]:
        return {name: value for name, value in self._given.items() if name != "ctx"}


def _form(root: UOp) -> tuple[object, ...]:
    """A graph, in which memory has the number of its place in it."""
    place: dict[UOp, int] = {}
    rows: list[object] = []
    for u in root.toposort():
        arg = len(place) if u.op is Ops.UNIQUE else u.arg
        rows.append((u.op, u.dtype, arg, u.tag, tuple(place[s] for s in u.src)))
        place[u] = len(place)
    return tuple(rows)
