"""Reads a formula of names that says how axes are split, ordered and merged, such as
"batch (rows columns) -> batch columns rows".

Knows names and lengths only; `movement.py` reshapes and permutes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from core.errors import ShapeError
from core.helpers import prod

DOTS: Final = "..."
_WORD: Final = re.compile(r"\s*(\(|\)|\.\.\.|1|[A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True)
class Rearrangement:
    """What a formula does to a Tensor of one shape: reshape, permute, reshape."""

    split: tuple[int, ...]
    order: tuple[int, ...]
    merged: tuple[int, ...]

    @classmethod
    def parse(cls, formula: str, shape: Sequence[int], sizes: Mapping[str, int]) -> Self:
        """Raises ShapeError where the formula is malformed, or does not fit `shape` and `sizes`."""
        left, arrow, right = formula.partition("->")
        if not arrow:
            raise _wrong(formula, "it has no '->'")
        before, after = _axes(formula, left), _axes(formula, right)
        dots = len(shape) - len(before) + 1 if DOTS in before else 0
        if dots < 0 or (DOTS not in before and len(before) != len(shape)):
            raise _wrong(formula, f"the left side has {len(before)} axes, the Tensor {len(shape)}")
        before, after = (_filled(axes, dots) for axes in (before, after))
        names = [name for axis in before for name in axis]
        moved = [name for axis in after for name in axis]
        for side in (names, moved):
            if len(set(side)) < len(side):
                raise _wrong(formula, "it names an axis twice on one side")
        if set(names) != set(moved) or not sizes.keys() <= set(names):
            odd = sorted(set(names) ^ set(moved) or sizes.keys() - set(names))
            raise _wrong(formula, f"{odd[0]!r} has to be on both sides")
        lengths: dict[str, int] = {}
        for axis, length in zip(before, shape, strict=True):
            lengths |= _lengths(formula, axis, length, sizes)
        order = tuple(names.index(name) for name in moved)
        merged = tuple(prod(lengths[name] for name in axis) for axis in after)
        return cls(tuple(lengths[name] for name in names), order, merged)


def _axes(formula: str, side: str) -> list[list[str] | str]:
    """The names of each axis on one side: several where it is merged, none where it has length 1;
    and "..." for the axes that it stands for."""
    found: list[list[str] | str] = []
    merged: list[str] | None = None
    at = 0
    side = side.rstrip()
    while at < len(side):
        word = _WORD.match(side, at)
        if word is None:
            raise _wrong(formula, f"it is not understood from {side[at:].strip()!r} on")
        at = word.end()
        match word[1]:
            case "(" if merged is None:
                merged = []
                found.append(merged)
            case ")" if merged is not None:
                merged = None
            case "(" | ")":
                raise _wrong(formula, "its parentheses do not match")
            case name if merged is not None:
                merged += [] if name == "1" else [name]
            case "1":
                found.append([])
            case name:
                found.append(DOTS if name == DOTS else [name])
    if merged is not None:
        raise _wrong(formula, "its parentheses do not match")
    return found


def _filled(axes: list[list[str] | str], dots: int) -> list[list[str]]:
    """With a name for each axis that "..." stands for."""
    names = [f"{DOTS}{i}" for i in range(dots)]
    found: list[list[str]] = []
    for axis in axes:
        if isinstance(axis, str):
            found += [[name] for name in names]
        else:
            found.append([n for name in axis for n in (names if name == DOTS else [name])])
    return found


def _lengths(
    formula: str, axis: Sequence[str], length: int, sizes: Mapping[str, int]
) -> dict[str, int]:
    """How long the parts of an axis are: all that are given, and one that they leave open."""
    found = {name: sizes[name] for name in axis if name in sizes}
    unknown = [name for name in axis if name not in sizes]
    if len(unknown) > 1:
        raise _wrong(formula, f"the length of {unknown[0]!r} has to be given: {unknown[0]}=2")
    known = prod(found.values())
    if unknown:
        found[unknown[0]] = length // known if known else 0
    if prod(found.values()) != length or any(n < 0 for n in found.values()):
        parts = ", ".join(f"{name}={n}" for name, n in found.items()) or "an axis of length 1"
        raise _wrong(formula, f"{parts} for an axis of length {length}")
    return found


def _wrong(formula: str, why: str) -> ShapeError:
    return ShapeError(
        f"rearrange formula {formula!r} does not fit: {why}",
        hint='write names as in "batch (row column) -> batch column row"',
    )
