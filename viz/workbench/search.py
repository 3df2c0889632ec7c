"""The beam search of the workbench: the optimisations that cost least on a device.

Candidates run in a process of their own. What is found is not run against the original here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from core.beam import is_counted, searched
from core.beam.report import cost_text, summary_of
from core.helpers import BEAM_SECONDS
from core.passes.optimize.search import Found, Opts
from core.uop.uop import UOp
from viz.work.opts import opts_text

MOST: Final = 540.0
"""Seconds of a search: less than its job may take."""


def search_opts(
    ast: UOp,
    device: str,
    request: Mapping[str, Any],
    progress: Callable[[str], None],
    best: Callable[[Any], None] = lambda found: None,
) -> dict[str, Any]:
    """`FoundOpts` of the page: what a search of the "width" of a request finds in its "seconds", or
    in those of BEAM_SECONDS, MOST at most. "cost" is that of "opts", and "first" that of
    "chosen": microseconds or, where "counted", instructions of all threads. `best` is given the
    same of what is found so far, for when the search is cancelled. Raises RunError where the kernel
    cannot be tried on the device."""
    width, counted = int(request["width"]), is_counted(device)
    seconds = min(MOST, float(request.get("seconds", BEAM_SECONDS.value)))

    def told(at: int, found: Found) -> None:
        said = cost_text(found.cost, counted).replace(" us", " µs")
        progress(f"round {at}: {found.tried} tried, best {said}")
        best(_message(found, found.trail[0].opts, device, counted))

    found, chosen = searched(ast, device, width, seconds, told)
    return _message(found, chosen, device, counted)


def _message(found: Found, chosen: Opts, device: str, counted: bool) -> dict[str, Any]:
    scale = 1.0 if counted else 1e6
    costs = [None if c is None else round(scale * c, 3) for c in (found.cost, found.first)]
    return {
        "device": device,
        "width": found.width,
        "opts": opts_text(found.opts),
        "chosen": opts_text(chosen),
        "cost": costs[0],
        "first": costs[1],
        "counted": counted,
        "rounds": found.rounds,
        "tried": found.tried,
        "duplicates": found.duplicates,
        "failed": found.failed,
        "inTime": found.in_time,
        "said": summary_of(found, counted),
    }
