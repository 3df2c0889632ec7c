"""Compiled code kept on disk, by what it was made of, for the next process.

In the user's own cache folder, readable by nobody else; a folder of another user, or none at all,
means that nothing is kept. What cannot be read or written is made again, without a word.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_SUM: Final = 32
"""Bytes of SHA-256 before the code in each file: what a full disk or a crash cut is made again."""


class Kept:
    """Results of one kind, at most `most` bytes of them; the longest unused go first."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind, self._most = kind, most

    def get(self, made_of: Sequence[str], make: Callable[[], bytes]) -> bytes:
        """What was kept of the same texts, or `make()`, which is kept. Raises what `make` does."""
        folder = self._folder()
        if folder is None:
            return make()
        path = folder / _digest(made_of)
        found = _read(path)
        if found is None:
            found = make()
            with suppress(OSError):
                _write(path, found)
                self._trim(folder)
        return found

    def _folder(self) -> Path | None:
        root = cache_root()
        if root is None:
            return None
        folder = root / self._kind
        try:
            folder.mkdir(0o700, parents=True, exist_ok=True)
            found = folder.stat()
        except OSError:
            return None
        foreign = hasattr(os, "getuid") and found.st_uid != os.getuid()
        if foreign or (os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o022):
            return None  # others could put code there
        return folder

    def _trim(self, folder: Path) -> None:
        files = [(p.stat(), p) for p in folder.iterdir() if p.is_file()]
        taken = sum(s.st_size for s, _ in files)
        for found, path in sorted(files, key=lambda f: f[0].st_mtime):
            if taken <= self._most:
                return
            path.unlink(missing_ok=True)
            taken -= found.st_size


def _digest(made_of: Sequence[str]) -> str:
    found = hashlib.sha256()
    for text in made_of:
        data = text.encode()
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    code = data[_SUM:]
    return code if hashlib.sha256(code).digest() == data[:_SUM] else None


def _write(path: Path, code: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def cache_root() -> Path | None:
    """The folder in the user's cache that everything here is kept in; None where there is none."""
    """The folder in the user's cache that everything here is kept in; None where there is none."""
    if sys.platform == "darwin":
        base = "~/Library/Caches"
    elif os.name == "nt":
        base = os.environ.get("LOCALAPPDATA", "~")
    else:
        chosen = os.environ.get("XDG_CACHE_HOME", "")
        base = chosen if os.path.isabs(chosen) else "~/.cache"
    expanded = os.path.expanduser(base)
    return Path(expanded) / "uopviz" if os.path.isabs(expanded) else None
