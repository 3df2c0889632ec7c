"""File names of a trace as people read them: relative to where the program ran.

Knows which files a trace names, so that nothing else can be opened. Never looks at the disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from core.origintext import split_origin

_PACKAGES: Final = re.compile(
    r"^.*[/\\](?:(?:site|dist)-packages|lib[/\\]python3[^/\\]*)[/\\]",
)
_INSIDE: Final = re.compile(
    r"""(?<![\w./\\])(?:[A-Za-z]:)?(?:[/\\][^\s/\\:"'()<>|,;]+)*?"""
    r"""[/\\](?:(?:site|dist)-packages|lib[/\\]python3[^/\\\s"']*)[/\\]"""
    r"""(?:(?:site|dist)-packages[/\\])?"""
)


class Places:
    """Short names for the files of one run."""

    def __init__(self, cwd: str) -> None:
        self._roots = [r for r in (cwd.rstrip("/\\"),) if len(r) > 1]
        self._full: dict[str, str] = {}

    def add_root(self, folder: str) -> None:
        """Another folder that names are shown relative to."""
        if len(folder) > 1 and folder not in self._roots:
            self._roots.append(folder)

    def file(self, path: str) -> str:
        """A file's short name; remembered, so that `full` leads back."""
        short = self.short(path)
        if short and self._full.setdefault(short, path) != path:
            return path  # two files of one short name: the second one keeps its long name
        return short

    def short(self, path: str) -> str:
        """A file's short name, even if another file has it: what ran here on request has the
        compiler of this installation, the program may have had another copy of it."""
        short = self.within(path)
        short = _PACKAGES.sub("", path) if short == path else short
        if short:
            self._full.setdefault(short, path)
        return short

    def within(self, path: str) -> str:
        """A path as seen from the folder in which the program ran, where it lies below that."""
        for root in self._roots:
            if path.startswith((root + "/", root + "\\")):
                return path[len(root) + 1 :]
        return path

    def inside(self, text: str, prefix: str = "") -> str:
        """A text with the paths in it as seen from the folder in which the program ran, after
        `prefix`, and that folder itself as "."; with those of packages as seen from the folder of
        these."""
        for root in self._roots:
            if root in text:
                ends = re.escape(root) + r"(?:[/\\]+|(?![\w-]))"
                text = re.sub(
                    r"(?<![\w.])" + ends, lambda m: prefix if m[0][-1] in "/\\" else ".", text
                )
        return _INSIDE.sub("", text)

    def place(self, text: str) -> str:
        """ "file:line", or "file:line call", with the short name of the file."""
        return _with_name(text, self.file)

    def short_place(self, text: str) -> str:
        """The same with `short`."""
        return _with_name(text, self.short)

    def full(self, short: str) -> str | None:
        """The path that the trace has for a short name; None for a file that it does not name."""
        return self._full.get(short)


def line_of(origin: str) -> tuple[str, int] | None:
    """The file and line of "file:line call"; None of a text that has none."""
    path, colon, line = split_origin(origin)[0].rpartition(":")
    return (path, int(line)) if colon and line.isdecimal() and len(line) < 10 else None


def _with_name(text: str, name: Callable[[str], str]) -> str:
    where, call = split_origin(text)
    file, colon, line = where.rpartition(":")
    if not colon or not line.isdigit():
        return text
    return f"{name(file)}:{line} {call}".rstrip()
