"""Which step made a node or took it away: in the pass of a question, and around it.

Never says what a node was before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from core.errors import BudgetError
from viz.budget import part
from viz.read.nodes import Sources
from viz.replay.slots import Slots
from viz.views.runs.process import STRIDE
from viz.why.subject import Subject

SECONDS: Final = 10.0
"""That the history of a scope is read for."""
SCOPES: Final = 4
"""A kernel, its schedule, and what is around these."""


@dataclass(frozen=True)
class Event:
    """A step, with numbers of the file: its pass, which step of it, and its rule (0: none, the node
    was rebuilt with other sources). `later`: it comes after the pass of the question."""

    rewrite: int
    passed: str
    step: int
    rule: int
    name: str
    later: bool = False

    @property
    def place(self) -> str:
        """In words: "at step 3 of lower by index_reduce"."""
        return f"at step {self.step} of {self.passed}" + (f" by {self.name}" if self.rule else "")


def gone_within(subject: Subject, node: int) -> Event | None:
    """The step of the pass after which a node is no longer part of its graph; None where it stays,
    or where that takes too long."""
    file, rewrite, events = subject.file, subject.rewrite, subject.events
    try:
        with part(1 / 2):
            ops, args = file.nodes.field("op"), file.nodes.field("arg")
            sources = Sources(file.nodes)
            slots = Slots(rewrite.sink, sources.__getitem__, lambda n: (ops[n], args[n]))
            for old, new in events.leading:
                slots.rebuild(old, new)
            there = slots.holding(node) >= 0
            for step, (match, rebuilds) in enumerate(events.steps, 1):
                slots.match(match.before, match.after)
                for old, new in rebuilds:
                    slots.rebuild(old, new)
                was, there = there, slots.holding(node) >= 0
                if was and not there:
                    name = subject.rule_name(match.rule)
                    return Event(rewrite.id, rewrite.name, step, match.rule, name)
    except BudgetError:
        pass
    return None


def history(subject: Subject, node: int) -> Event | None:
    """The event that made a node after the pass of the question, or took it away before; None where
    there is none, or none is known. Of a kernel, its schedule is looked at, too."""
    store = subject.store
    scope = store.scope_of(subject.number)
    for _ in range(SCOPES):
        try:
            data = None if scope is None else store.lineage(scope, SECONDS)
        except BudgetError:
            return None
        if data is None or not data["done"]:
            return None
        if (found := _within(subject, data, subject.process.node(node))) is not None:
            return found
        scope = data["from"] and data["from"]["scope"]
    return None


def _within(subject: Subject, data: dict[str, Any], number: int) -> Event | None:
    """The same within one scope."""
    numbers: list[int] = data["node"]["id"]
    at = {one: i for i, one in enumerate(numbers)}.get(number)
    if at is None:
        return None
    events: dict[str, list[int]] = data["event"]
    made = data["node"]["event"][at]
    if made >= 0 and events["rewrite"][made] > subject.number:
        return _event(subject, events, made, later=True)
    for event in range(len(events["old"]) - 1, -1, -1):
        if events["old"][event] == at and events["rewrite"][event] < subject.number:
            return _event(subject, events, event)
    return None


def _event(subject: Subject, events: dict[str, Any], at: int, later: bool = False) -> Event | None:
    """An event of a lineage, whose numbers are those of the run."""
    rewrite = subject.file.rewrites.get(events["rewrite"][at] % STRIDE)
    if rewrite is None:
        return None
    number = events["rule"][at]
    locals_ = subject.locals_of(number) if number > 0 else []
    name = subject.rule_name(locals_[0]) if locals_ else ""
    step = events["step"][at]
    return Event(rewrite.id, rewrite.name, step, locals_[0] if locals_ else 0, name, later)
