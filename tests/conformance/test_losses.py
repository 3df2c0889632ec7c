"""Losses of values, pairs and sequences against PyTorch: every reduction, and gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core import Tensor
from core.errors import UopvizError
from tests.conformance.comparing import Operation, check, held

R = np.random.default_rng(7)
X, Y, Z = (R.normal(size=(4, 3)) for _ in range(3))
SIGNS, ROW_SIGNS = np.sign(R.normal(size=(4, 3))), np.array([1, -1, -1, 1])
SHARES = R.dirichlet(np.ones(3), 4)
SHARES[0] = [0, 1, 0]
COUNTS = np.array([[0.0, 1, 2], [3, 0, 5], [1, 1, 1], [8, 2, 0]])
WEIGHT, CLASSES = np.array([0.5, 2.0, 1.5]), np.array([2, 0, 1, 2])


@dataclass(frozen=True)
class Case:
    """A loss of arrays that gradients are for, and of others that are constants."""

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    given: tuple[np.ndarray, ...]
    others: tuple[np.ndarray, ...] = ()

    def __repr__(self) -> str:
        return self.name


def same(
    name: str, *given: np.ndarray, others: tuple[np.ndarray, ...] = (), **options: Any
) -> Case:
    """A loss of one name in both."""

    def ours(*values: Any, **more: Any) -> Any:
        return getattr(values[0], name)(*values[1:], **more, **options)

    def theirs(*values: Any, **more: Any) -> Any:
        return getattr(F, name)(*values, **more, **options)

    shown = ",".join(f"{k}={v}" for k, v in options.items())
    return Case(f"{name}({shown})", ours, theirs, given, others)


CASES = (
    same("l1_loss", X, Y), same("mse_loss", X, Y), same("smooth_l1_loss", X, Y),
    same("smooth_l1_loss", X, Y, beta=0.3), same("smooth_l1_loss", X, Y, beta=0.0),
    same("huber_loss", X, Y), same("huber_loss", X, Y, delta=0.4),
    same("kl_div", np.log(SHARES + 0.1), SHARES + 0.05), same("kl_div", X, others=(SHARES,)),
    same("kl_div", X, Y, log_target=True),
    same("poisson_nll_loss", X, Y), same("poisson_nll_loss", np.abs(X), Y, log_input=False),
    same("poisson_nll_loss", X, others=(COUNTS,), full=True),
    same("gaussian_nll_loss", X, Y, np.abs(Z)), same("gaussian_nll_loss", X, Y, np.abs(Z[:, 0])),
    same("gaussian_nll_loss", X, Y, np.abs(Z[:, :1]), full=True, eps=0.5),
    same("hinge_embedding_loss", X, others=(SIGNS,)),
    same("hinge_embedding_loss", X, others=(SIGNS,), margin=0.3),
    same("cosine_embedding_loss", X, Y, others=(ROW_SIGNS,)),
    same("cosine_embedding_loss", X, Y, others=(ROW_SIGNS,), margin=-0.4),
    same("margin_ranking_loss", X, Y, others=(SIGNS,), margin=0.2),
    same("triplet_margin_loss", X, Y, Z), same("triplet_margin_loss", X, Y, Z, p=1.0, margin=2.0),
    same("triplet_margin_loss", X, Y, Z, swap=True), same("soft_margin_loss", X, others=(SIGNS,)),
    same("multilabel_soft_margin_loss", X, others=((SIGNS + 1) / 2, WEIGHT)),
    same("multi_margin_loss", X, others=(CLASSES,)),
    same("multi_margin_loss", X, others=(CLASSES,), p=2, margin=0.4),
    Case("multi_margin_loss(weight)", lambda x, c, w, **k: x.multi_margin_loss(c, weight=w, **k),
         lambda x, c, w, **k: F.multi_margin_loss(x, c, weight=w, **k), (X,), (CLASSES, WEIGHT)),
    Case("bce(weight)", lambda x, y, w, **k: x.sigmoid().binary_crossentropy(y, weight=w, **k),
         lambda x, y, w, **k: F.binary_cross_entropy(x.sigmoid(), y, weight=w.expand(4, 3), **k),
         (X,), (SHARES, WEIGHT)),
    Case("bce_logits(weight)",
         lambda x, y, w, **k: x.binary_crossentropy_logits(y, weight=w, pos_weight=w * 2, **k),
         lambda x, y, w, **k: F.binary_cross_entropy_with_logits(
             x, y, weight=w, pos_weight=w * 2, **k), (X,), (SHARES, WEIGHT)),
    *(Case(f"cross_entropy(weight={w}, smoothing={s}, ignore_index={i})",
           lambda x, c, v, w=w, s=s, i=i, **k: x.cross_entropy(
               c, label_smoothing=s, weight=v if w else None, ignore_index=i, **k),
           lambda x, c, v, w=w, s=s, i=i, **k: F.cross_entropy(
               x, c, label_smoothing=s, weight=v if w else None,
               ignore_index=-100 if i is None else i, **k), (X,), (CLASSES, WEIGHT))
      for w in (False, True) for s in (0.0, 0.2) for i in (None, 2)),
    Case("cross_entropy(shares, weight)",
         lambda x, y, v, **k: x.cross_entropy(y, label_smoothing=0.1, weight=v, **k),
         lambda x, y, v, **k: F.cross_entropy(x, y, label_smoothing=0.1, weight=v, **k),
         (X,), (SHARES, WEIGHT)),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_loss(case: Case, reduction: str) -> None:
    others = [held(a) for a in case.others]
    op = Operation(
        case.name,
        lambda *x: case.ours(*x, *map(Tensor, others), reduction=reduction),
        lambda *x: case.theirs(*x, *map(torch.from_numpy, others), reduction=reduction),
    )
    check(op, list(case.given))


def test_batchmean() -> None:
    op = Operation(
        "batchmean",
        lambda x, y: x.kl_div(y, "batchmean"),
        lambda x, y: F.kl_div(x, y, reduction="batchmean"),
    )
    check(op, [X, SHARES + 0.05])


@pytest.mark.parametrize("case", [
    Operation("cosine_similarity", Tensor.cosine_similarity, F.cosine_similarity),
    Operation("cosine last", lambda x, y: x.cosine_similarity(y, -1, 2.0),
              lambda x, y: F.cosine_similarity(x, y, -1, 2.0), gradient=False),
    Operation("pairwise_distance", Tensor.pairwise_distance, F.pairwise_distance),
    Operation("pairwise_distance 1", lambda x, y: x.pairwise_distance(y, 1.0, keepdim=True),
              lambda x, y: F.pairwise_distance(x, y, 1.0, keepdim=True)),
], ids=repr)  # fmt: skip
def test_distances(case: Operation) -> None:
    check(case, [X, Y])


LABELS = np.array([[1, 2, 2], [3, 1, 0], [2, 1, 3]])


@pytest.mark.parametrize(
    ("reduction", "times", "counts", "joined"),
    [
        ("mean", [6, 5, 6], [3, 2, 1], False),
        ("none", [6, 6, 4], [3, 1, 0], False),
        ("sum", [6, 5, 6], [3, 2, 3], True),
    ],
)
def test_ctc(reduction: str, times: list[int], counts: list[int], joined: bool) -> None:
    labels = LABELS
    if joined:
        labels = np.concatenate([row[:n] for row, n in zip(LABELS, counts, strict=True)])
    op = Operation(
        "ctc_loss",
        lambda x: x.log_softmax(-1).ctc_loss(Tensor(labels), times, counts, 0, reduction),
        lambda x: F.ctc_loss(
            x.log_softmax(-1), torch.from_numpy(labels), times, counts, 0, reduction
        ),
        loose=4,
    )
    check(op, [R.normal(size=(6, 3, 4))])


@pytest.mark.parametrize("zero", [False, True])
def test_labels_that_do_not_fit(zero: bool) -> None:
    x = R.normal(size=(3, 2, 4))
    labels, times = np.array([[1, 1], [1, 2]]), [2, 3]
    op = Operation(
        "infinite",
        lambda x: x.log_softmax(-1).ctc_loss(
            Tensor(labels), Tensor(times), Tensor([2, 2]), 3, "none", zero
        ),
        lambda x: F.ctc_loss(
            x.log_softmax(-1), torch.from_numpy(labels), times, [2, 2], 3, "none", zero
        ),
        gradient=zero,
    )
    check(op, [x])


def test_ctc_without_a_batch() -> None:
    op = Operation(
        "one",
        lambda x: x.log_softmax(-1).ctc_loss(Tensor([1, 2]), [5], [2]),
        lambda x: F.ctc_loss(
            x.log_softmax(-1), torch.tensor([1, 2]), torch.tensor(5), torch.tensor(2)
        ),
    )
    check(op, [R.normal(size=(5, 4))])


@pytest.mark.parametrize("call", [
    lambda x: x.huber_loss(x, delta=0.0),
    lambda x: x.smooth_l1_loss(x, beta=-1.0),
    lambda x: x.l1_loss(x, "most"),
    lambda x: x.l1_loss(x.reshape(3, 4)),
    lambda x: x.mse_loss(x, weight=x.reshape(3, 4)),
    lambda x: x.gaussian_nll_loss(x, x.reshape(3, 4)),
    lambda x: x.cosine_embedding_loss(x, x),
    lambda x: x.multi_margin_loss(x.int(), p=3),
    lambda x: x.cross_entropy(x.int()[:, 0], weight=x[0, :2]),
    lambda x: x.cross_entropy(x, ignore_index=1),
    lambda x: x.ctc_loss(x, [1], [1]),
    lambda x: x.ctc_loss(Tensor([1]), [5], [1]),
    lambda x: x.ctc_loss(Tensor([1]), [4], [1], blank=3),
    lambda x: x.unsqueeze(1).ctc_loss(Tensor([[1]]), [4, 4], [1, 1]),
])  # fmt: skip
def test_mistakes(call: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(UopvizError) as error:
        call(Tensor(X))
    assert error.value.where
    assert error.value.hint
