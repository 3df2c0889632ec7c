"""Bad values of optional arguments: where PyTorch raises an error, so do we, and say what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from core import Tensor
from core.errors import CompileError, RenderError, UopvizError
from tests.conformance.devices import refusal
from tests.conformance.operands import classes, image, index, kernel
from tests.fuzzing import has_float64


@dataclass(frozen=True)
class Case:
    """One call with an argument that PyTorch refuses, as ours and as PyTorch's."""

    name: str
    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]

    def __repr__(self) -> str:
        return self.name


def both(name: str, call: Callable[[Any], Any]) -> Case:
    return Case(name, call, call)


AXES = (
    "sum", "mean", "prod", "argmax", "argmin", "any", "all", "cumsum", "cumprod", "softmax",
        "log_softmax", "logsumexp", "std", "var", "sort", "argsort", "squeeze", "unsqueeze",
)  # fmt: skip
CASES = (
    *(both(f"{n} axis 3", lambda x, n=n: getattr(x, n)(3)) for n in AXES),
    *(both(f"{n} axis -4", lambda x, n=n: getattr(x, n)(-4)) for n in AXES),
    *(both(f"{n} axes twice", lambda x, n=n: getattr(x, n)((0, 0)))
      for n in ("sum", "mean", "std", "var", "logsumexp")),
    both("max axis", lambda x: x.max(2)),
    both("min axis", lambda x: x.min(-3)),
    Case("cummax axis", lambda x: x.cummax(2), lambda x: x.cummax(2)),
    Case("sum dtype", lambda x: x.sum(dtype="floaty"), lambda x: x.sum(dtype="floaty")),
    Case("softmax dtype", lambda x: x.softmax(0, dtype="floaty"),
         lambda x: x.softmax(0, dtype="floaty")),
    Case("softmax to int", lambda x: x.softmax(0, dtype="int32"),
         lambda x: x.softmax(0, dtype=torch.int32)),
    Case("log_softmax to int", lambda x: x.log_softmax(0, dtype="int32"),
         lambda x: x.log_softmax(0, dtype=torch.int32)),
    both("div rounding_mode", lambda x: x.div(x, rounding_mode="up")),
    both("div rounding_mode number", lambda x: x.div(x, rounding_mode=1)),
    both("clamp nothing", lambda x: x.clamp()),
    both("topk k", lambda x: x.topk(9)),
    both("topk negative", lambda x: x.topk(-1)),
    both("cast", lambda x: x.bool().bitwise_not().neg()),
    Case("cast dtype", lambda x: x.cast("floaty"), lambda x: x.to("floaty")),
    Case("dropout p", lambda x: x.dropout(1.5), lambda x: F.dropout(x, 1.5)),
    Case("dropout negative", lambda x: x.dropout(-0.1), lambda x: F.dropout(x, -0.1)),
    Case("dropout nan", lambda x: x.dropout(float("nan")), lambda x: F.dropout(x, float("nan"))),
    Case("layernorm axis", lambda x: x.layernorm(5), lambda x: F.layer_norm(x, (5,))),
    Case("celu 0", lambda x: x.celu(0.0), lambda x: F.celu(x, 0.0)),
    Case("hardtanh", lambda x: x.hardtanh(2, 1), lambda x: F.hardtanh(x, 2, 1)),
    Case("elu text", lambda x: x.elu("a"), lambda x: F.elu(x, "a")),
    Case("leaky_relu text", lambda x: x.leaky_relu("a"), lambda x: F.leaky_relu(x, "a")),
    Case("softplus text", lambda x: x.softplus("a"), lambda x: F.softplus(x, "a")),
    *(Case(f"{n} reduction", lambda x, n=n: getattr(x, n)(x, reduction="avg"),
           lambda x, t=t: t(x, x, reduction="avg"))
      for n, t in (("binary_crossentropy", F.binary_cross_entropy),
                   ("binary_crossentropy_logits", F.binary_cross_entropy_with_logits))),
    *(Case(f"{n} reduction", lambda x, n=n: getattr(x, n)(classes(x), reduction="avg"),
           lambda x, t=t: t(x, classes(x), reduction="avg"))
      for n, t in (("cross_entropy", F.cross_entropy), ("nll_loss", F.nll_loss),
                   ("sparse_categorical_crossentropy", F.cross_entropy))),
    *(Case(f"{n} label_smoothing {v}", lambda x, n=n, v=v:
           getattr(x, n)(classes(x), label_smoothing=v),
           lambda x, v=v: F.cross_entropy(x, classes(x), label_smoothing=v))
      for n in ("cross_entropy", "sparse_categorical_crossentropy") for v in (1.5,)),
    Case("scatter_reduce reduce", lambda x: x.scatter_reduce(0, index(x), x, "median"),
         lambda x: x.scatter_reduce(0, index(x), x, "median")),
    Case("avg_pool2d padding", lambda x: image(x).avg_pool2d((2, 2), padding=2),
         lambda x: F.avg_pool2d(image(x), (2, 2), padding=2)),
    Case("max_pool2d padding", lambda x: image(x).max_pool2d((2, 2), padding=2),
         lambda x: F.max_pool2d(image(x), (2, 2), padding=2)),
    Case("max_pool2d stride 0", lambda x: image(x).max_pool2d((2, 2), stride=0),
         lambda x: F.max_pool2d(image(x), (2, 2), stride=0)),
    Case("max_pool2d dilation 0", lambda x: image(x).max_pool2d((1, 1), dilation=0),
         lambda x: F.max_pool2d(image(x), (1, 1), dilation=0)),
    *(Case(f"conv2d {k}", lambda x, k=k, v=v: image(x).conv2d(kernel(x), **{k: v}),
           lambda x, k=k, v=v: F.conv2d(image(x), kernel(x), **{k: v}))
      for k, v in (("stride", 0), ("stride", -1), ("dilation", 0), ("padding", -1), ("groups", 0),
                   ("groups", 2))),
    *(Case(f"conv_transpose2d {k}", lambda x, k=k, v=v:
           image(x).conv_transpose2d(kernel(x), **{k: v}),
           lambda x, k=k, v=v: F.conv_transpose2d(image(x), kernel(x), **{k: v}))
      for k, v in (("stride", 0), ("dilation", 0), ("groups", 0), ("output_padding", 1))),
    *(both(f"unfold {args}", lambda x, args=args: x.unfold(*args))
      for args in ((0, 3, 1), (0, 2, 0), (0, -1, 1), (2, 1, 1))),
    *(Case(f"interpolate {size} {mode}", lambda x, s=size, m=mode, c=corners:
           image(x).interpolate(s, m, c), lambda x, s=size, m=mode, c=corners:
           F.interpolate(image(x), s, mode=m, align_corners=c))
      for size, mode, corners in (((0, 2), "bilinear", False), ((2, -1), "nearest", None),
                                  ((2, 2), "sharp", False), ((2, 2), "nearest", True))),
    Case("interpolate integers", lambda x: image(x).int().interpolate((4, 4)),
         lambda x: F.interpolate(image(x).int(), (4, 4), mode="bilinear")),
    *(both(f"multinomial {n} {replacement}", lambda x, n=n, r=replacement: x.multinomial(n, r))
      for n, replacement in ((0, False), (-1, True), (4, False))),
    both("multinomial cube", lambda x: x.reshape(1, 2, 3).multinomial(1)),
    both("multinomial integers", lambda x: (x > 0).multinomial(1)),
    Case("max_unpool2d indices", lambda x: image(x).max_unpool2d(image(x)),
         lambda x: F.max_unpool2d(image(x), image(x), 2)),
    Case("max_unpool2d shape", lambda x: image(x).max_unpool2d(image(x).int()[:, :1]),
         lambda x: F.max_unpool2d(image(x), image(x).long()[:, :1], 2)),
    Case("pos_weight", lambda x: x.binary_crossentropy_logits(x, pos_weight=x[0, :2]),
         lambda x: F.binary_cross_entropy_with_logits(x, x, pos_weight=x[0, :2])),
    Case("pad away", lambda x: x.pad((-2, -2)), lambda x: F.pad(x, (-2, -2))),
    *(both(f"{n} axis 3", lambda x, n=n: getattr(x, n)(3)) for n in ("cummin", "logcumsumexp")),
    both("fmod bools", lambda x: (x > 0).fmod(x > 0)),
    Case("pad mode", lambda x: x.pad((1, 1), mode="mirror"), lambda x: F.pad(x, (1, 1), "mirror")),
    both("transpose axis", lambda x: x.transpose(0, 2)),
    both("permute twice", lambda x: x.permute(0, 0)),
    both("permute short", lambda x: x.permute(0)),
    both("flip twice", lambda x: x.flip((0, 0))),
    both("flip axis", lambda x: x.flip(2)),
    both("split 0", lambda x: x.split(0)),
    both("chunk 0", lambda x: x.chunk(0)),
    both("reshape", lambda x: x.reshape(5, -1)),
    both("reshape twice -1", lambda x: x.reshape(-1, -1)),
    both("expand", lambda x: x.expand(4, 4)),
    Case("roll", lambda x: x.roll((1, 2), (0,)), lambda x: x.roll((1, 2), (0,))),
    both("gather axis", lambda x: x.gather(2, index(x))),
    Case("lerp text", lambda x: x.lerp(x, "a"), lambda x: torch.lerp(x, x, "a")),
    Case("one_hot negative", lambda x: classes(x).one_hot(-3),
         lambda x: F.one_hot(classes(x), -3)),
    Case("diagonal", lambda x: x.reshape(6).diagonal(), lambda x: x.reshape(6).diagonal()),
    Case("tril 1d", lambda x: x.reshape(6).tril(), lambda x: x.reshape(6).tril()),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_what_pytorch_refuses(case: Case) -> None:
    numbers = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError, NotImplementedError)):
        case.theirs(torch.tensor(numbers))
    with Tensor.train(), pytest.raises(UopvizError) as raised:
        case.ours(Tensor(numbers))
    assert "hint" in str(raised.value), "say what to do"


def test_what_the_device_refuses() -> None:
    """float64, where it has none: with an error that names the node, the line, and what to do."""
    x = Tensor([0.5, 0.25], dtype="float64")
    if has_float64():
        assert (x * 2).tolist() == [1.0, 0.5]
        return
    with pytest.raises((CompileError, RenderError)) as raised:
        (x * 2).tolist()
    assert refusal(raised.value)
    assert "test_refusals.py" in raised.value.where
