"""One kernel as a page: who called for it, how it was compiled, how long it took.

The form is `KernelPage` of viz/web/src/data/messages/overview.ts; its source texts are in the
answer about the kernel itself. Never reads the events of a pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from viz.budget import take
from viz.dialect.rundialect import RunDialect
from viz.format.cells import as_int, as_text, parse_object
from viz.format.rows import KERNELS
from viz.read.records import Context, Rewrite
from viz.read.tracefile import TraceFile
from viz.views.kernels.kernels import input_data, opts_of
from viz.views.overview.launches import bounded
from viz.views.overview.message import is_here
from viz.views.overview.table import MAX_DEVICES, Kernel, RowOf, table_of
from viz.views.runs.places import Places
from viz.views.runs.process import Process

MAX_PASSES: Final = 2000
MAX_EQUAL: Final = 100
_PASS: Final = 600
_DEEPEST: Final = 20
_OPT: Final = re.compile(r"optimize: ([A-Z]+\([^)]*\)?\))")
_SIZES: Final = 3
Data = dict[str, Any]


def kernel_page_data(
    processes: Sequence[Process], process: Process, context: Context, row_of: RowOf, places: Places
) -> Data:
    """The page of a kernel. Raises BudgetError."""
    number = process.id(context.id)
    table = table_of(processes, row_of)
    known = next((k for k in table.kernels if number in k.contexts), None)
    found = known or Kernel(process.programs.of(context), [number], row_of(number))
    program = found.program
    file = process.file
    stored = file.db.one(KERNELS, context.id)
    info = parse_object(stored.info) if stored is not None else {}
    passes = _passes(file, context)
    shown = passes[:MAX_PASSES]
    take(4 * len(shown), _PASS * len(shown))
    devices = found.devices[:MAX_DEVICES]
    here = process.launches.named.get(program.name, {})
    may_run = process.dialect.dialect.may_run
    first = [one.first for device, one in here.items() if may_run(device, program.target)]
    opts = _opts(info, passes)
    return {
        "version": 1,
        "context": number,
        "name": program.name,
        "target": program.target,
        "device": as_text(program.device or next(iter(devices), ""), 200),
        "devices": devices,
        "status": "error" if context.error else "open" if context.us is None else "ok",
        "here": is_here(processes),
        "calls": [places.place(call) for call in program.calls],
        "equal": [n for n in found.contexts if n != number][:MAX_EQUAL],
        "flops": program.flops,
        "bytes": program.bytes,
        "globalSize": _numbers(info.get("globalSize")),
        "localSize": _numbers(info.get("localSize")),
        "inputs": [input_data(item) for item in _list(info.get("inputs"))],
        "launches": found.launches,
        "us": found.us,
        "first": min(first, default=None),
        "spread": found.spread(),
        "by": table.by,
        "share": table.share(found),
        "rank": table.kernels.index(found) + 1 if found in table.kernels else 0,
        "of": len(table.kernels),
        "start": bounded(context.start),
        "compileUs": bounded(context.us or 0),
        "opts": opts,
        "optWords": _opt_words(process.dialect, opts),
        "passes": [_pass_data(file, process, rewrite) for rewrite in shown],
        "passesLeft": len(passes) - len(shown),
        "registers": [{"target": target, "value": value} for target, value in program.registers],
    }


def _passes(file: TraceFile, context: Context) -> list[Rewrite]:
    """The passes of a kernel, those inside others and in groups inside it too, in order."""
    inside = {context.id}
    contexts, rewrites = [*file.contexts.values()], [*file.rewrites.values()]
    take(len(contexts) + len(rewrites))
    for other in contexts:  # a context begins after the one around it
        if other.parent in inside:
            inside.add(other.id)
    return sorted((r for r in rewrites if r.context in inside), key=lambda r: r.id)


def _pass_data(file: TraceFile, process: Process, rewrite: Rewrite) -> Data:
    depth, parent = 0, rewrite.parent
    while parent and depth < _DEEPEST:
        depth += 1
        above = file.rewrites.get(parent)
        parent = above.parent if above is not None else 0
    ended = rewrite.us is not None
    return {
        "id": process.id(rewrite.id),
        "name": rewrite.name,
        "depth": depth,
        "steps": rewrite.matches,
        "us": bounded(rewrite.us or 0),
        "status": "error" if rewrite.error is not None else "ok" if ended else "open",
    }


def _opts(info: Data, passes: Sequence[Rewrite]) -> list[str]:
    """The optimisations that were applied: some make no pass. Of traces that do not state them,
    those that did."""
    known = opts_of(info)
    return [o for r in passes if (o := _opt(r.name))] if known is None else known


def _opt_words(run: RunDialect, opts: list[str]) -> list[str]:
    """What each does, as far as the dialect says it."""
    words = run.dialect.opt_words
    if words is None:
        return opts
    return run.ask("the words of its optimisations", lambda: [words(opt) for opt in opts], opts)


def _opt(name: str) -> str:
    """The optimisation that a pass applied, by its name; "" for another pass."""
    found = _OPT.fullmatch(name)
    return found[1] if found is not None else ""


def _numbers(value: object) -> list[int]:
    return [as_int(n) for n in _list(value)[:_SIZES]]


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value)[:1000] if isinstance(value, list) else []
