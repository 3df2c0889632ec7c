"""The programs of one kernel for many targets, lowered once for those that the passes cannot tell
apart. Each target's text is rendered for it, with its name.

Passes read what a target can do and never which it is; matrix instructions matter to sums only.
"""

from __future__ import annotations

from dataclasses import replace

from core.compile import compile_kernel
from core.render.renderers import rendered_kinds, renderer
from core.target import Target
from core.toolchain.program import Program
from core.uop import Ops, UOp


class Compiled:
    """A kernel's programs."""

    def __init__(self, ast: UOp) -> None:
        self._ast = ast
        self._sums = any(u.op in (Ops.REDUCE_AXIS, Ops.REDUCE, Ops.WMMA) for u in ast.toposort())
        self._programs: dict[Target, Program] = {}

    def program(self, target: Target) -> Program:
        """The program for a target. Raises what `compile_kernel` raises."""
        alike = self._capabilities(target)
        found = self._programs.get(alike)
        if found is None:
            found = self._programs[alike] = compile_kernel(self._ast, target)
        if found.target is target:
            return found
        kind = rendered_kinds(target.family)[0]
        render = renderer(kind)
        made = render(found.lowered, found.name, target)
        lines = tuple(tuple(found.lowered[at] for at in line) for line in made.lines)
        source = replace(
            found.source, kind=kind, target=target, text=made.text, lines=lines, facts=made.facts
        )
        return replace(found, target=target, source=source)

    def _capabilities(self, target: Target) -> Target:
        """The target without what no pass reads: its names, and matrix instructions where there is
        nothing to multiply and add."""
        cores = target.tensor_cores if self._sums else ()
        return replace(
            target, name="", arch="", title="", triple="", processor="", tensor_cores=cores
        )
