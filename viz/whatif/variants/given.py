"""What a worker is given: the kernel of a request with its target and flags, read strictly.

Graphs may come from a stranger's trace. Never compiles, and imports little: a worker that compiles
one kernel takes most of its time to begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from core.errors import CompileError, UopvizError
from core.isolation.client import Fault
from core.isolation.safety import check_kernel
from core.target import Target, target_named
from core.uop.data.serial import from_data
from core.uop.uop import UOp
from viz.format.cells import as_text

MAX_TRACE: Final = 1 << 28
"""Bytes of what one request may record."""
Data = dict[str, Any]


def kernel_of(subject: Mapping[str, Any]) -> tuple[UOp, Target]:
    """The AST of a request and its target. Raises UopvizError where it is no kernel."""
    ast = from_data(subject["graph"])[0]
    check_kernel(ast, max_bytes=1 << 62, inside=False)  # nothing is run yet
    return ast, target_named(as_text(subject["target"], 200))


def name_of(subject: Mapping[str, Any]) -> str:
    """The name of the kernel."""
    return as_text(subject["name"], 300)


def error_data(error: UopvizError | None) -> Data:
    """An error of the compiler, as JSON."""
    return Fault.of(error or CompileError("it could not be compiled")).data()
