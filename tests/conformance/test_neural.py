"""Normalisation, attention, losses, layers and optimizers against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from core import Tensor, nn
from tests.conformance.comparing import Operation, check, present, same, shapes, values


@given(data=st.data())
def test_layernorm(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    n = data.draw(st.integers(1, len(shape)))
    axis = tuple(range(-n, 0))
    op = Operation(
        "layernorm",
        lambda x: x.layernorm(axis, 1e-2),
        lambda x: F.layer_norm(x, shape[-n:], eps=1e-2),
        loose=4,
    )
    check(op, [data.draw(values(shape, "d", op))])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", [None, "bool", "float"])
def test_attention(causal: bool, mask: str | None) -> None:
    if causal and mask:
        return
    random = np.random.default_rng(1)
    q, k, v = (random.normal(size=(2, 3, n, 4)) for n in (5, 6, 6))
    keep = random.random((5, 6)) > 0.3
    keep[:, 0] = True
    added = np.where(keep, 0.0, -1.5).astype(present(np.dtype(np.float64)))
    given_ = {None: None, "bool": keep, "float": added}[mask]
    op = Operation(
        "attention",
        lambda q, k, v: q.scaled_dot_product_attention(
            k, v, None if given_ is None else Tensor(given_), is_causal=causal
        ),
        lambda q, k, v: F.scaled_dot_product_attention(
            q, k, v, None if given_ is None else torch.from_numpy(given_), is_causal=causal
        ),
    )
    check(op, [q, k, v])


def test_attention_with_grouped_heads() -> None:
    random = np.random.default_rng(1)
    q, k, v = (random.normal(size=(2, h, 5, 4)) for h in (4, 2, 2))
    op = Operation(
        "gqa",
        lambda q, k, v: q.scaled_dot_product_attention(k, v, enable_gqa=True),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
    )
    check(op, [q, k, v])


REDUCTIONS = ["mean", "sum", "none"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@given(data=st.data())
def test_cross_entropy(reduction: str, smoothing: float, data: st.DataObject) -> None:
    classes = data.draw(st.integers(1, 6))
    rest = tuple(data.draw(st.lists(st.integers(1, 3), max_size=2)))
    batch = data.draw(st.integers(1, 4))
    labels = np.random.default_rng(0).integers(0, classes, (batch, *rest))
    op = Operation(
        "cross_entropy",
        lambda x: x.cross_entropy(Tensor(labels), reduction, smoothing),
        lambda x: F.cross_entropy(
            x, torch.from_numpy(labels), reduction=reduction, label_smoothing=smoothing
        ),
    )
    if reduction == "mean" and rest:
        op = Operation("mean", op.ours, op.theirs)
    check(op, [data.draw(values((batch, classes, *rest), "d", op))])


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.0, 0.2, 1.0])
def test_sparse_categorical_crossentropy(reduction: str, smoothing: float) -> None:
    random = np.random.default_rng(2)
    logits, labels = random.normal(size=(7, 5)), random.integers(0, 5, 7)
    labels[2] = -1
    op = Operation(
        "sparse",
        lambda x: x.sparse_categorical_crossentropy(Tensor(labels), -1, smoothing, reduction),
        lambda x: F.cross_entropy(
            x,
            torch.from_numpy(labels),
            ignore_index=-1,
            reduction=reduction,
            label_smoothing=smoothing,
        ),
    )
    check(op, [logits])


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.0, 0.2, 1.0])
def test_cross_entropy_of_probabilities(reduction: str, smoothing: float) -> None:
    random = np.random.default_rng(2)
    logits, target = random.normal(size=(7, 5, 2)), random.dirichlet(np.ones(5), (7, 2))
    op = Operation(
        "soft",
        lambda x, y: x.cross_entropy(y, reduction, smoothing),
        lambda x, y: F.cross_entropy(x, y, reduction=reduction, label_smoothing=smoothing),
    )
    check(op, [logits, target.transpose(0, 2, 1).copy()])


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_crossentropy(reduction: str) -> None:
    random = np.random.default_rng(3)
    p, y, x = random.uniform(0.05, 0.95, (4, 3)), random.random((4, 3)), random.normal(size=(4, 3))
    check(
        Operation(
            "bce",
            lambda p, y: p.binary_crossentropy(y, reduction),
            lambda p, y: F.binary_cross_entropy(p, y.detach(), reduction=reduction),
            gradient=False,
        ),
        [p, y],
    )
    check(
        Operation(
            "logits",
            lambda x, y: x.binary_crossentropy_logits(y, reduction),
            lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction=reduction),
        ),
        [x * 4, y],
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [None, 3])
@pytest.mark.parametrize("rest", [(), (3, 2)])
def test_nll_loss(reduction: str, weighted: bool, ignored: int | None, rest: tuple[int]) -> None:
    random = np.random.default_rng(4)
    logs = np.moveaxis(np.log(random.dirichlet(np.ones(5), (7, *rest))), -1, 1).copy()
    labels = random.integers(0, 5, (7, *rest))
    weight = random.uniform(0.5, 2, 5).astype(present(np.dtype(np.float64)))
    op = Operation(
        "nll",
        lambda x: x.nll_loss(
            Tensor(labels), Tensor(weight) if weighted else None, ignored, reduction
        ),
        lambda x: F.nll_loss(
            x,
            torch.from_numpy(labels),
            torch.from_numpy(weight) if weighted else None,
            ignore_index=-100 if ignored is None else ignored,
            reduction=reduction,
        ),
    )
    check(op, [logs])


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("kind", ["float16", "float32"])
def test_crossentropy_of_infinite_logits(reduction: str, kind: str) -> None:
    logits = np.random.default_rng(5).normal(size=(6, 4)).astype(kind)
    logits[0, 1] = logits[1, :3] = logits[4, 0] = -np.inf
    labels = np.array([0, 3, 2, -1, 1, 0])
    op = Operation(
        "infinite",
        lambda x: x.sparse_categorical_crossentropy(Tensor(labels), reduction=reduction),
        lambda x: F.cross_entropy(
            x, torch.from_numpy(labels), ignore_index=-1, reduction=reduction
        ),
    )
    check(op, [logits])


def copied(layer: Any, theirs: torch.nn.Module) -> dict[str, Tensor]:
    """The state of `layer` after taking that of PyTorch's, which has the same names."""
    state = {k: v.numpy() for k, v in theirs.state_dict().items()}
    mine = nn.state.get_state_dict(layer)
    nn.state.load_state_dict(layer, {k: Tensor(state[k]).reshape(t.shape) for k, t in mine.items()})
    return mine


class ChannelNorm(torch.nn.LayerNorm):
    """PyTorch has no layer norm of channels."""

    def __init__(self) -> None:
        super().__init__(3)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


LAYERS: list[tuple[str, Callable[[], Any], Callable[[], torch.nn.Module], tuple[int, ...]]] = [
    ("linear", lambda: nn.Linear(5, 3), lambda: torch.nn.Linear(5, 3), (4, 5)),
    ("linear_plain", lambda: nn.Linear(5, 3, False), lambda: torch.nn.Linear(5, 3, False), (5,)),
    ("conv2d", lambda: nn.Conv2d(4, 6, 3, 2, 1, 1, 2), lambda: torch.nn.Conv2d(4, 6, 3, 2, 1, 1, 2),
     (2, 4, 7, 6)),
    ("conv2d_same", lambda: nn.Conv2d(2, 3, (3, 5), padding="same"),
     lambda: torch.nn.Conv2d(2, 3, (3, 5), padding="same"), (2, 2, 5, 6)),
    ("conv1d", lambda: nn.Conv1d(2, 3, 3), lambda: torch.nn.Conv1d(2, 3, 3), (2, 2, 9)),
    ("conv_transpose2d", lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2),
     lambda: torch.nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2), (2, 4, 4, 3)),
    ("group_norm", lambda: nn.GroupNorm(2, 6), lambda: torch.nn.GroupNorm(2, 6), (2, 6, 3, 4)),
    ("instance_norm", lambda: nn.InstanceNorm(3),
     lambda: torch.nn.InstanceNorm2d(3, affine=True), (2, 3, 4, 4)),
    ("layer_norm", lambda: nn.LayerNorm((3, 4)), lambda: torch.nn.LayerNorm((3, 4)), (2, 3, 4)),
    ("rms_norm", lambda: nn.RMSNorm(6), lambda: torch.nn.RMSNorm(6, eps=1e-6), (2, 3, 6)),
    ("layer_norm_2d", lambda: nn.LayerNorm2d(3), ChannelNorm, (2, 3, 4, 2)),
    ("batch_norm", lambda: nn.BatchNorm(3), lambda: torch.nn.BatchNorm2d(3), (4, 3, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("case", LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(case: tuple[str, Any, Any, tuple[int, ...]]) -> None:
    _, make, make_theirs, shape = case
    layer, theirs = make(), make_theirs()
    mine = copied(layer, theirs)
    x = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    for training in (True, False):
        theirs.train(training)
        theirs.zero_grad()
        for t in mine.values():
            t.grad = None
            if t.requires_grad is None:
                t.requires_grad = True
        with Tensor.train(training):
            have, want = layer(Tensor(x)), theirs(torch.from_numpy(x))
            same(have, want, 10)
            (have * have).sum().backward()
            (want * want).sum().backward()
        for key, parameter in theirs.named_parameters():
            assert parameter.grad is not None
            same(mine[key].grad, parameter.grad, 100)
        for key, buffer in theirs.named_buffers():
            same(mine[key].reshape(buffer.shape), buffer, 10)


def test_embedding() -> None:
    layer, theirs = nn.Embedding(7, 3), torch.nn.Embedding(7, 3)
    copied(layer, theirs)
    index = np.array([[1, 6], [0, 1]])
    same(layer(Tensor(index)), theirs(torch.from_numpy(index)))


@pytest.mark.parametrize("bias", [True, False])
def test_lstm_cell(bias: bool) -> None:
    layer, theirs = nn.LSTMCell(4, 3, bias), torch.nn.LSTMCell(4, 3, bias)
    copied(layer, theirs)
    x = np.random.default_rng(8).normal(size=(2, 5, 4)).astype(np.float32)
    state, other = None, None
    for step in x:
        state, other = layer(Tensor(step), state), theirs(torch.from_numpy(step), other)
    assert state is not None and other is not None
    for have, want in zip(state, other, strict=True):
        same(have, want)
    layer.weight_ih.requires_grad = True
    (state,) = [layer(Tensor(x[0]), None)]
    state[0].square().sum().backward()
    theirs.zero_grad()
    theirs(torch.from_numpy(x[0]))[0].square().sum().backward()
    same(layer.weight_ih.grad, theirs.weight_ih.grad, 10)


OPTIMIZERS: list[tuple[str, Any, Any]] = [
    ("sgd", lambda p: nn.optim.SGD(p, 0.1), lambda p: torch.optim.SGD(p, 0.1)),
    ("momentum", lambda p: nn.optim.SGD(p, 0.1, 0.9, 0.01),
     lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.01)),
    ("nesterov", lambda p: nn.optim.SGD(p, 0.1, 0.9, 0.01, True),
     lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.01, nesterov=True)),
    ("adam", lambda p: nn.optim.Adam(p, 0.05), lambda p: torch.optim.Adam(p, 0.05)),
    ("adamw", lambda p: nn.optim.AdamW(p, 0.05, weight_decay=0.1),
     lambda p: torch.optim.AdamW(p, 0.05, weight_decay=0.1)),
]  # fmt: skip


@pytest.mark.parametrize("case", OPTIMIZERS, ids=[c[0] for c in OPTIMIZERS])
@pytest.mark.parametrize("together", [False, True])
def test_optimizer(case: tuple[str, Any, Any], together: bool) -> None:
    _, make, make_theirs = case
    random = np.random.default_rng(6)
    arrays = [random.normal(size=s).astype(np.float32) for s in ((4, 3), (3,), (4, 3))]
    x = random.normal(size=(5, 4)).astype(np.float32)
    mine = [Tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.from_numpy(a.copy()).requires_grad_() for a in arrays]
    optimizer, other = make(mine), make_theirs(theirs)
    with Tensor.train():
        for _ in range(4):
            optimizer.zero_grad()
            other.zero_grad()
            loss = ((Tensor(x) @ mine[0] + mine[1]).tanh() @ mine[2].T).square().mean().backward()
            want = (torch.from_numpy(x) @ theirs[0] + theirs[1]).tanh() @ theirs[2].T
            want = want.square().mean()
            want.backward()
            if together:
                loss.realize(*optimizer.schedule_step())
            else:
                optimizer.step()
            other.step()
            same(loss, want, 4)
            for a, b in zip(mine, theirs, strict=True):
                same(a, b, 10)
