"""One writer per trace: a lock beside the file, and what may be replaced by a new trace.

The lock is an advisory one of the system, on a file of its own (`<trace>-lock`): it ends with the
process that holds it, however that ends, and never conflicts with SQLite's locks on the trace. It
holds the name of the run, so that a second program that was told to write the same trace can write
a file of its own as a part of that run. Nothing but an earlier trace, an empty file, and the logs
that SQLite keeps beside a trace is ever removed; no link is followed.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import sqlite3
import sys
import time
import weakref
from contextlib import closing, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

from core.errors import TraceError
from viz.files.alive import is_alive
from viz.files.descriptors import Held
from viz.files.regular import Opened, create_new, head_of, kind_of, open_own
from viz.format import schema

LOCK: Final = "-lock"
_HINT: Final = "choose another file with VIZ_TRACE"
_LOGS: Final = {
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-shm": ((3007000).to_bytes(4, sys.byteorder), b"\0\0\0\0"),
    "-journal": (b"\xd9\xd5\x05\xf9", b"\0\0\0\0"),
}
"""What SQLite keeps beside a file, and how each begins; zeros before and after it is used."""
_HELD: Final = re.compile(rb"uopviz ([0-9a-f]{1,64})\n")
_TRIES: Final = 20
_PAUSE: Final = 0.01
"""Seconds between tries: enough for the process that took a lock to write its name."""
_UNSUPPORTED: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@dataclass(frozen=True)
class Taken:
    """A trace that is not to be replaced: another process of `run` writes it or a part of it."""

    run: str


class Claim:
    """This process writes the trace `path`, once it has taken that, until `release`. One that
    is no longer held, as after an interrupt, is released."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: Opened | None = None
        self._identity: tuple[int, int] | None = None
        self._released = False
        self._held: Held | None = None
        """Open, for readers of the trace in this process while it is written."""
        _claims.add(self)

    def __del__(self) -> None:
        with suppress(Exception):  # at the end of the interpreter
            self.release()

    @property
    def locked(self) -> bool:
        """Whether others can see that it is taken; not where the file system has no locks."""
        return self._lock is not None and not self._lock.closed

    def take(self, run: str) -> Taken | None:
        """Takes the lock, where there are locks; or returns its holder."""
        name = _lock_of(self.path)
        for attempt in range(_TRIES):
            self._lock = Opened(_open_lock(name), "r+")  # this is its owner before it is locked
            file = self._lock.fileno()
            try:
                _lock(file)
            except OSError as error:
                if error.errno in _UNSUPPORTED:
                    _unlink_lock(file, name)
                    self.forget()
                    return None
                holder = _HELD.match(os.pread(file, 80, 0)) if attempt else None
                self.forget()
                if holder is not None:
                    return Taken(holder[1].decode())
                time.sleep(_PAUSE)
                continue
            if _is_at(file, name):  # not removed by its last holder since it was opened
                os.ftruncate(file, 0)
                os.pwrite(file, f"uopviz {run}\n".encode(), 0)
                return None
            self.forget()
        raise TraceError("another program holds the lock of this trace", str(name), _HINT)

    def make(self) -> None:
        """Replaces what is there by an empty file. Raises OSError or TraceError where it may not be
        replaced."""
        if head_of(self.path) != b"":
            for name in files_of(self.path):
                name.unlink(missing_ok=True)
            os.close(create_new(self.path))
        found = os.stat(self.path, follow_symlinks=False)
        self._identity = found.st_dev, found.st_ino
        self._held = Held(self.path)

    @property
    def lost(self) -> bool:
        """Whether the file has been removed, or replaced, since it was made."""
        try:
            found = os.stat(self.path, follow_symlinks=False)
        except OSError:
            return True
        return (found.st_dev, found.st_ino) != self._identity

    def is_of(self, path: Path) -> bool:
        """Whether it is this file that is being written."""
        if self._released:
            return False
        with suppress(OSError):
            found = os.stat(path, follow_symlinks=False)
            return (found.st_dev, found.st_ino) == self._identity
        return False

    def release(self) -> None:
        """The trace is complete, or never will be; calling it again does nothing."""
        self._released = True
        if self._held is not None:
            self._held.release()
        if self._lock is not None and not self._lock.closed:
            with suppress(OSError):
                _unlink_lock(self._lock.fileno(), _lock_of(self.path))
            self._lock.close()

    def forget(self) -> None:
        """Leaves the lock to its holder: after a fork, in the child, to the parent."""
        if self._lock is not None:
            self._lock.close()


_claims: weakref.WeakSet[Claim] = weakref.WeakSet()


def _forget_all() -> None:
    for claim in list(_claims):
        claim.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def claim(
    path: Path, run: str, *, new: bool = False, join: bool = False, make: bool = True
) -> Claim | Taken:
    """The right to write the trace `path` for `run`, or its holder: a process that writes it, or
    one that writes a further part of it, or, with `join`, a finished process of the same run.
    `new`: only where nothing lies there; FileExistsError otherwise. Without `make` an existing file
    stays, for the caller to replace. Raises OSError where the file or its lock cannot be made, and
    TraceError where something else than a trace lies there."""
    run = run if re.fullmatch(r"[0-9a-f]{1,64}", run) else "0"
    check_kinds(path)
    if new and path.exists():
        raise FileExistsError(errno.EEXIST, "there is such a file", str(path))
    made = Claim(path)
    try:
        if (holder := made.take(run)) is not None:
            return holder
        if path.exists():
            if new:
                raise FileExistsError(errno.EEXIST, "there is such a file", str(path))
            if not made.locked:
                raise TraceError(
                    "there is such a file, and no telling whether it is being written: this file "
                    "system has no locks",
                    where=str(path),
                    hint=_HINT,
                )
            check_replaceable(path)
            same = join and meta_of(path, "run") == run
            other = _part_in_use(path) or (run if same else None)
            if other is not None:
                made.release()
                return Taken(other)
        check_replaceable(path)
        if make:
            made.make()
    except BaseException:
        made.release()
        raise
    return made


def claim_beside(main: Path, run: str) -> Claim:
    """A new file next to the main trace of a run, for another process of it. Raises OSError and
    TraceError."""
    for n in itertools.count():
        end = f"-{n}" if n else ""
        path = main.with_name(f"{main.stem}.p{os.getpid()}{end}{main.suffix}")
        with suppress(FileExistsError):
            found = claim(path, run, new=True)
            if isinstance(found, Claim):
                return found
    raise AssertionError("unreachable")


def in_use(path: Path) -> bool:
    """Whether a process writes this trace; True where that is not known."""
    if _claimed_here(path) or _holder(path) is not None:
        return True
    with suppress(OSError, TraceError):
        check_replaceable(path)
        return meta_of(path, "ended") is None and is_alive(meta_of(path, "process"))
    return True


def remove_trace(path: Path) -> bool:
    """Removes a trace that no process writes, with its logs; whether it did. Never removes anything
    else."""
    with suppress(OSError, TraceError):
        if _claimed_here(path) or _holder(path) is not None or not is_trace(head_of(path)):
            return False
        check_replaceable(path)
        if in_use(path):
            return False
        for name in (*files_of(path), _lock_of(path)):
            name.unlink(missing_ok=True)
        return True
    return False


def is_trace(head: bytes | None) -> bool:
    """Whether a file that begins like this is a trace."""
    found = head or b""
    wanted = schema.APPLICATION_ID.to_bytes(4)
    return found[:15] == b"SQLite format 3" and found[68:72] == wanted


def check_kinds(path: Path) -> None:
    """Raises TraceError where a trace at `path` would follow a link or replace what is no file;
    OSError where that cannot be found out. Opens nothing."""
    for name in (*files_of(path), _lock_of(path)):
        with suppress(FileNotFoundError):
            if kind := kind_of(os.stat(name, follow_symlinks=False).st_mode):
                raise TraceError(
                    f"this is {kind}, which is neither followed nor overwritten", str(name), _HINT
                )


def check_replaceable(path: Path) -> None:
    """The same, and where what lies there is neither empty nor a trace with its logs. Not for a
    trace that this process writes: to close any file of its would end SQLite's locks on it."""
    check_kinds(path)
    for name in (*files_of(path), _lock_of(path)):
        head = head_of(name, 80)
        if head and not _is_ours(path, name, head):
            raise TraceError("this file is not a trace and is not overwritten", str(name), _HINT)


def _is_ours(path: Path, name: Path, head: bytes) -> bool:
    ending = str(name)[len(str(path)) :]
    if ending == LOCK:
        return _HELD.fullmatch(head) is not None
    return head[:4] in _LOGS[ending] if ending in _LOGS else is_trace(head)


def files_of(path: Path) -> list[Path]:
    """A trace and what SQLite may keep beside it."""
    return [path, *(Path(f"{path}{ending}") for ending in _LOGS)]


def _lock_of(path: Path) -> Path:
    return Path(f"{path}{LOCK}")


def _open_lock(name: Path) -> int:
    while True:
        try:
            return create_new(name, 0o600)
        except FileExistsError:
            pass
        with suppress(FileNotFoundError):
            file = open_own(name)
            head = os.pread(file, 81, 0)
            if not head or _HELD.fullmatch(head):
                return file
            os.close(file)
            raise TraceError("this file is no lock of a trace", str(name), _HINT)


def _holder(path: Path) -> str | None:
    """The run that writes a trace; "" where that is not known, None where none does."""
    try:
        file = open_own(_lock_of(path))
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    try:
        _lock(file)
    except OSError:
        found = _HELD.match(os.pread(file, 80, 0))
        return found[1].decode() if found else ""
    finally:
        os.close(file)
    return None


def _part_in_use(path: Path) -> str | None:
    """The run of a further process that still writes its part of the run of this trace."""
    for name in path.parent.glob(f"{escape(path.stem)}.p*{escape(path.suffix)}{LOCK}"):
        if run := _holder(Path(str(name)[: -len(LOCK)])):
            return run
    return None


def meta_of(path: Path, key: str) -> object:
    """A row of the meta table of an own trace; None where there is none."""
    with suppress(OSError, sqlite3.Error, UnicodeError, ValueError):
        found = os.stat(path, follow_symlinks=False)
        if found.st_size and not kind_of(found.st_mode) and found.st_uid == os.getuid():
            with closing(sqlite3.connect(path, timeout=2)) as db:
                db.execute("PRAGMA query_only=ON")
                db.execute("PRAGMA trusted_schema=OFF")
                row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
            return None if row is None else json.loads(row[0])
    return None


def _claimed_here(path: Path) -> bool:
    return any(claim.is_of(path) for claim in list(_claims))


def _lock(file: int) -> None:
    """Raises OSError where another process, or another open file, has the lock."""
    if sys.platform == "win32":
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_at(file: int, name: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(name, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _unlink_lock(file: int, name: Path) -> None:
    if _is_at(file, name):
        name.unlink()
