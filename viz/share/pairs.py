"""What an exported file holds of a pair of its runs: the comparison that it opens on, and what
leads on from it, as far as the two differ.

Of scopes that are equal there is only that they are. Never judges what differs: it asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from core.errors import UopvizError
from viz.compare.answers import (
    COMPARE,
    COMPARE_PASSES,
    COMPARE_SCOPES,
    COMPARE_SOURCES,
    PairAnswer,
)
from viz.compare.comparison import Comparison

_SECONDS: Final = 60.0
"""Seconds that an export waits for the overview of a pair; what is there then is in the file."""

Held = tuple[str, Any]
"""An answer, with its path below that of the pair."""


def pair_answers(comparison: Comparison) -> Iterator[list[Held]]:
    """The answers about a pair, most important ones first: the overview, then those about each pair
    of scopes, which belong together. One that cannot be made is left out."""
    overview = _ask(comparison, COMPARE, seconds=_SECONDS)
    if overview is None:
        return
    yield [overview]
    for scope in overview[1]["scopes"]:
        yield [*_of_scope(comparison, scope)]


def _of_scope(comparison: Comparison, scope: Mapping[str, Any]) -> Iterator[Held]:
    both = _numbers(scope)
    found = _ask(comparison, COMPARE_SCOPES, *both)
    if found is None:
        return
    yield found
    asked = [
        (COMPARE_PASSES, _numbers(one)) for one in found[1]["passes"] if one["state"] != "equal"
    ]
    asked += [
        (COMPARE_SOURCES, (*both, one["kind"], one["target"]))
        for one in found[1]["sources"]
        if not one["equal"]
    ]
    for answer, values in asked:
        if (made := _ask(comparison, answer, *values)) is not None:
            yield made


def _numbers(of: Mapping[str, Any]) -> tuple[int, int]:
    """The numbers on both sides; 0 for nothing on one."""
    return of["a"] or 0, of["b"] or 0


def _ask(
    comparison: Comparison, asked: PairAnswer, *values: int | str, **limits: float
) -> Held | None:
    try:
        made = asked.make(comparison, *values, **limits)
    except UopvizError:  # too large, or not in what was copied
        return None
    return None if made is None else (asked.at(*values), made)
