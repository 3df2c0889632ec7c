"""What a program may hold after the passes for one kind of text: `machine_spec`.

It is closer to instructions than `program_spec`; what it allows beyond that is here. Nothing here
changes a graph.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop.matcher import PatternMatcher
from core.uop.ops import Ops
from core.uop.rule import rule
from core.uop.spec_rules import program_spec
from core.uop.uop import UOp
from core.uop.upat import UPat


@rule(UPat((Ops.SHL, Ops.SHR), src=(UPat.var("x"), UPat.var("n")), name="u"))
def shift_spec(u: UOp, x: UOp, n: UOp) -> bool:
    """the amount of a shift is a uint32, whatever is shifted"""
    return dtypes.is_int(u.dtype) and u.dtype == x.dtype and n.dtype == dtypes.uint32


machine_spec = PatternMatcher([shift_spec, *program_spec.rules], name="machine")
