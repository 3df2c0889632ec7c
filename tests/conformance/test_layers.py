"""Recurrent layers, attention, and layers without weights against PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from core import Tensor, nn
from core.errors import UopvizError
from tests.conformance.comparing import Operation, check, held, same
from tests.conformance.test_neural import copied

R = np.random.default_rng(9)


def numbers(*shape: int) -> np.ndarray:
    return R.normal(size=shape).astype(np.float32)


def parts(value: Any) -> list[Any]:
    """The Tensors of a result, in order; None is none."""
    if isinstance(value, tuple | list):
        return [x for part in value for x in parts(part)]
    return [] if value is None else [value]


def compare(
    ours: Any, theirs: torch.nn.Module, given: list[np.ndarray], states: bool = False, **more: Any
) -> None:
    """All results, and the gradients of their squares for parameters and inputs. `states`: all
    inputs but the first are one argument."""
    mine = copied(ours, theirs)
    xs = [Tensor(a, requires_grad=True) for a in given]
    ys = [torch.from_numpy(a.copy()).requires_grad_() for a in given]
    theirs.eval()
    for t in mine.values():
        t.requires_grad, t.grad = True, None
    masks = {k: Tensor(v) if isinstance(v, np.ndarray) else v for k, v in more.items()}
    have = parts(ours(*((xs[0], tuple(xs[1:])) if states else xs), **masks))
    masks = {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in more.items()}
    want = parts(theirs(*((ys[0], tuple(ys[1:])) if states else ys), **masks))
    assert len(have) == len(want)
    sum((a.square().sum() for a in have[1:]), have[0].square().sum()).backward()
    sum(a.square().sum() for a in want).backward()
    grads = [t.grad for t in (*xs, *mine.values()) if t.grad is not None]
    Tensor.realize(*have, *grads)
    for a, b in zip(have, want, strict=True):
        same(a, b, 4)
    for x, y in zip(xs, ys, strict=True):
        same(x.grad, y.grad, 40)
    for name, parameter in theirs.named_parameters():
        same(mine[name].grad, parameter.grad, 40)


CELLS: list[tuple[str, Any]] = [
    ("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu", "bias": False}), ("GRUCell", {}),
    ("GRUCell", {"bias": False}),
]  # fmt: skip
LAYERS: list[tuple[str, Any, tuple[int, ...]]] = [
    ("RNN", {"nonlinearity": "relu"}, (3, 2, 4)), ("RNN", {"bidirectional": True}, (2, 4)),
    ("GRU", {"batch_first": True}, (2, 2, 4)), ("GRU", {"num_layers": 2, "bias": False}, (1, 4)),
    ("LSTM", {"bidirectional": True, "batch_first": True}, (1, 2, 4)), ("LSTM", {}, (1, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), CELLS)
def test_cells(name: str, options: dict[str, Any]) -> None:
    ours, theirs = (getattr(m, name)(4, 3, **options) for m in (nn, torch.nn))
    compare(ours, theirs, [numbers(2, 4), numbers(2, 3)])
    same(ours(Tensor(np.ones((2, 4), "f"))), theirs(torch.ones(2, 4)))


@pytest.mark.parametrize(("name", "options", "shape"), LAYERS)
def test_recurrent_layers(name: str, options: dict[str, Any], shape: tuple[int, ...]) -> None:
    ours, theirs = (getattr(m, name)(4, 3, **options) for m in (nn, torch.nn))
    compare(ours, theirs, [numbers(*shape)])


def test_recurrent_layers_go_on() -> None:
    ours, theirs = (m.LSTM(4, 3, 2) for m in (nn, torch.nn))
    compare(ours, theirs, [numbers(1, 2, 4), numbers(2, 2, 3), numbers(2, 2, 3)], states=True)


MASK = np.array([[False, True, False], [False, False, True]])
ATTENTION: list[tuple[dict[str, Any], tuple[int, ...], dict[str, Any]]] = [
    ({}, (2, 3, 4), {}), ({"bias": False}, (2, 3, 4), {"average_attn_weights": False}),
    ({"batch_first": True}, (3, 2, 4), {"attn_mask": MASK, "need_weights": False}),
    ({}, (2, 3, 4), {"attn_mask": numbers(2, 3), "key_padding_mask": numbers(3, 3)}),
    ({"kdim": 5, "vdim": 6}, (2, 3, 4), {"key_padding_mask": MASK[[0, 1, 1]]}),
    ({}, (2, 4), {"attn_mask": MASK}),
    ({"batch_first": True}, (3, 2, 4), {"attn_mask": np.repeat(MASK[None], 6, 0)}),
]  # fmt: skip


@pytest.mark.parametrize(("options", "shape", "masks"), ATTENTION)
def test_attention_layer(
    options: dict[str, Any], shape: tuple[int, ...], masks: dict[str, Any]
) -> None:
    ours, theirs = (m.MultiheadAttention(4, 2, **options) for m in (nn, torch.nn))
    keys = list(shape)
    keys[1 if options.get("batch_first") else 0] = 3
    k, v = ([*keys[:-1], options.get(n, 4)] for n in ("kdim", "vdim"))
    compare(ours, theirs, [numbers(*shape), numbers(*k), numbers(*v)], **masks)


def test_later_keys_are_masked() -> None:
    layer, x = nn.MultiheadAttention(4, 2, batch_first=True), Tensor(numbers(2, 3, 4))
    padding = np.array([[False, False, True], [False, False, False]])
    later = Tensor(np.triu(np.ones((3, 3), bool), 1))
    for padded in (None, Tensor(padding)):
        want = layer(x, x, x, padded, attn_mask=later)
        for have, known in zip(layer(x, x, x, padded, is_causal=True), want, strict=True):
            assert have is not None
            assert known is not None
            np.testing.assert_allclose(have.numpy(), known.numpy(), atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*nested_tensor")
@pytest.mark.parametrize("options", [
    {}, {"norm_first": True, "activation": "gelu", "batch_first": True}, {"bias": False},
])  # fmt: skip
def test_encoder(options: dict[str, Any]) -> None:
    ours, theirs = (m.TransformerEncoderLayer(4, 2, 6, **options) for m in (nn, torch.nn))
    compare(ours, theirs, [numbers(3, 2, 4)])
    if options:
        return
    ours, theirs = (m.TransformerEncoder(layer, 2) for m, layer in ((nn, ours), (torch.nn, theirs)))
    copied(ours, theirs)
    x = numbers(2, 2, 4)
    same(ours(Tensor(x)), theirs.eval()(torch.from_numpy(x)), 4)


X = (R.normal(size=(2, 4, 6)) * 2).round(3)
PLAIN: list[tuple[str, Any]] = [
    *((name, ()) for name in (
        "ReLU", "ReLU6", "LeakyReLU", "ELU", "CELU", "SELU", "GELU", "SiLU", "Mish", "Sigmoid",
        "LogSigmoid", "Tanh", "Tanhshrink", "Softplus", "Softsign", "Hardtanh", "Hardswish",
        "Hardsigmoid", "Hardshrink", "Softshrink", "Identity", "Flatten",
    )),
    *((name, (1,)) for name in ("Softmax", "Softmin", "LogSoftmax", "GLU")),
    ("LeakyReLU", (0.3, True)), ("ELU", (2.0,)), ("GELU", ("tanh",)), ("Softplus", (2.0,)),
    ("Hardtanh", (-0.5, 2.0)), ("Hardshrink", (1.0,)), ("Softshrink", (0.2,)), ("Flatten", (0, 1)),
    ("MaxPool1d", (2,)), ("MaxPool2d", (2, 1, 1)), ("AvgPool1d", (3, 2, 1)), ("AvgPool2d", (2,)),
    ("AdaptiveAvgPool1d", (3,)), ("AdaptiveAvgPool1d", (4,)), ("AdaptiveAvgPool2d", (1,)),
    ("AdaptiveAvgPool2d", ((3, None),)), ("AdaptiveMaxPool2d", ((3, 4),)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), PLAIN)
def test_layers_without_weights(name: str, args: Any) -> None:
    ours, theirs = getattr(nn, name)(*args), getattr(torch.nn, name)(*args)
    check(Operation(name, ours, lambda x: theirs(x * 1), loose=4), [X])


def test_layers_in_a_row() -> None:
    ours = nn.Sequential(nn.Linear(4, 3), nn.PReLU(3), nn.Dropout(0.5), nn.Linear(3, 2, False))
    theirs = torch.nn.Sequential(
        torch.nn.Linear(4, 3), torch.nn.PReLU(3), torch.nn.Dropout(), torch.nn.Linear(3, 2, False)
    )
    compare(ours, theirs, [numbers(5, 4)])


def test_indices_of_a_pool() -> None:
    x = held(X)
    have = nn.MaxPool2d(2, return_indices=True)(Tensor(x))
    want = torch.nn.MaxPool2d(2, return_indices=True)(torch.from_numpy(x))
    for a, b in zip(have, want, strict=True):
        same(a, b)


Y, Z, SIGNS = R.normal(size=(4, 3)), R.normal(size=(4, 3)), np.sign(R.normal(size=(4, 3)))
SHARES, CLASSES = R.dirichlet(np.ones(3), 4), np.array([2, 0, 1, 2])
WEIGHT = np.array([0.5, 1.0, 2.0])
LOSSES: list[tuple[str, dict[str, Any], list[np.ndarray]]] = [
    ("L1Loss", {}, [Y, Z]), ("MSELoss", {"reduction": "none"}, [Y, Z]),
    ("SmoothL1Loss", {"beta": 0.5}, [Y, Z]), ("HuberLoss", {"delta": 0.5}, [Y, Z]),
    ("KLDivLoss", {"reduction": "batchmean"}, [Y, SHARES]),
    ("BCELoss", {"weight": WEIGHT}, [SHARES, SHARES]),
    ("BCEWithLogitsLoss", {"pos_weight": WEIGHT}, [Y, SHARES]),
    ("CrossEntropyLoss", {"weight": WEIGHT, "label_smoothing": 0.1}, [Y, CLASSES]),
    ("CrossEntropyLoss", {"ignore_index": 2}, [Y, CLASSES]),
    ("CrossEntropyLoss", {}, [Y, SHARES]), ("NLLLoss", {"weight": WEIGHT}, [Y, CLASSES]),
    ("PoissonNLLLoss", {"full": True}, [Y, np.abs(Z)]), ("GaussianNLLLoss", {}, [Y, Z, np.abs(Z)]),
    ("HingeEmbeddingLoss", {"margin": 0.5}, [Y, SIGNS]), ("SoftMarginLoss", {}, [Y, SIGNS]),
    ("MultiLabelSoftMarginLoss", {}, [Y, SHARES]), ("MultiMarginLoss", {"p": 2}, [Y, CLASSES]),
    ("CosineEmbeddingLoss", {"margin": 0.1}, [Y, Z, SIGNS[:, 0]]),
    ("MarginRankingLoss", {"margin": 0.1}, [Y, Z, SIGNS]),
    ("TripletMarginLoss", {"swap": True}, [Y, Z, SHARES]),
    ("CTCLoss", {"blank": 1},
     [np.log(SHARES)[:, None], *(np.array(n) for n in ([[2, 0]], [4], [2]))]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "given"), LOSSES)
def test_losses_as_layers(name: str, options: dict[str, Any], given: list[np.ndarray]) -> None:
    given = [held(a) for a in given]
    options = {k: held(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    mine = {k: Tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    other = {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    have = getattr(nn, name)(**mine)(*map(Tensor, given))
    same(have, getattr(torch.nn, name)(**other)(*map(torch.from_numpy, given)), 4)


@pytest.mark.parametrize("call", [
    lambda x: nn.RNN(4, 3, nonlinearity="sin"),
    lambda x: nn.GRU(4, 3, 0),
    lambda x: nn.GRU(5, 3)(x),
    lambda x: nn.LSTM(4, 3)(x, (Tensor.zeros(1, 3, 2), Tensor.zeros(1, 3, 2))),
    lambda x: nn.MultiheadAttention(4, 3),
    lambda x: nn.MultiheadAttention(4, 2)(x, x, x, attn_mask=Tensor.zeros(2, 3)),
    lambda x: nn.MultiheadAttention(4, 2)(x, x, x, Tensor.zeros(3, 3)),
    lambda x: nn.MultiheadAttention(4, 2)(x, x[:, :1], x),
    lambda x: nn.TransformerEncoderLayer(4, 2, activation="sin"),
    lambda x: nn.AdaptiveAvgPool2d(0)(x),
])  # fmt: skip
def test_mistakes(call: Callable[[Tensor], object]) -> None:
    with pytest.raises(UopvizError) as error:
        call(Tensor(numbers(2, 3, 4)))
    assert error.value.hint
