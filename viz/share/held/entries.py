"""The answers in an exported file, by API path: compressed parts of its page, each unpacked when
one of its answers is asked for, within the budget in force. Believes a file nothing but its JSON.
"""

from __future__ import annotations

import base64
import binascii
import re
import threading
import zlib
from pathlib import Path
from typing import Any, Final, cast

from core.errors import TraceError
from viz.format.pack import MAX_RAW, read_json, take_json
from viz.share.packed.dense import restored

_BLOCK: Final = re.compile(r'<script type="application/json" id="uopviz-data-\d+">([^<]*)</script>')
_GZIP: Final = 31


class Entries:
    """The answers of the file `html`. Raises TraceError where a part is no JSON."""

    def __init__(self, path: Path, html: str) -> None:
        self._path = path
        self._reading = threading.Lock()
        self._packed: dict[str, tuple[str, int]] = {}
        self._kept: tuple[str, list[Any]] = "", []
        for text in _BLOCK.findall(html):
            self._add(text)

    def __contains__(self, path: str) -> bool:
        return path in self._packed

    def get(self, path: str) -> Any:
        """What the file holds for an API path; None for nothing. Raises TraceError for a part that
        is damaged, and BudgetError."""
        if path not in self._packed:
            return None
        packed, at = self._packed[path]
        with self._reading:
            if self._kept[0] is not packed:
                self._kept = packed, _unpack(self._path, packed)
            items = self._kept[1]
        return items[at] if at < len(items) else None

    def close(self) -> None:
        """Forgets what is unpacked."""
        self._kept = "", []

    def _add(self, text: str) -> None:
        try:
            block = read_json(text)
        except (ValueError, RecursionError) as error:
            raise no_export(self._path, "a part is no JSON") from error
        for paths, packed in block.items() if isinstance(block, dict) else ():
            if isinstance(packed, str):
                for at, name in enumerate(paths.split(" ")):
                    self._packed[name] = packed, at


class Below:
    """The answers of a file whose paths begin with `base`, by the rest of these."""

    def __init__(self, entries: Entries, base: str) -> None:
        self._entries, self._base = entries, base

    def __contains__(self, path: str) -> bool:
        return self._base + path in self._entries

    def get(self, path: str) -> Any:
        """The answer at a path; None where the file does not have it."""
        return self._entries.get(self._base + path)


def _unpack(path: Path, packed: str) -> list[Any]:
    try:
        stream = zlib.decompressobj(_GZIP)
        raw = stream.decompress(base64.b64decode(packed, validate=True), MAX_RAW)
        take_json(raw)
        found = read_json(raw) if stream.eof else None
    except (zlib.error, binascii.Error, ValueError, RecursionError) as error:
        raise no_export(path, "a part is damaged") from error
    if not isinstance(found, list):
        raise no_export(path, "a part is damaged")
    try:
        return [restored(answer) for answer in cast("list[Any]", found)]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise no_export(path, "a pass is damaged") from error


def no_export(path: Path, why: str) -> TraceError:
    """The error for a file that is no exported file."""
    return TraceError(
        f"this file is no export of uopviz, or is damaged: {why}",
        where=str(path),
        hint="exports are made by `uopviz export TRACE`",
    )
