"""Gradients of elements that indices pick are judged by what picking and writing mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import Tensor
from core.dtype import DType, dtypes
from core.tensor.axes.indexing import scattering
from core.uop import Ops, UOp
from core.uop.call.kernelcall import KernelCall
from core.uop.call.scatter import Scatter
from core.uop.data.serial import from_data, to_data
from tests.viz.check.test_gradients import a, blamed, judged
from viz.check.gradients.judge import TWICE
from viz.check.gradients.wide import Wide

ROWS = Tensor([3, 1, 3, 0])
PLACES = Tensor([[0, 2, 2, 1], [4, 0, 2, 1], [0, 0, 2, 9]])


def _put() -> Tensor:
    x = a(5, 4) * 1
    x[ROWS] = a(4, 4)
    return x


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "rows": lambda: a(5, 4)[ROWS],
    "columns": lambda: a(4, 5)[:, ROWS],
    "elements": lambda: a(5, 4)[ROWS, Tensor([0, 2, 0, -1])],
    "gather": lambda: a(5, 4).gather(0, PLACES[:2]),
    "put": _put,
    "scatter": lambda: a(5, 4).scatter(0, PLACES, a(3, 4)),
    "index_add": lambda: a(5, 4).index_add(0, ROWS, a(4, 4)),
    **{
        f"{how} {own}": lambda how=how, own=own: a(5, 4).scatter_reduce(
            0, PLACES, a(3, 4), how, include_self=own
        )
        for how in ("sum", "prod", "mean", "amax", "amin")
        for own in (False, True)
    },
}
READ = ("rows", "columns", "elements", "gather")


def weighed(program: Callable[[], Tensor]) -> Tensor:
    """A number whose gradient is another for each element."""
    made = program()
    return (made * Tensor.arange(made.numel()).reshape(made.shape).cos()).sum()


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_right_is_not_blamed(name: str) -> None:
    steps = judged(lambda: weighed(PROGRAMS[name]))
    assert "derivative" in {rule for rule, _, _ in steps}
    assert {verdict.kind for _, _, verdict in steps} == {"sampled"}


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("mistake", ["twice", "turned", "nothing"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_wrong_is_named(
    name: str, mistake: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind: Any = getattr(scattering, "_Read" if name in READ else "_Gradient")
    call = kind.__call__

    def wrong(self: Any, grad: UOp, sources: Any) -> list[UOp | None]:
        made = call(self, grad, sources)
        if (g := made[at]) is not None:
            made[at] = {"twice": g + g, "turned": -g, "nothing": None}[mistake]
        return made

    monkeypatch.setattr(kind, "__call__", wrong)
    found = blamed(judged(lambda: weighed(PROGRAMS[name])))
    assert list(found) == ([] if name in READ and at else ["derivative"])
    assert all(verdict.values for verdict in found.values())


def test_a_gradient_of_what_was_overwritten_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal places only the last value is stored."""

    room: Any = vars(scattering)

    def all_of_them(g: Tensor, x: Tensor, values: Tensor, index: Tensor, how: Scatter) -> Any:
        shape = room["_lengths"](index, values)
        return room["_cleared"](g, index, how.axis, shape), room["_seen"](g, index, how.axis, shape)

    monkeypatch.setattr(scattering, "_replaced", all_of_them)
    assert list(blamed(judged(lambda: weighed(PROGRAMS["put"])))) == ["derivative"]


def test_what_is_written_to_itself_is_not_judged() -> None:
    def program() -> Tensor:
        x = a(3, 4)
        return x.scatter(0, PLACES, x)

    (verdict, _) = (v for rule, _, v in judged(lambda: weighed(program)) if rule == "derivative")
    assert (verdict.kind, verdict.how) == ("unchecked", TWICE)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int32])
@pytest.mark.parametrize("how", ["sum", "prod", "amax", "amin", None])
@pytest.mark.parametrize("own", [False, True])
def test_what_a_call_means_is_what_its_kernel_does(dtype: DType, how: Any, own: bool) -> None:
    rng = np.random.default_rng(1)
    x, values = (Tensor(rng.integers(-5, 5, (n, 4))).cast(dtype).realize() for n in (5, 3))
    index = PLACES.realize()
    made = (
        x.scatter(0, index, values)
        if how is None
        else x.scatter_reduce(0, index, values, how, include_self=own)
    )
    given = {t.uop: t.numpy() for t in (x, values, index)}
    assert any(u.op is Ops.KERNEL for u in made.uop.toposort())
    wide = np.broadcast_to(Wide(given).value(made.uop), made.shape)
    np.testing.assert_array_equal(wide, made.numpy())


def test_a_trace_says_what_a_call_means() -> None:
    made = a(5, 4).scatter_reduce(0, PLACES, a(3, 4), "amin", include_self=False).uop
    calls = [u for u in made.toposort() if u.op is Ops.KERNEL]
    assert [type(u.arg) for u in calls] == [KernelCall]
    (back,) = (u for u in from_data(to_data(calls))[0].toposort() if u.op is Ops.KERNEL)
    assert back.arg == calls[0].arg.does == Scatter(0, Ops.MAX, least=True, anew=True)
    by_hand = dataclasses.replace(calls[0].arg, does=None)
    with pytest.raises(Exception, match="a kernel by hand"):
        to_data([calls[0].replace(arg=by_hand)])
