"""A module of xDSL printed as `xdsl-opt` prints it, with the op of each line."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module
from typing import Any

from _uopviz_tap.passtexts import Printed

_NAME = "op_name__"
"""Where an op of an unknown dialect keeps its name; the printer takes it out for a while."""


def printed(root: Any, number: Callable[[Any], int]) -> Printed | None:
    """The text of an op; None where it cannot be printed, as in the middle of a change. `number`:
    that of the node of an op."""
    printer: Any = import_module("xdsl.printer").Printer

    class Linking(printer):
        """Remembers on which line each op begins."""

        def print_op(self, op: Any) -> None:
            name = op.attributes.get(_NAME)
            lines.setdefault(out.lines, number(op))
            try:
                super().print_op(op)
            finally:
                if name is not None:
                    op.attributes[_NAME] = name

    lines: dict[int, int] = {}
    out = _Counting()
    try:
        Linking(stream=out).print_op(root)
    except Exception:
        return None
    return Printed("mlir", out.getvalue() + "\n", [lines.get(at, 0) for at in range(out.lines + 1)])


class _Counting(io.StringIO):
    """Counts the lines that are over."""

    lines = 0

    def write(self, text: str) -> int:
        """As StringIO does."""
        self.lines += text.count("\n")
        return super().write(text)
