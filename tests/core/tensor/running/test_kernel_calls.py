"""Kernels written by hand as nodes of the lazy graph: their values on every device, when they run
and how often, and how they mix with everything else that a Tensor does."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from core import Context, Device, Tensor, TinyJit, Variable, dtypes
from core.compile import compile_kernel
from core.dtype import AddrSpace
from core.kernelname import kernel_name
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.target import Target, targets
from core.uop.call.kernelcall import Parameter
from core.uop.kernelinfo import KernelInfo
from core.uop.kernels import is_lowered, output_count
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.tensor.running.written import (
    axpy,
    call_axpy,
    call_matmul,
    call_max,
    first_rows,
    flat,
    matmul,
    row_sum,
    through_shared,
    transposed,
)

Array = np.ndarray[Any, Any]
DEVICES = ("CPU", "REFERENCE", "PTX:EMU", "AMD:EMU")
EMULATED = ("REFERENCE", "PTX:EMU", "AMD:EMU:GFX1100")
X = np.random.default_rng(5).standard_normal((6, 8), dtype=np.float32)
Y = np.random.default_rng(6).standard_normal((8, 5), dtype=np.float32)


def close(got: Tensor, want: Array) -> None:
    found = got.numpy()
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)


def ran(*tensors: Tensor) -> list[ScheduleItem]:
    """The kernels that realizing runs."""
    with capturing() as steps:
        Tensor.realize(*tensors)
    return [s for s in steps if isinstance(s, ScheduleItem) and s.ast.op is Ops.SINK]


def written(items: list[ScheduleItem]) -> int:
    """How many of them are written by hand."""
    return sum(is_lowered(item.ast) for item in items)


# values


@pytest.mark.parametrize("device", DEVICES)
def test_values(device: str) -> None:
    with Context(SPEC=1):
        x, y = Tensor(X, device=device), Tensor(Y, device=device)
        close(call_axpy(x.reshape(48), (x + 1).reshape(48)), (3 * X + 1).reshape(48))
        sums = Tensor.call_kernel(row_sum, x, outputs=((6,), dtypes.float32))
        close(sums, X.sum(1))
        close(call_matmul(x, y), X @ Y)
        close(Tensor.call_kernel(transposed, x, outputs=((8, 6), "float32")), X.T)
        top, where = call_max(x)
        close(top, X.max(1))
        close(where, X.argmax(1).astype(np.int32))


@pytest.mark.parametrize("device", EMULATED)
def test_threads_share_memory(device: str) -> None:
    x = Tensor(X, device=device)
    close(Tensor.call_kernel(through_shared, x, outputs=((6, 8), "float32")), X[:, ::-1])


@pytest.mark.parametrize("device", DEVICES)
def test_one_kernel_for_all_values_of_a_variable(device: str) -> None:
    x, n = Tensor(X, device=device), Variable("n", 1, 6)
    kernels: set[UOp] = set()
    for value in (1, 4, 6):
        given: dict[str, Any] = {"outputs": ((8,), "float32"), "variables": [n.bind(value)]}
        (item,) = Tensor.call_kernel(first_rows, x, **given).schedule()
        assert item.variables == {"n": value}
        kernels.add(item.ast)
        close(Tensor.call_kernel(first_rows, x, **given), X[:value].sum(0))
    assert len(kernels) == 1


def test_a_variable_that_is_symbolic_is_optimized_around() -> None:
    def build(target: Target, out: Parameter, x: Parameter, n: UOp) -> UOp:
        return first_rows(target, out, x, n).replace(arg=KernelInfo("free"))

    n = Variable("n", 1, 6)
    for device in ("CPU", "PTX:EMU"):
        x = Tensor(X, device=device)
        given: dict[str, Any] = {"outputs": ((8,), "float32"), "variables": [n.bind(3)]}
        close(Tensor.call_kernel(build, x, **given), X[:3].sum(0))


def triangle(target: Target, out: Parameter, x: Parameter) -> UOp:
    """out[i] = sum of x[i, j] over j <= i: a loop as long as another one says."""
    i = UOp.range(x.shape[0], 0)
    j = UOp.range(i + 1, 1)
    total = UOp(Ops.DEFINE_REG, dtypes.float32.ptr(1, AddrSpace.REG), (), 0).after(i)
    start = total.after(total.index(0).store(UOp.const(dtypes.float32, 0.0)))
    each = start.after(j)
    step = each.index(0).store(each.index(0).load() + x[i, j].load()).end(j)
    return UOp.sink(out[i].store(start.after(step).index(0).load()).end(i))


@pytest.mark.parametrize("device", DEVICES)
def test_loops_run_as_they_are_written(device: str) -> None:
    x = Tensor(X, device=device)
    close(Tensor.call_kernel(triangle, x, outputs=((6,), "float32")), np.tril(X).sum(1))


def turned(target: Target, out: Parameter, x: Parameter) -> UOp:
    """out = x; then, three times, each element plus the next one, in order, and all times 2: loops
    in a loop, each after the one before, in memory that a first loop has filled."""
    n = out.size
    i, turn, each, all_of = UOp.range(n, 0), UOp.range(3, 1), UOp.range(n, 2), UOp.range(n, 3)
    memory = out.pointer.after(out[i].store(x[i].load()).end(i)).after(turn)
    here = memory.after(each)
    total = here.index(each).load() + here.index((each + 1) % n).load()
    added = here.index(each).store(total).end(each)
    place = memory.after(added).index(all_of)
    return UOp.sink(place.store(place.load() * 2.0).end(all_of).end(turn))


@pytest.mark.parametrize("device", DEVICES)
def test_loops_that_wait_for_several_things(device: str) -> None:
    want = X[0].copy()
    for _ in range(3):
        for i in range(len(want)):
            want[i] += want[(i + 1) % len(want)]
        want *= 2
    x = Tensor(X[0], device=device)
    close(Tensor.call_kernel(turned, x, outputs=((8,), "float32")), want)


def test_without_inputs() -> None:
    def count(target: Target, out: Parameter) -> UOp:
        i, loops = flat(target, out.size)
        return UOp.sink(out[i].store(i.cast(dtypes.float32) * 0.5).end(*loops))

    for device in DEVICES:
        got = Tensor.call_kernel(count, outputs=((6,), "float32"), device=device)
        assert got.device == device
        close(got, np.arange(6, dtype=np.float32) / 2)
    assert Tensor.call_kernel(count, outputs=((6,), "float32")).device == Device.DEFAULT


def test_null_compiles_and_runs_nothing() -> None:
    x = Tensor.empty(1 << 20, device="NULL")
    assert call_axpy(x, x).tolist() == [0.0] * (1 << 20)


VALUES: list[Callable[[Tensor], Tensor]] = [
    lambda x: x.permute(1, 0),
    lambda x: x[1:4, ::2],
    lambda x: x.expand(6, 8),
    lambda x: x.pad(((1, 2), (0, 0))),
    lambda x: x.flip(0).reshape(4, 12),
    lambda x: x * 0 + 7,
    lambda x: Tensor.full(x.shape, 3.5),
    lambda x: Tensor(Variable("v", 1, 9).bind(4)).float().expand(3, 2),
    lambda x: x.sum(0),
    lambda x: x.int().bitcast("float32"),
    lambda x: x.half().float(),
    lambda x: Tensor.arange(12).float(),
    lambda x: Tensor(2.0),
]


@pytest.mark.parametrize("make", VALUES)
def test_any_value_can_be_an_input(make: Callable[[Tensor], Tensor]) -> None:
    x = make(Tensor(X))
    want = x.numpy()
    flat_x = x.reshape(x.numel())
    close(call_axpy(flat_x, flat_x + 1), (3 * want + 1).reshape(-1))


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "bool", "float64"])
def test_vectors_of_any_length_are_moved(device: str, dtype: str) -> None:
    for count in (1, 2, 3, 5, 6, 7, 8, 12):

        def build(target: Target, out: Parameter, x: Parameter) -> UOp:
            zero = UOp.const(dtypes.index, 0)
            value = x.pointer.index(zero).load(dtype=x.dtype.vec(x.size))
            return UOp.sink(out.pointer.index(zero).store(value))

        x = Tensor([k % 3 for k in range(count)], device=device).cast(dtype)
        assert Tensor.call_kernel(build, x, outputs=(x.shape, dtype)).tolist() == x.tolist()


# when it runs


def test_nothing_runs_before_a_value_is_needed_and_then_once() -> None:
    x = Tensor(X)
    with capturing() as steps:
        y = call_axpy(x[0], x[1])
    assert not steps
    items = ran(y)
    assert written(items) == 1
    assert not ran(y)
    assert not ran(y.reshape(2, 4), y.flip(0))
    assert not is_lowered(ran(y + 1)[0].ast)


def test_it_runs_once_for_many_users() -> None:
    x = Tensor(X)
    y = call_axpy(x[0], x[1])
    assert (
        written(ran(y * 2, y.sum(), y[2:4], y.cast("int32"), y.reshape(2, 4).T.contiguous())) == 1
    )


def test_it_runs_once_for_users_that_are_computed_one_after_the_other() -> None:
    def users() -> tuple[Tensor, Tensor, Tensor]:
        top, where = call_max(Tensor(X))
        return top * 2, where + 1, top.sum()

    first, second, third = users()
    assert [written(ran(t)) for t in (first, second, third)] == [1, 0, 0]
    close(second, X.argmax(1).astype(np.int32) + 1)


def test_equal_calls_are_one_node() -> None:
    x = Tensor(X)
    a, b = (call_axpy(x[0], x[1]) for _ in range(2))
    assert a.uop is b.uop
    other = call_axpy(x[0], x[1], backward=None)
    assert other.uop is not a.uop
    assert written(ran(a, b)) == 1


def test_an_output_that_nobody_wants_is_not_kept() -> None:
    top, _ = call_max(Tensor(X))
    items = ran(top)
    assert [output_count(item.ast) for item in items if is_lowered(item.ast)] == [2]
    assert len(items[-1].bufs) == 3


def test_a_kernel_is_built_once_per_target_and_shapes() -> None:
    built: list[tuple[str, tuple[int, ...]]] = []

    def build(target: Target, out: Parameter, x: Parameter, y: Parameter) -> UOp:
        built.append((target.name, out.shape))
        return axpy(target, out, x, y)

    for _ in range(2):
        for device, n in (("CPU", 4), ("CPU", 6), ("PTX:EMU", 4), ("PTX:EMU:SM_80", 4)):
            x = Tensor.ones(n, device=device).contiguous()
            Tensor.call_kernel(build, x, x, outputs=(x.shape, "float32"))
    host = Device["CPU"].target
    assert host is not None
    assert built == [(host.name, (4,)), (host.name, (6,)), ("sm_90", (4,)), ("sm_80", (4,))]


class Scale:
    """Builders that are methods and other objects."""

    def __init__(self, factor: float) -> None:
        self.factor, self.built = factor, 0

    def build(self, target: Target, out: Parameter, x: Parameter) -> UOp:
        self.built += 1
        i, loops = flat(target, out.size)
        return UOp.sink(out[i].store(x[i].load() * self.factor).end(*loops))

    __call__ = build


def test_builders_that_are_methods_objects_and_partial() -> None:
    x = Tensor(X[0])
    two, three = Scale(2.0), Scale(3.0)
    for scale in (two, three):
        for build in (scale.build, scale.build, scale, scale, partial(Scale.build, scale)):
            close(Tensor.call_kernel(build, x, outputs=((8,), "float32")), X[0] * scale.factor)
        assert scale.built == 3
    known = weakref.ref(two)
    del two, scale, build
    gc.collect()
    assert known() is None


def test_unrealized_inputs_are_computed_in_one_schedule() -> None:
    x = Tensor(X)
    items = ran(call_axpy((x * 2).sum(1), x.max(1)).exp())
    assert [is_lowered(item.ast) for item in items].count(True) == 1
    assert len(items) == 4


def test_memory_of_results_in_between_is_shared() -> None:
    y = Tensor(X[0])
    for _ in range(6):
        y = call_axpy(y, y)
    with Context(MEMORY_PLANNER=1):
        items = y.schedule()
    memory = {buf for item in items for buf in item.bufs}
    assert (len(items), len(memory)) == (6, 4)  # the input, the result, and two that alternate


def test_chained_kernels_have_no_copies_between() -> None:
    x = Tensor(X)
    y = call_matmul(call_matmul(x, Tensor(Y)), Tensor(Y.T.copy()))
    assert len(ran(y)) == 2
    close(y, X @ Y @ Y.T)


# with assignments, jit, devices


def test_it_reads_what_its_input_was() -> None:
    x = Tensor(X[0]).realize()
    y = call_axpy(x, x)
    x.assign(x + 100)
    z = call_axpy(x, x)
    close(y, 3 * X[0])
    close(z, 3 * (X[0] + 100))
    close(x, X[0] + 100)


def test_an_assignment_may_read_what_a_kernel_makes_of_its_target() -> None:
    x = Tensor(X[0]).realize()
    memory = x.uop.base
    for _ in range(2):
        x.assign(call_axpy(x, x.flip(0)))
        x.realize()
    once = 2 * X[0] + X[0][::-1]
    close(x, 2 * once + once[::-1])
    assert x.uop.base is memory


def test_assigning_to_its_result_changes_that_alone() -> None:
    x = Tensor(X[0])
    y = call_axpy(x, x)
    z = y + 0
    y[2:4] = 0
    want = 3 * X[0]
    close(z, want)
    want = want.copy()
    want[2:4] = 0
    close(y, want)
    y += 1
    close(y, want + 1)


def test_parts_that_were_assigned_to_are_inputs() -> None:
    x = Tensor(X).realize()
    x[1:3] = 5
    want = X.copy()
    want[1:3] = 5
    close(call_axpy(x.reshape(48), x.reshape(48)), 3 * want.reshape(48))
    close(call_axpy(x[2], x[3]), 2 * want[2] + want[3])


def test_a_jit_replays_it() -> None:
    @TinyJit
    def step(x: Tensor, y: Tensor) -> Tensor:
        top, where = call_max(call_matmul(x, y))
        return (top + where).realize()

    rng = np.random.default_rng(1)
    for _ in range(4):
        a, b = rng.standard_normal((3, 4)), rng.standard_normal((4, 5))
        a, b = a.astype(np.float32), b.astype(np.float32)
        got = step(Tensor(a), Tensor(b)).numpy()
        want = a @ b
        np.testing.assert_allclose(got, want.max(1) + want.argmax(1), rtol=1e-5)


def test_a_jit_replays_what_is_kept_in_place() -> None:
    total = Tensor.zeros(8).contiguous().realize()

    @TinyJit
    def step(x: Tensor) -> None:
        total.assign(call_axpy(x, total)).realize()

    want = np.zeros(8, np.float32)
    for k in range(5):
        step(Tensor(X[k]))
        want = want + 2 * X[k]
    close(total, want)


def test_results_move_between_devices() -> None:
    y = call_axpy(Tensor(X[0]), Tensor(X[1])).to("REFERENCE")
    z = call_axpy(y, y).to("CPU")
    close(z + 1, 3 * (2 * X[0] + X[1]) + 1)


def test_detached_and_without_gradients() -> None:
    x = Tensor(X[0], requires_grad=True)
    with Tensor.no_grad():
        y = call_axpy(x, x)
        assert not y.requires_grad
        z, w = y + 1, y * 2
    assert [written(ran(t)) for t in (z, w)] == [1, 0]
    close(call_axpy(x, x).detach() + 1, 3 * X[0] + 1)


def test_graphs_are_released() -> None:
    def run() -> None:
        call_axpy(Tensor(X[0]), Tensor(X[1])).sum().realize()

    run()
    gc.collect()
    before = sum(1 for o in gc.get_objects() if isinstance(o, UOp))
    for _ in range(5):
        run()
    gc.collect()
    assert sum(1 for o in gc.get_objects() if isinstance(o, UOp)) <= before


# names, estimates, lines


@pytest.mark.parametrize("name", ["sm_90", "gfx942", "x86-64"])
def test_sizes_and_estimates(name: str) -> None:
    target = targets[name]
    kinds = [((6, 5), dtypes.float32), ((6, 8), dtypes.float32), ((8, 5), dtypes.float32)]
    c, a, b = (Parameter(k, shape, dtype) for k, (shape, dtype) in enumerate(kinds))
    ast = matmul(target, c, a, b).replace(arg=KernelInfo("by_hand", ()))
    assert kernel_name(ast) == "by_hand"
    assert kernel_name(ast.replace(arg=None)).startswith("r_6_5_8_")
    program = compile_kernel(ast, target)
    assert program.flops == 2 * 6 * 5 * 8
    assert program.bytes == 4 * (6 * 8 + 8 * 5 + 6 * 5)
    sizes = ((6, 1, 1), (5, 1, 1)) if target.has_local else ((1, 1, 1), (1, 1, 1))
    assert (program.global_size, program.local_size) == sizes
    assert [(x.number, x.written) for x in program.arguments] == [(0, True), (1, False), (2, False)]
