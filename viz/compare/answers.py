"""The answers about a pair of runs: one row each, as `viz/views/answers.py` has those of one run.

The server's routes, the parts of an exported pair, the page's back ends and docs/http.md come from
this table. A number in a query is 0 where there is nothing on that side.
"""

from __future__ import annotations

from typing import Any, Final

from viz.compare.comparison import Comparison
from viz.views.runs.run import Asked


class PairAnswer(Asked):
    """One kind of answer about two runs: made of a Comparison, of a type in
    viz/web/src/data/messages/compare.ts."""


def _is_done(made: dict[str, Any]) -> bool:
    return made["done"] is True


COMPARE: Final = PairAnswer(
    "compare",
    "",
    "Comparison",
    "What differs between two runs; partial until `done`",
    Comparison.overview,
    _is_done,
)
COMPARE_SCOPES: Final = PairAnswer(
    "compare_scopes",
    "/scopes?of={of}&with={with}",
    "ScopeComparison",
    "The passes and texts of two kernels, schedules or passes outside of both; 0 for none",
    Comparison.scopes,
)
COMPARE_PASSES: Final = PairAnswer(
    "compare_passes",
    "/passes?of={of}&with={with}",
    "PassAlignment",
    "How two passes go in step, and which of their slots are the same node; 0 for none",
    Comparison.passes,
)
COMPARE_SOURCES: Final = PairAnswer(
    "compare_sources",
    "/sources?of={of}&with={with}&kind={kind:text}&target={target:text}",
    "SourceDifference",
    "One kind of text of two kernels or schedules, line by line; 0 for none",
    Comparison.sources,
)

PAIR_ANSWERS: Final[tuple[PairAnswer, ...]] = (
    COMPARE,
    COMPARE_SCOPES,
    COMPARE_PASSES,
    COMPARE_SOURCES,
)
