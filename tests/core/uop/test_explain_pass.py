"""A rule that takes what its pass hands to it is explained by the pass itself."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.errors import RuleError
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.explain import Declines, Fires, Raises
from core.uop.engine.explain_pass import Place, explain_in_pass
from core.uop.engine.observe import context

NAMES = "abcdef"
LEAVES = [UOp.variable(name, 0, 9) for name in NAMES]


@rule(UPat.var("x") + UPat.cvar("c", vec=False))
def budgeted(x: UOp, c: UOp, ctx: list[str]) -> UOp | None:
    """x + c -> x, as long as there is room"""
    if x.arg[0] == "f":
        raise ValueError("no f")
    ctx.append(x.arg[0])
    room = 2 - len(ctx)
    return x if room >= 0 else None


MATCHER = PatternMatcher([budgeted])


def run(passes: int = 1, leaves: int = 5) -> UOp:
    """Sums, each of which takes of the room of its pass, and which are met in order."""
    with context("kernel", "kernel"):
        for _ in range(passes):
            sink = UOp.sink(*(x + 3 for x in LEAVES[:leaves]))
            sink = graph_rewrite(sink, MATCHER, [], name="room")
        with context("another", "kernel"):
            graph_rewrite(sink, MATCHER, ["", ""], name="room")
        return graph_rewrite(sink, MATCHER, ["z"], name="room")


def test_it_declines_as_it_did() -> None:
    found = explain_in_pass(budgeted, LEAVES[3] + 3, Place("room", 0), run)
    assert isinstance(found, Declines)
    assert found.text == "return x if room >= 0 else None"
    assert found.values["room"] == "-2"  # it was called once, after three others
    assert found.binds == {"x": LEAVES[3], "c": UOp.const(dtypes.int32, 3)}
    assert found.ways == 1


def test_which_rewrite_it_is() -> None:
    second = explain_in_pass(budgeted, LEAVES[3] + 3, Place("room", 1), run)
    assert isinstance(second, Declines)
    assert second.values["room"] == "-1"  # c and d are left, and z was there; not the one between
    assert explain_in_pass(budgeted, LEAVES[0] + 3, Place("room", 1), run) is None
    assert explain_in_pass(budgeted, LEAVES[3] + 3, Place("room", 2), run) is None
    third = explain_in_pass(budgeted, LEAVES[3] + 3, Place("room", 2), lambda: run(2))
    assert isinstance(third, Declines)
    assert third.values["room"] == "-1"


def test_it_fires_or_raises() -> None:
    found = explain_in_pass(budgeted, LEAVES[1] + 3, Place("room", 0), run)
    assert isinstance(found, Fires)
    assert found.result is LEAVES[1]
    found = explain_in_pass(budgeted, LEAVES[5] + 3, Place("room", 0), lambda: run(1, 6))
    assert isinstance(found, Raises)
    assert found.error == "ValueError: no f"
    with pytest.raises(RuleError, match="no f"):
        explain_in_pass(budgeted, LEAVES[3] + 3, Place("room", 1), lambda: run(1, 6))


def test_memory_that_is_made_anew() -> None:
    @rule(UPat(Ops.KERNEL, name="k"))
    def kept(k: UOp, ctx: int) -> UOp | None:
        """k -> k"""
        size = ctx + k.src[1].arg
        return None if size else k

    def made() -> UOp:
        memory = [UOp.new_buffer("CPU", n, dtypes.float32) for n in (4, 8)]
        kernels = [UOp(Ops.KERNEL, dtypes.void, (UOp.sink(), m)) for m in memory]
        with context("schedule", "schedule"):
            return graph_rewrite(UOp.sink(*kernels), PatternMatcher([kept]), 1, name="merge")

    wanted = made().src[1]
    found = explain_in_pass(kept, wanted, Place("merge", 0), made)
    assert isinstance(found, Declines)
    assert found.values["size"] == "9"
