"""The errors of `graph_rewrite`: which rule, at which node, what it made, and what to do.

Makes errors and raises none. Never runs a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from core.errors import RewriteLoopError, RuleError, UopvizError
from core.uop.patterns.rule import Rule
from core.uop.show import excerpt
from core.uop.uop import UOp

Waiting = tuple[UOp, UOp, UOp, Rule | None]
"""(node, the node with rewritten sources, what a rule made of that, the rule): on the stack of the
walk, it waits for the outcome of the third, which will be the outcome of the first two."""

LOOP_KEPT: Final = 20
"""Matches of an endless rewrite, the last ones, that its error has; SHOWN are in its text."""
SHOWN: Final = 4
_KEEPS_TYPE: Final = (
    "a replacement has the dtype and shape of its node; declare changes_type=True on a rule that "
    "means to change them"
)
_MAKES_NODES: Final = "a rule returns a UOp, or None to decline; make constants with const_like"
_ENDS: Final = (
    "a rule must not match what it (or the next rule of the loop) makes; if the graph is only very "
    "deep, raise REWRITE_LIMIT"
)


def no_node(rule: Rule, node: UOp, result: object) -> RuleError:
    """A rule returned something that is no node."""
    return RuleError(
        f"rule {rule.name} returned {type(result).__name__}, which is no UOp",
        where=f"{rule.place}\n{excerpt(node)}",
        hint=_MAKES_NODES,
    )


def other_type(rule: Rule, node: UOp, what: str, result: UOp) -> RuleError:
    """A rule replaced a node by one of another dtype or shape; `what` says which."""
    return RuleError(
        f"rule {rule.name} {what}",
        where=f"{rule.place}\n{excerpt(node)}\nresult:\n{excerpt(result)}",
        hint=_KEEPS_TYPE,
    )


def raised(rule: Rule, node: UOp, error: Exception) -> UopvizError:
    """A rule raised `error`; a deliberate error stays as it is."""
    if isinstance(error, UopvizError):
        return error
    return RuleError(
        f"rule {rule.name} raised {type(error).__name__}: {error}",
        where=f"{rule.place}\n{excerpt(node)}",
        hint=_raised_at(rule, error),
    )


def endless(entries: Sequence[Waiting], what: str) -> RewriteLoopError:
    """The rewrites of `entries` have no fixed point; `what` says how that was seen."""
    matched = [(rule, m, r) for _, m, r, rule in entries if rule is not None]
    names = " -> ".join(rule.name for rule in dict.fromkeys(rule for rule, _, _ in matched))
    steps = [
        f"{rule.name} ({rule.place}):\n{_indent(excerpt(m, 4))}\n  became\n{_indent(excerpt(r, 4))}"
        for rule, m, r in matched[-SHOWN:]
    ]
    error = RewriteLoopError(
        f"no fixed point: {what}; rules in the loop: {names}", where="\n".join(steps), hint=_ENDS
    )
    error.loop = tuple(matched[-LOOP_KEPT:])
    return error


def loop_of(error: BaseException) -> tuple[tuple[Rule, UOp, UOp], ...]:
    """Rule, node before and node after of the last matches of a rewrite without a fixed point;
    nothing of another error."""
    loop = error.loop if isinstance(error, RewriteLoopError) else ()
    return cast("tuple[tuple[Rule, UOp, UOp], ...]", loop)


def _raised_at(rule: Rule, error: Exception) -> str:
    """The innermost line of the rule's file in the traceback of what it raised."""
    trace, found = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == rule.file:
            found = f"{rule.file}:{trace.tb_lineno}, in {code.co_name}"
        trace = trace.tb_next
    return f"look at {found}" if found else "its traceback does not pass through the rule's file"


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
