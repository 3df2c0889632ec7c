"""The table of schedule passes: cut short after any pass and entered again at the next."""

from __future__ import annotations

from itertools import pairwise

import pytest

from core.errors import CompileError
from core.helpers import Context
from core.passes.schedule import create_schedule
from core.passes.schedule.kernels.kernelize import Kernels
from core.passes.schedule.linearize import kernels_of, ordered
from core.passes.schedule.pipeline import PASSES, run_passes
from core.uop import Ops, UOp
from tests.core.passes.schedule.evaluate import Graphs


def graph() -> UOp:
    g = Graphs()
    x = g.buffer(4, 6)
    total = x.r(Ops.ADD, (1,))
    return UOp.sink((x - total.expand((4, 6))) * x, total * 2.0, g.buffer(4, 6).assign(x + x))


def test_cut_short_and_entered_again_gives_the_same_kernels() -> None:
    sink = graph()
    with Context(OPT=3, SPEC=1):
        want = [item.ast for item in create_schedule(sink)[0]]
        for before, after in pairwise(PASSES):
            notes = Kernels()
            part = run_passes(sink, notes, stop=before.name)
            whole = run_passes(part, notes, start=after.name)
            assert [k.src[0] for k in ordered(whole, notes)[0]] == want


def test_before_kernelize_there_is_no_kernel() -> None:
    assert not kernels_of(run_passes(graph(), stop="group"))
    assert kernels_of(run_passes(graph(), stop="kernelize"))


def test_settings_leave_passes_out() -> None:
    sink = graph()
    with Context(OPT=0):
        assert run_passes(sink, stop="reduces: merge") is run_passes(sink, stop="reduces: split")
    with pytest.raises(CompileError, match="no pass 'nothing'"):
        run_passes(sink, stop="nothing")
