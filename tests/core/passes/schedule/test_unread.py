"""What lies behind a length, and nothing reads, is neither computed nor stored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core import Context, Tensor, TinyJit, Variable
from core.compile import compile_kernel
from core.passes.schedule.item import ScheduleItem
from core.runtime.buffer import buffer_of
from core.runtime.device import Device
from core.runtime.emulator.device import EmulatorRunner
from core.target import targets
from core.uop import UOp
from core.uop.kernels import stored_in_part

ROWS, COLUMNS = 96, 6
NUMBERS = np.random.default_rng(3).standard_normal((ROWS, COLUMNS)).astype(np.float32)


def rows(device: str = "CPU") -> Tensor:
    return Tensor(NUMBERS, device).realize()


def length(n: int, name: str = "n") -> UOp:
    return Variable(name, 0, ROWS).bind(n)


def in_part(*outputs: Tensor) -> list[bool]:
    """Of each kernel, whether it stores the part that its output's length says."""
    first, *others = outputs
    return [bool(stored_in_part(item.ast)) for item in first.schedule(*others)]


def test_kernels_that_store_in_part() -> None:
    x, n = rows(), length(5)
    assert in_part((x[:n] + 1).contiguous()) == [True]
    assert in_part((x[:n] @ x.T).contiguous()) == [True]
    assert in_part((x[:n] * 2).contiguous().sum(0)) == [True, False]
    assert in_part((x[:n] * 2).contiguous().T.exp().contiguous()) == [True, True]
    assert in_part((x[:n] @ x[:n].T).softmax(-1)) == [True] * 4
    with Context(OPT=0):
        assert all(in_part((x[:n] * 2 + 1).exp().contiguous()))


def test_kernels_of_which_more_is_read() -> None:
    x, n = rows(), length(5)
    twice = (x * 2).contiguous()
    assert in_part((twice[:n] + 1).contiguous(), twice) == [False, True]
    same = (x[:n] + 1).contiguous(), (x[: length(7, "m")] + 1).contiguous()
    assert in_part(*same) == [False]  # one kernel stores what both are
    assert in_part(x[:n].contiguous().cat(x)[:3].contiguous())[-1] is False
    assert not any(in_part((x + 1).contiguous()))


def instructions(item: ScheduleItem, n: int) -> int:
    program = compile_kernel(item.ast, targets["sm_90"])
    runner = Device["PTX:EMU"].load(program)
    assert isinstance(runner, EmulatorRunner)
    buffers = [buffer_of(u).allocate() for u in item.bufs]
    return runner.counted(buffers, {"n": n})[0]


def elementwise(x: Tensor) -> Tensor:
    return x * 2 + 1


def product(x: Tensor) -> Tensor:
    return x @ x[:8].T


@pytest.mark.parametrize("function", [elementwise, product])
def test_work_is_that_of_the_length(function: Callable[[Tensor], Tensor]) -> None:
    x = rows("PTX:EMU").pad(((0, 512 - ROWS), (0, 0))).contiguous().realize()
    (item,) = function(x)[: Variable("n", 0, 512).bind(9)].contiguous().schedule()
    quarter, whole = instructions(item, 128), instructions(item, 512)
    assert instructions(item, 0) == 0
    assert instructions(item, 9) <= quarter <= (whole + 3) // 4


@pytest.mark.parametrize(
    ("device", "opt"), [("CPU", 0), ("CPU", 3), ("REFERENCE", 2), ("PTX:EMU", 2), ("AMD:EMU", 1)]
)
def test_values(device: str, opt: int) -> None:
    with Context(OPT=opt):
        x = rows(device)
        for n in (0, 37):
            scores = ((x[: length(n)] @ x[:COLUMNS].T) * 2).contiguous()
            wanted = (NUMBERS[:n] @ NUMBERS[:COLUMNS].T) * 2
            np.testing.assert_allclose(scores.numpy(), wanted, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(scores.T.sum(1).numpy(), wanted.sum(0), rtol=1e-4, atol=1e-4)


def test_one_captured_graph_for_all_lengths() -> None:
    @TinyJit
    def step(x: Tensor, n: UOp) -> Tensor:
        return (x[:n] * 2).contiguous().exp().realize()

    x = rows()
    for n in (9, 40, 3, 0, ROWS, 17):
        np.testing.assert_allclose(step(x, length(n)).numpy(), np.exp(NUMBERS[:n] * 2), rtol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_parts_on_several_devices(axis: int | None) -> None:
    x = Tensor(NUMBERS).shard(("CPU:1", "CPU:2"), axis).realize()
    found = (x[: length(5)] * 2 + 1).contiguous()
    np.testing.assert_allclose(found.numpy(), NUMBERS[:5] * 2 + 1, rtol=1e-6)
    assert in_part((x[: length(5)] * 2 + 1).contiguous())[-1]
