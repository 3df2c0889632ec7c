"""What the routes of one server work with: the store, its cached answers, jobs and devices.

Logic of the routes; knows nothing of HTTP.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from core.check.isolate import MAX_TEXT
from core.errors import ServerError, UopvizError
from core.target import targets
from viz.server.answers import Encoded
from viz.server.kept import Kept, Turns
from viz.server.weight import Weight
from viz.share.reopened import open_run
from viz.views.answers import RUN
from viz.views.run import Answer, Keep, Run
from viz.work.compiling import Compiler, graph_of
from viz.work.exports import Exports
from viz.work.jobs import Jobs
from viz.work.keptpeaks import keep_peak
from viz.work.opts import parse_opts

CACHED: Final = 1 << 27
"""Bytes of answers about rewrites that have ended that are kept."""
ANSWERS: Final = 1 << 25
"""Bytes of other answers that are kept until the run has gone on."""
SLICE: Final = 0.1
"""Seconds that a partial answer takes; the page asks again for more."""
LIVE_SHARE: Final = 0.05
"""Of a processor, for answers that count while the program runs: it may need the rest."""
LOOK_AFTER: Final = 1.0
"""Seconds after the first answer at which a worker looks for devices: it takes half a second of a
processor, which the page needs to show its first graph."""
_REFRESH: Final = 0.15
"""Seconds that an answer about a live run may lag behind its trace."""


class State:
    """One server's state. `devices` answers at once with those that need no looking for."""

    def __init__(self, store: Run) -> None:
        self.store: Run = store
        self.former: Path | None = None
        """The trace, or the exported file, that was open before this one."""
        self.jobs = Jobs()
        self._compiler = Compiler(self.jobs)
        self.exports = Exports(self.jobs)
        self.last_request = time.monotonic()
        self._lock = threading.Lock()
        self._refreshed = self._sliced = 0.0
        self._ended: Kept[str, Encoded] = Kept(CACHED)
        self._answers: Kept[str, tuple[int, Encoded]] = Kept(ANSWERS)
        self._making = Turns()
        self.weight = Weight()
        self._state = 0
        """Counts what may have changed answers: what was read of the trace, another trace."""
        self._seen: tuple[object, ...] = ()
        self._devices = ["CPU", "REFERENCE"]
        self._editable: list[dict[str, str]] = []
        self._looking: threading.Timer | None = None

    def close(self) -> None:
        """Ends the jobs and closes the trace."""
        if self._looking is not None:
            self._looking.cancel()
        self.jobs.close()
        self.exports.close()
        self.store.close()
        self._compiler.close()

    def open(self, path: Path) -> None:
        """Goes on with another trace. Raises TraceError, and keeps this one, where it is none."""
        store = open_run(path)
        with self._lock:
            before, self.store = self.store, store
            if before.path != path:
                self.former = before.path
            self._ended.clear()
            self._state += 1
            self._seen = ()
        before.close()

    def go_back(self) -> None:
        """Goes on with the trace that was open before. Raises ServerError where there was none,
        and TraceError, and keeps this one, where it is gone."""
        if self.former is None:
            raise ServerError("no other trace was open before", hint="choose one of the list")
        self.open(self.former)

    def refresh(self) -> None:
        """Brings the store up to date, if its run still goes on or its files have changed."""
        with self._lock:
            now = time.monotonic()
            if now - self._refreshed > _REFRESH:
                live, folder = self.store.live, self.store.path.parent
                # an export without its trace has no files, and never changes
                files = [file.path for file in self.store.files] if self.store.compiles else []
                seen = (live, _changed(folder), *map(_changed, files), *map(_log, files))
                if live or seen != self._seen:
                    self.store.refresh()
                    self._state += 1
                    self._seen = seen
                self._refreshed = now

    def answer(self, asked: Answer, *values: int | str) -> Encoded | None:
        """An answer of the table; None where there is no such subject. It is made once, however
        many pages ask for it, and kept as the table says; one that is not whole is not kept."""
        path = asked.at(*values)

        def make() -> tuple[bool, Encoded | None]:
            value = self.store.ask(asked, *values, seconds=self._slice(asked))
            if asked is RUN:
                value = self._with_actions(value)
            return asked.is_whole(value), None if value is None else Encoded.of(value)

        if asked.keep is Keep.NEVER:
            self.refresh()
            return self.weight.make(make)[1]
        with self._making.of(path):
            ended = asked.keep is Keep.ENDED
            if ended and (kept := self._ended.get(path)) is not None:
                return kept
            store = self.store
            ended = ended and not store.is_open(int(values[0]))
            if not ended:
                self.refresh()
            state = self._state
            found = self._answers.get(path)
            if found is not None and found[0] == state:
                return found[1]
            whole, made = self.weight.make(make)
            if made is not None and whole:
                if ended and store is self.store:
                    self._ended.put(path, made, made.size)
                elif not ended:
                    self._answers.put(path, (state, made), made.size)
            return made

    def _slice(self, asked: Answer) -> float:
        """Seconds that an answer may take now, if it can be partial."""
        if not asked.counts or not self.store.live:
            return SLICE
        with self._lock:
            now = time.monotonic()
            since, self._sliced = now - self._sliced, now
        return min(SLICE, LIVE_SHARE * since)

    def _with_actions(self, run: dict[str, Any]) -> dict[str, Any]:
        """The run, with what can be done here."""
        if not self.store.compiles:
            return run
        self._look_for_devices()
        can = {
            "devices": self._devices,
            "targets": [*targets],
            "editable": self._editable,
        }
        return {**run, **can}

    def compile(self, context: int, target: str) -> int:
        """Begins to compile a kernel for a target; what was compiled before is there at once.
        Raises ServerError."""
        store = self.store
        kernel = store.kernel_of(context)
        graph, _ = self._graph(kernel)
        known = store.compiled(kernel, target)  # the AST of a live kernel may still change
        if known is not None and known.root.error is None:
            made = self.weight.make(lambda: store.kernel(known.context))
            return self.jobs.done([] if made is None else made["artifacts"])
        return self._compiler.start(store, kernel, target, graph, ended=self._changed_here)

    def export(self, kernels: Sequence[int], redact: bool) -> int:
        """Begins to export the run, or these kernels of it, with what was compiled here; the job.
        Raises ServerError."""
        return self.exports.start(self.store, kernels, redact)

    def _changed_here(self) -> None:
        """Answers about the run may be others now."""
        self._state += 1

    def launch(
        self,
        context: int,
        device: str,
        count: int,
        opts: str | None = None,
        source: Mapping[str, str] | None = None,
    ) -> int:
        """Begins to run a kernel on a device; with these optimisations in place of the compiler's,
        or with `source`, {"kind", "text"}, in place of its text. Raises ServerError."""
        graph, _ = self._graph(context)
        _check_how(opts, source)
        request = {
            "job": "run",
            "device": device,
            "count": count,
            "graph": graph,
            "opts": opts,
            "source": source,
        }
        return self.jobs.start(request, lambda answer: answer)

    def emulate(
        self,
        context: int,
        device: str,
        block: int = 0,
        warp: int = 0,
        opts: str | None = None,
        source: Mapping[str, str] | None = None,
    ) -> int:
        """Begins to emulate a kernel, and one warp of it step by step; `opts` and `source` as in
        `launch`. Raises ServerError."""
        graph, _ = self._graph(context)
        _check_how(opts, source)
        request = {
            "job": "emulate",
            "device": device,
            "block": block,
            "warp": warp,
            "graph": graph,
            "opts": opts,
            "source": source,
        }
        store = self.store

        def finish(answer: Any) -> Any:
            store.emulations.add(store.kernel_of(context), answer)
            self._changed_here()
            return answer

        return self.jobs.start(request, finish)

    def measure(self, device: str) -> int:
        """Begins to measure what a device of this machine can do; what comes out is kept. Raises
        ServerError for a device that is not here."""
        if device not in self._devices:
            raise ServerError(
                f"there is no device {device!r}", hint="one of " + ", ".join(self._devices)
            )

        def finish(answer: Any) -> Any:
            keep_peak(answer)
            return answer

        return self.jobs.start({"job": "peaks", "device": device}, finish)

    def _graph(self, context: int) -> tuple[dict[str, Any], list[int]]:
        return self.weight.make(lambda: graph_of(self.store, context))

    def _look_for_devices(self) -> None:
        """Asks a worker once which devices are present, and what can be edited for them: opening
        one may take seconds."""

        def finish(answer: Any) -> Any:
            self._devices, self._editable = answer["devices"], answer["editable"]
            self._state += 1
            return None

        def look() -> None:
            try:
                self.jobs.start({"job": "devices"}, finish)
            except UopvizError:
                self._looking = None

        with self._lock:
            if self._looking is None:
                self._looking = threading.Timer(LOOK_AFTER, look)
                self._looking.daemon = True
                self._looking.start()


def _check_how(opts: str | None, source: Mapping[str, str] | None) -> None:
    """Raises for a mistake that needs no worker to be seen."""
    if opts is not None:
        parse_opts(opts)
    if source is not None and len(source["text"]) > MAX_TEXT:
        raise ServerError("the edited text is too long", hint=f"at most {MAX_TEXT:,} characters")


def _changed(path: Path) -> tuple[int, int]:
    """What changes when a file is written to, or one is made in a folder; it may be gone."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _log(path: Path) -> tuple[int, int]:
    """The same of the log of a trace."""
    return _changed(Path(f"{path}-wal"))
