"""A kernel of a trace, as a worker needs it to compile it again: AST, target, flags, text.

Reads what was recorded. Raises ServerError for kernels of other compilers. Never compiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from core.render.kinds import KIND
from core.target import targets
from viz.coredialect.flags import Flags, flags_in, machine_in
from viz.format.cells import as_text
from viz.views.runs.process import STRIDE
from viz.views.store import Store
from viz.work.compiling import graph_of

MAX_TEXT: Final = 1 << 19
Data = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """`number`: of its context in the run; `text`: what was loaded, by kind, if the trace has
    it."""

    number: int
    name: str
    target: str
    graph: Data
    flags: Flags
    text: tuple[str, str] | None

    def data(self) -> Data:
        """As a worker reads it."""
        return {
            "number": self.number,
            "name": self.name,
            "target": self.target,
            "graph": self.graph,
            "flags": dict(self.flags),
            "text": None if self.text is None else list(self.text),
        }


def subject_of(store: Store, kernel: int) -> Subject:
    """A kernel by its number. Raises ServerError where it cannot be compiled here, and
    BudgetError."""
    graph, _ = graph_of(store, kernel)
    process = store.processes[kernel // STRIDE]
    context = process.file.contexts[kernel % STRIDE]
    target = as_text(context.meta.get("target"), 200)
    return Subject(
        kernel,
        context.name,
        target,
        graph,
        {**flags_in(process.file.meta.get("flags")), **machine_in(context.meta)},
        next(
            (
                (kind, text)
                for kind, of, text in process.kernels.texts(context, derived=False)
                if of == target and _is_loaded(kind, target) and len(text) <= MAX_TEXT
            ),
            None,
        ),
    )


def recorded_flags(store: Store, context: int) -> Flags:
    """The flags that a kernel, or what was compiled of it on request, was recorded with, as far as
    code depends on them; none for a number that no process has."""
    kernel, processes = store.kernel_of(context), store.processes
    if not 0 <= kernel // STRIDE < len(processes):
        return {}
    file = processes[kernel // STRIDE].file
    known = file.contexts.get(kernel % STRIDE)
    machine = machine_in(known.meta) if known is not None else {}
    return {**flags_in(file.meta.get("flags")), **machine}


def subjects_of(store: Store) -> list[Subject]:
    """Every kernel of the run, in order, each AST and target once."""
    found: dict[tuple[str, str], Subject] = {}
    for number in store.kernels():
        one = subject_of(store, number)
        found.setdefault((one.name, one.target), one)
    return [*found.values()]


def _is_loaded(kind: str, target: str) -> bool:
    known = targets.get(target)
    family = known.family if known is not None else "cpu"
    return kind in KIND and family in KIND[kind].loaded
