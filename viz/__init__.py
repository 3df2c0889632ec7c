"""uopviz: records every rewrite of a run, and shows it.

`with viz.record("t.viz"):` records a block; `VIZ=1 python program.py` a whole run. `TraceWriter`
writes the same traces for any other compiler, `Store` reads them. Each is imported when it is asked
for: a program that is recorded does not wait for the reader.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

# Before any module of this package: with VIZ set, core starts the recorder as it is imported, which
# needs modules that would be half way through their own imports.
import core as core

if TYPE_CHECKING:
    from viz.live import record as record
    from viz.views.store import Store as Store
    from viz.write.writer import TraceWriter as TraceWriter

_HOMES: Final = {
    "record": "viz.live",
    "Store": "viz.views.store",
    "TraceWriter": "viz.write.writer",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
