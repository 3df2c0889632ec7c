"""Simplify: the arithmetic of a kernel, by the symbolic rules, conditions included.

Runs after each pass that makes index arithmetic. Keeps every value that is used. Never changes how
loops are run.
"""

from __future__ import annotations

from core.target import Target
from core.uop import UOp, graph_rewrite
from core.uop.symbolic import gated, merge_sums, symbolic_index

simplifying = (symbolic_index + gated).settling()


def simplify(sink: UOp, target: Target) -> UOp:
    """The kernel with simpler arithmetic."""
    return graph_rewrite(merge_sums(sink), simplifying, name="simplify")
