"""Reads an Einstein summation formula and checks it against the operands' shapes.

Knows letters and lengths only; `linear.py` multiplies and sums.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from core.errors import ShapeError
from core.tensor.state.base import Shape


@dataclass(frozen=True)
class Formula:
    """One letter per axis: of each operand, of the result, and the length behind each letter."""

    inputs: tuple[str, ...]
    output: str
    sizes: dict[str, int]

    @property
    def letters(self) -> str:
        """All letters, those of the result first."""
        return self.output + "".join(c for c in self.sizes if c not in self.output)

    @classmethod
    def parse(cls, formula: str, shapes: Sequence[Shape]) -> Self:
        """Raises ShapeError where the formula is malformed or does not fit `shapes`."""
        text = formula.replace(" ", "")
        left, arrow, right = text.partition("->")
        inputs = left.split(",")
        if len(inputs) != len(shapes) or not shapes:
            raise _wrong(formula, f"it names {len(inputs)} operands, {len(shapes)} were given")
        free = [c for c in string.ascii_uppercase + string.ascii_lowercase if c not in text]
        extra = max(
            (
                len(s) - len(i.replace("...", ""))
                for i, s in zip(inputs, shapes, strict=True)
                if "..." in i
            ),
            default=0,
        )
        dots = "".join(free[: max(0, extra)])
        named = tuple(_fill(formula, i, s, dots) for i, s in zip(inputs, shapes, strict=True))
        every = "".join(named)
        if arrow:
            output = right.replace("...", dots)
        else:
            output = dots + "".join(
                sorted(c for c in set(every) - set(dots) if every.count(c) == 1)
            )
        if len(set(output)) != len(output) or any(c not in every for c in output):
            raise _wrong(formula, f"the result {right!r} must name letters of the operands once")
        sizes: dict[str, int] = {}
        for names, shape in zip(named, shapes, strict=True):
            for c, n in zip(names, shape, strict=True):
                if n != sizes.setdefault(c, n) and 1 not in (n, sizes[c]):
                    raise _wrong(formula, f"{c!r} has lengths {sizes[c]} and {n}")
                sizes[c] = max(n, sizes[c]) if 0 not in (n, sizes[c]) else 0
        return cls(named, output, sizes)


def _fill(formula: str, names: str, shape: Shape, dots: str) -> str:
    """`names` with "..." replaced by the last letters of `dots` that its shape has room for."""
    bare = names.replace("...", "", 1)
    if not all(c in string.ascii_letters for c in bare):
        raise _wrong(formula, "operands are letters and at most one '...'")
    room = len(shape) - len(bare)
    if room < 0 or (room and "..." not in names):
        raise _wrong(formula, f"{names!r} names {len(bare)} axes of shape {shape}")
    return names.replace("...", dots[len(dots) - room :])


def _wrong(formula: str, why: str) -> ShapeError:
    return ShapeError(
        f"einsum formula {formula!r} does not fit: {why}",
        hint='write one letter per axis, such as "ij,jk->ik"',
    )
