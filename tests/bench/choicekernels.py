"""Kernels that choices of optimisations are judged by: those of the table beside PyTorch, layers of
ResNet-18, ResNet-50 and GPT-2 small, forward and backward, and shapes picked by chance.

Never runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from core import Tensor
from core.uop import Ops, UOp

SEED = 27
"""Of the shapes that are picked by chance."""


def kernels() -> dict[str, UOp]:
    """Kernel ASTs by name, each once."""
    found: dict[str, UOp] = {}
    seen: set[UOp] = set()
    for name, made in _values():
        asts = [item.ast for item in made().schedule() if item.ast.op is Ops.SINK]
        for at, ast in enumerate(asts):
            if ast not in seen:
                seen.add(ast)
                found[f"{name} {at}" if len(asts) > 1 else name] = ast
    return found


def _values() -> Iterator[tuple[str, Callable[[], Tensor]]]:
    yield from _products()
    yield from _convolutions()
    yield from _rows()
    yield from _by_chance(Random(SEED), 60)


def _e(*shape: int) -> Tensor:
    return Tensor.empty(*shape)


def _products() -> Iterator[tuple[str, Callable[[], Tensor]]]:
    for m, n, k in (
        (64, 64, 64), (256, 256, 256), (1024, 1024, 1024), (512, 512, 512), (64, 80, 96),
        (128, 768, 768), (128, 2304, 768), (128, 3072, 768), (128, 768, 3072), (16, 16, 16),
        (32, 512, 512), (8, 1000, 512), (100, 100, 100), (197, 64, 197),
    ):  # fmt: skip
        yield f"{m}x{k} by {k}x{n}", lambda m=m, n=n, k=k: _e(m, k) @ _e(k, n)
        yield (
            f"{m}x{k} by {n}x{k} transposed, bias, relu",
            lambda m=m, n=n, k=k: (_e(m, k) @ _e(n, k).transpose(0, 1) + _e(n)).relu(),
        )
    for m, k in ((1024, 1024), (768, 768), (3072, 768), (50257, 768), (1000, 512), (64, 4096)):
        yield f"{m}x{k} by {k}", lambda m=m, k=k: _e(m, k) @ _e(k)
        yield f"{k} by {k}x{m}", lambda m=m, k=k: _e(k) @ _e(k, m)
    for b, m, k, n in ((12, 128, 64, 128), (12, 128, 128, 64), (8, 256, 64, 256)):
        yield f"{b}x{m}x{k} by {b}x{k}x{n}", lambda b=b, m=m, k=k, n=n: _e(b, m, k) @ _e(b, k, n)
        yield (
            f"{b}x{m}x{k} by {b}x{n}x{k} transposed",
            lambda b=b, m=m, k=k, n=n: _e(b, m, k) @ _e(b, n, k).transpose(1, 2),
        )
    yield "768x128 transposed by 128x768", lambda: _e(128, 768).transpose(0, 1) @ _e(128, 768)


def _convolutions() -> Iterator[tuple[str, Callable[[], Tensor]]]:
    for b, cin, cout, size, k, stride in (
        (8, 16, 32, 32, 3, 1), (2, 64, 64, 56, 3, 1), (2, 256, 64, 28, 1, 1), (1, 3, 64, 224, 7, 2),
        (1, 64, 128, 56, 3, 2), (1, 128, 128, 28, 3, 1), (1, 256, 256, 14, 3, 1),
        (1, 512, 512, 7, 3, 1), (1, 64, 256, 56, 1, 1), (1, 256, 128, 56, 1, 2),
        (1, 512, 2048, 7, 1, 1), (1, 1024, 256, 14, 1, 1), (4, 8, 16, 28, 5, 1),
    ):  # fmt: skip
        yield (
            f"conv {k}x{k} {cin} to {cout}, {b}x{size}x{size}, stride {stride}",
            partial(_conv, (b, cin, size, size), (cout, cin, k, k), stride),
        )
    for b, c, size in ((2, 64, 56), (1, 128, 28)):
        yield (
            f"depthwise 3x3 {c}, {b}x{size}x{size}",
            lambda b=b, c=c, s=size: _e(b, c, s, s).conv2d(_e(c, 1, 3, 3), padding=1, groups=c),
        )
    yield "max pool 2", lambda: _e(8, 16, 64, 64).max_pool2d((2, 2))
    yield "max pool 3, stride 2", lambda: _e(1, 64, 112, 112).max_pool2d((3, 3), stride=2)
    yield "average of 7x7", lambda: _e(4, 512, 7, 7).mean((2, 3))
    yield "batch norm statistics", lambda: _e(4, 64, 56, 56).var((0, 2, 3))


def _conv(image: tuple[int, ...], weight: tuple[int, ...], stride: int) -> Tensor:
    return _e(*image).conv2d(_e(*weight), stride=stride, padding=weight[-1] // 2)


def _rows() -> Iterator[tuple[str, Callable[[], Tensor]]]:
    for m, n in ((512, 1024), (128, 768), (4096, 512), (12 * 128, 128), (8, 50257), (100, 37)):
        yield f"softmax {m}x{n}", lambda m=m, n=n: _e(m, n).softmax(-1)
        yield f"layer norm {m}x{n}", lambda m=m, n=n: _e(m, n).layernorm()
        yield f"sum of rows {m}x{n}", lambda m=m, n=n: _e(m, n).sum(1)
        yield f"sum of columns {m}x{n}", lambda m=m, n=n: _e(m, n).sum(0)
        yield f"largest of rows {m}x{n}", lambda m=m, n=n: _e(m, n).max(1)
        yield f"transpose {m}x{n}", lambda m=m, n=n: _e(m, n).transpose(0, 1).contiguous()
        yield f"gelu {m}x{n}", lambda m=m, n=n: _e(m, n).gelu()
        yield f"x * 2 + 1, {m}x{n}", lambda m=m, n=n: _e(m, n) * 2 + 1
        yield f"row and column {m}x{n}", lambda m=m, n=n: _e(m, 1) * _e(1, n) + _e(m, n)
    yield "sum of all, 4M", lambda: _e(1 << 22).sum()
    yield "transpose 2048", lambda: _e(2048, 2048).transpose(0, 1).contiguous()
    yield "heads 4x128x12x64", lambda: _e(4, 128, 12, 64).transpose(1, 2).contiguous()


def _by_chance(rng: Random, count: int) -> Iterator[tuple[str, Callable[[], Tensor]]]:
    def size(low: int, high: int) -> int:
        n = round(low * (high / low) ** rng.random())
        return n if rng.random() < 0.3 else max(low, n // 8 * 8)

    for at in range(count):
        kind = at % 6
        a, b, c = size(8, 600), size(8, 600), size(8, 600)
        if kind == 0:
            yield f"chance {a}x{c} by {c}x{b}", lambda a=a, b=b, c=c: _e(a, c) @ _e(c, b)
        elif kind == 1:
            yield (
                f"chance {a}x{c} by {b}x{c} transposed",
                lambda a=a, b=b, c=c: _e(a, c) @ _e(b, c).transpose(0, 1),
            )
        elif kind == 2:
            i, o, s, k = size(3, 128), size(8, 128), size(8, 64), rng.choice((1, 3, 3, 5))
            yield (
                f"chance conv {k}x{k} {i} to {o}, {s}x{s}",
                lambda i=i, o=o, s=s, k=k: _e(1, i, s, s).conv2d(_e(o, i, k, k), padding=k // 2),
            )
        elif kind == 3:
            axis = rng.choice((0, 1, 2))
            yield (
                f"chance sum of {a}x{b}x16 over axis {axis}",
                lambda a=a, b=b, axis=axis: _e(a, b, 16).sum(axis),
            )
        elif kind == 4:
            yield f"chance softmax {a}x{b}", lambda a=a, b=b: _e(a, b).softmax(-1)
        else:
            yield (
                f"chance {a}x{b} with its transpose",
                lambda a=a, b=b: _e(a, b) + _e(b, a).transpose(0, 1) * _e(b),
            )
