"""`uopviz import`: makes a trace of dumps that another compiler wrote."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, TextIO

from core.errors import TraceError
from viz.environment import absolute
from viz.files.regular import check_ending
from viz.format.schema import SUFFIX
from viz.importers.log import LogImport
from viz.importers.mlir import is_mlir
from viz.importers.tinygradfile import events_of, is_tinygrad_file
from viz.streams.events import encode
from viz.streams.reader import StreamReader
from viz.terminal import say, shell_word
from viz.write.writer import TraceWriter

_HEAD: Final = 1 << 20
"""Characters of a file that are looked at to tell what it is."""
_ENDINGS: Final = (".mlir", ".txt", ".log", ".jsonl", ".pkl")
"""Files of a folder that are taken."""
_RUNS: Final = {"stream": "stream", "tinygrad": "rewrites.pkl"}
"""Kinds of files that are a run of their own each, and what they are called."""
KNOWN: Final = "logs and modules of MLIR, rewrites.pkl of tinygrad, and streams (docs/stream.md)"


def import_dumps(options: argparse.Namespace) -> int:
    """Writes one trace of all files. Raises TraceError where one is nothing that is known."""
    files = [*_files(options.dumps)]
    first = Path(options.dumps[0])
    path = absolute(options.output or first.with_name(f"{first.stem or 'dumps'}{SUFFIX}"))
    check_ending(path, "a trace", SUFFIX)
    kinds = {_kind_of(file) for file in files}
    if len(kinds) > 1 or (not kinds.isdisjoint(_RUNS) and len(files) > 1):
        what = "these are of two kinds" if len(kinds) > 1 else f"a {_RUNS[kinds.pop()]} is a run"
        raise TraceError(what, hint="import the files one by one")
    with ExitStack() as stack:
        opened = [stack.enter_context(_opened(file)) for file in files]
        writer = stack.enter_context(TraceWriter(path, {"command": ["uopviz", "import"]}))
        if kinds == {"stream"}:
            summary = _stream(writer, (line.encode() for line in opened[0]))
        elif kinds == {"tinygrad"}:
            summary = _tinygrad(writer, files[0])
        else:
            summary = _logs(writer, files, opened)
    say(f"{path}: {summary}")
    say(f"show it with: uopviz open {shell_word(str(path))}", style="hint")
    return 0


def _files(names: list[str]) -> Iterator[Path]:
    """All files that are meant, those of folders in order."""
    for name in names:
        path = Path(name)
        if not path.is_dir():
            yield path
            continue
        inside = sorted(p for p in path.rglob("*") if p.suffix in _ENDINGS and p.is_file())
        if not inside:
            raise TraceError("there is no dump in this folder", name, f"uopviz imports {KNOWN}")
        yield from inside


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise TraceError(f"cannot be read: {error.strerror}", str(path)) from error


def _kind_of(path: Path) -> str:
    """What a file holds, by its beginning."""
    with suppress(OSError), path.open("rb") as raw:
        if is_tinygrad_file(raw.read(_HEAD)):
            return "tinygrad"
    with _opened(path) as file:
        head = file.read(_HEAD)
    if head.startswith('["stream"'):
        return "stream"
    if is_mlir(head):
        return "mlir"
    raise TraceError("this is no dump that is known", str(path), f"uopviz imports {KNOWN}")


def _tinygrad(writer: TraceWriter, path: Path) -> str:
    with path.open("rb") as file:
        return _stream(writer, (encode(event) for event in events_of(file, str(path))))


def _stream(writer: TraceWriter, lines: Iterable[bytes]) -> str:
    reader = StreamReader(writer)
    for line in lines:
        reader.take(line)
    reader.finish()
    return f"{_count(reader.matches, 'match', 'matches')} of {reader.compiler or 'a compiler'}"


def _logs(writer: TraceWriter, files: list[Path], opened: list[TextIO]) -> str:
    writer.meta("compiler", "MLIR")
    writer.meta("dialect", {"name": "mlir", "version": 1})
    told: list[dict[str, str]] = []
    passes = steps = 0
    for path, file in zip(files, opened, strict=True):
        totals = LogImport(writer, path.name).read(file)
        passes, steps = passes + totals.passes, steps + totals.steps
        told += [{**one, "where": path.name} for one in totals.told()]
        writer.flush()
    writer.meta("left_out", told)
    return f"{_count(passes, 'pass', 'passes')} of MLIR, of which {steps:,} changed something"


def _count(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many}"
