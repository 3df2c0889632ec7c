"""The answers about rules that did not fire: one row each, in the form of `viz/views/answers.py`.

They need the trace itself: an exported file has none of them. `WHY_DECLINED` starts a process,
which a server does in a job: `call_again`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError
from viz.budget import answering
from viz.views.runs.run import Answer, InFile, Keep, Subject
from viz.views.store import Store
from viz.why.message import near_data, reason_data, rules_data
from viz.why.nearmisses import near_misses
from viz.why.reason import reason
from viz.why.rules.declining import ask_worker, decline_request, declining_line, line_of
from viz.why.rules.rulesat import rules_at
from viz.why.subject import Subject as Pass

_WHY: Final = "why this rule did not fire"


def why_not(store: Store, rewrite: int, node: int, rule: int) -> dict[str, Any] | None:
    """Why a rule did not fire at a node of a pass: `WhyNot`; None for a number that no pass has.
    Runs no code but conditions of patterns that are installed. Raises TraceError for a node or rule
    that is not there, and BudgetError."""
    return _why_not(store, rewrite, node, rule, called=False)


def why_declined(store: Store, rewrite: int, node: int, rule: int) -> dict[str, Any] | None:
    """The same; where the function declined, it is called again in a process of its own."""
    return _why_not(store, rewrite, node, rule, called=True)


@dataclass(frozen=True)
class Call:
    """The function of a rule that declined, to be called again: the request to a worker (None: it
    is not called), and what makes `WhyNot` of its answer, which raises BudgetError."""

    request: Mapping[str, Any] | None
    finish: Callable[[Any], dict[str, Any]]


def call_again(
    store: Store, rewrite: int, node: int, rule: int, load: Path | None = None
) -> Call | None:
    """Why a rule did not fire at a node, as `why_declined`, whose caller has the process; None for
    a number that no pass has. `load`: a file of the user's that has the rule. Raises as
    `why_not`."""
    if store.scope_of(rewrite) is None:
        return None
    with answering(_WHY):
        subject = Pass(store, rewrite)
        found = reason(subject, subject.node(node), _rules(subject, rule))
        called = found.kind == "declined"
        request = decline_request(subject, found.rule, found.node, load) if called else None

    def finish(answer: Any) -> dict[str, Any]:
        with answering(_WHY):
            line = line_of(answer, request[1]) if isinstance(request, tuple) else request
            return reason_data(subject, found, line)

    return Call(request[0] if isinstance(request, tuple) else None, finish)


def why_given(
    store: Store, rewrite: int, node: int, rule: int, load: Path
) -> dict[str, Any] | None:
    """The same as `why_declined`, for a rule of a file that the user names, run in a separate
    process."""
    call = call_again(store, rewrite, node, rule, load)
    if call is None:
        return None
    return call.finish(None if call.request is None else ask_worker(call.request))


def at_node(store: Store, rewrite: int, node: int) -> dict[str, Any] | None:
    """What the rules of a pass did at a node: `RulesAtNode`; None for a number that no pass has.
    Raises TraceError for a node that is not there, and BudgetError."""
    if store.scope_of(rewrite) is None:
        return None
    with answering("the rules at this node"):
        subject = Pass(store, rewrite)
        local = subject.node(node)
        return rules_data(subject, local, rules_at(subject, local))


def nearly(store: Store, rewrite: int, rule: int) -> dict[str, Any] | None:
    """The nodes of a pass where the pattern of a rule got furthest: `NearMisses`; None for a number
    that no pass has. Raises TraceError for a rule that is not there, and BudgetError."""
    if store.scope_of(rewrite) is None:
        return None
    with answering("the near misses of this rule"):
        subject = Pass(store, rewrite)
        return near_data(subject, rule, near_misses(subject, _rules(subject, rule)))


def _why_not(
    store: Store, rewrite: int, node: int, rule: int, *, called: bool
) -> dict[str, Any] | None:
    if store.scope_of(rewrite) is None:
        return None
    with answering(_WHY):
        subject = Pass(store, rewrite)
        found = reason(subject, subject.node(node), _rules(subject, rule))
        line = None
        if called and found.kind == "declined":
            line = declining_line(subject, found.rule, found.node)
        return reason_data(subject, found, line)


def _rules(subject: Pass, rule: int) -> list[int]:
    """A rule in the numbers of the file of a pass."""
    found = subject.locals_of(rule)
    if not found:
        raise TraceError(
            f"there is no rule {rule} in this part of the run", hint="`uopviz stats` lists rules"
        )
    return found


WHY_NOT: Final = Answer(
    "why_not",
    "/why-not/{rewrite}?node={node}&rule={rule}",
    "WhyNot",
    "Why a rule did not fire at a node of a pass",
    why_not,
    subject=Subject.REWRITE,
    keep=Keep.ENDED,
    in_file=InFile.NEVER,
)
WHY_DECLINED: Final = Answer(
    "why_declined",
    "/why-declined/{rewrite}?node={node}&rule={rule}",
    "WhyNot",
    "The same; where its function declined, with the line and the values that it saw: it is called "
    "again in a process of its own",
    why_declined,
    subject=Subject.REWRITE,
    keep=Keep.NEVER,
    in_file=InFile.NEVER,
)
RULES_AT: Final = Answer(
    "rules_at",
    "/rules-at/{rewrite}?node={node}",
    "RulesAtNode",
    "What became of each rule of a pass at a node, the nearest first",
    at_node,
    subject=Subject.REWRITE,
    keep=Keep.ENDED,
    in_file=InFile.NEVER,
)
NEAR_MISSES: Final = Answer(
    "near_misses",
    "/near-misses/{rewrite}?rule={rule}",
    "NearMisses",
    "The nodes of a pass where the pattern of a rule got furthest",
    nearly,
    subject=Subject.REWRITE,
    keep=Keep.ENDED,
    in_file=InFile.NEVER,
)
WHY_ANSWERS: Final[tuple[Answer, ...]] = (WHY_NOT, RULES_AT, NEAR_MISSES)
"""Those that are made at once; a server has a route for each, and a job for `WHY_DECLINED`."""
