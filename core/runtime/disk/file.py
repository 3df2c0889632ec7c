"""A file whose bytes are the memory of a Tensor.

Read and written with system calls, never mapped: a file that another program cuts short is an error
here, where reading mapped memory would end the process. Knows no device and no Tensor.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from core.errors import RunError

CHUNK: Final = 1 << 30
"""Most bytes of one system call; Linux takes at most 2 GiB."""


class File:
    """A regular file, opened when it is first read or written and closed when this goes. Errors of
    the system become RunErrors that name it."""

    def __init__(self, path: str, called: str = "") -> None:
        """`called`: the path in errors, if another one."""
        self.path, self.called = path, called or path
        self._descriptor: int | None = None
        self._writable = False
        self._lock = threading.Lock()

    def __del__(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)

    def size(self) -> int:
        """Bytes in the file. Raises RunError where there is no such file."""
        return os.fstat(self._open(writing=False)).st_size

    def read(self, into: memoryview, offset: int) -> None:
        """Fills `into` with the bytes from `offset`. Raises RunError where the file ends first."""
        descriptor, data, at = self._open(writing=False), into.cast("B"), 0
        while at < len(data):
            with self._named():
                count = os.preadv(descriptor, [data[at : at + CHUNK]], offset + at)
            if not count:
                end = offset + len(data)
                raise RunError(
                    f"{self.called} ends at byte {offset + at}, and {end} are needed",
                    hint="the file has been cut short since it was opened, or was never so long",
                )
            at += count

    def write(self, data: memoryview, offset: int) -> None:
        """Writes bytes from `offset`; makes or lengthens the file where it must. Raises RunError,
        for a full disk before anything is written."""
        descriptor, bytes_, at = self._open(writing=True), data.cast("B"), 0
        with self._named():
            if bytes_ and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, offset, len(bytes_))
            while at < len(bytes_):
                at += os.pwrite(descriptor, bytes_[at : at + CHUNK], offset + at)

    def _open(self, writing: bool) -> int:
        with self._lock:
            if self._descriptor is None or (writing and not self._writable):
                with self._named():
                    opened = self._opened(writing)
                if self._descriptor is not None:
                    os.close(self._descriptor)
                self._descriptor, self._writable = opened, writing
            return self._descriptor

    def _opened(self, writing: bool) -> int:
        flags = os.O_RDWR | os.O_CREAT if writing else os.O_RDONLY
        descriptor = os.open(self.path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise RunError(f"{self.called} is no regular file", hint="give the path of a file")
        return descriptor

    @contextmanager
    def _named(self) -> Generator[None]:
        """Errors of the system in the block become RunErrors that name the file."""
        try:
            yield
        except OSError as error:
            raise system_error(self.called, error) from error


def replace_file(path: Path, write: Callable[[File], None]) -> None:
    """A file at `path` as `write` writes it, to another one in the same folder. Raises RunError,
    and leaves what was there, where that fails."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        write(File(str(temporary), str(path)))
        temporary.replace(path)
    except OSError as error:
        raise system_error(str(path), error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def system_error(path: str, error: OSError) -> RunError:
    """An error of the system about a file, as ours."""
    return RunError(
        f"{path}: {(error.strerror or str(error)).lower()}",
        hint="is the path right, is the disk full, and may this program read and write there?",
    )
