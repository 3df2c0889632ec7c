"""A folder of Triton's dumps (`TRITON_KERNEL_DUMP=1 TRITON_DUMP_DIR=D`) made into passes: of each
kernel the steps from its Triton IR to LLVM IR, with the texts of what it became."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from viz.importers.files import beginning_of, lines_of
from viz.importers.mlir import llvm, mlir
from viz.importers.snapshot import Snapshot
from viz.importers.totals import Totals
from viz.importers.writing import Graph, Passes
from viz.write.texts.kepttexts import Text
from viz.write.writer import TraceWriter

_STAGES: Final = {".ttir": "", ".ttgir": "to TritonGPU IR", ".llir": "to LLVM IR"}
"""By the endings of files, in order, what made them."""
_TEXTS: Final = {".ptx": "ptx", ".amdgcn": "amd_isa", ".sass": "sass"}
_LONGEST: Final = 1 << 23
"""Characters of a text."""
FIRST: Final = ".ttir"


def is_stage(path: Path) -> bool:
    """Whether a file of this name is of a dump."""
    return path.suffix in _STAGES or path.suffix in _TEXTS


class TritonImport:
    """Writes the kernels of a folder."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self._passes = Passes(writer)
        self.totals = Totals()

    def read(self, files: Iterable[Path]) -> Totals:
        """Takes all of a dump; what it held."""
        kernels: defaultdict[tuple[Path, str], dict[str, Path]] = defaultdict(dict)
        for path in files:
            kernels[path.parent, path.stem][path.suffix] = path
        for (_, name), stages in kernels.items():
            self._kernel(name, stages)
            self._writer.flush()
        self.totals.problems += self._passes.texts.problems()
        return self.totals

    def _kernel(self, name: str, stages: dict[str, Path]) -> None:
        writer = self._writer
        context = writer.context_begin(name, "kernel", at=0)
        last: Graph | None = None
        for ending, title in _STAGES.items():
            if ending not in stages:
                continue
            lines = lines_of(stages[ending])
            snapshot: Snapshot
            if ending == ".llir":
                snapshot, _ = llvm.parse(lines)
            else:
                snapshot = mlir.parse(lines)
            self.totals.count(snapshot)
            kind = "llvm" if ending == ".llir" else "mlir"
            graph = self._passes.graph(snapshot.root, Text(kind, lines))
            if last is None:
                writer.kernel(context, name, ast=graph.sink)
            else:
                step = self._passes.step(title, last, graph, context)
                self.totals.passes += 1
                self.totals.steps += step
            last = graph
        for ending, kind in _TEXTS.items():
            if ending in stages:
                text, is_whole = beginning_of(stages[ending], _LONGEST)
                facts = {} if is_whole else {"cut": f"after {_LONGEST:,} characters"}
                writer.artifact(context, kind, "", text, facts=facts)
        writer.context_end(context, at=0)
