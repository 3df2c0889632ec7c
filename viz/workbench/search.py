"""The beam search of the workbench: the optimisations that cost least on a device.

Candidates run in a process of their own. What is found is not run against the original here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from core.beam import is_counted, searched
from core.beam.report import cost_text, summary_of
from core.helpers import BEAM_SECONDS
from core.uop.uop import UOp
from viz.work.opts import opts_text

MOST: Final = 540.0
"""Seconds of a search: less than its job may take."""


def search_opts(
    ast: UOp, device: str, request: Mapping[str, Any], progress: Callable[[str], None]
) -> dict[str, Any]:
    """`FoundOpts` of the page: what a search of the "width" of a request finds in its "seconds", or
    in those of BEAM_SECONDS, MOST at most. "cost" is that of "opts", and "first" that of
    "heuristic": microseconds or, where "counted", instructions of all threads. Raises RunError
    where the kernel cannot be tried on the device."""
    width, counted = int(request["width"]), is_counted(device)
    seconds = min(MOST, float(request.get("seconds", BEAM_SECONDS.value)))

    def told(at: int, tried: int, best: float | None) -> None:
        said = cost_text(best, counted).replace(" us", " µs")
        progress(f"round {at}: {tried} tried, best {said}")

    found, chosen = searched(ast, device, width, seconds, told)
    scale = 1.0 if counted else 1e6
    costs = [None if c is None else round(scale * c, 3) for c in (found.cost, found.first)]
    return {
        "device": device,
        "width": width,
        "opts": opts_text(found.opts),
        "heuristic": opts_text(chosen),
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
