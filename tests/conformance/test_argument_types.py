"""Arguments of wrong types: what PyTorch refuses we refuse too, and say what to do.

Every call is tried with every value of `BAD`. Where we take more than PyTorch on purpose, `MORE`
says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from core import Tensor
from core.errors import UopvizError
from tests.conformance.operands import classes, image, index, kernel

NUMBERS = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
ITSELF = "the Tensor itself"
BAD: tuple[Any, ...] = ("a", 0.5, None, ["a"], (0.5,), {0: 1}, {1}, b"a", ITSELF)

ALL_AXES = ("prod", "logsumexp", "squeeze", "max", "min")
MORE = {
    **{f"{name} axis": {None} for name in ALL_AXES},
    "reshape length": {None},  # keeps a length
    "scatter reduce": {None},
    "masked_fill": {ITSELF},  # any shape that broadcasts
    "clamp": {ITSELF},  # a number and a Tensor together
    "clamp max": {ITSELF},
    "maximum": {0.5},
    "logaddexp": {0.5},
    "nll_loss ignore_index": {None},
}
"""What we take that PyTorch does not."""


@dataclass(frozen=True)
class Call:
    """A call with one argument open, as ours and as PyTorch's."""

    name: str
    ours: Callable[[Any, Any], Any]
    theirs: Callable[[Any, Any], Any]

    def __repr__(self) -> str:
        return self.name


def both(name: str, call: Callable[[Any, Any], Any]) -> Call:
    return Call(name, call, call)


def method(name: str, parameter: str, *first: Any) -> Call:
    """A method of one name here and there, with the argument given by its name."""
    return both(f"{name} {parameter}", lambda x, v: getattr(x, name)(*first, **{parameter: v}))


def place(name: str, what: str, *first: Any) -> Call:
    """The same with the argument given by its place."""
    return both(f"{name} {what}".strip(), lambda x, v: getattr(x, name)(*first, v))


def option(name: str, key: str, ours: Callable[..., Any], theirs: Callable[..., Any]) -> Call:
    return Call(
        f"{name} {key}", lambda x, v: ours(x, **{key: v}), lambda x, v: theirs(x, **{key: v})
    )


AXES = re.findall(r"\w+", """
    sum mean prod argmax argmin any all cumsum cumprod cummax softmax log_softmax logsumexp std var
    sort argsort squeeze unsqueeze max min flip cummin logcumsumexp
""")  # fmt: skip
KEEPING = ("sum", "mean", "prod", "any", "all", "std", "var", "logsumexp")
LOSSES = (
    ("binary_crossentropy", F.binary_cross_entropy, lambda x: x),
    ("binary_crossentropy_logits", F.binary_cross_entropy_with_logits, lambda x: x),
    ("cross_entropy", F.cross_entropy, classes),
    ("nll_loss", F.nll_loss, classes),
    ("sparse_categorical_crossentropy", F.cross_entropy, classes),
)


def losses() -> list[Call]:
    found: list[Call] = []
    for name, theirs, target in LOSSES:
        keys = ["reduction"]
        if theirs is F.cross_entropy:
            keys.append("label_smoothing")
        if name in ("nll_loss", "sparse_categorical_crossentropy"):
            keys.append("ignore_index")
        found += [
            option(name, key, lambda x, n=name, y=target, **k: getattr(x, n)(y(x), **k),
                   lambda x, f=theirs, y=target, **k: f(x, y(x), **k))
            for key in keys
        ]  # fmt: skip
        found.append(Call(f"{name} target", lambda x, v, n=name: getattr(x, n)(v),
                          lambda x, v, f=theirs: f(x, v)))  # fmt: skip
    return found


CALLS = (
    *(place(name, "axis") for name in AXES),
    *(method(name, "keepdim", 0) for name in KEEPING),
    *(method(name, "correction", 0) for name in ("std", "var")),
    *(place(name, "end") for name in ("flatten", "unflatten", "diagonal", "tril", "triu")),
    place("topk", "k"), place("topk", "dim", 1), place("topk", "largest", 1, 0),
    place("sort", "descending", 0), place("transpose", "axis", 0), place("permute", "axis", 0),
    place("reshape", ""), both("reshape length", lambda x, v: x.reshape((2, v))),
    place("expand", ""), place("repeat", ""), place("repeat_interleave", ""),
    place("repeat_interleave", "dim", 2), place("roll", ""), place("roll", "dims", 1),
    place("split", ""), place("split", "dim", 1), place("chunk", ""), place("chunk", "dim", 2),
    place("flatten", "last", 0), place("unflatten", "sizes", 0),
    both("unflatten dim", lambda x, v: x.unflatten(v, (1, 2))),
    both("gather dim", lambda x, v: x.gather(v, index(x))), place("gather", "index", 0),
    both("scatter dim", lambda x, v: x.scatter(v, index(x), x)),
    both("scatter index", lambda x, v: x.scatter(0, v, x)),
    both("scatter src", lambda x, v: x.scatter(0, index(x), v)),
    Call("scatter reduce", lambda x, v: x.scatter(0, index(x), x, reduce=v),
         lambda x, v: torch.Tensor.scatter(x, 0, index(x), x, reduce=v)),
    both("scatter_reduce reduce", lambda x, v: x.scatter_reduce(0, index(x), x, v)),
    both("scatter_reduce include_self",
         lambda x, v: x.scatter_reduce(0, index(x), x, "sum", include_self=v)),
    both("masked_fill", lambda x, v: x.masked_fill(x > 0, v)),
    both("masked_fill mask", lambda x, v: x.masked_fill(v, 0)), place("masked_select", ""),
    Call("where", lambda x, v: (x > 0).where(x, v), lambda x, v: torch.where(x > 0, x, v)),
    both("clamp", lambda x, v: x.clamp(v, 1)), place("clamp", "max", 0),
    both("div rounding_mode", lambda x, v: x.div(x, rounding_mode=v)),
    Call("lerp", lambda x, v: x.lerp(x, v), lambda x, v: torch.lerp(x, x, v)),
    Call("lerp end", lambda x, v: x.lerp(v, 1), lambda x, v: torch.lerp(x, v, 1)),
    *(place(name, "") for name in ("maximum", "copysign", "pow", "isclose", "matmul", "fmod",
                                      "logaddexp")),
    place("unfold", "", ), place("unfold", "size", 0), place("unfold", "step", 0, 1),
    place("multinomial", "samples"), place("multinomial", "replacement", 1),
    *(Call(f"interpolate {key}", lambda x, v, k=key: image(x).interpolate(**{"size": 2, k: v}),
           lambda x, v, k=key: F.interpolate(image(x), **{"size": 2, "mode": "bilinear", k: v}))
      for key in ("size", "mode", "align_corners")),
    Call("normalize", lambda x, v: x.normalize(v), lambda x, v: F.normalize(x, v)),
    Call("normalize dim", lambda x, v: x.normalize(2, v), lambda x, v: F.normalize(x, 2, v)),
    Call("max_unpool2d", lambda x, v: image(x).max_unpool2d(v),
         lambda x, v: F.max_unpool2d(image(x), v, 2)),
    Call("pos_weight", lambda x, v: x.binary_crossentropy_logits(x, pos_weight=v),
         lambda x, v: F.binary_cross_entropy_with_logits(x, x, pos_weight=v)),
    *(both(name, call) for name, call in (
        ("add", lambda x, v: x + v), ("sub", lambda x, v: x - v), ("mul", lambda x, v: x * v),
        ("less", lambda x, v: x < v), ("and", lambda x, v: x.bool() & v),
        ("index", lambda x, v: x[(0, v)]))),
    both("isclose rtol", lambda x, v: x.isclose(x, v)),
    both("allclose rtol", lambda x, v: x.allclose(x, v)),
    Call("elu", lambda x, v: x.elu(v), lambda x, v: F.elu(x, v)),
    Call("celu", lambda x, v: x.celu(v), lambda x, v: F.celu(x, v)),
    Call("leaky_relu", lambda x, v: x.leaky_relu(v), lambda x, v: F.leaky_relu(x, v)),
    Call("softplus", lambda x, v: x.softplus(v), lambda x, v: F.softplus(x, v)),
    Call("hardtanh", lambda x, v: x.hardtanh(v), lambda x, v: F.hardtanh(x, v)),
    Call("dropout", lambda x, v: x.dropout(v), lambda x, v: F.dropout(x, v)),
    Call("layernorm eps", lambda x, v: x.layernorm(-1, v),
         lambda x, v: F.layer_norm(x, (3,), eps=v)),
    both("softmax dtype", lambda x, v: x.softmax(0, dtype=v)), method("sum", "dtype"),
    Call("cast", lambda x, v: x.cast(v), lambda x, v: x.to(v)),
    *losses(),
    Call("nll_loss weight", lambda x, v: x.nll_loss(classes(x), v),
         lambda x, v: F.nll_loss(x, classes(x), v)),
    *(option("avg_pool2d", key, lambda x, **k: image(x).avg_pool2d((2, 2), **k),
             lambda x, **k: F.avg_pool2d(image(x), (2, 2), **k))
      for key in ("padding", "stride", "ceil_mode", "count_include_pad")),
    *(option("max_pool2d", key, lambda x, **k: image(x).max_pool2d((1, 1), **k),
             lambda x, **k: F.max_pool2d(image(x), (1, 1), **k))
      for key in ("padding", "stride", "dilation", "ceil_mode")),
    *(option(name, key, lambda x, n=name, **k: getattr(image(x), n)(kernel(x), **k),
             lambda x, n=name, **k: getattr(F, n)(image(x), kernel(x), **k))
      for name in ("conv2d", "conv_transpose2d")
      for key in ("padding", "stride", "dilation", "groups", "bias")),
    Call("conv2d weight", lambda x, v: image(x).conv2d(v), lambda x, v: F.conv2d(image(x), v)),
    Call("linear", lambda x, v: x.linear(v), lambda x, v: F.linear(x, v)),
    Call("pad", lambda x, v: x.pad((1, v)), lambda x, v: F.pad(x, (1, v))),
    Call("pad widths", lambda x, v: x.pad(v), lambda x, v: F.pad(x, v)),
    Call("pad value", lambda x, v: x.pad((1, 1), value=v), lambda x, v: F.pad(x, (1, 1), value=v)),
    Call("pad mode", lambda x, v: x.pad((1, 1), mode=v), lambda x, v: F.pad(x, (1, 1), mode=v)),
    Call("cat", lambda x, v: x.cat(v), lambda x, v: torch.cat((x, v))),
    Call("cat dim", lambda x, v: x.cat(x, dim=v), lambda x, v: torch.cat((x, x), dim=v)),
    Call("stack dim", lambda x, v: x.stack(x, dim=v), lambda x, v: torch.stack((x, x), dim=v)),
    Call("one_hot", lambda x, v: classes(x).one_hot(v), lambda x, v: F.one_hot(classes(x), v)),
    *(Call(name, lambda x, v, n=name: getattr(Tensor, n)(v),
           lambda x, v, n=name: getattr(torch, n)(v))
      for name in ("arange", "zeros", "eye", "randperm")),
    Call("full", lambda x, v: Tensor.full((2,), v), lambda x, v: torch.full((2,), v)),
    Call("linspace", lambda x, v: Tensor.linspace(0, v, 3), lambda x, v: torch.linspace(0, v, 3)),
    Call("linspace steps", lambda x, v: Tensor.linspace(0, 1, v),
         lambda x, v: torch.linspace(0, 1, v)),
    Call("randint", lambda x, v: Tensor.randint(2, high=v), lambda x, v: torch.randint(v, (2,))),
    *(option("scaled_dot_product_attention", key,
             lambda x, **k: x.scaled_dot_product_attention(x, x, **k),
             lambda x, **k: F.scaled_dot_product_attention(x, x, x, **k))
      for key in ("is_causal", "dropout_p", "attn_mask")),
    Call("einsum", lambda x, v: Tensor.einsum(v, x), lambda x, v: torch.einsum(v, x)),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS, ids=repr)
def test_what_pytorch_refuses(call: Call) -> None:
    tried = [value for value in BAD if _refused(call, value)]
    for value in tried:
        x = Tensor(NUMBERS)
        said = "it is taken"
        try:
            with Tensor.train():
                call.ours(x, x if value is ITSELF else value)
        except UopvizError as refused:
            said = str(refused)
        assert "hint" in said, f"{value!r}: {said}"


def _refused(call: Call, value: Any) -> bool:
    """Whether PyTorch refuses it, and we do not take it on purpose."""
    x = torch.tensor(NUMBERS)
    try:
        call.theirs(x, x if value is ITSELF else value)
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError, AssertionError,
            NotImplementedError):  # fmt: skip
        return not any(value is more or value == more for more in MORE.get(call.name, ()))
    return False
