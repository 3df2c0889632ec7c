"""`Recorder`: an observer of `core` that writes a trace while the program runs.

The program's threads number the nodes they tell of and append to lists. Several times a second one
of them, or a background thread where they are busy, turns these into the trace, so that a kill
loses less than half a second. An exception is written at once. A fork goes on in a file of its own.
Where the disk is full the recording ends with one warning. Never raises into the program, and keeps
no node of it alive: that alone would cost as much as the recording, in garbage collection.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sqlite3
import sys
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.util import Finalize, register_after_fork
from pathlib import Path
from typing import Any, Final, cast

from core.errors import TraceError
from core.uop.matcher import PatternMatcher
from core.uop.observe import attach, detach
from core.uop.rule import Rule
from core.uop.uop import UOp
from core.uop.visits import Visits
from viz import transcribe as code
from viz.intern import Interner
from viz.numbering import LOCK, Numbering
from viz.runinfo import child_path, run_info
from viz.transcribe import DECLINE, MATCH, REBUILD, Entry, Transcriber, error_data
from viz.writer import TraceWriter

DUE: Final = 300_000_000
"""ns since the last flush began after which a thread of the program that ends a rewrite flushes:
two threads that take the interpreter from each other cost more, and a program that gives it up
often and briefly (it prints, or launches kernels) leaves nothing to the other one."""
LATEST: Final = 400_000_000
"""ns after which the background thread flushes, where the program has not."""
SLICE: Final = 300_000
"""Items of a thread's buffer after which the thread itself flushes: bounds memory."""
_clock = time.perf_counter_ns


class _Part:
    """What belongs to one thread."""

    __slots__ = ("begun", "events", "open", "thread")

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.events: list[Any] = []
        self.open: list[bool] = []
        """What is open, outermost first: whether it is a rewrite."""
        self.begun: list[tuple[Any, ...]] = []
        """Rewrites inside others in which nothing has happened yet. Most end so: their graphs are
        neither numbered nor written."""


class _Here(threading.local):
    """The calling thread's part."""

    def __init__(self, register: Callable[[], _Part]) -> None:
        self.part = register()


class Recorder:
    """Records everything that begins after `start` into the file `path`, until `close`.

    `main`: this process is the run's first; others write files that belong to it. Raises TraceError
    where the file cannot be made.
    """

    def __init__(self, path: Path, run: str | None = None, main: bool = True) -> None:
        info = run_info(run, main)
        self.path = path
        self.run = str(info["run"])
        self._main_path = path
        self._child = False
        self._lock = threading.RLock()
        self._busy = self._closed = False
        self._flushed = _clock()
        self._numbering = Numbering()
        self._number = Interner(self._numbering)
        self._writer: TraceWriter | None = TraceWriter(path, info, self._numbering)
        self._to: Transcriber | None = Transcriber(self._writer)
        self._threads: dict[int, tuple[weakref.ref[threading.Thread], _Part]] = {}
        self._last_thread = 0
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        """One tuple of bound names for all matches that have these, for the collector's sake."""
        self._resumed: list[Entry] = []
        self._wake = threading.Event()
        self._flusher: threading.Thread | None = None
        self._leaked: list[sqlite3.Connection] = []
        self._here = _Here(self._register)

    def start(self) -> Recorder:
        """Begins to record."""
        _recorders.add(self)
        atexit.register(self.close)
        register_after_fork(self, Recorder._finalize_in_child)
        attach(self)
        return self

    def close(self) -> None:
        """Ends the recording; the file is complete. Calling it again does nothing."""
        detach(self)
        atexit.unregister(self.close)
        _recorders.discard(self)
        self._wake.set()
        with self._lock:
            if self._closed:
                return
            self.flush()
            self._closed = True
            if self._writer is not None:
                try:
                    self._writer.close()
                except TraceError as error:
                    _warn(error)
            self._writer = self._to = None

    def flush(self) -> None:
        """Writes what has happened so far."""
        with self._lock:
            if self._busy or self._closed:
                return
            self._busy = True
            try:
                self._flush()
            except TraceError as error:
                self._stop(error)
            finally:
                self._busy = False

    # what is observed: see core.uop.observe.Observer

    def context_begin(self, name: str, kind: str, meta: Mapping[str, object]) -> None:
        """See Observer; so for all methods below."""
        part = self._settled()
        part.open.append(False)
        part.events.extend((code.CONTEXT_BEGIN, name, kind, dict(meta), _clock()))

    def context_rename(self, name: str) -> None:
        """See Observer."""
        self._settled().events.extend((code.CONTEXT_RENAME, name))

    def context_end(self, error: BaseException | None) -> None:
        """See Observer."""
        part = self._settled()
        data = None if error is None else error_data(error)
        part.events.extend((code.CONTEXT_END, data, _clock()))
        if part.open:
            part.open.pop()
        self._ended(part, error)

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        """See Observer."""
        part = self._here.part
        part.begun.append((name, sink, matcher, bottom_up, caller, _clock()))
        if not (part.open and part.open[-1]):
            self._settle(part)
        part.open.append(True)

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        """See Observer."""
        part, number = self._here.part, self._number
        if part.begun:
            self._settle(part)
        old = number(before)
        names = tuple(binds)
        names = self._names.setdefault(names, names)
        nodes = [old - number(cast("UOp", v)) for v in binds.values()]
        part.events.extend((MATCH, rule, old, number(after), ns, names, *nodes))

    def rebuild(self, old: UOp, new: UOp) -> None:
        """See Observer."""
        part, number = self._here.part, self._number
        if part.begun:
            self._settle(part)
        part.events.extend((REBUILD, number(old), number(new)))

    def decline(self, rule: Rule, node: UOp) -> None:
        """See Observer."""
        part = self._here.part
        if part.begun:
            self._settle(part)
        part.events.extend((DECLINE, rule, self._number(node)))

    def visited(self, name: str, visits: Visits) -> None:
        """See Observer."""
        self._here.part.events.extend((code.VISITED, name, visits))

    def rewrite_end(
        self,
        result: UOp | None,
        error: BaseException | None,
        rule: Rule | None,
        node: UOp | None,
    ) -> None:
        """See Observer."""
        part, number, at = self._here.part, self._number, _clock()
        if part.open:
            part.open.pop()
        if part.begun and error is None:
            part.begun.pop()
            self._settle(part)
            part.events.append(code.REWRITE_EMPTY)
            return
        self._settle(part)
        inside = bool(part.open) and part.open[-1]
        made = 0 if result is None else number(result)
        size = 0 if result is None or inside else number.size(result)
        data = None if error is None else error_data(error)
        where = 0 if node is None else number(node)
        part.events.extend((code.REWRITE_END, made, size, data, rule, where, at))
        self._ended(part, error)

    def artifact(
        self,
        kind: str,
        target: str,
        text: str,
        lines: Sequence[Sequence[UOp]],
        facts: Mapping[str, str],
    ) -> None:
        """See Observer."""
        part, number = self._settled(), self._number
        counts = array("I", map(len, lines))
        nodes = array("I", [number(u) for line in lines for u in line])
        part.events.extend((code.ARTIFACT, kind, target, text, (counts, nodes), facts))

    def kernel(self, ast: UOp, program: object) -> None:
        """See Observer."""
        part = self._settled()
        part.events.extend((code.KERNEL, self._number(ast), program))

    def launch(self, name: str, device: str, ns: int, start_ns: int, bytes_: int) -> None:
        """See Observer."""
        self._here.part.events.extend((code.LAUNCH, name, device, ns, start_ns, bytes_))

    def memory(self, device: str, allocated: int) -> None:
        """See Observer."""
        self._here.part.events.extend((code.MEMORY, device, allocated, _clock()))

    def _settled(self) -> _Part:
        """The calling thread's part, all that began in it written down."""
        part = self._here.part
        if part.begun:
            self._settle(part)
        return part

    def _settle(self, part: _Part) -> None:
        for name, sink, matcher, bottom_up, caller, ns in part.begun:
            begin = (code.REWRITE_BEGIN, name, self._number(sink), matcher, bottom_up, caller, ns)
            part.events.extend(begin)
        part.begun.clear()

    # flushing

    def _ended(self, part: _Part, error: BaseException | None) -> None:
        late = _clock() - self._flushed > DUE
        if error is not None or late or len(part.events) > SLICE:
            self.flush()
        elif self._child and not part.open:
            self.flush()  # workers of a pool are killed without notice once the last task is done

    def _register(self) -> _Part:
        """Called once by each thread that records, through `_Here`."""
        with self._lock:
            self._last_thread += 1
            part = _Part(self._last_thread)
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
            events = part.events
            count = len(events)
            if count:
                items = events[:count]
                del events[:count]
                self._transcribe(number, items)
            elif (owner := thread()) is None or not owner.is_alive():
                del self._threads[number]
                if self._to is not None:
                    self._to.forget(number)
        if self._writer is not None:
            self._writer.flush()

    def _transcribe(self, thread: int, items: list[Any]) -> None:
        if self._writer is None or self._to is None:  # the first events of a forked child
            self.path = child_path(self._main_path)
            self._writer = TraceWriter(self.path, run_info(self.run, False), self._numbering)
            self._to = Transcriber(self._writer)
            self._to.resume(thread, self._resumed)
        self._to.run(thread, items)

    def _stop(self, error: TraceError) -> None:
        """Recording is no longer possible; the program goes on."""
        detach(self)
        self._closed = True
        if self._writer is not None:
            self._writer.stopped(error.what)
            self._writer = self._to = None
        for _, part in self._threads.values():
            part.events.clear()
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
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._flusher = self._writer = self._to = None
        self._threads.clear()
        self._numbering = Numbering()
        self._number = Interner(self._numbering)
        self._here = _Here(self._register)  # what was open is the parent's

    def _finalize_in_child(self) -> None:
        """Workers of multiprocessing leave without running atexit."""
        Finalize(self, Recorder.close, args=(self,), exitpriority=0)


_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _before_fork() -> None:
    for recorder in list(_recorders):
        recorder.before_fork()


def _after_fork_in_parent() -> None:
    for recorder in list(_recorders):
        recorder.after_fork_in_parent()


def _after_fork_in_child() -> None:
    for recorder in list(_recorders):
        recorder.after_fork_in_child()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)


def _warn(error: TraceError) -> None:
    print(f"uopviz: recording stopped. {error.what} ({error.where})", file=sys.stderr)
