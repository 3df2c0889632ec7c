"""What ran where: the command, the state of its repository, versions, flags and the machine.

Asks git once and waits for it briefly; never fails: what cannot be found out is left empty.
"""

from __future__ import annotations

import datetime
import os
import platform
import socket
import subprocess
import sys
import zlib
from importlib import metadata
from multiprocessing import parent_process
from pathlib import Path
from typing import Final

from core.helpers import Flag

PACKAGES: Final = ("uopviz", "numpy", "llvmlite", "flask", "networkx", "cuda-bindings")
COMPILER: Final = "uopviz"
"""The compiler of the graphs in a trace that the recorder writes: `core`."""
_GIT_SECONDS: Final = 2.0


def run_info(run: str | None, main: bool, ago: float = 0.0) -> dict[str, object]:
    """Values for schema.META of a recording that began `ago` seconds before; `run` names the run
    that this process takes part in."""
    began = datetime.datetime.now().astimezone() - datetime.timedelta(seconds=ago)
    info: dict[str, object] = {
        "run": run or new_run(),
        "process": process_info(main),
        "started": began.isoformat(timespec="milliseconds"),
        "command": [*sys.orig_argv],
        "cwd": _folder(),
        "compiler": COMPILER,
        "flags": {name: flag.value for name, flag in Flag.table.items()},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
    }
    if main:
        info["commit"] = _commit()
        info["versions"] = _versions()
    return info


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
            return start == process_start(pid)
        case _:
            return False


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


def _folder() -> str:
    """The working directory; "" where it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _commit() -> dict[str, object]:
    """The commit of the repository around the working directory, and how many files differ."""
    # without locks: another git of the user's may be at work
    said = _git(
        "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=no"
    )
    lines = said.splitlines()
    head = next((line.split()[2] for line in lines if line.startswith("# branch.oid ")), "")
    dirty = sum(not line.startswith("#") for line in lines)
    return {"id": "" if head == "(initial)" else head, "dirty": dirty}


def _git(*args: str) -> str:
    try:
        done = subprocess.run(
            ["git", *args],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
