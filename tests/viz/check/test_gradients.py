"""Steps of the pass `gradient`: each rule of a derivative, made wrong, is named with values; none
that is right is blamed, at kinks, ties and ends of domains neither."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import core.gradients.gradient
from core import Tensor, Variable, nn
from core.dtype import DType, dtypes
from core.errors import RuleError
from core.gradients.gradient import derivatives, gradients
from core.prove.verdict import Verdict
from core.uop import Ops, UOp, UPat, rule
from core.uop.engine.observe import recording
from core.uop.patterns.rule import Rule
from tests.core.tensor.running.test_kernel_call_gradients import call_two
from tests.viz.check.mutating import wrong
from viz.check.failed import failures
from viz.check.gradients.judge import BY_HAND, Gradients
from viz.check.gradients.share import LEFT_OUT
from viz.trace import Recorder
from viz.views.store import Store

Judged = list[tuple[str, UOp, Verdict]]
Grads = Sequence["UOp | None"]
TWO = ("CPU", "CPU:1")


def leaf(*shape: int, dtype: DType = dtypes.float32) -> Tensor:
    random = np.random.default_rng(sum(shape))
    values = random.uniform(0.5, 2, shape) * random.choice([-1, 1], shape)
    made = Tensor(values.astype(np.float32)).cast(dtype).contiguous().realize()
    made.requires_grad = True
    return made


def judged(program: Callable[[], Tensor]) -> Judged:
    """The steps of a program's gradient."""
    with recording() as seen:
        program().backward()
    found = Gradients()
    return [
        (s.rule.name, s.before, found.judge(s.before, s.after))
        for s in seen.matches
        if s.before.op is Ops.GRADIENT and s.rule is not None and s.after is not None
    ]


def of_nodes(root: UOp, targets: Sequence[UOp], weights: UOp) -> Judged:
    with recording() as seen:
        gradients(root, weights, targets)
    found = Gradients()
    return [
        (s.rule.name, s.before, found.judge(s.before, s.after))
        for s in seen.matches
        if s.rule is not None and s.after is not None
    ]


def blamed(steps: Judged) -> dict[str, Verdict]:
    return {name: verdict for name, _, verdict in steps if verdict.kind == "differs"}


N = Variable("n", 1, 4)
RULES: dict[str, Callable[[UOp, UOp, UOp], UOp]] = {
    "trunc": lambda x, y, z: x.trunc(),
    "cast": lambda x, y, z: x.cast(dtypes.float64),
    "neg": lambda x, y, z: -x,
    "reciprocal": lambda x, y, z: x.recip(),
    "sqrt": lambda x, y, z: x.sqrt(),
    "exp2": lambda x, y, z: x.exp2(),
    "log2": lambda x, y, z: x.log2(),
    "sin": lambda x, y, z: x.sin(),
    "cos": lambda x, y, z: x.cos(),
    "add": lambda x, y, z: x + y,
    "sub": lambda x, y, z: x - y,
    "mul": lambda x, y, z: x * y,
    "mulacc": lambda x, y, z: x.alu(Ops.MULACC, y, z),
    "fdiv": lambda x, y, z: x / y,
    "power": lambda x, y, z: x.alu(Ops.POW, y),
    "maximum": lambda x, y, z: x.maximum(y),
    "where": lambda x, y, z: (z < 1).where(x, y),
    "reshape": lambda x, y, z: x.reshape((6, 4)),
    "permute": lambda x, y, z: x.permute((1, 0)),
    "expand": lambda x, y, z: x.reshape((4, 1, 6)).expand((4, 3, 6)),
    "pad": lambda x, y, z: x.pad(((1, 0), (0, 2))),
    "shrink": lambda x, y, z: x.shrink(((1, 3), (0, 5))),
    "flip": lambda x, y, z: x.flip((True, False)),
    "copy": lambda x, y, z: x.copy_to_device("CPU:1"),
    "multi": lambda x, y, z: UOp(Ops.MULTI, x.dtype, (x, y.copy_to_device("CPU:1")), 0),
    "mselect": lambda x, y, z: UOp(
        Ops.MSELECT,
        x.dtype,
        (UOp(Ops.MULTI, x.dtype, (x, y.copy_to_device("CPU:1")), 0),),
        (1, 0),
    ),
    "derivative": lambda x, y, z: (x * x).derivative((x, x + x)),
    "length": lambda x, y, z: x.length(0, N.bind(3)),
    "fuse": lambda x, y, z: x.fuse(),
    "contiguous": lambda x, y, z: x.contiguous(),
    "contiguous_backward": lambda x, y, z: x.contiguous_backward(),
    "assign": lambda x, y, z: UOp.new_buffer("CPU", 24, x.dtype).reshape((4, 6)).assign(x),
}
"""A node that each rule answers, of three of shape (4, 6)."""
REDUCES: dict[str, Callable[[UOp, UOp, UOp], UOp]] = {
    "sum": lambda x, y, z: x.r(Ops.ADD, (1,)),
    "max": lambda x, y, z: x.r(Ops.MAX, (0,)),
    "prod": lambda x, y, z: x.r(Ops.MUL, (0, 1)),
}
CASES = [
    *((name, name, function) for name, function in RULES.items()),
    *(("reduce_axis", name, function) for name, function in REDUCES.items()),
]
MISTAKES: dict[str, Callable[[UOp], UOp | None]] = {
    "twice": lambda g: g + g,
    "turned": lambda g: -g,
    "more": lambda g: g + g.const_like(1),
    "nothing": lambda g: None,
}


def node_of(function: Callable[[UOp, UOp, UOp], UOp]) -> Judged:
    nodes = [leaf(4, 6).uop, leaf(6, 4).reshape(4, 6).uop, leaf(2, 12).reshape(4, 6).uop]
    root = function(*nodes)
    weights = root.const_like(1).detach() * root.const_like(2)
    return of_nodes(root, nodes, weights)


def broken(rule: Rule, mistake: Callable[[UOp], UOp | None], every: bool) -> Rule:
    """A rule with a mistake in its first gradient, or in all of them."""

    @functools.wraps(rule.function)
    def function(**given: Any) -> Grads | None:
        made = rule.function(**given)
        places = [at for at, g in enumerate(made or ()) if g is not None]
        chosen = places if every else places[:1]
        return tuple(mistake(g) if at in chosen else g for at, g in enumerate(made))

    return Rule(rule.pattern, function, rule.name)


@pytest.mark.parametrize(("rule", "case", "function"), CASES, ids=[case for _, case, _ in CASES])
def test_a_right_rule_is_right(
    rule: str, case: str, function: Callable[[UOp, UOp, UOp], UOp]
) -> None:
    steps = node_of(function)
    assert rule in {name for name, _, _ in steps}
    assert {verdict.kind for _, _, verdict in steps} == {"sampled"}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize(("rule", "case", "function"), CASES, ids=[case for _, case, _ in CASES])
def test_a_wrong_rule_is_named_with_values(
    rule: str,
    case: str,
    function: Callable[[UOp, UOp, UOp], UOp],
    mistake: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if (case, mistake) in {("trunc", name) for name in ("twice", "turned", "nothing")}:
        return  # its derivative is 0, and stays that
    found = next(r for r in derivatives.rules if r.name == rule)
    for every in (False, True):
        made = derivatives.changed((), {rule: broken(found, MISTAKES[mistake], every)})
        monkeypatch.setattr(core.gradients.gradient, "derivatives", made)
        verdicts = blamed(node_of(function))
        assert list(verdicts) == [rule]
        assert verdicts[rule].before != verdicts[rule].after
        assert verdicts[rule].values


def test_every_rule_is_tried() -> None:
    tried = {rule for rule, _, _ in CASES}
    assert {r.name for r in derivatives.rules} - tried == {"no_gradient", "gradient_of_call"}


def with_weights(module: Any, *inputs: Tensor) -> Tensor:
    for weight in nn.state.get_parameters(module):
        weight.requires_grad = True
    result = module(*inputs)
    KEPT.append(module)
    return (result[0] if isinstance(result, tuple) else result).square().mean()


KEPT: list[Any] = []
"""Tensors whose gradients are wanted live as long as the program that wants them."""


def kept(tensor: Tensor) -> Tensor:
    KEPT.append(tensor)
    return tensor


def a(*shape: int, dtype: DType = dtypes.float32) -> Tensor:
    return kept(leaf(*(shape or (4, 6)), dtype=dtype))


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "kinks": lambda: (a().relu() + a().abs() + a().clip(-1, 1) + a().sign()).sum(),
    "ties": lambda: (a().round().maximum(a().round()) + a().round().max(1, keepdim=True)).sum(),
    "ends of domains": lambda: (a().sqrt() + a().log() + a() ** a() + a().asin()).sum(),
    "piecewise": lambda: (a().gelu() + a().softplus() + a().atan() + a().erf() + a().elu()).sum(),
    "remainders": lambda: (a() % 0.7 + a().fmod(0.7)).sum(),
    "convolution": lambda: (
        a(2, 3, 8, 8).conv2d(a(4, 3, 3, 3), padding=1, stride=2).relu().max_pool2d().mean()
    ),
    "attention": lambda: Tensor.scaled_dot_product_attention(
        a(2, 2, 5, 8), a(2, 2, 5, 8), a(2, 2, 5, 8)
    ).sum(),
    "indices": lambda: a(7, 6)[Tensor([3, 1, 1])].gather(1, Tensor([[0], [5], [2]])).sum(),
    "sorted": lambda: (a().sort()[0] * a().cumsum(1) * a().cumprod(0)).sum(),
    "a long product": lambda: a(3, 70).prod(1).sum(),
    "layers": lambda: with_weights(nn.TransformerEncoderLayer(8, 2, 16), a(3, 2, 8)),
    "recurrent": lambda: with_weights(nn.LSTM(4, 5), a(3, 2, 4)),
    "losses": lambda: a(5, 10).cross_entropy(Tensor([1, 2, 3, 4, 0])),
    "lengths": lambda: (a()[: N.bind(3)].softmax(0) @ a(6, 2)).sum(0).sum() + a().sum(),
    "reduces up to a length": lambda: (
        a()[: N.bind(2)].max(0) * a()[: N.bind(2)].prod(0) + a()[: N.bind(2)].sum(0)
    ).sum(),
    "devices": lambda: (
        (a().shard(TWO, 0) * a().shard(TWO, 0)).sum(0).to("CPU").sum()
        + (a().shard(TWO, 0) @ a(6, 3).shard(TWO)).relu().sum().to("CPU")
    ),
    "second derivatives": lambda: (lambda x: x.sin().sum().gradient(x)[0].square().sum())(a()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_rule_of_a_program_is_blamed(name: str) -> None:
    KEPT.clear()
    steps = judged(PROGRAMS[name])
    assert steps
    assert [(n, v) for n, _, v in steps if v.kind not in ("sampled", "proved")] == []
    assert {n for n, _, v in steps if v.kind == "proved"} <= {"no_gradient"}


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float64, *dtypes.fp8s])
def test_no_rule_is_blamed_for_rounding(dtype: DType) -> None:
    KEPT.clear()

    def program() -> Tensor:
        x, y = a(dtype=dtype), a(dtype=dtype)
        return ((x.exp2() * y.sin()).sum(1).abs().log() + x.max(1) + (x / y).mean(1)).sum()

    assert [(n, v) for n, _, v in judged(program) if v.kind != "sampled"] == []


def test_where_a_gradient_is_stopped() -> None:
    x, w = leaf(4), leaf(4)

    def program() -> Tensor:
        return ((x * w).detach() * x + x.detach() * w).sum()

    steps = judged(program)
    stops = [before for name, before, verdict in steps if name == "no_gradient"]
    assert [before.src[0].op for before in stops] == [Ops.DETACH] * 2
    assert {verdict.kind for name, _, verdict in steps if name == "no_gradient"} == {"proved"}
    for before in stops:
        assert Gradients().judge(before, before.src[1]).kind == "differs"
        assert Gradients().judge(before, before.src[0].const_like(0)).kind == "proved"
    assert x.grad is not None and w.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), (x * w).numpy())
    np.testing.assert_allclose(w.grad.numpy(), x.numpy())


def test_what_is_detached_alone_has_no_steps() -> None:
    """Nothing flows there, and no rule is asked that would not be without an observer."""
    x = leaf(4)
    with recording() as seen:
        assert gradients(x.detach().sum().uop, UOp.const(dtypes.float32, 1), [x.uop]) == {}
    assert seen.matches == []


def test_kinks_are_left_out_and_that_is_said() -> None:
    KEPT.clear()
    steps = judged(lambda: a().maximum(0.0).sum())
    (how,) = {verdict.how for name, _, verdict in steps if name == "maximum"}
    assert how.endswith(LEFT_OUT)


def test_large_values_are_judged_on_fewer_elements() -> None:
    KEPT.clear()
    steps = judged(lambda: (a(256, 784) @ a(784, 128)).relu().max(1).sum())
    assert max(before.src[0].size for _, before, _ in steps) > 1 << 24
    assert {verdict.kind for _, _, verdict in steps} == {"sampled"}


def test_a_rule_may_look_at_what_a_gradient_is_made_of() -> None:
    """`summed` changes the sign after it has summed: what it makes holds no NEG of the gradient."""
    x, w = leaf(4, 1).uop, leaf(4, 6).uop
    steps = of_nodes(x.expand((4, 6)), [x], -w)
    assert [(name, verdict.kind) for name, _, verdict in steps] == [("expand", "sampled")]


def test_a_wrong_derivative_that_is_given_is_found() -> None:
    x = leaf(4, 6).uop
    for slope, kind in ((x + x, "sampled"), (x, "differs")):
        root = (x * x).derivative((x, slope))
        ((_, _, verdict),) = of_nodes(root, [x], root.const_like(1))
        assert verdict.kind == kind
    assert dict(verdict.values).keys() == {"argument 1"}


def test_a_kernel_by_hand_is_not_judged() -> None:
    KEPT.clear()
    steps = judged(lambda: call_two(a().flatten()[:6])[1].sum())
    (verdict,) = (verdict for name, _, verdict in steps if name == "gradient_of_call")
    assert (verdict.kind, verdict.how) == ("unchecked", BY_HAND)


def test_the_check_of_a_trace_names_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = next(r for r in derivatives.rules if r.name == "sin")
    made = derivatives.changed((), {"sin": broken(rule, MISTAKES["turned"], True)})
    for name, rules in (("right", derivatives), ("wrong", made)):
        monkeypatch.setattr(core.gradients.gradient, "derivatives", rules)
        recorder = Recorder(tmp_path / f"{name}.viz").start()
        try:
            x = leaf(4, 6)
            (x.sin() * x).sum().backward()
            assert x.grad is not None
            x.grad.realize()
        finally:
            recorder.close()
        assert list(wrong(recorder.path)) == ["sin"] * (name == "wrong")


def test_a_step_that_is_no_gradient_is_not_checkable() -> None:
    """As a trace may hold it, which is never trusted."""
    x = leaf(4).uop
    for src, arg in (((x.sin(), x), 7), ((x.sin(), x), "0"), ((x.sin(),), 0), ((), 0)):
        before = UOp(Ops.GRADIENT, x.dtype, src, arg)
        assert Gradients().judge(before, x).kind == "unchecked"
        if arg != 0:
            assert before.shape is None
            assert before.device is None
            assert before.lengths == ()


def test_a_rule_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @rule(UPat(Ops.SIN))
    def sin() -> None:
        """d sin(x) = an error"""
        raise ZeroDivisionError

    monkeypatch.setattr(
        core.gradients.gradient, "derivatives", derivatives.changed((), {"sin": sin})
    )
    x = leaf(4)
    recorder = Recorder(tmp_path / "run.viz").start()
    try:
        with pytest.raises(RuleError):
            x.sin().sum().backward()
    finally:
        recorder.close()
    store = Store(recorder.path)
    names = {row["id"]: row["name"] for row in store.rules()}
    assert [(one.name, names[one.rule]) for one in failures(store)] == [("gradient", "sin")]
    store.close()
