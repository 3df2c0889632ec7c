"""Opens regular files only, so that nothing blocks, and replaces files atomically.

A pipe, a socket or a device is never opened for reading. Only a regular file that this program made
is ever replaced, as a whole or not at all; no link is followed to a file that is written.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Final

from core.errors import TraceError
from viz.terminal import shell_word

HEAD: Final = 4096
"""Bytes of a file by which it is known."""
Known = Callable[[bytes], bool]
"""Whether a file that begins like this is one of ours."""
_FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_WAITLESS: Final = getattr(os, "O_NONBLOCK", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_KINDS: Final = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def check_ending(path: Path, what: str, *endings: str) -> None:
    """Raises TraceError for a file whose name promises something else than `what`, which is
    written to files that end like these."""
    if path.suffix not in endings:
        *first, last = [ending for ending in endings if ending]
        allowed = f"{', '.join(first)} or {last}" if first else last
        ending = path.suffix or "a file without an ending"
        raise TraceError(
            f"{what} is written as {allowed}, not as {ending}",
            where=str(path),
            hint=f"-o {shell_word(path.stem + endings[0])}",
        )


def kind_of(mode: int) -> str:
    """What a file that is not regular is, such as "a pipe"; "" for a regular one."""
    if stat.S_ISREG(mode):
        return ""
    return next((name for test, name in _KINDS if test(mode)), "no regular file")


class Opened(FileIO):
    """A file that is closed once it is no longer referenced, as after an interrupt."""

    __del__ = FileIO.close  # no code of Python, which an interrupt would find

    def read(self, size: int | None = -1, /) -> bytes:
        """So many bytes; fewer at the end of the file only, which one call of the system is not
        bound to."""
        if size is None or size < 0:
            return self.readall()
        found = part = super().read(size)
        while part and len(found) < size:
            part = super().read(size - len(found))
            found += part
        return found


def open_regular(path: Path, follow: bool = True) -> Opened:
    """Opens a regular file for reading; anything else is not waited for. Raises OSError."""
    _refuse(path, os.stat(path, follow_symlinks=follow).st_mode)
    file = os.open(path, os.O_RDONLY | _FLAGS | _WAITLESS | (0 if follow else _NO_LINK))
    try:
        _refuse(path, os.fstat(file).st_mode)  # it may have been replaced
    except BaseException:
        os.close(file)
        raise
    return Opened(file)


def head_of(path: Path, count: int = HEAD) -> bytes | None:
    """The first bytes of the regular file at `path`, which is no link; None for no file. Raises
    OSError."""
    try:
        with open_regular(path, follow=False) as file:
            return file.read(count)
    except FileNotFoundError:
        return None


def create_new(path: Path, mode: int = 0o666) -> int:
    """A new, empty file, open for writing. Raises FileExistsError, also where a link lies."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS | _NO_LINK, mode)


def open_own(path: Path) -> int:
    """A regular file, open for reading and writing; no link is followed. Raises OSError."""
    file = os.open(path, os.O_RDWR | _FLAGS | _WAITLESS | _NO_LINK)
    try:
        _refuse(path, os.fstat(file).st_mode)
    except OSError:
        os.close(file)
        raise
    return file


def replace_file(path: Path, body: bytes, ours: Known, what: str) -> None:
    """Writes a file: a new one, or in place of an empty one or an earlier one of its kind, as
    `ours` knows them. Raises TraceError where it cannot be written or something else lies there,
    of which `what` says what it is not; that stays as it was, and so does an earlier file where the
    disk is full."""
    part = path.with_name(f".{path.name[:200]}.{os.urandom(4).hex()}")
    hint = "name another one with -o"
    try:
        known = head_of(path)
        if known and not ours(known):
            raise TraceError(f"this file is not {what} and is not overwritten", str(path), hint)
        try:
            try:
                with os.fdopen(create_new(part), "wb") as file:
                    file.write(body)
                if known is None:
                    os.link(part, path)  # where a file has come meanwhile, it stays
                else:
                    os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
        except BaseException:  # an interrupt may have come before that
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise TraceError(
            f"the file cannot be written: {error.strerror or error}", where=str(path), hint=hint
        ) from error


def _refuse(path: Path, mode: int) -> None:
    if kind := kind_of(mode):
        raise OSError(errno.EINVAL, f"this is {kind}, not a regular file", str(path))
