"""`uopviz import`: makes a trace of dumps that another compiler wrote."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from viz.environment import absolute
from viz.files.regular import check_ending
from viz.format.schema import SUFFIX
from viz.importers.files import opened
from viz.importers.hlodump import HloImport
from viz.importers.log import LogImport
from viz.importers.remarks import Remark, remarks_of
from viz.importers.sources import Source, sources
from viz.importers.tinygradfile import events_of
from viz.importers.torchrecords import Parsed, records_of
from viz.importers.torchtrace import TorchImport
from viz.importers.totals import Totals
from viz.importers.tritondump import TritonImport
from viz.streams.events import encode
from viz.streams.reader import StreamReader
from viz.terminal import say, shell_word
from viz.write.writer import TraceWriter


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
    with TraceWriter(path, {"command": ["uopviz", "import"]}) as writer:
        summary = _WRITTEN[found[0].kind](writer, found)
    say(f"{path}: {summary}")
    say(f"show it with: uopviz open {shell_word(str(path))}", style="hint")
    return 0


def _tinygrad(writer: TraceWriter, found: Sequence[Source]) -> str:
    path = found[0].files[0]
    with path.open("rb") as file:
        return _events(writer, (encode(event) for event in events_of(file, str(path))))


def _stream(writer: TraceWriter, found: Sequence[Source]) -> str:
    with opened(found[0].files[0]) as file:
        return _events(writer, (line.encode() for line in file))


def _events(writer: TraceWriter, lines: Iterable[bytes]) -> str:
    reader = StreamReader(writer)
    for line in lines:
        reader.take(line)
    reader.finish()
    return f"{_count(reader.matches, 'match', 'matches')} of {reader.compiler or 'a compiler'}"


def _mlir(writer: TraceWriter, found: Sequence[Source]) -> str:
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
    return _passes(writer, "MLIR", "mlir", made)


def _hlo(writer: TraceWriter, found: Sequence[Source]) -> str:
    totals = HloImport(writer).read(found[0].files)
    return _passes(writer, "XLA", "hlo", [("", totals)])


def _triton(writer: TraceWriter, found: Sequence[Source]) -> str:
    made = [("", TritonImport(writer).read(source.files)) for source in found]
    return _passes(writer, "Triton", "mlir", made)


def _torch(writer: TraceWriter, found: Sequence[Source]) -> str:
    made: list[tuple[str, Totals]] = []
    compilations = 0
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
        writer.flush()
    said = _passes(writer, "PyTorch", "torch", made)
    return f"{_count(compilations, 'compilation', 'compilations')}, {said}"


_WRITTEN: Final[Mapping[str, Callable[[TraceWriter, Sequence[Source]], str]]] = {
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
