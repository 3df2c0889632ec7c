"""Kernels that read an image under gates, and what they compute."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from core.dtype import ImageDType, dtypes
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType, KernelInfo

FLOATS = dtypes.float32


def numbers(image: ImageDType, seed: int = 0) -> Any:
    """Numbers for an image, none of them 0."""
    found = 1 + np.random.default_rng(seed).random(image.size, np.float32)
    return found.astype(np.float16 if image.bits == 16 else np.float32)


def loop(n: int, number: int) -> UOp:
    return UOp.range(n, number, AxisType.LOOP)


def kernel(image: ImageDType, loops: tuple[UOp, ...], value: UOp) -> UOp:
    """One that stores a value for each iteration of loops."""
    size, at = 1, UOp.const(dtypes.index, 0)
    for r in loops:
        at, size = at * r.src[0].arg + r, size * r.src[0].arg
    out = UOp(Ops.DEFINE_GLOBAL, FLOATS.ptr(size), (), 0)
    return UOp.sink(out.index(at.simplify()).store(value).end(*loops), arg=KernelInfo())


def read(image: ImageDType, offset: UOp, gate: UOp | None = None) -> UOp:
    """One number of an image, 0 where the gate is false."""
    pointer = UOp(Ops.DEFINE_GLOBAL, image.ptr(), (), 1)
    other = () if gate is None else (UOp.const(FLOATS, 0),)
    return pointer.index(offset, gate=gate).load(*other)


@dataclass(frozen=True)
class Line:
    """The number p * a + q * b + c, of two loops."""

    p: int
    q: int
    c: int

    def of(self, a: Any, b: Any) -> Any:
        return a * self.p + b * self.q + self.c


@dataclass(frozen=True)
class Gated:
    """The texel at (x, y), lane by lane, where it is inside and `more` is at least 1."""

    image: ImageDType
    lengths: tuple[int, int]
    x: Line
    y: Line
    more: Line | None

    @property
    def ast(self) -> UOp:
        a, b, lane = loop(self.lengths[0], 0), loop(self.lengths[1], 1), loop(4, 2)
        x, y = self.x.of(a, b), self.y.of(a, b)
        gate = (x >= 0) & (x < self.image.width) & (y >= 0) & (y < self.image.height)
        if self.more is not None:
            gate = gate & (self.more.of(a, b) >= 1)
        offset = (y * self.image.width + x) * 4 + lane
        return kernel(
            self.image, (a, b, lane), read(self.image, offset.simplify(), gate.simplify())
        )

    def computed(self, memory: Any) -> Any:
        """What it stores, by NumPy."""
        a, b = np.meshgrid(*map(np.arange, self.lengths), indexing="ij")
        x, y = self.x.of(a, b), self.y.of(a, b)
        inside = (x >= 0) & (x < self.image.width) & (y >= 0) & (y < self.image.height)
        if self.more is not None:
            inside &= self.more.of(a, b) >= 1
        texels = memory.reshape(self.image.height, self.image.width, 4)
        found = texels[np.where(inside, y, 0), np.where(inside, x, 0)]
        return np.where(inside[..., None], found, 0).astype(np.float32).reshape(-1)


def gated_read(rng: Random) -> Gated:
    """A random one."""
    x, y, more = (Line(rng.randint(0, 3), rng.randint(0, 3), rng.randint(-3, 3)) for _ in range(3))
    image = dtypes.imagef((rng.randint(1, 6), rng.randint(1, 6), 4))
    return Gated(image, (rng.randint(1, 5), rng.randint(1, 5)), x, y, rng.choice((None, more)))
