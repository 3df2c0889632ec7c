"""The IR: interned graph nodes, patterns over them, and the engine that rewrites them.

What programs use has its name here, and is imported when it is asked for: a viewer of traces reads
nodes, and needs neither the engine nor its rules.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from core.uop.engine.observe import track_rewrites as track_rewrites
    from core.uop.engine.rewrite import graph_rewrite as graph_rewrite
    from core.uop.engine.rewrite import graph_rewrite_map as graph_rewrite_map
    from core.uop.ops import GroupOp as GroupOp
    from core.uop.ops import Ops as Ops
    from core.uop.patterns.matcher import PatternMatcher as PatternMatcher
    from core.uop.patterns.rule import Rule as Rule
    from core.uop.patterns.rule import rule as rule
    from core.uop.patterns.upat import UPat as UPat
    from core.uop.uop import UOp as UOp

_HOMES: Final = {
    "GroupOp": "core.uop.ops",
    "Ops": "core.uop.ops",
    "PatternMatcher": "core.uop.patterns.matcher",
    "Rule": "core.uop.patterns.rule",
    "UOp": "core.uop.uop",
    "UPat": "core.uop.patterns.upat",
    "graph_rewrite": "core.uop.engine.rewrite",
    "graph_rewrite_map": "core.uop.engine.rewrite",
    "rule": "core.uop.patterns.rule",
    "track_rewrites": "core.uop.engine.observe",
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
