"""Compiled code kept on disk, by what it was made of, for the next process.

In the user's own cache folder, which nobody else can write to (`core/private.py`), or nowhere. What
cannot be read or written is made again, without a word.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from core.private import kept_folder, read_own

_SUM: Final = 32
"""Bytes of SHA-256 before the code in each file: what a full disk or a crash cut is made again."""


class DiskCache:
    """Results of one kind, at most `most` bytes of them; the longest unused go first."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind, self._most = kind, most

    def get(self, made_of: Sequence[str], make: Callable[[], bytes]) -> bytes:
        """What was kept of the same texts, or `make()`, which is kept. Raises what `make` does."""
        found = self.find(made_of)
        if found is None:
            found = make()
            self.keep([(made_of, found)])
        return found

    def find(self, made_of: Sequence[str]) -> bytes | None:
        """What was kept of the same texts; None where nothing is."""
        folder = kept_folder(self._kind)
        return None if folder is None else _read(folder / _digest(made_of))

    def keep(self, made: Iterable[tuple[Sequence[str], bytes]]) -> None:
        """Keeps results, each by the texts that it was made of."""
        folder = kept_folder(self._kind)
        if folder is not None:
            with suppress(OSError):
                for made_of, data in made:
                    _write(folder / _digest(made_of), data)
                self._trim(folder)

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
    data = None
    with suppress(OSError):
        data = read_own(path)
        os.utime(path, follow_symlinks=False)
    if data is None:
        return None
    code = data[_SUM:]
    return code if hashlib.sha256(code).digest() == data[:_SUM] else None


def _write(path: Path, code: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def code_digest(*folders: Path) -> str:
    """A hash of the Python code in some folders and of what runs it."""
    found = hashlib.sha256(f"{platform.python_version()} {platform.platform()}".encode())
    for root in folders:
        for path in sorted(root.rglob("*.py")):
            data = path.read_bytes()
            found.update(f"{path.relative_to(root).as_posix()} {len(data)} ".encode() + data)
    return found.hexdigest()
