"""Processes of their own for work that may crash, hang or fill the memory.

Each begins a group, so that it ends with everything it started, such as an assembler. It imports
nothing from the current folder and records nothing. Never forks, never pickles.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from core.misspelled import misspelled


def start(
    module: str,
    stderr: int = subprocess.PIPE,
    bytecode: Path | None = None,
    own_group: bool = True,
) -> subprocess.Popen[bytes]:
    """Starts a module of this project with pipes for its standard streams, if not told otherwise
    for its messages. `bytecode`: a folder for what Python compiles of the modules, in place of
    those beside them. Without `own_group` it stays in the group of this process, whose leader is to
    be ended with all that it started."""
    # -P: a file next to a stranger's trace, such as json.py, is never imported
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=_environment(bytecode),
        start_new_session=own_group,
    )


def python_path() -> str:
    """PYTHONPATH for a process of this project. An empty entry of the user's would stand for the
    current folder."""
    own = str(Path(__file__).resolve().parents[2])
    found = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([own, *(path for path in found if path)])


def wait(process: subprocess.Popen[bytes]) -> None:
    """Waits for its end. Where the system can, its number stays taken, so that `kill` and `end` can
    still name its group."""
    if not hasattr(os, "waitid"):
        process.wait()
    elif process.returncode is None:
        with contextlib.suppress(ChildProcessError):  # another thread was faster
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and all that it started; it may have ended itself."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            process.kill()


def end(process: subprocess.Popen[bytes]) -> int:
    """Ends it where it has not ended, and closes its pipes; how it ended."""
    kill(process)
    code = process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    return code


def how(code: int) -> str:
    """How a process ended, in words: "exit code 1" or "SIGSEGV"."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _environment(bytecode: Path | None) -> dict[str, str]:
    wrong = misspelled(os.environ)  # this process has said so
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("VIZ", "UOPVIZ")) and k not in wrong
    }
    if bytecode is not None:
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        kept["PYTHONPYCACHEPREFIX"] = str(bytecode)
    return kept | {"PYTHONPATH": python_path(), "DEBUG": "0"}
