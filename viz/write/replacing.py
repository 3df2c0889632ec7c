"""Puts the finished files of a run in the place of those of an earlier one.

Whatever an earlier run left beside its first file goes with it, so that nothing of it can be taken
for a part of the new one. Never leaves a mixture of both where something fails.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from core.errors import TraceError
from viz.files.claim import check_replaceable, files_of, in_use, is_trace, meta_of
from viz.files.parts import COMPILED, PROCESS, parts_of
from viz.files.regular import head_of
from viz.write.database import put_in_place


def replace_run(
    made: Sequence[tuple[Path, Path]], runs: Collection[str], source: Collection[Path]
) -> None:
    """Moves finished traces to where they belong, the first file of their run last; with that, all
    files of what lay there before are gone: also such as have no successor, which a viewer would
    take for parts of the new run. Those are the parts of the run that the earlier first file is of,
    and of `runs`. What fails in between leaves the earlier files as they were. Raises TraceError
    where one of them is no trace, is being written or is one of `source`, and OSError."""
    main = made[0][1]
    targets = [path for _, path in made]
    old = _earlier(main, targets, runs)
    for path in (*targets, *old):
        if any(path.exists() and path.samefile(file) for file in source):
            raise TraceError(
                "this would overwrite what is exported", str(path), "name another with -o"
            )
    with TemporaryDirectory(prefix=".uopviz-", dir=main.absolute().parent) as folder:
        names = [name for path in old for name in files_of(path)] + files_of(main)[1:]
        moved = [(Path(folder) / name.name, name) for name in names if name.exists()]
        try:
            for aside, name in moved:
                os.replace(name, aside)
            for finished, own in reversed(made):
                put_in_place(finished, own)
        except BaseException:
            if made[0][0].exists():  # until the first file has moved, the earlier ones are the run
                for finished, own in made[1:]:
                    if not finished.exists():
                        own.unlink(missing_ok=True)
                for aside, name in moved:
                    if aside.exists():
                        os.replace(aside, name)
            raise


def _earlier(main: Path, targets: Collection[Path], runs: Collection[str]) -> list[Path]:
    """The parts that go, without the first file, which is replaced at once. Raises TraceError and
    OSError."""
    for path in targets:
        check_replaceable(path)
    known = {*runs}
    if is_trace(head_of(main)) and isinstance(run := meta_of(main, "run"), str):
        known.add(run)
    beside = [path for infix in (PROCESS, COMPILED) for _, path in parts_of(main, infix)]
    old = [path for path in beside if path in targets or _run_of(path) in known]
    for path in old:
        if in_use(path):
            raise TraceError(
                "another program is writing this trace", str(path), "choose another file"
            )
    return old


def _run_of(path: Path) -> object:
    """Which run a trace says that it is of; None for what is no trace."""
    with suppress(OSError, TraceError):
        check_replaceable(path)
        if is_trace(head_of(path)):
            return meta_of(path, "run")
    return None
