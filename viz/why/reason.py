"""Why a rule did not fire at a node of a pass: the question, decided from what the trace has.

In the order in which the engine decides: was the node there, was it reached, does the pattern fit,
did the function decline, was another rule first. What the trace does not say is said to be unknown.
Never calls the function of a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from viz.budget import take
from viz.format.cells import as_text
from viz.read.nodes import Sources
from viz.why.fit import Fit
from viz.why.history import Event, gone_within, history
from viz.why.subject import Subject
from viz.why.walked import Hit
from viz.write.events.eventlog import DECLINES_KEPT

Kind: TypeAlias = Literal[
    "fired",
    "pattern",
    "declined",
    "raised",
    "overtaken",
    "not in pass",
    "not there",
    "not reached",
    "unknown",
]
"""What became of the question; docs/why.md has a section on each."""
MAX_PASSES: Final = 40
"""Passes that are named where a rule is not in this one."""
_BELOW: Final = 200
"""Bytes of a node below those that a gate kept."""
MAX_MESSAGE: Final = 200
"""Characters of the message of an error."""


@dataclass(frozen=True)
class Reason:
    """An answer, with numbers of the file. `said`: a sentence. `rule`: of several equal ones the
    one that got furthest. `node`: as it was when the rule was tried, after `step` steps (None: it
    was not, or that is unknown). `by`: what fired, came first, made the node or replaced it.
    `fit`: how far the pattern fits, or why that cannot be told."""

    kind: Kind
    said: str
    rule: int
    node: int
    step: int | None = None
    fit: Fit | str = ""
    by: Event | None = None
    passes: tuple[str, ...] = ()


def reason(subject: Subject, node: int, rules: Sequence[int]) -> Reason:
    """Why none of `rules` (one rule of the run, in the numbers of the file) fired at a node. Raises
    BudgetError."""
    return _Question(subject, node, rules).answer()


def is_tried(subject: Subject, node: int, rules: Sequence[int]) -> bool:
    """Whether the pass tried `rules` at a node, or at what that was rebuilt as; true where that is
    not known."""
    question = _Question(subject, node, rules)
    return subject.walked is None or question.when_tried()[1] is not None


class _Question:
    def __init__(self, subject: Subject, node: int, rules: Sequence[int]) -> None:
        self.subject, self.node = subject, node
        order = subject.order
        self.rules = [rule for rule in rules if rule in order] or list(rules)
        self.in_pass = not order or any(rule in order for rule in self.rules)
        self.before = bool(subject.walked) and any(r in subject.first for r in self.rules)

    def answer(self) -> Reason:
        fired = self._fired()
        if fired is not None:
            return fired
        heard = {rule for _, rule, _ in self.subject.events.declines}
        if not self.in_pass and heard.isdisjoint(self.rules):
            return self._not_in_pass()
        if self.node not in self.subject.members:
            return self._not_there()
        walked = self.subject.walked
        at, step = self.when_tried()
        if walked is not None and step is None:
            return self._not_reached()
        rule, fit = self._furthest(at)
        for one in self.rules if isinstance(fit, str) else ():
            if stated := self.subject.stated(one, at):
                said = f"{self._name} declined {self.subject.u(at)}: {stated}"
                return Reason("declined", said, one, at, step, fit)
        if isinstance(fit, str):
            return Reason("unknown", f"{self._name}: {fit}", rule, at, step, fit)
        return self._tried(rule, at, step, fit)

    def _fired(self) -> Reason | None:
        at, step = self.when_tried()
        for node in dict.fromkeys((self.node, at)):
            hit = self.subject.hits.get(node)
            if hit is not None and hit.rule in self.rules:
                said = f"{self._name} did fire, at step {hit.step}: {self._change(hit)}"
                fit = self.subject.fitter.fit(hit.rule, node)
                return Reason("fired", said, hit.rule, node, step, fit, self._event(hit))
        return None

    def _not_in_pass(self) -> Reason:
        subject = self.subject
        passes = subject.rule_sets.with_any(self.rules)
        where = f"; it is tried in {', '.join(passes[:3])}" if passes else ""
        more = f" and {len(passes) - 3} more" if len(passes) > 3 else ""
        rule, fit = self._furthest(self.node)
        return Reason(
            "not in pass",
            f"{self._name} is not among the rules of {subject.rewrite.name}{where}{more}",
            rule,
            self.node,
            None,
            fit,
            None,
            tuple(passes[:MAX_PASSES]),
        )

    def _not_there(self) -> Reason:
        """The node is in the graph of another pass."""
        subject = self.subject
        found = history(subject, self.node)
        rule, fit = self._furthest(self.node)
        u = subject.u(self.node)
        if found is None:
            said, by = f"{u} is not in the graph of this pass", None
        elif found.later:
            said, by = f"{u} did not exist yet: made {found.place}", found
        else:
            said, by = f"{u} was gone already: replaced {found.place}", found
        return Reason("not there", said, rule, self.node, None, fit, by)

    def _not_reached(self) -> Reason:
        """The walk of the engine did not come to the node."""
        subject, walked = self.subject, self.subject.walked
        assert walked is not None
        u = subject.u(self.node)
        rule, fit = self._furthest(self.node)
        by: Event | None = None
        hit = subject.hits.get(self.node)
        if self.node in walked.gated:
            said = f"{self._kept}: it stays as it is, with all below it"
        elif hit is not None:
            by = self._event(hit)
            said = f"{u} was replaced before, at step {hit.step} by {by.name}: {_ORDER}"
        elif (kept := self._kept_above()) is not None:
            said = f"{self._kept}: {subject.u(kept)}, above it, stays as it is, with all below it"
        elif (gone := gone_within(subject, self.node)) is not None:
            by = gone
            said = f"{u} was gone before it was reached: at step {gone.step} by {gone.name}"
        elif not walked.begins.get(self.node, True):
            said = f"the pass did not look at {u}: no rule of it begins with an op of its graph"
        elif walked.stopped:
            said = f"the pass ended before it came to {u}"
        else:
            said = f"the pass never came to {u}"
        return Reason("not reached", said, rule, self.node, None, fit, by)

    @property
    def _kept(self) -> str:
        """That the node is kept."""
        u = self.subject.u(self.node)
        return f"{u} is behind a gate of this pass, or these rules had left it as it is before"

    def _kept_above(self) -> int | None:
        """A node that the pass kept which has this one below it."""
        sources, walked = Sources(self.subject.file.nodes), self.subject.walked
        assert walked is not None
        above = {node: node for node in walked.gated}
        stack = [*above]
        while stack and self.node not in above:
            node = stack.pop()
            take(1 + len(sources[node]), _BELOW)
            new = [s for s in sources[node] if s not in above]
            above.update(dict.fromkeys(new, above[node]))
            stack += new
        return above.get(self.node)

    def _tried(self, rule: int, at: int, step: int | None, fit: Fit) -> Reason:
        """The node was there, and the rule in the pass."""
        subject = self.subject
        hit = subject.hits.get(at)
        first = None if hit is None else self._event(hit)
        u = subject.u(at)
        declined = [r for _, r, n in subject.events.declines if n == at and r in self.rules]
        if declined:
            said = f"the pattern of {self._name} fits {u}; its function declined"
            best = (rule, fit) if rule in declined else self._furthest(at, declined)
            if stated := subject.stated(best[0], at):
                said = f"{self._name} declined {u}: {stated}"
            return Reason("declined", said, best[0], at, step, best[1], first)
        if (message := self._error(at)) is not None:
            said = f"the function of {self._name} failed at {u}: {message}"
            return Reason("raised", said, rule, at, step, fit)
        if fit.misfit is not None:
            bad = fit.misfit
            where = f" at {subject.u(bad.node)}" if bad.node and bad.node != at else ""
            said = (
                f"the pattern of {self._name} does not fit {u}{where}: expected {bad.expected}, "
                f"found {bad.found}"
            )
            return Reason("pattern", said, rule, at, step, fit, first)
        if first is not None and hit is not None and self._is_before(hit.rule, rule):
            said = f"{first.name} came first, at step {hit.step}: {self._precedence(hit.rule)}"
            return Reason("overtaken", said, rule, at, step, fit, first)
        return self._without_a_word(rule, at, step, fit)

    def _without_a_word(self, rule: int, at: int, step: int | None, fit: Fit) -> Reason:
        """The pattern fits, nothing came first, and the trace has no decline."""
        subject, u = self.subject, self.subject.u(at)
        kept = sum(r == rule for _, r, _ in subject.events.declines)
        if subject.walked is not None and not subject.walked.stopped and self._is_gated(at):
            op = subject.file.text(int(subject.file.nodes.field("op")[at]))
            said = (
                f"{u} is behind a gate of this pass: it offered fewer {op} to its rules than its "
                "graph has"
            )
            return Reason("not reached", said, rule, at, None, fit)
        if kept >= DECLINES_KEPT:
            said = (
                f"the pattern of {self._name} fits {u}, and its function declined: of its declines "
                f"in a pass only the first {DECLINES_KEPT} are kept one by one"
            )
            return Reason("declined", said, rule, at, step, fit)
        if subject.walked is None:
            said = (
                f"the recorded pattern of {self._name} fits {u}: the trace does not say whether "
                "it was tried there"
            )
        elif not fit.installed:
            said = (
                f"the recorded pattern of {self._name} fits {u}: a condition that the trace does "
                "not have does not, or the node is behind a gate"
            )
        else:
            said = (
                f"the pattern of {self._name} fits {u} and the pass did not try it there: the node "
                "is behind a gate, or a policy was in force"
            )
        return Reason("unknown", said, rule, at, step, fit)

    def _error(self, node: int) -> str | None:
        """What the function raised at a node, if that ended the pass."""
        error = self.subject.rewrite.error
        if error is None or node in self.subject.hits:
            return None
        if error.get("node") != node or error.get("rule") not in self.rules:
            return None
        return as_text(error.get("message"), MAX_MESSAGE)

    # what was tried where

    def when_tried(self) -> tuple[int, int | None]:
        """The node as it was when the rule was tried, and after how many steps that was."""
        walked = self.subject.walked
        if walked is None:
            return self.node, None
        tried = walked.first if self.before else walked.then
        for node in (self.node, walked.became.get(self.node, self.node)):
            if node in tried:
                return node, tried[node]
        return self.node, None

    def _furthest(self, node: int, rules: Sequence[int] = ()) -> tuple[int, Fit | str]:
        """The rule whose pattern gets furthest at a node, and how far."""
        best: tuple[int, Fit | str] = (self.rules[0], "")
        reached = -1
        for rule in rules or self.rules:
            fit = self.subject.fitter.fit(rule, node)
            if isinstance(fit, str):
                best = best if best[1] else (rule, fit)
            elif fit.fits:
                return rule, fit
            elif len(fit.fitted) > reached:
                best, reached = (rule, fit), len(fit.fitted)
        return best

    def _is_before(self, one: int, rule: int) -> bool:
        """Whether `one` is tried before `rule`; true where the order is not known."""
        order = self.subject.order
        return one not in order or rule not in order or order[one] < order[rule]

    def _precedence(self, one: int) -> str:
        subject = self.subject
        if one not in subject.order:
            return "the trace does not say in which order they are tried"
        if len(subject.sets) > 1 and one in subject.first and not self.before:
            return _ORDER
        of = len(subject.order)
        places = [subject.order[one], min(subject.order.get(r, of) for r in self.rules)]
        return f"it is rule {places[0] + 1} of {of} in this pass, {self._name} is {places[1] + 1}"

    def _is_gated(self, node: int) -> bool:
        """Whether the passes of this name offered fewer nodes of this op than this one has: for
        traces that do not name the nodes that gates kept."""
        subject, walked = self.subject, self.subject.walked
        assert walked is not None
        if subject.rewrite.id in subject.file.gated:
            return False
        ops = subject.file.nodes.field("op")
        op = int(ops[node])
        tried = sum(int(ops[n]) == op for n in (*walked.first, *walked.then))
        return subject.rule_sets.offered(subject.rewrite.name, subject.file.text(op)) < tried

    @property
    def _name(self) -> str:
        return self.subject.rule_name(self.rules[0])

    def _change(self, hit: Hit) -> str:
        return f"{self.subject.u(hit.before)} became {self.subject.u(hit.after)}"

    def _event(self, hit: Hit) -> Event:
        subject = self.subject
        name = subject.rule_name(hit.rule)
        return Event(subject.rewrite.id, subject.rewrite.name, hit.step, hit.rule, name)


_ORDER: Final = "its rules are tried before a node's sources, the others after them"
