"""The kinds of jobs that `core`'s adapter has: what each may take, and the module of its worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from core.isolation.limits import MEMORY_LIMIT
from viz.jobs.jobs import Kind

_WORKER: Final = "viz.work.worker"
_RUN: Final = Kind(MEMORY_LIMIT, None, _WORKER)
_WHAT_IF: Final = Kind(
    5 << 30,
    None,
    "viz.whatif.worker",
    smaller="a rule may loop forever; leave it out, or allow more time",
    crashed="a rule or the kernel may have crashed it; nothing else was harmed",
)
KINDS: Final[dict[str, Kind]] = {
    "compile": Kind(2 << 30, None, _WORKER),
    "shaders": _RUN,
    "devices": Kind(2 << 30, None, _WORKER),
    "run": _RUN,
    "emulate": _RUN,
    "peaks": _RUN,
    "decline": Kind(
        2 << 30,
        60.0,
        "viz.why.worker",
        smaller="the function of this rule does not come to an end at this node",
        crashed="the function of the rule may have crashed it; nothing else was harmed",
    ),
    "check": Kind(
        6 << 30,
        3600.0,
        "viz.check.worker",
        smaller="check one kernel or pass; what was checked until then is kept",
        crashed="it may have run out of memory: check one kernel or pass",
    ),
    "bisect": Kind(
        6 << 30,
        600.0,
        "viz.whatif.worker",
        smaller="a rule may loop forever",
        crashed="a rule or the kernel may have crashed it; nothing else was harmed",
    ),
    "bisect-run": Kind(
        6 << 30,
        3600.0,
        "viz.bisect.coordinator",
        smaller="look into one kernel",
        crashed="it may have run out of memory: look into one kernel",
    ),
    "workbench": Kind(MEMORY_LIMIT, None, "viz.workbench.worker", smaller="try a smaller kernel"),
    "opts": Kind(2 << 30, None, "viz.workbench.worker"),
    "texts": Kind(2 << 30, None, "viz.workbench.worker"),
    "search": Kind(
        8 << 30,
        600.0,
        "viz.workbench.worker",
        smaller="search with a smaller width",
        improves=True,
    ),
    "variant": _WHAT_IF,
    "replay": replace(_WHAT_IF, module="viz.whatif.replaying"),
    "minimise": _WHAT_IF,
}
"""By the job of a request."""
