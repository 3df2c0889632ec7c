"""String table of a trace. A number that is not there is "?". Never touches a file."""

from __future__ import annotations

from typing import Any, Final

from core.errors import TraceError
from viz.budget import take
from viz.format import schema
from viz.format.cells import as_text
from viz.read.records import MAX_NAME

_MAX_GAP: Final = 1 << 24
"""Texts that lost blocks may have held."""


class Strings:
    """The texts of one file."""

    def __init__(self) -> None:
        self.all: list[str] = [""]
        """In the order of their numbers."""
        self._cut: dict[int, str] = {}

    def add(self, first: int, items: list[Any]) -> None:
        """A block of texts, numbered from `first`. Raises TraceError."""
        missing = first - len(self.all)
        if not 0 <= missing <= _MAX_GAP:
            raise TraceError("a block of strings is damaged (its numbers do not follow)")
        take(missing // 16, 8 * missing)
        self.all += ["?"] * missing
        self.all += [as_text(item, 2 * schema.MAX_TEXT) for item in items]

    def text(self, number: int) -> str:
        """The text of a number."""
        return self.all[number] if 0 <= number < len(self.all) else "?"

    def name(self, number: int) -> str:
        """The text of a number, cut where no name is that long."""
        text = self.text(number)
        return text if len(text) <= MAX_NAME else self._cut.setdefault(number, text[:MAX_NAME])
