"""Random programs that assign and read: each read sees what was stored when it was written down."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.helpers import Context
from core.passes.schedule import create_schedule
from core.uop import Ops, UOp
from tests.core.passes.schedule.evaluate import Graphs, of_graph, run

SHAPE = (3, 3)


def moved(draw: st.DrawFn, x: UOp) -> UOp:
    """The elements at other places, or zeros."""
    before, after = draw(st.integers(-1, 1)), draw(st.integers(-1, 1))
    x = x.flip((draw(st.booleans()), draw(st.booleans())))
    rows, columns = ((max(-n, 0), max(n, 0)) for n in (before, after))
    x = x.shrink(((rows[1], 3 - rows[0]), (columns[1], 3 - columns[0])))
    return x.pad((rows, columns))


@st.composite
def programs(draw: st.DrawFn) -> tuple[Graphs, list[UOp], list[UOp]]:
    """(memory, values that were read, the last state of each assigned buffer)."""
    made = Graphs(draw(st.integers(0, 1000)))
    state = [made.buffer(*SHAPE) for _ in range(3)]
    values = list(state)
    assigned: set[int] = set()
    for _ in range(draw(st.integers(1, 8))):
        x = draw(st.sampled_from([*state, *values[-3:]]))
        y = draw(st.sampled_from([*state, *values[-3:]]))
        kind = draw(st.integers(0, 6))
        if kind == 0:
            value = x.r(Ops.ADD, (1,)).expand(SHAPE) + y
        elif kind == 1:
            value = x.permute((1, 0)) * UOp.full(SHAPE, 2, dtypes.int32, "CPU") + y
        elif kind == 2:
            value = moved(draw, x + y)
        elif kind == 3:
            value = moved(draw, x) + moved(
                draw, moved(draw, x + UOp.full(SHAPE, 1, dtypes.int32, "CPU")) + y
            )
        else:
            value = x + y
        if draw(st.integers(0, 3)) == 0:
            value = value.contiguous()
        if draw(st.booleans()):
            at = draw(st.integers(0, 2))
            state[at] = state[at].assign(value)
            assigned.add(at)
        else:
            values.append(value)
    return made, values[3:], [state[at] for at in sorted(assigned)]


@settings(max_examples=250, deadline=None)
@given(programs(), st.integers(0, 3), st.booleans())
def test_reads_see_what_was_stored_then(
    program: tuple[Graphs, list[UOp], list[UOp]], level: int, planned: bool
) -> None:
    made, values, states = program
    roots = list(dict.fromkeys([*values, *states]))
    want = {u: of_graph(u, made.memory).copy() for u in roots}
    with Context(OPT=level, MEMORY_PLANNER=planned):
        items, realized = create_schedule(UOp.sink(*roots))
    run(items, made.memory)
    for u in roots:
        np.testing.assert_array_equal(of_graph(realized[u], made.memory), want[u])
