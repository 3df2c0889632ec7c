"""Kernels that were compiled on request: their passes, beside those that the program ran.

The worker (`viz/work/worker.py`) records such a compilation as a trace file of its own, which says
in META of which kernel it is and for which target. Here that file is a further part of the run,
with numbers like those of a further process. Its AST is the kernel's: these nodes have the numbers
that they have in the run, so that the history of a line goes back over the target's passes to the
AST, and on to the user's line. Believes the file nothing, as any trace. Never compiles.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError
from viz.budget import answering, take
from viz.dialect.rundialect import RunDialect
from viz.files.parts import COMPILED, parts_of
from viz.format.cells import as_text
from viz.read.records import Context
from viz.read.tracefile import TraceFile
from viz.views.runs.process import MAX_PROCESSES, Process

FIRST: Final = MAX_PROCESSES
"""Compilations are numbered from here on: below are the processes of the program."""
KEPT: Final = 64
"""Compilations that may be dropped and are kept; KEPT_BYTES those of their files together."""
KEPT_BYTES: Final = 1 << 28
MAX_FILES: Final = 512
"""Compilations that lie beside a trace, or in an exported file."""
_MAX_TARGET: Final = 100


class Compilation(Process):
    """One kernel compiled for one target. Raises TraceError where the file holds none."""

    def __init__(self, file: TraceFile, number: int, dialect: RunDialect) -> None:
        super().__init__(file, number, dialect)
        match file.meta.get("passes_for"):
            case {"kernel": int(kernel), "target": str(target)} if kernel > 0:
                self.kernel, self.target = kernel, target[:_MAX_TARGET]
            case _:
                raise TraceError("this trace is not of a kernel that was compiled on request")
        first = min((*file.contexts, *file.rewrites), default=0)
        if first not in file.contexts or file.contexts[first].role != "kernel":
            raise TraceError("this trace of a compilation does not begin with its kernel")
        self.root = file.contexts[first]
        self.ast = 0
        """The root of the kernel's AST in the file of its process, when it was compiled."""
        self._twins: dict[int, int] = {}
        self._locals: dict[int, int] = {}

    @property
    def context(self) -> int:
        """The number in the run of the context that holds all of its passes."""
        return self.id(self.root.id)

    def node(self, local: int) -> int:
        """The number in the run of a node: that of the same node of the kernel's AST, where it is
        of that."""
        return self._twins.get(local) or self.id(local)

    def local_node(self, number: int) -> int | None:
        """The number in this file of a node of the run, the kernel's AST included; None where this
        file does not have it."""
        return self._locals.get(number) or super().local_node(number)

    def relate(self, of: Process, kernel: Context) -> None:
        """Finds its AST again in that of the kernel. Raises BudgetError."""
        self.ast = of.kernels.ast(kernel)
        with answering("the graph of this kernel"):
            found = _same_nodes(self.file, self.kernels.ast(self.root), of.file, self.ast)
        self._twins = {own: of.node(other) for own, other in found.items()}
        self._locals = {number: own for own, number in self._twins.items()}

    def artifacts(self) -> list[dict[str, Any]]:
        """Its source texts, in the form of the page. Raises BudgetError."""
        return [one | {"passes": self.context} for one in self.kernels.artifacts(self.root)]

    def first_rewrite(self) -> int | None:
        """The number of its first pass; None for none."""
        first = min(self.file.rewrites, default=None)
        return None if first is None else self.id(first)


class Compilations:
    """Those of one run. One that is given with `dropped` may have to go, the one used longest ago
    first, and `dropped` is called then."""

    def __init__(self) -> None:
        self._all: OrderedDict[int, Compilation] = OrderedDict()
        self._closing: dict[int, weakref.finalize[[], Compilation]] = {}
        """Closes the file of each once no answer reads it any more: one may, when it goes."""
        self._dropped: dict[int, tuple[int, Callable[[], None]]] = {}
        self._next = FIRST
        self.gone = 0
        """How many had to go."""

    def __iter__(self) -> Iterator[Compilation]:
        return iter(sorted(self._all.values(), key=lambda one: one.number))

    def reserve(self, number: int | None = None) -> int:
        """A number that none has yet: `number`, or a new one."""
        found = self._next if number is None else number
        self._next = max(self._next, found + 1)
        return found

    def add(self, one: Compilation, dropped: Callable[[], None] | None) -> list[Compilation]:
        """Keeps one more; those that go in its place: one of the same kernel and target, and what
        there is no room for."""
        going = [o.number for o in self._all.values() if _of(o) == _of(one)]
        self._all[one.number] = one
        self._closing[one.number] = weakref.finalize(one, one.file.close)
        if dropped is not None:
            self._dropped[one.number] = one.file.db.stored(), dropped
        while len(self._dropped) > KEPT or self._bytes() > KEPT_BYTES:
            oldest = next((n for n in self._all if n in self._dropped and n != one.number), None)
            if oldest is None:
                break
            self.gone += oldest not in going
            going.append(oldest)
            self._release(oldest)
        found = [self._all.pop(n) for n in dict.fromkeys(going)]
        for number in going:
            self._release(number)
        return found

    def of(self, number: int) -> Compilation | None:
        """By its number; it has been used now."""
        found = self._all.get(number)
        if found is not None:
            self._all.move_to_end(number)
        return found

    def of_kernel(self, kernel: int) -> list[Compilation]:
        """Those of a kernel, in the order in which they were made."""
        return [one for one in self if one.kernel == kernel]

    def close(self) -> None:
        """Closes all files."""
        for close in self._closing.values():
            close()
        for number in [*self._dropped]:
            self._release(number)

    def _bytes(self) -> int:
        return sum(size for size, _ in self._dropped.values())

    def _release(self, number: int) -> None:
        _, dropped = self._dropped.pop(number, (0, None))
        if dropped is not None:
            dropped()


def path_of(main: Path, number: int) -> Path:
    """Where the file with this number of a run lies, whose first file is `main`."""
    if number == 0:
        return main
    infix = f".p{number:04}" if number < FIRST else f".t{number - FIRST:04}"
    return main.with_suffix(infix + main.suffix)


def beside(main: Path) -> list[tuple[int, Path]]:
    """The files of compilations that lie beside the run's first file, with their numbers."""
    found = [(FIRST + int(infix[1]), path) for infix, path in parts_of(main, COMPILED)]
    return sorted(found)[:MAX_FILES]


def is_part(file: TraceFile, run: object) -> bool:
    """Whether a file says that it is of this run."""
    return isinstance(run, str) and as_text(file.meta.get("run")) == run


def _of(one: Compilation) -> tuple[int, str]:
    return one.kernel, one.target


def _same_nodes(own: TraceFile, root: int, other: TraceFile, other_root: int) -> dict[int, int]:
    """The nodes below two roots that are built alike, each of `own` with that of `other`. Raises
    BudgetError."""
    fields = [(own.nodes.field(name), other.nodes.field(name)) for name in ("op", "dtype")]
    found: dict[int, int] = {}
    taken: set[int] = set()
    known = 0 < root <= own.nodes.count and 0 < other_root <= other.nodes.count
    stack = [(root, other_root)] if known else []
    while stack:
        node, twin = stack.pop()
        if node in found or twin in taken:
            continue
        sources, others = own.nodes.sources(node), other.nodes.sources(twin)
        take(2 + len(sources) + len(others), 300 + 100 * len(sources))
        alike = all(own.text(int(a[node])) == other.text(int(b[twin])) for a, b in fields)
        if alike and len(sources) == len(others):
            found[node] = twin
            taken.add(twin)
            stack.extend(zip(sources, others, strict=True))
    return found
