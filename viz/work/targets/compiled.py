"""Kernels of a run compiled for targets, for an export: in processes, equal kernels once, and not
at all what an earlier export has kept.

A kernel that cannot be compiled costs no other one its text: why stands in the place of its text.
Never compiles in this process, and never the kernels of another compiler.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Final

from core.errors import BudgetError, ServerError, TraceError, UopvizError
from core.isolation.client import Fault
from core.render.kinds import KINDS
from core.target import targets
from viz.coredialect.adapter import DIALECT, USUAL
from viz.format.schema import SUFFIX
from viz.jobs.compiled import Progress, Wanted
from viz.views.kernels.compiled import MAX_FILES
from viz.views.kernels.texts import failed_text, text_of
from viz.views.store import Store
from viz.work.compiling import check_target, graph_of
from viz.work.targets import diskcache
from viz.workers.pool import Answered, Pool, processors
from viz.write.database import change_meta

_WORKER: Final = "viz.work.targets.worker"
_SECONDS: Final = 120.0
"""What compiling one kernel may take."""
_TOGETHER: Final = 8
"""Most kernels of one request."""
_SHARES: Final = 4
"""Requests for each process, at least: so that none waits long for another at the end."""
_NAMED: Final = 5
"""Kernels that could not be compiled which a sentence names."""
_BROWSER: Final = str((DIALECT.browser or {}).get("target", ""))
"""The target that browsers run."""
_Asked = tuple[int, ...]
"""The tasks of a request to a process, by their places."""


@dataclass
class _Task:
    """One compilation, for all kernels of a run with that graph. `numbers`: of the nodes of its
    graph, of each kernel."""

    name: str
    graph: dict[str, Any]
    target: str
    trace: bool
    made_of: list[str]
    kernels: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    browser: bool = False
    texts: list[dict[str, Any]] | None = None
    passes: bytes | None = None
    shaders: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Looks up what an earlier export has kept."""
        if self.trace:
            self.passes = diskcache.passes.find(self.made_of)
            return
        if self.browser:
            self.shaders = diskcache.find_shaders(self.made_of)
        if not self.browser or self.shaders is not None:
            self.texts = diskcache.find_texts(self.made_of)

    @property
    def is_kept(self) -> bool:
        """Whether nothing has to be compiled."""
        return self.passes is not None or self.texts is not None


@contextmanager
def compiled_here(
    run: Store, kernels: Collection[int], wanted: Wanted, progress: Progress
) -> Generator[list[str]]:
    """See `viz.jobs.compiled.Compile`."""
    for target in (*wanted.texts, *wanted.passes):
        check_target(target)
    if wanted.usual_passes:
        wanted = replace(wanted, passes=(*wanted.passes, *USUAL))
    with TemporaryDirectory(prefix="uopviz-passes-") as folder:
        yield _Compiling(run, Path(folder), progress).work(kernels, wanted)


class _Compiling:
    """Compiles kernels of one run; traces go to `folder`."""

    def __init__(self, run: Store, folder: Path, progress: Progress) -> None:
        self._run, self._folder, self._progress = run, folder, progress
        self._failed: list[str] = []
        self._new_texts: list[tuple[Sequence[str], list[dict[str, Any]]]] = []
        self._new_shaders: list[tuple[Sequence[str], dict[str, Any]]] = []
        self._new_traces: list[tuple[Sequence[str], Path]] = []
        self._traces: dict[int, Path] = {}
        """Where the passes of a task are recorded."""
        self._names = {row["id"]: str(row["name"]) for row in run.tree()["rows"]}

    def work(self, kernels: Collection[int], wanted: Wanted) -> list[str]:
        """Compiles all that is wanted; sentences of what could not be."""
        tasks = self._tasks(kernels, wanted)
        ready: dict[int, Answered[int]] = {}
        with Pool[_Asked](_WORKER, processors(), _SECONDS) as pool:
            ready |= {at: Answered(at) for at, task in enumerate(tasks) if task.is_kept}
            for asked in _requests(tasks, processors()):
                pool.ask(asked, self._request(asked, tasks))
            self._progress(len(ready), len(tasks), "")
            taken = self._take_ready(tasks, ready, 0)
            for answered in pool.answers():
                if answered.error is not None and len(answered.key) > 1:
                    for at in answered.key:  # the fault of one costs no other its answer
                        pool.ask((at,), self._request((at,), tasks))
                    continue
                ready |= {one.key: one for one in _each(answered, tasks)}
                taken = self._take_ready(tasks, ready, taken)
                last = tasks[max(answered.key)]
                self._progress(taken + len(ready), len(tasks), f"{last.name} for {last.target}")
        diskcache.keep_texts(self._new_texts)
        diskcache.keep_shaders(self._new_shaders)
        diskcache.passes.keep((made_of, path.read_bytes()) for made_of, path in self._new_traces)
        return self._said()

    def _take_ready(self, tasks: Sequence[_Task], ready: dict[int, Answered[int]], at: int) -> int:
        """Takes what is ready, in the order of the tasks: what has which number does not depend on
        who was faster. From `at` on; which one is next."""
        while at in ready:
            task, answered = tasks[at], ready.pop(at)
            if task.is_kept:
                self._take_kept(task)
            elif task.trace:
                self._take_passes(task, answered)
            elif answered.error is not None:
                self._fail(task, answered.error)
            else:
                task.texts, task.shaders = answered.value["texts"], answered.value.get("shaders")
                self._new_texts.append((task.made_of, answered.value["texts"]))
                if task.shaders is not None:
                    self._new_shaders.append((task.made_of, task.shaders))
                self._take_texts(task, answered.value["texts"])
            at += 1
        return at

    def _tasks(self, kernels: Iterable[int], wanted: Wanted) -> list[_Task]:
        """What has to be compiled: passes first, since they take longest."""
        found: dict[str, _Task] = {}
        texts: dict[str, _Task] = {}
        beyond = 0
        for kernel in kernels:
            passes = [t for t in dict.fromkeys(wanted.passes) if not self._run.compiled(kernel, t)]
            targets_of_texts = self._text_targets(kernel, wanted)
            if not passes and not targets_of_texts:
                continue
            try:
                graph, numbers = graph_of(self._run, kernel)
            except UopvizError as error:
                self._failed.append(f"{self._name(kernel)}: {error.what}")
                continue
            for target in passes:
                if len(found) == MAX_FILES:
                    beyond += 1
                    continue
                made = diskcache.made_of(graph, target)
                # a trace says of which kernel it is: equal kernels have one each
                task = _Task(self._name(kernel), graph, target, True, made, {kernel: numbers})
                found[f"{kernel} {target}"] = task
            for target in targets_of_texts:
                made = diskcache.made_of(graph, target)
                browser = wanted.browser and target == _BROWSER
                task = _Task(self._name(kernel), graph, target, False, made, browser=browser)
                texts.setdefault("\n".join(made[:2]), task).kernels[kernel] = numbers
        if beyond:
            self._failed.append(f"{beyond:,} more, of which there is no room")
        return [*found.values(), *texts.values()]

    def _text_targets(self, kernel: int, wanted: Wanted) -> list[str]:
        """The targets that texts of a kernel are wanted for and that it has none for."""
        recorded = self._run.recorded_targets(kernel)
        recorded |= {one["target"] for one in self._run.texts.of(kernel)}
        have = recorded | {*wanted.passes}
        have |= {target for target in USUAL if self._run.compiled(kernel, target)}
        chosen = [*wanted.texts]
        if wanted.browser and kernel not in self._run.shaders.kernels():
            have.discard(_BROWSER)
            chosen.append(_BROWSER)
        if wanted.usual:
            families = {targets[name].family for name in have if name in targets}
            chosen += [name for name in USUAL if targets[name].family not in families]
        return [name for name in dict.fromkeys(chosen) if name not in have]

    def _name(self, kernel: int) -> str:
        return self._names.get(kernel, str(kernel))

    def _request(self, asked: _Asked, tasks: Sequence[_Task]) -> dict[str, Any]:
        """What a process is asked for the tasks at these places: texts, or traces of passes."""
        first = tasks[asked[0]]
        if not first.trace:
            return {"graph": first.graph, "target": first.target, "browser": first.browser}
        jobs: list[dict[str, Any]] = []
        for at in asked:
            task = tasks[at]
            (kernel,) = task.kernels
            self._traces[at] = Path(mkdtemp(dir=self._folder)) / f"passes{SUFFIX}"
            about = {"trace": str(self._traces[at]), "kernel": kernel, "run": self._run_name}
            jobs.append({"graph": task.graph, "target": task.target, **about})
        return {"jobs": jobs}

    @property
    def _run_name(self) -> str:
        return str(self._run.files[0].meta.get("run", ""))

    def _take_kept(self, task: _Task) -> None:
        """Takes what an earlier export has kept."""
        if task.texts is not None:
            self._take_texts(task, task.texts)
            return
        (kernel,) = task.kernels
        path = Path(mkdtemp(dir=self._folder)) / f"passes{SUFFIX}"
        path.write_bytes(task.passes or b"")
        try:
            about = {"kernel": kernel, "target": task.target}
            change_meta(path, {"run": self._run_name, "passes_for": about})
            self._run.attach(path)
        except (TraceError, BudgetError) as error:
            self._fail(task, ServerError(error.what, hint=error.hint))

    def _take_texts(self, task: _Task, made: list[dict[str, Any]]) -> None:
        """Gives texts to all kernels of a task."""
        for kernel, numbers in task.kernels.items():
            texts: list[dict[str, Any]] = []
            for one in made:
                sets = [[numbers[place] for place in places] for places in one["sets"]]
                origins = [sets[at] for at in one["lines"]]
                said = one["kind"], task.target, one["text"], one["facts"]
                texts.append(text_of(*said, origins))
            self._run.texts.add(kernel, texts)
            if task.shaders is not None:
                self._run.shaders.add(kernel, task.shaders)

    def _take_passes(self, task: _Task, answered: Answered[int]) -> None:
        """Takes up the trace of a compilation, also of one that failed."""
        error = answered.error
        if error is None:
            path = self._traces[answered.key]
            said = answered.value["error"]
            try:
                self._run.attach(path)
            except (TraceError, BudgetError) as raised:
                error = ServerError(raised.what, hint=raised.hint)
            if said is not None:
                error = Fault.from_data(said).raised(ServerError)
            elif error is None:
                self._new_traces.append((task.made_of, path))
        if error is not None:
            self._fail(task, error)

    def _fail(self, task: _Task, error: ServerError) -> None:
        if task.browser:  # what WebGPU lacks is reported where the kernel is run
            said = {"what": error.what, "where": error.where, "hint": error.hint}
            for kernel in task.kernels:
                self._run.shaders.add(kernel, {"error": said})
            return
        self._failed.append(f"{task.name} for {task.target}: {error.what}")
        family = targets[task.target].family
        kind = next(one.name for one in KINDS if family in one.families)
        for kernel in task.kernels:
            said = failed_text(kind, task.target, error.what, error.where, error.hint)
            self._run.texts.add(kernel, [said])

    def _said(self) -> list[str]:
        said = [f"not compiled: {what}" for what in self._failed[:_NAMED]]
        if len(self._failed) > _NAMED:
            said.append(f"not compiled: {len(self._failed) - _NAMED:,} more")
        return said


def _requests(tasks: Sequence[_Task], processes: int) -> Iterator[_Asked]:
    """What has to be compiled, by the places of the tasks: the passes of some kernels for one
    target together, such that each process has work."""
    missing = [at for at, task in enumerate(tasks) if not task.is_kept]
    passes = [at for at in missing if tasks[at].trace]
    most = max(1, min(_TOGETHER, len(passes) // (_SHARES * processes)))
    for target in dict.fromkeys(tasks[at].target for at in passes):
        of = [at for at in passes if tasks[at].target == target]
        yield from (tuple(of[first : first + most]) for first in range(0, len(of), most))
    yield from ((at,) for at in missing if not tasks[at].trace)


def _each(answered: Answered[_Asked], tasks: Sequence[_Task]) -> Iterator[Answered[int]]:
    """The answers to each of the tasks of a request."""
    asked = answered.key
    if answered.error is not None or not tasks[asked[0]].trace:
        yield Answered(asked[0], answered.value, answered.error)
    else:
        for at, value in zip(asked, answered.value, strict=True):
            yield Answered(at, value)
