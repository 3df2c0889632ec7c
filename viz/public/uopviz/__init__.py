"""uopviz for scripts and notebooks: recorded runs as typed objects.

`run = uopviz.open("run.viz")`, then `run.kernels`, `run.matches(rule="add_zero")`, `step.before`,
`node.history()`; `uopviz.diff(a, b)`. docs/python.md has it all. Each name is imported when it is
asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from viz.api.difference import Difference as Difference
    from viz.api.difference import diff as diff
    from viz.api.graph import Event as Event
    from viz.api.graph import Graph as Graph
    from viz.api.graph import Node as Node
    from viz.api.run import Kernel as Kernel
    from viz.api.run import Matches as Matches
    from viz.api.run import Pass as Pass
    from viz.api.run import Rule as Rule
    from viz.api.run import Run as Run
    from viz.api.run import Step as Step
    from viz.api.run import open as open
    from viz.live import record as record
    from viz.notebook.magic import load_ipython_extension as load_ipython_extension
    from viz.notebook.magic import unload_ipython_extension as unload_ipython_extension
    from viz.notebook.shown import show as show

_HOMES: Final = {
    "Difference": "viz.api.difference",
    "Event": "viz.api.graph",
    "Graph": "viz.api.graph",
    "Kernel": "viz.api.run",
    "Matches": "viz.api.run",
    "Node": "viz.api.graph",
    "Pass": "viz.api.run",
    "Rule": "viz.api.run",
    "Run": "viz.api.run",
    "Step": "viz.api.run",
    "diff": "viz.api.difference",
    "load_ipython_extension": "viz.notebook.magic",
    "open": "viz.api.run",
    "record": "viz.live",
    "show": "viz.notebook.shown",
    "unload_ipython_extension": "viz.notebook.magic",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
