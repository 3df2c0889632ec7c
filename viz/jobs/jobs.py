"""Work that the page asks for: a process per job, with a time limit, progress and cancel.

The worker (for an export `viz/jobs/exporter.py`; adapters of dialects bring theirs) gets one
request as JSON on its standard input and answers in lines of JSON; nothing is pickled. A kernel
that crashes, hangs or fills the memory harms the worker only. Few run at once, and together they
may take a bounded amount of memory; the others wait: several pages may each ask for all the sources
of a kernel.
"""

from __future__ import annotations

import itertools
import subprocess
import threading
from collections import ChainMap, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, Protocol

from core.errors import ServerError, UopvizError
from core.isolation import child
from core.isolation.client import Fault, Message, Worker
from viz.environment import bytecode_folder

LIMIT: Final = 120.0
"""Seconds that a job may take, if its kind has no other limit."""
EXPORT_LIMIT: Final = 3600.0
"""Seconds that an export may take."""
MAX_RUNNING: Final = 3
MEMORY: Final = 14 << 30
"""Bytes of memory that all jobs together may write; so a check, which may take an hour, leaves room
for a run."""
MAX_BEGUN: Final = 48
"""Jobs that run or wait; more are refused."""
KEPT: Final = 64
"""Finished jobs whose results are still there to be fetched."""
MAX_ANSWER: Final = 1 << 26
"""Bytes of one line of a worker."""
_STARTING: Final = "starting"
_WAITING: Final = "waiting for other jobs"

State = Literal["running", "done", "error"]
Finish = Callable[[Any], Any]
Tell = Callable[[Any], None]


@dataclass(frozen=True)
class Kind:
    """What a job may take, and what helps where it takes more. `memory`: bytes that it may write;
    `limit`: seconds, LIMIT where None; `module`: the worker; `improves`: each part of its result is
    a better one."""

    memory: int
    limit: float | None
    module: str
    smaller: str = "try a smaller kernel, or fewer launches"
    crashed: str = "the kernel may have crashed it; nothing else was harmed"
    improves: bool = False


KINDS: Final[dict[str, Kind]] = {
    "export": Kind(
        5 << 30,
        EXPORT_LIMIT,
        "viz.jobs.exporter",
        smaller="export fewer kernels",
        crashed="it may have run out of memory: export fewer kernels",
    )
}
"""Those that every server has, by the "job" of a request."""


@dataclass(frozen=True)
class Watch:
    """How the process that does a job reports to it: `progress` says how far it is, `tell` gives a
    part of the result ahead of it, and `cancelled` says whether its result is still wanted."""

    progress: Callable[[str], None]
    tell: Tell
    cancelled: Callable[[], bool]


class Elsewhere(Protocol):
    """What does jobs in place of this machine."""

    def takes(self, request: Mapping[str, Any]) -> bool:
        """Whether it does a job."""
        ...

    def work(self, request: Mapping[str, Any], seconds: float, watch: Watch) -> Any:
        """The result of a job, of which a worker may take so long. Raises UopvizError."""
        ...

    def close(self) -> None:
        """Lets go of it. Nothing is waited for."""
        ...


@dataclass
class Job:
    """One job; `error` is {what, where, hint} once `state` is "error"; `best` is what it has so
    far, of a kind that `improves`."""

    id: int
    state: State = "running"
    progress: str = _STARTING
    result: Any = None
    best: Any = None
    error: dict[str, str] | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    cancelled: bool = False

    def data(self) -> dict[str, Any]:
        """In the form of the page."""
        return {
            "state": self.state,
            "progress": self.progress,
            "result": self.result,
            "best": self.best,
            "error": self.error,
        }


class Capacity:
    """How many more jobs may run, and the memory that is left for them."""

    def __init__(self, count: int, memory: int) -> None:
        self._left, self._memory = count, memory
        self._changed = threading.Condition()

    def acquire(self, memory: int, timeout: float) -> bool:
        """Waits at most `timeout` seconds for room for a job of this size; whether there is."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._has(memory), timeout):
                return False
            self._left -= 1
            self._memory -= memory
            return True

    def release(self, memory: int) -> None:
        """A job with this much memory has ended."""
        with self._changed:
            self._left += 1
            self._memory += memory
            self._changed.notify_all()

    def _has(self, memory: int) -> bool:
        return self._left > 0 and memory <= self._memory


class Jobs:
    """The jobs of one server, of KINDS and of these `kinds`. What `elsewhere` takes is done there,
    and waits for no room here."""

    def __init__(self, *kinds: dict[str, Kind], elsewhere: Elsewhere | None = None) -> None:
        self._kinds: ChainMap[str, Kind] = ChainMap(KINDS, *kinds)
        self._elsewhere = elsewhere
        self._jobs: OrderedDict[int, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._capacity = Capacity(MAX_RUNNING, MEMORY)
        self._ids = itertools.count(1)

    def start(
        self,
        request: Mapping[str, Any],
        finish: Finish,
        ended: Callable[[], None] = lambda: None,
        tell: Tell = lambda part: None,
        limit: float | None = None,
    ) -> int:
        """Begins a job; `finish` turns the worker's answer into the result, and `ended` is called
        however it went, before that can be seen; `tell` gets each part of the result that the
        worker has meanwhile. `limit`: seconds in place of those of its kind. Raises ServerError
        while too many have begun."""
        with self._lock:
            if sum(job.state == "running" for job in self._jobs.values()) >= MAX_BEGUN:
                raise ServerError(
                    f"{MAX_BEGUN} jobs are running or waiting", hint="cancel one, or wait for it"
                )
            job = self._add(Job(next(self._ids)))
        kind = self._kinds[str(request["job"])]
        if limit is not None:
            kind = replace(kind, limit=limit)
        if kind.improves:
            tell = partial(setattr, job, "best")
        name = f"uopviz job {job.id}"
        work = self._work_of(job, kind, request, tell)
        threading.Thread(
            target=self._run, args=(job, work, finish, ended), name=name, daemon=True
        ).start()
        return job.id

    def _work_of(
        self, job: Job, kind: Kind, request: Mapping[str, Any], tell: Tell
    ) -> Callable[[], Any]:
        """What does a job, here or elsewhere, and gives the answer."""
        elsewhere = self._elsewhere
        if elsewhere is not None and elsewhere.takes(request):
            watch = Watch(partial(setattr, job, "progress"), tell, lambda: job.cancelled)
            limit = LIMIT if kind.limit is None else kind.limit
            return partial(elsewhere.work, dict(request), limit, watch)
        asked = {**request, "memory": kind.memory}
        return partial(self._work_within_capacity, job, kind, asked, tell)

    def done(self, result: Any) -> int:
        """A job that has ended already: its result was at hand."""
        with self._lock:
            return self._add(Job(next(self._ids), "done", "", result)).id

    def _add(self, job: Job) -> Job:
        self._jobs[job.id] = job
        finished = [j.id for j in self._jobs.values() if j.state != "running"]
        for old in finished[: max(0, len(finished) - KEPT)]:
            del self._jobs[old]
        return job

    def get(self, job: int) -> Job | None:
        """A job by its number; None where there is none."""
        with self._lock:
            return self._jobs.get(job)

    def cancel(self, job: Job) -> None:
        """Ends a job, if it still runs."""
        with self._lock:
            job.cancelled = True
            if job.process is not None and job.state == "running":
                child.kill(job.process)

    def close(self) -> None:
        """Ends all jobs."""
        with self._lock:
            running = [job for job in self._jobs.values() if job.state == "running"]
        for job in running:
            self.cancel(job)

    def _run(
        self,
        job: Job,
        work: Callable[[], Any],
        finish: Finish,
        ended: Callable[[], None],
    ) -> None:
        failed: UopvizError | None = None
        try:
            job.result = finish(work())
        except UopvizError as error:
            failed = error
        except Exception as error:  # whatever it was, what waits for the job is told
            what = f"the job failed ({type(error).__name__}: {error})"
            failed = ServerError(what[:500], hint="try again, or another kernel")
        try:
            ended()
        except Exception as error:
            what = f"the job could not be ended ({type(error).__name__}: {error})"
            failed = failed or ServerError(what[:500], hint="try again")
        if failed is not None:
            self._fail(job, failed)
        else:
            job.progress, job.state = "", "done"

    def _fail(self, job: Job, error: UopvizError) -> None:
        job.error = Fault.of(error).data()
        job.state = "error"

    def _work_within_capacity(
        self, job: Job, kind: Kind, request: Mapping[str, Any], tell: Tell
    ) -> Any:
        while not self._capacity.acquire(kind.memory, timeout=0.05):
            job.progress = _WAITING
            if job.cancelled:
                raise _cancelled()
        try:
            return self._work(job, kind, request, tell)
        finally:
            self._capacity.release(kind.memory)

    def _work(self, job: Job, kind: Kind, request: Mapping[str, Any], tell: Tell) -> Any:
        limit = LIMIT if kind.limit is None else kind.limit
        with self._lock:
            if job.cancelled:
                raise _cancelled()
            job.process = _spawn(kind.module)
        worker = Worker(job.process)

        def heard(message: Message) -> None:
            if "progress" in message:
                job.progress = str(message["progress"])
            elif "part" in message:
                tell(message["part"])

        try:
            answer = worker.ask(request, limit, heard, last=True, most=MAX_ANSWER)
        finally:
            worker.end()
            if job.cancelled:
                raise _cancelled()
        if answer.much:
            raise ServerError("the worker answered too much", hint=kind.smaller)
        if answer.late:
            raise ServerError(
                f"the job took longer than {limit:.0f} seconds and was ended{_at(job)}",
                hint=kind.smaller,
            )
        if answer.ended:
            raise ServerError(
                f"the worker ended without an answer ({answer.ended}){_at(job)}", hint=kind.crashed
            )
        if answer.fault is not None:
            raise answer.fault.raised(ServerError)
        return answer.result


def _at(job: Job) -> str:
    """What a worker said last that it was doing: where it ended."""
    return "" if job.progress in ("", _STARTING, _WAITING) else f", at {job.progress}"


def _spawn(module: str) -> subprocess.Popen[bytes]:
    return child.start(module, subprocess.DEVNULL, bytecode_folder())


def _cancelled() -> ServerError:
    return ServerError("the job was cancelled")
