"""The files of one run, put together: those of its processes and of kernels that were compiled on
request, and the tree and the rules that they make.

Answers no question: `viz/views/store.py` does. Never writes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from core.errors import BudgetError, TraceError
from viz.dialect.registry import dialect_of
from viz.files.parts import PROCESS, parts_of
from viz.format.cells import as_text
from viz.read.records import Context, Rewrite
from viz.read.room import Room
from viz.read.tracefile import OFTEN, READ, Progress, TraceFile, silent
from viz.views.kernels.compiled import FIRST, Compilation, Compilations, beside, is_part
from viz.views.rules.rulebook import Rulebook
from viz.views.runs.places import Places
from viz.views.runs.process import MAX_PROCESSES, STRIDE, Process
from viz.views.tree import Tree

T = TypeVar("T")


class RunFiles:
    """The files of the run whose first process wrote `path`; `progress` is told while they are
    read. `order`: the names of files of its processes, in the order in which they are numbered
    before any other; by name where there is none. Who reads `processes`, `compilations`, `tree` and
    `rules` holds `lock`, for moments. Raises TraceError where `path` is no trace."""

    def __init__(self, path: Path, progress: Progress = silent, order: Sequence[str] = ()) -> None:
        self.path = path
        self._order = {name: at for at, name in enumerate(order)}
        self.lock = threading.RLock()
        self._closed = False
        self._seen: set[Path] = set()
        self._room = Room()
        file = TraceFile(path, self._room)
        entries = file.refresh(progress)
        self.places = Places(as_text(file.meta.get("cwd")))
        self.places.add_root(str(Path(__file__).resolve().parents[2]))
        self.rules = Rulebook(self.places)
        self.tree = Tree()
        self.dialect = dialect_of(file.meta)
        """What the graphs of all its files mean."""
        self.processes = [Process(file, 0, self.dialect)]
        self.compilations = Compilations()
        self._take(self.processes[0], entries, progress)
        self._find_processes(progress)
        self._find_compilations()

    def close(self) -> None:
        """Closes the files."""
        with self.lock:
            self._closed = True
            for process in self.processes:
                process.file.close()
            self.compilations.close()

    def refresh(self) -> None:
        """Reads what was written since, in files of new processes too."""
        with self.lock:
            if not self._closed:
                self.tree.tick()
                for process in self.processes:
                    self._take(process, process.file.refresh())
                self._find_processes()

    def find(
        self, number: int, table: Callable[[TraceFile], dict[int, T]]
    ) -> tuple[Process, T] | None:
        """The process of a number of the run, and what has it in the table of its file; None for a
        number that nothing has."""
        at, local = divmod(number, STRIDE)
        if 0 <= at < len(self.processes):
            process: Process | None = self.processes[at]
        else:
            process = self.compilations.of(at)
        record = None if process is None else table(process.file).get(local)
        return None if process is None or record is None else (process, record)

    def attach(
        self, path: Path, dropped: Callable[[], None] | None = None, number: int | None = None
    ) -> int:
        """Takes up the trace of a kernel of this run that was compiled on request, and drops an
        earlier one of the same kernel and target; the number of the context that holds its passes.
        With `dropped` it may have to go in favour of others, and `dropped` is called then.
        `number`: that of the file in the run, where it has one already. Raises TraceError where the
        file is no such trace, and BudgetError."""
        file = TraceFile(path)
        try:
            entries = file.refresh()
            if not is_part(file, self.processes[0].file.meta.get("run")):
                raise TraceError("this trace is of another run", where=path.name)
            with self.lock:
                made = Compilation(file, self.compilations.reserve(number), self.dialect)
                found = self.find(made.kernel, lambda f: f.contexts)
            if found is None or found[1].role != "kernel" or found[0].number >= FIRST:
                raise TraceError("this trace is of no kernel of the run", where=path.name)
            made.relate(*found)
        except BaseException:
            file.close()
            raise
        with self.lock:
            self.tree.tick()
            for gone in self.compilations.add(made, dropped):
                self.tree.drop(map(gone.id, (*gone.file.contexts, *gone.file.rewrites)))
            self._take(made, entries)
        return made.context

    def compiled(self, kernel: int, target: str) -> Compilation | None:
        """What a kernel, as it is now, was compiled to for a target; None if it was not."""
        with self.lock:
            found = self.find(kernel, lambda f: f.contexts)
            for one in self.compilations.of_kernel(kernel):
                if one.target == target and found and one.ast == found[0].kernels.ast(found[1]):
                    return one
        return None

    def kernel_of(self, context: int) -> int:
        """The kernel of the program that a context is, or was compiled from on request."""
        with self.lock:
            one = self.compilations.of(context // STRIDE)
            return context if one is None else one.kernel

    def place_of(self, process: Process) -> Callable[[str], str]:
        """How "file:line" in what a process did is said."""
        is_own = isinstance(process, Compilation)
        return self.places.short_place if is_own else self.places.place

    @property
    def dropped(self) -> str:
        """What is said of compilations that had to go."""
        count = self.compilations.gone
        if not count:
            return ""
        return (
            f"the passes of {count:,} compilations that were asked for here are not kept any more: "
            "compile such a kernel again to see them"
        )

    def _find_processes(self, progress: Progress = silent) -> None:
        run = self.processes[0].file.meta.get("run")
        found = [path for _, path in parts_of(self.path, PROCESS)] if isinstance(run, str) else []
        found.sort(key=lambda path: self._order.get(path.name, len(self._order)))
        for path in found:
            if path in self._seen or len(self.processes) >= MAX_PROCESSES:
                continue
            try:
                file = TraceFile(path, self._room)
                entries = file.refresh(progress)
            except TraceError:
                continue  # just made, and still without its tables
            self._seen.add(path)
            if file.meta.get("run") != run:
                file.close()
                continue
            process = Process(file, len(self.processes), self.dialect)
            self.processes.append(process)
            self.tree.add_process(process.id(0), f"process {process.pid}")
            self._take(process, entries, progress)

    def _find_compilations(self) -> None:
        """Those of an export, which lie beside its trace."""
        for number, path in beside(self.path):
            try:
                self.attach(path, number=number)
            except (TraceError, BudgetError) as error:
                self.processes[0].file.db.problem(f"{path.name} is left out: {error.what}")

    def _take(
        self, process: Process, entries: list[Context | Rewrite], progress: Progress = silent
    ) -> None:
        self.rules.add(process)
        for at, entry in enumerate(entries):
            if not at % OFTEN:
                progress(READ + (1 - READ) * at / len(entries), process.file.path.name)
            parent = entry.parent
            if isinstance(entry, Rewrite) and not parent:
                parent = entry.context
            above, target = process.id(parent), None
            if isinstance(process, Compilation):
                is_root = entry.id == process.root.id
                target = process.target if is_root else ""
                above = process.kernel if is_root else process.id(parent or process.root.id)
            has_text = process.file.pass_texts.has(entry.id)
            place = self.place_of(process)
            self.tree.put(entry, process.id(entry.id), above, place, target, has_text)
        self.tree.settle()
