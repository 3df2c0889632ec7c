"""Which rule of one run is which of the other: by name, file and pattern, then by name and file,
then by name; of equal ones the first goes with the first.

Never looks at what a rule did.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from viz.budget import take
from viz.compare.matching.keys import Keys
from viz.compare.matching.side import Part, Side
from viz.read.records import RuleRecord

T = TypeVar("T")
_RULE: Final = 600
_MULTIPLIER: Final = 0xD1B54A32D192ED03
"""Odd: numbers of rules become keys that are not small."""


@dataclass(frozen=True)
class RuleMatch:
    """A rule of either run, by its number in it; None: it is only in the other one."""

    a: int | None
    b: int | None


def pair_by(
    of_a: Iterable[T], of_b: Iterable[T], keys: Iterable[Callable[[T], Hashable | None]]
) -> tuple[list[tuple[T, T, int]], list[T], list[T]]:
    """Pairs with an equal key, the first such with the first, and by which of the keys; then what
    is left on both sides. A key of None is equal to none."""
    left_a, left_b = [*of_a], [*of_b]
    found: list[tuple[T, T, int]] = []
    for level, key in enumerate(keys):
        waiting: dict[Hashable, list[T]] = {}
        for item in reversed(left_b):
            if (own := key(item)) is not None:
                waiting.setdefault(own, []).append(item)
        rest: list[T] = []
        taken: set[int] = set()
        for item in left_a:
            others = waiting.get(key(item)) if key(item) is not None else None
            if others:
                other = others.pop()
                taken.add(id(other))
                found.append((item, other, level))
            else:
                rest.append(item)
        left_a, left_b = rest, [item for item in left_b if id(item) not in taken]
    return found, left_a, left_b


class Rules:
    """The rules of two runs. Raises BudgetError."""

    def __init__(self, a: Side, b: Side) -> None:
        self.records_a, self.records_b = a.store.rule_records(), b.store.rule_records()
        count = len(self.records_a) + len(self.records_b)
        take(8 * count, _RULE * count)
        of_a, of_b = list(self.records_a.items()), list(self.records_b.items())
        patterns = {id(r): _pattern(r) for _, r in (*of_a, *of_b)}
        keys: tuple[Callable[[tuple[int, RuleRecord]], Hashable], ...] = (
            lambda item: (item[1].name, _file(item[1].file), patterns[id(item[1])]),
            lambda item: (item[1].name, _file(item[1].file)),
            lambda item: item[1].name,
        )
        both, only_a, only_b = pair_by(of_a, of_b, keys)
        self.matches = [RuleMatch(one[0], other[0]) for one, other, _ in both]
        self.matches += (RuleMatch(number, None) for number, _ in only_a)
        self.matches += (RuleMatch(None, number) for number, _ in only_b)
        self.classes_a = {m.a: i + 1 for i, m in enumerate(self.matches) if m.a is not None}
        """By number of a rule in the first run: a number that it has in common with that of the
        second one."""
        self.classes_b = {m.b: i + 1 for i, m in enumerate(self.matches) if m.b is not None}
        self._keys: dict[Part, Keys] = {}
        for side, classes in ((a, self.classes_a), (b, self.classes_b)):
            for part in side.parts:
                self._keys[part] = _keys_of(part, classes)

    def keys(self, part: Part) -> Keys:
        """By number of a rule in a file: a key, the same for the same rule of the other run."""
        return self._keys[part]

    def text_differs(self, match: RuleMatch) -> bool:
        """Whether what is recorded of a rule differs; its place does not count."""
        if match.a is None or match.b is None:
            return False
        one, other = self.records_a[match.a], self.records_b[match.b]
        names = ("source", "doc", "pattern")
        return one.equation != other.equation or any(
            one.texts.get(name) != other.texts.get(name) for name in names
        )

    def record(self, match: RuleMatch) -> RuleRecord:
        """What is recorded of a rule, in the second run where that has it."""
        if match.b is not None:
            return self.records_b[match.b]
        return self.records_a[match.a or 0]


def _keys_of(part: Part, classes: dict[int, int]) -> Keys:
    numbers = part.process.rules
    size = max(numbers, default=0) + 1
    if size > 4 * len(numbers) + 1000:  # numbers of a damaged file
        size = 4 * len(numbers) + 1000
    found = np.zeros(size, np.uint64)
    for local, number in numbers.items():
        if 0 <= local < size:
            found[local] = (classes.get(number, 0) * _MULTIPLIER) & ((1 << 64) - 1)
    return found


def _file(path: str) -> str:
    """The end of a path: two checkouts of one program lie in different folders."""
    return "/".join(path.replace("\\", "/").split("/")[-2:])


def _pattern(rule: RuleRecord) -> str:
    data = rule.texts.get("pattern")
    try:
        text = json.dumps(data, sort_keys=True, default=str)
    except (ValueError, RecursionError, TypeError):
        return ""
    take(len(text) // 16, 2 * len(text))
    return text
