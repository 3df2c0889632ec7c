"""The compiler's own texts of a program before and after passes: what follows one pass is what
comes before the next one, and is told once.
"""

from __future__ import annotations

from _uopviz_tap.stream import Stream

_ROOM = 1 << 25
"""Characters of all texts of a process: to print takes longer than to tell."""


class Printed:
    """A text in a language, and the node of each line, 0 for none."""

    def __init__(self, language: str, text: str, nodes: list[int]) -> None:
        self.language, self.text, self.nodes = language, text, nodes


class PassTexts:
    """Tells the texts of one process."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._room = _ROOM
        self._last: Printed | None = None

    @property
    def has_room(self) -> bool:
        """Whether further texts are told."""
        return self._room > 0

    def tell(self, rewrite: int, before: Printed | None, after: Printed | None) -> None:
        """The texts of a pass that changed something; None for one that could not be printed."""
        for when, text in (("before", before), ("after", after)):
            if text is None:
                continue
            if text is self._last:
                self._stream.put("pass-text", rewrite, when)
            else:
                self._last = text
                self._stream.put("pass-text", rewrite, when, text.language, text.text, text.nodes)
                self._room -= len(text.text)
                if not self.has_room:
                    what = "texts of passes from here on: those of earlier passes take all the room"
                    self._stream.problem(what)
