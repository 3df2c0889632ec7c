"""A beam search in words: one line that says what came of it, then all that was tried.

Never searches.
"""

from __future__ import annotations

from typing import Final

from core.passes.optimize.search import Found, Opts, Try

MOST: Final = 1000
"""Lines of what was tried."""


def summary_of(found: Found, counted: bool) -> str:
    """What came of a search, in one line. `counted`: costs are instructions, not seconds."""
    parts = [
        f"width {found.width}",
        _count(found.rounds, "round"),
        f"{found.tried} tried",
        _count(found.duplicates, "duplicate"),
        f"{found.failed} failed",
        f"best {cost_text(found.cost, counted)}",
        f"chosen without it {cost_text(found.first, counted)}",
    ]
    return ", ".join(parts) + ("" if found.in_time else "; ended by the limit of time")


def report_of(found: Found, chosen: Opts, counted: bool) -> str:
    """The text of a report: the line of `summary_of`, the opts found and those that are
    chosen without it (`chosen`), then the lists of opts that were tried, the cheapest first."""
    measured = sorted((t for t in found.trail if t.cost is not None), key=lambda t: t.cost or 0.0)
    others = [t for t in found.trail if t.cost is None]
    lines = [
        summary_of(found, counted),
        f"found      {opts_text(found.opts)}",
        f"without    {opts_text(chosen)}",
        "",
        *(_line(t, counted) for t in [*measured, *others][:MOST]),
    ]
    left = len(found.trail) - MOST
    return "\n".join([*lines, f"and {left} more"] if left > 0 else lines) + "\n"


def cost_text(cost: float | None, counted: bool) -> str:
    """A cost with its unit."""
    if cost is None:
        return "unknown"
    return f"{cost:,.0f} instructions" if counted else f"{1e6 * cost:,.2f} us"


def opts_text(opts: Opts) -> str:
    """Opts as people write them."""
    return " ".join(str(opt) for opt in opts) or "none"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _line(one: Try, counted: bool) -> str:
    said = one.why if one.cost is None else cost_text(one.cost, counted)
    guess = "" if one.predicted is None else f"  predicted {one.predicted:,.2f} us"
    return f"round {one.round}  {said:>16}{guess}  {opts_text(one.opts)}"
