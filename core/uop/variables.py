"""Which variables a value depends on, and what they are bound to.

Only reads graphs; `UOp.variable` and `UOp.bind` make the nodes.
"""

from __future__ import annotations

from typing import Self

from core.errors import DTypeError
from core.uop.node import Node
from core.uop.ops import Ops


class Variables(Node):
    """Questions about the variables of a graph."""

    __slots__ = ()

    def vars(self) -> set[Self]:
        """The variables below this node: each DEFINE_VAR, or the BIND that gives it a value."""
        found = self._below(Ops.BIND, Ops.DEFINE_VAR)
        bound = {u.src[0] for u in found if u.op is Ops.BIND}
        return {u for u in found if u not in bound}

    def variables(self) -> list[Self]:
        """The variables below this node, bound or not, each as its DEFINE_VAR, by name."""
        return sorted(self._below(Ops.DEFINE_VAR), key=lambda u: u.arg)

    def unbind(self) -> tuple[Self, int]:
        """(variable, value) of a bound variable. Raises DTypeError for other nodes."""
        if self.op is not Ops.BIND:
            raise DTypeError(
                f"unbind of {self.op.name}", self.origin or "", "only a bound variable has a value"
            )
        return self.src[0], self.src[1].arg

    @property
    def val(self) -> int:
        """The value of a bound variable. Raises DTypeError for other nodes."""
        return self.unbind()[1]

    def _below(self, *ops: Ops) -> list[Self]:
        seen = {self: None}
        stack = [self]
        while stack:
            for s in stack.pop().src:
                if s not in seen:
                    seen[s] = None
                    stack.append(s)
        return [u for u in seen if u.op in ops]
