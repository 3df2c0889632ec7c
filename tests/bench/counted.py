"""Known programs and the kernels that a scheduler makes of each, on `core` or on tinygrad.

Each takes the names that it uses (Tensor, nn, Context) and gives the Tensors to compute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True)
class Counted:
    """A program, what its kernels are, and how many tinygrad 0.14.0 makes (None: not measured)."""

    name: str
    make: Callable[[Any], list[Any]]
    kernels: int
    why: str
    tinygrad: int | None = None
    flags: dict[str, int] = field(default_factory=dict[str, int])


def stored(ns: Any, *shape: int) -> Any:
    """A Tensor of some shape that is in memory."""
    return ns.Tensor.empty(*shape).contiguous().realize()


def with_weights(ns: Any, layer: Any) -> Any:
    """A layer whose parameters are in memory."""
    for p in ns.nn.state.get_parameters(layer):
        p.replace(stored(ns, *p.shape))
    return layer


def _norm(ns: Any, layer: Any, *shape: int) -> list[Any]:
    return [with_weights(ns, layer)(stored(ns, *shape))]


def _batch_norm(ns: Any) -> Any:
    layer = with_weights(ns, ns.nn.BatchNorm(8))
    layer.running_mean, layer.running_var = stored(ns, 8), stored(ns, 8)
    return layer


def _transposed_copy(ns: Any) -> list[Any]:
    total = stored(ns, 2, 3, 4).sum(2)
    return [total.transpose(0, 1).contiguous(), total * 2]


def _bn_eval(ns: Any) -> list[Any]:
    return [_batch_norm(ns)(stored(ns, 4, 8, 6, 6))]


def _bn_train(ns: Any) -> list[Any]:
    layer = _batch_norm(ns)
    with ns.Context(TRAINING=1):
        return [layer(stored(ns, 4, 8, 6, 6)), layer.running_mean, layer.running_var]


def _attention(ns: Any) -> list[Any]:
    q, k, v = (stored(ns, 2, 4, 16, 8) for _ in range(3))
    return [q.scaled_dot_product_attention(k, v)]


def _attention_fused(ns: Any) -> list[Any]:
    q, k, v = (stored(ns, 2, 4, 16, 8) for _ in range(3))
    return [((q @ k.transpose(-2, -1)).softmax() @ v).fuse()]


def _conv(ns: Any, x: Any, channels: int) -> Any:
    return with_weights(ns, ns.nn.Conv2d(x.shape[1], channels, 3))(x)


def _conv_bn(ns: Any) -> list[Any]:
    x = stored(ns, 2, 3, 16, 16).conv2d(stored(ns, 8, 3, 3, 3))
    return [_batch_norm(ns)(x).relu()]


def _leaf(ns: Any, *shape: int) -> Any:
    made = stored(ns, *shape)
    made.requires_grad = True
    return made


def _conv_backward(ns: Any) -> list[Any]:
    x, w = _leaf(ns, 2, 3, 16, 16), _leaf(ns, 8, 3, 3, 3)
    x.conv2d(w).relu().sum().backward()
    return [w.grad, x.grad]


def _two_convs_backward(ns: Any) -> list[Any]:
    x, w, v = stored(ns, 2, 3, 16, 16), _leaf(ns, 8, 3, 3, 3), _leaf(ns, 8, 8, 3, 3)
    x.conv2d(w).relu().conv2d(v).relu().sum().backward()
    return [w.grad, v.grad]


def _max_pool_backward(ns: Any) -> list[Any]:
    w = _leaf(ns, 8, 3, 3, 3)
    stored(ns, 2, 3, 16, 16).conv2d(w).max_pool2d().sum().backward()
    return [w.grad]


def _linear_backward(ns: Any) -> list[Any]:
    w = _leaf(ns, 16, 8)
    stored(ns, 4, 16).dot(w).relu().sum().backward()
    return [w.grad]


def _softmax_backward(ns: Any) -> list[Any]:
    x = _leaf(ns, 8, 10)
    (x.softmax() * stored(ns, 8, 10)).sum().backward()
    return [x.grad]


def _labels(ns: Any) -> Any:
    return ns.Tensor([1] * 8).contiguous().realize()


def _loss_backward(ns: Any) -> list[Any]:
    x = _leaf(ns, 8, 10)
    x.sparse_categorical_crossentropy(_labels(ns)).backward()
    return [x.grad]


def _adam(ns: Any) -> list[Any]:
    p = _leaf(ns, 8, 8)
    optimizer = ns.nn.optim.Adam([p])
    for t in ns.nn.state.get_parameters(optimizer):
        t.realize()
    p.grad = stored(ns, 8, 8)
    with ns.Context(TRAINING=1):
        return list(optimizer.schedule_step())


def _mlp_step(ns: Any) -> list[Any]:
    first, last = (with_weights(ns, ns.nn.Linear(*n)) for n in ((16, 32), (32, 4)))
    parameters = ns.nn.state.get_parameters([first, last])
    for p in parameters:
        p.requires_grad = True
    optimizer = ns.nn.optim.SGD(parameters, lr=0.1)
    with ns.Context(TRAINING=1):
        optimizer.zero_grad()
        loss = last(first(stored(ns, 8, 16)).relu()).square().mean()
        loss.backward()
        return [*optimizer.schedule_step(), loss]


def _four_convs_step(ns: Any) -> list[Any]:
    layers = [with_weights(ns, ns.nn.Conv2d(4 << k - 1 if k else 3, 4 << k, 3, bias=False))
              for k in range(4)]  # fmt: skip
    parameters = ns.nn.state.get_parameters(layers)
    for p in parameters:
        p.requires_grad = True
    optimizer = ns.nn.optim.SGD(parameters)
    with ns.Context(TRAINING=1):
        optimizer.zero_grad()
        x = stored(ns, 2, 3, 16, 16)
        for layer in layers:
            x = layer(x).relu()
        x.sum().backward()
        return list(optimizer.schedule_step())


def _conv_and_backward(ns: Any) -> list[Any]:
    x, w = _leaf(ns, 1, 3, 11, 11), _leaf(ns, 4, 3, 3, 3)
    y = x.conv2d(w)
    y.mean().backward()
    return [y, x.grad, w.grad]


def _assigned(ns: Any) -> list[Any]:
    x = stored(ns, 8, 8)
    x.assign(x + 1)
    return [x]


def _item_set(ns: Any) -> list[Any]:
    x = stored(ns, 8, 8)
    x[2:4] = stored(ns, 2, 8)
    return [x]


def _two_outputs(ns: Any) -> list[Any]:
    x = stored(ns, 8, 8)
    return [x + 1, x * 2]


def _rotary(ns: Any) -> list[Any]:
    x, f = stored(ns, 1, 4, 2, 8), stored(ns, 4, 4)
    c, s = f.cos().reshape(1, 4, 1, 4), f.sin().reshape(1, 4, 1, 4)
    a, b = x[..., :4], x[..., 4:]
    return [(a * c - b * s).cat(a * s + b * c, dim=-1)]


def _fed_forward(ns: Any) -> list[Any]:
    wide, narrow = (with_weights(ns, ns.nn.Linear(*n)) for n in ((16, 64), (64, 16)))
    return [narrow(wide(stored(ns, 4, 16)).gelu())]


_REDUCES = "a kernel for each reduce; what follows one is computed with the next"
_SUMS = "sums side by side are faster apart: each has loops and vectors of its own"
_POOLED = "the overlapping windows are summed by two reduces, which are faster apart on CPUs"

PROGRAMS: Final = (
    Counted("softmax", lambda ns: [stored(ns, 64, 64).softmax()], 3, _REDUCES, 3),
    Counted(
        "softmax().fuse()", lambda ns: [stored(ns, 64, 64).softmax().fuse()], 1, "one, as asked"
    ),
    Counted("log_softmax", lambda ns: [stored(ns, 64, 64).log_softmax()], 3, _REDUCES, 3),
    Counted("layer norm", lambda ns: _norm(ns, ns.nn.LayerNorm(64), 8, 64), 3, _REDUCES, 3),
    Counted("RMS norm", lambda ns: _norm(ns, ns.nn.RMSNorm(64), 8, 64), 2, _REDUCES, 2),
    Counted(
        "group norm", lambda ns: _norm(ns, ns.nn.GroupNorm(4, 16), 2, 16, 8, 8), 3, _REDUCES, 3
    ),
    Counted("batch norm, evaluation", _bn_eval, 1, "elementwise", 1),
    Counted(
        "batch norm, training", _bn_train, 3, "two reduces, with the running values; the result", 5
    ),
    Counted(
        "attention",
        _attention,
        5,
        "scores, maximum, sum, probabilities, product: within the product, each probability would "
        "be computed for every column",
        4,
    ),
    Counted("attention.fuse()", _attention_fused, 1, "one, as asked"),
    Counted(
        "conv + bias + relu",
        lambda ns: [_conv(ns, stored(ns, 2, 3, 16, 16), 8).relu()],
        1,
        "all follows the reduce",
        1,
    ),
    Counted("conv + batch norm + relu, evaluation", _conv_bn, 1, "all follows the reduce", 1),
    Counted("conv + relu, backward to input and weight", _conv_backward, 5, _POOLED, 3),
    Counted(
        "conv + relu, backward, FUSE_CONV_BW=1",
        _conv_backward,
        3,
        "where relu was positive; a gradient each",
        flags={"FUSE_CONV_BW": 1},
    ),
    Counted("two convs, backward to the weights", _two_convs_backward, 7, _POOLED, 5),
    Counted(
        "two convs, backward, FUSE_CONV_BW=1",
        _two_convs_backward,
        5,
        "two values on the way, three gradients",
        flags={"FUSE_CONV_BW": 1},
    ),
    Counted(
        "conv, max pool, backward",
        _max_pool_backward,
        4,
        "conv, maximum, how many are equal, gradient",
        5,
    ),
    Counted(
        "linear + relu, backward", _linear_backward, 2, "where relu was positive; the gradient", 2
    ),
    Counted("softmax, backward", _softmax_backward, 4, _REDUCES, 4),
    Counted(
        "cross entropy of labels",
        lambda ns: [stored(ns, 8, 10).sparse_categorical_crossentropy(_labels(ns))],
        4,
        "maximum, sum, labels that count, mean: sums side by side are faster apart",
        3,
    ),
    Counted(
        "cross entropy of labels, backward",
        _loss_backward,
        4,
        "labels that count, maximum, sum with what the label picks, gradient: sums side by side "
        "are faster apart",
        3,
    ),
    Counted(
        "Adam step",
        _adam,
        3,
        "the moments and the parameter in one; a kernel for each power of beta",
        6,
    ),
    Counted(
        "SGD step of two linear layers",
        _mlp_step,
        8,
        "forward 3, backward 1, a kernel for each parameter",
        13,
    ),
    Counted(
        "x + arange",
        lambda ns: [stored(ns, 100) + ns.Tensor.arange(100)],
        1,
        "counting is no memory",
        1,
    ),
    Counted(
        "rows by index", lambda ns: [stored(ns, 100, 16)[_labels(ns)]], 1, "a load at the index", 1
    ),
    Counted(
        "embedding",
        lambda ns: [with_weights(ns, ns.nn.Embedding(100, 16))(_labels(ns))],
        1,
        "a load at the index",
        1,
    ),
    Counted(
        "gather",
        lambda ns: [stored(ns, 8, 3).gather(1, _labels(ns).reshape(8, 1))],
        1,
        "a load at the index",
        1,
    ),
    Counted("cumsum", lambda ns: [stored(ns, 64, 64).cumsum(1)], 1, "one reduce", 1),
    Counted(
        "cumsum of 4,096",
        lambda ns: [stored(ns, 4, 4096).cumsum(1)],
        3,
        "of parts, of their sums, and both added",
        3,
    ),
    Counted("cat", lambda ns: [stored(ns, 4, 4).cat(stored(ns, 4, 4))], 1, "elementwise", 1),
    Counted("pad", lambda ns: [stored(ns, 4, 4).pad(((1, 1), (1, 1))) + 1], 1, "elementwise", 1),
    Counted(
        "shrink",
        lambda ns: [(stored(ns, 8, 8) + 1).shrink(((1, 5), (2, 6))) * 2],
        1,
        "elementwise",
        1,
    ),
    Counted(
        "a sum and its transposed copy, both used",
        _transposed_copy,
        2,
        "the sum is stored transposed; what uses it reads it back",
        3,
    ),
    Counted("two outputs", _two_outputs, 2, "a kernel for each", 2),
    Counted("assign", _assigned, 1, "in place", 1),
    Counted("item assignment", _item_set, 1, "only the part is written", 1),
    Counted("argmax", lambda ns: [stored(ns, 8, 64).argmax(1)], 2, "maximum, and where it is", 2),
    Counted(
        "sort",
        lambda ns: [stored(ns, 8, 64).sort()[0]],
        2,
        "how many are smaller, and a load from there",
        26,
    ),
    Counted("topk", lambda ns: [stored(ns, 8, 64).topk(4)[0]], 3, "as sort, of the last", 26),
    Counted(
        "matrix product of two products",
        lambda ns: [stored(ns, 8, 8) @ stored(ns, 8, 8) @ stored(ns, 8, 8)],
        2,
        "two reduces",
        2,
    ),
    Counted(
        "sum of a million",
        lambda ns: [stored(ns, 1024, 1024).sum()],
        2,
        "of 256 parts, and of these",
        2,
    ),
    Counted("random numbers", lambda ns: [ns.Tensor.rand(8, 8)], 1, "computed from a counter", 18),
    Counted(
        "normalize by mean and deviation",
        lambda ns: [_normalized(stored(ns, 8, 64))],
        3,
        _REDUCES,
        3,
    ),
    Counted(
        "transposed conv",
        lambda ns: [stored(ns, 1, 4, 8, 8).conv_transpose2d(stored(ns, 4, 4, 3, 3))],
        1,
        "one reduce",
        1,
    ),
    Counted(
        "a.sum() + b.sum()",
        lambda ns: [stored(ns, 4).sum() + stored(ns, 4).sum()],
        2,
        _SUMS,
        1,
    ),
    Counted(
        "a.sum(1) + b.sum(1)",
        lambda ns: [stored(ns, 4, 2, 2).sum(1) + stored(ns, 4, 2, 2).sum(1)],
        2,
        _SUMS,
        1,
    ),
    Counted(
        "(a.sum(1) + b.sum(1)).fuse()",
        lambda ns: [(stored(ns, 4, 2, 2).sum(1) + stored(ns, 4, 2, 2).sum(1)).fuse()],
        1,
        "one, as asked",
    ),
    Counted("conv and its gradients", _conv_and_backward, 5, _POOLED, 3),
    Counted(
        "conv and its gradients, FUSE_CONV_BW=1",
        _conv_and_backward,
        3,
        "the conv; a gradient each",
        flags={"FUSE_CONV_BW": 1},
    ),
    Counted("SGD step of four convs", _four_convs_step, 17, _POOLED, 16),
    Counted(
        "SGD step of four convs, FUSE_CONV_BW=1",
        _four_convs_step,
        11,
        "forward 4, backward 3, a kernel for each weight",
        flags={"FUSE_CONV_BW": 1},
    ),
    Counted("linear, gelu, linear", _fed_forward, 2, "two reduces", 2),
    Counted("rotary embedding", _rotary, 1, "elementwise", 1),
)


def _normalized(x: Any) -> Any:
    return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
