"""What VIZ=1 does: records this program, and starts the viewer of its page.

Standard output is the program's: the address and whatever else there is to say goes to standard
error.
"""

from __future__ import annotations

import atexit
import itertools
import os
import re
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePath
from types import TracebackType
from typing import TypedDict

from core.errors import EnvError, TraceError
from core.helpers import VIZ
from viz.environment import absolute, cache_folder, prune, trace_path, wished_port
from viz.files.alive import family_run
from viz.recording.capture import Wanted, wanted
from viz.recording.exceptions import OURS
from viz.recording.recorded import recorded
from viz.settings import UOPVIZ_RUN, VIZ_CACHE_MB, VIZ_CAPTURE, VIZ_CAPTURE_MB
from viz.terminal import say, shell_word
from viz.trace import Recorder
from viz.viewer import Viewer


def attach() -> None:
    """The entry point: called by core when VIZ is set. What cannot be recorded runs unrecorded,
    with one line that says why, whatever it is that fails. Raises EnvError alone: a setting that is
    wrong ends the program, whatever reads it."""
    with _unharmed("not recording"):
        if is_viewer(sys.orig_argv):
            return
        run = re.fullmatch(r"([0-9a-f]{1,64}):(.+)", os.environ.get(UOPVIZ_RUN, ""), re.DOTALL)
        if run is not None and Path(run[2]).exists():
            _recorder(Path(run[2]), run[1], main=False).start()
        else:
            _start(trace_path(), serve=VIZ.value == 1)


@contextmanager
def _unharmed(what: str) -> Generator[None]:
    """Says why a block failed, and lets the program go on."""
    try:
        yield
    except EnvError:
        raise
    except TraceError as error:
        where = f" ({error.where})" if error.where else ""
        say(f"{what}: {error.what}{where}")
    except Exception as error:
        said = traceback.format_exception_only(error)[-1].strip()  # also where its text fails
        say(f"{what}: {said}")


@contextmanager
def record(path: str | Path, capture: str = "") -> Generator[Recorder]:
    """`with viz.record("t.viz"):` records a block. `capture`: the names of kernels and captured
    steps whose values are kept, as in VIZ_CAPTURE. Raises TraceError where the file cannot be."""
    recorder = Recorder.__new__(Recorder)  # its owner before it has the file: interrupts
    try:
        try:
            recorder.__init__(absolute(path), **_captured(capture))
            yield recorder.start()
        finally:
            recorder.close()
    finally:  # an interrupt came before it was closed
        recorder.close()


class _Captured(TypedDict):
    """What a recorder captures."""

    capture: Sequence[Wanted]
    room: int


def _captured(capture: str) -> _Captured:
    return {"capture": wanted(capture), "room": VIZ_CAPTURE_MB.value * 1_000_000}


def _recorder(path: Path, run: str | None = None, *, main: bool = True) -> Recorder:
    """A recorder that captures what the environment says."""
    return Recorder(path, run, main, **_captured(VIZ_CAPTURE.value))


def is_viewer(command: Sequence[str]) -> bool:
    """Whether a command line is that of the explorer itself, which is not recorded."""
    if any(PurePath(part).stem == "uopviz" for part in command[:2]):
        return True
    pairs = itertools.pairwise(command)
    return any(flag == "-m" and re.fullmatch(r"viz(\..*)?", name) for flag, name in pairs)


class Live:
    """The recording of this process and the viewer of its page."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._pid = os.getpid()
        self._viewer: Viewer | None = None

    def serve(self) -> None:
        """Starts the viewer and prints its address."""
        self._viewer = Viewer(self.recorder.path)
        say(self._viewer.address)

    def finish(self) -> None:
        """At the end of the program: the trace is closed, and the page goes on without it."""
        if os.getpid() != self._pid:
            return  # a forked child; the recording and the viewer are its parent's
        with _unharmed("the end of the recording"):
            self._finish()

    def _finish(self) -> None:
        self.recorder.close()
        path, lost = self.recorder.path, self.recorder.lost  # of what is lost it has told
        for one in [] if lost or self.recorder.capture is None else self.recorder.capture.said():
            say(one)
        said = "" if lost else recorded(path, self.recorder.run)
        if said:
            said = f"recorded {said}; writing it took {self.recorder.seconds:.2f} s of "
            said += "processor time; "
        if not lost:
            say(f"{said}open it with: uopviz open {shell_word(str(path))}")
        if self._viewer is not None and (page := self._viewer.leave()):
            say(page)


def _start(path: Path, serve: bool) -> None:
    if serve:
        wished_port()  # a port that is none ends the program before it leaves a trace
    with suppress(TraceError, OSError):  # no folder for traces: VIZ_TRACE may have named a file
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
    atexit.register(live.finish)
    sys.excepthook = partial(_excepthook, sys.excepthook)
    if serve:
        with _unharmed("the page is not served"):
            live.serve()


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
