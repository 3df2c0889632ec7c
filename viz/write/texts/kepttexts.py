"""The compiler's own texts of a program, kept with the passes that changed them, up to a bound.

A text that is too long is cut at the end of a line, and says how many lines are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from viz.write.writer import TraceWriter

MAX_TEXT: Final = 1 << 23
"""Characters of one text."""
MAX_ALL: Final = 1 << 30
"""Characters of all texts of a trace that differ."""
_FLUSH: Final = 1 << 24
"""Characters that wait to be written."""


@dataclass(eq=False)
class Text:
    """A text as lines with their ends; `kind`: its language; `nodes`: those behind each line."""

    kind: str
    lines: Sequence[str]
    nodes: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """By the number of the line, from 0."""
    is_told: bool = False
    """Whether the trace has it already."""


class KeptTexts:
    """Writes texts beside passes."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self._room = MAX_ALL
        self._waiting = 0
        self._without = self._cut = 0
        """Passes whose texts found no room, and texts that are not whole."""

    def keep(self, rewrite: int, before: Text | None, after: Text | None) -> None:
        """The texts before and after a pass, where they differ."""
        if before is not None and after is not None and before.lines == after.lines:
            return
        if self._room <= 0:
            self._without += 1
            return
        if before is not None:
            self._tell(rewrite, "before", before)
        if after is not None:
            self._tell(rewrite, "after", after)
        if self._waiting > _FLUSH:
            self._waiting = 0
            self._writer.flush()

    def problems(self) -> list[str]:
        """What is not kept."""
        said: list[str] = []
        if self._cut:
            said.append(
                f"texts of the program that were cut after {MAX_TEXT:,} characters: {self._cut:,}"
            )
        if self._without:
            what = "passes without texts, because those of earlier passes take all the space"
            said.append(f"{what}: {self._without:,}")
        return said

    def _tell(self, rewrite: int, when: Literal["before", "after"], text: Text) -> None:
        size = end = 0
        while end < len(text.lines) and size + len(text.lines[end]) <= MAX_TEXT:
            size += len(text.lines[end])
            end += 1
        left_out = len(text.lines) - end
        if not text.is_told:
            text.is_told = True
            self._room -= size
            self._waiting += size
            self._cut += left_out > 0
        linked = [text.nodes.get(at, []) for at in range(end)]
        self._writer.pass_text(
            rewrite, when, text.kind, "".join(text.lines[:end]), lines=linked, left_out=left_out
        )
