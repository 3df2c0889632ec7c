"""Random movement chains, applied to a ShapeTracker and to a NumPy array of element numbers.

The array holds the memory element that an index reads, or -1 where the index is invalid.
"""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.shape import ShapeTracker, View

Elements = NDArray[np.int64]
MAX_ELEMENTS = 4000


def elements(tracker: ShapeTracker) -> Elements:
    """What the tracker reads, in the form of the model."""
    offsets, valid = tracker.indices()
    return np.where(valid, offsets, -1)


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


def draw_shape(rng: Random, least: int = 1) -> tuple[int, ...]:
    return tuple(rng.randint(least, 6) for _ in range(rng.randint(0, 4)))


def draw_factors(rng: Random, size: int) -> tuple[int, ...]:
    """Another shape with this many elements."""
    if size == 0:
        return (*draw_shape(rng, 0)[:2], 0)
    out: list[int] = []
    while size > 1:
        factor = rng.choice(_divisors(size))
        out.append(factor)
        size //= factor
        if len(out) == 4:
            out.append(size)
            break
    return tuple(out)


def draw_step(rng: Random, tracker: ShapeTracker, model: Elements) -> tuple[ShapeTracker, Elements]:
    """One random legal movement on both."""
    shape = tracker.shape
    kind = rng.choice(["permute", "expand", "reshape", "shrink", "pad", "flip"])
    if kind == "permute":
        order = list(range(len(shape)))
        rng.shuffle(order)
        return tracker.permute(order), model.transpose(order)
    if kind == "expand":
        wide = tuple(rng.randint(1, 3) if size == 1 else size for size in shape)
        if prod(wide) > MAX_ELEMENTS:
            return tracker, model
        return tracker.expand(wide), np.broadcast_to(model, wide)
    if kind == "reshape":
        other = draw_factors(rng, tracker.size)
        return tracker.reshape(other), model.reshape(other)
    if kind == "shrink":
        ranges: list[tuple[int, int]] = []
        for size in shape:
            begin = rng.randint(0, max(0, min(size - 1, 2)))
            ranges.append((begin, rng.randint(max(begin, size - 2), size)))
        return tracker.shrink(ranges), model[tuple(slice(b, e) for b, e in ranges)]
    if kind == "pad":
        widths = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in shape]
        if prod(size + b + e for size, (b, e) in zip(shape, widths, strict=True)) > MAX_ELEMENTS:
            return tracker, model
        return tracker.pad(widths), np.pad(model, widths, constant_values=-1) if shape else model
    marks = [rng.random() < 0.5 for _ in shape]
    return tracker.flip(marks), np.flip(model, tuple(k for k, mark in enumerate(marks) if mark))


def draw_chain(rng: Random, shape: tuple[int, ...] | None = None) -> tuple[ShapeTracker, Elements]:
    """A tracker over memory of some shape after up to six movements, and its model."""
    start = draw_shape(rng, rng.choice([0, 1, 1, 1])) if shape is None else shape
    tracker = ShapeTracker.from_shape(start)
    model = np.arange(prod(start), dtype=np.int64).reshape(start)
    for _ in range(rng.randint(0, 6)):
        tracker, model = draw_step(rng, tracker, model)
    return tracker, model


RANDOMS = st.randoms(use_true_random=False)


@st.composite
def chains(draw: st.DrawFn, shape: tuple[int, ...] | None = None) -> tuple[ShapeTracker, Elements]:
    """Chains for hypothesis."""
    return draw_chain(draw(RANDOMS), shape)


@st.composite
def views(draw: st.DrawFn, elements_below: int) -> View:
    """Any view, also overlapping and strided ones, that fits in so many elements."""
    shape = tuple(draw(st.lists(st.integers(1, 6), max_size=4)))
    strides = [draw(st.integers(-7, 12)) for _ in shape]
    mask = []
    for size in shape:
        begin = draw(st.integers(0, size - 1))
        mask.append(
            draw(st.sampled_from([(0, size), (0, size), (begin, size), (begin, begin + 1)]))
        )
    low = sum(s * (b if s > 0 else e - 1) for s, (b, e) in zip(strides, mask, strict=True))
    view = View.create(shape, strides, draw(st.integers(0, 5)) - low, mask)
    return (
        view
        if view.real_size <= elements_below
        else View.create(shape, [0] * len(shape), draw(st.integers(0, elements_below - 1)), mask)
    )
