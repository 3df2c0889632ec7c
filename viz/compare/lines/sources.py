"""Two source texts line by line, with renamed registers and moved blocks told apart from changes.

`SourceDifference` of viz/web/src/data/messages/compare.ts. Lines go together by what they compute:
the instruction, and what made the registers that it reads; between these by the instruction alone.
Near-linear. Never looks at nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from viz.budget import take
from viz.compare.lines.registers import Line, read_lines, stem_of
from viz.compare.matching.align import align_levels, fill
from viz.compare.matching.keys import Keys

Data = dict[str, Any]
MAX_LINES: Final = 100_000
"""Of either text."""
LEAST_MOVED: Final = 3
"""Lines of a block that counts as moved."""
_LINE: Final = 700
_STEP: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1


def source_difference(a: str, b: str, language: str) -> Data:
    """The difference of two texts; "" for one that only the other side has. Raises BudgetError."""
    texts = [_split(text) for text in (a, b)]
    truncated = ""
    if max(map(len, texts)) > MAX_LINES:
        truncated = f"Only the first {MAX_LINES:,} lines are compared."
        texts = [lines[:MAX_LINES] for lines in texts]
    take((len(a) + len(b)) // 4, _LINE * sum(map(len, texts)))
    lines_a, lines_b = (read_lines(lines, language) for lines in texts)
    pairs = _align(lines_a, lines_b)
    renamed = _renamed(lines_a, lines_b, pairs)
    rows = [(i + 1, j + 1, _state(lines_a[i], lines_b[j], renamed)) for i, j, _ in pairs]
    moved = _moved(lines_a, lines_b, [(i, j) for i, j, _ in pairs])
    return {
        "rows": _in_order(rows, len(lines_a), len(lines_b), moved),
        "a": texts[0],
        "b": texts[1],
        "renamed": [(one, other) for one, other in renamed.items() if one != other],
        "moved": [{"a": i + 1, "b": j + 1, "lines": count} for i, j, count in moved],
        "truncated": truncated or None,
    }


def _split(text: str) -> list[str]:
    """Lines as the page counts them."""
    return text.removesuffix("\n").split("\n") if text else []


def _align(a: Sequence[Line], b: Sequence[Line]) -> list[tuple[int, int, int]]:
    """Lines that go together: what they compute, their shape, their first word."""
    levels = [
        [_computed(side), _keys([line.shape for line in side]), _keys([w.word for w in side])]
        for side in (a, b)
    ]
    return align_levels(levels[0], levels[1])


def _keys(values: Sequence[int]) -> Keys:
    return np.array(values, np.uint64)


def _computed(lines: Sequence[Line]) -> Keys:
    """A key of what each line computes. The first register of a line, where it is the first time
    that it is named, is what the line makes; the others are what it reads."""
    made: dict[str, int] = {}
    stems: dict[str, int] = {}
    found: list[int] = []
    for line in lines:
        key = line.shape
        for register in line.registers:
            known = made.get(register)
            if known is None:  # by name alone, until it is made
                known = stems.setdefault(stem_of(register), len(stems) + 1)
            key = ((key ^ known) * _STEP + 1) & _MASK
            key ^= key >> 29
        if line.registers and line.registers[0] not in made:
            made[line.registers[0]] = key
        found.append(key)
    return _keys(found)


def _renamed(
    a: Sequence[Line], b: Sequence[Line], pairs: Sequence[tuple[int, int, int]]
) -> dict[str, str]:
    """Which register of A is which of B: as most lines of one shape say it, each at most once."""
    votes: Counter[tuple[str, str]] = Counter()
    for i, j, level in pairs:
        if level < 2 and len(a[i].registers) == len(b[j].registers):
            weight = 4 if level == 0 else 1
            for one, other in zip(a[i].registers, b[j].registers, strict=True):
                votes[one, other] += weight
    found: dict[str, str] = {}
    taken: set[str] = set()
    for (one, other), _ in votes.most_common():
        if one not in found and other not in taken and stem_of(one) == stem_of(other):
            found[one] = other
            taken.add(other)
    return found


def _state(a: Line, b: Line, renamed: dict[str, str]) -> str:
    if a.said == b.said:
        return "same"
    if a.shape != b.shape or len(a.registers) != len(b.registers):
        return "changed"
    named = all(
        renamed.get(one) == other for one, other in zip(a.registers, b.registers, strict=True)
    )
    return "renamed" if named else "changed"


def _moved(
    a: Sequence[Line], b: Sequence[Line], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Blocks of lines that only stand elsewhere: their first lines, and how many there are."""
    gaps = fill(pairs, len(a), len(b))
    left_a = [i for gap, _ in gaps for i in gap]
    left_b = [j for _, gap in gaps for j in gap]
    if not left_a or not left_b:
        return []
    free_b = set(left_b)
    starts: dict[tuple[int, ...], list[int]] = {}
    for j in reversed(left_b):
        if (key := _block(b, j, free_b)) is not None:
            starts.setdefault(key, []).append(j)
    free_a = set(left_a)
    found: list[tuple[int, int, int]] = []
    for i in left_a:
        if i not in free_a or (key := _block(a, i, free_a)) is None:
            continue
        others = starts.get(key, [])
        while others and others[-1] not in free_b:
            others.pop()
        if not others:
            continue
        j, count = others.pop(), 0
        while i + count in free_a and j + count in free_b:
            if a[i + count].shape != b[j + count].shape:
                break
            free_a.discard(i + count)
            free_b.discard(j + count)
            count += 1
        take(count + 1)
        if count >= LEAST_MOVED:
            found.append((i, j, count))
    return found


def _block(lines: Sequence[Line], at: int, free: set[int]) -> tuple[int, ...] | None:
    """The shapes of the block that may begin at a line; None where none does."""
    block = range(at, at + LEAST_MOVED)
    if not all(n in free and not lines[n].is_blank for n in block):
        return None
    return tuple(lines[n].shape for n in block)


def _in_order(
    rows: list[tuple[int, int, str]],
    count_a: int,
    count_b: int,
    moved: Sequence[tuple[int, int, int]],
) -> list[Data]:
    """All lines of both, between those that go together first those of A."""
    moved_a = {i + n + 1 for i, _, count in moved for n in range(count)}
    moved_b = {j + n + 1 for _, j, count in moved for n in range(count)}
    made: list[Data] = []
    at_a = at_b = 1
    for i, j, state in (*rows, (count_a + 1, count_b + 1, "")):
        for n in range(at_a, i):
            made.append({"a": n, "b": 0, "state": "moved" if n in moved_a else "removed"})
        for n in range(at_b, j):
            made.append({"a": 0, "b": n, "state": "moved" if n in moved_b else "added"})
        if state:
            made.append({"a": i, "b": j, "state": state})
        at_a, at_b = i + 1, j + 1
    return made
