"""One descriptor per file that SQLite has open in this process, for reading its head.

POSIX ends all locks that a process has on a file when it closes any descriptor of it, and SQLite
locks that way: to open a trace, read its head and close it again would take its locks from who
records or reads it here. So the descriptor stays open while anything uses the file. Never writes.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import BinaryIO

from viz.files.regular import open_regular


class Held:
    """A regular file that is in use until `release`. Raises OSError."""

    _released = True

    def __init__(self, path: Path) -> None:
        with _lock:
            found = os.stat(path)
            self._key = found.st_dev, found.st_ino
            if self._key not in _files:
                file = open_regular(path)
                found = os.fstat(file.fileno())  # it may be another one by now
                self._key = found.st_dev, found.st_ino
                known = _files.setdefault(self._key, file)
                if known is not file:
                    _files_of_no_use.append(file)
            self._file = _files[self._key]
            _uses[self._key] = _uses.get(self._key, 0) + 1
            self._released = False

    def __del__(self) -> None:
        self.release()

    def head(self, count: int) -> bytes:
        """Its first bytes."""
        return os.pread(self._file.fileno(), count, 0)

    def is_at(self, path: Path) -> bool:
        """Whether it lies there still, and no other file does. While it is open, no other file can
        get its number."""
        try:
            found = os.stat(path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._key

    def size(self) -> int:
        """Its bytes."""
        return os.fstat(self._file.fileno()).st_size

    def release(self) -> None:
        """SQLite no longer has it open for who held it; calling it again does nothing."""
        with _lock:
            if self._released:
                return
            self._released = True
            _uses[self._key] -= 1
            if not _uses[self._key]:
                del _uses[self._key]
                _files.pop(self._key).close()


_lock = threading.RLock()
_files: dict[tuple[int, int], BinaryIO] = {}
_uses: dict[tuple[int, int], int] = {}
_files_of_no_use: list[BinaryIO] = []
"""Second descriptors of a file, which a replaced path has led to; never closed."""
