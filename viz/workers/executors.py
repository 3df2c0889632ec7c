"""Where work is done: in processes of this machine, or by a cluster that is named as an address.

`dask://HOST:PORT` is a scheduler of Dask, `ray://HOST:PORT` a cluster of Ray. Their libraries are
extras, imported when they are asked for. Never starts a cluster.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final, TypeVar

from core.errors import ServerError, UopvizError

SCHEMES: Final = ("dask", "ray")
TRIES: Final = 3
"""How often a job is done that loses what works on it."""
Job = TypeVar("Job")
Result = TypeVar("Result")


def executor_at(address: str) -> Executor:
    """The executor of a cluster. Raises ServerError where the address is none, its library is not
    installed, or the cluster does not answer."""
    scheme, found, place = address.partition("://")
    if not found or scheme not in SCHEMES or not place:
        raise ServerError(f"{address!r} is no executor", hint="dask://HOST:PORT or ray://HOST:PORT")
    module = _library("distributed" if scheme == "dask" else "ray", scheme)
    try:
        if scheme == "dask":
            return _Dask(module.Client(f"tcp://{place}"))
        module.init(address=address)
        return _Ray(module)
    except (OSError, ValueError, RuntimeError, ConnectionError) as error:
        raise ServerError(
            f"{address} does not answer ({type(error).__name__}: {error})"[:500],
            hint="start it, and install uopviz on each of its machines",
        ) from error


@contextmanager
def executor_for(address: str | None) -> Generator[Executor | None]:
    """The executor that is asked for, as a block; None for this machine. Raises ServerError."""
    if address is None:
        yield None
        return
    with executor_at(address) as executor:
        yield executor


def is_lost(error: BaseException) -> bool:
    """Whether an error of a future says that the process or the machine that worked on it ended,
    and nothing of the work itself."""
    clusters = "distributed", "ray"
    if any(kind.__name__ == "RayTaskError" for kind in type(error).__mro__):
        return False  # so Ray wraps what the work itself raised
    return isinstance(error, BrokenExecutor | MemoryError) or (
        type(error).__module__.partition(".")[0] in clusters
    )


def each_result(
    executor: Executor | None, function: Callable[[Job], Result], jobs: Sequence[Job]
) -> Iterator[Result | UopvizError]:
    """The results of jobs, in their order. Without an executor they are done here, one after the
    other. A job whose worker was lost is done again once no other one runs, since another one may
    have ended that worker. The result of one that loses every worker, or raises there, is a
    ServerError; that of one which raises or returns an error of this project is that error."""
    if executor is None:
        yield from map(function, jobs)
        return
    futures = [executor.submit(function, job) for job in jobs]
    for at, job in enumerate(jobs):
        for again in range(TRIES):
            if again == 1:
                wait(futures[at:])
            try:
                yield (executor.submit(function, job) if again else futures[at]).result()
                break
            except UopvizError as error:  # Ray raises what is an error, though it was returned
                yield error
                break
            except Exception as error:
                if not is_lost(error):
                    said = str(error).strip().rpartition("\n")[2]  # Ray shows the traceback first
                    yield ServerError(f"a worker failed ({type(error).__name__}: {said[:300]})")
                    break
        else:
            yield ServerError(f"what worked on it ended, {TRIES} times")


class _Dask(Executor):
    """Tasks of a scheduler of Dask, whose own executor cannot cancel those that wait."""

    def __init__(self, client: Any) -> None:
        self._client: Any = client
        # not pure: code on disk may be another one, and equal tasks are not one task
        self._tasks: Executor = client.get_executor(pure=False)
        self._begun: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See Executor."""
        self._begun = [future for future in self._begun if not future.done()]
        self._begun.append(self._tasks.submit(fn, *args, **kwargs))
        return self._begun[-1]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Lets go of the cluster."""
        if cancel_futures:
            for future in self._begun:
                future.cancel()
        self._tasks.shutdown(wait=wait)
        self._client.close()


class _Ray(Executor):
    """Tasks of a cluster of Ray, which has futures and no executor."""

    def __init__(self, ray: ModuleType) -> None:
        self._ray: Any = ray

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See Executor."""
        return self._ray.remote(fn).remote(*args, **kwargs).future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Lets go of the cluster."""
        self._ray.shutdown()


def _library(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ServerError(
            f"{name} is not installed, which {extra}:// needs",
            hint=f"pip install 'uopviz[{extra}]'",
        ) from error
