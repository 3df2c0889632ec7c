"""`Recorder`: an observer of `core` that writes a trace while the program runs.

The program's threads append to lists (viz/recording/buffer.py). Where a thread ends a context, or a
rewrite outside of any, it turns these into the numbers of the trace: until then they keep nodes
alive, and with them buffers. Several times a second a thread of the program, or a background thread
where they are busy, writes the file, so that a kill loses less than half a second. An exception is
written at once. A fork goes on in a file of its own. Where the disk is full the recording ends with
one warning. Never raises into the program."""

from __future__ import annotations

import atexit
import ctypes
import sqlite3
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.util import Finalize, register_after_fork
from pathlib import Path
from typing import Final

from core.errors import MalformedNodeError, TraceError
from core.uop.matcher import PatternMatcher
from core.uop.observe import attach, detach
from core.uop.rewrite_errors import loop_of
from core.uop.rule import Rule
from core.uop.uop import UOp
from core.uop.visits import Visits
from viz.files.alive import is_worker
from viz.format.schema import DECLINE, MATCH, REBUILD
from viz.recording import forks
from viz.recording.buffer import Buffer
from viz.recording.capture import Capture, Wanted
from viz.recording.exceptions import error_data
from viz.recording.ownfile import own_file
from viz.recording.reports import (
    Artifact,
    ContextBegin,
    ContextEnd,
    ContextRename,
    Gated,
    Kernel,
    Launch,
    Memory,
    RewriteBegin,
    RewriteEmpty,
    RewriteEnd,
    Values,
    Visited,
)
from viz.recording.runinfo import run_info
from viz.recording.transcribe import Entry, Transcriber
from viz.terminal import say
from viz.write.eventlog import BLOCK
from viz.write.numbering import LOCK
from viz.write.writer import TraceWriter

DUE: Final = 300_000_000
"""ns since the last flush began after which a thread of the program that ends a rewrite flushes:
two threads that take the interpreter from each other cost more, and a program that gives it up
often and briefly (it prints, or launches kernels) leaves nothing to the other one."""
LATEST: Final = 400_000_000
"""ns after which the background thread flushes, where the program has not."""
HELD: Final = 2000
"""Events of a thread that may hold nodes while a context is open: those that have died otherwise
would have given back buffers of the device."""
_clock = time.perf_counter_ns


class _Here(threading.local):
    """The calling thread's part."""

    def __init__(self, register: Callable[[], Buffer]) -> None:
        self.part = register()


class Recorder:
    """Records everything that begins after `start` into the file `path`, until `close`; or, where
    another process writes that, into a file of its own beside it, as a part of its run.

    `run` names the run; not `main`: `path` is that of its first process, and this one writes a file
    that belongs to it. `info`: values for schema.META in place of what is known of this process;
    not `user_lines`: no source file that an origin names is read. `capture`: the kernels whose
    values are kept (viz/recording/capture.py), at most `room` bytes of all. Raises TraceError where
    the file cannot be made.
    """

    def __init__(
        self,
        path: str | Path,
        run: str | None = None,
        main: bool = True,
        info: Mapping[str, object] | None = None,
        user_lines: bool = True,
        capture: Sequence[Wanted] = (),
        room: int = 0,
    ) -> None:
        path = Path(path).absolute()
        claim, self.run = own_file(path, run, main)
        self.path, self.main_path = claim.path, path
        """The file of this process, and that of the first process of its run."""
        self.lost = False
        """Whether the file had been removed or replaced when the recording ended."""
        self.stopped: TraceError | None = None
        """Why the recording ended before `close`."""
        self.seconds = 0.0
        """Processor time that this process has worked on its file, in its own threads and that of
        the recorder; without the moments in which events are noted."""
        if info is None:
            info = run_info(self.run, claim.path == path)
        self._child = is_worker()
        self._lock = threading.RLock()
        self._busy = self._closed = False
        self._flushed = _clock()
        self._writer: TraceWriter | None = TraceWriter(claim.path, info, claim=claim)
        self._to: Transcriber | None = Transcriber(self._writer, user_lines)
        self._threads: dict[int, tuple[weakref.ref[threading.Thread], Buffer]] = {}
        self._last_thread = 0
        self._forked = 0
        self._resumed: list[Entry] = []
        self._wake = threading.Event()
        self._flusher: threading.Thread | None = None
        self._leaked: list[sqlite3.Connection] = []
        self._here = _Here(self._register)
        self.capture = Capture(capture, room, self._tell_values) if capture else None
        """What keeps values of kernels, where that was asked for."""

    def start(self) -> Recorder:
        """Begins to record."""
        forks.told.add(self)
        atexit.register(self.close)
        register_after_fork(self, Recorder._finalize_as_worker)
        if self._child:
            self._finalize_as_worker()
        attach(self)
        if self.capture is not None:
            self.capture.start()
        return self

    def close(self) -> None:
        """Ends the recording; the file is complete. Calling it again does nothing."""
        self._detach()
        atexit.unregister(self.close)
        forks.told.discard(self)
        self._wake.set()
        with self._lock:
            if self._closed:
                return
            self.flush()
            if self._writer is not None:
                self.lost = self._writer.lost
                self._work(self._writer.close, wait=True)
                if self.lost:
                    say(f"the trace is gone: {self.path} was removed or replaced during the run")
            self._closed = True
            self._writer = self._to = None

    def flush(self) -> None:
        """Writes what has happened so far."""
        self._work(self._flush, wait=True)

    # what is observed: see core.uop.observe.Observer

    def context_begin(self, name: str, kind: str, meta: Mapping[str, object]) -> None:
        """See Observer; so for all methods below."""
        part = self._settled()
        part.open.append(False)
        part.add(ContextBegin(name, kind, dict(meta), _clock()))

    def context_rename(self, name: str) -> None:
        """See Observer."""
        self._settled().add(ContextRename(name))

    def context_end(self, error: BaseException | None) -> None:
        """See Observer."""
        part = self._settled()
        data = None if error is None else error_data(error)
        part.add(ContextEnd(data, _clock()))
        while part.open and part.open.pop():  # rewrites that an interrupt (Ctrl-C) ended unseen
            pass
        self._ended(part, error, True)

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        """See Observer."""
        part = self._here.part
        part.begun.append(RewriteBegin(sink, name, matcher, bottom_up, caller, _clock()))
        if not (part.open and part.open[-1]):
            part.settle()
        part.open.append(True)

    # Three that are called more often than all others together. They add what an event has before
    # its code, and call nothing in between: see viz/recording/buffer.py.

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """See Observer."""
        part = self._here.part
        if part.begun:
            part.settle()
        part.matches += (rule, before, after, ns, binds)
        part.codes.append(MATCH)

    def rebuild(self, old: UOp, new: UOp) -> None:
        """See Observer."""
        part = self._here.part
        if part.begun:
            part.settle()
        part.rebuilds += (old, new)
        part.codes.append(REBUILD)

    def decline(self, rule: Rule, node: UOp) -> None:
        """See Observer."""
        part = self._here.part
        if part.begun:
            part.settle()
        part.declines += (rule, node)
        part.codes.append(DECLINE)

    def visited(self, name: str, visits: Visits) -> None:
        """See Observer."""
        part = self._here.part
        part.add(Visited(name, visits, not part.begun))

    def gated(self, nodes: Sequence[UOp]) -> None:
        """See Observer."""
        part = self._here.part
        if not part.begun:  # it changed something, or is outside of any other
            part.add(Gated(nodes))

    def rewrite_end(
        self,
        result: UOp | None,
        error: BaseException | None,
        rule: Rule | None,
        node: UOp | None,
    ) -> None:
        """See Observer."""
        part, at = self._here.part, _clock()
        if part.open:
            part.open.pop()
        if part.begun and error is None:
            part.begun.pop()
            part.settle()
            part.add(RewriteEmpty())
            return
        part.settle()
        inside = bool(part.open) and part.open[-1]
        data = None if error is None else {**error_data(error), "loop": loop_of(error)}
        part.add(RewriteEnd(result, inside, data, rule, node, at))
        self._ended(part, error, not part.open)

    def artifact(
        self,
        kind: str,
        target: str,
        text: str,
        lines: Sequence[Sequence[UOp]],
        facts: Mapping[str, str],
    ) -> None:
        """See Observer."""
        counts, nodes = list(map(len, lines)), [u for line in lines for u in line]
        self._settled().add(Artifact(kind, target, text, counts, nodes, facts))

    def linear(self, target: str, uops: Sequence[UOp]) -> None:
        """See Observer. The line above the nodes has none of them."""
        self._settled().add(Artifact("linear", target, None, [0] + [1] * len(uops), uops, {}))

    def kernel(self, ast: UOp, program: object) -> None:
        """See Observer."""
        self._settled().add(Kernel(ast, program))
        if self.capture is not None:
            self.capture.know(ast)

    def launch(self, name: str, device: str, ns: int, start_ns: int, bytes_: int) -> None:
        """See Observer."""
        self._here.part.add(Launch(name, device, ns, start_ns, bytes_))

    def memory(self, device: str, allocated: int) -> None:
        """See Observer."""
        self._here.part.add(Memory(device, allocated, _clock()))

    def _tell_values(self, values: Values) -> None:
        """What a kernel is about to read."""
        self._here.part.add(values)

    def _detach(self) -> None:
        """Watches nothing any more."""
        detach(self)
        if self.capture is not None:
            self.capture.stop()

    def _settled(self) -> Buffer:
        """The calling thread's buffer, all that began in it written down."""
        part = self._here.part
        part.settle()
        return part

    # flushing

    def _ended(self, part: Buffer, error: BaseException | None, outermost: bool) -> None:
        """A context or rewrite of the calling thread has ended."""
        late = _clock() - self._flushed > DUE
        # workers of a pool are killed without notice once the last task is done
        if error is not None or late or (self._child and not part.open):
            self.flush()
        elif outermost or len(part.codes) > HELD:
            self._work(lambda: self._transcribe(part), wait=False)

    def _work(self, work: Callable[[], None], wait: bool) -> None:
        """Works on the trace, unless that is being done, by this thread or (without `wait`) by
        another."""
        if not self._lock.acquire(blocking=wait):
            return
        try:
            if self._busy or self._closed:
                return
            self._busy, begun = True, time.thread_time_ns()
            try:
                work()
            except TraceError as error:
                self._stop(error)
            except Exception as error:  # a mistake of ours is none of the program
                self._stop(_mistake(error))
            finally:
                self._busy = False
                self.seconds += (time.thread_time_ns() - begun) / 1e9
        finally:
            self._lock.release()

    def _register(self) -> Buffer:
        """Called once by each thread that records, through `_Here`."""
        with self._lock:
            self._last_thread += 1
            part = Buffer(self._last_thread)
            self._threads[part.thread] = weakref.ref(threading.current_thread()), part
            if self._flusher is None and not self._closed:
                self._flusher = threading.Thread(
                    target=self._flush_often, name="uopviz recorder", daemon=True
                )
                self._flusher.start()
            return part

    def _flush_often(self) -> None:
        while not self._closed:
            left = self._flushed + LATEST - _clock()
            if left > 0:
                self._wake.wait(left / 1e9)
                self._wake.clear()
            else:
                self.flush()

    def _flush(self) -> None:
        self._flushed = _clock()
        for number, (thread, part) in list(self._threads.items()):
            if part.codes:
                self._transcribe(part)
            elif (owner := thread()) is None or not owner.is_alive():
                del self._threads[number]
                if self._to is not None:
                    self._to.forget(number)
        if self._writer is not None and self._to is not None:
            self._to.tell_visits()
            self._to.tell_user_lines()
            self._writer.flush()

    def _transcribe(self, part: Buffer) -> None:
        if self._writer is None or self._to is None:  # the first events of a forked child
            claim, _ = own_file(self.main_path, self.run, False)
            self.path = claim.path
            info = run_info(self.run, False, ago=(_clock() - self._forked) / 1e9)
            self._writer = TraceWriter(self.path, info, self._forked, claim)
            self._to = Transcriber(self._writer)
            self._to.resume(part.thread, self._resumed)
        for _ in range(0, len(part.codes), BLOCK):
            self._to.run(part.thread, part.take(BLOCK))

    def _stop(self, error: TraceError) -> None:
        """Recording is no longer possible; the program goes on."""
        self._detach()
        self._closed, self.stopped = True, error
        if self._writer is not None:
            self.lost = self._writer.lost
            if isinstance(error, MalformedNodeError):  # what came before it is of interest
                with suppress(TraceError):
                    self._writer.flush()
            self._writer.stopped(error.what)
            self._writer = self._to = None
        for _, part in self._threads.values():
            part.clear()
        _warn(error)

    # fork

    def before_fork(self) -> None:
        """No flush may be half way through when the process is copied."""
        self._lock.acquire()
        self.flush()
        LOCK.acquire()

    def after_fork_in_parent(self) -> None:
        """Ends `before_fork`."""
        LOCK.release()
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """The parent's file is the parent's: this process begins one of its own when it has
        something to write. The parent's connection must never be closed here, not even at exit."""
        LOCK.release()
        if self._writer is not None:
            connection = self._writer.abandon()
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
            self._leaked.append(connection)
        thread = self._here.part.thread
        self._resumed = self._to.open_entries(thread) if self._to is not None else self._resumed
        self._child = True
        self._forked = _clock()
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._flusher = self._writer = self._to = None
        self._threads.clear()
        self._here = _Here(self._register)  # what was open is the parent's
        if self.capture is not None:
            self.capture.forget()

    def _finalize_as_worker(self) -> None:
        """Workers of multiprocessing leave without running atexit."""
        Finalize(self, Recorder.close, args=(self,), exitpriority=0)


def _mistake(error: Exception) -> TraceError:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return TraceError(
        f"the recorder failed ({type(error).__name__}: {error})",
        where=f"{place.filename}:{place.lineno}",
    )


def _warn(error: TraceError) -> None:
    hint = f"; {error.hint}" if error.hint else ""
    say(f"recording stopped. {error.what} ({error.where}){hint}")
