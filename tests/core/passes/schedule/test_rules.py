"""Every rule of the scheduler fires on the graph it is for, and keeps that graph's value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core.dtype import DType, dtypes, truncate
from core.helpers import Context
from core.passes.schedule import create_schedule
from core.passes.schedule.copies import storage
from core.passes.schedule.grouping.fuse import marks, unmarking
from core.passes.schedule.grouping.merge import merging
from core.passes.schedule.grouping.storing import storing
from core.passes.schedule.kernels.kernel import arguments, parts
from core.passes.schedule.kernels.kernelize import kernelizing
from core.passes.schedule.kernels.push_views import pushing
from core.passes.schedule.kernels.snapshots import snapshotting
from core.passes.schedule.kernels.views import view_algebra
from core.passes.schedule.simplify.consts import folding
from core.passes.schedule.simplify.reduces import merging_reduces, reducing, splitting
from core.passes.schedule.simplify.repeats import repeats
from core.passes.schedule.simplify.simplify_tensors import simplification
from core.passes.schedule.unread import storing_less
from core.uop import Ops, PatternMatcher, UOp, graph_rewrite
from core.uop.call.kernelcall import KernelCall, called_kernel
from core.uop.engine.observe import recording
from core.uop.kernelinfo import KernelInfo
from tests.core.passes.schedule.evaluate import Graphs, of_graph, realize, run

MATCHERS: list[PatternMatcher] = [
    simplification, view_algebra, folding, storage, reducing, repeats, merging_reduces, splitting,
    marks, unmarking, storing,
    arguments, parts, pushing, kernelizing, snapshotting, merging,
    storing_less,
]  # fmt: skip
INT = dtypes.int32
PAIR = (2, 3)


def full(value: int, shape: tuple[int, ...] = PAIR) -> UOp:
    return UOp.full(shape, value, INT, "CPU")


def doubled(x: UOp) -> UOp:
    """2 x, by a kernel written by hand."""
    pointers = [UOp(Ops.DEFINE_GLOBAL, INT.ptr(x.size), (), k) for k in range(2)]
    i = UOp.range(x.size, 0)
    value = pointers[1].index(i).load() * 2
    ast = UOp.sink(pointers[0].index(i).store(value).end(i), arg=KernelInfo(opts=()))
    call = KernelCall(ast, ((x.shaped, INT),))
    return called_kernel(call, "CPU", [x.contiguous()])[0]


IMAGE = dtypes.imagef((1, 3, 4))


def kept(x: UOp) -> UOp:
    """Floats of x, kept in an image."""
    floats = x.cast(dtypes.float32).pad(((0, 2), (0, 0)))
    return floats.cast(IMAGE).cast(dtypes.float32)


CASES: dict[str, Callable[[UOp, UOp, UOp], UOp]] = {
    # x and y have shape (2, 3), e has shape (0, 3)
    "forget_gradient_marks": lambda x, y, e: x.detach() + y,
    "fuse_before_view": lambda x, y, e: (x + y).permute((1, 0)).fuse().permute((1, 0)) * y,
    "fuse_of_no_computation": lambda x, y, e: x.fuse() + (x + y).fuse().fuse(),
    "note_fused": lambda x, y, e: (x.r(Ops.ADD, (1,)).expand(PAIR) + y).fuse(),
    "push_contiguous": lambda x, y, e: x.permute((1, 0)).contiguous() + y.permute((1, 0)),
    "forget_derivative": lambda x, y, e: (x * x).derivative((x, x + x)) + y,
    "empty_result": lambda x, y, e: e.permute((1, 0)) + e.permute((1, 0)),
    "pad_of_nothing": lambda x, y, e: e.pad(((1, 1), (0, 0))) + x,
    "reduce_of_nothing": lambda x, y, e: e.r(Ops.MAX, (0,)).expand(PAIR) + x,
    "copy_to_same_device": lambda x, y, e: x.copy_to_device("CPU") + y,
    "copy_of_constant": lambda x, y, e: full(3).copy_to_device("B") * x.copy_to_device("B"),
    "contiguous_of_stored": lambda x, y, e: (x + y).contiguous().contiguous() + y,
    "assign_twice": lambda x, y, e: x.assign(x.assign(y + y)),
    "assign_itself": lambda x, y, e: x.assign(x),
    "assign_to_value": lambda x, y, e: (x + x).assign(y + y),
    "compute_before_repeat": lambda x, y, e: (
        x.r(Ops.ADD, (0,)).expand(PAIR).cast(dtypes.int8).cast(INT) + y
    ),
    "output_before_repeat": lambda x, y, e: x.r(Ops.ADD, (0,)).expand(PAIR) * full(3),
    "merge_reduces": lambda x, y, e: x.r(Ops.ADD, (0,)).r(Ops.ADD, (1,)),
    "merge_viewed_reduces": lambda x, y, e: (
        x.reshape((2, 3, 1))
        .expand((2, 3, 4))
        .pad(((0, 0), (0, 0), (1, 0)))
        .r(Ops.ADD, (2,))
        .reshape((2, 3))
        .permute((1, 0))
        .r(Ops.ADD, (0,))
    ),
    "movement_to_view": lambda x, y, e: x.permute((1, 0)) + y.reshape((3, 2)),
    "merge_views": lambda x, y, e: x.permute((1, 0)).reshape(PAIR) + y,
    "drop_view": lambda x, y, e: (x + y).permute((1, 0)).permute((1, 0)) * y,
    "view_of_padding": lambda x, y, e: (x + y).pad(((0, 2), (0, 0))).shrink(((2, 4), (0, 3))) + y,
    "fold_shaped_constants": lambda x, y, e: x * (full(3) + full(4)),
    "fold_identity": lambda x, y, e: (x + full(0)) * (y * full(1)),
    "known_where": lambda x, y, e: (full(1) < full(2)).where(x, y) + y,
    "copy_of_view": lambda x, y, e: x.permute((1, 0)).copy_to_device("B"),
    "contiguous_view": lambda x, y, e: x.contiguous() + y,
    "contiguous_of_disk": lambda x, y, e: (
        disk().shrink(((4, 7),)).contiguous().copy_to_device("CPU")
    ),
    "bitcast_memory": lambda x, y, e: (x + y).bitcast(dtypes.int16).contiguous(),
    "store_outputs": lambda x, y, e: (x + y).shrink(((0, 1), (0, 3))),
    "reduce_of_one": lambda x, y, e: x.reshape((2, 3, 1)).r(Ops.ADD, (1, 2)).reshape((2,)),
    "reduce_of_expanded": lambda x, y, e: x.reshape((2, 3, 1)).expand((2, 3, 4)).r(Ops.ADD, (2,)),
    "split_reduce": lambda x, y, e: x.reshape((6, 1)).pad(((0, 90), (0, 0))).r(Ops.ADD, (0,)),
    "store_group": lambda x, y, e: x.r(Ops.ADD, (1,)).expand(PAIR) + y,
    "load_memory": lambda x, y, e: x + y,
    "forget_device": lambda x, y, e: x + full(3),
    "bind_variable": lambda x, y, e: (
        x * UOp.variable("n", 1, 9).bind(4).reshape((1, 1)).expand(PAIR)
    ),
    "view_of_load": lambda x, y, e: x.permute((1, 0)).contiguous(),
    "view_before_elementwise": lambda x, y, e: (x + y).permute((1, 0)).contiguous(),
    "view_before_reduce": lambda x, y, e: (
        (x * y)
        .reshape((2, 1, 3))
        .pad(((0, 0), (0, 1), (0, 0)))
        .r(Ops.ADD, (2,))
        .reshape((2, 2))
        .permute((1, 0))
        .contiguous()
    ),
    "plain_constants": lambda x, y, e: x + full(3),
    "masked_zero": lambda x, y, e: (
        (x * full(2)).pad(((1, 0), (0, 0))) + full(0).pad(((1, 0), (0, 0))).contiguous()
    ),
    "store_contiguous": lambda x, y, e: x + y,
    "store_assign": lambda x, y, e: x.assign(y + y),
    "store_copy": lambda x, y, e: x.copy_to_device("B"),
    "store_call": lambda x, y, e: doubled(x) + y,
    "contiguous_after": lambda x, y, e: (
        (total := x.r(Ops.ADD, (1,))) + total.reshape((1, 2)).contiguous().reshape((2, 1))
    ),
    "read_snapshot": lambda x, y, e: x.assign(y + y) + x.permute((1, 0)).reshape(PAIR),
    "store_part": lambda x, y, e: x.assign(
        UOp.full((1, 3), True, dtypes.bool, "CPU")
        .pad(((1, 0), (0, 0)))
        .where((y + y).shrink(((0, 1), (0, 3))).pad(((1, 0), (0, 0))), x)
    ),
    "no_image": lambda x, y, e: (
        x.cast(dtypes.float32).cast(IMAGE).cast(dtypes.float32) + y.cast(dtypes.float32)
    ),
    "same_image": lambda x, y, e: kept(x).cast(IMAGE).cast(dtypes.float32) + kept(y),
    "stored_image": lambda x, y, e: kept(x) + kept(y),
    "load_image": lambda x, y, e: kept(x + y).permute((1, 0)).contiguous(),
    "read_before_view": lambda x, y, e: kept(x) * kept(y),
    "store_as_image": lambda x, y, e: kept(x).r(Ops.ADD, (0,)),
    "merge_kernels": lambda x, y, e: y.assign(x.assign(x + y) * y),
    "store_what_is_read": lambda x, y, e: (x + y).length(0, UOp.variable("n", 0, 2).bind(2)),
}


def disk() -> UOp:
    return UOp.new_buffer("DISK:x", 8, INT)


def test_every_rule_has_a_case() -> None:
    rules = {rule.name for matcher in MATCHERS for rule in matcher.rules}
    assert rules == {*CASES, "keep_output"}


def test_an_output_that_is_overwritten_is_copied() -> None:
    g = Graphs(7)
    x, y = g.buffer(*PAIR), g.buffer(*PAIR)
    first = x.assign(x + y)
    roots = first.assign(first * y), first, (x + full(0)).reshape((6,))
    want = [of_graph(root, g.memory).copy() for root in roots]
    with recording() as steps:
        values, items = realize(*roots, memory=g.memory)
    assert "keep_output" in steps.rules
    assert len(items) == 4
    for value, wanted in zip(values, want, strict=True):
        np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize("name", CASES)
def test_rule_fires_and_keeps_the_value(name: str) -> None:
    g = Graphs(7)
    root = CASES[name](g.buffer(*PAIR), g.buffer(*PAIR), g.buffer(0, 3))
    for u in root.toposort():
        if u.op is Ops.BUFFER and u not in g.memory:
            g.memory[u] = np.arange(u.size, dtype=np.int32)
    if not any(u.op is Ops.BITCAST for u in root.toposort()):
        want = of_graph(root, g.memory).copy()
    else:
        inside = next(u.src[0] for u in root.toposort() if u.op is Ops.BITCAST)
        want = np.ascontiguousarray(of_graph(inside, g.memory)).view(np.int16)
    asked = int(name == "push_contiguous")
    with recording() as steps, Context(SPLIT_REDUCE=64, PUSH_CONTIGUOUS=asked):
        items, realized = create_schedule(UOp.sink(root))
    assert name in steps.rules
    run(items, g.memory)
    if root.size:
        np.testing.assert_array_equal(of_graph(realized[root], g.memory), want)


def test_padding_is_positive_zero() -> None:
    """-x and x * -1 give -0.0 for 0.0, so they are not computed on padding."""
    g = Graphs()
    x = g.buffer(3, dtype=dtypes.float32)
    g.memory[x.base][:] = 1.0, 0.0, -2.0
    for negated in (x.neg(), x * x.const_like(-1.0)):
        found, _ = realize(negated.pad(((1, 1),)), memory=dict(g.memory))
        assert np.signbit(found[0]).tolist() == [False, True, True, False, False]


@pytest.mark.parametrize("dtype", [dtypes.float64, dtypes.float16, dtypes.bool, dtypes.uint8])
def test_padding_alone_is_a_zero_of_its_dtype(dtype: DType) -> None:
    x = Graphs(1).buffer(2, 3).cast(dtype).pad(((0, 2), (0, 0))).shrink(((2, 4), (0, 3)))
    found = graph_rewrite(UOp.sink(x), view_algebra, name="views")
    (zero,) = [u for u in found.toposort() if u.op is Ops.CONST]
    assert type(zero.arg) is type(truncate(0, dtype))
