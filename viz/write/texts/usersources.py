"""Collects the user's own source lines that a recording names, with what is around them.

Reads through `linecache`, so that cells of notebooks are found, and at the time of the recording,
before files change. Keeps at most FILE_BYTES of a file and ALL_BYTES of a trace. A file that cannot
be read has no lines. Never raises.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Final

from core.origintext import split_origin
from viz.files.sources import source_digest
from viz.format.userlines import UserLines
from viz.vouching import vouch

FILE_BYTES: Final = 1 << 18
ALL_BYTES: Final = 1 << 22
AROUND: Final = 10
"""Lines before and after one that is in no function, or in a long one."""
WHOLE: Final = 120
"""Lines of the longest function that is kept as a whole."""


class _File:
    """What was kept of one file."""

    def __init__(self, name: str, lines: list[str], is_own: bool) -> None:
        self.lines = lines
        self.digest = source_digest(lines)
        self.proof = vouch(name, self.digest) if lines and is_own else ""
        self.kept: set[int] = set()
        """Numbers of the lines that were kept, from 1."""
        self.size = 0
        self.cut = False


class UserSources:
    """The lines that origins and callers name, taken once each. Not `read`: none is, and no file
    opened, as where a stranger's trace says which lines these are. `find` gives the lines of a file
    that is kept elsewhere, for which nobody vouches; files whose names begin with one of `ours` are
    not the user's."""

    def __init__(
        self,
        read: bool = True,
        find: Callable[[str], list[str]] | None = None,
        ours: tuple[str, ...] = (),
    ) -> None:
        self._read, self._find, self._ours = read, find, ours
        self._seen: set[str] = set()
        self._files: dict[str, _File] = {}
        self._size = 0
        self._new: list[UserLines] = []

    def note(self, place: str) -> None:
        """A place that the trace names: "file:line", or "file:line call"."""
        if not self._read or place in self._seen:
            return
        self._seen.add(place)
        name, colon, line = split_origin(place)[0].rpartition(":")
        if colon and line.isdigit() and not name.startswith(self._ours):
            self._keep(name, int(line))

    def vouch(self, name: str) -> None:
        """A file that the trace names without lines of it: only its digest is kept, so that a
        viewer can tell whether it has changed."""
        if self._read and not name.startswith(self._ours) and name not in self._files:
            file = self._file(name)
            if file.proof:
                self._new.append(UserLines(name, 1, "", file.digest, False, file.proof))

    def take(self) -> list[UserLines]:
        """The lines since the last call."""
        new, self._new = self._new, []
        return new

    def _keep(self, name: str, line: int) -> None:
        file = self._file(name)
        if not 0 < line <= len(file.lines) or line in file.kept:
            return
        first, last = context_of(file.lines, line)
        for begin, end in _gaps(first, last, file.kept):
            text = "".join(file.lines[begin - 1 : end])
            size = len(text.encode("utf-8", "replace"))
            if file.size + size > FILE_BYTES or self._size + size > ALL_BYTES:
                if not file.cut:
                    file.cut = True
                    self._new.append(UserLines(name, begin, "", file.digest, True, file.proof))
                return
            file.size += size
            self._size += size
            file.kept.update(range(begin, end + 1))
            self._new.append(UserLines(name, begin, text, file.digest, False, file.proof))

    def _file(self, name: str) -> _File:
        if name not in self._files:
            lines = (self._find or linecache.getlines)(name)
            self._files[name] = _File(name, lines, self._find is None)
        return self._files[name]


def context_of(lines: list[str], line: int) -> tuple[int, int]:
    """First and last line, from 1, of what is shown with a line: the function around it where that
    is not long, else some lines before and after it."""
    first, last = _function(lines, line - 1)
    if first is None or last - first > WHOLE:
        return max(1, line - AROUND), min(len(lines), line + AROUND)
    return first + 1, last


def _function(lines: list[str], at: int) -> tuple[int | None, int]:
    """Begin (with decorators) and end of the innermost function around a line, from 0. Reads
    indentation, as `viz/recording/patterns.py` does."""
    wanted = _indent(lines[at]) if lines[at].strip() else 1
    for begin in range(at, max(-1, at - WHOLE - 1), -1):
        text = lines[begin].strip()
        if not text or text[0] in "#)]}":
            continue
        indent = _indent(lines[begin])
        if text.startswith(("def ", "async def ")) and (begin == at or indent < wanted):
            end = _end(lines, begin, indent)
            while begin and lines[begin - 1].strip().startswith("@"):
                begin -= 1
            return begin, end
        wanted = min(wanted, indent)
        if not wanted:
            break
    return None, 0


def _end(lines: list[str], begin: int, indent: int) -> int:
    """The line after the last one of a function."""
    end = begin + 1
    for at in range(begin + 1, min(len(lines), begin + WHOLE + 2)):
        text = lines[at].strip()
        if text and _indent(lines[at]) <= indent and text[0] not in ")]}#":
            break
        if text:
            end = at + 1
    return end


def _gaps(first: int, last: int, kept: set[int]) -> list[tuple[int, int]]:
    """The parts of a range, ends included, that were not kept yet."""
    found: list[tuple[int, int]] = []
    for line in range(first, last + 1):
        if line in kept:
            continue
        if found and found[-1][1] == line - 1:
            found[-1] = found[-1][0], line
        else:
            found.append((line, line))
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
