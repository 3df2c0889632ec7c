"""The verifier of graphs: applies the rules of a stage (`rules.py`, `machine.py`) to
every node.

Never changes a graph. Linear programs have more to them: see `core/passes/program/verify.py`.
"""

from __future__ import annotations

from typing import Any

from core.errors import SpecError, UopvizError
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule
from core.uop.show import excerpt
from core.uop.spec.machine import machine_spec
from core.uop.spec.rules import ast_spec, index_spec, program_spec, tensor_spec
from core.uop.uop import UOp

__all__ = [
    "ast_spec",
    "broken_rule",
    "index_spec",
    "machine_spec",
    "program_spec",
    "tensor_spec",
    "verify",
    "violation",
]


def verify(sink: UOp, spec: PatternMatcher, stage: str) -> None:
    """Raises SpecError at the first node below `sink` that `spec` does not allow at `stage`."""
    for u in sink.toposort():
        if (what := violation(u, spec)) is not None:
            raise SpecError(
                f"{stage}: {what}",
                where=excerpt(u),
                hint="the pass before made this node; run it with VIZ=1 and step to where it "
                "appears",
            )


def violation(u: UOp, spec: PatternMatcher) -> str | None:
    """What `spec` has against a node, None where it allows it."""
    answer, by = _answer(u, spec)
    if answer is True:
        return None
    if by is None:
        return f"{u.op.name} is not allowed here, or not with these sources"
    return f"{u.op.name} breaks the rule: {by.equation}"


def broken_rule(u: UOp, spec: PatternMatcher) -> Rule | None:
    """The rule of `spec` that has something against a node; None where it is allowed, and where no
    rule speaks of it."""
    answer, by = _answer(u, spec)
    return by if answer is not True else None


def _answer(u: UOp, spec: PatternMatcher) -> tuple[Any, Rule | None]:
    for variant in spec.candidates(u):
        try:
            found = variant.plain(u, None)
        except (UopvizError, TypeError, AttributeError, IndexError):  # a field of another kind
            return False, variant.rule
        if found is not None:
            return found, variant.rule
    return None, None
