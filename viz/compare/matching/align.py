"""Longest common subsequences of two sequences of keys, in near-linear time.

What is equal at both ends goes together. Between, keys that each side has once are anchors, as many
as are in the same order (patience diff, Bram Cohen); between anchors this is done again. What is
left without any is compared exactly where that is little work (Myers, "An O(ND) difference
algorithm", 1986), else the n-th of a key goes with the n-th on the other side; so, too, where that
is more than anchors would leave room for. Never looks at what keys stand for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import isqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from viz.budget import take
from viz.compare.matching.keys import Keys, mix

Pair = tuple[int, int]
MAX_EDITS: Final = 200
"""Edits up to which two stretches are compared exactly; time and memory grow with their square."""
_WORK: Final = 20
"""Steps of exact comparison for each key, in all stretches together; _LEAST at least."""
_LEAST: Final = 20_000
_RUNS: Final = (1, 4, 16, 64)
"""Keys of the runs that may be anchors."""
_SMALL: Final = 64
"""Keys of a stretch, of both sides together, that is compared exactly, without anchors."""
_FEW: Final = 64
"""Keys of a stretch of a stretch that are compared at once."""


def align(a: Keys, b: Keys) -> list[Pair]:
    """Positions of equal keys, growing on both sides. Raises BudgetError."""
    found: list[Pair] = []
    work = _LEAST + _WORK * (len(a) + len(b))
    waiting = [(0, len(a), 0, len(b))]
    while waiting:
        low_a, high_a, low_b, high_b = waiting.pop()
        head = _common(a[low_a:high_a], b[low_b:high_b])
        found += zip(range(low_a, low_a + head), range(low_b, low_b + head), strict=True)
        low_a, low_b = low_a + head, low_b + head
        tail = _common(a[low_a:high_a][::-1], b[low_b:high_b][::-1])
        found += zip(range(high_a - tail, high_a), range(high_b - tail, high_b), strict=True)
        high_a, high_b = high_a - tail, high_b - tail
        take(8 + head + tail + (high_a - low_a) + (high_b - low_b), 80 * (head + tail))
        if low_a == high_a or low_b == high_b:
            continue
        part_a, part_b = a[low_a:high_a], b[low_b:high_b]
        anchors = _anchors(part_a, part_b) if len(part_a) + len(part_b) > _SMALL else []
        if anchors and len(inner := _in_turn(part_a, part_b)) > _room(anchors, part_a, part_b):
            found += ((low_a + i, low_b + j) for i, j in inner)
            continue
        if not anchors:
            most = min(len(part_a) + len(part_b), MAX_EDITS, isqrt(work))
            inner, edits = _exact(part_a.tolist(), part_b.tolist(), most)
            work -= edits * edits
            if inner is None:
                inner = _in_turn(part_a, part_b)
            found += ((low_a + i, low_b + j) for i, j in inner)
            continue
        take(0, 100 * len(anchors))
        at_a, at_b = low_a, low_b
        for i, j in anchors:
            i, j = low_a + i, low_b + j
            if i >= at_a and j >= at_b:  # else it is in a run that grew over it
                if i > at_a and j > at_b:
                    waiting.append((at_a, i, at_b, j))
                found.append((i, j))
                at_a, at_b = i + 1, j + 1
        waiting.append((at_a, high_a, at_b, high_b))
    found.sort()
    return found


def longest_increasing(values: Sequence[int]) -> list[int]:
    """Positions of a longest strictly increasing subsequence (Fredman, 1975)."""
    ends: list[int] = []
    last: list[int] = []
    before = [-1] * len(values)
    for at, value in enumerate(values):
        place = bisect_left(ends, value)
        if place == len(ends):
            ends.append(value)
            last.append(at)
        else:
            ends[place], last[place] = value, at
        before[at] = last[place - 1] if place else -1
    chosen: list[int] = []
    at = last[-1] if last else -1
    while at >= 0:
        chosen.append(at)
        at = before[at]
    return chosen[::-1]


def fill(pairs: Iterable[Pair], count_a: int, count_b: int) -> list[tuple[range, range]]:
    """What lies between pairs, on both sides: the stretches where either has something."""
    gaps: list[tuple[range, range]] = []
    at_a = at_b = 0
    for i, j in (*pairs, (count_a, count_b)):
        if i > at_a or j > at_b:
            gaps.append((range(at_a, i), range(at_b, j)))
        at_a, at_b = i + 1, j + 1
    return gaps


def align_levels(levels_a: Sequence[Keys], levels_b: Sequence[Keys]) -> list[tuple[int, int, int]]:
    """Aligns by the first kind of key, what lies between by the second, and so on: positions, and
    the level at which they go together. Raises BudgetError."""
    count_a, count_b = len(levels_a[0]), len(levels_b[0])
    pairs: list[Pair] = []
    found: list[tuple[int, int, int]] = []
    for level, (a, b) in enumerate(zip(levels_a, levels_b, strict=True)):
        new: list[Pair] = []
        for of_a, of_b in fill(pairs, count_a, count_b):
            if of_a and of_b:
                part = align(a[of_a.start : of_a.stop], b[of_b.start : of_b.stop])
                new += ((of_a.start + i, of_b.start + j) for i, j in part)
        found += ((i, j, level) for i, j in new)
        pairs = sorted((*pairs, *new))
    found.sort()
    return found


def _common(a: Keys, b: Keys) -> int:
    """How many keys are equal from the beginning on."""
    size = min(len(a), len(b))
    at, width = 0, _FEW
    while at < size:
        differ = np.flatnonzero(a[at : min(size, at + width)] != b[at : min(size, at + width)])
        if len(differ):
            return at + int(differ[0])
        at, width = at + width, 4 * width
    return size


def _anchors(a: Keys, b: Keys) -> list[Pair]:
    """Keys, or beginnings of runs of them, that each side has once, as many as are in order."""
    for width in _RUNS:
        if min(len(a), len(b)) < width:
            break
        if width > 1:  # from runs of a fourth of the width
            a, b = _runs(a, width // 4), _runs(b, width // 4)
        once_a, once_b = _once(a), _once(b)
        _, at_a, at_b = np.intersect1d(
            a[once_a], b[once_b], assume_unique=True, return_indices=True
        )
        if len(at_a):
            return _in_order(once_a[at_a], once_b[at_b])
    return []


def _room(anchors: Sequence[Pair], a: Keys, b: Keys) -> int:
    """How many keys may go together at most where anchors do: one that has moved across a long
    stretch leaves the others no room."""
    gaps = fill(anchors, len(a), len(b))
    return len(anchors) + sum(min(len(of_a), len(of_b)) for of_a, of_b in gaps)


def _runs(keys: Keys, apart: int) -> Keys:
    """A key of four keys in a row, so far apart."""
    count = len(keys) - 3 * apart
    made = keys[:count]
    for at in (apart, 2 * apart, 3 * apart):
        made = mix(made, keys[at : at + count])
    return made


def _once(keys: Keys) -> npt.NDArray[np.intp]:
    """Positions of keys that are there once."""
    _, first, count = np.unique(keys, return_index=True, return_counts=True)
    return first[count == 1]


def _in_order(of_a: npt.NDArray[np.intp], of_b: npt.NDArray[np.intp]) -> list[Pair]:
    """Of pairs of positions, as many as grow on both sides."""
    order = np.argsort(of_a, kind="stable")
    first: list[int] = of_a[order].tolist()
    second: list[int] = of_b[order].tolist()
    return [(first[at], second[at]) for at in longest_increasing(second)]


def _in_turn(a: Keys, b: Keys) -> list[Pair]:
    """The n-th of a key with the n-th on the other side, as many as are in the same order."""
    both = np.concatenate((a, b))
    _, place = np.unique(both, return_inverse=True)
    place = place.reshape(-1)
    turn_a, turn_b = _turns(place[: len(a)]), _turns(place[len(a) :])
    size = np.int64(len(both) + 1)
    named_a, named_b = place[: len(a)] * size + turn_a, place[len(a) :] * size + turn_b
    _, at_a, at_b = np.intersect1d(named_a, named_b, assume_unique=True, return_indices=True)
    return _in_order(at_a, at_b)


def _turns(keys: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """For each position, how many equal keys stand before it."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.concatenate((begins, [len(keys)])))
    turns = np.empty(len(keys), np.intp)
    turns[order] = np.arange(len(keys)) - np.repeat(begins, lengths)
    return turns


def _exact(a: list[int], b: list[int], most: int) -> tuple[list[Pair] | None, int]:
    """The longest common subsequence, None where that takes more than `most` edits; and the edits
    that were tried."""
    count_a, count_b = len(a), len(b)
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(most + 1):
        take(2 * edits + 2, 100 * (edits + 1))
        trail.append(dict(furthest))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            i = furthest[k + 1] if down else furthest[k - 1] + 1
            begun, j = i, i - k
            while i < count_a and j < count_b and a[i] == b[j]:
                i, j = i + 1, j + 1
            take(1 + (i - begun) // 8)
            furthest[k] = i
            if i >= count_a and j >= count_b:
                return _walk_back(trail, count_a, count_b), edits
    return None, most


def _walk_back(trail: list[dict[int, int]], i: int, j: int) -> list[Pair]:
    """The pairs on the way that `_exact` found."""
    found: list[Pair] = []
    for edits in range(len(trail) - 1, -1, -1):
        furthest, k = trail[edits], i - j
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before = furthest[k + 1] if down else furthest[k - 1] + 1
        while i > before and j > before - k and i > 0 and j > 0:
            i, j = i - 1, j - 1
            found.append((i, j))
        if edits:
            i, j = (before, before - k - 1) if down else (before - 1, before - k)
    return found[::-1]
