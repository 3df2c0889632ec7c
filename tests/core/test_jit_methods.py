"""TinyJit on methods, without what needs no replay, and switched off."""

from __future__ import annotations

import gc
import weakref

import pytest

from core import Context, Tensor, TinyJit, nn
from core.errors import RunError


class Scale:
    def __init__(self, by: float) -> None:
        self.by, self.calls = Tensor([by]), 0
        self.whole = TinyJit(self.add)

    @TinyJit
    def scaled(self, x: Tensor) -> Tensor:
        """x times by"""
        self.calls += 1
        return (x * self.by).realize()

    @TinyJit
    def __call__(self, x: Tensor) -> Tensor:
        return (x + self.by).realize()

    def add(self, x: Tensor) -> Tensor:
        return (x + self.by).realize()


def test_each_object_captures_by_itself() -> None:
    one, ten = Scale(1), Scale(10)
    for i in range(5):
        x = Tensor([float(i)])
        assert (one.scaled(x).item(), ten.scaled(x).item()) == (i, 10 * i)
        assert (one(x).item(), ten(x).item(), one.whole(x).item()) == (i + 1, i + 10, i + 1)
    assert (one.calls, ten.calls) == (2, 2)
    assert one.scaled.captured is not None
    one.scaled.reset()
    assert one.scaled.captured is None
    assert ten.scaled.captured is not None
    assert Scale.scaled.__doc__ == "x times by"
    with pytest.raises(RunError, match="TinyJit of scaled was captured with argument 0"):
        ten.scaled(Tensor([1.0, 2.0]))


def test_what_is_captured_goes_with_the_object() -> None:
    one = Scale(3)
    method, gone = one.scaled, weakref.ref(one)
    del one
    for i in range(4):
        assert method(Tensor([float(i)])).item() == 3 * i  # the method keeps its object
    del method
    gc.collect()
    assert gone() is None
    known = Scale.scaled._methods.values()
    assert all(seen() is not None for seen, _ in known)


def test_an_object_that_nothing_refers_to_weakly() -> None:
    class Slots:
        __slots__ = ()

        @TinyJit
        def run(self, x: Tensor) -> Tensor:
            return (x + 1).realize()

    with pytest.raises(RunError, match=r"a method of Slots(.|\n)*add __weakref__"):
        Slots().run(Tensor([1]))


def test_a_model_with_jits_has_its_own_state_only() -> None:
    one = Scale(1)
    for _ in range(3):
        one.whole(Tensor([1.0]))
        one.scaled(Tensor([1.0]))
    assert list(nn.state.get_state_dict(one)) == ["by"]


def steps(jit: TinyJit[[Tensor], Tensor]) -> int:
    assert jit.captured is not None
    return len(jit.captured.first.steps)


def test_pruning_leaves_out_what_no_argument_changes() -> None:
    weight = Tensor([1.0, 2.0]).realize()
    state = Tensor([0.0]).realize()

    def function(x: Tensor) -> Tensor:
        total = weight.exp().sum().contiguous() * 2
        scale = total.contiguous().sqrt().contiguous()  # of no argument
        state.assign(state + scale)  # changes at each call
        drawn = Tensor.rand(2)
        return (x * scale + drawn * 0 + state * 0).realize(state)

    plain, pruned = TinyJit(function), TinyJit(function, prune=True)
    wanted = float(((weight.exp().sum() * 2).sqrt()).item())
    for jit in (plain, pruned):
        state.assign(Tensor([0.0])).realize()
        for i in range(1, 5):
            got = jit(Tensor([1.0, float(i)])).tolist()
            assert got == pytest.approx([wanted, wanted * i], rel=1e-5)
            assert state.item() == pytest.approx(wanted * i, rel=1e-5)
    assert steps(pruned) < steps(plain)


def test_pruning_keeps_what_is_written_outside() -> None:
    target = Tensor([0.0]).realize()

    @TinyJit(prune=True)
    def reset(x: Tensor) -> Tensor:
        target.assign(Tensor([5.0]) * 1)
        return (x + target).realize(target)

    for _ in range(4):
        target.assign(Tensor([1.0])).realize()
        assert reset(Tensor([1.0])).tolist() == [6]
        assert target.tolist() == [5]


def test_pruned_random_numbers_are_drawn_anew() -> None:
    @TinyJit(prune=True)
    def draw(x: Tensor) -> Tensor:
        return (Tensor.rand(3).contiguous() + x).realize()

    seen = {tuple(draw(Tensor([0.0])).tolist()) for _ in range(5)}
    assert len(seen) == 5


def test_switches() -> None:
    calls: list[int] = []

    @TinyJit
    def plus(x: Tensor) -> Tensor:
        calls.append(1)
        return (x + 1).realize()

    with Context(JIT=0):
        assert [plus(Tensor([i])).item() for i in range(4)] == [1, 2, 3, 4]
        assert (len(calls), plus.captured) == (4, None)
    with Context(JIT=2):
        assert [plus(Tensor([i])).item() for i in range(4)] == [1, 2, 3, 4]
    assert len(calls) == 6
    assert plus(Tensor([7])).item() == 8
    with pytest.raises(RunError, match="it decorates a function"):
        TinyJit(5)
