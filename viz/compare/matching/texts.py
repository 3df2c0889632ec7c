"""The texts of a scope, as far as their lines say what is computed: without the name of the kernel,
and in reports without the lines of the user's program.

Texts that follow from the nodes (linear programs) and reports of searches, which have times, are
left alone. Keeps a number of each text, never the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from viz.budget import take
from viz.compare.matching.canonical import text_key
from viz.compare.matching.side import Scope
from viz.read.records import Context

_WORD: Final = re.compile(r"[^\s()\"',;]+")
KERNEL: Final = "the_kernel"
"""In place of the name of a kernel."""


@dataclass(frozen=True)
class Digest:
    """A text: a key of it, and how many lines it has."""

    key: int
    lines: int


def texts_of(scope: Scope) -> dict[tuple[str, str], str]:
    """The texts that a trace has of a scope, by kind and target, in canonical form, the kind that
    the page prefers first. Raises BudgetError."""
    if not isinstance(scope.entry, Context):
        return {}
    reader = scope.part.process.kernels
    dialect = scope.part.process.dialect.dialect
    passing = {kind.name for kind in dialect.texts if not kind.lasts}
    found = {
        (kind[:100], target[:100]): canonical(scope, kind, text)
        for kind, target, text in reader.texts(scope.entry, derived=False)
        if kind not in passing
    }
    return dict(
        sorted(
            found.items(), key=lambda item: dialect.preferred.get(item[0][0], len(dialect.texts))
        )
    )


def digests_of(scope: Scope) -> dict[tuple[str, str], Digest]:
    """The same as numbers. Raises BudgetError."""
    return {
        key: Digest(text_key(text), text.count("\n") + 1) for key, text in texts_of(scope).items()
    }


def canonical(scope: Scope, kind: str, text: str) -> str:
    """A text of a scope without what depends on names and on lines of the user."""
    take(len(text) // 16, 2 * len(text))
    if len(scope.name) > 2:
        text = text.replace(scope.name, KERNEL)
    known = scope.part.process.dialect.dialect.kinds.get(kind)
    if known is not None and known.language == "text":
        return _WORD.sub(_without_line, text)
    return text


def _without_line(found: re.Match[str]) -> str:
    """A word; of "examples/digits.py:41" only "digits.py"."""
    word = found[0]
    path, colon, line = word.rpartition(":")
    if not colon or not line.isdigit() or "." not in path:
        return word
    return re.split(r"[/\\]", path)[-1]
