"""A program as far as it is drawn: its values, what is known of them, how operands are chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from core.helpers import prod

Array = np.ndarray[Any, Any]
LENGTHS = (1, 2, 2, 3, 3, 4, 5, 5, 7, 8, 11, 13, 16, 17, 31)
MOST = 1500
"""Elements of one value."""


class UnfitError(Exception):
    """This operation cannot be applied to what there is."""


@dataclass(frozen=True)
class Value:
    """What a statement gives: `array` in its dtypes, `wide` with floats as float64.

    `exact` tells that no rounding happened, in whatever order it is computed. Else `eps` is the
    coarsest rounding on the way and `scale` the largest number that was rounded.
    """

    array: Array
    wide: Array
    exact: bool
    eps: float = 0.0
    scale: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> str:
        return self.array.dtype.name

    @property
    def kind(self) -> str:
        return self.array.dtype.kind


def value_of_data(data: Array, exact: bool) -> Value:
    """A leaf."""
    if data.dtype.kind != "f":
        return Value(data, data, exact=True)
    wide = data.astype(np.float64)
    return Value(data, wide, exact, float(np.finfo(data.dtype).eps), largest(wide))


def largest(x: Array) -> float:
    """The largest magnitude."""
    return float(np.abs(x.astype(np.float64)).max()) if x.size else 0.0


@dataclass(frozen=True)
class Rules:
    """What may be drawn. `smooth`: only what has a derivative nearly everywhere, of floats that
    are no small whole numbers, so that nothing lies on a kink. `products`: how many times as often
    matrix products and convolutions are drawn."""

    dtypes: tuple[str, ...]
    smooth: bool = False
    products: int = 1


@dataclass
class Draft:
    """The values so far. Drawing an operation may add leaves, that is, values of data."""

    rng: Random
    rules: Rules
    values: list[Value] = field(default_factory=list[Value])
    made: int = 0
    """The result of the last operation, which the next one mostly reads."""

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def number(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def shape(self, axes: int | None = None) -> tuple[int, ...]:
        count = self.rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4)) if axes is None else axes
        while True:
            found = tuple(self.rng.choice(LENGTHS) for _ in range(count))
            if count and self.chance(0.03):
                at = self.rng.randrange(count)
                found = (*found[:at], 0, *found[at + 1 :])
            if prod(found) <= MOST // 4:
                return found

    def numbers(self, shape: tuple[int, ...], dtype: str, low: int = -6, high: int = 6) -> Array:
        """Small whole numbers and eighths; where the rules want it smooth, any floats."""
        random = np.random.default_rng(self.rng.randrange(1 << 30))
        to = np.dtype(dtype)
        if to.kind == "b":
            return random.integers(0, 2, shape).astype(to)
        if to.kind == "u":
            return random.integers(max(0, low), high + 1, shape).astype(to)
        if to.kind == "i":
            return random.integers(low, high + 1, shape).astype(to)
        if self.rules.smooth:
            return random.uniform(low / 3, high / 3, shape).astype(to)
        eighths = 8 if self.chance(0.3) else 1
        return (random.integers(low * eighths, high * eighths + 1, shape) / eighths).astype(to)

    def leaf(self, shape: tuple[int, ...], dtype: str, low: int = -6, high: int = 6) -> int:
        """A new value of data."""
        return self.store(self.numbers(shape, dtype, low, high))

    def store(self, data: Array) -> int:
        """A new value of that data."""
        self.values.append(value_of_data(np.asarray(data), exact=not self.rules.smooth))
        return len(self.values) - 1

    def pick(
        self,
        kinds: str = "biuf",
        least_axes: int = 0,
        most_axes: int = 5,
        filled: bool = False,
        most: int = MOST,
        exact: bool = False,
    ) -> int:
        """A value, late ones more often. Raises UnfitError where there is none."""
        fit = [
            i
            for i, v in enumerate(self.values)
            if v.kind in kinds
            and least_axes <= len(v.shape) <= most_axes
            and v.array.size <= most
            and (not filled or v.array.size)
            and (not exact or v.exact)
        ]
        if not fit:
            raise UnfitError
        if self.made in fit and self.chance(0.7):
            return self.made
        return fit[-min(self.number(1, 4), len(fit))] if self.chance(0.5) else self.rng.choice(fit)

    def beside(self, i: int) -> int:
        """A value of the same dtype that broadcasts with value `i`: one there is, or a new one."""
        v = self.values[i]
        fit = [
            k
            for k, u in enumerate(self.values)
            if u.dtype == v.dtype and broadcast(u.shape, v.shape)
        ]
        if fit and self.chance(0.6):
            return self.rng.choice(fit)
        shape = tuple(1 if self.chance(0.2) else n for n in v.shape)
        return self.leaf(shape[self.number(0, len(shape)) if self.chance(0.2) else 0 :], v.dtype)

    def equal(self, i: int, shape: tuple[int, ...]) -> int:
        """A value of `shape` with the dtype of value `i`."""
        dtype = self.values[i].dtype
        fit = [k for k, u in enumerate(self.values) if u.dtype == dtype and u.shape == shape]
        return self.rng.choice(fit) if fit and self.chance(0.6) else self.leaf(shape, dtype)

    def mask(self, shape: tuple[int, ...]) -> int:
        """A value of bools that broadcasts to `shape`."""
        fit = [
            k
            for k, u in enumerate(self.values)
            if u.kind == "b" and broadcast(u.shape, shape) == shape
        ]
        return self.rng.choice(fit) if fit and self.chance(0.6) else self.leaf(shape, "bool")

    def axis(self, i: int) -> int:
        """One axis of value `i`, sometimes counted from the end."""
        n = len(self.values[i].shape)
        if not n:
            raise UnfitError
        return self.rng.randrange(n) - (n if self.chance(0.3) else 0)

    def axes(self, i: int) -> int | tuple[int, ...] | None:
        """Axes to reduce."""
        n = len(self.values[i].shape)
        if not n or self.chance(0.2):
            return None
        if self.chance(0.5):
            return self.axis(i)
        return tuple(self.rng.sample(range(n), self.number(1, n)))

    def key(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Integers, slices with steps and new axes."""
        key: list[Any] = []
        for n in shape[: self.number(0, len(shape))]:
            if n and self.chance(0.25):
                key.append(self.number(-n, n - 1))
            else:
                ends = [self.rng.choice([None, self.number(-n - 1, n + 1)]) for _ in range(2)]
                key.append(slice(*ends, self.rng.choice([None, None, 1, 2, -1, -2, 3])))
        if self.chance(0.1):
            key.insert(self.number(0, len(key)), None)
        return tuple(key)

    def widths(self, i: int) -> tuple[tuple[int, int], ...]:
        choices = (0, 0, 0, 1, 2, 5)
        return tuple(
            (self.rng.choice(choices), self.rng.choice(choices)) for _ in self.values[i].shape
        )


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape to which these broadcast, if they do."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
