"""`uopviz import`: makes a trace of dumps that another compiler wrote."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from viz.command.line.parser import build_parser
from viz.command.serving import serve
from viz.environment import absolute
from viz.files.regular import check_ending
from viz.format.schema import SUFFIX
from viz.importers.files import opened
from viz.importers.mlir.log import LogImport
from viz.importers.mlir.remarks import Remark, remarks_of
from viz.importers.mlir.tritondump import TritonImport
from viz.importers.sourcefiles import SourcedWriter
from viz.importers.sources import Source, sources
from viz.importers.tinygradfile import events_of
from viz.importers.torch.torchrecords import Parsed, records_of
from viz.importers.torch.torchtrace import TorchImport
from viz.importers.totals import Totals
from viz.importers.xla.hlodump import HloImport
from viz.streams.events import encode
from viz.streams.reader import StreamReader
from viz.terminal import say, shell_word
from viz.write.writer import TraceWriter

_Written = tuple[str, float]
"""What was written, in words; and how many seconds the run took, 0 where that is not known."""


def import_dumps(options: argparse.Namespace) -> int:
    """Writes one trace of all files. Raises TraceError where one is nothing that is known."""
    found = sources(options.dumps)
    first = Path(options.dumps[0])
    path = absolute(options.output or first.with_name(f"{first.stem or 'dumps'}{SUFFIX}"))
    check_ending(path, "a trace", SUFFIX)
    for source in found:
        for file in source.files[:1]:
            if not file.is_dir():
                opened(file).close()
    name = first.resolve().name
    command = ["uopviz", "import", *map(str, options.dumps)]
    info = {"command": command, "name": name}
    sourced = None if options.sources is None else Path(options.sources)
    with (
        TraceWriter(path, info) if sourced is None else SourcedWriter(path, info, sourced) as writer
    ):
        summary, seconds = _WRITTEN[found[0].kind](writer, found)
        writer.close(seconds)
    say(f"{path}: {summary}")
    if isinstance(writer, SourcedWriter):
        files = _count(
            len(writer.named),
            "file of the program that is named",
            "files of the program that are named",
        )
        say(f"of {files}, {len(writer.found):,} found in {options.sources}")
    if not options.open:
        say(f"show it with: uopviz open {shell_word(str(path))}", style="hint")
        return 0
    shown = build_parser().parse_args(["open", str(path)])
    shown.progress = options.progress
    return serve(shown)


def _tinygrad(writer: TraceWriter, found: Sequence[Source]) -> _Written:
    path = found[0].files[0]
    with path.open("rb") as file:
        return _events(writer, (encode(event) for event in events_of(file, str(path))))


def _stream(writer: TraceWriter, found: Sequence[Source]) -> _Written:
    with opened(found[0].files[0]) as file:
        return _events(writer, (line.encode() for line in file))


def _events(writer: TraceWriter, lines: Iterable[bytes]) -> _Written:
    reader = StreamReader(writer)
    for line in lines:
        reader.take(line)
    reader.finish()
    said = f"{_count(reader.matches, 'match', 'matches')} of {reader.compiler or 'a compiler'}"
    return said, reader.seconds


def _mlir(writer: TraceWriter, found: Sequence[Source]) -> _Written:
    told: list[Remark] = []
    for source in found:
        if source.kind == "remarks":
            with opened(source.files[0]) as file:
                told += remarks_of(file)
    made: list[tuple[str, Totals]] = []
    for source in found:
        if source.kind == "mlir":
            with opened(source.files[0]) as file:
                name = source.files[0].name
                made.append((name, LogImport(writer, name, told).read(file)))
                told = []  # those of the first log: a remark does not say which one it is of
                writer.flush()
    return _passes(writer, "MLIR", "mlir", made), 0.0


def _hlo(writer: TraceWriter, found: Sequence[Source]) -> _Written:
    totals = HloImport(writer).read(found[0].files)
    return _passes(writer, "XLA", "hlo", [("", totals)]), 0.0


def _triton(writer: TraceWriter, found: Sequence[Source]) -> _Written:
    made = [("", TritonImport(writer).read(source.files)) for source in found]
    return _passes(writer, "Triton", "mlir", made), 0.0


def _torch(writer: TraceWriter, found: Sequence[Source]) -> _Written:
    made: list[tuple[str, Totals]] = []
    compilations, seconds = 0, 0.0
    for source in found:
        path = source.files[0]
        torch = TorchImport(writer, path.name if len(found) > 1 else "")
        if source.kind == "torch":
            with opened(path) as file:
                totals = torch.read(records_of(file))
        else:
            with closing(Parsed(path)) as parsed:
                logs = [] if parsed.has_stages() else parsed.logs()
                if logs:
                    lines = (line for log in logs for line in parsed.text(log).splitlines(True))
                    totals = torch.read(records_of(lines))
                else:
                    totals = torch.read(parsed.records())
        made.append((path.name, totals))
        compilations += torch.compilations
        seconds = max(seconds, torch.seconds)
        writer.flush()
    said = _passes(writer, "PyTorch", "torch", made)
    return f"{_count(compilations, 'compilation', 'compilations')}, {said}", seconds


_WRITTEN: Final[Mapping[str, Callable[[TraceWriter, Sequence[Source]], _Written]]] = {
    "stream": _stream,
    "tinygrad": _tinygrad,
    "mlir": _mlir,
    "hlo": _hlo,
    "torch": _torch,
    "triton": _triton,
    "tlparse": _torch,
}
"""What writes each kind of sources, and says what it has written."""


def _passes(
    writer: TraceWriter, compiler: str, dialect: str, made: Sequence[tuple[str, Totals]]
) -> str:
    writer.meta("compiler", compiler)
    writer.meta("dialect", {"name": dialect, "version": 1})
    told = [
        {**one, "where": name} if name else one for name, totals in made for one in totals.told()
    ]
    writer.meta("left_out", told)
    passes, steps = (sum(getattr(t, n) for _, t in made) for n in ("passes", "steps"))
    return f"{_count(passes, 'pass', 'passes')} of {compiler}, of which {steps:,} changed something"


def _count(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many}"
