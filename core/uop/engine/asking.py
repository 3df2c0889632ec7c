"""The work in which nodes are asked for (a schedule that is made, a kernel that is built), and the
lines of the user's program behind each node of a kernel, which observers are told of.

Does nothing while no observer is attached. Never changes a node.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from core.uop.engine.observe import attached
from core.uop.facts.uses import KernelLines, Uses, Work
from core.uop.uop import UOp, creating, keeps_uses, program

kernel_lines: Final[KernelLines[UOp]] = KernelLines()


class OpenWork:
    """A work from here to `end`: what this thread asks for meanwhile is asked for in it."""

    def __init__(self) -> None:
        self._saved: Uses[UOp] = creating.uses
        self.work: Work[UOp] = Work(self._saved)
        creating.uses = self.work

    def end(self) -> None:
        """What is asked for from here on is not asked for in this work."""
        if creating.uses is self.work:
            creating.uses = self._saved


def begin_work() -> OpenWork | None:
    """A piece of work that begins here; None while no observer is attached."""
    return OpenWork() if keeps_uses() else None


@contextmanager
def working() -> Generator[Work[UOp] | None]:
    """A separate piece of work for a block; None while no observer is attached."""
    began = begin_work()
    try:
        yield began and began.work
    finally:
        if began is not None:
            began.end()


def scheduled(sink: UOp) -> None:
    """Kernels have been made of a Tensor graph. Observers are told who had asked for its nodes."""
    if keeps_uses() and (observer := attached()) is not None:
        lines = program.scheduled(sink.toposort())
        observer.origins(sink, {**lines, sink: ""})


def asked_for_kernel(ast: UOp, line: Callable[[UOp], str | None]) -> None:
    """A kernel was built; `line` knows the lines that ask for its nodes. Observers are told."""
    lines = {u: line(u) or "" for u in ast.toposort()}
    if kernel_lines.add(ast, lines) and (observer := attached()) is not None:
        observer.origins(ast, kernel_lines.of(ast))
