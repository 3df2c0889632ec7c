"""What becomes one kernel and what does not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core.dtype import dtypes
from core.helpers import Context
from core.passes.schedule import create_schedule
from core.uop import Ops, UOp
from tests.core.passes.schedule.evaluate import Graphs, of_graph, realize

F = dtypes.float32


@pytest.fixture
def g() -> Graphs:
    return Graphs()


def full(x: UOp, value: float) -> UOp:
    return UOp.full(x.shaped, value, x.dtype, "CPU")


def matmul(a: UOp, b: UOp) -> UOp:
    (m, k), (_, n) = a.shaped, b.shaped
    left = a.reshape((m, 1, k)).expand((m, n, k))
    right = b.permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    return (left * right).r(Ops.ADD, (2,)).reshape((m, n))


def softmax(x: UOp) -> UOp:
    top = x.r(Ops.MAX, (1,)).expand(x.shaped)
    e = (x - top).exp2()
    return e * e.r(Ops.ADD, (1,)).recip().expand(x.shaped)


def test_elementwise_chain_is_one_kernel(g: Graphs) -> None:
    x, y = g.buffer(4, 6), g.buffer(4, 6)
    assert g.kernels((x + y) * x - y.permute((1, 0)).reshape((4, 6))) == 1


def test_matmul_with_elementwise_on_both_sides(g: Graphs) -> None:
    a, b, bias = g.buffer(4, 8, dtype=F), g.buffer(8, 6, dtype=F), g.buffer(6, dtype=F)
    out = matmul(a + full(a, 1), b) + bias.reshape((1, 6)).expand((4, 6))
    assert g.kernels(out.maximum(full(out, 0))) == 1


def test_uses_that_meet_again_fuse(g: Graphs) -> None:
    x = matmul(g.buffer(4, 8, dtype=F), g.buffer(8, 6, dtype=F))
    assert g.kernels(x * (full(x, 1) + (-x).exp2()).recip()) == 1


def test_softmax_is_three_kernels(g: Graphs) -> None:
    assert g.kernels(softmax(g.buffer(4, 8, dtype=F))) == 3


def test_reduce_follows_a_permutation(g: Graphs) -> None:
    s = g.buffer(4, 3, 5).r(Ops.ADD, (2,))
    assert g.kernels(s.reshape((4, 3)).permute((1, 0)) + g.buffer(3, 4)) == 1


def test_reduce_used_in_two_orders_is_stored(g: Graphs) -> None:
    s = g.buffer(4, 4, 5).r(Ops.ADD, (2,)).reshape((4, 4))
    assert g.kernels(s + s.permute((1, 0))) == 2


def test_one_reduce_per_kernel(g: Graphs) -> None:
    x = g.buffer(4, 6)
    assert g.kernels(x.r(Ops.ADD, (1,)) + x.r(Ops.MAX, (1,))) == 2


def test_reduce_of_reduce_of_another_op(g: Graphs) -> None:
    assert g.kernels(g.buffer(4, 6).r(Ops.ADD, (1,)).r(Ops.MAX, (0,))) == 2
    assert g.kernels(g.buffer(4, 6).r(Ops.ADD, (1,)).r(Ops.ADD, (0,))) == 1


def test_padded_reduce_is_stored_before_the_pad(g: Graphs) -> None:
    s = g.buffer(4, 6).r(Ops.ADD, (1,))
    assert g.kernels(s.pad(((1, 1), (0, 0))).contiguous()) == 2


def test_pad_after_an_op_that_moves_zero(g: Graphs) -> None:
    x = g.buffer(4, 6, dtype=F)
    assert g.kernels(x.exp2().pad(((1, 1), (0, 2))).contiguous()) == 1
    assert g.kernels((x + full(x, 3)).pad(((1, 1), (0, 2))).contiguous()) == 1
    assert g.kernels((x * full(x, 3)).pad(((1, 1), (0, 2))).contiguous()) == 1


def test_costly_value_is_stored_before_it_is_repeated(g: Graphs) -> None:
    x, y = g.buffer(4, 1, dtype=F), g.buffer(4, 6, dtype=F)
    costly = x.exp2().log2().expand((4, 6)) + y
    cheap = (x + full(x, 1)).expand((4, 6)) + y
    assert g.kernels(costly) == 2
    assert g.kernels(cheap) == 1


def test_single_numbers_are_computed_where_they_are_used(g: Graphs) -> None:
    x, y = g.buffer(1, dtype=F), g.buffer(6, dtype=F)
    assert g.kernels((x.exp2().log2() + full(x, 1)).expand((6,)) * y) == 1


def test_counting_is_never_stored(g: Graphs) -> None:
    i = UOp.iota(6, dtypes.int32, "CPU")
    square = (i * i + full(i, 2)).reshape((1, 6)).expand((5, 6))
    assert g.kernels(square * g.buffer(5, 6)) == 1
    triangle = square.r(Ops.ADD, (1,)).expand((5, 6))
    assert g.kernels(triangle + g.buffer(5, 6)) == 1


def test_gather_by_comparison_is_one_kernel(g: Graphs) -> None:
    index, table = g.buffer(3), g.buffer(6, 4)
    rows = UOp.iota(6, dtypes.int32, "CPU").reshape((1, 6, 1)).expand((3, 6, 4))
    hit = index.reshape((3, 1, 1)).expand((3, 6, 4)).eq(rows).cast(dtypes.int32)
    assert g.kernels((hit * table.reshape((1, 6, 4)).expand((3, 6, 4))).r(Ops.ADD, (1,))) == 1


def test_wide_dtype_is_not_stored_for_a_narrow_reduce(g: Graphs) -> None:
    s = g.buffer(4, 6).r(Ops.ADD, (1,)).cast(dtypes.int64)
    items, _ = create_schedule(UOp.sink(s.expand((4, 3)) + s.expand((4, 3)).flip((True, False))))
    assert items[0].bufs[0].dtype is dtypes.int32


def test_kernels_have_a_bounded_number_of_buffers(g: Graphs) -> None:
    total = g.buffer(4)
    for _ in range(300):
        total = total + g.buffer(4)
    items, _ = create_schedule(UOp.sink(total))
    assert max(len(item.bufs) for item in items) <= 121
    assert g.kernels(total) == len(items)
    with Context(MAX_BUFFERS=10):
        items, _ = create_schedule(UOp.sink(total))
        assert max(len(item.bufs) for item in items) <= 11
        assert g.kernels(total) == len(items)


def test_shifted_sums_do_not_explode(g: Graphs) -> None:
    x = g.buffer(64)
    for n in range(12):
        x = x + x.pad(((2 ** (n % 5), 0),)).shrink(((0, 64),))
    items, _ = create_schedule(UOp.sink(x))
    assert sum(len(item.ast.toposort()) for item in items) < 1000
    assert g.kernels(x) == len(items)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_levels_change_the_number_of_kernels_only(g: Graphs, level: int) -> None:
    a, b = g.buffer(4, 8, dtype=F), g.buffer(8, 6, dtype=F)
    out = matmul(a, b)
    with Context(OPT=level):
        count = g.kernels((out + full(out, 1)).maximum(full(out, 0)))
    assert count == {0: 4, 1: 2, 2: 1, 3: 1}[level]


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MAX, Ops.MUL])
def test_reduce_of_expanded_needs_no_loop(g: Graphs, op: Ops) -> None:
    out = g.buffer(4, 1).expand((4, 5)).r(op, (1,))
    items, _ = create_schedule(UOp.sink(out.contiguous()))
    assert all(u.op is not Ops.REDUCE_AXIS for item in items for u in item.ast.toposort())
    assert g.kernels(out.contiguous()) <= 1


def test_factor_that_a_narrow_float_cannot_hold_stays_a_sum(g: Graphs) -> None:
    out = g.buffer(1, 1, dtype=dtypes.float16).expand((1, 70_001)).r(Ops.ADD, (1,))
    items, _ = create_schedule(UOp.sink(out.contiguous()))
    assert any(u.op is Ops.REDUCE_AXIS for item in items for u in item.ast.toposort())


def test_reduce_of_padded_is_not_folded(g: Graphs) -> None:
    x = g.buffer(1).pad(((1, 3),)).reshape((5, 1)).expand((5, 4))
    assert g.kernels(x.r(Ops.MAX, (0, 1))) == 1
    assert g.kernels(x.r(Ops.ADD, (0, 1))) == 1


def test_long_reduce_is_split(g: Graphs) -> None:
    x = g.buffer(512, 2)
    with Context(SPLIT_REDUCE=128):
        assert g.kernels(x.r(Ops.ADD, (0,))) == 2
        assert g.kernels(x.r(Ops.ADD, (0, 1)) + full(x, 1).r(Ops.ADD, (0, 1))) == 2
        assert g.kernels(x.permute((1, 0)).r(Ops.MAX, (1,))) == 2
    with Context(SPLIT_REDUCE=0):
        assert g.kernels(x.r(Ops.ADD, (0,))) == 1


def test_parts_of_a_split_reduce_are_limited(g: Graphs) -> None:
    x = g.buffer(512, 2)
    for parts, count in ((8, 8), (100, 64), (256, 256)):
        with Context(SPLIT_REDUCE=512, SPLIT_REDUCE_PARTS=parts):
            items, _ = create_schedule(UOp.sink(x.r(Ops.ADD, (0,))))
            assert items[0].bufs[0].size == 2 * count
    with Context(SPLIT_REDUCE=512, SPLIT_REDUCE_SIZE=15):
        assert g.kernels(x.r(Ops.ADD, (0,))) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 7, 32, 1000])
def test_power_by_squaring(n: int) -> None:
    g = Graphs()
    assert g.kernels(g.buffer(3, 1).expand((3, n)).r(Ops.MUL, (1,)).contiguous()) <= 1


def test_conv_is_one_kernel(g: Graphs) -> None:
    x, w = g.buffer(2, 3, 6), g.buffer(4, 3, 3)
    windows = x.pad(((0, 0), (0, 0), (1, 1)))  # (2, 3, 8): windows of 3 by stride tricks
    parts = [windows.shrink(((0, 2), (0, 3), (k, k + 6))) for k in range(3)]
    total = None
    for k, part in enumerate(parts):
        tap = w.shrink(((0, 4), (0, 3), (k, k + 1))).reshape((1, 4, 3, 1)).expand((2, 4, 3, 6))
        term = part.reshape((2, 1, 3, 6)).expand((2, 4, 3, 6)) * tap
        total = term if total is None else total + term
    assert total is not None
    assert (
        g.kernels(total.r(Ops.ADD, (2,)).maximum(UOp.full((2, 4, 1, 6), 0, dtypes.int32, "CPU")))
        == 1
    )


def test_flags_switch_single_decisions_off(g: Graphs) -> None:
    a, b = g.buffer(4, 8, dtype=F), g.buffer(8, 6, dtype=F)
    with Context(DONT_GROUP_REDUCES=1):
        assert g.kernels(-matmul(a, b)) == 2
    costly = g.buffer(4, 1, dtype=F).exp2().log2().expand((4, 6))
    with Context(DONT_REALIZE_EXPAND=1):
        assert g.kernels(costly + g.buffer(4, 6, dtype=F)) == 1


def test_reduces_of_one_op_merge_through_reshapes_and_permutations(g: Graphs) -> None:
    x = g.buffer(4, 6, 5)
    rows = x.r(Ops.ADD, (2,)).reshape((4, 6))
    assert g.kernels(rows.reshape((3, 8)).r(Ops.ADD, (1,))) == 1
    assert g.kernels(rows.permute((1, 0)).r(Ops.ADD, (1,))) == 1
    assert g.kernels(rows.permute((1, 0)).reshape((2, 12)).r(Ops.ADD, (1,)).r(Ops.ADD, (0,))) == 1
    assert g.kernels(rows.permute((1, 0)).r(Ops.MAX, (1,))) == 2
    assert g.kernels(rows.shrink(((0, 2), (0, 6))).r(Ops.ADD, (1,))) == 1


def test_sums_among_padding_merge_where_that_is_asked_for(g: Graphs) -> None:
    rows = g.buffer(4, 6, 5).r(Ops.ADD, (2,)).reshape((4, 6))
    padded = rows.pad(((1, 0), (0, 2))).r(Ops.ADD, (1,))
    top = g.buffer(4, 6, 5).r(Ops.MAX, (2,)).reshape((4, 6)).pad(((1, 0), (0, 2))).r(Ops.MAX, (1,))
    repeated = rows.reshape((4, 6, 1)).expand((4, 6, 2)).permute((0, 2, 1)).r(Ops.ADD, (2,))
    assert g.kernels(padded) == 2
    with Context(FUSE_CONV_BW=1):
        assert (g.kernels(padded), g.kernels(top)) == (1, 2)
        assert g.kernels(repeated + g.buffer(4, 2, 1)) == 2


def test_shared_reduce_is_computed_once(g: Graphs) -> None:
    x = g.buffer(4, 6, 5)
    rows = x.r(Ops.ADD, (2,)).reshape((4, 6))
    total = rows.permute((1, 0)).r(Ops.ADD, (1,)).reshape((6,))
    items, _ = create_schedule(UOp.sink(rows, total))
    assert [b.size for b in items[1].bufs] == [6, 24]


@pytest.mark.parametrize(
    "same",
    [
        lambda x, f: x - full(x, 0),
        lambda x, f: x // full(x, 1),
        lambda x, f: x.neg().neg(),
        lambda x, f: (x ^ full(x, -1)) ^ full(x, -1),
        lambda x, f: x | full(x, 0),
        lambda x, f: x.maximum(x),
        lambda x, f: f.neg().neg(),
        lambda x, f: f - full(f, 0),
        lambda x, f: f * full(f, 1).recip(),
        lambda x, f: (full(x, 1) < full(x, 2)).where(x, x + x),
    ],
)
def test_identities_need_no_kernel(g: Graphs, same: Callable[[UOp, UOp], UOp]) -> None:
    x, f = g.buffer(4), g.buffer(4, dtype=F)
    assert create_schedule(UOp.sink(same(x, f)))[0] == []


def test_float_zero_is_added_and_multiplied(g: Graphs) -> None:
    """x + 0.0 is 0.0 for -0.0, and x * 0.0 is NaN for infinity."""
    f = g.buffer(4, dtype=F)
    assert g.kernels(f + full(f, 0)) == 1
    assert g.kernels((f * full(f, 0)).contiguous()) == 1


def test_constants_from_identities(g: Graphs) -> None:
    x, y = g.buffer(4), g.buffer(4)
    items, _ = create_schedule(UOp.sink(y + (x ^ x) + (x % full(x, 1))))
    assert items == []


def test_cheap_channel_values_are_computed_where_they_are_repeated(g: Graphs) -> None:
    """The factor of a batch norm that is not training: no kernel of its own."""
    x = g.buffer(2, 3, 8, dtype=F)
    var, scale = g.buffer(1, 3, 1, dtype=F), g.buffer(1, 3, 1, dtype=F)
    factor = (var + full(var, 1)).sqrt().recip() * scale
    assert g.kernels(x * factor.expand((2, 3, 8))) == 1


def test_update_is_stored_by_the_kernel_of_its_gradient(g: Graphs) -> None:
    w, x = g.buffer(4, 3, dtype=F), g.buffer(5, 4, 3, dtype=F)
    grad = x.r(Ops.ADD, (0,)).contiguous()
    step = w.assign(w + grad.reshape((4, 3)) * full(w, -1))
    items, _ = create_schedule(UOp.sink(grad, step))
    assert [len(item.ast.src) for item in items] == [2]


def test_update_of_what_the_gradient_reads_elsewhere_is_another_kernel(g: Graphs) -> None:
    w, x = g.buffer(4, dtype=F), g.buffer(4, 4, dtype=F)
    grad = (x * w.reshape((1, 4)).expand((4, 4))).r(Ops.ADD, (1,)).contiguous()
    step = w.assign(w + grad.reshape((4,)) * full(w, -1))
    items, _ = create_schedule(UOp.sink(grad, step))
    assert [len(item.ast.src) for item in items] == [1, 1]


MOVED: dict[str, Callable[[UOp], UOp]] = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.permute((1, 0)),
    "flipped": lambda x: x.flip((True, False)),
    "reshaped": lambda x: x.reshape((40, 40)),
    "shrunk": lambda x: x.shrink(((1, 3), (0, 100))),
    "padded": lambda x: x.pad(((1, 1), (0, 2))),
}


@pytest.mark.parametrize("moved", MOVED.values(), ids=MOVED)
@pytest.mark.parametrize("used", [False, True], ids=["an output", "with another"])
def test_what_repeated_values_become_is_computed_once(
    g: Graphs, moved: Callable[[UOp], UOp], used: bool
) -> None:
    """Steps that padding passes, in the reduce's kernel, which stores what is narrower."""
    total = g.buffer(4, 6, dtype=F).r(Ops.ADD, (1,)).reshape((4, 1)).expand((4, 400))
    out = moved(total)
    out = (out.sqrt() * full(out, 3)).cast(dtypes.float16)
    want = of_graph(out, g.memory)
    root = out + g.buffer(*out.shaped, dtype=dtypes.float16) if used else out
    items, _ = create_schedule(UOp.sink(root))
    first, second = (item.ast.toposort() for item in items)
    assert {Ops.SQRT, Ops.CAST} <= {u.op for u in first}
    assert not any(u.op in (Ops.SQRT, Ops.CAST, Ops.MUL) for u in second)
    assert (items[0].bufs[0].dtype, items[0].bufs[0].size) == (dtypes.float16, 4)
    (found,), _ = realize(out, memory=dict(g.memory))
    np.testing.assert_array_equal(found, want)


def test_padding_of_repeated_values_is_what_the_operation_makes_of_zero(g: Graphs) -> None:
    total = g.buffer(4, 6, dtype=F).r(Ops.ADD, (1,)).reshape((4, 1)).expand((4, 8))
    out = total.pad(((1, 1), (0, 0))).exp2()
    (found,), _ = realize(out, memory=dict(g.memory))
    assert found.shape == (6, 8)
    np.testing.assert_array_equal(found[[0, -1]], 1)


def test_what_needs_more_memory_stays_behind_the_repeat(g: Graphs) -> None:
    """A wider dtype, or a view that reads less than there is."""
    total = g.buffer(4, 6, dtype=F).r(Ops.ADD, (1,)).reshape((4, 1)).expand((4, 8))
    items, _ = create_schedule(UOp.sink(total.cast(dtypes.float64)))
    assert items[0].bufs[0].dtype is F
    sums = g.buffer(400, 6, dtype=F).r(Ops.ADD, (1,)).reshape((400, 1))
    few = sums.shrink(((0, 4), (0, 1))).expand((4, 8)).exp2()
    items, _ = create_schedule(UOp.sink(few))
    assert all(u.op is not Ops.EXP2 for u in items[0].ast.toposort())
