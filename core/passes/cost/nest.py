"""A kernel as a cost model sees it: loops, how memory is walked through, work by the loops that it
depends on. Plain data, so that hundreds of ways to run it are looked at in milliseconds.

A set of loops is an integer, a bit for each. Never looks at a graph.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over outputs, or of a reduce. `kept`: it has to stay as it is."""

    size: int
    reduce: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """One address of memory of `bytes` bytes in all. `strides`: elements from one iteration of each
    loop to the next, None where that changes; `gated`: the loops that its gate depends on; `loops`:
    those that it is inside of."""

    store: bool
    itemsize: int
    bytes: int
    strides: tuple[int | None, ...]
    gated: int
    loops: int


@dataclass(frozen=True, slots=True)
class Work:
    """Arithmetic that depends on `loops`, in instructions of one vector; `itemsize`: bytes of an
    element; `scalar`: it is done lane by lane."""

    loops: int
    cost: float
    itemsize: int
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class Reduce:
    """A reduce over the loops `own`, once for each iteration of `outer`."""

    own: int
    outer: int
    itemsize: int


@dataclass(frozen=True, slots=True)
class Nest:
    """A kernel: its loops in order, outermost first, and what it does inside them."""

    loops: tuple[Loop, ...]
    accesses: tuple[Access, ...]
    work: tuple[Work, ...]
    reduces: tuple[Reduce, ...]
    shareable: int
    """Loops over outputs that every store is inside of."""


def bits(loops: int) -> list[int]:
    """The positions of the loops of a set, in order."""
    return [i for i in range(loops.bit_length()) if loops >> i & 1]
