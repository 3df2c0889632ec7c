"""How rules have changed since a run: whether the text of each is still in its file.

Compares lines; never runs or parses them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from viz.format.schema import REDACTED

RuleState = Literal["same", "moved", "changed", "gone"]
_CUT: Final = re.compile(r"\.\.\. \([\d,]+ more lines\)")
_DEF: Final = re.compile(r"\s*(?:async )?def (\w+)")
_MOST: Final = 100
"""Places at which a text that has moved is looked for."""


@dataclass(frozen=True)
class RuleToday:
    """`line`: where the rule, or what goes by its name, begins today; 0 where it is gone."""

    state: RuleState
    line: int


class FileToday:
    """A file as it is today, to find rules in; without lines where it is gone."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = [line.rstrip() for line in lines]
        self._places: dict[str, list[int]] = {}
        self._functions: dict[str, int] = {}
        for at, line in enumerate(self._lines):
            self._places.setdefault(line, []).append(at)
            if function := _DEF.match(line):
                self._functions.setdefault(function[1], at)

    def find(self, name: str, source: str, line: int) -> RuleToday | None:
        """How the rule `name` has changed, whose text `source` began at `line`. None where the
        trace has no text of it."""
        text = [part.rstrip() for part in source.rstrip("\n").split("\n")]
        if _CUT.fullmatch(text[-1]):
            text.pop()
        if not any(text) or text == [REDACTED]:
            return None
        if line > 0 and self._is_at(line - 1, text):
            return RuleToday("same", line)
        starts = self._places.get(text[0], [])[:_MOST]
        if moved := [at for at in starts if self._is_at(at, text)]:
            return RuleToday("moved", min(moved, key=lambda at: abs(at + 1 - line)) + 1)
        if (at := self._functions.get(name)) is not None:
            return RuleToday("changed", self._begin(at) + 1)
        if self._lines and not any(_DEF.match(part) for part in text):
            # an expression: nothing says where it went
            return RuleToday("changed", max(1, min(line, len(self._lines))))
        return RuleToday("gone", 0)

    def _is_at(self, at: int, text: Sequence[str]) -> bool:
        return self._lines[at : at + len(text)] == text

    def _begin(self, function: int) -> int:
        """The first decorator of a function."""
        while function and self._lines[function - 1].lstrip().startswith("@"):
            function -= 1
        return function
