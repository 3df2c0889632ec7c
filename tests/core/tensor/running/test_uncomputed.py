"""What nobody has computed is an error to read, whoever reads it, and says whose turn it is."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from core import Tensor, TinyJit, dtypes
from core.errors import RunError
from core.launch import run
from core.realize import run_schedule
from core.runtime.awaited import awaited


def doubled(x: Tensor) -> Tensor:
    return (x * 2).realize()


LEFT = "never computed: its kernels were left to the caller of schedule"
READS: dict[str, Callable[[Tensor], object]] = {
    "tolist": Tensor.tolist,
    "numpy": Tensor.numpy,
    "data": Tensor.data,
    "array": np.asarray,
    "item": lambda y: y[0].item(),
    "bool": lambda y: bool(y[0]),
    "view": lambda y: y[1:].tolist(),
    "transposed": lambda y: y.reshape(1, 3).T.numpy(),
    "bits": lambda y: y.bitcast(dtypes.int32).tolist(),
    "detached": lambda y: y.detach().tolist(),
    "realize": Tensor.realize,
    "computed from": lambda y: (y + 1).realize(),
    "together": lambda y: Tensor.realize(Tensor.ones(3).contiguous(), y * 2),
    "another device": lambda y: y.to("REFERENCE").realize(),
    "devices": lambda y: y.shard(("CPU:1", "CPU:2")).realize(),
    "a file": lambda y: y.to("DISK:/nowhere"),
    "assigned": lambda y: Tensor.zeros(3).contiguous().assign(y).realize(),
    "assigned to a part": lambda y: y[1:].assign(y[1:]).realize(),
    "in place": lambda y: y.mul_(1).realize(),
    "gradient": lambda y: (y * Tensor.ones(3, requires_grad=True)).sum().backward().realize(),
    "captured": lambda y: TinyJit(doubled)(y),
    "formatted": lambda y: f"{y[0]:.1f}",
}


@pytest.mark.parametrize("name", READS)
def test_reading_what_schedule_left_to_the_caller(name: str) -> None:
    y = Tensor([1.0, 2.0, 3.0]) + 1
    items = y.schedule()
    with pytest.raises(RunError, match=LEFT) as error:
        READS[name](y)
    assert re.fullmatch(rf"{re.escape(__file__)}:\d+( .*)?", error.value.where, re.DOTALL)
    assert "run_schedule(items)" in error.value.hint
    run_schedule(items)
    assert y.tolist() == [2, 3, 4]


def test_other_values_are_not_affected() -> None:
    x = Tensor([1.0, 2.0, 3.0]).realize()
    y = x + 1
    items = y.schedule()
    assert x.tolist() == [1, 2, 3]
    assert (x * 2).tolist() == [2, 4, 6]
    assert len(Tensor.empty(3).tolist()) == 3  # whatever is there was asked for
    known = len(awaited)
    del y, items
    assert len(awaited) == known - 1


def test_later_schedules_may_be_run_in_turn() -> None:
    y = Tensor([1.0, 2.0]) + 1
    first = y.schedule()
    z = y * 2
    second = z.schedule()
    with pytest.raises(RunError, match=LEFT):
        run_schedule(second)
    run_schedule(first)
    with pytest.raises(RunError, match=LEFT):
        z.tolist()
    run_schedule(second)
    assert (y.tolist(), z.tolist()) == ([2, 3], [4, 6])


def test_several_kernels_and_outputs() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    total = x.sum(1).contiguous()
    ratio = x / total.reshape(2, 1)
    items = ratio.schedule(total)
    assert len(items) > 1
    for item in items:
        for value in (total, ratio):
            if item is items[0] or value is ratio:
                with pytest.raises(RunError, match=LEFT):
                    value.tolist()
        run_schedule([item])
    np.testing.assert_allclose(ratio.numpy(), [[1 / 3, 2 / 3], [3 / 7, 4 / 7]], rtol=1e-6)
    assert total.tolist() == [3, 7]


def test_assignments_are_not_done_yet() -> None:
    """The memory has a value: the one before."""
    x = Tensor([1.0, 2.0, 3.0]).realize()
    view = x[1:]
    x.assign(x + 10)
    items = x.schedule()
    for value in (x, view, x + 1):
        with pytest.raises(RunError, match=LEFT):
            value.tolist()
    run_schedule(items)
    assert (x.tolist(), view.tolist()) == ([11, 12, 13], [12, 13])


def test_a_new_value_needs_no_earlier_one() -> None:
    y = Tensor([1.0, 2.0]) + 1
    y.schedule()
    y.assign(Tensor([5.0, 6.0]))
    assert y.realize().tolist() == [5, 6]


def test_several_devices() -> None:
    y = Tensor([1.0, 2.0, 3.0, 4.0]).shard(("CPU:1", "CPU:2"), axis=0) + 1
    items = y.schedule()
    with pytest.raises(RunError, match=LEFT):
        y.tolist()
    run_schedule(items)
    assert y.tolist() == [2, 3, 4, 5]


def test_a_replay_reads_what_its_caller_left() -> None:
    double = TinyJit(doubled)
    for n in range(3):
        assert double(Tensor([1.0, n]).realize()).tolist() == [2, 2 * n]
    y = Tensor([1.0, 2.0]) + 1
    items = y.schedule()
    with pytest.raises(RunError, match=LEFT):
        double(y)
    run_schedule(items)
    assert double(y).tolist() == [4, 6]


def test_schedule_in_a_capture() -> None:
    @TinyJit
    def left(x: Tensor) -> Tensor:
        y = doubled(x) + 1
        y.schedule()
        return y

    for _ in range(3):
        with pytest.raises(RunError, match=LEFT):
            left(Tensor([1.0]).realize()).tolist()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RunError("no memory"), MemoryError])
def test_a_run_that_ended_between_two_kernels(
    error: BaseException | type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    launch, left = run._launch, 1

    def fails(*args: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise error
        launch(*args)

    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    total = x.sum(1).contiguous()
    ratio = x / total.reshape(2, 1)
    with monkeypatch.context() as patched:
        patched.setattr(run, "_launch", fails)
        kind = error if isinstance(error, type) else type(error)
        with pytest.raises(kind):
            ratio.realize(total)
    assert total.tolist() == [3, 7]
    with pytest.raises(RunError, match=f"never computed: the run .* ended with {kind.__name__}"):
        ratio.tolist()
    assert (x / total.reshape(2, 1)).sum().item() == pytest.approx(2)


def test_launches_ask_for_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything that was scheduled has run, launches look nothing up."""

    def never(item: object) -> None:
        raise AssertionError

    monkeypatch.setattr(run, "awaited", {})
    monkeypatch.setattr(run, "before", never)
    monkeypatch.setattr(run, "after", never)
    assert (Tensor([1.0]) + 1).tolist() == [2]
