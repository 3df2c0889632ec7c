"""Windows, pooling with positions, resampling and cropping against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core import Tensor
from tests.conformance.comparing import Operation, check, held, same

X = np.random.default_rng(3).normal(size=(2, 3, 7, 9))
SIZES = [((2, 3, 5), (8,)), ((2, 3, 5), (3,)), ((1, 2, 5, 7), (9, 4)), ((1, 2, 5, 7), (10, 14)),
         ((1, 1, 3, 4, 5), (5, 3, 7)), ((1, 1, 1), (4,)), ((1, 1, 6), (1,))]  # fmt: skip
MODES = ["linear", "cubic", "nearest", "nearest-exact"]


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_interpolate(mode: str, corners: bool) -> None:
    nearest = mode.startswith("nearest")
    for shape, size in SIZES:
        if (corners and nearest) or (mode == "cubic" and len(size) != 2):
            continue
        theirs = {1: "linear", 2: "bilinear", 3: "trilinear"}[len(size)]
        theirs = {"linear": theirs, "cubic": "bicubic"}.get(mode, mode)
        op = Operation(
            mode,
            lambda x, size=size: x.interpolate(size, mode, corners),
            lambda x, size=size, theirs=theirs: F.interpolate(
                x, size, mode=theirs, align_corners=None if nearest else corners
            ),
        )
        array = np.random.default_rng(4).normal(size=shape)
        check(op, [array])


def test_interpolate_of_other_dtypes() -> None:
    array = np.arange(12).reshape(1, 1, 3, 4)
    same(Tensor(array.astype(np.uint8)).interpolate((5, 6), "nearest"),
         F.interpolate(torch.from_numpy(array.astype(np.uint8)), (5, 6)))  # fmt: skip
    half = array.astype(np.float16) / 7
    same(
        Tensor(half).interpolate(5), F.interpolate(torch.from_numpy(half), (5, 5), mode="bilinear")
    )


@pytest.mark.parametrize(("kernel", "stride", "dilation", "padding", "ceil"), [
    ((2, 2), None, 1, 0, False), ((3, 2), 2, 1, 1, False), ((2, 3), (1, 2), 2, 0, True),
    ((3, 3), 2, 1, 1, True), ((1, 1), 3, 1, 0, False),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["f", "ties"])
def test_max_pool_with_indices(
    kernel: Any, stride: Any, dilation: Any, padding: Any, ceil: bool, kind: str
) -> None:
    x = held(np.round(X)) if kind == "ties" else X.astype(kind)
    if kind == "ties":
        x[0] = -np.inf
    want, places = F.max_pool2d(torch.from_numpy(x), kernel, stride, padding, dilation, ceil, True)
    have, at = Tensor(x).max_pool2d(kernel, stride, dilation, padding, ceil, return_indices=True)
    same(have, want)
    np.testing.assert_array_equal(at.numpy(), places.numpy())


@pytest.mark.parametrize(("kernel", "stride", "padding", "size"), [
    ((2, 2), None, 0, None), ((2, 2), None, 0, (7, 9)), ((3, 3), 2, 1, (7, 9)),
    ((2, 3), (2, 3), 0, (2, 3, 7, 9)),
])  # fmt: skip
def test_max_unpool(kernel: Any, stride: Any, padding: Any, size: Any) -> None:
    x = torch.from_numpy(X[:, :, :6, :8] if size is None else X)
    pooled, at = F.max_pool2d(x, kernel, stride, padding, return_indices=True)
    places = Tensor(at.numpy().astype(np.int32))
    op = Operation(
        "unpool",
        lambda x: x.max_unpool2d(places, kernel, stride, 1, padding, size),
        lambda x: F.max_unpool2d(
            x, at, kernel, stride, padding, None if size is None else size[-2:]
        ),
    )
    # overlapping windows may name a place twice, whose gradients are defined in no way
    check(Operation("unpool", op.ours, op.theirs, gradient=stride != 2), [pooled.numpy()])


@pytest.mark.parametrize(("dim", "size", "step"), [
    (0, 1, 1), (2, 3, 2), (2, 3, 1), (-1, 9, 1), (1, 2, 3), (-1, 2, 4)
])  # fmt: skip
def test_unfold(dim: int, size: int, step: int) -> None:
    def windows(x: Any) -> Any:
        return x.unfold(dim, size, step)

    check(Operation("unfold", windows, windows), [X])
    check(Operation("unfold", windows, windows), [X.astype(np.int32)])


@pytest.mark.parametrize("widths", [(-2, -1), (-2, 2), (1, -1), (0, -2)])
@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_negative_padding(widths: tuple[int, int], mode: str) -> None:
    for given in (widths, (*widths, -1, 1)):
        op = Operation(
            "pad",
            lambda x, given=given: x.pad(given, mode),
            lambda x, given=given: F.pad(x, given, mode),
        )
        check(op, [X[0] if len(given) == 2 else X])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_pos_weight(reduction: str) -> None:
    random = np.random.default_rng(5)
    weight = held(np.array([0.5, 2, 3]))
    op = Operation(
        "pos_weight",
        lambda x, y: x.binary_crossentropy_logits(y, reduction, Tensor(weight)),
        lambda x, y: F.binary_cross_entropy_with_logits(
            x, y, reduction=reduction, pos_weight=torch.from_numpy(weight)
        ),
    )
    check(op, [random.normal(size=(4, 3)) * 20, random.random((4, 3))])
    large, targets = np.array([[-1e30, 1e30, 0], [1e30, -1e30, -0.0]]), np.array([[0, 1, 1.0]] * 2)
    check(Operation("large", op.ours, op.theirs, gradient=False), [large, targets])
