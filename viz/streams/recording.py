"""A program run with the taps, whose streams are made into one run: a trace for each process that
rewrites graphs, written while the program runs."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from core.errors import TraceError
from viz.files.alive import new_run, process_info
from viz.streams.events import MAX_LINE, StreamError, parse
from viz.streams.reader import StreamReader
from viz.tap import FOLDER, SITE
from viz.write.ownfile import own_file
from viz.write.writer import TraceWriter

_OFTEN: Final = 0.1
"""Seconds between two looks at the streams."""
_FLUSH: Final = 0.5
"""Seconds after which what was read is written, so that a page that follows shows it."""
_PATIENCE: Final = 5.0
"""Seconds that a program has to end when the recording is ended."""
_CHUNK: Final = 1 << 22
"""Bytes that are read of one stream before it is the turn of the next."""
_HEADS: Final = (b'["stream"', b'["compiler"', b'["problem"', b'["end"')
"""How events begin that alone make no trace."""
_UNCACHED: Final = {
    "PARALLEL": "0",
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
}
"""Settings of compilers without which they do their work elsewhere, or not at all."""
_SETTINGS: Final = ("VIZ", "VIZ_TRACE")
"""Settings of uopviz, of which another compiler may have its own of the same name."""


def tapped(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """An environment in which programs write streams to `folder`. Kernels are compiled in the
    program itself, where the tap sees it, not in its workers."""
    made = {key: value for key, value in environment.items() if key not in _SETTINGS}
    paths = [str(SITE), *filter(None, [made.get("PYTHONPATH")])]
    made |= {FOLDER: folder, "PYTHONPATH": os.pathsep.join(paths)}
    for name, value in _UNCACHED.items():
        made.setdefault(name, value)
    return made


@contextmanager
def _left_to_the_program() -> Generator[None]:
    """Ctrl-C reaches the program as well, which decides what it does then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # a function, which a new program does not inherit, where SIG_IGN would be
    before = signal.signal(signal.SIGINT, _not_heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _not_heard(*_: object) -> None:
    """Does nothing."""


def _end(program: subprocess.Popen[bytes]) -> None:
    """Asks the program to end, and ends it where it does not."""
    program.terminate()
    try:
        program.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


class ProgramRecording:
    """Runs a command, and records it to `path`. `begun` is called with the trace of the first
    process once it can be read."""

    def __init__(
        self, command: Sequence[str], path: Path, begun: Callable[[Path], None] | None = None
    ) -> None:
        self._command, self._path, self._begun = [*command], path, begun
        self._run = new_run()
        self._streams: dict[str, _Stream] = {}
        self.compilers: list[str] = []
        """Whose work was recorded."""

    @property
    def why_nothing(self) -> str:
        """Why there is no trace."""
        problems = [problem for stream in self._streams.values() for problem in stream.problems]
        if problems:
            return problems[0]
        loaded = any(stream.loaded for stream in self._streams.values())
        return "no graph was rewritten" if loaded else "no known compiler was loaded"

    @property
    def matches(self) -> int:
        """Matches of all processes."""
        return sum(stream.matches for stream in self._streams.values())

    def run(self) -> int:
        """Runs the command to its end; its exit code, as a shell gives it. Raises TraceError where
        it cannot be run, or, once it has ended, where a trace could not be written: that is nothing
        to the program."""
        with TemporaryDirectory(prefix="uopviz-streams-") as folder, _left_to_the_program():
            try:
                program = subprocess.Popen(self._command, env=tapped(os.environ, folder))
            except OSError as error:
                what = f"cannot run {self._command[0]}: {error.strerror}"
                raise TraceError(what, hint="give a program and its arguments") from error
            failed: TraceError | None = None
            try:
                code: int | None = None
                while code is None:
                    with suppress(subprocess.TimeoutExpired):
                        code = program.wait(_OFTEN)
                    try:
                        if failed is None:
                            self._look(Path(folder), whole=code is not None)
                    except TraceError as error:
                        failed = error
            except BaseException:
                _end(program)
                raise
            finally:
                with nullcontext() if failed is None else suppress(TraceError):
                    self._finish()
        if failed is not None:
            raise failed
        return code if code >= 0 else 128 - code

    def _look(self, folder: Path, whole: bool = False) -> None:
        """Takes what the streams hold that is new; of all, or as much as there is time for."""
        for path in sorted(folder.glob("*.jsonl")):
            if path.name not in self._streams:
                self._streams[path.name] = _Stream(path, self._opened)
            stream = self._streams[path.name]
            while stream.take() and whole:
                pass

    def _opened(self, head: Sequence[bytes]) -> StreamReader:
        """A trace for one more process; its first lines are `head`."""
        main = not any(stream.is_open for stream in self._streams.values())
        claim, _ = own_file(self._path, self._run, main)
        info: dict[str, object] = {
            "run": self._run,
            "process": process_info(main),
            "started": datetime.datetime.now().astimezone().isoformat(timespec="milliseconds"),
            "command": self._command,
            "cwd": os.getcwd(),
        }
        reader = StreamReader(TraceWriter(claim.path, info, claim=claim))
        for line in head:
            reader.take(line)
        if reader.compiler not in self.compilers:
            self.compilers.append(reader.compiler)
        if main and self._begun is not None:
            reader.writer.flush()
            self._begun(claim.path)
        return reader

    def _finish(self) -> None:
        for stream in self._streams.values():
            stream.finish()


class _Stream:
    """The stream of one process, read as it grows."""

    def __init__(self, path: Path, opened: Callable[[Sequence[bytes]], StreamReader]) -> None:
        self._file = path.open("rb")
        self._opened = opened
        self._rest = b""
        self._head: list[bytes] = []
        self._reader: StreamReader | None = None
        self._flushed = 0.0
        self.loaded = False
        """Whether the process has loaded a compiler that there is a tap for."""
        self.problems: list[str] = []
        """What it told to be wrong before it had a trace."""

    @property
    def is_open(self) -> bool:
        """Whether it has a trace."""
        return self._reader is not None

    @property
    def matches(self) -> int:
        """Matches so far."""
        return self._reader.matches if self._reader else 0

    def take(self) -> bool:
        """Takes some of what is new; whether there may be more."""
        data = self._file.read(_CHUNK)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE:
            self._rest = b""  # no event; its end will be none either
        for line in lines:
            self._line(line)
        if self._reader is not None and time.monotonic() - self._flushed > _FLUSH:
            self._reader.writer.flush()
            self._flushed = time.monotonic()
        return bool(data)

    def _line(self, line: bytes) -> None:
        if self._reader is not None:
            self._reader.take(line)
            return
        self._head.append(line)
        self.loaded = self.loaded or line.startswith(b'["compiler"')
        if line.startswith(b'["problem"'):
            with suppress(StreamError):
                self.problems.append(parse(line).text(1))
        if line and not line.startswith(_HEADS):
            self._reader = self._opened(self._head)
            self._head = []

    def finish(self) -> None:
        """The program has ended."""
        self._file.close()
        if self._reader is not None:
            self._reader.finish()
            self._reader.writer.close()
