"""How lines of a unified difference look."""

from __future__ import annotations

from typing import Final

from viz.terminal import Style

_DIFFERENCE: Final[tuple[tuple[str, Style], ...]] = (
    ("@", "hint"),
    ("-", "removed"),
    ("+", "added"),
)
"""By how they begin."""


def difference_style(line: str) -> Style | None:
    """That of a line; None: none of its own."""
    return next((style for start, style in _DIFFERENCE if line.startswith(start)), None)
