"""Compiled code kept on disk, by what it was made of, for the next process.

In the user's own cache folder, which only this user can write to (`core/private.py`), or nowhere.
What cannot be read or written is silently made again. A process that runs code which nobody vouches
for keeps nothing.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.private import kept_folder, read_own

_SUM: Final = 32
"""Bytes of SHA-256 before the code in each file: what a full disk or a crash cut is made again."""
_SHARE: Final = 64
"""Files are counted about once per this part of what may be kept, by whichever process writes."""


class _Keeping:
    allowed = True


def keep_nothing() -> None:
    """From here on, this process keeps nothing on disk; it still finds what others have kept."""
    _Keeping.allowed = False


@dataclass(frozen=True)
class Taken:
    """What a cache takes: bytes of `files` in `folder`, and how many bytes it may take."""

    folder: Path
    files: int
    nbytes: int
    most: int


class DiskCache:
    """Results of one kind, about `most` bytes of them; the longest unused go first."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind, self._most = kind, most

    def taken(self) -> Taken | None:
        """What it takes at present; None where nothing can be kept."""
        folder = kept_folder(self._kind)
        if folder is None:
            return None
        sizes = [size for _, size, _ in _files(folder)]
        return Taken(folder, len(sizes), sum(sizes), self._most)

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
        folder = kept_folder(self._kind) if _Keeping.allowed else None
        if folder is not None:
            with suppress(OSError):
                due = False
                for made_of, data in made:
                    name = _digest(made_of)
                    _write(folder / name, data)
                    due |= self._is_due(name, len(data))
                if due:
                    self._trim(folder)

    def _is_due(self, name: str, nbytes: int) -> bool:
        """Whether files are counted after this one: with a chance in proportion to its size, told
        by its name, so that processes which write little each count in turn."""
        return int(name[:8], 16) * (self._most // _SHARE) < nbytes << 32

    def _trim(self, folder: Path) -> None:
        files = sorted(_files(folder))
        taken = sum(size for _, size, _ in files)
        for _, size, path in files:
            if taken <= self._most:
                return
            path.unlink(missing_ok=True)
            taken -= size


def _files(folder: Path) -> list[tuple[float, int, Path]]:
    """When each file was used last, its size, and where it is."""
    found: list[tuple[float, int, Path]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process has removed it
                if entry.is_file(follow_symlinks=False):
                    stat = entry.stat(follow_symlinks=False)
                    found.append((stat.st_mtime, stat.st_size, Path(entry.path)))
    return found


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
