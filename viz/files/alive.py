"""Which process writes a trace, whether it lives, and its run. Never starts a process."""

from __future__ import annotations

import os
import socket
import sys
import zlib
from multiprocessing import parent_process
from pathlib import Path


def process_info(main: bool) -> dict[str, object]:
    """Who writes a trace; enough to tell later whether it still does."""
    pid = os.getpid()
    return {"pid": pid, "start": process_start(pid), "host": socket.gethostname(), "main": main}


def process_start(pid: int) -> int:
    """When a process started, in clock ticks since boot; 0 where the system does not say."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def is_alive(process: object) -> bool:
    """Whether the process of `process_info` still runs on this machine."""
    match process:
        case {"pid": int(pid), "start": int(start), "host": str(host)} if pid > 0:
            if host != socket.gethostname():
                return False
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return False
            except (PermissionError, OverflowError):
                return False
            return start == process_start(pid) and not _is_zombie(pid)
        case _:
            return False


def _is_zombie(pid: int) -> bool:
    """Whether a process has ended, and its parent has not asked for its exit code yet."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[:1] in (["Z"], ["X"])


def is_here(process: object) -> bool:
    """Whether the process of `process_info` ran on this machine."""
    match process:
        case {"host": str(host)}:
            return host == socket.gethostname()
        case _:
            return False


def has_host(process: object) -> bool:
    """Whether `process_info` says on which machine the process ran."""
    return isinstance(process, dict) and "host" in process


def new_run() -> str:
    """A name for a run that no other has."""
    return os.urandom(8).hex()


def is_worker() -> bool:
    """Whether multiprocessing started this process, in whichever way."""
    started = "from multiprocessing.spawn import", "from multiprocessing.forkserver import"
    command = " ".join(sys.orig_argv)
    return parent_process() is not None or any(text in command for text in started)


def family_run() -> str | None:
    """The name of the run that this process is a part of where multiprocessing started it for a
    program that does not record: the same for all that this program starts. None elsewhere."""
    if not is_worker():
        return None
    parent = os.getppid()
    known = f"{socket.gethostname()} {parent} {process_start(parent)}"
    return f"{zlib.crc32(known.encode()):08x}{parent:08x}"
