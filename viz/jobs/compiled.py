"""Kernels of a run compiled for an export, by the adapter of the run's dialect where it can.

Never compiles itself, and imports no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from core.errors import ServerError
from viz.dialect.adapters import exports_of
from viz.views.runs.run import Run
from viz.views.store import Store

Progress = Callable[[int, int, str], None]
"""Called with how many compilations have ended, of how many, and the last one."""


@dataclass(frozen=True)
class Wanted:
    """What kernels are compiled for: `texts` alone, and `passes` too. `usual`: texts for the
    usual targets of the dialect, for kernels whose own target is of another family; `usual_passes`:
    passes, too, for all kernels. `browser`: for the GPU of a browser, to be run there."""

    texts: Sequence[str] = ()
    passes: Sequence[str] = ()
    usual: bool = False
    usual_passes: bool = False
    browser: bool = False


Compile = Callable[[Store, Collection[int], Wanted, Progress], AbstractContextManager[list[str]]]
"""What an adapter has under `Adapter.exports`: compiles these kernels for as long as the block
lasts, and gives sentences on those that could not be compiled. Raises ServerError, and what
Progress raises."""


@contextmanager
def compiled_for(
    run: Run, kernels: Collection[int], wanted: Wanted, progress: Progress
) -> Generator[list[str]]:
    """Kernels compiled for targets, for as long as the block lasts; sentences on those that could
    not be compiled. Raises ServerError where a target is named that the run cannot be compiled for,
    and what `progress` raises."""
    if not isinstance(run, Store) or wanted == Wanted():
        yield []
        return
    compiles: Compile | None = exports_of(run.dialect.name) if run.compiles else None
    if compiles is not None:
        with compiles(run, kernels, wanted, progress) as said:
            yield said
        return
    if wanted.texts or wanted.passes:
        raise ServerError(
            "this trace is of another compiler, and its kernels cannot be compiled or run here",
            hint="its own sources are exported; leave the targets out",
        )
    yield []
