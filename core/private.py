"""The folder in the user's cache that only the user can write to.

What is kept there is trusted later, and some of it is code. So every folder on the way belongs to
the user or to the system and is writable by no one else, and those from `uopviz` on are made for
their owner alone, and no link is followed to them. Where that is not so, nothing is kept, and one
line says so: there is no other folder in its place, least of all one that users share. Knows
nothing of what is kept.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import grp
    import pwd

from core.errors import FolderError
from core.helpers import notice

NAME: Final = "uopviz"
_CHOOSE: Final = "set XDG_CACHE_HOME to a folder of your own"
_MOST_LINKS: Final = 40
_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def cache_root() -> Path:
    """Where the platform keeps what can be made again; it need not be there. Raises FolderError
    where the user has no such folder."""
    if sys.platform == "darwin":
        base = _home() / "Library" / "Caches"
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or _home())
    else:
        chosen = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(chosen) if os.path.isabs(chosen) else _home() / ".cache"
    return base / NAME


def kept_folder(kind: str) -> Path | None:
    """The folder of the cache for what is kept of one kind; None where nothing can be kept, of
    which the user is told once."""
    try:
        folder = cache_root() / kind
        make_private(folder)
    except (FolderError, OSError) as error:
        what = error.what if isinstance(error, FolderError) else error.strerror
        where = error.where if isinstance(error, FolderError) else error.filename
        notice(f"nothing is kept in your cache: {what} ({where}); {_CHOOSE}")
        return None
    return folder


def make_private(folder: Path) -> None:
    """Makes `folder`, which is that of the cache or lies in it, or restricts it to its owner.
    Raises FolderError where others could have put something there, and OSError."""
    root = cache_root()
    own = root.parent
    _make_above(own)
    for name in (NAME, *folder.relative_to(root).parts):
        own /= name
        with suppress(FileExistsError):
            own.mkdir(0o700)
        found = own.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise FolderError("this is no folder", str(own), f"remove it, or {_CHOOSE}")
        if not _is_mine(found):
            raise FolderError("this folder belongs to another user", str(own), _CHOOSE)
        if _is_open(found):
            if found.st_mode & _OTHERS:
                raise FolderError(
                    "other users can write to this folder, so what lies there may be theirs",
                    str(own),
                    "remove it, or make it yours alone with chmod 700",
                )
            own.chmod(0o700)


def is_own(path: Path) -> bool:
    """Whether there is a regular file that the user has made, and no link to one."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and _is_mine(found)


def read_own(path: Path, most: int | None = None) -> bytes | None:
    """A regular file that only the user can access, up to `most` bytes; None where there
    is none. No link is followed. Raises OSError."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | _NO_LINK)
    except FileNotFoundError:
        return None
    with os.fdopen(file, "rb") as opened:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or not _is_mine(found) or _is_open(found):
            return None
        return opened.read() if most is None else opened.read(most)


def _make_above(folder: Path) -> None:
    """Makes the folders down to `folder`, where they are not there, and follows their links as the
    system does. Raises FolderError where another user could put one of them in the place of
    another, and OSError."""
    if os.name != "posix":
        folder.mkdir(parents=True, exist_ok=True)
        return
    at, names, links = Path(folder.anchor), [*folder.parts[1:]][::-1], 0
    _check_above(at)
    while names:
        name = names.pop()
        if name == "..":
            at = at.parent
            continue
        with suppress(FileExistsError):
            if not os.path.lexists(at / name):
                (at / name).mkdir(0o700)
        if (at / name).is_symlink():
            links += 1
            if links > _MOST_LINKS:
                raise FolderError("its links lead in a circle", str(folder), _CHOOSE)
            target = Path(os.readlink(at / name))
            at = Path(target.anchor) if target.is_absolute() else at
            names += [part for part in target.parts if part != target.anchor][::-1]
            continue
        at /= name
        _check_above(at)


def _check_above(folder: Path) -> None:
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise FolderError("this is no folder", str(folder), _CHOOSE)
    if not (_is_mine(found) or found.st_uid in _system()):
        raise FolderError("this folder belongs to another user", str(folder), _CHOOSE)
    others = found.st_mode & _OTHERS
    if others & stat.S_IWGRP and _is_own_group(found.st_gid):
        others &= ~stat.S_IWGRP
    if others and not found.st_mode & stat.S_ISVTX:  # as in /tmp: only the owner can move a file
        raise FolderError("other users can write to this folder", str(folder), _CHOOSE)


def _is_mine(found: os.stat_result) -> bool:
    return sys.platform == "win32" or found.st_uid == os.getuid()


def _is_open(found: os.stat_result) -> bool:
    """Whether others can do anything with it."""
    return os.name == "posix" and bool(stat.S_IMODE(found.st_mode) & 0o077)


@cache
def _system() -> frozenset[int]:
    """Users who may own the folders above: root, also as it is seen in a container of a user, where
    it has no number of its own."""
    with suppress(OSError, ValueError):
        begin, outside, _ = Path("/proc/self/uid_map").read_text().split()[:3]
        if (begin, outside) != ("0", "0"):
            return frozenset({0, int(Path("/proc/sys/kernel/overflowuid").read_text())})
    return frozenset({0})


@cache
def _is_own_group(number: int) -> bool:
    """Whether a group is that of this user alone, as many systems make one for each user."""
    if sys.platform == "win32":
        return True
    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return (group.gr_name, group.gr_gid) == (user.pw_name, user.pw_gid) and not (
        {*group.gr_mem} - {user.pw_name}
    )


def _home() -> Path:
    """The user's folder: HOME, or what the system has where that is not set to a folder."""
    chosen = os.environ.get("HOME", "")
    if os.path.isabs(chosen):
        return Path(chosen)
    if sys.platform == "win32":
        return Path.home()
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a user whom the system does not know, as in some containers
        raise FolderError("HOME is not set", "the user's cache", _CHOOSE) from None
