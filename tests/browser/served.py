"""Programs around the page: one that records, one that serves a trace, one that exports it.

Each runs as users run it, in a process of its own, and ends with the test that started it.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Self

ROOT: Final = Path(__file__).resolve().parents[2]
PROGRAMS: Final = Path(__file__).resolve().parent / "programs"
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([^\s#]+)\S*")

ended: Final[dict[int, float]] = {}
"""Ports whose servers a test has ended, and when (`time.monotonic`)."""


def environment(**more: str) -> dict[str, str]:
    """This environment without settings of a person who runs the tests."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "UOPVIZ_RUN"))}
    kept.pop("UOPVIZ_PORT", None)
    return kept | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": _cache()} | more


@lru_cache(maxsize=1)
def _cache() -> str:
    """A folder without runs that this person recorded, for as long as the tests run."""
    folder = tempfile.mkdtemp(prefix="uopviz-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def record(program: Path, trace: Path, **more: str) -> Path:
    """Runs a program that is only recorded, with these settings; the trace."""
    setting = environment(VIZ="-1", VIZ_TRACE=str(trace), **more)
    command = [sys.executable, str(program.relative_to(ROOT))]
    done = subprocess.run(command, env=setting, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return trace


def export(trace: Path, file: Path, *options: str) -> Path:
    """`uopviz export TRACE -o FILE`, with options."""
    command = [sys.executable, "-m", "viz", "export", str(trace), "-o", str(file), *options]
    done = subprocess.run(command, env=environment(), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return file


class Process:
    """A process that prints the address of its page; what else it prints is read and dropped.
    `first`: a line of standard input that it is given before that."""

    def __init__(
        self, command: list[str], setting: dict[str, str], *, errors: bool, first: str = ""
    ) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command,
            env=setting,
            cwd=ROOT,
            text=True,
            stdin=pipe,
            stdout=subprocess.DEVNULL if errors else pipe,
            stderr=pipe if errors else subprocess.DEVNULL,
        )
        if first:
            self.say(first)
        stream = self._process.stderr if errors else self._process.stdout
        assert stream is not None
        self._stream = stream
        for line in stream:
            if found := _ADDRESS.search(line):
                self.url, self.port, self.token = found[0], int(found[1]), found[2]
                break
        else:
            raise AssertionError(f"no address was printed by {' '.join(command)}")
        ended.pop(self.port, None)
        self._drain = threading.Thread(target=stream.read, daemon=True)
        self._drain.start()

    @property
    def page(self) -> str:
        """The address without the token."""
        return f"http://127.0.0.1:{self.port}/"

    def get(self, path: str, run: str = "A") -> Any:
        """An answer about a run."""
        return self.ask(f"{run}/{path}")

    def ask(self, path: str, method: str = "GET") -> Any:
        """An answer of the API."""
        request = urllib.request.Request(
            f"{self.page}api/{path}", headers={"X-Uopviz-Token": self.token}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            error.add_note(f"{path}: {error.read().decode()}")
            raise

    def rows(self) -> list[dict[str, Any]]:
        """All rows of the navigator."""
        rows: list[dict[str, Any]] = self.get("tree")["rows"]
        return rows

    def closes_input(self, timeout: float = 30) -> int:
        """Its standard input ends, and so a program that reads it; its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(timeout=timeout)

    @property
    def viewer(self) -> int:
        """The process that serves the page of this program, while that runs."""
        parent = str(self._process.pid)
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has just ended
                fields = stat.read_text().rpartition(")")[2].split()
                if fields[1] == parent and b"--live" in (stat.parent / "cmdline").read_bytes():
                    return int(stat.parent.name)
        raise AssertionError("no viewer")

    def say(self, line: str) -> None:
        """A line of standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """SIGKILL: no chance to say good-bye."""
        ended[self.port] = time.monotonic()
        self._process.kill()
        self._close()

    def end(self) -> None:
        """Lets it finish, and makes it if it does not."""
        ended[self.port] = time.monotonic()
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.terminate()
        self._close()

    def _close(self) -> None:
        self._process.wait(timeout=20)
        self._drain.join(timeout=20)
        for stream in (self._process.stdin, self._stream):
            if stream is not None and not stream.closed:
                stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.end()
        else:
            self._close()


def serve(trace: Path, port: int | None = None, beside: Sequence[Path] = ()) -> Process:
    """`uopviz open TRACE... --no-browser`."""
    traces = map(str, (trace, *beside))
    command = [sys.executable, "-m", "viz", "open", *traces, "--no-browser"]
    if port is not None:
        command += ["--port", str(port)]
    return Process(command, environment(), errors=False)


def run_live(program: Path, trace: Path, stays: int = 0) -> Process:
    """`VIZ=1 python PROGRAM`; its page stays so many seconds after it."""
    setting = environment(VIZ="1", VIZ_TRACE=str(trace), UOPVIZ_STAY=str(stays))
    return Process([sys.executable, str(program)], setting, errors=True)
