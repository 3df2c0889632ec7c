"""Lines of the user's program beside a dump that names them: files below a folder that the user
gives, each found by the longest end of its path in the dump that there is. Nothing outside of the
folder is opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from core.errors import TraceError
from viz.files.sources import source_lines
from viz.write.texts.usersources import UserSources
from viz.write.writer import TraceWriter


class SourcedWriter(TraceWriter):
    """A writer that adds the lines that its nodes name when it closes. Raises TraceError where
    `folder` is none."""

    def __init__(self, path: Path, info: Mapping[str, object], folder: Path) -> None:
        if not folder.is_dir():
            raise TraceError("this is no folder", str(folder), "give the folder of the program")
        super().__init__(path, info)
        self._folder = folder.resolve()
        self._sources = UserSources(find=self._lines)
        self.named, self.found = set[str](), set[str]()
        """Files that nodes name, and those of them that are below the folder."""

    def node(
        self,
        op: str,
        dtype: str = "",
        src: Sequence[int] = (),
        *,
        arg: str = "",
        tag: str = "",
        origin: str = "",
        loc: str = "",
        extra: Mapping[str, str] | None = None,
        roles: Sequence[str] = (),
    ) -> int:
        """As TraceWriter does it."""
        self._sources.note(origin)
        said = {"arg": arg, "tag": tag, "origin": origin, "loc": loc}
        return super().node(op, dtype, src, extra=extra, roles=roles, **said)

    def close(self, seconds: float | None = None) -> None:
        """Writes the lines first."""
        for one in self._sources.take():
            self.user_lines(one.file, one.first, one.text, digest=one.digest, cut=one.cut)
        super().close(seconds)

    def _lines(self, name: str) -> list[str]:
        self.named.add(name)
        parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
        for at in range(len(parts)):
            path = self._folder.joinpath(*parts[at:])
            with suppress(OSError, SyntaxError, ValueError):
                if path.resolve().is_relative_to(self._folder):
                    lines = source_lines(path)
                    self.found.add(name)
                    return lines
        return []
