"""`%load_ext uopviz`: the magic `%%viz`, and how runs and graphs of the compiler are displayed.

Needs nothing but the IPython that runs it.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

from core.errors import UopvizError
from core.passes.schedule.item import ScheduleItem
from core.uop.uop import UOp
from viz.api.run import Run
from viz.environment import trace_path
from viz.live import record
from viz.notebook.shown import schedule_bundle, show, uop_bundle
from viz.terminal import say

_count = count(1)
"""Of the cells of this process."""


def viz(line: str, cell: str, shell: Any) -> Any:
    """Records what a cell does, and displays the run below its output. `%%viz run.viz` keeps the
    trace there; without a name it is in the cache, as those of programs are."""
    words = line.split()
    path = Path(words[0]) if words else _next_path()
    with record(path):
        result = shell.run_cell(cell)
    try:
        return show(path)
    except UopvizError as error:
        say(error.what)
        if error.hint:
            say(f"hint: {error.hint}", name=False)
        return None
    finally:
        del result  # what the cell displayed has been displayed


def _next_path() -> Path:
    """A new file in the cache for each cell."""
    path = trace_path()
    return path.with_name(f"{path.stem}-{next(_count)}{path.suffix}")


def load_ipython_extension(shell: Any) -> None:
    """Registers the magic, and the displays of runs, UOps and schedules."""

    def magic(line: str, cell: str) -> Any:
        return viz(line, cell, shell)

    shell.register_magic_function(magic, magic_kind="cell", magic_name="viz")
    formatters = shell.display_formatter.mimebundle_formatter
    formatters.for_type(Run, _run)
    formatters.for_type(UOp, _uop)
    formatters.for_type(ScheduleItem, _item)
    formatters.for_type(list, _listed)


def _run(run: Run, **_: Any) -> dict[str, str]:
    return show(run).bundle


def _uop(root: UOp, **_: Any) -> dict[str, str]:
    return uop_bundle(root)


def _item(item: ScheduleItem, **_: Any) -> dict[str, str]:
    return schedule_bundle([item])


def _listed(items: list[Any], **_: Any) -> dict[str, str] | None:
    """A schedule; any other list as ever."""
    if items and all(isinstance(item, ScheduleItem) for item in items):
        return schedule_bundle(items)
    return None


def unload_ipython_extension(shell: Any) -> None:
    """Takes it all back."""
    shell.magics_manager.magics["cell"].pop("viz", None)
    for known in (Run, UOp, ScheduleItem, list):
        shell.display_formatter.mimebundle_formatter.pop(known, None)
