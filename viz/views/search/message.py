"""What a search looks up in an exported file: every hit that there is, with the texts by which it
is found, in the order in which hits come.

So whatever searches it (`viz/share/held/search.py`, viz/web/src/data/offline) compares texts, and
knows nothing of what they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from viz.budget import take
from viz.views.runs.process import Process
from viz.views.search.index import Text
from viz.views.search.structures import Structures

_TEXT: Final = 300
"""Bytes of a text in an answer, apart from its characters."""
_HIT: Final = 100
"""Bytes of a hit."""


def search_index(
    processes: Sequence[Process], place: Callable[[str], str], seconds: float
) -> dict[str, Any]:
    """SearchIndex of the page. `place`: how "file:line" is shown. Events are looked at for about
    `seconds` more; `done` where all are. Raises BudgetError."""
    until = time.monotonic() + seconds
    ops = sorted({op for process in processes for op in Structures.of(process).ops()})
    texts: dict[Text, int] = {}
    entries: list[int] = []
    found: list[int] = []
    done = True
    for process in processes:
        hits, part = process.index.search("", place, until)
        done = done and part == 1
        for entry, text in ((process.id(hit.entry), hit.text) for hit in hits):
            new = text not in texts
            take(1, _HIT + new * (_TEXT + 4 * len(text.shown)))
            entries.append(entry)
            found.append(texts.setdefault(text, len(texts)))
    return {
        "ops": ops,
        "texts": [{"shown": text.shown, "kinds": text.kinds} for text in texts],
        "hits": {"entry": entries, "text": found},
        "done": done,
    }
