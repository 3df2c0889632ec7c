"""Which rules, and in which files, have changed since a run was recorded.

A rule is compared by its recorded text, and only in files of this installation or ones that this
user vouches for (viz/views/since). Never runs a rule.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from viz.read.records import RuleRecord
from viz.views.since.files import NamedFiles
from viz.views.store import Store

_Stat = tuple[int, int, int]


@dataclass(frozen=True)
class Changed:
    """A rule whose text is another one now, or is gone. `line`: where it, or what goes by its name,
    begins today; 0 where it is gone."""

    name: str
    file: str
    line: int
    gone: bool

    def __str__(self) -> str:
        if self.gone:
            return f"{self.name} is gone from {_short(self.file)}"
        return f"{self.name} changed, {_short(self.file)}:{self.line}"

    def data(self) -> dict[str, Any]:
        """As JSON, with the sentence that says it."""
        return {**asdict(self), "said": str(self)}


def changed_rules(store: Store) -> list[Changed]:
    """The rules that matched or were tried in a run and have changed since, by file and line. Rules
    that have only moved are not among them. Raises BudgetError."""
    records = own_rules(store)
    found = [
        Changed(
            records[row["rule"]].name,
            records[row["rule"]].file,
            row["line"],
            row["state"] == "gone",
        )
        for row in store.since()["rules"]
        if row["state"] in ("changed", "gone") and row["rule"] in records
    ]
    return sorted(found, key=lambda one: (one.file, one.line, one.name))


def own_rules(store: Store) -> dict[int, RuleRecord]:
    """The rules of the program itself: a kernel that was compiled on request has those of the code
    as it was then."""
    own = {number for process in store.processes for number in process.rules.values()}
    return {number: one for number, one in store.rule_records().items() if number in own}


class Watch:
    """The rules of a run that have changed, for a caller that asks every few seconds: their files
    are read again only where one of them has another time or size. Threads may share one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._files: list[Path] = []
        self._counted = -1
        self._seen: tuple[_Stat, ...] | None = None
        self._changed: list[Changed] = []

    def now(self) -> tuple[str, list[Changed]]:
        """A word for the state of the files, another one after each change, and the rules that
        have changed. Raises BudgetError."""
        with self._lock:
            records = own_rules(self._store)
            if len(records) != self._counted:
                self._files = self._readable({record.file for record in records.values()})
                self._counted, self._seen = len(records), None
            seen = tuple(map(_stat, self._files))
            if seen != self._seen:
                self._changed = changed_rules(self._store)
                self._seen = seen
            return f"{zlib.crc32(repr(seen).encode()):08x}", [*self._changed]

    def _readable(self, files: Iterable[str]) -> list[Path]:
        named = NamedFiles(self._store.processes)
        found = {path for path in map(named.readable, files) if path is not None}
        return sorted(map(Path, found))


def _stat(path: Path) -> _Stat:
    """What changes when a file is written; it may be gone."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns


def _short(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]
