"""What an import is given: which files are meant, and what they hold, told by their beginnings."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from core.errors import TraceError
from viz.importers.files import opened
from viz.importers.mlir import mlir, remarks, tritondump
from viz.importers.tinygradfile import is_tinygrad_file
from viz.importers.torch import torchrecords
from viz.importers.xla import hlo, hlodump

Kind = Literal["stream", "tinygrad", "mlir", "hlo", "torch", "tlparse", "triton", "remarks"]
_HEAD: Final = 1 << 20
"""Characters of a file that are looked at to tell what it is."""
_ENDINGS: Final = (".mlir", ".txt", ".log", ".jsonl", ".pkl", ".yaml", ".yml")
"""Files of a folder that are taken."""
_RUNS: Final[Mapping[str, str]] = {"stream": "stream", "tinygrad": "rewrites.pkl"}
"""Kinds of files that are a run of their own each, and what they are called."""
_LOWERED: Final = (".jaxpr.txt", "_compile.mlir")
KNOWN: Final = (
    "logs and modules of MLIR, XLA's dumps, TORCH_TRACE and what tlparse makes of it, "
    "rewrites.pkl of tinygrad, and streams (docs/import.md)"
)


@dataclass(frozen=True)
class Source:
    """Files of one kind that belong together."""

    kind: Kind
    files: tuple[Path, ...]


def sources(names: Sequence[str]) -> list[Source]:
    """What is meant by names of files and folders. Raises TraceError for what is nothing that is
    known, and for kinds that make no run together."""
    found = [source for name in names for source in _sources(Path(name))]
    kinds = {source.kind for source in found}
    if "remarks" in kinds:
        kinds.discard("remarks")
        if kinds != {"mlir"}:
            what = "remarks belong to the passes of a log"
            raise TraceError(what, hint="give the log of the same run as well")
        return sorted(found, key=lambda source: source.kind == "remarks")
    if len(kinds) > 1 or (not kinds.isdisjoint(_RUNS) and len(found) > 1):
        what = (
            "these files are of different kinds"
            if len(kinds) > 1
            else f"each {_RUNS[kinds.pop()]} is a run of its own"
        )
        raise TraceError(what, hint="import the files one by one")
    if kinds == {"hlo"}:
        return [Source("hlo", tuple(file for source in found for file in source.files))]
    return found


def _sources(path: Path) -> Iterator[Source]:
    if not path.is_dir():
        kind = "tlparse" if _is_zip(path) else _kind_of(path)
        yield Source(kind, (path,))
        return
    inside = sorted(p for p in path.rglob("*") if p.is_file())
    dumps = [p for p in inside if hlodump.is_dump(p.name) or p.name.endswith(_LOWERED)]
    if any(hlodump.is_dump(p.name) for p in dumps):
        yield Source("hlo", tuple(dumps))
        return
    if any(p.suffix == tritondump.FIRST for p in inside):
        yield Source("triton", tuple(filter(tritondump.is_stage, inside)))
        return
    parsed = torchrecords.Parsed(path)
    if parsed.has_stages():
        yield Source("tlparse", (path,))
        return
    taken = [p for p in inside if p.suffix in _ENDINGS]
    if not taken:
        raise TraceError("there is no dump in this folder", str(path), f"uopviz imports {KNOWN}")
    lowered = [p for p in taken if p.name.endswith(_LOWERED)]
    if lowered and len(lowered) == len(taken):
        yield Source("hlo", tuple(lowered))
        return
    for file in taken:
        yield Source(_kind_of(file), (file,))


def _is_zip(path: Path) -> bool:
    try:
        return path.suffix == ".zip" and zipfile.is_zipfile(path)
    except OSError:
        return False


def _kind_of(path: Path) -> Kind:
    """What a file holds, by its beginning."""
    with suppress(OSError), path.open("rb") as raw:
        if is_tinygrad_file(raw.read(_HEAD)):
            return "tinygrad"
    with opened(path) as file:
        head = file.read(_HEAD)
    if head.startswith('["stream"'):
        return "stream"
    if remarks.is_remarks(head):
        return "remarks"
    if hlo.is_module(head):
        return "hlo"
    if torchrecords.is_log(head):
        return "torch"
    if mlir.is_mlir(head):
        return "mlir"
    raise TraceError("the format of this file is not known", str(path), f"uopviz imports {KNOWN}")
