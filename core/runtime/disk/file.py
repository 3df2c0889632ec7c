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
        self._least = 0
        self._lock = threading.Lock()

    def __del__(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)

    def size(self) -> int:
        """Bytes in the file, which from then on has to have as many when it is written. Raises
        RunError where there is no such file."""
        self._least = os.fstat(self._open(writing=False)).st_size
        return self._least

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
        """Writes bytes from `offset`; makes or lengthens the file where it must. Raises RunError
        before anything is written: for a full disk, and where the file that was read from has been
        cut short, or another one has taken its place."""
        descriptor, bytes_, at = self._open(writing=True), data.cast("B"), 0
        with self._named():
            if (size := os.fstat(descriptor).st_size) < self._least:
                raise RunError(
                    f"{self.called} ends at byte {size}, and had {self._least} bytes when opened",
                    hint="the file has been cut short since: make the Tensor of the file again",
                )
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
        """The descriptor of the file at the path; of the one that is open already, if one is."""
        flags = os.O_RDWR if writing else os.O_RDONLY
        if writing and self._descriptor is None:
            flags |= os.O_CREAT
        descriptor = os.open(self.path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            os.close(descriptor)
            raise _no_file(self.called)
        if self._descriptor is not None and not os.path.samestat(found, os.fstat(self._descriptor)):
            os.close(descriptor)
            raise RunError(
                f"{self.called} is another file than the one that was read from",
                hint="it has been replaced since: make the Tensor of the file again",
            )
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
    and leaves what was there, where that fails or no regular file was there."""
    if path.exists() and not path.is_file():
        raise _no_file(str(path))
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        write(File(str(temporary), str(path)))
        temporary.replace(path)
    except OSError as error:
        raise system_error(str(path), error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _no_file(path: str) -> RunError:
    return RunError(f"{path} is no regular file", hint="give the path of a file")


def system_error(path: str, error: OSError) -> RunError:
    """An error of the system about a file, as ours."""
    return RunError(
        f"{path}: {(error.strerror or str(error)).lower()}",
        hint="is the path right, is the disk full, and may this program read and write there?",
    )
