"""What VIZ=1 does: records this program, and serves its page from a process of its own.

The page has its own process so that it never waits for the program, and outlives it. Standard
output is the program's: the address and whatever else there is to say goes to standard error.
"""

from __future__ import annotations

import atexit
import itertools
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePath
from types import TracebackType

from core.errors import TraceError
from core.helpers import VIZ
from viz.environment import (
    UOPVIZ_RUN,
    VIZ_CACHE_MB,
    VIZ_CAPTURE,
    VIZ_CAPTURE_MB,
    cache_folder,
    prune,
    trace_path,
    wished_port,
)
from viz.files.alive import family_run
from viz.recording.capture import wanted
from viz.recording.exceptions import OURS
from viz.recording.recorded import recorded
from viz.server.connections.listen import TOKEN, listen, new_token
from viz.terminal import say
from viz.trace import Recorder


def attach() -> None:
    """The entry point: called by core when VIZ is set. Never raises: what cannot be recorded runs
    unrecorded, with a warning."""
    if is_viewer(sys.orig_argv):
        return
    try:
        run = re.fullmatch(r"([0-9a-f]{1,64}):(.+)", os.environ.get(UOPVIZ_RUN, ""), re.DOTALL)
        if run is not None and Path(run[2]).exists():
            _recorder(Path(run[2]), run[1], main=False).start()
            return
        _start(trace_path(), serve=VIZ.value == 1)
    except TraceError as error:
        say(f"not recording: {error.what} ({error.where})")


@contextmanager
def record(path: str | Path, capture: str = "") -> Generator[Recorder]:
    """`with viz.record("t.viz"):` records a block. `capture`: the names of kernels whose values are
    kept, as in VIZ_CAPTURE. Raises TraceError where the file cannot be."""
    recorder = _recorder(Path(path).absolute(), capture=capture).start()
    try:
        yield recorder
    finally:
        recorder.close()


def _recorder(
    path: Path, run: str | None = None, *, main: bool = True, capture: str | None = None
) -> Recorder:
    """A recorder that captures what the environment says, or `capture`."""
    patterns = wanted(VIZ_CAPTURE.value if capture is None else capture)
    room = VIZ_CAPTURE_MB.value * 1_000_000
    return Recorder(path, run, main, capture=patterns, room=room)


def is_viewer(command: Sequence[str]) -> bool:
    """Whether a command line is that of the explorer itself, which is not recorded."""
    if any(PurePath(part).stem == "uopviz" for part in command[:2]):
        return True
    pairs = itertools.pairwise(command)
    return any(flag == "-m" and re.fullmatch(r"viz(\..*)?", name) for flag, name in pairs)


class Live:
    """The recording of this process and the process that serves it."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._pid = os.getpid()
        self._viewer: subprocess.Popen[bytes] | None = None
        self._stays = sys.stderr.isatty()
        self._address = ""

    def serve(self) -> None:
        """Starts the viewer and prints its address."""
        made, notice = listen(wished_port() or 0, or_next=True)
        if notice:
            say(notice)
        token, number = new_token(), int(made.getsockname()[1])
        with made:
            self._viewer = self._spawn(made, token)
        self._address = f"http://127.0.0.1:{number}/?token={token}"
        say(self._address)

    def finish(self) -> None:
        """At the end of the program: in a terminal the page stays until Ctrl-C."""
        if os.getpid() != self._pid:
            return  # a forked child; the recording and the viewer are its parent's
        self.recorder.close()
        path, lost = self.recorder.path, self.recorder.lost  # of what is lost it has told
        said = "" if lost else recorded(path, self.recorder.run)
        said = (
            f"recorded {said}; writing it took {self.recorder.seconds:.2f} s of processor time"
            if said
            else ""
        )
        opened = "" if lost else f"open it with: uopviz open {shlex.quote(str(path))}"
        for one in [] if lost or self.recorder.capture is None else self.recorder.capture.said():
            say(one)
        viewer = self._viewer
        if viewer is not None and self._stays and viewer.poll() is None:
            # the program may have its own handler, or have been started with Ctrl-C ignored
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with suppress(KeyboardInterrupt):
                if said:
                    say(said)
                    said = ""
                say(self._address)  # what the program has printed since may be long
                say("the program has ended; the page stays until Ctrl-C")
                viewer.wait()
        if viewer is not None:
            viewer.terminate()
            viewer.wait()
        if said or opened:
            say("; ".join(part for part in (said, opened) if part))

    def _spawn(self, made: socket.socket, token: str) -> subprocess.Popen[bytes]:
        # -P: the program's own folder may have a viz.py
        command = [sys.executable, "-P", "-m", "viz", "serve", str(self.recorder.path)]
        command += ["--live", "--fd", str(made.fileno()), "--parent", str(os.getpid())]
        if self._stays:
            command.append("--stay")
        kept = {k: v for k, v in os.environ.items() if k not in ("VIZ", "VIZ_TRACE", UOPVIZ_RUN)}
        paths = [str(Path(__file__).resolve().parents[1]), kept.get("PYTHONPATH", "")]
        kept["PYTHONPATH"] = os.pathsep.join(p for p in paths if p)
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=kept | {TOKEN: token},
            pass_fds=(made.fileno(),),
            start_new_session=True,  # Ctrl-C is for the program; `finish` ends the viewer
        )


def _start(path: Path, serve: bool) -> None:
    with suppress(TraceError):  # no folder for traces: VIZ_TRACE may have named a file
        prune(cache_folder(), VIZ_CACHE_MB.value * 1_000_000)
    family = family_run()
    recorder = _recorder(path, family)
    os.environ[UOPVIZ_RUN] = f"{recorder.run}:{path}"
    recorder.start()
    if recorder.path != path:  # a part of a run that another process shows
        if recorder.run != family:
            say(f"another program records to {path}; this one is shown with it, as a part of it")
        return
    live = Live(recorder)
    if serve:
        live.serve()
    atexit.register(live.finish)
    sys.excepthook = partial(_excepthook, sys.excepthook)


def _excepthook(
    other: Callable[..., object],
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
) -> None:
    """After Ctrl-C, one line that says where the program was, so that what is said of the trace can
    be seen; any other exception goes the usual way."""
    if not isinstance(error, KeyboardInterrupt):
        other(kind, error, trace)
        return
    frames = [(f.f_code.co_filename, line) for f, line in traceback.walk_tb(trace)]
    users = list(itertools.takewhile(lambda frame: not frame[0].startswith(OURS), frames))
    file, line = (users or frames or [("?", 0)])[-1]
    say(f"interrupted at {file}:{line}")
