"""What the renderers of languages with expressions share: C and its dialects, and WGSL."""

from __future__ import annotations

from typing import Final

from core.uop.ops import Ops

NO_TEXT: Final = frozenset(
    {
        Ops.CONST,
        Ops.VCONST,
        Ops.INDEX,
        Ops.AFTER,
        Ops.COMMIT,
        Ops.WAIT,
        Ops.GROUP,
        Ops.NOOP,
        Ops.SINK,
    }
)
"""Ops that have no statement of their own: what uses them says them."""


def bare(text: str) -> str:
    """`text` without parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and at < len(text) - 1:
            return text
    return text[1:-1]
