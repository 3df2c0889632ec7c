"""Values on several devices, scheduled: which kernels and copies there are, and what they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from core import Context, Tensor, compile, nn
from core.errors import DeviceError, ScheduleError
from core.launch import run
from core.passes.schedule import ScheduleItem, create_schedule
from core.passes.schedule.multi import take_apart
from core.passes.schedule.multi.allreduce import RING_FROM
from core.passes.schedule.pipeline import run_passes
from core.realize import run_schedule
from core.runtime.buffer import buffer_of
from core.target import Target
from core.toolchain.program import Program
from core.uop import Ops, UOp
from core.uop.call.parts import parts_of
from core.uop.engine.observe import NullObserver, observing

DEVICES = ("CPU", "CPU:1", "CPU:2", "CPU:3")
TWO = DEVICES[:2]


def counts(items: Sequence[ScheduleItem]) -> tuple[int, int]:
    """(kernels, copies); each kernel uses memory of one device only."""
    copies = [item for item in items if item.ast.op is Ops.COPY]
    kernels = [item for item in items if item.ast.op is Ops.SINK]
    assert len(copies) + len(kernels) == len(items)
    assert all(len({b.device for b in item.bufs}) == 1 for item in kernels)
    assert all(len({b.device for b in item.bufs}) == 2 for item in copies)
    return len(kernels), len(copies)


def data(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def stored(x: Tensor) -> Tensor:
    return x.contiguous().realize()


def test_elementwise_is_a_kernel_on_each_device() -> None:
    x, y = (stored(Tensor(data(8, 6)).shard(TWO, 0)) for _ in range(2))
    items = (x * y + 1).exp().schedule()
    assert counts(items) == (2, 0)
    assert items[0].ast is items[1].ast, "compiled once for devices of a kind"


def test_a_reduce_along_another_axis_moves_nothing() -> None:
    x = stored(Tensor(data(8, 6)).shard(TWO, 0))
    alone = counts(stored(Tensor(data(4, 6))).softmax(1).schedule())
    assert counts(x.softmax(1).schedule()) == (2 * alone[0], 0)
    assert counts(x.sum(1).schedule()) == (2, 0)


def test_each_device_fuses_what_it_computes() -> None:
    x = stored(Tensor(data(8, 6)).shard(TWO, 0))
    assert counts(x.softmax(1).fuse().schedule()) == (2, 0)
    assert counts((x.softmax(1).fuse() * 2 + 1).schedule()) == (2, 0)
    fused = x.softmax(1).fuse()
    assert counts(fused.schedule((fused * 2).sum(1))) == (4, 0), "stored once, and read"
    # one kernel adds the part of the other device; what is copied there ends it
    whole = stored(Tensor(data(8, 6)).shard(TWO, 0))
    assert counts((x.softmax(1) * whole).sum(0).fuse().schedule())[1] == 2
    a = data(8, 6)
    want = np.exp(a) / np.exp(a).sum(1, keepdims=True)
    np.testing.assert_allclose(x.softmax(1).fuse().numpy(), want, rtol=1e-5)
    fused = (Tensor(a).shard(TWO, 0).softmax(1) * 2).sum(0).fuse()
    np.testing.assert_allclose(fused.numpy(), 2 * want.sum(0), rtol=1e-5)


def test_to_one_device() -> None:
    x = stored(Tensor(data(8, 6)).shard(TWO, 0))
    assert counts(x.to("CPU").schedule()) == (1, 1), (
        "the part elsewhere is copied, then both joined"
    )
    assert counts(x.to("CPU:3").schedule()) == (1, 2), "both are elsewhere"
    whole = stored(Tensor(data(8, 6)).shard(TWO))
    assert counts(whole.to("CPU:3").schedule()) == (0, 1), "one device's is enough"
    assert counts((whole.to("CPU:1") + 1).schedule()) == (1, 0), "CPU:1 has it"


def test_from_one_device() -> None:
    x = stored(Tensor(data(8, 6)))
    assert counts(x.shard(TWO, 0).schedule()) == (1, 1), "part 0 is copied within its device"
    assert counts(x.shard(TWO, 1).schedule()) == (2, 1), "part 1 is made contiguous before"
    assert counts(x.shard(DEVICES[1:3]).schedule()) == (0, 2)
    assert counts((x.shard(DEVICES[1:3], 0) + 1).schedule()) == (2, 2)


def test_cutting_what_all_have_moves_nothing() -> None:
    x = stored(Tensor(data(8, 6)).shard(TWO))
    assert counts((x.shard(TWO, 0) + 1).schedule()) == (2, 0)
    y = stored(Tensor(data(8, 6)).shard(TWO, 1))
    assert counts((y + x).schedule()) == (2, 0)
    assert counts((y.shard(TWO, 0) + 1).schedule()) == (2, 2), "a half of each part goes over"


def test_allreduce_of_two_by_copies() -> None:
    """A sum on each device, one copy each way, and the addition: in the kernel of the sum where
    that can wait for the other's."""
    x = stored(Tensor(data(8, 6)).shard(TWO, 0))
    for ring in (0, 1):
        with Context(RING=ring, OPT=2):
            assert counts(x.sum(0).schedule()) == (4, 2)
        with Context(RING=ring):
            assert counts(x.sum(0).schedule()) == (3, 2)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_allreduce_counts(count: int) -> None:
    devices = DEVICES[:count]
    x = stored(Tensor(data(count, count * 5)).shard(devices, 0)).reshape(count, 1, -1)
    parts = stored(x.expand(count, 2, count * 5))
    with Context(RING=0, OPT=2):
        # each device sums, and adds what it copies of all others
        assert counts(parts.sum((0, 1)).schedule()) == (2 * count, count * (count - 1))
    with Context(RING=2, OPT=2):
        # each of n chunks is copied n - 1 times to be added to, and n - 1 times when it is done;
        # a sum on each device; for each chunk its start and n - 1 additions; and all joined
        kernels = count + count * count + count
        assert counts(parts.sum((0, 1)).schedule()) == (kernels, 2 * count * (count - 1))


def test_the_ring_is_for_large_values_on_three_devices() -> None:
    def copies(count: int, elements: int) -> int:
        x = Tensor.empty(count, 2, elements, device=DEVICES[:count]).shard(DEVICES[:count], 0)
        return counts(stored_plan(x.sum((0, 1))))[1]

    def stored_plan(x: Tensor) -> list[ScheduleItem]:
        return create_schedule(UOp.sink(x.uop.src[0] if x.uop.op is Ops.RESHAPE else x.uop))[0]

    assert copies(3, RING_FROM - 1) == 6
    assert copies(3, RING_FROM) == 12
    assert copies(2, RING_FROM) == 2, "with two, both ways move as much"


@pytest.mark.parametrize("ring", [0, 2])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_allreduce_is_right_and_alike_everywhere(count: int, ring: int) -> None:
    for size in (1, 7):  # chunks of other lengths, too
        a = data(count, size, seed=size) + 2
        x = Tensor(a).shard(DEVICES[:count], 0)
        with Context(RING=ring):
            total, most, product = x.sum(0), x.max(0), x.prod(0)
            total.realize(most, product)
        for have, want in ((total, a.sum(0)), (most, a.max(0)), (product, a.prod(0))):
            np.testing.assert_allclose(have.numpy(), want, rtol=1e-5)
            bits = [buffer_of(p).as_array().view(np.uint32) for p in parts_of(have.uop.base)]
            assert all((other == bits[0]).all() for other in bits)


@pytest.mark.parametrize("ring", [0, 1, 2])
def test_of_a_sum_that_is_cut_again_each_device_copies_its_share(ring: int) -> None:
    devices = DEVICES[:3]
    a = data(6, 2, 9, seed=4)
    x = stored(Tensor(a).shard(devices, 0))
    with Context(RING=ring):
        for make, axis in (
            (lambda s: s, 1),
            (lambda s: s.reshape(3, 6), 0),
            (lambda s: s.transpose(0, 1).flip(0), 0),
        ):
            items = make(x.sum(0)).shard(devices, axis).schedule()
            copies = [item.bufs[0].size for item in items if item.ast.op is Ops.COPY]
            assert copies == [a[0].size // 3] * 6
            have = make(x.sum(0)).shard(devices, axis).numpy()
            np.testing.assert_allclose(have, make(Tensor(a).sum(0)).numpy(), rtol=1e-5)
        # what all of it is for is copied once, whatever is cut of it besides
        total = x.max(0)
        both = total.shard(devices, 1) + total.expand(3, 2, 9).sum(0)
        np.testing.assert_allclose(both.numpy(), a.max(0) * 4, rtol=1e-5)


def test_gradients_of_cut_weights_are_copied_in_shares() -> None:
    w = stored(Tensor(data(8, 6)).shard(TWO, 0)).requires_grad_()
    x = stored(Tensor(data(4, 6)).shard(TWO, 0))
    (x @ w.shard(TWO).T).square().sum().backward()
    assert w.grad is not None
    items = w.grad.schedule()
    run_schedule(items)
    copies = [item.bufs[0].size for item in items if item.ast.op is Ops.COPY]
    assert copies == [24] * 4, "each gets the half of w that it lacks, and of the gradient its own"
    v = Tensor(data(8, 6)).requires_grad_()
    (Tensor(data(4, 6)) @ v.T).square().sum().backward()
    assert v.grad is not None
    np.testing.assert_allclose(w.grad.numpy(), v.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_replicated_weights_stay_alike() -> None:
    """One row on each device: nothing is summed before rows are combined, so that a product could
    be fused with the addition on one device and not on the other."""
    x, y = (Tensor(data(2, 999, seed=n)).shard(TWO, 0) for n in (1, 2))
    w = stored(Tensor(data(999, seed=3)).shard(TWO))
    w.assign(w - 0.1 * (x * y).sum(0)).realize()
    first, second = (buffer_of(p).as_array() for p in parts_of(w.uop.base))
    assert (first.view(np.uint32) == second.view(np.uint32)).all()


def test_counts_of_a_training_step() -> None:
    """Each device runs what one alone would, and for each weight one copy comes to it, with the
    kernel that starts the exchange."""
    with Tensor.train():

        def step(devices: tuple[str, ...] | str) -> list[ScheduleItem]:
            Tensor.manual_seed(0)
            layer = nn.Linear(6, 4)
            for p in (layer.weight, layer.bias):
                p.to_(devices).realize()
            optimizer = nn.optim.SGD([layer.weight, layer.bias], lr=0.1)
            x = Tensor(data(8, 6))
            x = stored(x if isinstance(devices, str) else x.shard(devices, 0))
            loss = (layer(x) ** 2).mean()
            loss.backward()
            return loss.schedule(*optimizer.schedule_step())

        kernels, copies = counts(step("CPU"))
        assert (kernels, copies) == (4, 0)
        # loss, weight and bias are combined: a copy each way, and a kernel more on one device, for
        # there the other one's part has to be made first
        assert counts(step(TWO)) == (2 * kernels + 3, 2 * 3)


def test_the_planner_shares_memory_within_a_device_only() -> None:
    def mixed() -> Tensor:
        x = stored(Tensor(data(8, 64)).shard(TWO, 0))
        for _ in range(4):
            x = (x + x.flip(1)).contiguous()
        return x.sum(0)

    total, other = mixed(), mixed()
    items = total.schedule()
    with Context(MEMORY_PLANNER=0):
        plain = other.schedule()

    def memory(items: Sequence[ScheduleItem]) -> Counter[object]:
        return Counter(b.device for b in {b for item in items for b in item.bufs})

    assert all(memory(items)[name] < memory(plain)[name] for name in TWO)
    assert [[b.device for b in item.bufs] for item in items] == [
        [b.device for b in item.bufs] for item in plain
    ]
    run_schedule(items)
    a = data(8, 64)
    for _ in range(4):
        a = a + a[:, ::-1]
    np.testing.assert_allclose(total.numpy(), a.sum(0), rtol=1e-4, atol=1e-4)


def test_a_copy_goes_straight_to_its_memory() -> None:
    x, y = stored(Tensor(data(4, 4))), stored(Tensor(data(4, 4)).to("CPU:1"))
    items = y.assign(x.to("CPU:1")).schedule()
    assert counts(items) == (0, 1)
    assert items[0].bufs == (y.uop.base, x.uop.base)
    run_schedule(items)
    np.testing.assert_equal(y.numpy(), data(4, 4))


def test_the_pass_leaves_nothing_on_several_devices() -> None:
    x = Tensor(data(8, 6)).shard(TWO, 0)
    graph = run_passes(UOp.sink((x.sum(0) + x.flip(0)).uop), stop="multi")
    assert all(not isinstance(u.device, tuple) for u in graph.toposort() if u is not graph)
    plain = UOp.sink(Tensor(data(8, 6)).uop + 1)
    assert take_apart(plain, plain.toposort())[0] is plain


def test_steps_are_told_rule_by_rule() -> None:
    class Steps(NullObserver):
        def __init__(self) -> None:
            self.rules: list[str] = []

        def match(self, rule: object, *rest: object) -> None:
            self.rules.append(getattr(rule, "name", ""))

    x = stored(Tensor(data(8, 6)).shard(TWO, 0))
    with observing(Steps()) as steps:
        run_passes(UOp.sink((x + 1).sum(0).uop), stop="multi")
    wanted = [
        "memory_in_parts",
        "elementwise_in_parts",
        "reduce_in_parts",
        "combine",
        "store_parts",
    ]
    assert set(wanted) <= set(steps.rules)


def test_kernels_by_hand_are_refused() -> None:
    call = UOp(Ops.KERNEL, src=(UOp(Ops.DEVICE, arg="CPU"), Tensor.ones(2, device=TWO).uop))
    with pytest.raises(DeviceError, match="CPU and CPU:1 at once"):
        take_apart(call, call.toposort())


def test_an_assignment_across_devices_is_refused() -> None:
    x = stored(Tensor(data(8, 6)).shard(TWO, 0)).uop
    part = x.shrink(((2, 6), (0, 6)))
    with pytest.raises(ScheduleError, match="along the axis that is cut"):
        create_schedule(UOp.sink(part.assign(part.const_like(1))))
    own = x.shrink(((0, 8), (2, 4)))
    items, realized = create_schedule(UOp.sink(a := own.assign(own.const_like(1))))
    assert counts(items) == (2, 0)
    assert realized[a] is own


def test_devices_of_a_kind_share_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[UOp] = []

    def compile_kernel(ast: UOp, target: Target, report: str) -> Program:
        compiled.append(ast)
        return compile.compile_kernel(ast, target, report=report)

    monkeypatch.setattr(run, "compile_kernel", compile_kernel)
    x = stored(Tensor(data(8, 13)).shard(DEVICES, 0))
    compiled.clear()
    (x * 1.875 + 0.21875).realize()
    assert len(compiled) == 1
    with Context(NOOPT=1):
        (x * 1.875 + 0.21875).realize()
    assert len(compiled) == 2, "other settings, another program"
