"""What commands share: the run and the pass that are meant, and how results are printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError, UopvizError
from viz.command.bounded import Bounds, bounded
from viz.command.line.names import Row, below, find_kernel, find_pass, find_trace
from viz.dialect.dialect import Action
from viz.read.tracefile import Progress as Reading
from viz.share.reopened import open_run, open_runs, runs_in
from viz.terminal import (
    Line,
    Progress,
    drop_output,
    give_room,
    json_text,
    put_json,
    put_lines,
    say,
    show_command,
)
from viz.views.answers import SINCE
from viz.views.runs.run import NAMES, Run
from viz.views.store import Store

_OF_PAGES: Final = ("devices", "editable", "targets", "inputs", "stays", "again")
NOTHING_KNOWN: Final[Row] = {"maker": None, "files": [], "rules": [], "compared": 0, "notes": []}
"""The answer about changes since a run where none are known."""


def open_store(options: argparse.Namespace) -> Run:
    """The run that is meant; of an exported file that holds several, the one that `--run` names, or
    the first. One that the user did not name by its path is named on standard error. Raises
    TraceError."""
    path = _meant(options, options.trace)
    if options.runs is not None:
        options.store = options.runs.open(path, options.held_as)
        _check_action(options.store, options.needs)
        return options.store
    held_as = run_named(options.held_as, path, ", --run chooses another")
    options.store = open_run(path, _reading(options, path), held_as)
    _check_action(options.store, options.needs)
    options.progress.begin("working")
    return options.store


def trace_of(options: argparse.Namespace) -> Store:
    """The run that is meant. Raises TraceError where a file holds no trace."""
    store = open_store(options)
    if not isinstance(store, Store):
        raise TraceError(
            "this exported file holds no trace",
            where=str(store.path),
            hint="give the trace itself, or a file that was exported with a larger --budget",
        )
    return store


def _check_action(run: Run, needs: str) -> None:
    """Raises TraceError where the dialect of a trace does not have the action that a command
    needs."""
    if not needs or not isinstance(run, Store) or Action(needs) in run.dialect.actions:
        return
    dialect = run.dialect
    of = f"the dialect {dialect.title or dialect.name}" if dialect.name else "no known dialect"
    raise TraceError(
        f"this trace is of {of}, which has no action {needs!r}",
        where=str(run.path),
        hint=f"`{show_command(run.path)}` shows what it holds, and what can be done with it",
    )


def run_named(letter: str | None, path: Path, how: str = "") -> str:
    """The run of a file that a letter names, in either case; for None the first, and a hint where
    there are others, which ends with `how`. Raises TraceError for a letter that no run of the file
    has."""
    held = runs_in(path)
    if letter is None:
        if len(held) > 1:
            names = ", ".join(held)
            say(f"{path} holds the runs {names}; this is {held[0]}{how}", style="hint")
        return held[0]
    if len(letter) != 1 or letter.upper() not in held:
        raise TraceError(
            f"there is no run {letter[:20]!r} in this file",
            where=str(path),
            hint="it holds " + (", ".join(held) if len(held) > 1 else "one: leave out --run"),
        )
    return letter.upper()


def open_stores(options: argparse.Namespace) -> list[Run]:
    """All runs that are meant, the first one and those beside it: of an exported file, all that it
    holds. Raises TraceError where these are too many."""
    runs = options.store = Opened()
    for name in (options.trace, *options.beside):
        path = _meant(options, name)
        if len(runs.all) + len(runs_in(path)) > len(NAMES):
            raise TraceError(
                f"more than {len(NAMES)} runs are too many to be shown together",
                where=str(path),
                hint="give fewer of them",
            )
        runs.all += open_runs(path, _reading(options, path))
    options.progress.begin("working")
    return runs.all


class Opened:
    """The runs that a command has opened, to be closed together."""

    def __init__(self) -> None:
        self.all: list[Run] = []

    @property
    def answers_only(self) -> bool:
        """Whether one of the runs is an exported file without a trace."""
        return any(getattr(run, "answers_only", False) for run in self.all)

    def close(self) -> None:
        """Closes them."""
        for run in self.all:
            run.close()


def _meant(options: argparse.Namespace, name: str | None) -> Path:
    """The file that is meant, before it is read."""
    path, named = find_trace(name)
    if not named:
        say(str(path), style="hint")
    options.path = path
    options.progress.begin(f"reading {path.name}")
    return path


def _reading(options: argparse.Namespace, path: Path) -> Reading:
    progress: Progress = options.progress

    def reading(share: float, name: str) -> None:
        progress.update(share, "" if name == path.name else name)

    return reading


def run_of(store: Run) -> Row:
    """The run, without what only a page can do: an exported file may say that, too."""
    return {key: value for key, value in store.run().items() if key not in _OF_PAGES}


def since_of(store: Run) -> Row:
    """Who made the run, and what has changed since; notes only of what is known."""
    try:
        return {**NOTHING_KNOWN, **store.ask(SINCE)}
    except UopvizError:  # left out of an exported file, or too large
        return NOTHING_KNOWN


def number_first(options: argparse.Namespace) -> None:
    """`uopviz show 11` means number 11 of the youngest trace, where no file has that name."""
    name = options.trace
    if name is not None and name.isdecimal() and len(name) < 16 and not Path(name).exists():
        if options.step is not None and options.number is not None:
            raise TraceError("there is no such trace", where=name, hint="check the path")
        options.trace, options.step = (
            None,
            options.step if options.number is None else options.number,
        )
        options.number = int(name)


def chosen_entry(options: argparse.Namespace, rows: list[Row]) -> int | None:
    """The number of the pass or group that is meant, by number or by names; None for none."""
    if options.number is not None:
        if options.kernel is not None or options.pass_name is not None:
            options.error("name a pass by its number, or with --kernel and --pass, not both")
        return options.number
    kernel = find_kernel(rows, options.kernel) if options.kernel is not None else None
    if kernel is not None:
        rows = below(rows, kernel["id"])
    if options.pass_name is not None:
        return find_pass(rows, options.pass_name, kernel["name"] if kernel else "")["id"]
    return kernel["id"] if kernel is not None else None


def chosen_bundle(store: Run, number: int) -> dict[str, Any]:
    """The pass of this number. Raises TraceError where there is none."""
    bundle = store.bundle(number)
    if bundle is not None:
        return bundle
    if any(row["id"] == number for row in store.tree()["rows"]):
        raise TraceError(
            f"number {number} is a group of passes, and has no steps of its own",
            hint=f"`{show_command(store.path, number)}` lists its passes; --pass NAME chooses one",
        )
    raise TraceError(
        f"there is no pass {number} in this trace",
        hint=f"`{show_command(store.path, '--tree')}` lists the numbers",
    )


def put(
    options: argparse.Namespace, data: Any, lines: Iterable[Line], brief: Any | None = None
) -> int:
    """Prints a result, as JSON or as lines; the exit code. As JSON it is bounded; `brief` stands
    for data that would be of no use with something cut. The reader may stop before the end
    (`uopviz diff A B | head`): the exit code of the command stays that of the result."""
    options.progress.close()
    if options.answer is not None:
        options.answer(_json(options, data, brief))
        return 0
    try:
        if options.json:
            put_json(data, _json(options, data, brief))
        else:
            give_room(options.wide)
            put_lines(lines, options.color, options.wide, options.pager)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
    return 0


def _json(options: argparse.Namespace, data: Any, brief: Any | None) -> str:
    bounds = Bounds(options.most_rows, options.most_characters)
    if options.whole:
        return json_text(data)
    hint = f"ask for less{_narrowed(options)}; --rows, --characters and --whole allow more"
    made = bounded(data, bounds, hint)
    if made.is_cut and brief is not None:
        made = bounded(brief, bounds, hint)
    return made.text


_NARROWING: Final = {
    "sql": "a WHERE, or LIMIT and OFFSET",
    "kernel": "--kernel NAME",
    "pass_name": "--pass NAME",
    "step_named": "--step N",
    "rule": "--rule NAME",
}
"""What asks a command for less, by its options."""


def _narrowed(options: argparse.Namespace) -> str:
    ways = [way for name, way in _NARROWING.items() if hasattr(options, name)]
    return f" ({', '.join(ways)})" if ways else ""
