"""Random programs that assign and read: each read sees what was stored when it was written down."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.helpers import Context
from core.passes.schedule import ScheduleItem, create_schedule
from core.uop import Ops, UOp
from tests.core.passes.schedule.evaluate import Graphs, of_graph, run
from tests.core.passes.schedule.evaluate import realize as realized_in_numpy

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


@st.composite
def updates(draw: st.DrawFn) -> tuple[Graphs, list[UOp]]:
    """Memory, and assignments to it that read any state of it, old or new; some values are
    reduces, as a gradient is."""
    made = Graphs(draw(st.integers(0, 1000)))
    shape = draw(st.sampled_from([(3, 3), (4,), (1, 3, 1), ()]))
    data = [made.buffer(*shape, 2) for _ in range(2)]
    state = [made.buffer(*shape) for _ in range(3)]
    states = list(state)
    totals = [d.r(Ops.ADD, (len(shape),)).reshape(shape) for d in data]
    for _ in range(draw(st.integers(2, 7))):
        at = draw(st.integers(0, 2))
        x, y = (draw(st.sampled_from([*states, *state])) for _ in range(2))
        kind = draw(st.integers(0, 8))
        if kind == 0:
            y = y + draw(st.sampled_from(totals))
        elif kind == 1:
            wide = x.reshape((*shape, 1)).expand((*shape, 2))
            y = (wide * data[0]).r(Ops.MAX, (len(shape),)).reshape(shape) + y
        elif kind == 2 and shape:
            x = x.flip((True,) * len(shape))
        elif kind == 3:
            x = (x * y).contiguous()
        state[at] = state[at].assign(x + y * draw(st.sampled_from(states)))
        states.append(state[at])
    return made, [*states[3:], *(totals if draw(st.booleans()) else [])]


def outputs(items: list[ScheduleItem]) -> int:
    """The most that one kernel stores."""
    return max(len(item.ast.src) for item in items)


@settings(max_examples=400, deadline=None)
@given(updates(), st.integers(0, 3), st.booleans())
def test_each_kernel_reads_the_state_it_names(
    program: tuple[Graphs, list[UOp]], level: int, planned: bool
) -> None:
    made, states = program
    want = [of_graph(u, made.memory).copy() for u in states]
    with Context(OPT=level, MEMORY_PLANNER=planned):
        values, items = realized_in_numpy(*states, memory=made.memory)
    for value, wanted in zip(values, want, strict=True):
        np.testing.assert_array_equal(value, wanted)
    for item in items:
        assert len(set(item.bufs)) == len(item.bufs), "memory has one pointer"


def test_old_and_new_states_in_one_kernel() -> None:
    """The moments' update, the weights' by the new moments, and a third by the old ones."""
    made = Graphs()
    moment, weights, kept = (made.buffer(4) for _ in range(3))
    total = made.buffer(4, 8).r(Ops.ADD, (1,)).reshape((4,))
    new = moment.assign(moment + total)
    stepped = weights.assign(weights + new)
    last = kept.assign(kept + moment + stepped + weights)
    for level in (0, 3):
        with Context(OPT=level):
            memory = dict(made.memory)
            want = [of_graph(u, memory).copy() for u in (new, stepped, last)]
            got, items = realized_in_numpy(new, stepped, last, memory=memory)
        assert outputs(items) == (3 if level == 3 else 1)
        for value, wanted in zip(got, want, strict=True):
            np.testing.assert_array_equal(value, wanted)


def test_memory_that_is_stored_twice_has_one_pointer() -> None:
    """A kernel that reads what was stored first is not merged with the one that stores again."""
    made = Graphs()
    memory, read, last = made.buffer(4), made.buffer(4), made.buffer(4)
    totals = [made.buffer(4, 8).r(Ops.ADD, (1,)).reshape((4,)) for _ in range(2)]
    first = memory.assign(read + totals[0])
    again = memory.assign(last + read * read)
    between = read.assign(totals[1] + first)
    after = last.assign(again + between)
    roots = (first, between, again, after)
    want = of_graph(between, made.memory).copy(), of_graph(after, made.memory).copy()
    with Context(OPT=3):
        items, realized = create_schedule(UOp.sink(*roots))
    for item in items:
        assert len(set(item.bufs)) == len(item.bufs)
    run(items, made.memory)
    for u, wanted in zip((between, after), want, strict=True):
        np.testing.assert_array_equal(of_graph(realized[u], made.memory), wanted)
