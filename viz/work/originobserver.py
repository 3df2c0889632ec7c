"""Watches a compilation as it runs, to tell which nodes of the kernel's AST every node comes from.

The live counterpart of `viz.replay.provenance.trace_provenance`. Never records anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.uop.observe import NullObserver
from core.uop.rule import Rule
from core.uop.uop import UOp
from viz.replay.provenance import Provenance


class OriginObserver(NullObserver):
    """`origins.of(node)`: positions in `ast` that a node comes from."""

    def __init__(self, ast: Sequence[UOp]) -> None:
        self.origins: Provenance[UOp] = Provenance(ast, lambda u: u.src, lambda u: u.op)

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """See Observer."""
        self.origins.match(before, after)

    def rebuild(self, old: UOp, new: UOp) -> None:
        """See Observer."""
        self.origins.rebuild(old, new)
