"""The records of a TORCH_TRACE: lines of JSON, each with a payload such as the text of a graph.

Read from a log that PyTorch wrote, from `raw.jsonl`, and from what `tlparse` made of a log: a
folder, or that folder as a zip. Never extracts anything, and trusts no size.
"""

from __future__ import annotations

import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from core.errors import TraceError

_GLOG: Final = re.compile(r"[VIWEC]\d{4} (\d\d):(\d\d):(\d\d)\.(\d{6})\d* \S+ [^\]]*\] ?(\{.*)$")
_NUMBERED: Final = re.compile(r"(?P<name>.+?)_(?P<at>\d{1,9})\.(?P<ending>txt|json|py)$")
_COMPILED: Final = re.compile(
    r"!?-?_?(?P<frame>\d{1,9}|-)_(?P<compile>\d{1,9})(?:_(?P<attempt>\d{1,9}))?$"
)
MAX_PAYLOAD: Final = 1 << 25
"""Characters of one payload."""
MAX_FILES: Final = 20_000
MAX_UNPACKED: Final = 1 << 30
"""Bytes that are read of a zip."""
_COMMON: Final = frozenset(
    (
        *("has_payload", "payload", "payload_filename", "rank", "process", "thread", "timestamp"),
        *("frame_id", "frame_compile_id", "attempt", "compiled_autograd_id", "pathname", "lineno"),
    )
)
_DAMAGED: Final = (
    *(OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError),
)
"""What reading a file of a zip raises where the zip is damaged, encrypted or of an unknown kind."""
_NAMED: Final = ("artifact", "graph_dump")
"""Records whose name is a field."""


@dataclass
class Record:
    """One record. `name`: such as "aot_forward_graph", or that of an artifact; `of`: the
    compilation, such as "0/0", or ""."""

    name: str
    of: str
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    payload: str = ""
    at: int = 0
    """Microseconds since midnight; 0: not known."""


def is_log(head: str) -> bool:
    """Whether a text that begins like this is a log, or raw.jsonl."""
    lines = head.splitlines()[:200]
    if any(_GLOG.match(line) for line in lines):
        return True
    return head.startswith('{"string_table"') or any(
        line.startswith("{") and '"frame_compile_id"' in line for line in lines
    )


def records_of(
    lines: Iterable[str], payload: Callable[[str], str] | None = None
) -> Iterator[Record]:
    """The records of a log. `payload`: what a file that a record names holds."""
    current: Record | None = None
    parts: list[str] = []
    size = 0

    def done() -> Iterator[Record]:
        if current is not None:
            current.payload = current.payload or "".join(parts)
            yield current

    for line in lines:
        if line.startswith("\t"):
            size += len(line)
            if current is not None and size <= MAX_PAYLOAD:
                parts.append(line[1:])
            continue
        header = _GLOG.match(line)
        record = _record(header[5] if header else line if line.startswith("{") else "")
        if record is None:
            continue
        yield from done()
        current, parts, size = record, [], 0
        if header is not None:
            hours, minutes, seconds, us = map(int, header.groups()[:4])
            record.at = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + us
        own = record.fields.pop("payload", None)
        file = record.fields.pop("payload_filename", None)
        if isinstance(own, str):
            record.payload = own[:MAX_PAYLOAD]
        elif isinstance(file, str) and payload is not None:
            record.payload = payload(file)
    yield from done()


def _record(text: str) -> Record | None:
    if not text:
        return None
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    fields = cast("dict[str, Any]", found)
    kind = next((key for key in fields if key not in _COMMON), "")
    name = kind
    value = fields.get(kind)
    if kind in _NAMED and isinstance(value, dict):
        name = str(cast("dict[str, Any]", value).get("name", kind))[:200]
    return Record(name, _compilation(fields), fields)


def _compilation(fields: dict[str, Any]) -> str:
    frame, compiled = fields.get("frame_id"), fields.get("frame_compile_id")
    autograd = fields.get("compiled_autograd_id")
    made = f"{frame}/{compiled}" if isinstance(frame, int) and isinstance(compiled, int) else ""
    if isinstance(autograd, int):
        made = f"!{autograd}/{made}".rstrip("/")
    attempt = fields.get("attempt")
    return f"{made}_{attempt}" if made and isinstance(attempt, int) and attempt else made


class _Stage(NamedTuple):
    """A file of a compilation. `order`: the numbers of its frame, compilation, attempt and
    record."""

    order: tuple[int, int, int, int]
    of: str
    name: str
    path: str


class Parsed:
    """What `tlparse` made of a log: files of a folder or a zip, by their paths."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._zip: zipfile.ZipFile | None = None
        self._room = MAX_UNPACKED
        if path.is_dir():
            files = sorted(p for p in path.rglob("*") if p.is_file())[:MAX_FILES]
            self.names = dict.fromkeys(p.relative_to(path).as_posix() for p in files)
            return
        try:
            self._zip = zipfile.ZipFile(path)
            names = [n for n in self._zip.namelist() if not n.endswith("/")]
            self.names = dict.fromkeys(names[:MAX_FILES])
        except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise TraceError(f"this zip cannot be read: {error}", str(path)) from error

    def close(self) -> None:
        """Closes the zip."""
        if self._zip is not None:
            self._zip.close()

    def text(self, name: str) -> str:
        """What a file holds, up to a bound; "" for one that is not there or cannot be read."""
        if name not in self.names or self._room <= 0:
            return ""
        try:
            if self._zip is None:
                with (self._path / name).open("rb") as file:
                    data = file.read(MAX_PAYLOAD)
            else:
                with self._zip.open(name) as file:
                    data = file.read(min(MAX_PAYLOAD, self._room))
        except _DAMAGED:
            return ""
        self._room -= len(data)
        return data.decode("utf-8", "replace")

    def logs(self) -> list[str]:
        """The files that are logs as PyTorch writes them."""
        return [n for n in self.names if n.endswith(".log")]

    def has_stages(self) -> bool:
        """Whether there are files of compilations."""
        return any(True for _ in self._stages())

    def _stages(self) -> Iterator[_Stage]:
        for path in self.names:
            folder, _, file = path.rpartition("/")
            numbered, of = _NUMBERED.match(file), _COMPILED.search(folder.rpartition("/")[2])
            if numbered is not None and of is not None:
                attempt = of["attempt"] or "0"
                compiled = f"{of['frame']}/{of['compile']}"
                name = f"{compiled}_{attempt}" if attempt != "0" else compiled
                frame = -1 if of["frame"] == "-" else int(of["frame"])
                order = frame, int(of["compile"]), int(attempt), int(numbered["at"])
                yield _Stage(order, name, numbered["name"], path)

    def records(self) -> Iterator[Record]:
        """The records that have files: compilations by their numbers, the records of each in
        order."""
        for stage in sorted(self._stages(), key=lambda stage: stage.order):
            yield Record(stage.name, stage.of, payload=self.text(stage.path))
