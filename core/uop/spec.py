"""The verifier: applies the rules of a stage (`spec_rules.py`) to a graph or a linear program.

Never changes a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import SpecError, UopvizError
from core.uop.matcher import PatternMatcher
from core.uop.ops import Ops
from core.uop.rule import Rule
from core.uop.show import excerpt
from core.uop.spec_rules import ast_spec, index_spec, program_spec, tensor_spec
from core.uop.uop import UOp

__all__ = ["ast_spec", "index_spec", "program_spec", "tensor_spec", "verify", "verify_program"]


def verify(sink: UOp, spec: PatternMatcher, stage: str) -> None:
    """Raises SpecError at the first node below `sink` that `spec` does not allow at `stage`."""
    for u in sink.toposort():
        _verify_node(u, spec, stage)


def verify_program(uops: Sequence[UOp], stage: str = "linearize") -> None:
    """Raises SpecError where a linear program is not one: a node that is not allowed, a source that
    comes later or that a loop has left behind, loops and IFs that are not closed in order, a gate
    where no load has an alternative."""
    seen: dict[UOp, int] = {}
    open_blocks: list[UOp] = []
    closed: set[UOp] = set()
    for at, u in enumerate(uops):
        _verify_node(u, program_spec, stage)
        for s in u.src:
            if s not in seen:
                raise _error(u, stage, f"{s.op.name} is used before it is defined")
            if s in closed and u.op not in (Ops.END, Ops.SINK, Ops.AFTER, Ops.GROUP):
                raise _error(u, stage, f"{s.op.name} is used after its loop has ended")
        if u.op in (Ops.RANGE, Ops.IF):
            open_blocks.append(u)
        elif u.op in (Ops.END, Ops.ENDIF):
            begun = u.src[1] if u.op is Ops.END else u.src[0]
            if (u.op is Ops.END and len(u.src) != 2) or not open_blocks:
                raise _error(u, stage, f"{u.op.name} does not end exactly one open block")
            if open_blocks.pop() is not begun:
                raise _error(u, stage, f"{u.op.name} ends a block around one still open")
            if u.op is Ops.END:
                closed.add(begun)
        elif u.op is Ops.STORE and u.src[0].op is Ops.INDEX and len(u.src[0].src) > 2:
            raise _error(u, stage, "STORE with a gate")
        seen[u] = at
    if open_blocks:
        raise _error(open_blocks[-1], stage, f"{open_blocks[-1].op.name} is never ended")


def _verify_node(u: UOp, spec: PatternMatcher, stage: str) -> None:
    answer, by = _answer(u, spec)
    if answer is True:
        return
    if by is None:
        raise _error(u, stage, f"{u.op.name} is not allowed here, or not with these sources")
    raise _error(u, stage, f"{u.op.name} breaks the rule: {by.equation}")


def _answer(u: UOp, spec: PatternMatcher) -> tuple[Any, Rule | None]:
    for variant in spec.candidates(u):
        try:
            found = variant.plain(u, None)
        except (UopvizError, TypeError, AttributeError, IndexError):  # a field of another kind
            return False, variant.rule
        if found is not None:
            return found, variant.rule
    return None, None


def _error(u: UOp, stage: str, what: str) -> SpecError:
    return SpecError(
        f"{stage}: {what}",
        where=excerpt(u),
        hint="the pass before made this node; run it with VIZ=1 and step to where it appears",
    )
