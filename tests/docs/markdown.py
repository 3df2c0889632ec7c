"""Tables, code and sentences in Markdown, from Python objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows]
    return "\n".join(lines)


def cell(text: object) -> str:
    """Text for a cell: no line breaks, no bars; outside of code, no tags."""
    parts = " ".join(str(text).split()).replace("|", "\\|").split("`")
    return "`".join(p if i % 2 else re.sub(r"<(?=[\w/!])", "&lt;", p) for i, p in enumerate(parts))


def code(text: object) -> str:
    """Text as code."""
    return f"`{text}`"


def first_sentence(doc: str | None) -> str:
    """The first paragraph of a docstring."""
    return " ".join((doc or "").partition("\n\n")[0].split())
