"""What a renderer returns, and the buffer it writes lines into while it remembers their nodes.

Knows no language and reads no node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rendered:
    """The text of one program; for each of its lines the positions, in the linear program it was
    made from, of the nodes behind that line; and facts such as the work group's size."""

    text: str
    lines: tuple[tuple[int, ...], ...]
    facts: Mapping[str, str] = field(default_factory=dict[str, str])


class Lines:
    """Collects lines of text. `at` is the position whose text is being written, -1 for none."""

    def __init__(self) -> None:
        self.at = -1
        self._text: list[str] = []
        self._marks: list[tuple[int, ...]] = []

    def add(self, line: str, *also: int) -> None:
        """One line, made from the node at `at` and those in `also`."""
        self._text.append(line)
        self._marks.append(tuple(p for p in dict.fromkeys((self.at, *also)) if p >= 0))

    def extend(self, other: Lines) -> None:
        """All lines of `other`, with their marks."""
        self._text.extend(other._text)
        self._marks.extend(other._marks)

    def finish(self, facts: Mapping[str, str] | None = None) -> Rendered:
        """The whole text, ending in a newline."""
        return Rendered("\n".join(self._text) + "\n", tuple(self._marks), dict(facts or {}))
