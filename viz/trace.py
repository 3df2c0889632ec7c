"""`Recorder`: an observer of `core` that writes a trace while the program runs.

The program's threads append to logs (viz/recording/buffer.py), and do nothing else: an interrupt
(Ctrl-C) finds an event told or not told. All further work is done by a thread of the recorder,
which no interrupt reaches (viz/recording/worker.py). Where a thread ends a context, or a rewrite
outside of any, it waits until its events have become numbers of the trace: until then they keep
nodes alive, and with them buffers. Several times a second the file is written, so that a kill loses
less than half a second. An exception is written at once. A fork goes on in a file of its own. Where
the disk is full the recording ends with one warning. Never raises into the program.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import sqlite3
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.util import Finalize, register_after_fork
from pathlib import Path
from types import FrameType
from typing import Final

from core.capture.capturereport import KIND as STEP
from core.capture.capturereport import NUMBER
from core.errors import MalformedNodeError, TraceError
from core.uop.engine.errors import loop_of
from core.uop.engine.observe import MemoryChange, attach, detach
from core.uop.engine.visits import Visits
from core.uop.frames import caller_frame
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp
from viz.environment import absolute
from viz.files.alive import is_worker
from viz.format.schema import DECLINE, IDLE, MATCH, REBUILD
from viz.recording import forks
from viz.recording.buffer import Buffer, Open
from viz.recording.capture import Capture, Wanted
from viz.recording.exceptions import error_data
from viz.recording.reports import (
    Artifact,
    ContextBegin,
    ContextEnd,
    ContextRename,
    Gated,
    Kernel,
    Launch,
    Memory,
    Origins,
    RewriteBegin,
    RewriteEnd,
    StepValues,
    Unloadable,
    Values,
    Visited,
)
from viz.recording.runinfo import run_info
from viz.recording.transcribe import Entry, Transcriber
from viz.recording.worker import Worker
from viz.terminal import say
from viz.write.events.eventlog import BLOCK
from viz.write.ownfile import own_file
from viz.write.writer import TraceWriter

DUE: Final = 300_000_000
"""ns since the last flush began after which a thread of the program that ends a rewrite asks for
one and waits: two threads that take the interpreter from each other cost more, and a program that
gives it up often and briefly (it prints, or launches kernels) leaves nothing to the other one."""
LATEST: Final = 400_000_000
"""ns after which the recorder's thread flushes, where the program has not asked for it."""
HELD: Final = 2000
"""Events of a thread that may hold nodes while a context is open: those that have died otherwise
would have given back buffers of the device."""
_TELLING: Final = frozenset(("__enter__", "__exit__", "tell_each", "context_begin", "context_end"))
"""Functions between `Recorder` and the frame that a context is a block of."""
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
    not `user_lines`: no source file that an origin names is read. `capture`: the kernels
    and steps whose values are kept (viz/recording/capture.py), at most `room` bytes of
    all. Raises TraceError where the file cannot be made.
    """

    _made = False
    """Whether there is something to close."""

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
        self.path = self.main_path = absolute(path)
        """The file of this process, and that of the first process of its run."""
        self.lost = False
        """Whether the file had been removed or replaced when the recording ended."""
        self.stopped: TraceError | None = None
        """Why the recording ended before `close`."""
        self.seconds = 0.0
        """Processor time that this process has worked on its file, in its own threads and that of
        the recorder; without the moments in which events are noted."""
        self._child = is_worker()
        """A worker of multiprocessing, or forked: those of a pool are killed without notice."""
        self._idle = False
        """Nothing is open in this child, and all that it did is in its file, which says so."""
        self._closed = False
        self._flushed = _clock()
        self._writer: TraceWriter | None = None
        self._to: Transcriber | None = None
        self._threads: dict[int, tuple[weakref.ref[threading.Thread], Buffer]] = {}
        self._thread_numbers = itertools.count(1)
        self._forked = 0
        self._resumed: tuple[int, list[Entry]] = 0, []
        """The thread that forked, and what was open in it."""
        self._worker = Worker(self._guarded(self._flush), self._left)
        self._leaked: list[sqlite3.Connection] = []
        self.capture = Capture(capture, room, self._tell_values) if capture else None
        """What keeps values of kernels, where that was asked for."""
        self._made = True
        try:
            self._open(run, main, info, user_lines)
        except BaseException:
            self.close()
            raise

    def _open(
        self, run: str | None, main: bool, info: Mapping[str, object] | None, user_lines: bool
    ) -> None:
        """Makes the file. An interrupt that comes before the file has its writer leaves a claim
        that nobody holds, and so no claim."""
        claim, self.run = own_file(self.main_path, run, main)
        self.path = claim.path
        try:
            if info is None:
                info = run_info(self.run, self.path == self.main_path)
                if self._child:
                    info[IDLE] = self._idle = True
            self._writer = TraceWriter(self.path, info, claim=claim)
        except BaseException:
            claim.release()
            raise
        self._to = Transcriber(self._writer, user_lines)
        self._here = _Here(self._register)

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
        """Ends the recording; the file is complete. Calling it again does nothing, but for what an
        interrupt has left to do."""
        if not self._made:
            return
        try:
            self._detach()
            self._worker.do(self._guarded(self._finish))
        except BaseException:  # an interrupt, which is the program's: the file is finished first
            self._detach()
            self._worker.do(self._guarded(self._finish))
            raise
        finally:
            atexit.unregister(self.close)
            forks.told.discard(self)

    def flush(self) -> None:
        """Writes what has happened so far."""
        self._worker.do(self._guarded(self._flush))

    # what is observed: see core.uop.engine.observe.Observer

    def context_begin(self, name: str, kind: str, meta: Mapping[str, object]) -> None:
        """Records that a context begins; an idle recorder writes that at once."""
        part, frame = self._here.part, _block()
        depth = part.begins(frame)
        part.add(ContextBegin(depth, name, kind, dict(meta), _clock()))
        part.open.append(Open(frame, False))
        if self._idle:
            self.flush()

    def context_rename(self, name: str) -> None:
        """Records the final name of the innermost context."""
        self._here.part.add(ContextRename(name))

    def context_end(self, error: BaseException | None) -> None:
        """Records the end of the innermost context of the calling frame."""
        self._end_context(self._here.part.ends(_block(), False), error)

    def _end_context(self, depth: int, error: BaseException | None) -> None:
        part = self._here.part
        if depth >= 0:
            data = None if error is None else error_data(error)
            part.add(ContextEnd(depth, data, _clock()))
            del part.open[depth:]
        self._ended(part, error, True)

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        """Records that a rewrite begins, whether inside of another one or not."""
        part, frame = self._here.part, _block()
        depth = part.begins(frame)
        inside = depth > 0 and part.open[-1].is_rewrite
        part.add(RewriteBegin(sink, depth, inside, name, matcher, bottom_up, caller, _clock()))
        part.open.append(Open(frame, True))
        if self._idle:
            self.flush()

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """Appends one row: this runs for every match, and must cost little."""
        log = self._here.part.log
        log += (MATCH, after, before, rule, ns, binds)

    def rebuild(self, old: UOp, new: UOp) -> None:
        """Appends one row, as `match`."""
        log = self._here.part.log
        log += (REBUILD, new, old, None, 0, None)

    def decline(self, rule: Rule, node: UOp) -> None:
        """Appends one row, as `match`."""
        log = self._here.part.log
        log += (DECLINE, None, node, rule, 0, None)

    def visited(self, name: str, visits: Visits) -> None:
        """Records which nodes the innermost rewrite offered to a matcher."""
        self._here.part.add(Visited(name, visits))

    def gated(self, nodes: Sequence[UOp]) -> None:
        """Records which nodes a rewrite kept as they were."""
        self._here.part.add(Gated(nodes))

    def rewrite_end(
        self,
        result: UOp | None,
        error: BaseException | None,
        rule: Rule | None,
        node: UOp | None,
    ) -> None:
        """Records the end of the innermost rewrite, and of all that were begun inside of it."""
        part = self._here.part
        depth, at = part.ends(_block(), True), _clock()
        if depth >= 0:
            data = None if error is None else {**error_data(error), "loop": loop_of(error)}
            part.add(RewriteEnd(result, depth, data, rule, node, at))
            del part.open[depth:]
        self._ended(part, error, part.idle)

    def artifact(
        self,
        kind: str,
        target: str,
        text: str,
        lines: Sequence[Sequence[UOp]],
        facts: Mapping[str, str],
    ) -> None:
        """Records a text, with the nodes behind each of its lines."""
        if kind == STEP and self.capture is not None:
            self.capture.steps.know(int(facts[NUMBER]))
        counts, nodes = list(map(len, lines)), [u for line in lines for u in line]
        self._here.part.add(Artifact(kind, target, text, counts, nodes, facts))

    def linear(self, target: str, uops: Sequence[UOp]) -> None:
        """Records a linear program. The line above the nodes has none of them."""
        self._here.part.add(Artifact("linear", target, None, [0] + [1] * len(uops), uops, {}))

    def kernel(self, ast: UOp, program: object) -> None:
        """Records a finished program; its inputs are captured where that was asked for."""
        self._here.part.add(Kernel(ast, program))
        if self.capture is not None:
            self.capture.know(ast)

    def unloadable(self, ast: UOp, error: BaseException) -> None:
        """Records that a program cannot be loaded, and writes it at once."""
        self._here.part.add(Unloadable(ast, error_data(error), _clock()))
        self.flush()

    def origins(self, ast: UOp, lines: Mapping[UOp, str]) -> None:
        """See Observer."""
        self._here.part.add(Origins(ast, lines))

    def launch(self, name: str, device: str, ns: int, start_ns: int, bytes_: int) -> None:
        """See Observer."""
        part = self._here.part
        part.add(Launch(name, device, ns, start_ns, bytes_))
        if self._child and part.idle:
            self.flush()

    def memory(self, change: MemoryChange) -> None:
        """See Observer."""
        self._here.part.add(Memory(change, _clock()))

    def _tell_values(self, values: Values | StepValues) -> None:
        """What a kernel is about to read, or the memory of a step around a replay."""
        self._here.part.add(values)

    def _detach(self) -> None:
        """Watches nothing any more."""
        detach(self)
        if self.capture is not None:
            self.capture.stop()

    # on the recorder's thread

    def _ended(self, part: Buffer, error: BaseException | None, outermost: bool) -> None:
        """A context or rewrite of the calling thread has ended."""
        late = _clock() - self._flushed > DUE
        if error is not None or late or (self._child and part.idle):
            self.flush()
        elif outermost or part.count > HELD:
            self._worker.do(self._guarded(partial(self._transcribe, part)))

    def _guarded(self, work: Callable[[], None]) -> Callable[[], None]:
        """Work on the trace that never raises, is left undone where the recording has ended, and
        whose failure ends it."""

        def guarded() -> None:
            if self._closed:
                return
            begun = time.thread_time_ns()
            try:
                work()
            except TraceError as error:
                self._stop(error)
            except BaseException as error:  # a mistake of ours is none of the program
                self._stop(_mistake(error))
            self.seconds += (time.thread_time_ns() - begun) / 1e9

        return guarded

    def _register(self) -> Buffer:
        """Called once by each thread that records, through `_Here`."""
        part = Buffer(next(self._thread_numbers))
        self._threads[part.thread] = weakref.ref(threading.current_thread()), part
        if not self._closed:
            self._worker.begin()
        return part

    def _left(self) -> float | None:
        """Seconds until a flush is due; None: never more."""
        return None if self._closed else max(0, self._flushed + LATEST - _clock()) / 1e9

    def _finish(self) -> None:
        self._flush()
        if self._writer is not None:
            self.lost = self._writer.lost
            self._writer.close()
            if self.lost:
                say(f"the trace is gone: {self.path} was removed or replaced during the run")
        self._closed = True
        self._writer = self._to = None

    def _flush(self) -> None:
        self._flushed = _clock()
        for number, (thread, part) in list(self._threads.items()):
            if part.log:
                self._transcribe(part)
            elif (owner := thread()) is None or not owner.is_alive():
                del self._threads[number]
                if self._to is not None:
                    self._to.forget(number)
        if self._writer is not None and self._to is not None:
            self._to.tell_visits()
            self._to.tell_user_lines()
            if self._child:
                self._tell_idle(self._writer)
            self._writer.flush()

    def _tell_idle(self, writer: TraceWriter) -> None:
        """Says in the file whether this child may be killed without any loss."""
        before, self._idle = self._idle, True  # first: who begins something looks at it afterwards
        parts = [part for _, part in self._threads.values()]
        self._idle = all(part.idle and not part.log for part in parts)
        if self._idle is not before:
            writer.meta(IDLE, self._idle)

    def _transcribe(self, part: Buffer) -> None:
        if self._writer is None or self._to is None:  # the first events of a forked child
            claim, _ = own_file(self.main_path, self.run, False)
            self.path = claim.path
            info = run_info(self.run, False, ago=(_clock() - self._forked) / 1e9)
            self._writer = TraceWriter(self.path, info, self._forked, claim)
            self._to = Transcriber(self._writer)
            self._to.resume(*self._resumed)
            self._idle = False
        for _ in range(0, part.count, BLOCK):
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
        """No work may be half way through when the process is copied."""
        self.flush()
        self._worker.hold()

    def after_fork_in_parent(self) -> None:
        """Ends `before_fork`."""
        self._worker.release()

    def after_fork_in_child(self) -> None:
        """The parent's file is the parent's: this process begins one of its own when it has
        something to write. The parent's connection must never be closed here, not even at exit."""
        if self._writer is not None:
            connection = self._writer.abandon()
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
            self._leaked.append(connection)
        before = self._here.part
        resumed = self._resumed[1] if self._to is None else self._to.open_entries(before.thread)
        self._child = self._idle = True  # there is no file: whatever begins makes it
        self._forked = _clock()
        self._writer = self._to = None
        self._worker = Worker(self._guarded(self._flush), self._left)
        self._threads.clear()
        self._here = _Here(self._register)  # what has been told is in the parent's file
        self._here.part.inherit(before)
        self._resumed = self._here.part.thread, resumed
        if self.capture is not None:
            self.capture.forget()

    def _finalize_as_worker(self) -> None:
        """Workers of multiprocessing leave without running atexit. Those of a pool are killed: the
        file says already that it is whole. No handler of SIGTERM: Python would run it only once the
        worker leaves what it waits for, which may be never."""
        Finalize(self, Recorder.close, args=(self,), exitpriority=0)


def _block() -> FrameType:
    """The frame of the block that a context or rewrite is; called by the method that records it."""
    frame = caller_frame(1)
    while frame.f_code.co_name in _TELLING and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _mistake(error: BaseException) -> TraceError:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return TraceError(
        f"the recorder failed ({type(error).__name__}: {error})",
        where=f"{place.filename}:{place.lineno}",
    )


def _warn(error: TraceError) -> None:
    hint = f"; {error.hint}" if error.hint else ""
    say(f"recording stopped. {error.what} ({error.where}){hint}")
