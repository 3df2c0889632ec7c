"""The pass `gradient` is replayed as it was told: each state is a graph, the last one that of the
gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import core.gradients.gradient
from core import Tensor, Variable, nn
from core.errors import GradientError, RuleError
from core.gradients.gradient import derivatives, gradients
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.engine.observe import NullObserver, observing
from core.uop.patterns.rule import Rule
from tests.core.tensor.running.test_kernel_call_gradients import call_two
from tests.viz.replay.test_replay import Replaying


class OfGradients(NullObserver):
    """Replays the passes of derivatives."""

    def __init__(self) -> None:
        self.passes = 0
        self.rules: list[str] = []
        self.left: list[UOp] = []
        self.now: Replaying | None = None

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        self.now = Replaying(sink) if name == "gradient" else None

    def match(self, rule: Rule, before: UOp, after: UOp, binds: object, ns: int) -> None:
        if self.now is not None:
            self.rules.append(rule.name)
            assert (before.dtype, before.shape) == (after.dtype, after.shape)
            self.now.match(rule, before, after, binds, ns)

    def rebuild(self, old: UOp, new: UOp) -> None:
        if self.now is not None:
            self.now.rebuild(old, new)

    def rewrite_end(
        self, result: UOp | None, error: object, rule: Rule | None, node: UOp | None
    ) -> None:
        if self.now is None:
            return
        assert result is not None
        self.passes += 1
        self.left += [u for u in result.toposort() if u.op is Ops.GRADIENT]
        self.now.take()
        self.now.slots.settle(self.now.numbers(result))
        assert self.now.slots.repairs == 0
        assert self.now.rebuilt() is result
        self.now = None


def leaf(*shape: int, seed: int = 1) -> Tensor:
    made = Tensor(np.random.default_rng(seed).uniform(0.5, 2, shape).astype(np.float32))
    made.requires_grad = True
    return made


PROGRAMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "used twice": lambda x, y: (x * x.sin() + x * y).sum(),
    "a product": lambda x, y: (x @ y.T).tanh().sum(),
    "the largest": lambda x, y: (x.max(1) * y.softmax(1).sum(1)).sum(),
    "a target on the way": lambda x, y: ((x + y) * (x - y)).prod(),
    "nothing comes through": lambda x, y: (x * (y > x).where(x.trunc(), y).detach()).sum(),
    "a length": lambda x, y: (x[: Variable("n", 1, 4).bind(3)] * 2).max(0).sum() + y.sum(),
    "devices": lambda x, y: (x.shard(("CPU", "CPU:1"), 0) * 2).sum().to("CPU") + y.sum(),
    "a kernel by hand": lambda x, y: sum(call_two(x.flatten()), y.flatten()[:1]).sum(),
    "a convolution": lambda x, y: (
        x.reshape(1, 1, 4, 6).conv2d(y.reshape(1, 1, 4, 6)[..., :3, :3], padding=1).relu().sum()
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_state_is_a_graph(name: str) -> None:
    x, y = leaf(4, 6), leaf(4, 6, seed=2)
    with observing(OfGradients()) as seen:
        PROGRAMS[name](x, y).backward()
    assert isinstance(seen, OfGradients)
    assert seen.passes == 1
    assert seen.rules
    assert seen.left == []


def test_a_layer_that_is_trained() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    for weight in nn.state.get_parameters(layer):
        weight.requires_grad = True
    with observing(OfGradients()) as seen:
        layer(leaf(3, 2, 8)).square().mean().backward()
    assert isinstance(seen, OfGradients)
    assert (seen.passes, seen.left) == (1, [])


def test_gradients_are_the_same_nodes_whoever_watches() -> None:
    x, y = (leaf(4, 6, seed=n).uop for n in (1, 2))
    root = (x * x.sin() + x * y).r(Ops.ADD, (0, 1))
    seed = root.const_like(1)
    alone = gradients(root, seed, [x, y])
    with observing(OfGradients()):
        watched = gradients(root, seed, [x, y])
    assert all(watched[u] is alone[u] for u in (x, y))


Ended = tuple["BaseException | None", "Rule | None", "UOp | None"]


class Ends(NullObserver):
    """How passes end."""

    def __init__(self) -> None:
        self.ended: list[Ended] = []

    def rewrite_end(
        self,
        result: UOp | None,
        error: BaseException | None,
        rule: Rule | None,
        node: UOp | None,
    ) -> None:
        self.ended.append((error, rule, node))


def test_an_error_ends_the_pass() -> None:
    x = leaf(4).uop
    root = x.r(Ops.ADD, (0,)).view(ShapeTracker.from_shape((1,)))
    ends = Ends()
    with observing(ends), pytest.raises(GradientError, match="VIEW has no gradient rule"):
        gradients(root, root.const_like(1), [x])
    ((error, failed, _),) = ends.ended
    assert isinstance(error, GradientError)
    assert failed is None


def test_the_rule_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    @rule(UPat(Ops.SIN))
    def sin() -> None:
        """d sin(x) = an error"""
        raise ZeroDivisionError

    made = derivatives.changed((), {"sin": sin})
    monkeypatch.setattr(core.gradients.gradient, "derivatives", made)
    x = leaf(4).uop
    root, ends = x.sin(), Ends()
    with observing(ends), pytest.raises(RuleError, match="rule sin raised ZeroDivisionError"):
        gradients(root, root.const_like(1), [x])
    ((error, failed, node),) = ends.ended
    assert isinstance(error, RuleError)
    assert (failed, node) == (sin, root)
    with pytest.raises(RuleError, match="rule sin raised ZeroDivisionError"):  # unobserved
        gradients(root, root.const_like(1), [x])
