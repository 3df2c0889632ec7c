"""Every axis, in range and out of it, of Tensors without axes and without elements, as PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from core import Tensor
from core.errors import ShapeError

SHAPES = [(), (1,), (0,), (3,), (2, 3), (0, 3), (3, 0), (2, 0, 3)]
Call = Callable[[Any, int], Any]


def zeros_like(x: Any) -> Any:
    if isinstance(x, Tensor):
        return Tensor.zeros(*x.shape, dtype="int32")
    return torch.zeros(x.shape, dtype=torch.int64)


def same_in_both(name: str) -> tuple[Call, Call]:
    return (lambda x, a: getattr(x, name)(a),) * 2


def keeping(name: str) -> tuple[Call, Call]:
    return (lambda x, a: getattr(x, name)(a, keepdim=True),) * 2


REDUCE = ("sum", "mean", "var", "std", "argmax", "argmin", "any", "all", "logsumexp")
ALIKE = ("prod", "cumsum", "cumprod", "softmax", "log_softmax", "squeeze", "unsqueeze", "flatten",
         "permute")  # fmt: skip
CALLS: dict[str, tuple[Call, Call]] = {
    **{name: same_in_both(name) for name in (*REDUCE, *ALIKE)},
    **{f"{name}, kept": keeping(name) for name in REDUCE},
    "max": (lambda x, a: x.max(a), lambda x, a: x.max(a).values),
    "min": (lambda x, a: x.min(a), lambda x, a: x.min(a).values),
    "flip": (lambda x, a: x.flip(a), lambda x, a: x.flip((a,))),
    "sort": (lambda x, a: x.sort(a)[0],) * 2,
    "topk": (lambda x, a: x.topk(1, a)[0],) * 2,
    "topk of none": (lambda x, a: x.topk(0, a)[0],) * 2,
    "flatten to": (lambda x, a: x.flatten(0, a),) * 2,
    "transpose": (lambda x, a: x.transpose(0, a),) * 2,
    "transpose with itself": (lambda x, a: x.transpose(a, a),) * 2,
    "split": (lambda x, a: x.split(1, a)[0],) * 2,
    "chunk": (lambda x, a: x.chunk(2, a)[0],) * 2,
    "stack": (lambda x, a: x.stack(x, dim=a), lambda x, a: torch.stack((x, x), a)),
    "unflatten": (lambda x, a: x.unflatten(a, (1, -1)),) * 2,
    "gather": (lambda x, a: x.gather(a, zeros_like(x)),) * 2,
    "scatter": (lambda x, a: x.scatter(a, zeros_like(x), x),) * 2,
    "diagonal": (lambda x, a: x.diagonal(0, 0, a),) * 2,
    "index": (lambda x, a: x[a],) * 2,
    "index of the last": (lambda x, a: x[..., a],) * 2,
    "mask": (lambda x, a: x[x > a],) * 2,
    "nonzero": (lambda x, a: x.nonzero(),) * 2,
    "sum of all": (lambda x, a: x.sum(),) * 2,
    "reshape": (lambda x, a: x.reshape(-1),) * 2,
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's, on degrees of freedom
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_axis(name: str, shape: tuple[int, ...]) -> None:
    ours, theirs = CALLS[name]
    data = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 0.5
    for axis in range(-4, 4):
        try:
            wanted = theirs(torch.tensor(data), axis).numpy()
        except (RuntimeError, IndexError, ValueError):
            with pytest.raises(ShapeError):
                ours(Tensor(data), axis)
            continue
        found = ours(Tensor(data), axis).numpy()
        assert found.shape == wanted.shape, axis
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=f"axis {axis}")
