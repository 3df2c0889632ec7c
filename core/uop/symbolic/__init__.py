"""Symbolic simplification: layers of rules (layers.py), conditions (valid.py).

Never changes the value of a graph where that value is used.
"""

from core.uop.engine.rewrite import graph_rewrite
from core.uop.symbolic.floor import floor_divide, floor_remainder
from core.uop.symbolic.layers import symbolic, symbolic_index, symbolic_simple
from core.uop.symbolic.sums import merge_sums
from core.uop.symbolic.valid import clauses, gated, given, simplify_valid
from core.uop.uop import UOp


def simplify(u: UOp) -> UOp:
    """`u` with all rules of `symbolic_index` to a fixed point."""
    return graph_rewrite(merge_sums(u), symbolic_index, name="simplify")


__all__ = [
    "clauses",
    "floor_divide",
    "floor_remainder",
    "gated",
    "given",
    "merge_sums",
    "simplify",
    "simplify_valid",
    "symbolic",
    "symbolic_index",
    "symbolic_simple",
]
