"""The IR: interned graph nodes, patterns over them, and the engine that rewrites them.

What programs use has its name here. Most are imported when they are asked for: a viewer of traces
reads nodes, and needs neither the engine nor its rules. `rule` cannot wait: its module has the same
name, and would take its place.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from core.uop.rule import Rule, rule

if TYPE_CHECKING:
    from core.uop.matcher import PatternMatcher as PatternMatcher
    from core.uop.observe import track_rewrites as track_rewrites
    from core.uop.ops import GroupOp as GroupOp
    from core.uop.ops import Ops as Ops
    from core.uop.rewrite import graph_rewrite as graph_rewrite
    from core.uop.rewrite import graph_rewrite_map as graph_rewrite_map
    from core.uop.uop import UOp as UOp
    from core.uop.upat import UPat as UPat

_HOMES: Final = {
    "GroupOp": "core.uop.ops",
    "Ops": "core.uop.ops",
    "PatternMatcher": "core.uop.matcher",
    "UOp": "core.uop.uop",
    "UPat": "core.uop.upat",
    "graph_rewrite": "core.uop.rewrite",
    "graph_rewrite_map": "core.uop.rewrite",
    "track_rewrites": "core.uop.observe",
}
__all__ = [
    "GroupOp",
    "Ops",
    "PatternMatcher",
    "Rule",
    "UOp",
    "UPat",
    "graph_rewrite",
    "graph_rewrite_map",
    "rule",
    "track_rewrites",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
