"""Random integer expressions and conditions, of the forms that rules are about."""

from __future__ import annotations

import random
from collections.abc import Callable

from core.dtype import DType, dtypes
from core.uop import Ops, UOp
from tests.core.uop.symbols import num, var


class Draw:
    """Random expressions of one dtype."""

    def __init__(self, rng: random.Random, dtype: DType) -> None:
        self.rng, self.dtype = rng, dtype
        self.made: dict[str, UOp] = {}

    def var(self, name: str, low: int = -9) -> UOp:
        """A variable: sometimes of the whole dtype, else with small bounds not below `low`."""
        if name not in self.made:
            self.made[name] = self.new(name, low)
        return self.made[name]

    def new(self, name: str, low: int) -> UOp:
        least, most = int(dtypes.min(self.dtype)), int(dtypes.max(self.dtype))
        if low < 0 and self.rng.random() < 0.3:
            return var(name, least, most, self.dtype)
        start = max(least, self.rng.randint(low, 6))
        return var(name, start, start + self.rng.randint(0, 12), self.dtype)

    def const(self, *choices: int) -> UOp:
        """A constant: one of the choices, or any."""
        least, most = int(dtypes.min(self.dtype)), int(dtypes.max(self.dtype))
        edges = (0, 1, 2, 3, 5, least, most, least + 1, self.rng.randint(least, most))
        return num(self.rng.choice(choices or edges), self.dtype)

    def sum(self, c: int) -> UOp:
        """Terms of which some have factors that c divides, and a constant."""
        total = self.var("a", 0) * self.rng.choice((c, 2 * c, c, -c, c // 2 or 1))
        for name in "bd"[: self.rng.randint(0, 2)]:
            low = self.rng.choice((0, 0, -3))
            total = total + self.var(name, low) * self.rng.choice((1, 1, 2, c // 2 or 1, c + 1, -1))
        return total + self.rng.choice((0, 0, 1, c, 3 * c + 1, 20))

    @property
    def c(self) -> int:
        """A small divisor."""
        return self.rng.choice((2, 3, 4, 6, 8))


Template = Callable[[Draw], UOp]


def division(d: Draw) -> UOp:
    """A sum divided by a constant that divides some of its terms."""
    c = d.c
    return d.sum(c) // c


def remainder(d: Draw) -> UOp:
    """The remainder of such a sum."""
    c = d.c
    return d.sum(c) % c


def common_factor(d: Draw, op: Ops) -> UOp:
    """A sum whose terms have a factor of the constant in common."""
    c, inner = d.c, d.rng.choice((2, 3, 4))
    total = d.var("a", d.rng.choice((0, -9))) * (c * d.rng.choice((1, 2)))
    total = total + var("k", 0, d.rng.choice((0, c - 1)), d.dtype)
    return total.alu(op, num(c * inner, d.dtype))


def split_number(d: Draw) -> UOp:
    """A number taken apart by division and remainder, and put together."""
    v, c, n, k = d.var("a"), d.rng.choice((2, 3, 4)), d.rng.choice((2, 3)), d.rng.choice((1, 3))
    big = d.rng.choice((v // c, v // c % n))
    small = v % c
    if d.rng.random() < 0.5:
        v = v // 2
        big, small = d.rng.choice((d.var("a") // (2 * c), d.var("a") // (2 * c) % n)), v % c
        base = v.src[0]
        big = base // (2 * c) if big.op is Ops.IDIV else base // (2 * c) % n
    return big * (c * k) + d.var("b") + small * k


def product_of_quotient(d: Draw) -> UOp:
    """A number less a multiple of its quotient."""
    v, c, k = d.var("a"), d.c, d.rng.choice((1, 2, -1))
    return v * k + d.var("b") + v // c * (-c * k)


def negative_sum(d: Draw) -> UOp:
    """A sum with negative factors only, and a constant."""
    total = d.var("a") * d.const(-1, -2) + d.var("b") * d.const(-1, -3)
    return total + d.const(0, 1, -2, 5)


def shifted_quotients(d: Draw) -> UOp:
    """Quotients of x, x + 1, ... by one divisor, in any order, times a constant."""
    x, c, f = d.var("a", 0) + d.const(0, 1, 3), d.rng.choice((2, 3, 4)), d.rng.choice((1, 1, 2))
    parts = [(x + k) // c * f for k in range(c)] + [d.var("b")]
    d.rng.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def clauses(d: Draw) -> UOp:
    """A condition of three clauses."""
    v = d.var("a")
    tests = [v < d.const(0, 1, 3, 5), v + d.var("b") < d.const(2, 9), v % 4 < 2]
    tests += [d.const(0, 1, 2) < v, v.eq(d.const(1, 2))]
    d.rng.shuffle(tests)
    tests = [t.logical_not() if d.rng.random() < 0.3 else t for t in tests]
    return tests[0] & tests[1] & tests[2]
