"""Trim: the loop of a reduce ends where nothing more counts.

A reduce over an axis whose length is a variable chooses, in each iteration, between a value and
the identity of its op. Which iterations choose a value is known when the kernel is launched: the
loop runs to there. Never makes a loop longer, and never changes which ones there are.
"""

from __future__ import annotations

from core.passes.identities import identity
from core.passes.solve import exact, linear, size_of
from core.passes.view_index import all_of
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.call.atlaunch import known_at_launch
from core.uop.kernelinfo import AxisType
from core.uop.symbolic import clauses


@rule(UPat(Ops.REDUCE, src=(UPat(Ops.WHERE, src=(UPat.var("c"), UPat.var("x"), UPat(
           Ops.CONST, name="e"))),), allow_any_len=True, name="red"))  # fmt: skip
def end_at_length(red: UOp, c: UOp, x: UOp, e: UOp) -> UOp | None:
    """reduce(i < n ? x : e, i) -> reduce(x, i up to n), where e is the identity of the reduce and n
    is known at the launch;  reduce(k * i + j < n ? x : e, i) -> the same, i up to n / k"""
    if e.arg != identity(red.arg, e.dtype):
        return None
    conditions = list(clauses(c))
    for loop in red.src[1:]:
        if loop.src[0].op is not Ops.CONST or loop.arg[1] is not AxisType.REDUCE:
            continue
        for clause in conditions:
            if (found := _end(clause, loop)) is None:
                continue
            end, covers = found
            shorter = loop.replace(src=(end,))
            left = all_of(*(k for k in conditions if k is not clause or not covers))
            value = x if left is None else left.where(x, e)
            ranges = tuple(shorter if r is loop else r for r in red.src[1:])
            return red.rebuild((value.substitute({loop: shorter}), *ranges))
    return None


def _end(clause: UOp, loop: UOp) -> tuple[UOp, bool] | None:
    """How many iterations of a loop a condition may hold in, as a value of variables, and whether
    it holds in all of these. None where that is not known at the launch, or is all of them."""
    if clause.op is not Ops.CMPLT:
        return None
    index, n = clause.src
    form = linear(index, loop)
    if form is None or form[0] < 1 or n.op is Ops.CONST or not known_at_launch(n):
        return None
    factor, rest = form
    if (rest is not None and rest.vmin < 0) or not exact(form, loop, index.dtype):
        return None
    end = (n + (factor - 1)) // factor if factor > 1 else n
    if end.vmin < 0:
        end = end.maximum(0)
    if end.vmax > size_of(loop):
        end = end.minimum(size_of(loop))
    made = end.simplify().cast(loop.dtype)
    return (made, factor == 1 and rest is None) if made.vmin < size_of(loop) else None


trimming = PatternMatcher([end_at_length], name="trim")


def trim(sink: UOp, target: Target) -> UOp:
    """The kernel whose reduces leave out the iterations that do not count."""
    return graph_rewrite(sink, trimming, name="trim")
