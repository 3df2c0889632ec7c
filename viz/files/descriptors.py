"""One descriptor per file that SQLite has open in this process, for reading its head.

POSIX ends all locks that a process has on a file when it closes any descriptor of it, and SQLite
locks that way: to open a trace, read its head and close it again would take its locks from who
records or reads it here. So the descriptor stays open while anything uses the file. Never writes.
"""

from __future__ import annotations

import os
import threading
from io import FileIO
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from viz.files.regular import open_regular


class Held:
    """A regular file that is in use until `release`. Raises OSError."""

    _file: FileIO | None = None
    """Closed when the last of those who use it lets go of it."""

    def __init__(self, path: Path) -> None:
        with _lock:
            found = os.stat(path)
            self._file = _files.get((found.st_dev, found.st_ino))
            if self._file is None:
                file = open_regular(path)
                found = os.fstat(file.fileno())  # it may have been replaced
                key = found.st_dev, found.st_ino
                if key in _files:
                    _files_of_no_use.append(file)
                self._file = _files.setdefault(key, file)

    def head(self, count: int) -> bytes:
        """Its first bytes."""
        return os.pread(self._opened.fileno(), count, 0)

    def is_at(self, path: Path) -> bool:
        """Whether it lies there still, and no other file does. While it is open, no other file can
        get its number."""
        own = os.fstat(self._opened.fileno())
        try:
            return os.path.samestat(os.stat(path), own)
        except OSError:
            return False

    def size(self) -> int:
        """Its bytes."""
        return os.fstat(self._opened.fileno()).st_size

    @property
    def _opened(self) -> FileIO:
        if self._file is None:
            raise ValueError("it has been released")
        return self._file

    def release(self) -> None:
        """SQLite no longer has it open for who held it; calling it again does nothing."""
        self._file = None


_lock: Final = threading.RLock()
_files: Final[WeakValueDictionary[tuple[int, int], FileIO]] = WeakValueDictionary()
_files_of_no_use: Final[list[FileIO]] = []
"""Second descriptors of a file, which a replaced path has led to; never closed."""
