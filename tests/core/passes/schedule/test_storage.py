"""Outputs, contiguous, assignments, copies, hazards, memory, and errors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from core.dtype import dtypes
from core.errors import DeviceError, ScheduleError
from core.helpers import Context
from core.passes.schedule import create_schedule
from core.uop import Ops, UOp
from core.uop.engine.observe import recording
from tests.core.passes.schedule.evaluate import Graphs, of_graph, realize, run

F = dtypes.float32


@pytest.fixture
def g() -> Graphs:
    return Graphs()


def full(x: UOp, value: float) -> UOp:
    return UOp.full(x.shaped, value, x.dtype, x.device or "CPU")


def after(g: Graphs, *roots: UOp) -> list[np.ndarray]:
    """The values of the roots, run on the memory of `g` itself."""
    return realize(*roots, memory=g.memory)[0]


# outputs


def test_memory_needs_no_kernel(g: Graphs) -> None:
    x = g.buffer(4, 6)
    items, realized = create_schedule(UOp.sink(x, x.permute((1, 0)), x.base))
    assert items == []
    assert realized[x] is x
    assert realized[x.permute((1, 0))] is x.permute((1, 0))


def test_moved_output_is_stored_once(g: Graphs) -> None:
    x = g.buffer(4, 6) + g.buffer(4, 6)
    turned = x.permute((1, 0))
    items, realized = create_schedule(UOp.sink(turned, x, x.reshape((24,))))
    assert len(items) == 1
    assert realized[turned] is realized[x].permute((1, 0))
    assert realized[x].base is items[0].bufs[0]
    assert g.kernels(turned, x) == 1


def test_part_of_a_value_is_all_that_is_computed(g: Graphs) -> None:
    x = g.buffer(4, 6) + g.buffer(4, 6)
    items, _ = create_schedule(UOp.sink(x.shrink(((0, 1), (0, 6)))))
    assert [item.bufs[0].size for item in items] == [6]


def test_constants_are_stored_only_as_outputs(g: Graphs) -> None:
    x = g.buffer(4)
    assert g.kernels(x * full(x, 3) + full(x, 2)) == 1
    assert g.kernels(full(x, 3)) == 1
    assert g.kernels(UOp.iota(4, dtypes.int32, "CPU")) == 1
    items, _ = create_schedule(UOp.sink(x * full(x, 3)))
    assert len(items[0].bufs) == 2


def test_values_without_elements_need_no_kernel(g: Graphs) -> None:
    x = g.buffer(0, 3)
    assert g.kernels(x + x, x.permute((1, 0)).contiguous(), x.r(Ops.ADD, (1,))) == 0
    assert g.kernels(x.r(Ops.ADD, (0,))) == 1
    assert g.kernels(x.r(Ops.MAX, (0,)) + g.buffer(1, 3)) == 1
    assert g.kernels(x.pad(((1, 1), (0, 0)))) == 1


def test_contiguous_of_memory_is_that_memory(g: Graphs) -> None:
    x = g.buffer(4, 6)
    assert g.kernels(x.contiguous(), x.contiguous().reshape((24,)).contiguous()) == 0
    assert g.kernels(x.permute((1, 0)).contiguous().contiguous()) == 1
    assert g.kernels((x + x).contiguous().contiguous()) == 1
    assert g.kernels(x.shrink(((1, 3), (0, 6))).contiguous()) == 1


def test_contiguous_ends_a_kernel_and_is_shared(g: Graphs) -> None:
    x = (g.buffer(4, 6) + g.buffer(4, 6)).contiguous()
    assert g.kernels(x + x.permute((1, 0)).reshape((4, 6))) == 2
    assert g.kernels(x.reshape((24,)) + g.buffer(24), x) == 2


def test_marks_for_gradients_leave_nothing(g: Graphs) -> None:
    x = g.buffer(4)
    items, _ = create_schedule(UOp.sink((x + x).detach().contiguous_backward()))
    ops = {u.op for item in items for u in item.ast.toposort()}
    assert not ops & {Ops.DETACH, Ops.CONTIGUOUS_BACKWARD}


# assignments


def test_assign_stores_in_place(g: Graphs) -> None:
    x, y = g.buffer(4, 6), g.buffer(4, 6)
    want = of_graph(x + y, g.memory)
    root = x.assign(x + y)
    items, realized = create_schedule(UOp.sink(root))
    assert len(items) == 1
    assert items[0].bufs == (x.base, y.base)
    assert realized[root] is x
    run(items, g.memory)
    np.testing.assert_array_equal(of_graph(x, g.memory), want)


def test_assign_to_a_part(g: Graphs) -> None:
    x, y = g.buffer(4, 6), g.buffer(2, 6)
    want = of_graph(x, g.memory).copy()
    want[1:3] = of_graph(y, g.memory)[::-1]
    root = x.shrink(((1, 3), (0, 6))).flip((True, False)).assign(y)
    values = after(g, root)
    np.testing.assert_array_equal(of_graph(x, g.memory), want)
    np.testing.assert_array_equal(values[0], of_graph(y, g.memory))


def test_what_was_read_before_an_assign_runs_before_it(g: Graphs) -> None:
    x, y = g.buffer(4), g.buffer(4)
    old = of_graph(x * y, g.memory)
    new = x.assign(y)
    later = new + full(x, 1)
    values = after(g, later, new, x * y)
    np.testing.assert_array_equal(values[2], old)
    np.testing.assert_array_equal(values[1], of_graph(y, g.memory))
    np.testing.assert_array_equal(values[0], of_graph(y, g.memory) + 1)


def test_assigns_in_a_row(g: Graphs) -> None:
    x = g.buffer(4)
    start = of_graph(x, g.memory).copy()
    first = x.assign(x + full(x, 1))
    seen = first * full(x, 10)
    second = first.assign(first + full(x, 5))
    values = after(g, second, seen)
    np.testing.assert_array_equal(values[0], start + 6)
    np.testing.assert_array_equal(values[1], (start + 1) * 10)


def test_assign_twice_and_assign_itself(g: Graphs) -> None:
    x, y = g.buffer(4), g.buffer(4)
    assert len(create_schedule(UOp.sink(x.assign(x.assign(y))))[0]) == 1
    assert create_schedule(UOp.sink(x.assign(x)))[0] == []


def test_assign_to_a_value_takes_the_new_one(g: Graphs) -> None:
    x, y = g.buffer(4), g.buffer(4)
    values = after(g, (x + x).assign(y + y))
    np.testing.assert_array_equal(values[0], of_graph(y + y, g.memory))


def test_assign_after_a_reduce_of_itself(g: Graphs) -> None:
    x = g.buffer(4, 6)
    want = of_graph(x - x.r(Ops.MAX, (1,)).expand((4, 6)), g.memory)
    items, _ = create_schedule(UOp.sink(x.assign(x - x.r(Ops.MAX, (1,)).expand((4, 6)))))
    assert len(items) == 2
    run(items, g.memory)
    np.testing.assert_array_equal(of_graph(x, g.memory), want)


def test_optimizer_step_is_one_kernel(g: Graphs) -> None:
    p, grad, m, v = (g.buffer(4, 6, dtype=F) for _ in range(4))
    m2 = m.assign(m * full(m, 0.9) + grad * full(m, 0.1))
    v2 = v.assign(v * full(v, 0.99) + grad * grad * full(v, 0.01))
    p2 = p.assign(p - m2 * (v2.sqrt() + full(v, 1e-8)).recip())
    value = {u: of_graph(u, g.memory).copy() for u in (p, grad, m, v)}
    items, realized = create_schedule(UOp.sink(p2, m2, v2))
    assert len(items) == 1
    assert [realized[u] for u in (p2, m2, v2)] == [p, m, v]
    run(items, g.memory)
    want_m = value[m] * 0.9 + value[grad] * 0.1
    want_v = value[v] * 0.99 + value[grad] ** 2 * 0.01
    with np.errstate(invalid="ignore"):
        want_p = value[p] - want_m / (np.sqrt(want_v) + 1e-8)
    for u, want in ((m, want_m), (v, want_v), (p, want_p)):
        np.testing.assert_allclose(of_graph(u, g.memory), want, rtol=1e-5)
    with Context(OPT=2):
        assert len(create_schedule(UOp.sink(p2, m2, v2))[0]) == 3


def test_assigns_are_not_merged_around_another_kernel(g: Graphs) -> None:
    x, y = g.buffer(4, 4), g.buffer(4, 4)
    first = x.assign(x + full(x, 1))
    total = first.r(Ops.ADD, (0, 1)).expand((4, 4))
    second = y.assign(first + total)
    start = of_graph(x, g.memory) + 1
    values = after(g, first, second)
    np.testing.assert_array_equal(values[1], start + start.sum())


def test_assigns_are_not_merged_across_another_order(g: Graphs) -> None:
    x, y = g.buffer(4, 4), g.buffer(4, 4)
    first = x.assign(x + full(x, 1))
    items, _ = create_schedule(UOp.sink(first, y.assign(first.permute((1, 0)) + y)))
    assert len(items) == 2


def rolled(x: UOp) -> UOp:
    """The rows of `x`, the last one first."""
    rows, columns = x.shaped
    last = x.shrink(((rows - 1, rows), (0, columns))).pad(((0, rows - 1), (0, 0)))
    return last + x.shrink(((0, rows - 1), (0, columns))).pad(((1, 0), (0, 0)))


SELF_READS: list[tuple[str, Callable[[UOp], UOp], int]] = [
    ("elementwise", lambda x: x + full(x, 1), 1),
    ("transpose", lambda x: x + x.permute((1, 0)), 2),
    ("flip", lambda x: x.flip((True, False)), 2),
    ("roll", lambda x: rolled(x), 2),
    ("roll_of_sum", lambda x: rolled(x + full(x, 1)), 2),
    ("moved_down", lambda x: (x + full(x, 1)).pad(((1, 0), (0, 0))).shrink(((0, 4), (0, 4))), 2),
    ("masked", lambda x: x.shrink(((1, 3), (0, 4))).pad(((1, 1), (0, 0))), 1),
    ("masked_sum", lambda x: (x + full(x, 1)).shrink(((1, 3), (0, 4))).pad(((1, 1), (0, 0))), 1),
    ("column_sum", lambda x: x.r(Ops.ADD, (0,)).expand((4, 4)), 2),
    ("first_row", lambda x: x.shrink(((0, 1), (0, 4))).expand((4, 4)), 2),
    ("repeated_view", lambda x: rolled(rolled(x + full(x, 1)) + full(x, 2)), 2),
]  # fmt: skip


@pytest.mark.parametrize(("value", "most"), [c[1:] for c in SELF_READS],
                         ids=[c[0] for c in SELF_READS])  # fmt: skip
def test_an_assignment_may_read_its_target_anywhere(
    g: Graphs, value: Callable[[UOp], UOp], most: int
) -> None:
    x = g.buffer(4, 4)
    want = of_graph(value(x), g.memory).copy()
    items, _ = create_schedule(UOp.sink(x.assign(value(x))))
    run(items, g.memory)
    np.testing.assert_array_equal(of_graph(x, g.memory), want)
    assert len(items) <= most


def test_a_later_assignment_reads_the_earlier_one_anywhere(g: Graphs) -> None:
    x, y = g.buffer(4, 4), g.buffer(4, 4)
    first = x.assign(y + full(y, 1))
    second = y.assign(rolled(first + y))
    want = of_graph(second, g.memory), of_graph(first, g.memory)
    values = after(g, second, first)
    np.testing.assert_array_equal(values, want)


def test_two_that_read_what_the_other_assigns(g: Graphs) -> None:
    x, y, z = g.buffer(4), g.buffer(5, 4).r(Ops.ADD, (0,)).contiguous(), g.buffer(4)
    roots = x.assign(z + z), z.assign(x * y.reshape((4,)))
    want = [of_graph(root, g.memory) for root in roots]
    items, _ = create_schedule(UOp.sink(*roots))
    assert len(items) <= 4, "one copy is enough for both"
    run(items, g.memory)
    np.testing.assert_array_equal([of_graph(u, g.memory) for u in (x, z)], want)


def test_a_value_of_before_beside_a_value_of_after(g: Graphs) -> None:
    x = g.buffer(4, 4)
    new = x.assign(x * full(x, 3))
    root = new + x.permute((1, 0))
    want = of_graph(root, g.memory)
    np.testing.assert_array_equal(after(g, root, new)[0], want)


def test_assign_to_padding_or_repeated_elements_is_an_error(g: Graphs) -> None:
    with pytest.raises(ScheduleError, match="padding"):
        create_schedule(UOp.sink(g.buffer(4).pad(((1, 1),)).assign(g.buffer(6))))
    with pytest.raises(ScheduleError, match="several values"):
        create_schedule(UOp.sink(g.buffer(1).expand((4,)).assign(g.buffer(4))))


# copies and devices


def test_copy_to_another_device(g: Graphs) -> None:
    x = g.buffer(4, 6)
    there = (x + x).copy_to_device("OTHER")
    items, realized = create_schedule(UOp.sink(there + full(there, 1)))
    assert [item.ast.op for item in items] == [Ops.SINK, Ops.COPY, Ops.SINK]
    assert items[1].bufs[0].device == "OTHER"
    assert realized[there + full(there, 1)].device == "OTHER"
    assert g.kernels(there + full(there, 1)) == 3
    assert g.kernels(x.copy_to_device("CPU")) == 0
    assert g.kernels(full(x, 3).copy_to_device("OTHER") + g.buffer(4, 6, device="OTHER")) == 1


def test_copy_takes_only_what_is_needed(g: Graphs) -> None:
    x = g.buffer(8, 6)
    rows = x.shrink(((2, 4), (0, 6))).copy_to_device("OTHER")
    items, _ = create_schedule(UOp.sink(rows))
    assert [(i.ast.op, i.bufs[0].size, i.bufs[1].op) for i in items] == [
        (Ops.COPY, 12, Ops.BUFFER_VIEW)
    ]
    assert g.kernels(rows) == 1
    columns = x.shrink(((0, 8), (1, 2))).copy_to_device("OTHER")
    assert [i.bufs[0].size for i in create_schedule(UOp.sink(columns))[0]] == [8, 8]
    assert g.kernels(columns) == 2
    wide = g.buffer(1, 6).expand((9, 6)).copy_to_device("OTHER")
    assert [i.bufs[0].size for i in create_schedule(UOp.sink(wide))[0]] == [6]
    assert g.kernels(wide) == 1


def test_disk_is_read_by_parts_and_never_computes(g: Graphs) -> None:
    file = g.buffer(64, dtype=dtypes.uint8, device="DISK:weights")
    numbers = file.shrink(((8, 24),)).bitcast(F).reshape((2, 2))
    items, _ = create_schedule(UOp.sink(numbers.copy_to_device("CPU")))
    assert [item.ast.op for item in items] == [Ops.COPY]
    part = items[0].bufs[1]
    assert (part.op, part.dtype, part.arg) == (Ops.BUFFER_VIEW, F, (4, 2))
    with pytest.raises(DeviceError, match="does not compute"):
        create_schedule(UOp.sink(numbers + numbers))


def test_bitcast_to_another_size(g: Graphs) -> None:
    x = g.buffer(2, 4)
    bits = (x + x).bitcast(dtypes.int16)
    values = after(g, bits + full(bits, 1))
    want = np.ascontiguousarray(of_graph(x + x, g.memory)).view(np.int16) + 1
    np.testing.assert_array_equal(values[0], want.reshape(2, 8))


def test_one_kernel_on_two_devices_is_an_error(g: Graphs) -> None:
    with pytest.raises(DeviceError, match=r"CPU and OTHER|OTHER and CPU"):
        create_schedule(UOp.sink(g.buffer(4) + g.buffer(4, device="OTHER")))


# order, memory, variables, traces


def test_intermediate_memory_is_reused(g: Graphs) -> None:
    x = g.buffer(16)
    for _ in range(6):
        x = (x + x).contiguous()
    items, _ = create_schedule(UOp.sink(x))
    assert len({b for item in items for b in item.bufs}) == 4
    with Context(MEMORY_PLANNER=0):
        plain, _ = create_schedule(UOp.sink(x))
    assert len({b for item in plain for b in item.bufs}) == 7
    assert g.kernels(x) == 6


def test_outputs_keep_their_memory(g: Graphs) -> None:
    x = g.buffer(16)
    first = (x + x).contiguous()
    second = (first * first).contiguous()
    third = (second + x).contiguous()
    assert g.kernels(third, first) == 3
    assert g.kernels(third, second, first) == 3


def test_result_is_used_soon_after_it_was_made(g: Graphs) -> None:
    inputs = [g.buffer(4, 6, dtype=dtypes.float32) for _ in range(4)]
    parts = [x.r(Ops.ADD, (1,)).exp2().expand((4, 6)).contiguous() for x in inputs]
    items, _ = create_schedule(UOp.sink(*parts))
    made = [item.bufs[0] for item in items]
    for earlier, later in pairwise(items):
        if later.bufs[0].size == 24:
            assert earlier.bufs[0] in later.bufs
    assert len(made) == 8


def test_variables_are_given_at_launch(g: Graphs) -> None:
    x = g.buffer(4)
    n = UOp.variable("n", 1, 9)
    one, two = (
        create_schedule(UOp.sink(x * n.bind(k).reshape((1,)).expand((4,))))[0][0] for k in (3, 4)
    )
    assert one.ast is two.ast
    assert (one.variables, two.variables) == ({"n": 3}, {"n": 4})
    values = after(g, x * n.bind(3).reshape((1,)).expand((4,)))
    np.testing.assert_array_equal(values[0], of_graph(x, g.memory) * 3)
    both = n.bind(3).reshape((1,)).expand((4,)) + n.bind(4).reshape((1,)).expand((4,))
    (item,) = create_schedule(UOp.sink(x * both))[0]
    assert sorted(item.variables.values()) == [3, 4]
    np.testing.assert_array_equal(after(g, x * both)[0], of_graph(x, g.memory) * 7)


def test_equal_kernels_have_one_ast(g: Graphs) -> None:
    items, _ = create_schedule(UOp.sink(*(g.buffer(4) + g.buffer(4) for _ in range(3))))
    assert len({item.ast for item in items}) == 1


def test_each_pass_is_a_named_rewrite(g: Graphs) -> None:
    x = g.buffer(4, 6)
    with recording() as steps:
        create_schedule(UOp.sink(x.permute((1, 0)).detach() + g.buffer(6, 4)))
    rules = set(steps.rules)
    assert {"forget_gradient_marks", "movement_to_view", "store_group", "store_contiguous",
            "load_memory"} <= rules  # fmt: skip


def test_deep_graphs(g: Graphs) -> None:
    x = g.buffer(4)
    y = x
    for _ in range(10_000):
        y = y + x
    items, _ = create_schedule(UOp.sink(y))
    assert len(items) == 1
