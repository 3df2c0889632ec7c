"""The IR: interned graph nodes, patterns over them, and the engine that rewrites them.

Re-exports what programs use, and fills in the methods of UOp that need the layers above it.
"""

from core.uop.matcher import PatternMatcher
from core.uop.observe import track_rewrites
from core.uop.ops import GroupOp, Ops
from core.uop.rewrite import graph_rewrite, graph_rewrite_map
from core.uop.rule import Rule, rule
from core.uop.show import render
from core.uop.symbolic import simplify
from core.uop.uop import UOp, late
from core.uop.upat import UPat

late.render = render
late.simplify = simplify

__all__ = [
    "GroupOp",
    "Ops",
    "PatternMatcher",
    "Rule",
    "UOp",
    "UPat",
    "graph_rewrite",
    "graph_rewrite_map",
    "rule",
    "track_rewrites",
]
