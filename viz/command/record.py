"""`uopviz record`: runs a program of another compiler, and records its rewriting."""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path, PurePath
from typing import Final

from core.errors import TraceError
from viz.environment import absolute, cache_folder, wished_port
from viz.files.regular import check_ending
from viz.format.schema import SUFFIX
from viz.streams.recording import ProgramRecording
from viz.terminal import say, shell_word
from viz.viewer import Viewer

KNOWN: Final = "tinygrad 0.11 and newer, torch.compile, FX passes, xDSL, ONNX Script and TVM"


def record(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TraceError where nothing could be recorded."""
    command: list[str] = options.command
    if command[:1] == ["--"]:
        del command[0]
    if not command:
        options.error("give the program to record and its arguments, such as: python train.py")
    if options.output is not None:
        check_ending(Path(options.output), "a trace", SUFFIX)
    path = absolute(options.output) if options.output else _in_cache(command)
    page = _Page() if options.serve else None
    recording = ProgramRecording(command, path, page and page.show)
    try:
        code = recording.run()
    finally:
        left = page.leave() if page else ""
    if not recording.compilers:
        what = f"nothing was recorded: {recording.why_nothing}"
        hint = f"uopviz record knows {KNOWN}, in Python that is not started with -I, -E or -S"
        raise TraceError(what, " ".join(command), hint)
    matches = recording.matches
    counted = "1 match" if matches == 1 else f"{matches:,} matches"
    say(f"{path}: {counted} of {', '.join(recording.compilers)}")
    say(left or f"show it with: uopviz open {shell_word(str(path))}", style="hint")
    return code


class _Page:
    """The page of the run, which stays when the program has ended."""

    def __init__(self) -> None:
        self._viewer: Viewer | None = None
        wished_port()  # one that is none ends the command before it runs the program

    def show(self, path: Path) -> None:
        """Serves a trace that has begun. Where that fails, the program runs on and is recorded."""
        try:
            self._viewer = Viewer(path)
        except (TraceError, OSError) as error:
            say(f"the page is not served: {error}", style="problem")
        else:
            say(self._viewer.address)

    def leave(self) -> str:
        """What becomes of it, in a sentence; "" where there is none."""
        return self._viewer.leave() if self._viewer else ""


def _in_cache(command: list[str]) -> Path:
    """A new file in the cache, named for the program."""
    script = next((word for word in command[1:] if not word.startswith("-")), command[0])
    stem = re.sub(r"[^\w.-]", "_", PurePath(script).stem)[:60]
    return cache_folder() / f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}{SUFFIX}"
